//! Being told to stop: every model answers what has come, closes, and leaves within two seconds.

#[expect(dead_code, reason = "the other test programs need more of it")]
mod common;

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use common::case::{
    Case, Family, any, bounded, each_case, each_model, has_children, serves_several,
};
use common::client::{Client, pattern};
use common::named;
use common::setup::Setup;
use throng_servers::Model;

/// The contract's two seconds, and what a busy machine may add.
const LEAVES_WITHIN: Duration = Duration::from_millis(2500);

fn main() -> ExitCode {
    common::main(|| {
        let every = named![
            idle_connections_are_closed_and_nobody_connects_any_more,
            what_was_answered_arrives_before_the_end,
            a_slow_reader_does_not_prolong_it_past_two_seconds,
            sigterm_to_the_first_process_ends_all_of_them,
        ];
        let of_bounded = named![who_still_waits_for_a_place_is_turned_away];
        let of_families_together = named![several_listeners_are_served_and_closed_together];
        let of_parents = named![a_killed_parent_leaves_no_child];
        each_case(any, every)
            .chain(each_case(bounded, of_bounded))
            .chain(each_model(serves_several, of_families_together))
            .chain(each_model(has_children, of_parents))
            .collect()
    })
}

fn idle_connections_are_closed_and_nobody_connects_any_more(case: Case) {
    let server = case.setup().start();
    let address = server.address().clone();
    let count = server.at_most(20);
    let mut clients = server.connect_many(count);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"hello\n"));
    server.stop_expecting(count, count * 6);
    clients.iter_mut().for_each(Client::expect_end);
    assert!(Client::connect(&address).is_err(), "the listener is closed");
}

fn what_was_answered_arrives_before_the_end(case: Case) {
    let server = case.setup().start();
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
}

fn a_slow_reader_does_not_prolong_it_past_two_seconds(case: Case) {
    let server = case.setup().start();
    let connections = server.at_most(6);
    let mut clients = server.connect_many(connections);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"hello\n"));
    let message = [7; 65_536];
    clients[0].push_until_full(|_| &message, Duration::from_millis(100));
    let ended = server.stop();
    assert_eq!(ended.connections, connections as u64);
    assert!(ended.took < LEAVES_WITHIN, "{:?}", ended.took);
}

/// As a supervisor sends it; all the other tests signal the whole group.
fn sigterm_to_the_first_process_ends_all_of_them(case: Case) {
    let server = case.setup().start();
    let count = server.at_most(7);
    let mut clients = server.connect_many(count);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"hello\n"));
    let ended = server.stop_first_process();
    let totals = (ended.connections, ended.bytes);
    assert_eq!(totals, (count as u64, count as u64 * 6));
    assert!(ended.notes.is_empty(), "{:?}", ended.notes);
    assert!(ended.took < LEAVES_WITHIN, "{:?}", ended.took);
    clients.iter_mut().for_each(Client::expect_end);
}

fn who_still_waits_for_a_place_is_turned_away(case: Case) {
    let server = case.setup().start();
    let count = server.at_most(usize::MAX);
    let mut served = server.connect_many(count);
    served.iter_mut().for_each(|client| client.echo(b"served"));
    let mut waiting = server.connect_many(3);
    for client in &mut waiting {
        client.write_all(b"waits").expect("sent");
    }
    server.stop_expecting(count, count * 6);
    served.iter_mut().for_each(Client::expect_end);
    waiting
        .iter_mut()
        .for_each(Client::expect_to_be_turned_away);
}

fn several_listeners_are_served_and_closed_together(model: Model) {
    let mut listen = vec![Family::Ipv4.address(), Family::Ipv6.address()];
    if model.declaration().serves_unix {
        listen.push(Family::Unix.address());
    }
    let count = listen.len();
    let server = Setup::new(model, listen).start();
    let mut clients = Vec::new();
    for address in &server.addresses {
        let mut client = Client::connect(address).expect("connected");
        client.echo(b"hello\n");
        clients.push(client);
    }
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"again\n"));
    server.stop_expecting(count, count * 2 * 6);
    clients.iter_mut().for_each(Client::expect_end);
}

fn a_killed_parent_leaves_no_child(model: Model) {
    let server = Setup::new(model, vec![Family::Ipv4.address()]).start();
    let mut clients = server.connect_many(3);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"hello\n"));
    assert!(server.sample().processes > 1, "it has children");
    server.kill_first_process();
}
