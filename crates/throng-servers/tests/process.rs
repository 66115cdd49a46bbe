//! What only shows in a process of its own: signals, threads, the limit on open files, resident memory.
//!
//! Without a test harness, since the child processes are this program again: with [`CHILD`] set to a model's name it serves.
#![expect(
    clippy::print_stdout,
    reason = "the child speaks to its parent, the parent reports like a test harness"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use throng_servers::{Model, Options, Workload, serve};
use throng_sys::{limits, process, signal};

const CHILD: &str = "THRONG_SERVERS_TEST_CHILD";

fn main() {
    if let Ok(model) = std::env::var(CHILD) {
        return serve_as_child(model.parse().expect("a model"));
    }
    let filter = std::env::args()
        .nth(1)
        .filter(|word| !word.starts_with('-'));
    type Test = (&'static str, fn(Model));
    let tests: [Test; 4] = [
        (
            "sigterm_ends_it_with_its_totals",
            sigterm_ends_it_with_its_totals,
        ),
        (
            "a_model_has_the_threads_it_declares",
            a_model_has_the_threads_it_declares,
        ),
        (
            "a_full_descriptor_table_neither_kills_nor_spins",
            a_full_descriptor_table_neither_kills_nor_spins,
        ),
        (
            "an_idle_connection_costs_little_memory",
            an_idle_connection_costs_little_memory,
        ),
    ];
    for (name, test) in tests {
        if filter.as_ref().is_none_or(|filter| name.contains(filter)) {
            for model in Model::ALL {
                test(model);
                println!("test {name} {model} ... ok");
            }
        }
    }
}

fn serve_as_child(model: Model) {
    let options = Options {
        listen: vec!["127.0.0.1:0".parse().expect("an address")],
        backlog: 512,
        workers: None,
    };
    let mut ready = |address: &throng_sys::address::Address| println!("ready {address}");
    let served = serve(model, Workload::Echo, &options, &mut ready).expect("served");
    println!("served {} {}", served.connections, served.bytes);
    for note in served.notes {
        println!("note {note}");
    }
}

struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    /// `limit` is a shell command that comes before.
    fn start(model: Model, limit: &str) -> Self {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("{limit} exec \"$0\""))
            .arg(std::env::current_exe().expect("this program"))
            .env(CHILD, model.name())
            .stdout(Stdio::piped());
        let mut child = signal::bind_to_parent(&mut command)
            .spawn()
            .expect("a child");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        let address = line.trim_end().strip_prefix("ready tcp://").expect(&line);
        Self {
            address: address.to_owned(),
            child,
            output,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("connected");
        let patience = Some(Duration::from_secs(10));
        stream.set_read_timeout(patience).expect("set");
        stream
    }

    /// Ends it with SIGTERM; what it said at last.
    fn terminate(mut self) -> String {
        let begin = Instant::now();
        signal::terminate_group(self.child.id()).expect("signalled");
        let mut said = String::new();
        self.output.read_to_string(&mut said).expect("the rest");
        let status = self.child.wait().expect("reaped");
        assert!(status.success(), "{status}");
        assert!(
            begin.elapsed() < Duration::from_secs(2),
            "{:?}",
            begin.elapsed()
        );
        said
    }
}

fn echo(stream: &mut TcpStream) {
    stream.write_all(b"hello\n").expect("sent");
    let mut reply = [0; 6];
    stream.read_exact(&mut reply).expect("echoed in time");
    assert_eq!(&reply, b"hello\n");
}

fn sigterm_ends_it_with_its_totals(model: Model) {
    let server = Server::start(model, "");
    let mut connections: Vec<TcpStream> = (0..7).map(|_| server.connect()).collect();
    connections.iter_mut().for_each(echo);
    assert_eq!(server.terminate(), "served 7 42\n");
}

fn a_model_has_the_threads_it_declares(model: Model) {
    let server = Server::start(model, "");
    assert_becomes(model, &server, 0);
    let mut connections: Vec<TcpStream> = (0..30).map(|_| server.connect()).collect();
    connections.iter_mut().for_each(echo);
    assert_becomes(model, &server, 30);
    connections.truncate(10);
    connections.iter_mut().for_each(echo);
    assert_becomes(model, &server, 10);
    server.terminate();
}

/// A thread that has done its work may still be on its way out.
fn assert_becomes(model: Model, server: &Server, connections: u64) {
    let begin = Instant::now();
    let tasks = format!("/proc/{}/task", server.child.id());
    let threads = || std::fs::read_dir(&tasks).expect("readable").count() as u64;
    let expected = model.expected_threads(connections);
    while threads() != expected {
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "{model} has {} threads with {connections} connections, not {expected}",
            threads()
        );
        thread::sleep(Duration::from_millis(1));
    }
}

fn a_full_descriptor_table_neither_kills_nor_spins(model: Model) {
    let server = Server::start(model, "ulimit -n 40;");
    let mut connections: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
    connections[..20].iter_mut().for_each(echo);

    // Let it meet the limit, then watch it with connections left waiting.
    thread::sleep(Duration::from_millis(200));
    let before_ns = process::cpu_time_ns(server.child.id()).expect("read");
    thread::sleep(Duration::from_millis(500));
    let used_ns = process::cpu_time_ns(server.child.id()).expect("read") - before_ns;
    assert!(
        used_ns < 250_000_000,
        "{model} used {used_ns} ns in half a second"
    );

    // The open ones are served, and places that become free are given to those that wait.
    connections[..20].iter_mut().for_each(echo);
    let mut waiting = connections.split_off(40);
    drop(connections);
    waiting.iter_mut().for_each(echo);
    drop(waiting);

    let said = server.terminate();
    assert!(said.starts_with("served 60 360\n"), "{said}");
    assert!(said.contains("ulimit -n"), "{said}");
}

/// Between two numbers of connections, so that the fixed part of the process is not counted.
fn an_idle_connection_costs_little_memory(model: Model) {
    const FEW: usize = 500;
    const MANY: usize = 3500;
    if model == Model::ThreadPerConnection {
        return;
    }
    limits::raise_open_files().expect("raised");
    let server = Server::start(model, "");
    let resident = || process::memory(server.child.id()).expect("read").rss_bytes;
    let mut connections: Vec<TcpStream> = (0..FEW).map(|_| server.connect()).collect();
    connections.iter_mut().for_each(echo);
    let few_bytes = resident();
    connections.extend((FEW..MANY).map(|_| server.connect()));
    // One after another: no more buffers are in use at once than before.
    connections.iter_mut().for_each(echo);
    let each_bytes = resident().saturating_sub(few_bytes) / (MANY - FEW) as u64;
    assert!(
        each_bytes <= 300,
        "{model} uses {each_bytes} bytes for each"
    );
    drop(connections);
    server.terminate();
}
