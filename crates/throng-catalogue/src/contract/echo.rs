//! The workload `echo`: every byte comes back, in order, and the end of input is answered by the end of output.

use throng_record::ContractException;

use super::clause::{Clause, Outcome, Verdict};
use super::client::pattern;
use super::stage::Stage;

/// Sizes of what is sent by one that reads late: little enough for the kernel to hold most of it, and too much.
pub(super) const READ_LATE: [usize; 2] = [300_000, 8_000_000];

pub(super) const CLAUSES: [Clause; 7] = [
    Clause::core(
        "one-byte-at-a-time",
        one_byte_at_a_time,
        "bytes that come one at a time come back one at a time",
    ),
    Clause::core(
        "any-pieces",
        any_pieces,
        "bytes come back in order whatever the pieces in which they come",
    ),
    Clause::core(
        "pipelined",
        pipelined,
        "20,000 messages that are sent without waiting come back in order",
    ),
    Clause::core(
        "one-mebibyte",
        one_mebibyte,
        "1 MiB comes back while it is being sent",
    ),
    Clause::core(
        "whoever-leaves",
        whoever_leaves,
        "who leaves makes room for others, with and without having said anything",
    ),
    Clause::core(
        "half-close-empty",
        half_close_empty,
        "the end of input is answered by the end of output where nothing came before",
    )
    .under(ContractException::HalfClose),
    Clause::core(
        "half-close-after-bytes",
        half_close_after_bytes,
        "the end of input is answered by the rest of the echo, and then by the end of output",
    )
    .under(ContractException::HalfClose),
];

fn one_byte_at_a_time(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    for byte in b"hello, world\n\0\r\n\xff".iter().cycle().take(200) {
        client.echo(&[*byte])?;
    }
    Ok(Verdict::Holds)
}

fn any_pieces(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    for size in [2, 6, 1000, 4095, 4096, 4097, 16_385, 65_537] {
        let message = pattern(size);
        client
            .echo_while_sending(&message, false)
            .map_err(|seen| seen.after(format_args!("a message of {size} bytes")))?;
    }
    Ok(Verdict::Holds)
}

fn pipelined(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    let messages: String = (0..20_000).map(|number| format!("{number:06}\n")).collect();
    client.echo_while_sending(messages.as_bytes(), false)?;
    Ok(Verdict::Holds)
}

fn one_mebibyte(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    client.echo_while_sending(&pattern(1 << 20), false)?;
    Ok(Verdict::Holds)
}

fn whoever_leaves(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    for round in 0..50 {
        let mut client = stage.connect(&server)?;
        if round % 2 == 1 {
            client.echo(b"hello\n")?;
        }
    }
    stage.connect(&server)?.echo(b"the last\n")?;
    Ok(Verdict::Holds)
}

fn half_close_empty(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    client.end_output()?;
    client.expect_end()?;
    Ok(Verdict::Holds)
}

fn half_close_after_bytes(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    for size in [6, 65_536, 1 << 20] {
        let mut client = stage.connect(&server)?;
        client
            .echo_while_sending(&pattern(size), true)
            .and_then(|()| client.expect_end())
            .map_err(|seen| seen.after(format_args!("{size} bytes and the end of input")))?;
    }
    for size in READ_LATE {
        let mut client = stage.connect(&server)?;
        client
            .echo_read_late(&pattern(size))
            .and_then(|()| client.expect_end())
            .map_err(|seen| {
                seen.after(format_args!(
                    "{size} bytes and the end of input, before anything is read"
                ))
            })?;
    }
    Ok(Verdict::Holds)
}
