"""An echo server on gevent's bare event loop (libev), without greenlets.

The loop calls back when a socket is ready, and the callback reads and writes as much as
goes without waiting. What this saves against gevent's greenlets is a switch to and fro
for each message. Echo alone: whoever wants more on gevent writes it with greenlets.
"""

import signal
import socket
import sys
from pathlib import Path

import gevent
from gevent.event import Event

sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402

READ, WRITE = 1, 2  # As libev has them.

loop = gevent.get_hub().loop


class Connection:
    """Echoes for one client; either reads, or waits to write what is left over."""

    def __init__(self, client: socket.socket) -> None:
        self.client = client
        self.unsent = memoryview(b"")
        self.reading = loop.io(client.fileno(), READ)
        self.writing = loop.io(client.fileno(), WRITE)
        self.reading.start(self.on_readable)

    def on_readable(self) -> None:
        try:
            data = self.client.recv(contract.CHUNK)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self.close()
            return
        self.unsent = memoryview(data)
        self.send()
        if self.unsent:
            # Nothing more is read before the client has taken what it is owed.
            self.reading.stop()
            self.writing.start(self.on_writable)

    def on_writable(self) -> None:
        self.send()
        if not self.unsent:
            self.writing.stop()
            self.reading.start(self.on_readable)

    def send(self) -> None:
        """Writes as much as the client's socket takes."""
        try:
            self.unsent = self.unsent[self.client.send(self.unsent) :]
        except BlockingIOError:
            pass
        except ConnectionError:
            self.unsent = memoryview(b"")  # The next read tells that the client is gone.

    def close(self) -> None:
        for watcher in (self.reading, self.writing):
            watcher.stop()
            watcher.close()
        self.client.close()


def accept(listener: socket.socket) -> None:
    try:
        client, _ = listener.accept()
    except (BlockingIOError, ConnectionError):
        return  # The client has left the queue again.
    client.setblocking(False)
    contract.send_at_once(client)
    Connection(client)


def main() -> None:
    arguments = contract.parse_arguments("echo")
    stop = Event()
    gevent.signal_handler(signal.SIGTERM, stop.set)
    gevent.signal_handler(signal.SIGINT, stop.set)
    watchers = []
    for address in arguments.listen:
        try:
            listener = contract.listening_socket(address, arguments.backlog)
        except OSError as error:
            sys.exit(f"cannot listen on {address}: {error}")
        watcher = loop.io(listener.fileno(), READ)
        watcher.start(accept, listener)
        watchers.append(watcher)
        contract.announce(listener.getsockname())
    stop.wait()  # The loop runs while the main greenlet waits.


if __name__ == "__main__":
    main()
