"""What the Python servers of this catalogue share, so that each shows only its own model.

The flags, the ready line, the options of a socket, the reading of HTTP requests and of frames:
all of it without waiting for anything, since how to wait is what the servers differ in.
A server finds this file in the directory above its own. It runs on Python 3.9 and later.
"""

from __future__ import annotations

import argparse
import atexit
import ipaddress
import json
import os
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import parse_qsl

CHUNK = 64 * 1024  # How much a server reads at a time.
KEPT = 1024 * 1024  # How much a broadcast keeps for a client that does not read.
CONNECTED = b"connected\n"
ONESHOT_ANSWER = b"HTTP/1.1 200 OK\r\n\r\nok\r\n"


# The command line.


class Address(NamedTuple):
    """Where to listen: an address family, and the name that bind() takes for it."""

    family: socket.AddressFamily
    name: tuple[str, int] | str

    def __str__(self) -> str:
        if isinstance(self.name, str):
            return f"unix:{self.name}"
        host, port = self.name
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def address(text: str) -> Address:
    scheme, _, path = text.partition(":")
    if scheme == "unix" and path:
        return Address(socket.AF_UNIX, path)
    host, _, port = text.rpartition(":")
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError("no port")
    if host.startswith("[") and host.endswith("]"):
        return Address(socket.AF_INET6, (str(ipaddress.IPv6Address(host[1:-1])), int(port)))
    return Address(socket.AF_INET, (str(ipaddress.IPv4Address(host)), int(port)))


# Nine digits are what every clock and loop here takes, and more than anybody waits.
def whole_number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError("no number")
    return int(text)


def milliseconds(text: str) -> float:
    """The seconds in a decimal number of milliseconds."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError("no number")
    return float(text) / 1000


def parse_arguments(*workloads: str) -> argparse.Namespace:
    """Reads the command line; argparse ends the program with status 2 where it is wrong."""
    return argument_parser(*workloads).parse_args()


def argument_parser(*workloads: str) -> argparse.ArgumentParser:
    """For a server that has flags of its own beside those of all."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--listen", type=address, action="append", required=True)
    parser.add_argument("--workload", choices=workloads, required=True)
    parser.add_argument("--backlog", type=whole_number, default=1024)
    parser.add_argument("--delay-ms", dest="delay", type=milliseconds, default=0.0)
    return parser


# Sockets.


def listening_socket(address: Address, backlog: int) -> socket.socket:
    """A listener for an event loop, which must not wait in accept()."""
    listener = socket.socket(address.family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address.name)
    listener.listen(backlog)
    listener.setblocking(False)
    return listener


def announce(name: tuple | str) -> None:
    """Says that a listener is ready, by what its getsockname() tells."""
    if isinstance(name, str):
        atexit.register(remove_socket, name)
        bound = Address(socket.AF_UNIX, name)
    else:
        bound = Address(socket.AF_INET, name[:2])
    print(f"ready {bound}", flush=True)


