//! Clients that reset their connections, in every workload: each ends its own connection and nothing else.

use super::clause::{Clause, Outcome, Verdict};
use super::client::Client;
use super::listening::is_served;
use super::stage::{Failure, Stage};
use throng_record::Workload;

pub(super) const CLAUSES: [Clause; 1] = [Clause::core(
    "resets",
    resets,
    "a client that resets its connection, silent, before or after an answer, ends that connection and nothing else",
)];

const ROUNDS: usize = 40;

fn resets(stage: &Stage<'_>) -> Outcome {
    let mut server = stage.start()?;
    // A connection of `oneshot` lasts no longer than its answer.
    let lasts = stage.connections_last() && server.at_most(2) == 2;
    let mut bystander = None;
    if lasts {
        bystander = Some(stage.connect(&server)?);
    }
    if let Some(bystander) = &mut bystander {
        begins(bystander, stage.workload)?;
    }
    for round in 0..ROUNDS {
        let mut client = stage.connect(&server)?;
        match round % 3 {
            0 => {}
            1 => client.send(request(stage.workload))?,
            _ => begins(&mut client, stage.workload)?,
        }
        client.reset()?;
        let is_heard = bystander
            .as_mut()
            .map_or(Ok(()), |bystander| goes_on(bystander, stage.workload));
        is_heard.map_err(|seen| {
            seen.after(format_args!("somebody else, after {} resets", round + 1))
        })?;
    }
    drop(bystander);
    let mut last = stage.connect(&server)?;
    begins(&mut last, stage.workload)
        .map_err(|seen| seen.after(format_args!("a new connection after {ROUNDS} resets")))?;
    server.lives()?;
    Ok(Verdict::Holds)
}

fn request(workload: Workload) -> &'static [u8] {
    match workload {
        Workload::Echo | Workload::Oneshot => b"sent, and gone",
        Workload::Framed => b"\0\0\0\x02{}",
        // Nobody's line: what is not ended is dropped.
        Workload::Broadcast => b"begun",
        Workload::Http => b"GET /?delay=1 HTTP/1.1\r\nHost: throng\r\n\r\n",
    }
}

/// That one who has just come is served.
fn begins(client: &mut Client, workload: Workload) -> Result<(), Failure> {
    if workload == Workload::Broadcast {
        client.expect(b"connected\n")?;
    }
    goes_on(client, workload)
}

/// That one who is served already is served on. In a broadcast it may hear what others said before.
fn goes_on(client: &mut Client, workload: Workload) -> Result<(), Failure> {
    match workload {
        Workload::Broadcast => {
            client.send(b"mine\n")?;
            let mut heard = Vec::new();
            while !heard.ends_with(b"mine\n") {
                let mut byte = [0];
                client.expect_any(&mut byte)?;
                heard.push(byte[0]);
            }
            Ok(())
        }
        other => is_served(client, other),
    }
}
