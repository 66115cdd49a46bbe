//! What shows in a server's processes: their number, their threads, the limit on open files, resident memory, and the
//! words with which one refuses to start.

#[expect(dead_code, reason = "the other test programs need more of it")]
mod common;

use std::io::Write as _;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::case::{
    Case, Family, any, bounded, each_case, each_model, each_other_hand_over, has_children,
    serves_several,
};
use common::client::Client;
use common::named;
use common::setup::Setup;
use throng_record::{HandOver, Workload};
use throng_servers::Model;

const FOUR: NonZeroU32 = NonZeroU32::new(4).expect("not zero");

fn main() -> ExitCode {
    common::main(|| {
        let every = named![it_has_the_processes_and_threads_it_declares];
        let of_several = named![a_full_descriptor_table_neither_kills_nor_spins];
        let of_one_number = named![its_own_number_of_workers_is_announced_and_true];
        let of_loops = named![an_idle_connection_costs_little_memory];
        let of_rooms = named![nor_does_one_that_only_listens];
        let of_tables = named![each_loop_has_the_limit_on_open_files_for_itself];
        let of_tcp_only = named![a_unix_socket_is_refused_in_words];
        let of_acceptors = named![
            accept_threads_are_as_many_as_asked,
            nor_does_it_where_several_threads_accept,
        ];
        let of_no_choice = named![accept_threads_are_refused_in_words];
        let of_one_each = named![more_listeners_than_workers_are_refused_in_words];
        let of_no_hand_over = named![a_hand_over_is_refused_in_words];
        each_case(any, every)
            .chain(each_other_hand_over(every))
            .chain(each_model(
                |model| !model.declaration().takes_hand_over,
                of_no_hand_over,
            ))
            .chain(each_case(serves_several, of_several))
            .chain(each_model(has_tables, of_tables))
            .chain(each_model(has_workers, of_one_number))
            .chain(each_model(keeps_little, of_loops))
            .chain(each_model(
                |model| keeps_little(model) && model.declaration().broadcasts,
                of_rooms,
            ))
            .chain(each_model(
                |model| !model.declaration().serves_unix,
                of_tcp_only,
            ))
            .chain(each_case(
                |model| model.declaration().takes_accept_threads,
                of_acceptors,
            ))
            .chain(each_model(has_no_acceptors, of_no_choice))
            .chain(each_model(serves_one_each, of_one_each))
            .collect()
    })
}

/// Models in which each loop has a descriptor table of its own, and whoever waits is served by any loop with places.
fn has_tables(model: Model) -> bool {
    model.name() == "epoll-shared"
}

fn has_workers(model: Model) -> bool {
    model.workers(None).is_some()
}

/// Models whose workers each serve one connection at a time, and so wait at one listener.
fn serves_one_each(model: Model) -> bool {
    bounded(model) && model.declaration().family != throng_record::built_in::Family::EventLoop
}

fn has_no_acceptors(model: Model) -> bool {
    !model.declaration().takes_accept_threads
}

/// Models in which an idle connection is an entry in a table, and no thread, process or task.
fn keeps_little(model: Model) -> bool {
    use throng_record::built_in::Family::{Completions, EventLoop, EventLoops};
    matches!(
        model.declaration().family,
        EventLoop | EventLoops | Completions
    )
}

fn it_has_the_processes_and_threads_it_declares(case: Case) {
    let server = case.setup().start();
    server.becomes_as_declared(0);
    let count = server.at_most(30);
    let mut clients = server.connect_many(count);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"hello\n"));
    server.becomes_as_declared(count);
    clients.truncate(count.div_ceil(3));
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"hello\n"));
    server.becomes_as_declared(clients.len());
    server.stop();
}

fn its_own_number_of_workers_is_announced_and_true(model: Model) {
    let setup = Setup::new(model, vec![Family::Ipv4.address()]).workers(None);
    let server = setup.start();
    server.becomes_as_declared(0);
    let mut client = server.connect();
    client.echo(b"hello\n");
    server.becomes_as_declared(1);
    drop(client);
    server.stop_expecting(1, 6);
}

fn accept_threads_are_as_many_as_asked(case: Case) {
    let server = case.setup().accept_threads(FOUR).start();
    server.becomes_as_declared(0);
    let mut clients = server.connect_many(30);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"hello\n"));
    server.becomes_as_declared(30);
    // One that waits in accept is woken by its own connections only.
    server.uses_little_cpu_time(Duration::from_millis(100));
    server.stop_expecting(30, 180);
    clients.iter_mut().for_each(Client::expect_end);
}

fn accept_threads_are_refused_in_words(model: Model) {
    let setup = Setup::new(model, vec![Family::Ipv4.address()]);
    let said = setup.accept_threads(FOUR).start_in_vain();
    for part in [model.name(), "accept threads", "--accept-threads"] {
        assert!(said.contains(part), "{said}");
    }
}

fn a_hand_over_is_refused_in_words(model: Model) {
    let setup = Setup::new(model, vec![Family::Ipv4.address()]);
    let said = setup.hand_over(HandOver::Queues).start_in_vain();
    for part in [model.name(), "no hand-over", "two-threads-per-connection"] {
        assert!(said.contains(part), "{said}");
    }
}

fn a_full_descriptor_table_neither_kills_nor_spins(case: Case) {
    meets_a_full_descriptor_table(case, case.setup());
}

