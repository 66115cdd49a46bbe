//! What a server takes for a connection is read when it has taken it: a server of known memory that accepts slowly, as a user measures it.

mod support;

use support::{Bench, failed_checks};

/// Of each connection, touched when it is accepted.
const TOUCHED_BYTES: f64 = 65_536.0;
const CONNECTIONS: u32 = 1_000;

/// One loop that echoes; each accept takes a third of a millisecond, so that it goes on long after the kernel has done the handshakes.
const SERVER: &str = r#"
import mmap, selectors, signal, os, socket, sys, time
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=2000)
ready = selectors.DefaultSelector()
ready.register(server, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        if key.fileobj is server:
            time.sleep(0.0003)
            connection, _ = server.accept()
            memory = mmap.mmap(-1, 65536, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for page in range(0, 65536, 4096):
                memory[page] = 1
            ready.register(connection, selectors.EVENT_READ, memory)
        else:
            message = key.fileobj.recv(4096)
            if message:
                key.fileobj.sendall(message)
            else:
                ready.unregister(key.fileobj)
                key.fileobj.close()
"#;

#[test]
fn a_server_that_touches_64_kib_for_each_connection_is_told_to_do_so() {
    let bench = Bench::new();
    bench.write("server.py", SERVER);
    let outcome = bench.throng(&[
        "echo",
        "--command",
        "python3 server.py {port}",
        "--connections",
        &CONNECTIONS.to_string(),
        "--duration",
        "1s",
        "--repeats",
        "1",
    ]);
    let trial = &bench.record().trials[0];
    assert_eq!(failed_checks(trial), Vec::<String>::new());
    let exchange = trial.phases.exchange().expect("exchanged");
    assert_eq!(
        exchange.connections_served, CONNECTIONS,
        "{}",
        outcome.stderr
    );
    let server = trial.server.as_ref().expect("launched here");
    let bytes = server.memory_per_connection_bytes.expect("read");
    // Python's own objects are some 2 KiB more.
    let expected = TOUCHED_BYTES..=TOUCHED_BYTES * 1.1;
    assert!(expected.contains(&bytes), "{bytes}: {server:?}");
}

/// The generator tells its own: what grew for its fleet is part of what the kernel saw it grow by since it was started. (The pages of its program
/// that it came to use meanwhile are more than that, and no connection's.)
#[test]
fn the_generators_memory_is_no_more_than_the_kernel_tells_of_it() {
    const FEW: u32 = 100;
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "hold",
        &FEW.to_string(),
        "epoll-edge",
        "--hold",
        "100ms",
        "--repeats",
        "1",
    ]);
    let trial = &bench.record().trials[0];
    let generator = trial.generator.as_ref().expect("it is ours");
    let bytes = generator.memory_per_connection_bytes.expect("told");
    let [before, connected] = [generator.memory_before, generator.memory_connected]
        .map(|sample| sample.anonymous_pss_bytes.expect("read") as f64);
    assert!(
        bytes > 0.0 && bytes <= (connected - before) / f64::from(FEW),
        "{generator:?} {}",
        outcome.stderr
    );
}
