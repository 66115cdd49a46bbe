//! `throng serve` as a process: what it prints, where it listens, how it leaves.

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
use support::{Bench, exit_code, signal};
use throng_servers::Model;

#[test]
fn every_model_says_where_it_listens_and_what_it_served() {
    for model in Model::ALL {
        for end in [Signal::TERM, Signal::INT] {
            let bench = Bench::new();
            let socket = format!("unix:{}/echo.sock", bench.path().display());
            let mut child = bench.start(&[
                "serve",
                model.name(),
                "--listen",
                "127.0.0.1:0",
                "--listen",
                "[::1]:0",
                "--listen",
                &socket,
                "--backlog",
                "5",
            ]);
            let mut output = BufReader::new(child.stdout.take().expect("piped"));
            let mut ready = || {
                let mut line = String::new();
                output.read_line(&mut line).expect("read");
                line.strip_prefix("ready ")
                    .map(|address| address.trim().to_owned())
                    .expect("a ready line")
            };
            let (ipv4, ipv6, unix) = (ready(), ready(), ready());
            assert!(
                ipv4.starts_with("tcp://127.0.0.1:") && ipv6.starts_with("tcp://[::1]:"),
                "{ipv4} {ipv6}"
            );
            assert_eq!(unix, socket);
            for address in [&ipv4, &ipv6] {
                let stream =
                    TcpStream::connect(address.trim_start_matches("tcp://")).expect("connected");
                echo(&stream, &stream);
            }
            let stream = UnixStream::connect(bench.path().join("echo.sock")).expect("connected");
            echo(&stream, &stream);
            signal(&child, end);
            assert_eq!(exit_code(&mut child), Some(0), "{model}");
            let mut rest = String::new();
            output.read_to_string(&mut rest).expect("read");
            assert_eq!(rest, "served connections=3 bytes=15\n", "{model}");
            bench.assert_no_process_left();
        }
    }
}

fn echo(mut to: impl std::io::Write, mut from: impl std::io::Read) {
    to.write_all(b"hello").expect("sent");
    let mut reply = [0; 5];
    from.read_exact(&mut reply).expect("answered");
    assert_eq!(&reply, b"hello");
}

#[test]
fn an_address_that_cannot_be_had_is_named_with_the_next_step() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("bound").to_string();
    let bench = Bench::new();
    for address in [taken.as_str(), "192.0.2.1:7000", "unix:/nowhere/echo.sock"] {
        let outcome = bench.throng(&["serve", "poll", "--listen", address]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
        assert!(
            outcome.stderr.contains("cannot listen on"),
            "{}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
    }
}

#[test]
fn a_server_whose_reader_is_gone_still_serves() {
    let bench = Bench::new();
    let socket = bench.path().join("echo.sock");
    let mut child = bench.start(&[
        "serve",
        "poll",
        "--listen",
        &format!("unix:{}", socket.display()),
    ]);
    drop(child.stdout.take());
    let connected = support::wait_for(std::time::Duration::from_secs(10), || {
        UnixStream::connect(&socket).is_ok()
    });
    assert!(connected);
    let mut stream = UnixStream::connect(&socket).expect("connected");
    stream.write_all(b"hello").expect("sent");
    stream.read_exact(&mut [0; 5]).expect("answered");
    signal(&child, Signal::TERM);
    assert_eq!(exit_code(&mut child), Some(0));
}