def remove_socket(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def send_at_once(connection: socket.socket) -> None:
    """Has small answers leave without waiting for the acknowledgement of earlier ones."""
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


# Lines of a broadcast.


class LineTooLong(Exception):
    """A client has sent more than is kept without ending its line."""


class LineSplitter:
    """Takes pieces of input, gives back the lines that are whole so far."""

    def __init__(self) -> None:
        self._unfinished = bytearray()

    def feed(self, data: bytes) -> bytes:
        end = data.rfind(b"\n") + 1
        if not end:
            self._unfinished += data
            if len(self._unfinished) > KEPT:
                raise LineTooLong
            return b""
        lines = bytes(self._unfinished) + data[:end]
        self._unfinished = bytearray(data[end:])
        return lines


# HTTP.

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
REQUEST_LINE = re.compile(rb"(" + TOKEN + rb") (\S+) HTTP/1\.([01])")
HEADER = re.compile(rb"(" + TOKEN + rb"):[ \t]*([^\x00\r]*?)[ \t]*")
HEAD_LIMIT = 64 * 1024
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class BadRequest(Exception):
    """What came is no request; it is to be answered by BAD_REQUEST and a close."""


class Request(NamedTuple):
    delay: float  # seconds
    count: int
    keep_alive: bool
    answer: bytes


def count_to(number: int) -> int:
    """The work that a request asks for: a plain loop of Python's."""
    counted = 0
    for _ in range(number):
        counted += 1
    return counted


def delay_and_count(query: str, default_delay: float) -> tuple[float, int]:
    """What a query asks for; ValueError where one of them is no number."""
    asked = dict(parse_qsl(query, keep_blank_values=True))
    delay = milliseconds(asked["delay"]) if "delay" in asked else default_delay
    return delay, whole_number(asked.get("count", "0"))


class RequestParser:
    """Takes pieces of input, gives back the requests in them: bytes in, requests out.

    A request line is looked at as soon as it is there, so that what is no HTTP at all
    is found out without waiting for the end of a head that may never come. Bodies are
    left out: a request that has one is answered, and the connection closed.
    """

    def __init__(self, default_delay: float) -> None:
        self._default_delay = default_delay
        self._unfinished = b""
        self._head: list[re.Match[bytes]] = []
        self._head_size = 0

    def feed(self, data: bytes) -> Iterator[Request]:
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            self._head_size += len(line)
            if self._head_size > HEAD_LIMIT:
                raise BadRequest
            line = line[:-1] if line.endswith(b"\r") else line
            if line or not self._head:
                self._head.append(self._match(line))
                continue
            request_line, *headers = self._head
            self._head, self._head_size = [], 0
            yield self._request(request_line, headers)
        if self._head_size + len(self._unfinished) > HEAD_LIMIT:
            raise BadRequest

    def _match(self, line: bytes) -> re.Match[bytes]:
        match = (HEADER if self._head else REQUEST_LINE).fullmatch(line)
        if not match:
            raise BadRequest
        return match

    def _request(self, request_line: re.Match[bytes], headers: list) -> Request:
        method, target, minor_version = request_line.groups()
        fields = {name.lower(): value for name, value in (h.groups() for h in headers)}
        query = target.partition(b"?")[2].decode("latin-1")
        try:
            delay, count = delay_and_count(query, self._default_delay)
        except ValueError:
            raise BadRequest from None
        connection = fields.get(b"connection", b"").lower()
        keep_alive = (
            b"close" not in connection
            and (minor_version == b"1" or b"keep-alive" in connection)
            and fields.get(b"content-length", b"0") == b"0"
            and b"transfer-encoding" not in fields
        )
        return Request(delay, count, keep_alive, self._answer(method, keep_alive))

    def _answer(self, method: bytes, keep_alive: bool) -> bytes:
        status, body = (b"200 OK", b"ok") if method == b"GET" else (b"405 Only GET", b"")
        return b"HTTP/1.1 %b\r\nContent-Length: %d\r\nConnection: %b\r\n\r\n%b" % (
            status,
            len(body),
            b"keep-alive" if keep_alive else b"close",
            body,
        )


# Frames of JSON.

FRAME_PREFIX = struct.Struct("!I")  # The length of what follows.
FRAME_LIMIT = 64 * 1024
LINGER = 1.0  # For how many seconds a server drops what comes behind a frame that is too long.


class FrameTooLong(Exception):
    """What is announced is more than is read; it is to be answered by FRAME_TOO_LONG, and a
    close once the client has ended its output, or after a while: a connection that is closed
    with unread input is reset, and the answer may be lost by that.
    """


def frame_length(prefix: bytes) -> int:
    (length,) = FRAME_PREFIX.unpack(prefix)
    if length > FRAME_LIMIT:
        raise FrameTooLong
    return length


def frame_request(frame: bytes) -> tuple[int, bytes]:
    """How far to count for a request, and the answer that is then due."""
    try:
        request = json.loads(frame)
    except (ValueError, RecursionError):
        return 0, frame_answer(400, "the frame holds no JSON that can be read")
    if not isinstance(request, dict):
        return 0, frame_answer(400, "a request is an object")
    count = request.get("count", 0)
    # The type itself, since a bool is an int, too; nine digits at most, as in HTTP.
    if type(count) is not int or not 0 <= count < 10**9:
        return 0, frame_answer(400, "count is a whole number from 0, of nine digits at most")
    return count, frame_answer(200, "ok")


def frame_answer(code: int, msg: str) -> bytes:
    answer = json.dumps({"code": code, "msg": msg}).encode()
    return FRAME_PREFIX.pack(len(answer)) + answer


FRAME_TOO_LONG = frame_answer(400, f"a frame has {FRAME_LIMIT} bytes at most")
