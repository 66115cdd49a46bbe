"""System 2 of a comparison of services: connections are kept, and scanned one by one.

A thread for each listener accepts into a table under one lock. A poll thread asks about
each connection of the table in turn, without waiting, and queues those with input. A
dispatcher receives a message of each and hands it to a pool of 25 threads, which counts
and sends the reply. What the threads do stands in systems.py, since system 4 does it too;
it also says where that differs from what was published.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import systems  # noqa: E402


def main() -> None:
    arguments = systems.argument_parser().parse_args()
    systems.keep_signals_for_main()
    listeners = systems.listen(arguments)
    table = systems.Table(systems.start_pool(arguments.workers))
    systems.run_thread(systems.scan, table)
    systems.run_thread(table.dispatch)
    for listener in listeners:
        systems.run_thread(systems.accept_forever, listener, table.add)
    systems.serve_until_told(listeners)


if __name__ == "__main__":
    main()
