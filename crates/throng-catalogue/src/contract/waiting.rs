//! Delays of `http` and `oneshot`: they last, they burn nothing, and those of several connections run at the same time.

use std::time::{Duration, Instant};

use super::clause::{Clause, Outcome, Verdict};
use super::client::Client;
use super::http_text::expect_ok;
use super::http_text::get;
use super::stage::{Failure, Stage};

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
/// Where those of a second take too long it may be the machine that is busy: what it adds to longer ones is not more.
const DELAYS_MS: [u64; 2] = [DELAY_MS, 4 * DELAY_MS];
/// Within so many delays all are over. One after another, or in a few loops that sleep, they take many more.
const DELAYS_MAX: u32 = 4;

/// That something took at least so long. Timers count in ticks of a millisecond in some runtimes.
pub(super) fn lasted(took: Duration, delay_ms: u64) -> Result<(), Failure> {
    if took < Duration::from_millis(delay_ms - 1) {
        return Failure::of(format!(
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
    together(|delay_ms| {
        let request = get(&format!("delay={delay_ms}"));
        all_wait(stage, &[], &request, delay_ms, expect_ok)
    })
}

/// Tries it with longer delays where shorter ones do not show it.
pub(super) fn together(mut with_delay_ms: impl FnMut(u64) -> Outcome) -> Outcome {
    let [short, long] = DELAYS_MS;
    with_delay_ms(short).or_else(|_| with_delay_ms(long))
}

/// Many connections each ask for an answer that waits for so long.
pub(super) fn all_wait(
    stage: &Stage<'_>,
    flags: &[&str],
    request: &[u8],
    delay_ms: u64,
    answer: fn(&mut Client) -> Result<(), Failure>,
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
        if begin.elapsed() > DELAYS_MAX * Duration::from_millis(delay_ms) {
            return Failure::of(format!(
                "{} of {count} answers, each of which waits {delay_ms} ms, after {:?}",
                number + 1,
                begin.elapsed()
            ));
        }
    }
    lasted(begin.elapsed(), delay_ms)?;
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
        return Failure::of(format!(
            "{} ms of CPU time in a delay of {DELAY_MS} ms",
            used_ns / 1_000_000
        ));
    }
    Ok(Verdict::Holds)
}
