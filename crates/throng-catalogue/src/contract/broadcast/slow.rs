//! A listener that does not read: it is closed, and the others hear everything meanwhile.

use throng_record::ContractException;

use super::super::clause::{Clause, Outcome, Verdict};
use super::super::client::Received;
use super::super::slow_reader::kernel_bytes_max;
use super::super::stage::Failure;
use super::super::stage::Stage;
use super::{Client, join, say};

pub(in super::super) const CLAUSES: [Clause; 2] = [
    Clause::core(
        "slow-listener-alone",
        alone,
        "a listener that does not read stops nobody else",
    )
    .under(ContractException::SlowReader),
    Clause::core(
        "slow-listener-closed",
        closed,
        "of what a listener does not read 1 MiB at most is kept; beyond that it is closed",
    )
    .under(ContractException::SlowReader),
];

/// What is passed on at once: the kernel's buffers hold it for one that is about to read.
const CHUNK: usize = 16 * 1024;
/// Beside what the kernel holds; one that keeps so much keeps everything.
const KEPT: usize = 8 << 20;

/// Says so much that neither the kernel nor a server that keeps little can hold it for whoever does not read.
fn talk(clients: &mut [Client]) -> Result<usize, Failure> {
    let mut line = vec![b'x'; CHUNK / 4];
    line[CHUNK / 4 - 1] = b'\n';
    let chunk = line.repeat(4);
    // Half of it lies on the way to the server.
    let all = kernel_bytes_max() / 2 + KEPT;
    let mut said = 0;
    while said < all {
        say(clients, 0, &chunk)
            .map_err(|seen| seen.after(format_args!("after {said} bytes that one did not read")))?;
        said += chunk.len();
    }
    Ok(said)
}

fn alone(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let _slow = stage.connect(&server)?;
    let mut clients = join(stage, &server, 3)?;
    talk(&mut clients)?;
    clients.extend(join(stage, &server, 1)?);
    say(&mut clients, 3, b"and who comes now is served too\n")?;
    Ok(Verdict::Holds)
}

fn closed(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut slow = join(stage, &server, 1)?.remove(0);
    let mut clients = join(stage, &server, 2)?;
    let said = talk(&mut clients)?;
    let mut read = 0;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match slow.receive(&mut buffer)? {
            Received::Bytes(count) => read += count,
            Received::End | Received::Reset => break,
            Received::Nothing => {
                return Failure::of(format!(
                    "after {said} bytes it is still open, and {read} of them were kept for it"
                ));
            }
        }
    }
    if read >= said {
        return Failure::of(format!("all {said} bytes were kept for it"));
    }
    Ok(Verdict::Holds)
}
