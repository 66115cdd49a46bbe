"""A server on Tornado: a TCPServer whose coroutine reads and writes an IOStream.

A task per connection, all on one event loop in one thread (asyncio's, which Tornado runs
on today). HTTP is Tornado's own server with a handler class. Left out: several processes,
time limits on idle clients.
"""

import asyncio
import signal
import sys
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream, StreamBufferFullError, StreamClosedError
from tornado.netutil import bind_sockets, bind_unix_socket
from tornado.tcpserver import TCPServer
from tornado.web import Application, RequestHandler

sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402


class StreamServer(TCPServer):
    """Runs `converse` for each connection until the client or the coroutine ends it."""

    async def handle_stream(self, stream: IOStream, address: tuple) -> None:
        stream.set_nodelay(True)
        try:
            await self.converse(stream)
        except StreamClosedError:
            pass
        finally:
            stream.close()

    async def converse(self, stream: IOStream) -> None:
        raise NotImplementedError


class EchoServer(StreamServer):
    async def converse(self, stream: IOStream) -> None:
        while True:
            data = await stream.read_bytes(contract.CHUNK, partial=True)
            # Nothing more is read before the client has taken what it is owed: not the
            # end of input either, at which an IOStream closes itself at once.
            await stream.write(data)


class BroadcastServer(StreamServer):
    def __init__(self) -> None:
        super().__init__()
        self.members = set()

    async def converse(self, stream: IOStream) -> None:
        stream.max_write_buffer_size = contract.KEPT
        stream.write(contract.CONNECTED)
        self.members.add(stream)
        try:
            while True:
                self.deliver(await stream.read_until(b"\n", max_bytes=contract.KEPT))
        finally:
            self.members.discard(stream)

    def deliver(self, line: bytes) -> None:
        """Hands a line to every member without waiting for any of them."""
        for member in self.members:
            try:
                member.write(line)
            except StreamBufferFullError:
                member.close()
            except StreamClosedError:
                pass  # It is about to take itself off the members.


class OneshotServer(StreamServer):
    def __init__(self, delay: float) -> None:
        super().__init__()
        self.delay = delay

    async def converse(self, stream: IOStream) -> None:
        await stream.read_bytes(contract.CHUNK, partial=True)
        await asyncio.sleep(self.delay)
        await stream.write(contract.ONESHOT_ANSWER)


class CountHandler(RequestHandler):
    def initialize(self, delay: float) -> None:
        self.default_delay = delay

    async def get(self) -> None:
        try:
            delay, count = contract.delay_and_count(self.request.query, self.default_delay)
        except ValueError:
            self.set_status(400)
            await self.finish()
            self.request.connection.stream.close()
            return
        if delay:
            await asyncio.sleep(delay)
        contract.count_to(count)
        self.finish("ok")


def make_server(workload: str, delay: float) -> TCPServer:
    if workload == "echo":
        return EchoServer()
    if workload == "broadcast":
        return BroadcastServer()
    if workload == "oneshot":
        return OneshotServer(delay)
    return HTTPServer(Application([(r".*", CountHandler, {"delay": delay})]))


async def main() -> None:
    arguments = contract.parse_arguments("echo", "broadcast", "http", "oneshot")
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    server = make_server(arguments.workload, arguments.delay)
    for address in arguments.listen:
        try:
            if isinstance(address.name, str):
                sockets = [bind_unix_socket(address.name, backlog=arguments.backlog)]
            else:
                host, port = address.name
                sockets = bind_sockets(port, host, backlog=arguments.backlog)
        except OSError as error:
            sys.exit(f"cannot listen on {address}: {error}")
        server.add_sockets(sockets)
        contract.announce(sockets[0].getsockname())
    await stop.wait()


if __name__ == "__main__":
    asyncio.run(main())
