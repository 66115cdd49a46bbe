// What the Java servers beside this file have in common before the first connection: flags, listening, the `ready`
// lines and the end at SIGTERM; and what requests come to: counting, and what the JSON of `framed` says. They are
// compiled together with it.
//
// Left out on purpose: everything about connections and how bytes come and go. That is what each server shows.

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

final class Contract {
    private static final Pattern TCP = Pattern.compile("(?:\\[([0-9a-fA-F:.]+)]|([^:\\[\\]]+)):(\\d{1,5})");
    private static final Pattern MILLISECONDS = Pattern.compile("\\d{1,9}(\\.\\d+)?");

    record Options(List<SocketAddress> addresses, String workload, int backlog, Duration delay) {}

    private Contract() {}

    /** Reads the command line, or ends with status 2. */
    static Options options(Set<String> workloads, String... words) {
        List<SocketAddress> addresses = new ArrayList<>();
        String workload = null;
        int backlog = 1024;
        Duration delay = Duration.ZERO;
        for (int place = 0; place < words.length; place += 2) {
            String flag = words[place];
            String value = place + 1 < words.length ? words[place + 1] : "";
            try {
                switch (flag) {
                    case "--listen" -> addresses.add(address(value));
                    case "--workload" -> workload = oneOf(workloads, value);
                    case "--backlog" -> backlog = Integer.parseUnsignedInt(value);
                    case "--delay-ms" -> delay = milliseconds(value);
                    default -> refuse("there is no flag " + flag);
                }
            } catch (IllegalArgumentException e) {
                refuse(flag + " cannot be '" + value + "'");
            }
        }
        if (addresses.isEmpty()) {
            refuse("--listen is missing");
        }
        if (workload == null) {
            refuse("--workload is missing");
        }
        return new Options(addresses, workload, backlog, delay);
    }

    /** Binds all addresses, or ends with status 1. */
    static List<ServerSocketChannel> listen(Options options) {
        List<ServerSocketChannel> listeners = new ArrayList<>();
        for (SocketAddress address : options.addresses()) {
            try {
                listeners.add(ServerSocketChannel.open(family(address)).bind(address, options.backlog()));
            } catch (IOException | RuntimeException e) {
                System.err.println("cannot listen on " + address + ": " + e);
                System.exit(1);
            }
        }
        leaveOnSignal(options.addresses());
        return listeners;
    }

    /** To be called when whoever connects is served. */
    static void ready(List<ServerSocketChannel> listeners) throws IOException {
        for (ServerSocketChannel listener : listeners) {
            System.out.println("ready " + shown(listener.getLocalAddress()));
        }
        System.out.flush();
    }

    static void prepare(SocketChannel connection) throws IOException {
        if (connection.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
            connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
    }

    /** A number of milliseconds, with or without decimals. */
    static Duration milliseconds(String text) {
        if (!MILLISECONDS.matcher(text).matches()) {
            throw new IllegalArgumentException(text);
        }
        return Duration.ofNanos((long) (Double.parseDouble(text) * 1e6));
    }

    /** Every step is left where others could see it: else the compiler would leave out the loop. */
    static void countTo(int count) {
        for (int number = 0; number < count; number++) {
            COUNTED.setOpaque(number);
        }
    }

    private static final AtomicInteger COUNTED = new AtomicInteger();

    /** Requests and replies of `framed`. A class of its own, so that other workloads do not load what reads JSON. */
    static final class Frames {
        static final int LENGTH_BYTES = 4;
        /** How much is dropped behind a frame that is refused. */
        static final int DROPPED_BYTES = 1024 * 1024;

        private static final int BYTES_MAX = 64 * 1024;
        private static final Gson GSON = new Gson();
        private static final TypeAdapter<JsonObject> OBJECT = GSON.getAdapter(JsonObject.class);

        private record Reply(int code, String msg) {}

        private Frames() {}

        static boolean isTooLong(int length) {
            return Integer.compareUnsigned(length, BYTES_MAX) > 0;
        }

        /** How far a request is to be counted for. What is malformed is an IllegalArgumentException with the reason. */
        static int count(byte[] frame) {
            JsonElement count = object(new String(frame, StandardCharsets.UTF_8)).get("count");
            if (count == null) {
                return 0;
            }
            // Gson would make numbers of strings, too, and whole ones of fractions.
            if (count instanceof JsonPrimitive number && number.isNumber()) {
                try {
                    int exact = number.getAsBigDecimal().intValueExact();
                    if (exact >= 0) {
                        return exact;
                    }
                } catch (ArithmeticException | NumberFormatException e) {
                    // It has a fraction, or is too large.
                }
            }
            throw new IllegalArgumentException("count is a whole number from 0 to " + Integer.MAX_VALUE);
        }

        /** Gson's shorter ways are lenient: they would take what is no JSON. */
        private static JsonObject object(String text) {
            JsonReader reader = new JsonReader(new StringReader(text));
            try {
                JsonObject object = OBJECT.read(reader);
                if (reader.peek() == JsonToken.END_DOCUMENT) {
                    return object;
                }
            } catch (IOException | JsonParseException | IllegalStateException | NumberFormatException e) {
                // Its message would quote as much as the client has sent.
            }
            throw new IllegalArgumentException("a request is a JSON object");
        }

        /** A whole frame. */
        static ByteBuffer reply(int code, String msg) {
            byte[] json = GSON.toJson(new Reply(code, msg)).getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.allocate(LENGTH_BYTES + json.length)
                    .putInt(json.length)
                    .put(json)
                    .flip();
        }
    }

    private static SocketAddress address(String text) {
        if (text.startsWith("unix:")) {
            return UnixDomainSocketAddress.of(text.substring("unix:".length()));
        }
        Matcher matcher = TCP.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(text);
        }
        String host = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
        return new InetSocketAddress(host, Integer.parseInt(matcher.group(3)));
    }

    private static String oneOf(Set<String> workloads, String name) {
        if (!workloads.contains(name)) {
            throw new IllegalArgumentException(name);
        }
        return name;
    }

    private static ProtocolFamily family(SocketAddress address) {
        if (address instanceof InetSocketAddress tcp) {
            // Otherwise Java would bind an IPv4 address with a socket of IPv6.
            return tcp.getAddress() instanceof Inet4Address
                    ? StandardProtocolFamily.INET
                    : StandardProtocolFamily.INET6;
        }
        return StandardProtocolFamily.UNIX;
    }

    private static String shown(SocketAddress bound) {
        if (bound instanceof InetSocketAddress tcp) {
            String host = tcp.getAddress().getHostAddress();
            return (host.contains(":") ? "[" + host + "]" : host) + ":" + tcp.getPort();
        }
        return "unix:" + bound;
    }

    /** The virtual machine's own answer to SIGTERM is an exit status of 143; here it is a good end. */
    private static void leaveOnSignal(List<SocketAddress> addresses) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            for (SocketAddress address : addresses) {
                if (address instanceof UnixDomainSocketAddress unix) {
                    delete(unix.getPath());
                }
            }
            Runtime.getRuntime().halt(0);
        }));
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            System.err.println("cannot remove " + path + ": " + e.getMessage());
        }
    }

    private static void refuse(String message) {
        System.err.println(message);
        System.exit(2);
    }
}
