//! Messages over TLS, beside servers of the test's own that count handshakes, and beside OpenSSL.

mod server;
#[path = "../support/mod.rs"]
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use server::{Identity, Server};
use support::{Bench, Outcome, errors_of, failed_checks, wait_for};
use throng_record::{ErrorKind, RunRecord, TlsPhase};

const VERSIONS: [&rustls::SupportedProtocolVersion; 2] = [&TLS13, &TLS12];

/// A folder with the authority's certificate, and a server whose certificate it has signed.
fn trusted(identity: &Identity) -> (Bench, Server) {
    let server = Server::start(identity.config(&VERSIONS), <[u8]>::to_vec);
    let bench = Bench::new();
    bench.write("authority.pem", &identity.authority);
    (bench, server)
}

fn good() -> Identity {
    Identity::made("localhost", |_| {})
}

/// 1,009 messages without a warm-up, so that each is in the figures, on this many connections.
fn echo(bench: &Bench, connections: &str, more: &[&str]) -> Outcome {
    let load = ["--messages", "1009", "--warmup", "0 messages"];
    let load = [&load[..], &["-c", connections, "--repeats", "1"]].concat();
    bench.throng(&[&["echo"], more, &load].concat())
}

fn handshakes(record: &RunRecord) -> &TlsPhase {
    record.trials[0].phases.tls().expect("handshakes")
}

#[test]
fn as_many_messages_and_handshakes_are_told_as_the_server_counts() {
    let identity = good();
    for backend in ["epoll", "io-uring"] {
        for (paced, bytes) in [
            (&["--outstanding", "1"][..], 6),
            (&["--outstanding", "5", "--size", "20011"], 20_011),
            (&["--lockstep", "3"], 6),
            (&["--rate", "2003", "--shards", "2"], 6),
        ] {
            let (bench, server) = trusted(&identity);
            let target = format!("tls://localhost:{}", server.port);
            let own = [&target, "--ca", "authority.pem", "--backend", backend];
            let outcome = echo(&bench, "7", &[&own[..], paced].concat());
            outcome.assert_well_but_for_noise();
            let record = bench.record();
            let trial = &record.trials[0];
            assert_eq!(failed_checks(trial), Vec::<String>::new());
            let phase = handshakes(&record);
            assert_eq!(server.full_and_resumed(), (7, 0), "{backend} {paced:?}");
            let told = &phase.handshakes;
            assert_eq!((told.completed, told.resumed), (7, 0));
            assert_eq!((told.latency.count, told.agreed.len()), (7, 1));
            assert!(told.latency.min_ns <= phase.duration_ns, "{phase:?}");
            let exchange = trial.phases.exchange().expect("messages");
            assert_eq!((exchange.replies, exchange.latency.count), (1_009, 1_009));
            assert_eq!(server.counts.bytes.load(Relaxed), 1_009 * bytes);
            assert_eq!(exchange.received_bytes, 1_009 * bytes);
            let close = trial.phases.close().expect("an end");
            assert_eq!(close.closed_in_order, 7);
        }
    }
}

#[test]
fn all_but_the_first_connection_of_a_thread_resume_what_the_server_gave() {
    let identity = good();
    for version in VERSIONS {
        for (backend, shards) in [("epoll", 1), ("io-uring", 3)] {
            let server = Server::start(identity.config(&[version]), <[u8]>::to_vec);
            let bench = Bench::new();
            bench.write("authority.pem", &identity.authority);
            let target = format!("tls://localhost:{}", server.port);
            let threads = shards.to_string();
            let own = [&target, "--ca", "authority.pem", "--backend", backend];
            let resumed = ["--tls-resumption", "true", "--shards", &threads];
            let outcome = echo(&bench, "13", &[&own[..], &resumed].concat());
            outcome.assert_well_but_for_noise();
            let record = bench.record();
            let told = &handshakes(&record).handshakes;
            let of_server = (shards, 13 - shards);
            assert_eq!(server.full_and_resumed(), of_server, "{version:?}");
            assert_eq!((told.completed - told.resumed, told.resumed), of_server);
            let name = format!("{:?}", version.version).replace("TLSv1_", "TLS 1.");
            let agreed: Vec<&String> = told.agreed.keys().collect();
            assert!(
                agreed.iter().all(|one| one.starts_with(&name)),
                "{agreed:?}"
            );
        }
    }
}

#[test]
fn a_server_that_gives_nothing_to_resume_is_asked_for_full_handshakes() {
    let identity = good();
    let mut config = identity.config(&[&TLS13]);
    config.send_tls13_tickets = 0;
    let server = Server::start(config, <[u8]>::to_vec);
    let bench = Bench::new();
    let target = format!("tls://127.0.0.1:{}", server.port);
    let own = [&target, "--insecure", "--tls-resumption", "true"];
    echo(&bench, "13", &own).assert_well_but_for_noise();
    assert_eq!(server.full_and_resumed(), (13, 0));
    assert_eq!(handshakes(&bench.record()).handshakes.resumed, 0);
}