fn nor_does_it_where_several_threads_accept(case: Case) {
    meets_a_full_descriptor_table(case, case.setup().accept_threads(FOUR));
}

fn meets_a_full_descriptor_table(case: Case, setup: Setup) {
    const LIMIT: u32 = 40;
    let setup = setup.open_files_max(LIMIT);
    let server = if case.model.declaration().uses_every_cpu() {
        // Each loop has descriptors of its own, which leave fewer to connections.
        setup.one_loop().start()
    } else {
        setup.workers(None).start()
    };
    let mut clients = server.connect_many(20);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"first\n"));

    // Let it meet the limit, then watch it with connections left waiting.
    clients.extend(server.connect_many(40));
    std::thread::sleep(Duration::from_millis(200));
    server.uses_little_cpu_time(Duration::from_millis(500));

    // The open ones are served, and places that become free are given to those that wait.
    let (open, _) = clients.split_at_mut(20);
    open.iter_mut().for_each(|client| client.echo(b"second"));
    let mut waiting = clients.split_off(40);
    drop(clients);
    waiting
        .iter_mut()
        .for_each(|client| client.echo(b"third\n"));
    drop(waiting);

    server.accepts_everyone();
    let shares_one_table = !has_children(case.model);
    let comes_short = shares_one_table && server.at_most(60) == 60;
    let ended = server.stop();
    assert_eq!((ended.connections, ended.bytes), (60, 360));
    let is_noted = ended.notes.iter().any(|note| note.contains("ulimit -n"));
    assert_eq!(is_noted, comes_short, "{:?}", ended.notes);
}

fn each_loop_has_the_limit_on_open_files_for_itself(model: Model) {
    const LIMIT: u32 = 64;
    // What its loops keep to themselves: at most so many of each table.
    const KEPT_MAX: usize = 16;
    let setup = Setup::new(model, vec![Family::Ipv4.address()]);
    let workers = NonZeroU32::new(3);
    let server = setup.workers(workers).open_files_max(LIMIT).start();
    // More than it has places for: those that are served are answered, whoever comes after them waits.
    let mut clients = server.connect_many(3 * LIMIT as usize);
    let places_least = 3 * (LIMIT as usize - KEPT_MAX);
    let (sure, others) = clients.split_at_mut(places_least);
    sure.iter_mut().for_each(|client| client.echo(b"first\n"));
    let last = others.last_mut().expect("a client");
    last.write_all(b"third\n").expect("sent");
    last.expect_nothing();
    server.uses_little_cpu_time(Duration::from_millis(300));
    // Whoever closes makes room for the next, to the last of them.
    let waiting = clients.split_off(places_least);
    clients
        .iter_mut()
        .for_each(|client| client.echo(b"again\n"));
    drop(clients);
    let mut waiting = waiting;
    waiting.last_mut().expect("a client").expect(b"third\n");
    waiting
        .iter_mut()
        .for_each(|client| client.echo(b"third\n"));
    drop(waiting);
    server.accepts_everyone();
    let ended = server.stop();
    assert_eq!(ended.connections, 3 * u64::from(LIMIT));
    let [note] = &ended.notes[..] else {
        panic!("{:?}", ended.notes);
    };
    assert!(
        note.contains("--workers") && note.contains("ulimit -n"),
        "{note}"
    );
}

fn an_idle_connection_costs_little_memory(model: Model) {
    costs_little_memory(model, Workload::Echo, |client| client.echo(b"hello\n"));
}

fn nor_does_one_that_only_listens(model: Model) {
    costs_little_memory(model, Workload::Broadcast, |client| {
        client.expect(b"connected\n");
    });
}

/// Between two numbers of connections, so that the fixed part of the process is not counted.
fn costs_little_memory(model: Model, workload: Workload, meet: fn(&mut Client)) {
    // One at a time: there are many descriptors on this side too.
    static MANY_AT_ONCE: Mutex<()> = Mutex::new(());
    let _alone = MANY_AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner);

    let setup = Setup::new(model, vec![Family::Ipv4.address()]);
    let server = setup.workload(workload).one_loop().start();
    let many = server.at_most(3500);
    let few = many / 7;
    let mut clients = server.connect_many(few);
    clients.iter_mut().for_each(meet);
    let few_bytes = server.resident_bytes();
    clients.extend(server.connect_many(many - few));
    // One after another: no more buffers are in use at once than before.
    clients[few..].iter_mut().for_each(meet);
    let each_bytes = server.resident_bytes().saturating_sub(few_bytes) / (many - few) as u64;
    assert!(each_bytes <= 300, "{each_bytes} bytes for each");
    drop(clients);
    server.stop();
}

fn a_unix_socket_is_refused_in_words(model: Model) {
    let listen = vec![Family::Ipv4.address(), Family::Unix.address()];
    let said = Setup::new(model, listen).start_in_vain();
    assert!(said.contains(model.name()), "{said}");
    assert!(said.contains("another model"), "{said}");
}

fn more_listeners_than_workers_are_refused_in_words(model: Model) {
    let listen = vec![Family::Ipv4.address(), Family::Ipv6.address()];
    let setup = Setup::new(model, listen).workers(Some(NonZeroU32::MIN));
    let said = setup.start_in_vain();
    assert!(said.contains(model.name()), "{said}");
    assert!(said.contains("2 addresses"), "{said}");
}
