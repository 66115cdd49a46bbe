//! A thousand connections at a time, in every workload.

use std::time::Duration;

use throng_sys::limits;

use super::clause::{Clause, Outcome, Verdict};
use super::client::Client;
use super::listening::is_served;
use super::stage::{Failure, Stage};
use throng_record::Workload;

pub(super) const CLAUSES: [Clause; 1] = [Clause::core(
    "a-thousand",
    a_thousand,
    "a thousand connections at a time are served, or as many as its line `serves-at-once` says",
)];

const CONNECTIONS: usize = 1_000;
/// How long each waits for its next byte: before it comes, a slow runtime on a busy machine may have to start a thousand threads, or to give all of
/// them a turn.
const PATIENCE: Duration = Duration::from_secs(60);
/// Descriptors of this process beside the connections.
const OWN_DESCRIPTORS: u64 = 100;

fn a_thousand(stage: &Stage<'_>) -> Outcome {
    let soft = limits::open_files().soft;
    if soft < CONNECTIONS as u64 + OWN_DESCRIPTORS {
        return Ok(Verdict::Moot(format!(
            "`ulimit -n` is {soft} here, too little for {CONNECTIONS} connections"
        )));
    }
    let server = stage.start()?;
    let clients = stage.connect_many(&server, server.at_most(CONNECTIONS))?;
    let patient = clients
        .into_iter()
        .map(|client| client.with_patience(PATIENCE));
    let mut clients: Vec<Client> = patient.collect();
    let count = clients.len();
    let of =
        |number: usize| move |seen: Failure| seen.after(format_args!("{} of {count}", number + 1));
    match stage.workload {
        Workload::Broadcast => {
            for (number, client) in clients.iter_mut().enumerate() {
                client.expect(b"connected\n").map_err(of(number))?;
            }
            for line in [&b"one\n"[..], b"another\n"] {
                clients[count / 2].send(line)?;
                for (number, client) in clients.iter_mut().enumerate() {
                    client.expect(line).map_err(of(number))?;
                }
            }
        }
        Workload::Echo => {
            for (number, client) in clients.iter_mut().enumerate() {
                let message = format!("{number:06}");
                client.send(message.as_bytes()).map_err(of(number))?;
            }
            for (number, client) in clients.iter_mut().enumerate() {
                let message = format!("{number:06}");
                client.expect(message.as_bytes()).map_err(of(number))?;
            }
        }
        Workload::Http | Workload::Oneshot | Workload::Framed => {
            // From the last to the first: whoever serves only one after another is found out.
            for (number, client) in clients.iter_mut().enumerate().rev() {
                is_served(client, stage.workload).map_err(of(number))?;
            }
        }
    }
    Ok(Verdict::Holds)
}
