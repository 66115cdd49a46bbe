//! Malformed requests of `http`: refused, and a close.

use throng_record::ContractException;

use super::clause::{Clause, Outcome, Verdict};
use super::client::quoted;
use super::http_text;
use super::http_text::PLAIN;
use super::stage::{Failure, Stage};

pub(super) const CLAUSES: [Clause; 2] = [
    Clause::core(
        "malformed",
        malformed,
        "a request line or a header that is none, and a `delay` or `count` that is no number, get 400 (431 and 505 pass too) and a close",
    )
    .under(ContractException::Malformed),
    Clause::core(
        "after-malformed",
        after_malformed,
        "a malformed request ends its connection at most, and nothing else",
    ),
];

const MALFORMED: [&[u8]; 7] = [
    b"NONSENSE\r\n\r\n",
    b"\x00\x01\x02\xff\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: throng\r\nno colon here\r\n\r\n",
    b"GET /?delay=abc HTTP/1.1\r\nHost: throng\r\n\r\n",
    b"GET /?delay=-1 HTTP/1.1\r\nHost: throng\r\n\r\n",
    b"GET /?count=x HTTP/1.1\r\nHost: throng\r\n\r\n",
    b"GET /?count=-1 HTTP/1.1\r\nHost: throng\r\n\r\n",
];
/// Bad Request; Request Header Fields Too Large and HTTP Version Not Supported, which some parsers make of these.
const REFUSALS: [u16; 3] = [400, 431, 505];
const WRONG_TOLD_MAX: usize = 2;
const ANSWER_BYTES_MAX: usize = 64 * 1024;

fn malformed(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut wrong = Vec::new();
    for request in MALFORMED {
        let mut client = stage.connect(&server)?;
        client.send(request)?;
        let answer = client.read_to_end(ANSWER_BYTES_MAX);
        let is_refused = answer.as_ref().is_ok_and(|answer| {
            let text = String::from_utf8_lossy(answer);
            let status = http_text::status(text.lines().next().unwrap_or_default());
            status.is_some_and(|status| REFUSALS.contains(&status))
        });
        if !is_refused {
            let answer = answer.map_or_else(|seen| seen.0, |answer| quoted(&answer));
            wrong.push(format!("{} got {answer}", quoted(request)));
        }
        // Each may have been waited for.
        if wrong.len() == WRONG_TOLD_MAX {
            break;
        }
    }
    if wrong.is_empty() {
        Ok(Verdict::Holds)
    } else {
        Failure::of(wrong.join("; "))
    }
}

fn after_malformed(stage: &Stage<'_>) -> Outcome {
    let mut server = stage.start()?;
    let mut bystander = None;
    if server.at_most(2) == 2 {
        bystander = Some(stage.connect(&server)?);
    }
    for request in MALFORMED {
        stage.connect(&server)?.send(request)?;
        if let Some(bystander) = &mut bystander {
            http_text::is_ok(bystander, PLAIN)?;
        }
    }
    drop(bystander);
    http_text::is_ok(&mut stage.connect(&server)?, PLAIN)?;
    server.lives()?;
    Ok(Verdict::Holds)
}
