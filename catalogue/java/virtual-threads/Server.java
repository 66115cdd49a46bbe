// A virtual thread for each connection: it waits in `read`, `write` or `sleep` as a thread of the kernel would, and
// meanwhile the few threads that carry all of them run others. In `broadcast` a second one writes what a connection
// hears, so that a client that does not read holds up its own writer and nobody who speaks.
//
// Left out on purpose: bodies of HTTP requests; a bound on how many connections there are.

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class Server {
    private static final int CHUNK_BYTES = 16 * 1024;
    private static final int LINE_BYTES = 64 * 1024;

    /** What is done on a connection from its first byte to its last. */
    private interface Workload {
        void serve(SocketChannel connection) throws IOException, InterruptedException;
    }

    private Server() {}

    public static void main(String... words) throws IOException, InterruptedException {
        Contract.Options options = Contract.options(Set.of("echo", "broadcast", "http", "oneshot", "framed"), words);
        Workload workload = workload(options);
        List<ServerSocketChannel> listeners = Contract.listen(options);
        List<Thread> accepting = listeners.stream()
                .map(listener -> Thread.ofVirtual().start(() -> accept(listener, workload)))
                .toList();
        Contract.ready(listeners);
        for (Thread thread : accepting) {
            thread.join();
        }
    }

    private static Workload workload(Contract.Options options) {
        return switch (options.workload()) {
            case "echo" -> Server::echo;
            case "broadcast" -> Server::broadcast;
            case "framed" -> Server::framed;
            case "http" -> connection -> new HttpConversation(connection, options.delay()).serve();
            default -> connection -> oneshot(connection, options.delay());
        };
    }

    private static void accept(ServerSocketChannel listener, Workload workload) {
        while (listener.isOpen()) {
            try {
                SocketChannel connection = listener.accept();
                Thread.startVirtualThread(() -> serve(connection, workload));
            } catch (IOException e) {
                System.err.println("a connection was not accepted: " + e.getMessage());
            }
        }
    }

    private static void serve(SocketChannel connection, Workload workload) {
        try (connection) {
            Contract.prepare(connection);
            workload.serve(connection);
        } catch (IOException | InterruptedException e) {
            // It was reset, or left before its turn: this connection ends, and nothing else.
        }
    }

    private static void echo(SocketChannel connection) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
        while (connection.read(chunk) != -1) {
            // Until all of it is written: who does not read is not read from.
            writeAll(connection, chunk.flip());
            chunk.clear();
        }
        connection.shutdownOutput();
    }

    private static void oneshot(SocketChannel connection, Duration delay) throws IOException, InterruptedException {
        if (connection.read(ByteBuffer.allocate(CHUNK_BYTES)) == -1) {
            return;
        }
        Thread.sleep(delay);
        writeAll(connection, StandardCharsets.US_ASCII.encode("HTTP/1.1 200 OK\r\n\r\nok\r\n"));
    }

    private static final Set<Outbox> EVERYBODY = ConcurrentHashMap.newKeySet();

    private static void broadcast(SocketChannel connection) throws IOException, InterruptedException {
        Outbox outbox = new Outbox(connection);
        outbox.put("connected\n".getBytes(StandardCharsets.US_ASCII));
        // Before the greeting is sent: whoever has read it hears everything that is said from then on.
        EVERYBODY.add(outbox);
        Thread writer = Thread.startVirtualThread(outbox::deliver);
        try {
            InputStream input = new BufferedInputStream(Channels.newInputStream(connection));
            for (byte[] line = readLine(input, LINE_BYTES); line != null; line = readLine(input, LINE_BYTES)) {
                for (Outbox everyone : EVERYBODY) {
                    everyone.put(line);
                }
                outbox.waitUntilHeard();
            }
        } finally {
            EVERYBODY.remove(outbox);
            outbox.put(Outbox.LAST);
            writer.join();
        }
    }

    /** A line with its end; null at the end of input, where a line that is not ended is dropped. */
    private static byte[] readLine(InputStream input, int bytesMax) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (line.size() < bytesMax) {
            int next = input.read();
            if (next == -1) {
                return null;
            }
            line.write(next);
            if (next == '\n') {
                return line.toByteArray();
            }
        }
        throw new IOException("a line is too long");
    }

    /** What one connection has still to hear. */
    private static final class Outbox {
        static final byte[] LAST = {};
        /** What is kept for a client that does not read; beyond that it is cut off. */
        private static final int KEPT_BYTES = 1024 * 1024;
        /** Who speaks is read on only when it has less than this to hear itself: else speaking outruns hearing. */
        private static final int AHEAD_BYTES = 64 * 1024;

        private final SocketChannel connection;
        private final BlockingQueue<byte[]> lines = new LinkedBlockingQueue<>();
        private final AtomicInteger bytes = new AtomicInteger();

        Outbox(SocketChannel connection) {
            this.connection = connection;
        }

        void put(byte[] line) {
            if (bytes.addAndGet(line.length) > KEPT_BYTES) {
                cutOff();
            } else {
                lines.add(line);
            }
        }

        /** What the second virtual thread does. */
        void deliver() {
            try {
                for (byte[] line = lines.take(); line != LAST; line = lines.take()) {
                    writeAll(connection, ByteBuffer.wrap(line));
                    bytes.addAndGet(-line.length);
                }
            } catch (IOException | InterruptedException e) {
                cutOff();
            }
        }

        void waitUntilHeard() throws InterruptedException {
            while (bytes.get() > AHEAD_BYTES && connection.isOpen()) {
                Thread.sleep(Duration.ofMillis(5));
            }
        }

        /** Its reader and its writer both wake and end. */
        private void cutOff() {
            try {
                connection.close();
            } catch (IOException e) {
                System.err.println("a connection was not closed: " + e.getMessage());
            }
        }
    }

    /** HTTP/1.1 as far as the workload goes: of the headers only `Connection` matters, of the query two parameters. */
    private static final class HttpConversation {
        private static final int LINE_BYTES = 8 * 1024;
        private static final int HEADERS = 100;
        private static final Pattern REQUEST_LINE =
                Pattern.compile("([A-Z]+) [^\\s?]+(?:\\?(\\S*))? HTTP/1\\.([01])\\r?\\n");
        private static final Pattern HEADER =
                Pattern.compile("([!#$%&'*+\\-.^`|~\\w]+):[ \\t]*([^\\r\\n]*?)[ \\t]*\\r?\\n");

        private record Request(Duration delay, int count, boolean keepAlive) {}

        private final SocketChannel connection;
        private final InputStream input;
        private final Duration defaultDelay;

        HttpConversation(SocketChannel connection, Duration defaultDelay) {
            this.connection = connection;
            this.input = new BufferedInputStream(Channels.newInputStream(connection));
            this.defaultDelay = defaultDelay;
        }

        void serve() throws IOException, InterruptedException {
            try {
                Request request;
                do {
                    request = readRequest();
                    Thread.sleep(request.delay);
                    Contract.countTo(request.count);
                    answer("200 OK", "ok", request.keepAlive);
                } while (request.keepAlive);
            } catch (IllegalArgumentException e) {
                answer("400 Bad Request", "bad request", false);
            }
        }

        private Request readRequest() throws IOException {
            Matcher start = match(REQUEST_LINE, line());
            Duration delay = defaultDelay;
            int count = 0;
            String query = start.group(2) == null ? "" : start.group(2);
            for (String parameter : query.split("&")) {
                if (parameter.startsWith("delay=")) {
                    delay = Contract.milliseconds(parameter.substring("delay=".length()));
                } else if (parameter.startsWith("count=")) {
                    count = Integer.parseUnsignedInt(parameter.substring("count=".length()));
                }
            }
            String connectionHeader = readConnectionHeader();
            boolean keepAlive = start.group(3).equals("1")
                    ? !connectionHeader.equalsIgnoreCase("close")
                    : connectionHeader.equalsIgnoreCase("keep-alive");
            return new Request(delay, count, keepAlive);
        }

        private String readConnectionHeader() throws IOException {
            String found = "";
            for (int headers = 0; headers < HEADERS; headers++) {
                String line = line();
                if (line.isBlank()) {
                    return found;
                }
                Matcher header = match(HEADER, line);
                if (header.group(1).equalsIgnoreCase("connection")) {
                    found = header.group(2);
                }
            }
            throw new IllegalArgumentException("too many headers");
        }

        private String line() throws IOException {
            byte[] line = readLine(input, LINE_BYTES);
            if (line == null) {
                throw new EOFException();
            }
            return new String(line, StandardCharsets.ISO_8859_1);
        }

        private static Matcher match(Pattern pattern, String text) {
            Matcher matcher = pattern.matcher(text);
            if (!matcher.matches()) {
                throw new IllegalArgumentException(text);
            }
            return matcher;
        }

        private void answer(String status, String body, boolean keepAlive) throws IOException {
            String answer = "HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: %s\r\n\r\n%s"
                    .formatted(status, body.length(), keepAlive ? "keep-alive" : "close", body);
            writeAll(connection, StandardCharsets.US_ASCII.encode(answer));
        }
    }

    private static void framed(SocketChannel connection) throws IOException {
        DataInputStream input = new DataInputStream(new BufferedInputStream(Channels.newInputStream(connection)));
        // The end of input is an EOFException wherever it comes: there is nothing more to answer.
        int length = input.readInt();
        while (!Contract.Frames.isTooLong(length)) {
            byte[] frame = new byte[length];
            input.readFully(frame);
            writeAll(connection, frameAnswer(frame));
            length = input.readInt();
        }
        writeAll(connection, Contract.Frames.reply(400, "the frame is too long"));
        // To close with unread input would reset the connection, and the kernel may then drop the answer.
        connection.shutdownOutput();
        input.skipNBytes(Contract.Frames.DROPPED_BYTES);
    }

    private static ByteBuffer frameAnswer(byte[] frame) {
        try {
            Contract.countTo(Contract.Frames.count(frame));
            return Contract.Frames.reply(200, "ok");
        } catch (IllegalArgumentException e) {
            return Contract.Frames.reply(400, e.getMessage());
        }
    }

    /** A channel may take only a part at a time, also one that blocks. */
    private static void writeAll(SocketChannel connection, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            connection.write(bytes);
        }
    }
}
