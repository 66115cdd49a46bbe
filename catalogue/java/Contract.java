// What the Java servers beside this file have in common before the first connection: flags, listening, the `ready`
// lines and the end at SIGTERM. They are compiled together with it.
//
// Left out on purpose: everything about connections and bytes. How those are served is what each server shows.

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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
