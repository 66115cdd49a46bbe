"""A server with a thread of the kernel's per connection, on the standard library's socketserver.

Each thread waits for its own client in blocking calls, and reads like a program for one
client. In a broadcast each connection has a second thread, which writes: a client that
does not read then stops only that one. Left out: a bound on threads, time limits.
"""

import signal
import socket
import socketserver
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402


class Handler(socketserver.BaseRequestHandler):
    """socketserver makes one for each connection, in that connection's thread."""

    request: socket.socket  # The connection, as socketserver calls it.

    def setup(self) -> None:
        contract.send_at_once(self.request)


class Echo(Handler):
    def handle(self) -> None:
        while data := self.request.recv(contract.CHUNK):
            self.request.sendall(data)


class Outbox:
    """What one member of a broadcast is still to be sent, and the thread that sends it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._changed = threading.Condition()
        self._waiting: list[bytes] = []
        self._size = 0  # Of what waits and of what is being sent.
        self._closed = False
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def put(self, lines: bytes) -> None:
        """Leaves lines to the writer; never waits for the client."""
        with self._changed:
            if self._size + len(lines) > contract.KEPT:
                self._hang_up()
                return
            self._waiting.append(lines)
            self._size += len(lines)
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._hang_up()
        self._writer.join()

    def _hang_up(self) -> None:
        self._closed = True
        self._changed.notify()
        with suppress(OSError):  # The client may have left first.
            # Wakes both threads, whichever call they are blocked in.
            self._connection.shutdown(socket.SHUT_RDWR)

    def _write(self) -> None:
        with suppress(OSError):
            while lines := self._take():
                self._connection.sendall(lines)
                with self._changed:
                    self._size -= len(lines)

    def _take(self) -> bytes:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            lines = b"" if self._closed else b"".join(self._waiting)
            self._waiting.clear()
            return lines


class Broadcast(Handler):
    members: set[Outbox] = set()
    members_lock = threading.Lock()

    def handle(self) -> None:
        splitter = contract.LineSplitter()
        outbox = Outbox(self.request)
        # In one: who has been greeted hears all that is said from then on.
        with self.members_lock:
            outbox.put(contract.CONNECTED)
            self.members.add(outbox)
        try:
            while data := self.request.recv(contract.CHUNK):
                if lines := splitter.feed(data):
                    self.deliver(lines)
        except contract.LineTooLong:
            pass
        finally:
            with self.members_lock:
                self.members.discard(outbox)
            outbox.close()

    def deliver(self, lines: bytes) -> None:
        with self.members_lock:
            for outbox in self.members:
                outbox.put(lines)


class Http(Handler):
    def handle(self) -> None:
        parser = contract.RequestParser(self.server.delay)
        try:
            while data := self.request.recv(contract.CHUNK):
                for request in parser.feed(data):
                    if request.delay:
                        time.sleep(request.delay)
                    contract.count_to(request.count)
                    self.request.sendall(request.answer)
                    if not request.keep_alive:
                        return
        except contract.BadRequest:
            self.request.sendall(contract.BAD_REQUEST)


class Oneshot(Handler):
    def handle(self) -> None:
        if self.request.recv(contract.CHUNK):
            time.sleep(self.server.delay)
            self.request.sendall(contract.ONESHOT_ANSWER)


class Framed(Handler):
    def handle(self) -> None:
        try:
            with self.request.makefile("rb") as file:
                self.answer_frames(file)
        except contract.FrameTooLong:
            self.request.sendall(contract.FRAME_TOO_LONG)
            self.request.shutdown(socket.SHUT_WR)
            self.drop_the_rest()

    def answer_frames(self, file: BinaryIO) -> None:
        # A read is shorter than it should be only when the client has left.
        while len(prefix := file.read(contract.FRAME_PREFIX.size)) == contract.FRAME_PREFIX.size:
            length = contract.frame_length(prefix)
            frame = file.read(length)
            if len(frame) < length:
                return
            count, answer = contract.frame_request(frame)
            contract.count_to(count)
            self.request.sendall(answer)

    def drop_the_rest(self) -> None:
        self.request.settimeout(contract.LINGER)
        with suppress(TimeoutError):
            for _ in range(contract.KEPT // contract.CHUNK):
                if not self.request.recv(contract.CHUNK):
                    return


HANDLERS = {
    "echo": Echo,
    "broadcast": Broadcast,
    "http": Http,
    "oneshot": Oneshot,
    "framed": Framed,
}


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True  # When the main thread ends, so does the server.

    def __init__(self, address: contract.Address, arguments) -> None:
        self.address_family = address.family
        self.request_queue_size = arguments.backlog
        self.delay = arguments.delay
        super().__init__(address.name, HANDLERS[arguments.workload])

    def handle_error(self, request, client_address) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main() -> None:
    # The threads to come inherit this, so that the signals are left to the main thread.
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    arguments = contract.parse_arguments(*HANDLERS)
    for address in arguments.listen:
        try:
            server = Server(address, arguments)
        except OSError as error:
            sys.exit(f"cannot listen on {address}: {error}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        contract.announce(server.server_address)
    signal.sigwait(signals)


if __name__ == "__main__":
    main()
