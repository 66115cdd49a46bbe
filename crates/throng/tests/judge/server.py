"""A server of known behaviour: what it did stands in its log, and throng is judged by that.

One thread, one epoll loop. It echoes messages of a fixed size, with the delay, the memory for each connection and the faults that it
is told, and writes what it did as JSON when it gets SIGTERM. Connections are numbered from 1 in the order of their accepts.
"""

import argparse
import heapq
import json
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import time

PAGE = 4096


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--backlog", type=int, default=1024)
    parser.add_argument("--size", type=int, default=64, help="bytes of a message")
    parser.add_argument("--log", required=True)
    parser.add_argument("--delay-ms", type=float, default=0, help="each reply is sent so much later")
    parser.add_argument("--touch", type=int, default=0, help="bytes of memory for each connection")
    parser.add_argument("--descriptors", type=int, default=1, help="for each connection")
    parser.add_argument("--accept-pause-us", type=int, default=0, help="before each accept")
    parser.add_argument("--reset-every", type=int, default=0, help="resets every n-th connection at its first message")
    parser.add_argument("--silent-every", type=int, default=0, help="never answers every n-th connection")
    parser.add_argument("--starve", type=int, default=0, help="answers this connection once in --starve-ms")
    parser.add_argument("--starve-ms", type=float, default=200)
    parser.add_argument("--stall-ms", type=float, default=0, help="blocks so long")
    parser.add_argument("--stall-every-ms", type=float, default=1000)
    parser.add_argument("--two-writes", action="store_true", help="a reply is two writes, without TCP_NODELAY")
    parser.add_argument("--partial", type=int, default=0, help="sends so many bytes of the third reply of connection 1, then nothing")
    parser.add_argument("--close", action="store_true", help="closes after the first reply")
    return parser.parse_args()


class Connection:
    def __init__(self, stream, number, options):
        self.stream = stream
        self.number = number
        self.received = b""
        self.replies = 0
        self.is_silent = options.silent_every > 0 and number % options.silent_every == 0
        self.is_reset = options.reset_every > 0 and number % options.reset_every == 0
        self.others = [os.dup(stream.fileno()) for _ in range(options.descriptors - 1)]
        self.memory = bytearray(options.touch)
        for place in range(0, options.touch, PAGE):
            self.memory[place] = 1


class Server:
    def __init__(self, options):
        self.options = options
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", options.port), backlog=options.backlog)
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.later = []
        self.order = 0
        self.descriptors_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.descriptors_own = len(os.listdir("/proc/self/fd"))
        self.accepted = self.requests = self.resets = self.silent = 0
        self.open = self.open_max = self.descriptors_max = 0
        self.stalls = []
        self.replies = {}
        self.is_over = False

    def serve(self):
        print(f"ready tcp://127.0.0.1:{self.listener.getsockname()[1]}", flush=True)
        next_stall = time.monotonic() + self.options.stall_every_ms / 1e3
        while not self.is_over:
            now = time.monotonic()
            if self.options.stall_ms and now >= next_stall:
                time.sleep(self.options.stall_ms / 1e3)
                ended = time.monotonic()
                self.stalls.append((now, ended - now))
                next_stall = ended + self.options.stall_every_ms / 1e3
            while self.later and self.later[0][0] <= time.monotonic():
                _, _, connection, reply = heapq.heappop(self.later)
                self.reply(connection, reply)
            until = self.later[0][0] if self.later else now + 0.05
            if self.options.stall_ms:
                until = min(until, next_stall)
            for key, _ in self.selector.select(max(0, until - time.monotonic())):
                if key.data is None:
                    self.accept()
                else:
                    self.read(key.data)

    def accept(self):
        while True:
            if self.options.accept_pause_us:
                time.sleep(self.options.accept_pause_us / 1e6)
            if (self.open + 1) * self.options.descriptors + self.descriptors_own > self.descriptors_limit:
                self.count_descriptors()
                time.sleep(0.01)
                return
            try:
                stream, _ = self.listener.accept()
            except BlockingIOError:
                return
            stream.setblocking(False)
            if not self.options.two_writes:
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.accepted += 1
            self.open += 1
            self.open_max = max(self.open_max, self.open)
            self.selector.register(stream, selectors.EVENT_READ, Connection(stream, self.accepted, self.options))
            if self.accepted % 100 == 0:
                self.count_descriptors()

    def count_descriptors(self):
        self.descriptors_max = max(self.descriptors_max, len(os.listdir("/proc/self/fd")) - 1)

    def read(self, connection):
        try:
            data = connection.stream.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close(connection)
            return
        connection.received += data
        size = self.options.size
        while len(connection.received) >= size:
            message, connection.received = connection.received[:size], connection.received[size:]
            self.requests += 1
            if connection.is_reset:
                self.resets += 1
                connection.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close(connection)
                return
            if connection.is_silent:
                self.silent += 1
                continue
            delay = self.options.delay_ms
            if connection.number == self.options.starve:
                delay = self.options.starve_ms
            if delay:
                self.order += 1
                heapq.heappush(self.later, (time.monotonic() + delay / 1e3, self.order, connection, message))
            else:
                self.reply(connection, message)

    def reply(self, connection, message):
        if connection.stream.fileno() < 0:
            return
        connection.replies += 1
        try:
            if self.options.partial and connection.number == 1 and connection.replies == 3:
                connection.stream.send(message[: self.options.partial])
                connection.is_silent = True
                return
            if self.options.two_writes:
                connection.stream.send(message[:1])
                connection.stream.send(message[1:])
            else:
                connection.stream.send(message)
        except OSError:
            self.close(connection)
            return
        if self.options.close:
            self.close(connection)

    def close(self, connection):
        if connection.stream.fileno() < 0:
            return
        self.replies[connection.number] = connection.replies
        self.selector.unregister(connection.stream)
        connection.stream.close()
        for other in connection.others:
            os.close(other)
        connection.memory = None
        self.open -= 1

    def log(self):
        connections = [key.data for key in self.selector.get_map().values() if key.data]
        for connection in connections:
            self.replies[connection.number] = connection.replies
        self.count_descriptors()
        record = {
            "accepted": self.accepted,
            "requests": self.requests,
            "replies": sum(self.replies.values()),
            "replies_each": [self.replies[number] for number in sorted(self.replies)],
            "resets": self.resets,
            "silent": self.silent,
            "open_max": self.open_max,
            "descriptors_max": self.descriptors_max,
            "stalls": self.stalls,
        }
        with open(self.options.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def main():
    server = Server(arguments())

    def end(*_):
        server.is_over = True

    signal.signal(signal.SIGTERM, end)
    server.serve()
    server.log()


if __name__ == "__main__":
    sys.exit(main())
