// One thread and one Selector, which is epoll on Linux: it waits for all channels, and what is ready is read, written
// or accepted without blocking. What a channel does not take is kept, and written when the selector says that there is
// room. Of requests that come together and are counted for, one is answered at a time: the others wait for their turn,
// which comes when everything else that is ready has been seen to.
//
// Left out on purpose: any use of more than one core, and HTTP, for which one would take a framework over such a loop.

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

public final class Server {
    private static final int CHUNK_BYTES = 16 * 1024;
    private static final int LINE_BYTES = 64 * 1024;
    /** Who is behind by this much is not read from (echo), or cut off (broadcast). */
    private static final int KEPT_BYTES = 1024 * 1024;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** What is done with what comes; everything else is the same for all workloads. */
    private interface Workload {
        default void opened(Connection connection) throws IOException {}

        /** Whether it has more to do with what came, in a later turn: it is then called with nothing fresh. */
        boolean received(Connection connection, ByteBuffer chunk) throws IOException;
    }

    private final Selector selector;
    private final Workload workload;
    private final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
    /** Those that wait for their next turn. */
    private final Deque<Connection> turns = new ArrayDeque<>();

    private Server(String workload) throws IOException {
        this.selector = Selector.open();
        this.workload = switch (workload) {
            case "echo" -> new Echo();
            case "framed" -> new Framed();
            default -> new Broadcast();
        };
    }

    public static void main(String... words) throws IOException {
        Contract.Options options = Contract.options(Set.of("echo", "broadcast", "framed"), words);
        Server server = new Server(options.workload());
        List<ServerSocketChannel> listeners = Contract.listen(options);
        for (ServerSocketChannel listener : listeners) {
            listener.configureBlocking(false);
            listener.register(server.selector, SelectionKey.OP_ACCEPT);
        }
        Contract.ready(listeners);
        server.run();
    }

    private void run() throws IOException {
        while (true) {
            if (turns.isEmpty()) {
                selector.select(this::handle);
            } else {
                selector.selectNow(this::handle);
            }
            // Those who come to wait meanwhile are not among them.
            for (int left = turns.size(); left > 0; left--) {
                haveTurn(turns.remove());
            }
        }
    }

    private void haveTurn(Connection connection) {
        try {
            if (connection.channel.isOpen()) {
                received(connection, NOTHING);
            }
        } catch (IOException e) {
            // It was reset while it waited.
            connection.close();
        }
    }

    private void handle(SelectionKey key) {
        if (key.channel() instanceof ServerSocketChannel listener) {
            accept(listener);
            return;
        }
        Connection connection = (Connection) key.attachment();
        try {
            if (key.isValid() && key.isWritable()) {
                connection.flush();
            }
            if (key.isValid() && key.isReadable()) {
                read(connection);
            }
        } catch (IOException e) {
            // It was reset: this connection ends, and nothing else.
            connection.close();
        }
    }

    private void accept(ServerSocketChannel listener) {
        try {
            SocketChannel channel = listener.accept();
            if (channel == null) {
                return;
            }
            channel.configureBlocking(false);
            Contract.prepare(channel);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            Connection connection = new Connection(channel, key);
            key.attach(connection);
            workload.opened(connection);
        } catch (IOException e) {
            System.err.println("a connection was not accepted: " + e.getMessage());
        }
    }

    private void read(Connection connection) throws IOException {
        chunk.clear();
        if (connection.channel.read(chunk) == -1) {
            connection.inputEnded();
        } else if (connection.isRefused) {
            connection.drop(chunk.flip());
        } else {
            received(connection, chunk.flip());
        }
    }

    private void received(Connection connection, ByteBuffer bytes) throws IOException {
        boolean hasMore = workload.received(connection, bytes);
        connection.waitForTurn(hasMore);
        if (hasMore) {
            turns.add(connection);
        }
    }

    /** A channel, and what it has not taken yet. */
    private static final class Connection {
        private final SocketChannel channel;
        private final SelectionKey key;
        private final Deque<ByteBuffer> unsent = new ArrayDeque<>();
        private int unsentBytes;
        private boolean inputEnded;
        private boolean waitsForTurn;
        private boolean isRefused;
        private int droppedBytes;
        /** What has come of a line or a frame that is not whole, or has not had its turn. */
        private byte[] rest = {};

        Connection(SocketChannel channel, SelectionKey key) {
            this.channel = channel;
            this.key = key;
        }

        /** Sends what the channel takes, and keeps a copy of the rest. */
        void write(ByteBuffer bytes) throws IOException {
            if (unsent.isEmpty()) {
                channel.write(bytes);
            }
            if (bytes.hasRemaining()) {
                unsentBytes += bytes.remaining();
                unsent.add(ByteBuffer.allocate(bytes.remaining()).put(bytes).flip());
            }
            chooseInterest();
        }