#[test]
fn a_page_is_asked_for_over_tls() {
    let page = |_: &[u8]| b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec();
    let server = Server::start(good().config(&VERSIONS), page);
    let bench = Bench::new();
    let target = format!("https://localhost:{}/a", server.port);
    echo(&bench, "7", &[&target, "--insecure"]).assert_well_but_for_noise();
    let request = format!("GET /a HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port);
    let asked = server.counts.bytes.load(Relaxed);
    assert_eq!(asked, 1_009 * request.len() as u64);
}

#[test]
fn a_connection_that_ends_is_opened_again_with_a_handshake() {
    let page = |_: &[u8]| b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let identity = good();
    for backend in ["epoll", "io-uring"] {
        let server = Server::ending_after(13, identity.config(&VERSIONS), page);
        let bench = Bench::new();
        bench.write("authority.pem", &identity.authority);
        let target = format!("https://localhost:{}/", server.port);
        let own = [&target, "--ca", "authority.pem", "--backend", backend];
        echo(&bench, "7", &own).assert_well_but_for_noise();
        let record = bench.record();
        let exchange = record.trials[0].phases.exchange().expect("pages");
        let pages = exchange.pages.as_ref().expect("they are pages");
        assert_eq!(exchange.replies, 1_009);
        let connections = server.counts.connections.load(Relaxed);
        assert_eq!(connections, 7 + pages.reconnects);
        // 1,009 pages are 77 times 13, and at most seven connections have fewer.
        assert!((71..78).contains(&pages.reconnects), "{pages:?}");
        assert_eq!(server.full_and_resumed(), (connections, 0));
    }
}

#[test]
fn a_certificate_that_is_not_good_is_refused_with_why_and_what_to_pass() {
    let expired = |params: &mut rcgen::CertificateParams| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2011, 1, 1);
    };
    let other = Identity::made("other.test", |_| {});
    let of_other = ["--ca", "authority.pem", "--sni", "other.test"];
    for (identity, refused, why, taken) in [
        (
            good(),
            &[][..],
            "is signed by `the authority`, who is not trusted",
            &["--ca", "authority.pem"][..],
        ),
        (
            other,
            &["--ca", "authority.pem"],
            "is for `other.test`, and not for `localhost`",
            &of_other,
        ),
        (
            Identity::made("localhost", expired),
            &["--ca", "authority.pem"],
            "expired",
            &["--insecure"],
        ),
    ] {
        let (bench, server) = trusted(&identity);
        let target = format!("tls://localhost:{}", server.port);
        let outcome = echo(&bench, "7", &[&[&target[..]], refused].concat());
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        for part in [
            why,
            "7 × certificate refused",
            "--ca FILE",
            "--sni NAME",
            "--insecure",
        ] {
            assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
        }
        let record = bench.record();
        let refused = errors_of(&record.trials[0], ErrorKind::CertificateRefused);
        assert_eq!((refused, handshakes(&record).handshakes.completed), (7, 0));
        let outcome = echo(&bench, "7", &[&[&target[..]], taken].concat());
        outcome.assert_well_but_for_noise();
    }
}

/// A server that says this on each connection, whatever it hears first.
fn saying(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(bytes);
                // Until the client ends it.
                let _ = stream.read(&mut [0; 4096]);
            });
        }
    });
    port
}

#[test]
fn a_server_that_speaks_no_tls_or_ends_the_handshake_is_quoted() {
    for (bytes, part) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            "does not speak TLS on this port: it answered \"HTTP/1.1 400 Bad Request",
        ),
        // An alert of the weight fatal: 40 is handshake_failure, 112 unrecognized_name (RFC 8446, 6).
        (
            b"\x15\x03\x03\x00\x02\x02\x28",
            "the alert HandshakeFailure",
        ),
        (
            b"\x15\x03\x03\x00\x02\x02\x70",
            "the alert UnrecognisedName: it has no such host",
        ),
        (b"", "closed during the handshake"),
    ] {
        let bench = Bench::new();
        let target = match bytes {
            b"" => {
                let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
                let port = listener.local_addr().expect("bound").port();
                std::thread::spawn(move || {
                    for mut stream in listener.incoming().map_while(Result::ok) {
                        let _ = stream.read(&mut [0; 4096]);
                    }
                });
                format!("tls://127.0.0.1:{port}")
            }
            bytes => format!("tls://127.0.0.1:{}", saying(bytes)),
        };
        let outcome = echo(&bench, "3", &[&target, "--insecure"]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
        let failed = errors_of(&bench.record().trials[0], ErrorKind::HandshakeFailed);
        assert_eq!(failed, 3, "{}", outcome.stderr);
    }
}

