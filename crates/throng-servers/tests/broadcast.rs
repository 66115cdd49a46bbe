//! The workload `broadcast` in every model that serves it: whoever connects is greeted, and every line goes to all.

#[expect(dead_code, reason = "the other test programs need more of it")]
mod common;

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::num::NonZeroU32;
use std::ops::Range;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use common::case::{Case, Family, each_case, each_model, each_other_hand_over};
use common::client::Client;
use common::named;
use common::server::Server;
use common::setup::Setup;
use throng_record::Workload;
use throng_servers::Model;
use throng_sys::socket::{end_output, reset_on_close};

const GREETING: &[u8] = b"connected\n";

/// What is passed on at once: the kernel's buffers hold it for a reader that is about to read.
const CHUNK_BYTES: usize = 16 * 1024;

fn main() -> ExitCode {
    common::main(|| {
        let every = named![
            a_line_is_heard_once_by_all_of_fifty,
            lines_go_out_whole_wherever_they_are_cut,
            lines_of_a_sender_come_in_its_order_to_everybody,
            a_reader_that_never_reads_is_closed_and_holds_nobody_up,
            whoever_has_left_is_sent_nothing,
            members_cost_the_threads_and_processes_that_are_declared,
            a_line_that_never_ends_ends_its_connection_only,
            being_told_to_stop_closes_everybody,
        ];
        let of_others = named![other_models_refuse_it];
        each_case(|model| model.declaration().broadcasts, every)
            .chain(each_other_hand_over(every))
            .chain(each_model(
                |model| !model.declaration().broadcasts,
                of_others,
            ))
            .collect()
    })
}

/// Several loops where it can have several, on however small a machine.
fn start(case: Case) -> Server {
    let setup = case.setup().workload(Workload::Broadcast);
    if case.model.declaration().uses_every_cpu() {
        setup.workers(NonZeroU32::new(3)).start()
    } else {
        setup.start()
    }
}

/// Whoever has been greeted hears what is said from then on.
fn join(server: &Server, count: usize) -> Vec<Client> {
    let mut members = server.connect_many(count);
    members
        .iter_mut()
        .for_each(|member| member.expect(GREETING));
    members
}

/// One says it, and all hear it and nothing before it.
fn say(members: &mut [Client], speaker: usize, lines: &[u8]) {
    members[speaker].write_all(lines).expect("sent");
    members.iter_mut().for_each(|member| member.expect(lines));
}

fn a_line_is_heard_once_by_all_of_fifty(case: Case) {
    let server = start(case);
    let mut members = join(&server, 50);
    for speaker in 0..50 {
        say(
            &mut members,
            speaker,
            format!("from {speaker:02}\n").as_bytes(),
        );
    }
    members.iter_mut().for_each(Client::expect_nothing);
    drop(members);
    server.stop_expecting(50, 50 * GREETING.len() + 50 * 50 * 8);
}

fn lines_go_out_whole_wherever_they_are_cut(case: Case) {
    let lines = b"one\n\ntwo and more\n";
    let server = start(case);
    let mut members = join(&server, 3);
    for cut in 0..=lines.len() {
        let (first, second) = lines.split_at(cut);
        members[0].write_all(first).expect("sent");
        let whole = first.iter().rposition(|&byte| byte == b'\n');
        let (heard, rest) = lines.split_at(whole.map_or(0, |last| last + 1));
        members.iter_mut().for_each(|member| member.expect(heard));
        members.iter_mut().for_each(Client::expect_nothing);
        members[0].write_all(second).expect("sent");
        members.iter_mut().for_each(|member| member.expect(rest));
    }
    // What was begun is dropped with its connection.
    members[0].write_all(b"begun").expect("sent");
    drop(members.remove(0));
    say(&mut members, 0, b"whole\n");
    server.accepts_everyone();
    assert_eq!(server.stop().connections, 3);
}

fn lines_of_a_sender_come_in_its_order_to_everybody(case: Case) {
    const ROUNDS: usize = 16;
    let server = start(case);
    let members = join(&server, 8);
    let mut senders: Vec<Client> = members.iter().take(2).map(Client::try_clone).collect();
    let mut hearers: Vec<_> = members.into_iter().map(BufReader::new).collect();
    // In rounds, none of which is more than a socket's buffer holds for whoever is late.
    for round in 0..ROUNDS {
        let numbers = round * 25..(round + 1) * 25;
        thread::scope(|scope| {
            for (name, sender) in senders.iter_mut().enumerate() {
                let numbers = numbers.clone();
                scope.spawn(move || {
                    for number in numbers {
                        let filling = "x".repeat(number % 70);
                        let line = format!("{name} {number} {filling}\n");
                        sender.write_all(line.as_bytes()).expect("sent");
                    }
                });
            }
            for hearer in &mut hearers {
                let numbers = numbers.clone();
                scope.spawn(move || hears_of_two_senders(hearer, &numbers));
            }
        });
    }
    drop((senders, hearers));
    assert_eq!(server.stop().connections, 8);
}

