//! The workload `broadcast`: whoever connects is greeted, and every whole line goes to everybody.

use std::thread;
use std::time::Duration;

use super::clause::{Clause, Outcome, Verdict};
use super::client::{Client, pattern};
use super::server::Server;
use super::stage::{Failure, Stage};

pub(super) mod slow;

pub(super) const CLAUSES: [Clause; 7] = [
    Clause::core(
        "greeting",
        greeting,
        "`connected` and a newline come as soon as a connection is accepted, and to that connection alone",
    ),
    Clause::core(
        "everybody-hears",
        everybody_hears,
        "a line goes to all connections once, its sender's included",
    ),
    Clause::core(
        "senders-in-order",
        senders_in_order,
        "lines of one sender come to everybody whole and in that sender's order, whoever else sends",
    ),
    Clause::core(
        "lines-in-pieces",
        lines_in_pieces,
        "a line goes out whole, and only when it is ended, whatever the pieces in which it comes",
    ),
    Clause::core(
        "longest-line",
        longest_line,
        "a line of 64 KiB, its newline included, goes out whole",
    ),
    Clause::core(
        "unfinished-line",
        unfinished_line,
        "what is not ended when its sender leaves is dropped",
    ),
    Clause::core(
        "reset-among-listeners",
        reset_among_listeners,
        "a listener that resets its connection keeps no line from the others",
    ),
];

const GREETING: &[u8] = b"connected\n";
/// After so long a server has mostly read what it was sent, and would have passed it on if it does so; whether it has cannot be seen.
const READ_BY_THEN: Duration = Duration::from_millis(50);
/// On a busy machine one try may come before it has.
const TRIES: usize = 4;

/// Connections that have been greeted: they hear what is said from then on.
fn join(stage: &Stage<'_>, server: &Server<'_>, count: usize) -> Result<Vec<Client>, Failure> {
    let mut clients = stage.connect_many(server, count)?;
    for client in &mut clients {
        client
            .expect(GREETING)
            .map_err(|seen| seen.after("the greeting"))?;
    }
    Ok(clients)
}

/// One says it, and all hear it and nothing before it.
fn say(clients: &mut [Client], speaker: usize, lines: &[u8]) -> Result<(), Failure> {
    clients[speaker].send(lines)?;
    let count = clients.len();
    for (number, client) in clients.iter_mut().enumerate() {
        client
            .expect(lines)
            .map_err(|seen| seen.after(format_args!("listener {} of {count}", number + 1)))?;
    }
    Ok(())
}

fn greeting(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut clients = join(stage, &server, 1)?;
    clients.extend(join(stage, &server, 2)?);
    say(&mut clients, 0, b"first\n").map_err(|seen| seen.after("after two more had come"))?;
    Ok(Verdict::Holds)
}

fn everybody_hears(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut clients = join(stage, &server, 20)?;
    for speaker in 0..20 {
        say(
            &mut clients,
            speaker,
            format!("from {speaker}\n").as_bytes(),
        )?;
    }
    say(&mut clients, 7, b"\n")?;
    say(&mut clients, 7, b"two\nlines\n")?;
    Ok(Verdict::Holds)
}

fn lines_in_pieces(stage: &Stage<'_>) -> Outcome {
    const LINES: &[u8] = b"one\n\ntwo and more\n";
    let server = stage.start()?;
    let mut clients = join(stage, &server, 3)?;
    for cut in 0..=LINES.len() {
        let (first, second) = LINES.split_at(cut);
        let whole = first.iter().rposition(|&byte| byte == b'\n');
        let heard = whole.map_or(0, |last| last + 1);
        clients[0].send(first)?;
        for client in &mut clients {
            client.expect(&LINES[..heard])?;
        }
        // Another's line, in between: what is begun must not be in it.
        say(&mut clients, 1, b"between\n")
            .map_err(|seen| seen.after(format_args!("after {cut} bytes of another's lines")))?;
        clients[0].send(second)?;
        for client in &mut clients {
            client.expect(&LINES[heard..])?;
        }
    }
    Ok(Verdict::Holds)
}

