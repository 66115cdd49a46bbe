//! The workload `http`: requests, however they come, and when the connection closes.

use std::time::Instant;

use throng_record::ContractException;

use super::clause::{Clause, Outcome, Verdict};
use super::counting::counts;
use super::http_text::{PLAIN, get};
use super::http_text::{expect_ok, is_ok};
use super::stage::Stage;
use super::waiting::lasted;

pub(super) const CLAUSES: [Clause; 7] = [
    Clause::core(
        "keep-alive",
        keep_alive,
        "GET is answered by 200 with a Content-Length and the body `ok`, one after another on a connection, whatever the path",
    ),
    Clause::core(
        "byte-by-byte",
        byte_by_byte,
        "a request that comes byte by byte is answered as one that comes whole",
    ),
    Clause::core(
        "pipelined",
        pipelined,
        "requests that come together are answered in order, though the first waits",
    )
    .under(ContractException::Pipelining),
    Clause::core(
        "connection-close",
        connection_close,
        "`Connection: close` closes after the answer",
    ),
    Clause::core(
        "http-1.0",
        http_1_0,
        "HTTP/1.0 without keep-alive closes after the answer",
    ),
    Clause::core(
        "count",
        count,
        "`count=N` counts to N in a loop that the compiler has not removed",
    ),
    Clause::core(
        "usual-delay",
        usual_delay,
        "`--delay-ms` is how long a request waits that does not say itself",
    ),
];

fn keep_alive(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    for path in [
        "/",
        "/a/b?x=1",
        "/?count=1000",
        "/?delay=5",
        "/?delay=1.5&count=7",
        "/",
    ] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: throng\r\nUser-Agent: throng\r\nAccept: */*\r\n\r\n"
        );
        is_ok(&mut client, request.as_bytes())?;
    }
    Ok(Verdict::Holds)
}

fn byte_by_byte(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    for request in [PLAIN, &get("count=10")] {
        for byte in request {
            client.send(&[*byte])?;
            // So that they come as several: the server has a turn.
            std::thread::yield_now();
        }
        expect_ok(&mut client)?;
    }
    Ok(Verdict::Holds)
}

fn pipelined(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    let begin = Instant::now();
    client.send(&[&get("delay=400"), PLAIN, &get("delay=1.5")].concat())?;
    for number in 1..=3 {
        expect_ok(&mut client)
            .map_err(|seen| seen.after(format_args!("response {number} of 3")))?;
        // One of the others would be there at once.
        lasted(begin.elapsed(), 400)?;
    }
    Ok(Verdict::Holds)
}

fn connection_close(stage: &Stage<'_>) -> Outcome {
    closes_after(
        stage,
        b"GET / HTTP/1.1\r\nHost: throng\r\nConnection: close\r\n\r\n",
    )
}

fn http_1_0(stage: &Stage<'_>) -> Outcome {
    closes_after(stage, b"GET / HTTP/1.0\r\n\r\n")
}

fn closes_after(stage: &Stage<'_>, request: &[u8]) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    is_ok(&mut client, request)?;
    client.expect_end()?;
    Ok(Verdict::Holds)
}

fn count(stage: &Stage<'_>) -> Outcome {
    counts(stage, |client, count| {
        is_ok(client, &get(&format!("count={count}")))
    })
}

fn usual_delay(stage: &Stage<'_>) -> Outcome {
    let server = stage.start_with(&["--delay-ms", "300.5"])?;
    let mut client = stage.connect(&server)?;
    let begin = Instant::now();
    is_ok(&mut client, PLAIN)?;
    lasted(begin.elapsed(), 300)?;
    // One that does say itself.
    is_ok(&mut client, &get("delay=0"))?;
    Ok(Verdict::Holds)
}
