// One thread and one Selector, which is epoll on Linux: it waits for all channels, and what is ready is read, written
// or accepted without blocking. What a channel does not take is kept, and written when the selector says that there is
// room.
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

    /** What is done with what comes; everything else is the same for all workloads. */
    private interface Workload {
        void opened(Connection connection) throws IOException;

        void received(Connection connection, ByteBuffer chunk) throws IOException;
    }

    private final Selector selector;
    private final Workload workload;
    private final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);

    private Server(String workload) throws IOException {
        this.selector = Selector.open();
        this.workload = workload.equals("echo") ? new Echo() : new Broadcast();
    }

    public static void main(String... words) throws IOException {
        Contract.Options options = Contract.options(Set.of("echo", "broadcast"), words);
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
            selector.select(this::handle);
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
        } else {
            workload.received(connection, chunk.flip());
        }
    }

    /** A channel, and what it has not taken yet. */
    private static final class Connection {
        private final SocketChannel channel;
        private final SelectionKey key;
        private final Deque<ByteBuffer> unsent = new ArrayDeque<>();
        private int unsentBytes;
        private boolean inputEnded;
        /** What has come of a line that is not ended. */
        private byte[] line = {};

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

        void inputEnded() {
            inputEnded = true;
            chooseInterest();
        }

        boolean isBehind() {
            return unsentBytes >= KEPT_BYTES;
        }

        /** What the selector is to wait for; nothing any more means that all is done. */
        private void chooseInterest() {
            int reading = inputEnded || isBehind() ? 0 : SelectionKey.OP_READ;
            int writing = unsent.isEmpty() ? 0 : SelectionKey.OP_WRITE;
            if ((reading | writing) == 0) {
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
        public void opened(Connection connection) {}

        @Override
        public void received(Connection connection, ByteBuffer chunk) throws IOException {
            connection.write(chunk);
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
        public void received(Connection connection, ByteBuffer chunk) {
            ByteBuffer bytes = ByteBuffer.allocate(connection.line.length + chunk.remaining());
            bytes.put(connection.line).put(chunk).flip();
            int end = bytes.limit();
            while (end > 0 && bytes.get(end - 1) != '\n') {
                end--;
            }
            connection.line = Arrays.copyOfRange(bytes.array(), end, bytes.limit());
            if (end > 0) {
                say(bytes.limit(end));
            }
            if (connection.line.length > LINE_BYTES) {
                connection.close();
            }
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
}