fn longest_line(stage: &Stage<'_>) -> Outcome {
    const LINE_BYTES: usize = 64 * 1024;
    let server = stage.start()?;
    let mut clients = join(stage, &server, 3)?;
    // No newline but the last.
    let mut line: Vec<u8> = pattern(LINE_BYTES).iter().map(|byte| byte | 0x80).collect();
    line[LINE_BYTES - 1] = b'\n';
    say(&mut clients, 0, &line)?;
    say(&mut clients, 1, b"and on\n")?;
    // The same with the newline by itself.
    let (begun, newline) = line.split_at(LINE_BYTES - 1);
    for _ in 0..TRIES {
        clients[2].send(begun)?;
        thread::sleep(READ_BY_THEN);
        say(&mut clients, 1, b"meanwhile\n")?;
        clients[2].send(newline)?;
        for client in &mut clients {
            client.expect(&line)?;
        }
    }
    Ok(Verdict::Holds)
}

fn senders_in_order(stage: &Stage<'_>) -> Outcome {
    const ROUNDS: usize = 16;
    const LINES: usize = 25;
    let server = stage.start()?;
    let mut clients = join(stage, &server, 8)?;
    // In rounds, none of which is more than a socket's buffer holds for whoever is late.
    for round in 0..ROUNDS {
        let (one, rest) = clients.split_at_mut(1);
        let (other, _) = rest.split_at_mut(1);
        let sent = thread::scope(|scope| {
            let sending = [(0, &mut one[0]), (1, &mut other[0])].map(|(name, client)| {
                scope.spawn(move || {
                    (0..LINES).try_for_each(|line| {
                        client.send(numbered(name, round * LINES + line).as_bytes())
                    })
                })
            });
            sending.map(|sending| sending.join().expect("it does not panic"))
        });
        sent.into_iter().collect::<Result<(), Failure>>()?;
        for client in &mut clients {
            hears_both(client, round * LINES, (round + 1) * LINES)?;
        }
    }
    Ok(Verdict::Holds)
}

fn numbered(sender: usize, number: usize) -> String {
    format!("{sender} {number} {}\n", "x".repeat(number % 70))
}

/// That the lines of two senders come from number `next` to `end`, each sender's in order.
fn hears_both(client: &mut Client, next: usize, end: usize) -> Result<(), Failure> {
    let mut next = [next; 2];
    while next != [end; 2] {
        let line = client.line()?;
        let sender = next
            .iter()
            .enumerate()
            .position(|(sender, &number)| number < end && line == numbered(sender, number));
        match sender {
            Some(sender) => next[sender] += 1,
            None => {
                return Failure::of(format!(
                    "the line `{}` where number {} of one sender or {} of the other is next",
                    line.trim_end(),
                    next[0],
                    next[1]
                ));
            }
        }
    }
    Ok(())
}

fn unfinished_line(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut clients = join(stage, &server, 4)?;
    for way in ["ends its output", "leaves"] {
        let mut leaver = clients.remove(0);
        leaver.send(b"unfinished")?;
        if way == "ends its output" {
            leaver.end_output()?;
            // It may be closed or hear on: what matters is that the server has been told.
            let mut leaver = leaver.with_patience(Duration::from_millis(500));
            leaver.receive(&mut [0; 64])?;
        }
        for _ in 0..10 {
            say(&mut clients, 0, b"whole\n")
                .map_err(|seen| seen.after(format_args!("after one that {way} amid a line")))?;
        }
    }
    Ok(Verdict::Holds)
}

fn reset_among_listeners(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut clients = join(stage, &server, 12)?;
    for _ in 0..10 {
        clients.remove(1).reset()?;
        say(&mut clients, 0, b"among us\n")?;
        say(&mut clients, 1, b"and again\n")?;
    }
    Ok(Verdict::Holds)
}
