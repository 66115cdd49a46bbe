//! The workload `oneshot`: one answer to what the first read brings, and the server closes first.

use std::time::Instant;

use super::clause::{Clause, Outcome, Verdict};
use super::client::quoted;
use super::stage::{Failure, Stage};
use super::waiting::{all_wait, lasted, together};

pub(super) const CLAUSES: [Clause; 4] = [
    Clause::core(
        "answers-and-closes",
        answers_and_closes,
        "whatever comes first is answered by the 23 bytes, and the server closes first",
    ),
    Clause::core(
        "answer-waits",
        answer_waits,
        "the answer waits for `--delay-ms`",
    ),
    Clause::core(
        "delays-together",
        delays_together,
        "the delays of several connections run at the same time",
    ),
    Clause::core(
        "silence",
        silence,
        "who closes without a byte gets no answer",
    ),
];

pub(super) const ANSWER: &[u8; 23] = b"HTTP/1.1 200 OK\r\n\r\nok\r\n";
/// What the published client sent: without an end, so that nobody waits for more.
const QUESTION: &[u8; 14] = b"GET / HTTP/1.1";

fn answers_and_closes(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    for question in [
        &QUESTION[..],
        b"x",
        b"\0\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut client = stage.connect(&server)?;
        client.send(question)?;
        client
            .expect(ANSWER)
            .and_then(|()| client.expect_end())
            .map_err(|seen| seen.after(quoted(question)))?;
    }
    Ok(Verdict::Holds)
}

fn answer_waits(stage: &Stage<'_>) -> Outcome {
    let server = stage.start_with(&["--delay-ms", "300.5"])?;
    for _ in 0..2 {
        let mut client = stage.connect(&server)?;
        let begin = Instant::now();
        client.send(QUESTION)?;
        client.expect(ANSWER)?;
        lasted(begin.elapsed(), 300)?;
        client.expect_end()?;
    }
    Ok(Verdict::Holds)
}

fn delays_together(stage: &Stage<'_>) -> Outcome {
    together(|delay_ms| {
        let flags = ["--delay-ms", &delay_ms.to_string()];
        all_wait(stage, &flags, QUESTION, delay_ms, |client| {
            client.expect(ANSWER)
        })
    })
}

fn silence(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    for _ in 0..3 {
        drop(stage.connect(&server)?);
        let mut client = stage.connect(&server)?;
        client.end_output()?;
        let answer = client.read_to_end(ANSWER.len())?;
        if !answer.is_empty() {
            return Failure::of(quoted(&answer));
        }
    }
    let mut client = stage.connect(&server)?;
    client.send(QUESTION)?;
    client.expect(ANSWER)?;
    Ok(Verdict::Holds)
}
