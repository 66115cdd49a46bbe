"""System 4 of a comparison of services: several listeners, one table, one lock, one pool.

One thread accepts at whichever listener has somebody. `--poll all` is one poll over every
connection of the table, `--poll single` the scan of system 2. Dispatcher and pool are those
of systems.py, which says where they differ from what was published.

`--max-conns` is the published NUM_MAX_CONNS, "how many connections each server keeps":
beyond it one who connects is refused by a close at once, and who is there stays.
"""

import select
import selectors
import socket
import sys
from pathlib import Path
from typing import NoReturn

sys.path.append(str(Path(__file__).resolve().parent.parent))
import systems  # noqa: E402

# How long a poll may last. The lock is held meanwhile, as published: whoever has just been
# accepted waits so long for a place in the table while nobody else says anything.
POLL_SECONDS = 0.01


class PolledTable(systems.Table):
    """A table whose connections one poll asks about, all together."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        # The published select() ends at descriptor 1023; poll() is as dear, and does not.
        self._selector = selectors.PollSelector()

    def added(self, connection: systems.Connection) -> None:
        self._selector.register(connection, selectors.EVENT_READ)

    def removed(self, connection: systems.Connection) -> None:
        self._selector.unregister(connection)

    def poll(self) -> NoReturn:
        while True:
            with self.lock:
                self.wait_for_connections()
                # It ends at once while one that is taken already has more input.
                for key, _ in self._selector.select(POLL_SECONDS):
                    if not key.fileobj.is_taken:
                        self.put_in_queue(key.fileobj)
            systems.give_way()


def accept_at_any(listeners: list[socket.socket], table: systems.Table) -> NoReturn:
    by_descriptor = {listener.fileno(): listener for listener in listeners}
    poll = select.poll()
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            systems.accept(by_descriptor[descriptor], table.add)


def main() -> None:
    parser = systems.argument_parser()
    parser.add_argument("--poll", choices=("all", "single"), default="all")
    parser.add_argument("--max-conns", type=systems.at_least_one)
    arguments = parser.parse_args()
    systems.keep_signals_for_main()
    listeners = systems.listen(arguments)
    pool = systems.start_pool(arguments.workers)
    if arguments.max_conns:
        print(f"serves-at-once {arguments.max_conns}", flush=True)
    if arguments.poll == "all":
        table = PolledTable(pool, arguments.max_conns)
        systems.run_thread(table.poll)
    else:
        table = systems.Table(pool, arguments.max_conns)
        systems.run_thread(systems.scan, table)
    systems.run_thread(table.dispatch)
    systems.run_thread(accept_at_any, listeners, table)
    systems.serve_until_told(listeners)


if __name__ == "__main__":
    main()
