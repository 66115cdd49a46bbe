"""A server on Twisted: a protocol object per connection that the reactor calls.

One event loop in one thread tells a protocol what has come; nothing waits, so what in
other models is a line after a wait is a method of its own here, or a Deferred. HTTP is
Twisted's own (twisted.web). Left out: several processes, time limits on idle clients.
"""

import sys
from collections import deque
from functools import partial
from pathlib import Path

from twisted.internet import reactor
from twisted.internet.defer import CancelledError, ensureDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IHalfCloseableProtocol, IPushProducer
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import deferLater
from twisted.protocols.basic import LineOnlyReceiver
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site
from zope.interface import implementer

sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402


@implementer(IHalfCloseableProtocol)
class Echo(Protocol):
    def connectionMade(self) -> None:
        contract.send_at_once(self.transport.getHandle())
        # The transport is its own producer: while what it is to write piles up,
        # it stops reading, which is what would make the pile grow.
        self.transport.registerProducer(self.transport, True)

    def dataReceived(self, data: bytes) -> None:
        self.transport.write(data)

    def readConnectionLost(self) -> None:
        self.transport.unregisterProducer()
        self.transport.loseConnection()  # After the last byte is written.

    def writeConnectionLost(self) -> None:
        pass


@implementer(IPushProducer)
class Broadcast(LineOnlyReceiver):
    """A member; as a producer it is told when its transport has enough to write."""

    delimiter = b"\n"
    MAX_LENGTH = contract.KEPT // 2
    members = set()

    def connectionMade(self) -> None:
        contract.send_at_once(self.transport.getHandle())
        self.waiting = deque()
        self.waiting_size = 0
        self.paused = False
        self.transport.registerProducer(self, True)
        self.transport.write(contract.CONNECTED)
        self.members.add(self)

    def connectionLost(self, reason) -> None:
        self.members.discard(self)

    def lineReceived(self, line: bytes) -> None:
        for member in tuple(self.members):
            member.deliver(line + self.delimiter)

    def deliver(self, line: bytes) -> None:
        if not self.paused:
            self.transport.write(line)
        elif self.waiting_size + len(line) > contract.KEPT // 2:
            # The rest of what may be kept is the transport's.
            self.transport.abortConnection()
        else:
            self.waiting.append(line)
            self.waiting_size += len(line)

    def pauseProducing(self) -> None:
        self.paused = True

    def resumeProducing(self) -> None:
        self.paused = False
        while self.waiting and not self.paused:
            line = self.waiting.popleft()
            self.waiting_size -= len(line)
            self.transport.write(line)

    def stopProducing(self) -> None:
        self.waiting.clear()


class Oneshot(Protocol):
    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.asked = False

    def connectionMade(self) -> None:
        contract.send_at_once(self.transport.getHandle())

    def dataReceived(self, data: bytes) -> None:
        if not self.asked:
            self.asked = True
            reactor.callLater(self.delay, self.answer)

    def answer(self) -> None:
        self.transport.write(contract.ONESHOT_ANSWER)
        self.transport.loseConnection()


class Count(Resource):
    isLeaf = True  # It answers for every path.

    def __init__(self, delay: float) -> None:
        super().__init__()
        self.default_delay = delay

    def render_GET(self, request: Request) -> int:
        answering = ensureDeferred(self.answer(request))
        # Whoever leaves while the answer waits ends the wait.
        request.notifyFinish().addErrback(lambda _: answering.cancel())
        answering.addErrback(lambda failure: failure.trap(CancelledError))
        return NOT_DONE_YET

    async def answer(self, request: Request) -> None:
        query = request.uri.partition(b"?")[2].decode("latin-1")
        try:
            delay, count = contract.delay_and_count(query, self.default_delay)
        except ValueError:
            request.setResponseCode(400)
            request.setHeader(b"content-length", b"0")
            channel = request.channel  # The request forgets it when it is finished.
            request.finish()
            channel.loseConnection()
            return
        if delay:
            await deferLater(reactor, delay)
        contract.count_to(count)
        request.setHeader(b"content-length", b"2")
        request.write(b"ok")
        request.finish()


def make_factory(workload: str, delay: float) -> Factory:
    if workload == "echo":
        return Factory.forProtocol(Echo)
    if workload == "broadcast":
        return Factory.forProtocol(Broadcast)
    if workload == "oneshot":
        return Factory.forProtocol(partial(Oneshot, delay))
    return Site(Count(delay), timeout=None)


def main() -> None:
    arguments = contract.parse_arguments("echo", "broadcast", "http", "oneshot")
    factory = make_factory(arguments.workload, arguments.delay)
    factory.noisy = False
    for address in arguments.listen:
        try:
            if isinstance(address.name, str):
                port = reactor.listenUNIX(address.name, factory, arguments.backlog)
            else:
                host, number = address.name
                port = reactor.listenTCP(number, factory, arguments.backlog, host)
        except CannotListenError as error:
            sys.exit(f"cannot listen on {address}: {error}")
        contract.announce(port.socket.getsockname())
    reactor.run()


if __name__ == "__main__":
    main()
