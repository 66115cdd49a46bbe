//! Being told to stop: every model answers what has come, closes, and leaves within two seconds.
#![expect(
    clippy::print_stdout,
    reason = "the captured output says which model and family a failure is of"
)]

mod common;

use std::io::{Read as _, Write as _};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use common::{Client, Server, for_each_model_and_family, pattern, unix_address};
use throng_servers::Model;

const LEAVES_WITHIN: Duration = Duration::from_secs(2);

#[test]
fn idle_connections_are_closed_and_nobody_connects_any_more() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let address = server.address.clone();
        let mut clients: Vec<Client> = (0..20).map(|_| server.connect()).collect();
        for client in &mut clients {
            client.echo(b"hello\n");
        }
        server.stop_expecting(20, 120);
        for client in &mut clients {
            client.expect_end();
        }
        assert!(Client::connect(&address).is_err(), "the listener is closed");
    });
}

#[test]
fn what_was_answered_arrives_before_the_end() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let mut client = server.connect();
        let message = pattern(100_000);
        client.echo_while_reading(&message);
        // The first byte's return shows that the rest of so small a write has come.
        client.write_all(&message[..1000]).expect("sent");
        let mut first = [0];
        client.read_exact(&mut first).expect("answered");
        server.stop_expecting(1, 101_000);
        client.expect(&message[1..1000]);
        client.expect_end();
    });
}

#[test]
fn several_listeners_are_served_and_closed_together() {
    for model in Model::ALL {
        let listen = ["127.0.0.1:0", "[::1]:0"].map(|text| text.parse().expect("an address"));
        let server = Server::start_on(model, [&listen[..], &[unix_address()]].concat());
        let mut clients: Vec<Client> = server
            .addresses
            .iter()
            .map(|address| Client::connect(address).expect("connected"))
            .collect();
        for client in &mut clients {
            client.echo(b"hello\n");
        }
        server.stop_expecting(3, 18);
        for client in &mut clients {
            client.expect_end();
        }
    }
}

#[test]
fn a_slow_reader_does_not_prolong_it_past_two_seconds() {
    let servers = Mutex::new(Vec::new());
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let idle: Vec<Client> = (0..5).map(|_| server.connect()).collect();
        let mut slow = server.connect();
        fill(&mut slow);
        let held = (idle, slow);
        servers
            .lock()
            .expect("no panic")
            .push((model, server, held));
    });
    // All at once, since each takes the whole of its drain.
    thread::scope(|scope| {
        for (model, server, held) in servers.into_inner().expect("no panic") {
            scope.spawn(move || {
                let (served, elapsed) = server.stop();
                assert_eq!(served.connections, 6, "{model}");
                assert!(elapsed < LEAVES_WITHIN, "{model} took {elapsed:?}");
                drop(held);
            });
        }
    });
}

/// Sends without reading until the server has nowhere to put its answers.
fn fill(client: &mut Client) {
    client.set_nonblocking(true);
    let mut times_full = 0;
    while times_full < 20 {
        if client.write(&[7; 65_536]).is_err() {
            times_full += 1;
            thread::sleep(Duration::from_millis(5));
        }
    }
}
