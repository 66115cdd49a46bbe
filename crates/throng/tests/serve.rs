//! `throng serve` as a process: what it prints, where it listens, how it leaves.

mod support;

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
use support::{Bench, exit_code, signal};
use throng_servers::Model;

/// The address of the next ready line. What a model announces of itself comes before the first.
fn ready(output: &mut impl BufRead) -> String {
    loop {
        let mut line = String::new();
        assert!(
            output.read_line(&mut line).expect("read") > 0,
            "a ready line"
        );
        if let Some(address) = line.strip_prefix("ready ") {
            return address.trim().to_owned();
        }
        let is_announcement = ["workers ", "serves-at-once "]
            .iter()
            .any(|word| line.starts_with(word));
        assert!(is_announcement, "{line}");
    }
}

#[test]
fn every_model_says_where_it_listens_and_what_it_served() {
    for model in Model::ALL {
        for end in [Signal::TERM, Signal::INT] {
            let bench = Bench::new();
            let socket = format!("unix:{}/echo.sock", bench.path().display());
            let mut listen = vec!["127.0.0.1:0", "[::1]:0", &socket];
            if !model.declaration().serves_unix {
                listen.pop();
            }
            if model == Model::Iterative {
                listen.truncate(1);
            }
            let mut arguments = vec!["serve", model.name(), "--backlog", "5"];
            arguments.extend(listen.iter().flat_map(|address| ["--listen", address]));
            let mut child = bench.start(&arguments);
            let mut output = BufReader::new(child.stdout.take().expect("piped"));
            for asked in &listen {
                let address = ready(&mut output);
                if let Some(tcp) = address.strip_prefix("tcp://") {
                    assert!(
                        tcp.starts_with(asked.trim_end_matches('0')),
                        "{tcp} {asked}"
                    );
                    let stream = TcpStream::connect(tcp).expect("connected");
                    echo(&stream, &stream);
                } else {
                    assert_eq!(address, socket);
                    let path = bench.path().join("echo.sock");
                    let stream = UnixStream::connect(path).expect("connected");
                    echo(&stream, &stream);
                }
            }
            signal(&child, end);
            assert_eq!(exit_code(&mut child), Some(0), "{model}");
            let mut rest = String::new();
            output.read_to_string(&mut rest).expect("read");
            let connections = listen.len();
            let served = format!(
                "served connections={connections} bytes={}\n",
                5 * connections
            );
            assert_eq!(rest, served, "{model}");
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
