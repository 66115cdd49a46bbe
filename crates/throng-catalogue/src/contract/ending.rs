//! Being told to stop, in every workload.

use throng_record::ContractException;

use super::clause::{Clause, Outcome, Verdict};
use super::is_declared;
use super::listening::is_served;
use super::server::is_orderly;
use super::stage::{Failure, Stage};
use throng_record::Workload;

pub(super) const CLAUSES: [Clause; 1] = [Clause::core(
    "leaves",
    leaves,
    "on SIGTERM it leaves within two seconds with all its processes, whoever is connected, with exit status 0 or by the signal",
)];

const CONNECTIONS: usize = 20;
/// Longer than anybody waits.
const HALF_A_MINUTE_MS: &str = "30000";

fn leaves(stage: &Stage<'_>) -> Outcome {
    let is_oneshot = stage.workload == Workload::Oneshot;
    let server = if is_oneshot {
        stage.start_with(&["--delay-ms", HALF_A_MINUTE_MS])?
    } else {
        stage.start()?
    };
    let mut clients = stage.connect_many(&server, server.at_most(CONNECTIONS))?;
    if stage.connections_last() {
        clients
            .iter_mut()
            .try_for_each(|client| is_served(client, stage.workload))?;
    }
    // Some of them have something under way.
    for client in clients.iter_mut().step_by(2) {
        match stage.workload {
            Workload::Echo => {
                if !is_declared(stage.subject, ContractException::SlowReader) {
                    let message = [b'x'; 65_536];
                    client.push_until_full(1 << 20, |_| &message)?;
                }
            }
            Workload::Broadcast => client.send(b"begun")?,
            Workload::Http => {
                client.send(b"GET /?delay=30000 HTTP/1.1\r\nHost: throng\r\n\r\n")?;
            }
            Workload::Oneshot => client.send(b"GET / HTTP/1.1")?,
            // The beginning of a frame.
            Workload::Framed => client.send(b"\0\0\0\x02{")?,
        }
    }
    let left = server.leave()?;
    if left.took.is_none() {
        let behind = left.behind;
        return Failure::of(match left.status {
            None => "it still runs".to_owned(),
            Some(_) => format!("processes {behind:?} are left behind"),
        });
    }
    match left.status {
        Some(status) if !is_orderly(status) => Failure::of(status.to_string()),
        _ => Ok(Verdict::Holds),
    }
}
