//! The wire behaviour of every model on every address family.
#![expect(
    clippy::print_stdout,
    reason = "the captured output says which model and family a failure is of"
)]

mod common;

use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Client, Server, for_each_model_and_family, pattern};
use throng_sys::socket::{end_output, reset_on_close};
use throng_sys::sysctl;

#[test]
fn messages_of_every_size_come_back() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let mut client = server.connect();
        let mut bytes = 0;
        for size in [
            1, 2, 6, 1000, 8192, 16_384, 65_535, 65_536, 65_537, 1_048_576,
        ] {
            client.echo_while_reading(&pattern(size));
            bytes += size as u64;
        }
        drop(client);
        server.stop_expecting(1, bytes);
    });
}

#[test]
fn pipelined_messages_come_back_in_order() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let mut client = server.connect();
        let messages = pattern(6 * 997);
        for message in messages.chunks(6) {
            client.write_all(message).expect("sent");
        }
        client.expect(&messages);
        drop(client);
        server.stop_expecting(1, 6 * 997);
    });
}

#[test]
fn the_end_of_input_is_answered_after_all_output() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        end_output(server.connect()).expect("half-closed");
        let mut silent = server.connect();
        end_output(&silent).expect("half-closed");
        silent.expect_end();
        // Data and the end of input in the same event.
        for size in [1, 65_536, 1_048_576] {
            let mut client = server.connect();
            let mut writer = client.try_clone();
            let message = pattern(size);
            thread::scope(|scope| {
                scope.spawn(|| {
                    writer.write_all(&message).expect("sent");
                    end_output(&writer).expect("half-closed");
                });
                client.expect(&message);
            });
            client.expect_end();
        }
        server.stop_expecting(5, 1 + 65_536 + 1_048_576);
    });
}

#[test]
fn two_hundred_connections_are_served_at_once() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let mut clients: Vec<Client> = (0..200).map(|_| server.connect()).collect();
        for round in 0..3_u8 {
            for (client, number) in clients.iter_mut().zip(0_u8..) {
                client.write_all(&[round, number, 1, 2, 3]).expect("sent");
            }
            for (client, number) in clients.iter_mut().zip(0_u8..) {
                client.expect(&[round, number, 1, 2, 3]);
            }
        }
        drop(clients);
        server.stop_expecting(200, 200 * 3 * 5);
    });
}

#[test]
fn a_slow_reader_is_not_read_on_and_holds_nobody_up() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let mut bystander = server.connect();
        bystander.echo(b"before");
        let mut slow = server.connect();
        let pushed = push_until_nothing_is_taken(&mut slow);
        assert!(pushed <= taken_bytes_max(), "{pushed} bytes were taken");
        bystander.echo(b"meanwhile");
        // It had been slow, not gone: everything comes.
        slow.set_nonblocking(false);
        end_output(&slow).expect("half-closed");
        slow.expect(&pattern(pushed));
        slow.expect_end();
        bystander.echo(b"after");
        drop(bystander);
        server.stop_expecting(2, pushed as u64 + 20);
    });
}

/// Pushes the pattern without reading, until nothing has been taken for a while.
fn push_until_nothing_is_taken(client: &mut Client) -> usize {
    let message = pattern(251 * 256);
    client.set_nonblocking(true);
    let (mut pushed, mut last_progress) = (0, Instant::now());
    while last_progress.elapsed() < Duration::from_millis(300) && pushed <= taken_bytes_max() {
        match client.write(&message[pushed % 251..]) {
            Ok(taken) => (pushed, last_progress) = (pushed + taken, Instant::now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => panic!("{error}"),
        }
    }
    pushed
}

/// What the kernel may hold (two send and two receive buffers), and the most that a model says it keeps of one
/// connection.
fn taken_bytes_max() -> usize {
    const MODEL_BYTES_MAX: usize = 2 * (2 * 1024 * 1024 + 64 * 1024);
    let largest = |name| -> usize {
        let sizes = sysctl::read_values(name).expect("readable");
        *sizes.last().expect("least, usual, largest")
    };
    2 * (largest("net.ipv4.tcp_wmem") + largest("net.ipv4.tcp_rmem")) + MODEL_BYTES_MAX
}

#[test]
fn a_flood_starves_nobody() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let flooding = AtomicBool::new(true);
        let mut quiet = server.connect();
        let flood = server.connect();
        let (mut writer, mut reader) = (flood.try_clone(), flood);
        thread::scope(|scope| {
            scope.spawn(|| {
                let message = pattern(256 * 1024);
                while flooding.load(Ordering::Relaxed) {
                    writer.write_all(&message).expect("sent");
                }
                end_output(&writer).expect("half-closed");
            });
            scope.spawn(|| {
                let mut buffer = vec![0; 256 * 1024];
                while reader.read(&mut buffer).expect("read") > 0 {}
            });
            for _ in 0..50 {
                quiet.echo(b"quiet");
            }
            flooding.store(false, Ordering::Relaxed);
        });
        let (served, _) = server.stop();
        assert_eq!(served.connections, 2);
    });
}

#[test]
fn a_reset_ends_one_connection_only() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let mut bystander = server.connect();
        for round in 0..40_u8 {
            let mut client = server.connect();
            reset_on_close(&client).expect("set");
            match round % 4 {
                0 => {}
                1 => client.write_all(b"sent, and gone").expect("sent"),
                2 => client.echo(b"answered, and gone"),
                _ => {
                    // Gone while the server waits for room.
                    client.set_nonblocking(true);
                    while client.write(&[round; 65_536]).is_ok() {}
                }
            }
            drop(client);
            bystander.echo(&[round]);
        }
        // Connections are accepted in turn: once this one is answered, all before it have been.
        server.connect().echo(b"the last");
        let (served, _) = server.stop();
        assert_eq!(served.connections, 42);
    });
}

#[test]
fn slots_of_closed_connections_serve_new_ones() {
    for_each_model_and_family(|model, address| {
        let server = Server::start(model, address);
        let mut clients: Vec<Client> = (0..20).map(|_| server.connect()).collect();
        let mut bytes = 0;
        for round in 0..100_usize {
            // Several events of one batch, some of which close while others open.
            let closing = round % 20;
            for client in &mut clients {
                client.write_all(&pattern(100)).expect("sent");
            }
            let old = std::mem::replace(&mut clients[closing], server.connect());
            clients[closing].write_all(&pattern(100)).expect("sent");
            end_output(&old).expect("half-closed");
            for mut client in std::iter::once(old).chain(clients.iter().map(Client::try_clone)) {
                client.expect(&pattern(100));
                bytes += 100;
            }
        }
        drop(clients);
        server.stop_expecting(120, bytes);
    });
}
