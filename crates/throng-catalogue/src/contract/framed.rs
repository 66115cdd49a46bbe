//! The workload `framed`: requests and replies of JSON behind their length.

use serde::Deserialize;
use throng_record::ContractException::OneRequest;

use super::clause::{Clause, Outcome, Verdict};
use super::client::{Client, quoted};
use super::counting::counts;
use super::stage::{Failure, Stage};

pub(super) const CLAUSES: [Clause; 7] = [
    Clause::core(
        "keep-alive",
        keep_alive,
        "a frame is answered by a frame with the code 200 and a text, one after another on a connection; what it holds beside `count` is not looked at",
    )
    .under(OneRequest),
    Clause::core(
        "longest-frame",
        longest,
        "a frame of 65,536 bytes is answered",
    ),
    Clause::core(
        "frame-in-pieces",
        in_pieces,
        "a frame that comes byte by byte is answered as one that comes whole",
    ),
    Clause::core(
        "frames-together",
        together,
        "frames that come together are answered in order",
    )
    .under(OneRequest),
    Clause::core(
        "count",
        count,
        "`{\"count\": N}` counts to N in a loop that the compiler has not removed",
    ),
    Clause::core(
        "malformed",
        malformed,
        "a frame that is no object, and a `count` that is no whole number from 0, get the code 400, and the connection lives",
    ),
    Clause::core(
        "too-long",
        too_long,
        "a length above 65,536 gets the code 400 and a close, and nobody else is harmed",
    ),
];

/// The longest frame that must be served.
const LONGEST: usize = 65_536;
const REPLY_BYTES_MAX: usize = 64 * 1024;

#[derive(Deserialize)]
struct Reply {
    code: u16,
    #[serde(rename = "msg")]
    _msg: String,
}

/// A frame with this inside.
pub(super) fn frame(inside: &[u8]) -> Vec<u8> {
    let length = inside.len() as u32;
    [&length.to_be_bytes(), inside].concat()
}

fn counting(count: u64) -> Vec<u8> {
    frame(format!("{{\"count\": {count}}}").as_bytes())
}

/// Reads a reply with this code, and nothing of the next.
fn expect(client: &mut Client, code: u16) -> Result<(), Failure> {
    let mut prefix = [0; 4];
    client.expect_any(&mut prefix)?;
    let length = u32::from_be_bytes(prefix) as usize;
    if length > REPLY_BYTES_MAX {
        return Failure::of(format!("a reply of {length} bytes ({})", quoted(&prefix)));
    }
    let mut inside = vec![0; length];
    client.expect_any(&mut inside)?;
    match serde_json::from_slice(&inside) {
        Ok(Reply { code: found, .. }) if found == code => Ok(()),
        Ok(Reply { code: found, .. }) => Failure::of(format!(
            "code {found} in {}, {code} is due",
            quoted(&inside)
        )),
        Err(error) => Failure::of(format!(
            "{} is no reply with a code and a msg: {error}",
            quoted(&inside)
        )),
    }
}

/// Sends a frame, and reads the code 200.
pub(super) fn is_ok(client: &mut Client, request: &[u8]) -> Result<(), Failure> {
    client.send(request)?;
    expect(client, 200).map_err(|seen| seen.after(quoted(&request[..request.len().min(40)])))
}

fn keep_alive(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    for inside in [
        "{}",
        r#"{"count": 1000}"#,
        r#"{"name": "throng", "list": [1, {"a": null}], "count": 7}"#,
        " {\"count\" : 2}\n",
        "{\"text\": \"\u{e4}\u{4e16}\\u00e4\"}",
        "{}",
    ] {
        is_ok(&mut client, &frame(inside.as_bytes()))?;
    }
    Ok(Verdict::Holds)
}

fn longest(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let padding = "x".repeat(LONGEST - r#"{"padding": "", "count": 3}"#.len());
    let inside = format!(r#"{{"padding": "{padding}", "count": 3}}"#);
    is_ok(&mut stage.connect(&server)?, &frame(inside.as_bytes()))?;
    Ok(Verdict::Holds)
}

fn in_pieces(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    for byte in counting(5).chunks(1) {
        client.send(byte)?;
    }
    expect(&mut client, 200)?;
    Ok(Verdict::Holds)
}

/// The one in the middle tells their order.
fn together(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    let (good, bad) = (counting(10), frame(b"no JSON"));
    // With the beginning of a sixth.
    client.send(&[&good[..], &good, &bad, &good, &good, &good[..6]].concat())?;
    for (number, code) in [200, 200, 400, 200, 200].into_iter().enumerate() {
        expect(&mut client, code)
            .map_err(|seen| seen.after(format_args!("{} of 5 together", number + 1)))?;
    }
    client.send(&good[6..])?;
    expect(&mut client, 200)?;
    Ok(Verdict::Holds)
}

fn count(stage: &Stage<'_>) -> Outcome {
    counts(stage, |client, count| is_ok(client, &counting(count)))
}

fn malformed(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    for inside in [
        "",
        "{",
        "nonsense",
        "[1]",
        "7",
        r#"{"count": -1}"#,
        r#"{"count": 1.5}"#,
        r#"{"count": "7"}"#,
        "\u{0}\u{1}",
    ] {
        let mut client = stage.connect(&server)?;
        client.send(&frame(inside.as_bytes()))?;
        expect(&mut client, 400).map_err(|seen| seen.after(quoted(inside.as_bytes())))?;
        if !stage.connections_last() {
            continue;
        }
        is_ok(&mut client, &counting(1)).map_err(|seen| {
            seen.after(format_args!("the one behind {}", quoted(inside.as_bytes())))
        })?;
    }
    Ok(Verdict::Holds)
}

fn too_long(stage: &Stage<'_>) -> Outcome {
    let mut server = stage.start()?;
    for length in [LONGEST as u32 + 1, 1 << 31, u32::MAX] {
        let mut client = stage.connect(&server)?;
        client.send(&[&length.to_be_bytes()[..], b"{\"count\": 1}"].concat())?;
        expect(&mut client, 400)
            .and_then(|()| client.expect_end())
            .map_err(|seen| seen.after(format_args!("a length of {length}")))?;
    }
    is_ok(&mut stage.connect(&server)?, &counting(1))?;
    server.lives()?;
    Ok(Verdict::Holds)
}
