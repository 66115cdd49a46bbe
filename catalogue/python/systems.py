"""What three servers share that re-create the systems 1, 2 and 4 of a comparison of services.

The published systems are Python programs on multiprocessing.connection, whose frames these
servers keep with JSON in place of pickles. Here is what a system is made of beside the
threads that accept and poll, which stand in each server: reading frames, the table
of kept connections with its dispatcher, the pool that answers, the start and the end.
"""

from __future__ import annotations

import argparse
import os
import queue
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import contract

WORKERS = 25  # The published NUM_WORKERS_PER_API_SERVICE.
HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
DROPPED = 1024 * 1024  # How much is read and dropped of one who was refused.


# The start and the end.


def argument_parser() -> argparse.ArgumentParser:
    parser = contract.argument_parser("framed")
    parser.add_argument("--workers", type=at_least_one, default=WORKERS)
    return parser


def at_least_one(text: str) -> int:
    number = contract.whole_number(text)
    if number == 0:
        raise ValueError("none at all")
    return number


def keep_signals_for_main() -> None:
    """To be called before there are threads: they inherit that they are not interrupted."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})


def start_pool(workers: int) -> ThreadPoolExecutor:
    pool = ThreadPoolExecutor(workers)
    # By itself it starts a thread whenever it finds none idle, which is a matter of luck.
    all_started = threading.Barrier(workers + 1)
    for _ in range(workers):
        pool.submit(all_started.wait)
    all_started.wait()
    print(f"workers {workers}", flush=True)
    return pool


def listen(arguments: argparse.Namespace) -> list[socket.socket]:
    listeners = []
    for address in arguments.listen:
        try:
            listener = contract.listening_socket(address, arguments.backlog)
        except OSError as error:
            remove_paths(listeners)
            sys.exit(f"cannot listen on {address}: {error}")
        listeners.append(listener)
    return listeners


def run_thread(target: Callable, *arguments) -> None:
    threading.Thread(target=target, args=arguments, daemon=True).start()


def serve_until_told(listeners: list[socket.socket]) -> NoReturn:
    for listener in listeners:
        contract.announce(listener.getsockname())
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    remove_paths(listeners)
    # An ordinary end would wait for the pool, and with it for clients that say nothing.
    os._exit(0)


def remove_paths(listeners: list[socket.socket]) -> None:
    for listener in listeners:
        if listener.family == socket.AF_UNIX:
            contract.remove_socket(listener.getsockname())


# Accepting.


def accept_forever(listener: socket.socket, take: Callable[[socket.socket], object]) -> NoReturn:
    """A thread for one listener, blocked in accept as the published ones with one socket."""
    listener.setblocking(True)
    while True:
        accept(listener, take)


def accept(listener: socket.socket, take: Callable[[socket.socket], object]) -> None:
    try:
        connection, _ = listener.accept()
        contract.send_at_once(connection)
    except OSError:
        # The client has left again, or there is no descriptor: others may give theirs back.
        time.sleep(0.01)
    else:
        take(connection)


# Reading frames.


class FrameReader:
    """Reads one frame after another, never a byte of the next: that is left to the kernel.

    So does multiprocessing.connection: it reads a length, then as much as it says. For a
    connection that does not wait it keeps what has come of a frame.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._part = bytearray()
        self._length: int | None = None  # Unknown until its four bytes are there.

    def read(self, flags: int = 0) -> bytes:
        """The next frame's inside; EOFError if there will be none.

        With MSG_DONTWAIT it raises BlockingIOError where the rest is still to come, and
        goes on from there when it is called again.
        """
        if self._length is None:
            length = contract.frame_length(self._read_exactly(contract.FRAME_PREFIX.size, flags))
            self._length = length
        inside = self._read_exactly(self._length, flags)
        self._length = None
        return inside

    def _read_exactly(self, size: int, flags: int) -> bytes:
        while missing := size - len(self._part):
            data = self._connection.recv(missing, flags)
            if not data:
                raise EOFError
            self._part += data
        whole, self._part = bytes(self._part), bytearray()
        return whole


def answer(request: bytes) -> bytes:
    """Does what a frame's inside asks for, and gives back the frame that answers it."""
    count, reply = contract.frame_request(request)
    contract.count_to(count)
    return reply


# Connections that are kept.


