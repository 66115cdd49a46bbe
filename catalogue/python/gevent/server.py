"""A server on gevent: greenlets, and a StreamServer that starts one for each connection.

A greenlet reads like a thread's code and waits in what look like blocking calls, but all
of them share one thread, and switch only where one waits. Nothing is monkey-patched: the
sockets are gevent's own. In a broadcast each connection has a second greenlet, which
writes. Left out: several processes, time limits on idle clients.
"""

import signal
import sys
from functools import partial
from pathlib import Path

import gevent
from gevent.event import Event
from gevent.server import StreamServer
from gevent.socket import socket

sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402


def echo(connection: socket) -> None:
    while data := connection.recv(contract.CHUNK):
        connection.sendall(data)


class Outbox:
    """What one member of a broadcast is still to be sent, and the greenlet that sends it."""

    def __init__(self, connection: socket, reader: gevent.Greenlet) -> None:
        self._connection = connection
        self._reader = reader
        self._waiting: list[bytes] = []
        self._size = 0  # Of what waits and of what is being sent.
        self._filled = Event()
        self._writer = gevent.spawn(self._write)

    def put(self, lines: bytes) -> None:
        """Leaves lines to the writer; never waits for the client."""
        if self._size + len(lines) > contract.KEPT:
            self._reader.kill(block=False)
            return
        self._waiting.append(lines)
        self._size += len(lines)
        self._filled.set()

    def close(self) -> None:
        self._writer.kill()

    def _write(self) -> None:
        while self._filled.wait():
            self._filled.clear()
            lines = b"".join(self._waiting)
            self._waiting.clear()
            try:
                self._connection.sendall(lines)
            except ConnectionError:
                return
            self._size -= len(lines)


members: set[Outbox] = set()


def broadcast(connection: socket) -> None:
    splitter = contract.LineSplitter()
    outbox = Outbox(connection, gevent.getcurrent())
    outbox.put(contract.CONNECTED)
    members.add(outbox)
    try:
        while data := connection.recv(contract.CHUNK):
            if lines := splitter.feed(data):
                # Nothing waits in here, so no other greenlet changes the set meanwhile.
                for member in members:
                    member.put(lines)
    except contract.LineTooLong:
        pass
    finally:
        members.discard(outbox)
        outbox.close()


def http(delay: float, connection: socket) -> None:
    parser = contract.RequestParser(delay)
    try:
        while data := connection.recv(contract.CHUNK):
            for request in parser.feed(data):
                if request.delay:
                    gevent.sleep(request.delay)
                contract.count_to(request.count)
                connection.sendall(request.answer)
                if not request.keep_alive:
                    return
    except contract.BadRequest:
        connection.sendall(contract.BAD_REQUEST)


def oneshot(delay: float, connection: socket) -> None:
    if connection.recv(contract.CHUNK):
        gevent.sleep(delay)
        connection.sendall(contract.ONESHOT_ANSWER)


def serve(handler, connection: socket, _address) -> None:
    """Runs a handler for one connection; StreamServer closes it afterwards."""
    contract.send_at_once(connection)
    try:
        handler(connection)
    except ConnectionError:
        pass  # The client is gone.


def main() -> None:
    arguments = contract.parse_arguments("echo", "broadcast", "http", "oneshot")
    handlers = {
        "echo": echo,
        "broadcast": broadcast,
        "http": partial(http, arguments.delay),
        "oneshot": partial(oneshot, arguments.delay),
    }
    on_connect = partial(serve, handlers[arguments.workload])

    stop = Event()
    gevent.signal_handler(signal.SIGTERM, stop.set)
    gevent.signal_handler(signal.SIGINT, stop.set)
    servers = []  # A server that nobody refers to is collected.
    for address in arguments.listen:
        try:
            listener = contract.listening_socket(address, arguments.backlog)
        except OSError as error:
            sys.exit(f"cannot listen on {address}: {error}")
        server = StreamServer(listener, on_connect)
        server.start()
        servers.append(server)
        contract.announce(listener.getsockname())
    stop.wait()


if __name__ == "__main__":
    main()