        void flush() throws IOException {
            while (!unsent.isEmpty()) {
                unsentBytes -= channel.write(unsent.peek());
                if (unsent.peek().hasRemaining()) {
                    break;
                }
                unsent.remove();
            }
            chooseInterest();
        }

        void inputEnded() throws IOException {
            inputEnded = true;
            chooseInterest();
        }

        /** Meanwhile it is not read from. */
        void waitForTurn(boolean waits) throws IOException {
            if (waits != waitsForTurn) {
                waitsForTurn = waits;
                chooseInterest();
            }
        }

        /**
         * These are the last bytes. To close with unread input would reset the connection, and the kernel may then drop
         * them: so only the output ends, and what still comes is dropped.
         */
        void refuse(ByteBuffer bytes) throws IOException {
            isRefused = true;
            write(bytes);
        }

        void drop(ByteBuffer bytes) {
            droppedBytes += bytes.remaining();
            if (droppedBytes > Contract.Frames.DROPPED_BYTES) {
                close();
            }
        }

        ByteBuffer withRest(ByteBuffer fresh) {
            ByteBuffer bytes = ByteBuffer.allocate(rest.length + fresh.remaining());
            return bytes.put(rest).put(fresh).flip();
        }

        boolean isBehind() {
            return unsentBytes >= KEPT_BYTES;
        }

        /** What the selector is to wait for; nothing any more means that all is done. */
        private void chooseInterest() throws IOException {
            if (isRefused && unsent.isEmpty()) {
                channel.shutdownOutput();
            }
            int reading = inputEnded || waitsForTurn || isBehind() ? 0 : SelectionKey.OP_READ;
            int writing = unsent.isEmpty() ? 0 : SelectionKey.OP_WRITE;
            if ((reading | writing) == 0 && !waitsForTurn) {
                close();
            } else if (key.isValid()) {
                key.interestOps(reading | writing);
            }
        }

        void close() {
            try {
                // It takes the key out of the selector, too.
                channel.close();
            } catch (IOException e) {
                System.err.println("a connection was not closed: " + e.getMessage());
            }
        }
    }

    private static final class Echo implements Workload {
        @Override
        public boolean received(Connection connection, ByteBuffer chunk) throws IOException {
            connection.write(chunk);
            return false;
        }
    }

    private static final class Broadcast implements Workload {
        private final Set<Connection> everybody = new LinkedHashSet<>();

        @Override
        public void opened(Connection connection) throws IOException {
            everybody.add(connection);
            connection.write(StandardCharsets.US_ASCII.encode("connected\n"));
        }

        @Override
        public boolean received(Connection connection, ByteBuffer chunk) {
            ByteBuffer bytes = connection.withRest(chunk);
            int end = bytes.limit();
            while (end > 0 && bytes.get(end - 1) != '\n') {
                end--;
            }
            connection.rest = Arrays.copyOfRange(bytes.array(), end, bytes.limit());
            if (end > 0) {
                say(bytes.limit(end));
            }
            if (connection.rest.length > LINE_BYTES) {
                connection.close();
            }
            return false;
        }

        private void say(ByteBuffer lines) {
            // Here is where those that have gone since are noticed.
            everybody.removeIf(connection -> !connection.channel.isOpen());
            for (Connection connection : everybody) {
                try {
                    connection.write(lines.duplicate());
                } catch (IOException e) {
                    connection.close();
                }
                if (connection.isBehind()) {
                    connection.close();
                }
            }
        }
    }

    private static final class Framed implements Workload {
        /** Answers the frames that are whole, up to one that was counted for. */
        @Override
        public boolean received(Connection connection, ByteBuffer chunk) throws IOException {
            ByteBuffer bytes = connection.withRest(chunk);
            boolean hasCounted = false;
            while (!hasCounted && bytes.remaining() >= Contract.Frames.LENGTH_BYTES) {
                int length = bytes.getInt(bytes.position());
                if (Contract.Frames.isTooLong(length)) {
                    connection.refuse(Contract.Frames.reply(400, "the frame is too long"));
                    return false;
                }
                if (bytes.remaining() < Contract.Frames.LENGTH_BYTES + length) {
                    break;
                }
                byte[] frame = new byte[length];
                bytes.position(bytes.position() + Contract.Frames.LENGTH_BYTES).get(frame);
                hasCounted = answer(connection, frame);
            }
            connection.rest = Arrays.copyOfRange(bytes.array(), bytes.position(), bytes.limit());
            return hasCounted && bytes.hasRemaining();
        }

        private static boolean answer(Connection connection, byte[] frame) throws IOException {
            try {
                int count = Contract.Frames.count(frame);
                Contract.countTo(count);
                connection.write(Contract.Frames.reply(200, "ok"));
                return count > 0;
            } catch (IllegalArgumentException e) {
                connection.write(Contract.Frames.reply(400, e.getMessage()));
                return false;
            }
        }
    }
}
