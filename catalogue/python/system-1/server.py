"""System 1 of a comparison of services: no connection is kept.

What is accepted is a task of a pool of 25 threads: it receives one request, answers it, and
closes. As published, a task waits for its client as long as that takes, so that 25 who say
nothing leave no thread for anybody else.
"""

import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402
import systems  # noqa: E402


def serve(connection: socket.socket) -> None:
    # Errors and an early end mean that the client is gone.
    with connection, suppress(EOFError, OSError):
        try:
            request = systems.FrameReader(connection).read()
        except contract.FrameTooLong:
            refuse_and_wait(connection)
        else:
            connection.sendall(systems.answer(request))


def refuse_and_wait(connection: socket.socket) -> None:
    """Has the refusal read before the connection is closed, for a second at most."""
    connection.sendall(contract.FRAME_TOO_LONG)
    connection.shutdown(socket.SHUT_WR)
    until = time.monotonic() + 1
    left = systems.DROPPED
    with suppress(TimeoutError):
        while left > 0 and (seconds := until - time.monotonic()) > 0:
            connection.settimeout(seconds)
            data = connection.recv(contract.CHUNK)
            if not data:
                break
            left -= len(data)


def main() -> None:
    arguments = systems.argument_parser().parse_args()
    systems.keep_signals_for_main()
    listeners = systems.listen(arguments)
    pool = systems.start_pool(arguments.workers)
    print(f"serves-at-once {arguments.workers}", flush=True)
    for listener in listeners:
        systems.run_thread(systems.accept_forever, listener, lambda one: pool.submit(serve, one))
    systems.serve_until_told(listeners)


if __name__ == "__main__":
    main()
