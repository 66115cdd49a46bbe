//! A client of `echo` that sends and does not read: the server stops reading from it, and serves the others.

use throng_record::ContractException;
use throng_sys::sysctl;

use super::clause::{Clause, Outcome, Verdict};
use super::client::{Client, pattern};
use super::echo::READ_LATE;
use super::stage::{Failure, Stage};

pub(super) const CLAUSES: [Clause; 2] = [
    Clause::core(
        "slow-reader-bounded",
        bounded,
        "it stops reading from a client that does not read, of which it keeps 8 MiB at most; once that reads, everything comes",
    )
    .under(ContractException::SlowReader),
    Clause::core(
        "slow-reader-alone",
        alone,
        "a client that does not read holds up nobody else",
    )
    .under(ContractException::SlowReader),
];

/// Bytes that a server may keep of one connection.
const KEPT_MAX: usize = 8 << 20;
/// So many that each of several loops has some of them.
const OTHERS: usize = 64;
/// Prime, and a divisor of no buffer.
const PERIOD: usize = 251;

/// What the kernel may hold of a connection in its four buffers.
pub(super) fn kernel_bytes_max() -> usize {
    let largest = |name| {
        let sizes: Vec<usize> = sysctl::read_values(name).unwrap_or_default();
        sizes.last().copied().unwrap_or(16 << 20)
    };
    2 * (largest("net.ipv4.tcp_wmem") + largest("net.ipv4.tcp_rmem"))
}

/// Sends without reading until nothing is taken any more, or more than `bytes_max` are; how many were taken.
fn fill(client: &mut Client, bytes_max: usize) -> Result<usize, Failure> {
    let message = pattern(PERIOD * 256);
    client.push_until_full(bytes_max, |pushed| &message[pushed % PERIOD..])
}

fn bounded(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let most = kernel_bytes_max() + KEPT_MAX;
    for bytes_max in READ_LATE.into_iter().chain([most]) {
        let mut slow = stage.connect(&server)?;
        let pushed = fill(&mut slow, bytes_max)?;
        if pushed > most {
            return Failure::of(format!(
                "{pushed} bytes were taken of a client that reads none, where the kernel holds {} at most",
                kernel_bytes_max()
            ));
        }
        everything_comes(&mut slow, pushed)?;
    }
    Ok(Verdict::Holds)
}

/// What was taken comes back, and the connection is as good as before.
fn everything_comes(slow: &mut Client, pushed: usize) -> Result<(), Failure> {
    let message = pattern(PERIOD * 256);
    let mut read = 0;
    while read < pushed {
        let rest = &message[read % PERIOD..];
        let next = &rest[..rest.len().min(pushed - read)];
        slow.expect(next)
            .map_err(|seen| seen.after(format_args!("after {read} of {pushed} bytes")))?;
        read += next.len();
    }
    slow.echo(b"awake\n")
}

fn alone(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let others = server.at_most(1 + OTHERS) - 1;
    if others == 0 {
        let because = "it serves one connection at once: there is nobody else";
        return Ok(Verdict::Moot(because.to_owned()));
    }
    let mut slow = stage.connect(&server)?;
    slow.echo(b"hello\n")?;
    fill(&mut slow, kernel_bytes_max() + KEPT_MAX)?;
    for mut other in stage.connect_many(&server, others)? {
        other
            .echo(b"hello\n")
            .map_err(|seen| seen.after("somebody else"))?;
    }
    Ok(Verdict::Holds)
}
