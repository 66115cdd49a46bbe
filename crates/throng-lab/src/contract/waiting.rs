//! Delays of `http` and `oneshot`: they last, they burn nothing, and those of several connections run at the same time.

use std::time::{Duration, Instant};

use super::clause::{Clause, Outcome, Verdict};
use super::client::Client;
use super::http::get;
use super::response::expect_ok;
use super::stage::{Seen, Stage};

pub(super) const CLAUSES: [Clause; 3] = [
    Clause::core(
        "delay-lasts",
        delay_lasts,
        "`delay=MS` waits for so many milliseconds before the answer",
    ),
    Clause::core(
        "delays-together",
        delays_together,
        "the delays of several connections run at the same time",
    ),
    Clause::core(
        "delay-burns-nothing",
        delay_burns_nothing,
        "a delay burns no CPU time",
    ),
];

const CONNECTIONS: usize = 100;
/// With fewer places than this it cannot be told whether delays run at the same time or one after another.
const CONNECTIONS_LEAST: usize = 8;
const DELAY_MS: u64 = 1_000;
/// A delay, and what a busy machine adds to it. One after another, or in a few loops that sleep, they take much longer.
const TOGETHER_WITHIN: Duration = Duration::from_millis(DELAY_MS + 3_000);

/// That something took at least so long. Timers count in ticks of a millisecond in some runtimes.
pub(super) fn lasted(took: Duration, delay_ms: u64) -> Result<(), Seen> {
    if took < Duration::from_millis(delay_ms - 1) {
        return Seen::of(format!(
            "the answer came after {took:?}, {delay_ms} ms are due"
        ));
    }
    Ok(())
}

fn delay_lasts(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    for delay_ms in [500, 30] {
        let begin = Instant::now();
        client.send(&get(&format!("delay={delay_ms}")))?;
        expect_ok(&mut client)?;
        lasted(begin.elapsed(), delay_ms)?;
    }
    Ok(Verdict::Holds)
}

fn delays_together(stage: &Stage<'_>) -> Outcome {
    let request = get(&format!("delay={DELAY_MS}"));
    together(stage, &[], &request, expect_ok)
}

/// Many connections each ask for an answer that waits for a second.
pub(super) fn together(
    stage: &Stage<'_>,
    flags: &[&str],
    request: &[u8],
    answer: fn(&mut Client) -> Result<(), Seen>,
) -> Outcome {
    let server = stage.start_with(flags)?;
    let count = server.at_most(CONNECTIONS);
    if count < CONNECTIONS_LEAST {
        return Ok(Verdict::Moot(format!("it serves {count} at once")));
    }
    let mut clients = stage.connect_many(&server, count)?;
    let begin = Instant::now();
    clients
        .iter_mut()
        .try_for_each(|client| client.send(request))?;
    for (number, client) in clients.iter_mut().enumerate() {
        answer(client).map_err(|seen| seen.after(format_args!("{} of {count}", number + 1)))?;
        if begin.elapsed() > TOGETHER_WITHIN {
            return Seen::of(format!(
                "{} of {count} answers, each of which waits {DELAY_MS} ms, after {:?}",
                number + 1,
                begin.elapsed()
            ));
        }
    }
    lasted(begin.elapsed(), DELAY_MS)?;
    Ok(Verdict::Holds)
}

fn delay_burns_nothing(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    client.send(&get("delay=1"))?;
    expect_ok(&mut client)?;
    let before_ns = server.sample()?.cpu_ns;
    client.send(&get(&format!("delay={DELAY_MS}")))?;
    expect_ok(&mut client)?;
    let used_ns = server.sample()?.cpu_ns.saturating_sub(before_ns);
    // One that spins uses all of it, or what others on this machine leave it.
    if used_ns > DELAY_MS * 1_000_000 / 4 {
        return Seen::of(format!(
            "{} ms of CPU time in a delay of {DELAY_MS} ms",
            used_ns / 1_000_000
        ));
    }
    Ok(Verdict::Holds)
}