#[test]
fn a_server_that_asks_for_a_certificate_of_the_client_is_named_as_such() {
    let identity = good();
    let mut roots = RootCertStore::empty();
    let own = CertificateDer::from_pem_slice(identity.authority.as_bytes());
    roots.add(own.expect("one")).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let asks = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
    let config = identity.config_for(&VERSIONS, asks.build().expect("a verifier"));
    let server = Server::start(config, <[u8]>::to_vec);
    let bench = Bench::new();
    let target = format!("tls://127.0.0.1:{}", server.port);
    let outcome = echo(&bench, "3", &[&target, "--insecure"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    for part in [
        "3 × TLS handshake failed",
        "alert CertificateRequired: it asks for",
    ] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
}

#[test]
fn every_model_that_is_launched_serves_over_tls() {
    let bench = Bench::new();
    let outcome = echo(&bench, "7", &["all", "--tls", "off,on"]);
    assert!(
        outcome.stdout.contains("TLS 1.3 TLS_AES"),
        "{}",
        outcome.stdout
    );
    let record = bench.record();
    assert_eq!(record.trials.len(), 2 * record.plan.targets.len());
    for trial in &record.trials {
        let name = &record.plan.targets[trial.target as usize].name;
        let is_on = record.plan.settings[trial.setting as usize].tls;
        let completed = trial.phases.tls().map(|phase| phase.handshakes.completed);
        // By its design it serves one connection.
        let served = if name == "iterative" { 1 } else { 7 };
        assert_eq!(completed, is_on.then_some(served), "{name}");
        let exchange = trial.phases.exchange().expect("messages");
        // To the others one message each is sent, and stays unanswered.
        assert_eq!(exchange.replies, 1_009 - (7 - served), "{name}");
        assert_eq!(failed_checks(trial), Vec::<String>::new(), "{name}");
    }
}

/// A program of OpenSSL's, gone in the end. It works in a folder of its own, since none of throng's may be left in that of throng.
struct OpenSsl(Child);

impl OpenSsl {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new("openssl");
        command.args(arguments).current_dir(folder);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(pipes.stderr(Stdio::null()).spawn().expect("OpenSSL"))
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port on which nobody listens.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").port()
}

#[test]
fn openssl_answers_throng_by_a_certificate_that_has_signed_itself() {
    let (bench, folder) = (Bench::new(), tempfile::tempdir().expect("a folder"));
    let made = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out own.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost";
    let mut making = OpenSsl::start(folder.path(), &made.split(' ').collect::<Vec<_>>());
    assert!(making.0.wait().expect("ended").success());
    let port = free_port().to_string();
    let serve = ["s_server", "-rev", "-cert", "own.pem", "-key", "key.pem"];
    let _server = OpenSsl::start(folder.path(), &[&serve[..], &["-accept", &port]].concat());
    let listens = || std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok();
    assert!(wait_for(Duration::from_secs(20), listens));
    let target = format!("tls://localhost:{port}");
    let trusted = folder.path().join("own.pem");
    let trusted = trusted.to_str().expect("text");
    // It turns each line around.
    let own = [
        &target, "--ca", trusted, "--send", "abc\\n", "--expect", "cba\\n",
    ];
    let outcome = echo(&bench, "1", &own);
    outcome.assert_well_but_for_noise();
    let record = bench.record();
    let exchange = record.trials[0].phases.exchange().expect("messages");
    assert_eq!(exchange.replies, 1_009, "{}", outcome.stderr);
    let refused = echo(
        &bench,
        "1",
        &[&target, "--send", "a\\n", "--expect", "a\\n"],
    );
    let part = "which has signed itself, and is not among what is trusted";
    assert!(refused.stderr.contains(part), "{}", refused.stderr);
}

#[test]
fn openssl_trusts_a_built_in_server_and_resumes_with_it() {
    let (bench, identity) = (Bench::new(), good());
    bench.write("authority.pem", &identity.authority);
    bench.write("own.pem", &identity.pem);
    bench.write("key.pem", &identity.key_pem());
    let port = free_port().to_string();
    let listen = format!("127.0.0.1:{port}");
    let files = ["--tls-certificate", "own.pem", "--tls-key", "key.pem"];
    let serve = ["serve", "epoll-edge", "--listen", &listen];
    let mut server = bench.start(&[&serve[..], &files].concat());
    let listens = || std::net::TcpStream::connect(&listen).is_ok();
    assert!(wait_for(Duration::from_secs(20), listens));
    let connect = ["s_client", "-connect", &listen, "-servername", "localhost"];
    let holds = ["-CAfile", "authority.pem", "-verify_return_error"];
    for (session, part) in [
        ("-sess_out", "New, TLSv1.3"),
        ("-sess_in", "Reused, TLSv1.3"),
    ] {
        let kept = [session, "session.pem"];
        let mut client = OpenSsl::start(bench.path(), &[&connect[..], &holds, &kept].concat());
        let mut input = client.0.stdin.take().expect("a pipe");
        input.write_all(b"to and fro\n").expect("written");
        let mut output = client.0.stdout.take().expect("a pipe");
        let mut said = Vec::new();
        let mut piece = [0; 4096];
        // It tells of the session before it passes on what the server echoes.
        while !String::from_utf8_lossy(&said).contains("\nto and fro\n") {
            let length = output.read(&mut piece).expect("read");
            assert!(length > 0, "{}", String::from_utf8_lossy(&said));
            said.extend_from_slice(&piece[..length]);
        }
        drop(input);
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.contains(part), "{part}: {said}");
        assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
        client.0.wait().expect("ended");
    }
    support::signal(&server, rustix::process::Signal::TERM);
    assert_eq!(support::exit_code(&mut server), Some(0));
}