fn hears_of_two_senders(hearer: &mut BufReader<Client>, numbers: &Range<usize>) {
    let mut next = [numbers.start; 2];
    while next != [numbers.end; 2] {
        let mut line = String::new();
        hearer.read_line(&mut line).expect("read in time");
        let [name, number, filling] =
            line.trim_end_matches('\n').split(' ').collect::<Vec<_>>()[..]
        else {
            panic!("'{line}' is no whole line");
        };
        let name: usize = name.parse().expect("a sender");
        assert_eq!(number.parse(), Ok(next[name]), "of sender {name}");
        assert_eq!(filling.len(), next[name] % 70);
        next[name] += 1;
    }
}

fn a_reader_that_never_reads_is_closed_and_holds_nobody_up(case: Case) {
    const SENT_BYTES: usize = 10 * 1024 * 1024;
    const GROWTH_BYTES_MAX: u64 = 3 * 1024 * 1024;
    let server = start(case);
    let mut members = join(&server, 3);
    let mut line = vec![b'x'; CHUNK_BYTES / 4];
    line[CHUNK_BYTES / 4 - 1] = b'\n';
    let chunk = line.repeat(4);
    // What the server touches once in its life is touched before.
    (0..200).for_each(|_| say(&mut members, 0, &chunk));
    let before_bytes = server.resident_bytes();
    let slow = server.connect();
    for _ in 0..SENT_BYTES / CHUNK_BYTES {
        say(&mut members, 0, &chunk);
    }
    let bytes = server.resident_bytes();
    assert!(
        bytes < before_bytes + GROWTH_BYTES_MAX,
        "{before_bytes} bytes became {bytes}"
    );
    assert!(bytes_until_closed(slow) < SENT_BYTES, "it was left behind");
    say(&mut members, 2, b"and the others are well\n");
    drop(members);
    assert_eq!(server.stop().connections, 4);
}

fn bytes_until_closed(mut client: Client) -> usize {
    let mut buffer = vec![0; 64 * 1024];
    let mut bytes = 0;
    loop {
        match client.read(&mut buffer) {
            Ok(0) => return bytes,
            Ok(read) => bytes += read,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
                return bytes;
            }
        }
    }
}

fn whoever_has_left_is_sent_nothing(case: Case) {
    let server = start(case);
    let mut members = join(&server, 4);
    let mut leaver = members.remove(0);
    leaver.write_all(b"the last words\n").expect("sent");
    end_output(&leaver).expect("half-closed");
    leaver.expect(b"the last words\n");
    leaver.expect_end();
    members
        .iter_mut()
        .for_each(|member| member.expect(b"the last words\n"));
    say(&mut members, 1, b"among us\n");
    // Gone without a word, at whatever time that is noticed.
    let reset = members.remove(0);
    reset_on_close(&reset).expect("set");
    drop(reset);
    for _ in 0..20 {
        say(&mut members, 0, b"among us two\n");
    }
    drop(members);
    let ended = server.stop();
    assert_eq!(ended.connections, 4);
    let sure = 4 * (GREETING.len() + 15) + 3 * 9 + 20 * 2 * 13;
    let of_reset = 0..=20 * 13;
    assert!(
        of_reset.contains(&(ended.bytes as usize - sure)),
        "{ended:?}"
    );
}

fn members_cost_the_threads_and_processes_that_are_declared(case: Case) {
    let server = start(case);
    let mut members = join(&server, 7);
    server.becomes_as_declared(7);
    say(&mut members, 3, b"five stay\n");
    members.truncate(5);
    server.becomes_as_declared(5);
    drop(members);
    assert_eq!(server.stop().connections, 7);
}

fn a_line_that_never_ends_ends_its_connection_only(case: Case) {
    let server = start(case);
    let mut members = join(&server, 3);
    let mut endless = members.remove(0);
    // It may be closed while it is still sending.
    let _ = endless.write_all(&[b'x'; 70_000]);
    assert_eq!(bytes_until_closed(endless), 0);
    say(&mut members, 0, b"well\n");
    drop(members);
    assert_eq!(server.stop().connections, 3);
}

fn being_told_to_stop_closes_everybody(case: Case) {
    let server = start(case);
    let mut members = join(&server, 20);
    say(&mut members, 7, b"soon over\n");
    let ended = server.stop();
    assert!(ended.took < Duration::from_secs(2), "{:?}", ended.took);
    assert_eq!(ended.connections, 20);
    members.iter_mut().for_each(Client::expect_end);
}

fn other_models_refuse_it(model: Model) {
    let setup = Setup::new(model, vec![Family::Ipv4.address()]);
    let words = setup.workload(Workload::Broadcast).start_in_vain();
    let expected = format!("{model} cannot serve the broadcast workload");
    assert!(words.starts_with(&expected), "{words}");
    assert!(
        words.contains("epoll-edge"),
        "it names those that do: {words}"
    );
}
