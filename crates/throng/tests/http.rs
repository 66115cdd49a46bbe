//! Pages asked for on connections that are kept: what servers within the test are sent, and what becomes of servers of known behaviour.

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use support::{Bench, check, errors_of};
use throng_record::{CheckKind, CheckResult, ErrorKind};

/// What a server was asked.
#[derive(Clone, Debug, PartialEq)]
struct Request {
    line: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

/// A server that counts requests, keeps the first, and answers each by its number on the connection with these bytes; with none it closes.
struct Server {
    address: String,
    asked: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
    first: Arc<Mutex<Option<Request>>>,
}

impl Server {
    fn start(reply: fn(u64) -> Option<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound").to_string();
        let server = Self {
            address,
            asked: Arc::default(),
            connections: Arc::default(),
            first: Arc::default(),
        };
        let (asked, connections) = (Arc::clone(&server.asked), Arc::clone(&server.connections));
        let first = Arc::clone(&server.first);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Relaxed);
                let (asked, first) = (Arc::clone(&asked), Arc::clone(&first));
                std::thread::spawn(move || serve(stream, reply, &asked, &first));
            }
        });
        server
    }

    fn page(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn serve(
    stream: TcpStream,
    reply: fn(u64) -> Option<Vec<u8>>,
    asked: &AtomicU64,
    first: &Mutex<Option<Request>>,
) {
    let mut writer = stream.try_clone().expect("a copy");
    let mut reader = BufReader::new(stream);
    for number in 0.. {
        let Some(request) = read(&mut reader) else {
            return;
        };
        asked.fetch_add(1, Relaxed);
        first.lock().expect("whole").get_or_insert(request);
        let Some(bytes) = reply(number) else { return };
        if writer.write_all(&bytes).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let length = lines
        .iter()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |text| text.parse().expect("a length"))];
    reader.read_exact(&mut body).ok()?;
    let line = lines.remove(0);
    Some(Request {
        line,
        headers: lines,
        body,
    })
}

