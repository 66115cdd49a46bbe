//! A thousand connections at a time, in every workload.

use std::time::Duration;

use throng_sys::limits;

use super::clause::{Clause, Outcome, Verdict};
use super::listening::is_served;
use super::stage::{Seen, Stage};
use crate::catalogue::Workload;

pub(super) const CLAUSES: [Clause; 1] = [Clause::core(
    "a-thousand",
    a_thousand,
    "a thousand connections at a time are served, or as many as its line `serves-at-once` says",
)];

const CONNECTIONS: usize = 1_000;
/// The last is served when all have been accepted, and a slow runtime may have to start a thousand threads for that on a busy machine.
const ALL_ACCEPTED_WITHIN: Duration = Duration::from_secs(60);
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
    let mut clients = stage.connect_many(&server, server.at_most(CONNECTIONS))?;
    let count = clients.len();
    let of =
        |number: usize| move |seen: Seen| seen.after(format_args!("{} of {count}", number + 1));
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
        Workload::Http | Workload::Oneshot => {
            // From the last to the first: whoever serves only one after another is found out.
            let last = clients.pop();
            clients.extend(last.map(|last| last.with_patience(ALL_ACCEPTED_WITHIN)));
            for (number, client) in clients.iter_mut().enumerate().rev() {
                is_served(client, stage.workload).map_err(of(number))?;
            }
        }
    }
    Ok(Verdict::Holds)
}
