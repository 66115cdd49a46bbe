"""A server on the standard library's asyncio, written with its streams.

A task per connection waits for its client, and one event loop in one thread resumes
whichever task has something to do. Code between two awaits runs undisturbed, so the set
of members needs no lock. Left out: several processes, time limits on idle clients.
"""

import asyncio
import signal
import sys
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402


async def echo(reader: StreamReader, writer: StreamWriter) -> None:
    while data := await reader.read(contract.CHUNK):
        writer.write(data)
        # Nothing more is read while the client does not take what it is owed.
        await writer.drain()


members: set[StreamWriter] = set()


async def broadcast(reader: StreamReader, writer: StreamWriter) -> None:
    writer.write(contract.CONNECTED)
    members.add(writer)
    try:
        while True:
            deliver(await reader.readuntil(b"\n"))
    finally:
        members.discard(writer)


def deliver(line: bytes) -> None:
    """Hands a line to every member without waiting for any of them."""
    for member in members:
        transport = member.transport
        if transport.is_closing():
            continue
        if transport.get_write_buffer_size() + len(line) > contract.KEPT:
            transport.abort()
        else:
            transport.write(line)


async def http(delay: float, reader: StreamReader, writer: StreamWriter) -> None:
    parser = contract.RequestParser(delay)
    try:
        while data := await reader.read(contract.CHUNK):
            for request in parser.feed(data):
                if request.delay:
                    await asyncio.sleep(request.delay)
                contract.count_to(request.count)
                writer.write(request.answer)
                await writer.drain()
                if not request.keep_alive:
                    return
    except contract.BadRequest:
        writer.write(contract.BAD_REQUEST)


async def oneshot(delay: float, reader: StreamReader, writer: StreamWriter) -> None:
    if await reader.read(contract.CHUNK):
        await asyncio.sleep(delay)
        writer.write(contract.ONESHOT_ANSWER)


async def framed(reader: StreamReader, writer: StreamWriter) -> None:
    try:
        while True:
            prefix = await reader.readexactly(contract.FRAME_PREFIX.size)
            frame = await reader.readexactly(contract.frame_length(prefix))
            count, answer = contract.frame_request(frame)
            contract.count_to(count)
            writer.write(answer)
            await writer.drain()
            if count:
                # The next frame may be there already: others have their turn before it.
                await asyncio.sleep(0)
    except contract.FrameTooLong:
        writer.write(contract.FRAME_TOO_LONG)
        writer.write_eof()
        await drop_the_rest(reader)


async def drop_the_rest(reader: StreamReader) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(contract.LINGER):
            for _ in range(contract.KEPT // contract.CHUNK):
                if not await reader.read(contract.CHUNK):
                    return


async def serve(handler, reader: StreamReader, writer: StreamWriter) -> None:
    """Runs a handler for one connection, and closes it however the handler ends."""
    try:
        await handler(reader, writer)
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # The client is gone, or has sent a line without end.
    finally:
        # The rest is still sent, but not waited for: a client that never takes it
        # would keep this task, and with it the whole server when it is to leave.
        writer.close()


async def main() -> None:
    arguments = contract.parse_arguments("echo", "broadcast", "http", "oneshot", "framed")
    handlers = {
        "echo": echo,
        "broadcast": broadcast,
        "http": partial(http, arguments.delay),
        "oneshot": partial(oneshot, arguments.delay),
        "framed": framed,
    }
    on_connect = partial(serve, handlers[arguments.workload])
    # A stream reader holds up to twice its limit, and no line that is longer than it.
    limits = {"backlog": arguments.backlog, "limit": contract.KEPT // 2}
    if arguments.workload != "broadcast":
        limits["limit"] = contract.CHUNK

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    servers = []  # A server that nobody refers to is collected.
    for address in arguments.listen:
        try:
            if isinstance(address.name, str):
                server = await asyncio.start_unix_server(on_connect, address.name, **limits)
            else:
                server = await asyncio.start_server(on_connect, *address.name, **limits)
        except OSError as error:
            sys.exit(f"cannot listen on {address}: {error}")
        servers.append(server)
        contract.announce(server.sockets[0].getsockname())
    await stop.wait()


if __name__ == "__main__":
    asyncio.run(main())