class Connection:
    """A connection in the table."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.frames = FrameReader(connection)
        # In the queue, or its request is under way: it is not queued again. Whoever has it
        # then sets this back, be it the dispatcher or a thread of the pool.
        self.is_taken = False
        self.still_dropped = 0  # Of one who was refused, and is waited for to leave.

    def fileno(self) -> int:
        return self.socket.fileno()

    def drop_input(self) -> None:
        """Reads what is there; EOFError when it has ended, or enough was read."""
        while data := self.socket.recv(contract.CHUNK, socket.MSG_DONTWAIT):
            self.still_dropped -= len(data)
            if self.still_dropped <= 0:
                break
        raise EOFError


class Table:
    """The kept connections under their one lock, and the way of a request through the threads.

    A poll thread, which each server has its own of, puts a connection with input into the
    queue of ready ones, holding the lock meanwhile. The dispatcher takes it from there,
    receives one message under the lock, and leaves it to the pool to count and to send.

    What differs from the published systems: the dispatcher receives what is there and
    never waits for the rest of a message, since one slow client would stop it and, by the
    lock, everything. A connection is not polled again before its reply is sent, so that
    replies come in order; the published ones were, from the receipt on. Left out: time
    limits. A client that takes no replies holds a thread of the pool in the end.
    """

    def __init__(self, pool: ThreadPoolExecutor, max_connections: int | None = None) -> None:
        self.lock = threading.Lock()
        self.connections: dict[int, Connection] = {}  # By their descriptors.
        self._not_empty = threading.Condition(self.lock)
        self._ready: queue.Queue[Connection] = queue.Queue()
        self._pool = pool
        self._max_connections = max_connections

    def add(self, accepted: socket.socket) -> None:
        with self.lock:
            if len(self.connections) == self._max_connections:
                # Whoever is there keeps their place, as published.
                accepted.close()
                return
            connection = Connection(accepted)
            self.connections[connection.fileno()] = connection
            self.added(connection)
            self._not_empty.notify()

    def added(self, connection: Connection) -> None:
        """For a server that keeps something beside the table; under the lock."""

    def removed(self, connection: Connection) -> None:
        """The same, before the descriptor is given back."""

    def wait_for_connections(self) -> None:
        """Under the lock. The published poll threads spin on an empty table, too."""
        while not self.connections:
            self._not_empty.wait()

    def put_in_queue(self, connection: Connection) -> None:
        connection.is_taken = True
        self._ready.put(connection)

    def dispatch(self) -> NoReturn:
        while True:
            connection = self._ready.get()
            with self.lock:
                self._receive(connection)

    def _receive(self, connection: Connection) -> None:
        try:
            if connection.still_dropped:
                connection.drop_input()
            request = connection.frames.read(socket.MSG_DONTWAIT)
        except BlockingIOError:
            connection.is_taken = False
        except contract.FrameTooLong:
            self._pool.submit(self._refuse, connection)
        except (EOFError, OSError):
            self._remove(connection)
        else:
            self._pool.submit(self._answer, connection, request)

    def _answer(self, connection: Connection, request: bytes) -> None:
        try:
            connection.socket.sendall(answer(request))
            connection.is_taken = False
        except OSError:
            with self.lock:
                self._remove(connection)

    def _refuse(self, connection: Connection) -> None:
        try:
            connection.socket.sendall(contract.FRAME_TOO_LONG)
            # It stays in the table until the client has read that and left. A close with
            # unread input would be a reset, which may overtake the reply.
            connection.socket.shutdown(socket.SHUT_WR)
            connection.still_dropped = DROPPED
            connection.is_taken = False
        except OSError:
            with self.lock:
                self._remove(connection)

    def _remove(self, connection: Connection) -> None:
        del self.connections[connection.fileno()]
        self.removed(connection)
        connection.socket.close()


def give_way() -> None:
    """Lets others have the lock that was let go: the caller would have it again before they have woken up.

    A sleep of no length gives the GIL away. Without one it gives nothing away, and the CPU has to be: on a
    single CPU a request takes six times as long otherwise. (CPython 3.11 keeps the GIL in sched_yield.)
    """
    time.sleep(0)
    if not HAS_GIL:
        os.sched_yield()


def scan(table: Table) -> NoReturn:
    """Polls connections one by one, and begins again: this thread never rests.

    That is the published structure. Its cost is a system call for each connection that is
    kept, and a CPU that is never idle while there is one.
    """
    while True:
        with table.lock:
            table.wait_for_connections()
            for connection in table.connections.values():
                if not connection.is_taken and is_readable(connection):
                    table.put_in_queue(connection)
        give_way()


def is_readable(connection: Connection) -> bool:
    """Looks without waiting, with a selector made for this look alone.

    That is what poll() of multiprocessing.connection does, which the published scan calls.
    """
    with selectors.PollSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        return bool(selector.select(0))