fn page(body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// 1,009 requests on seven connections; without a warm-up every one is in the figures.
const LOAD: [&str; 6] = [
    "--connections",
    "7",
    "--messages",
    "1009",
    "--warmup",
    "0 messages",
];

fn echo(bench: &Bench, more: &[&str]) -> support::Outcome {
    let arguments = [&["echo"], more, &LOAD, &["--repeats", "1"]].concat();
    bench.throng(&arguments)
}

/// On one connection, where it is known which request is the how manieth.
fn alone(bench: &Bench, more: &[&str]) -> support::Outcome {
    let load = [&["--connections", "1"], &LOAD[2..], &["--repeats", "1"]].concat();
    bench.throng(&[&["echo"], more, &load].concat())
}

#[test]
fn as_many_are_asked_as_the_server_counts_on_as_many_connections_as_are_kept() {
    for backend in ["epoll", "io-uring"] {
        let server = Server::start(|_| Some(page("hello")));
        let bench = Bench::new();
        let outcome = echo(&bench, &[&server.page("/a?b=c"), "--backend", backend]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(server.asked.load(Relaxed), 1_009);
        assert_eq!(server.connections.load(Relaxed), 7);
        let record = bench.record();
        let exchange = record.trials[0].phases.exchange().expect("an exchange");
        assert_eq!((exchange.replies, exchange.latency.count), (1_009, 1_009));
        let asked = server.first.lock().expect("whole").clone().expect("one");
        assert_eq!(asked.line, "GET /a?b=c HTTP/1.1");
        assert_eq!(asked.headers, [format!("Host: {}", server.address)]);
    }
}

#[test]
fn a_request_is_sent_as_it_was_asked_for() {
    let server = Server::start(|_| Some(page("")));
    let bench = Bench::new();
    let body = bench.write("body.json", "{\"a\": 1}");
    let outcome = echo(
        &bench,
        &[
            &server.page("/items"),
            "--method",
            "POST",
            "--header",
            "Content-Type: application/json",
            "--header",
            "X-Trace: a, b",
            "--body-file",
            body.to_str().expect("text"),
        ],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let asked = server.first.lock().expect("whole").clone().expect("one");
    assert_eq!(asked.line, "POST /items HTTP/1.1");
    let headers = [
        &format!("Host: {}", server.address)[..],
        "Content-Type: application/json",
        "X-Trace: a, b",
        "Content-Length: 8",
    ];
    assert_eq!(asked.headers, headers);
    assert_eq!(asked.body, b"{\"a\": 1}");
    assert_eq!(server.asked.load(Relaxed), 1_009);
}

#[test]
fn replies_in_chunks_end_where_they_end() {
    let server = Server::start(|number| {
        let chunks = match number % 2 {
            0 => "5\r\nhello\r\n0\r\n\r\n",
            _ => "1\r\na\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\n",
        };
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        Some(format!("{head}{chunks}").into_bytes())
    });
    let bench = Bench::new();
    let outcome = echo(&bench, &[&server.page("/")]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(server.asked.load(Relaxed), 1_009);
}

#[test]
fn a_status_that_is_no_success_is_an_error_with_its_line() {
    let server = Server::start(|number| {
        Some(match number {
            0..9 => page("ok"),
            _ => b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy".to_vec(),
        })
    });
    let bench = Bench::new();
    let outcome = alone(&bench, &[&server.page("/")]);
    assert_eq!(outcome.code, Some(1));
    let record = bench.record();
    // The connection stays, and the rest of the 1,009 are refusals.
    assert_eq!(server.asked.load(Relaxed), 1_009);
    assert_eq!(server.connections.load(Relaxed), 1);
    assert_eq!(errors_of(&record.trials[0], ErrorKind::HttpStatus), 1_000);
    let exchange = record.trials[0].phases.exchange().expect("an exchange");
    let pages = exchange.pages.as_ref().expect("pages");
    assert_eq!((exchange.replies, exchange.sent), (9, 1_009));
    assert_eq!(pages.statuses, [0, 9, 0, 0, 1_000]);
    let errors = check(&record.trials[0], CheckKind::UnexpectedErrors);
    assert_eq!(errors.result, CheckResult::Failed);
    assert!(
        errors
            .detail
            .contains("503 Service Unavailable, with the body \"busy\""),
        "{}",
        errors.detail
    );
}

#[test]
fn the_statuses_that_are_asked_for_are_right_and_no_others() {
    let server = Server::start(|number| {
        Some(match number % 3 {
            0 => page("ok"),
            1 => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
            _ => b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        })
    });
    let statuses = |status: &str| {
        let bench = Bench::new();
        // In turn: 1,009 requests on one connection are 337, 336 and 336.
        let outcome = alone(&bench, &[&server.page("/"), "--status", status]);
        let record = bench.record();
        let exchange = record.trials[0].phases.exchange().expect("an exchange");
        let pages = exchange.pages.as_ref().expect("pages");
        assert_eq!(pages.statuses, [336, 673, 0, 336, 0]);
        (outcome.code, exchange.replies, exchange.errors.total())
    };
    assert_eq!(statuses("2xx,404"), (Some(0), 1_009, 0));
    assert_eq!(statuses("2xx"), (Some(1), 673, 336));
    assert_eq!(statuses("404,204"), (Some(1), 672, 337));
}

#[test]
fn a_server_that_keeps_no_connection_is_named_with_what_to_do() {
    // One says so; one ends its connection after three replies that do not; one is of HTTP/1.0.
    let saying = Server::start(|_| {
        Some(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec())
    });
    let silent = Server::start(|number| (number < 3).then(|| page("ok")));
    let old = Server::start(|_| Some(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec()));
    for (server, said) in [
        (&saying, "Connection: close"),
        (&silent, ""),
        (&old, "HTTP/1.0"),
    ] {
        let bench = Bench::new();
        let outcome = echo(&bench, &[&server.page("/")]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
        let record = bench.record();
        assert_eq!(errors_of(&record.trials[0], ErrorKind::ClosedEarly), 7);
        for part in [said, "keepalive_requests", "throng churn"] {
            assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
        }
    }
}

/// Thirteen replies to a connection, of which the last says so.
fn thirteen(number: u64) -> Option<Vec<u8>> {
    let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    match number {
        ..12 => Some(page("ok")),
        12 => Some(last.to_vec()),
        _ => None,
    }
}

/// Requests, connections, and of those how many were opened again and what was sent again.
fn reconnects(bench: &Bench, server: &Server) -> (u64, u64, u64, u64) {
    let record = bench.record();
    let exchange = record.trials[0].phases.exchange().expect("an exchange");
    let pages = exchange.pages.clone().expect("pages");
    let connections = server.connections.load(Relaxed);
    assert_eq!((exchange.replies, exchange.errors.total()), (1_009, 0));
    assert_eq!(connections, 7 + pages.reconnects);
    let asked = server.asked.load(Relaxed);
    (asked, connections, pages.reconnects, pages.sent_again)
}

#[test]
fn a_connection_that_its_server_ends_after_many_requests_is_opened_again() {
    for backend in ["epoll", "io-uring"] {
        // 1,009 = 7 × 144 + 1 requests, thirteen to a connection, of which the last is the end.
        let announcing = Server::start(thirteen);
        let bench = Bench::new();
        let outcome = echo(&bench, &[&announcing.page("/"), "--backend", backend]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stdout.contains("reconnects"), "{}", outcome.stdout);
        let (asked, _, reconnects, sent_again) = reconnects(&bench, &announcing);
        assert_eq!((asked, sent_again), (1_009, 0));
        assert!((71..78).contains(&reconnects), "{reconnects}");
    }
}

#[test]
fn requests_behind_an_announced_end_are_sent_again_with_their_first_start() {
    for pacing in [
        &["--outstanding", "3"][..],
        &["--outstanding", "3", "--rate", "2003"],
    ] {
        for backend in ["epoll", "io-uring"] {
            let server = Server::start(thirteen);
            let bench = Bench::new();
            let page = server.page("/");
            let arguments = [&[&page[..], "--backend", backend], pacing].concat();
            let outcome = echo(&bench, &arguments);
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let (asked, _, _, sent_again) = reconnects(&bench, &server);
            // The server reads one more behind its last reply where that has come, and drops it.
            assert!((1_009..=1_009 + sent_again).contains(&asked), "{asked}");
        }
    }
}

#[test]
fn a_connection_whose_end_nobody_announced_is_opened_again_where_nothing_is_missed() {
    for backend in ["epoll", "io-uring"] {
        // The thirteenth request of a connection is read, and its end is the only answer.
        let server = Server::start(|number| (number < 12).then(|| page("ok")));
        let bench = Bench::new();
        let outcome = echo(&bench, &[&server.page("/"), "--backend", backend]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let (asked, _, reconnects, sent_again) = reconnects(&bench, &server);
        assert_eq!(asked, 1_009 + sent_again);
        assert_eq!(reconnects, sent_again, "one request each crossed the end");
    }
}

#[test]
fn built_in_servers_serve_pages_to_be_compared_with() {
    let server = Server::start(|_| Some(page("hello")));
    let bench = Bench::new();
    let targets = ["echo", "epoll-edge", "tokio", &server.page("/")];
    let arguments = [&targets[..], &LOAD, &["--repeats", "1"]].concat();
    let outcome = bench.throng(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let record = bench.record();
    assert_eq!(record.trials.len(), 3);
    for trial in &record.trials {
        let exchange = trial.phases.exchange().expect("an exchange");
        assert_eq!(exchange.replies, 1_009);
    }
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is() {
    let bench = Bench::new();
    let page = "http://127.0.0.1:9/";
    for (arguments, parts) in [
        (&[page, "--method", "HEAD"][..], &["HEAD", "write GET"][..]),
        (&[page, "--header", "Accept"], &["no colon", "Name: value"]),
        (
            &[page, "--body-file", "/nowhere/at/all"],
            &["cannot be read"],
        ),
        (&[page, "--size", "100"], &["http://", "tcp://HOST:PORT"]),
        (&[page, "--workload", "echo"], &["contradict"]),
        (&["poll", "--method", "POST"], &["--workload http"]),
        (&["poll", "--workload", "oneshot"], &["throng churn"]),
        (
            &["https://127.0.0.1:9/", "--ca", "/nowhere/at/all"],
            &["/nowhere/at/all", "No such file", "--insecure"],
        ),
    ] {
        let outcome = bench.throng(&[&["echo"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
        }
    }
    assert!(bench.runs().is_empty());
}
