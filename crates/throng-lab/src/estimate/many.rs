//! How long many connections take: opened, held or spoken to, and closed.
//!
//! Connects are cheap and add up: 22 s for a million at best. One after the other each also waits for the server's turn, and a thread or
//! a process for each costs more than the connection. Guessed at the slower end, as everything here.

use std::time::Duration;

use throng_record::{FanoutSpec, HoldSpec, Setting};

use crate::plan::{BuiltInModel, PerConnection};

/// A connect among many in flight, and one that begins when the last has ended.
const CONNECT: Duration = Duration::from_micros(30);
const CONNECT_IN_TURN: Duration = Duration::from_micros(60);
const CLOSE: Duration = Duration::from_micros(15);
/// Starting a thread or process and ending it.
const PER_THREAD: Duration = Duration::from_micros(100);
const PER_PROCESS: Duration = Duration::from_micros(400);
/// A line out of one connection; where a thread is woken for it, more.
const DELIVERY: Duration = Duration::from_micros(10);
const DELIVERY_BY_THREAD: Duration = Duration::from_micros(20);
const PING: Duration = Duration::from_micros(25);

/// Connects, the hold, the pings, and the close.
pub(super) fn hold(setting: &Setting, spec: &HoldSpec, model: Option<&BuiltInModel>) -> Duration {
    opened_and_closed(setting, model)
        .saturating_add(Duration::from_nanos(spec.hold_ns))
        .saturating_add(PING.saturating_mul(spec.pings))
}

/// Connects, the greetings, a line to all, lines at a rate, and the close.
pub(super) fn fanout(
    setting: &Setting,
    spec: &FanoutSpec,
    model: Option<&BuiltInModel>,
) -> Duration {
    let connections = f64::from(setting.connections);
    let threads = match model.map(|model| model.each) {
        Some(PerConnection::Threads(threads)) => threads,
        _ => 0,
    };
    let delivery = if threads > 0 {
        DELIVERY_BY_THREAD
    } else {
        DELIVERY
    };
    let single = if spec.greeting.is_some() { 2.0 } else { 1.0 };
    let sustained = spec.sustain.map_or(Duration::ZERO, |sustain| {
        let asked = Duration::from_nanos(sustain.duration_ns);
        let lines = sustain.rate_per_second * asked.as_secs_f64();
        // What cannot be delivered in time is still awaited.
        asked.max(times(delivery, lines * connections))
    });
    opened_and_closed(setting, model)
        .saturating_add(times(delivery, single * connections))
        .saturating_add(sustained)
}

fn opened_and_closed(setting: &Setting, model: Option<&BuiltInModel>) -> Duration {
    let connections = f64::from(setting.connections);
    let connect = match setting.connect_concurrency {
        1 => CONNECT_IN_TURN,
        _ => CONNECT,
    };
    let each = match model.map(|model| model.each) {
        Some(PerConnection::Threads(threads)) => PER_THREAD.saturating_mul(threads),
        Some(PerConnection::Process) => PER_PROCESS,
        Some(PerConnection::State) | None => Duration::ZERO,
    };
    let connects = times(connect, connections);
    let paced = setting
        .connect_rate_per_second
        .map_or(Duration::ZERO, |rate| {
            times(Duration::from_secs(1), connections / rate)
        });
    connects
        .max(paced)
        .saturating_add(times(CLOSE + each, connections))
}

/// A product that cannot overflow a sum: a day is too long as well as any longer time.
fn times(length: Duration, count: f64) -> Duration {
    Duration::from_secs_f64((length.as_secs_f64() * count).min(86_400.0))
}

#[cfg(test)]
mod tests {
    use crate::estimate;
    use crate::plan::{PlanDraft, many_test_environment, resolve};

    fn seconds(text: &str) -> f64 {
        let environment = many_test_environment();
        let draft = PlanDraft::parse(text, "test").expect(text);
        let plan = resolve(draft, &environment).expect(text).plan;
        estimate(&plan, &environment.models).as_secs_f64()
    }

    #[test]
    fn a_million_held_and_pinged_take_more_than_a_minute_and_less_than_two() {
        let held = seconds("experiment = 'hold'\nconnections = 1_000_000\npings = 'all'");
        assert!((60.0..90.0).contains(&held), "{held}");
        let paced = seconds("experiment = 'hold'\nconnections = 1_000_000\nconnect-rate = 10_000");
        assert!((100.0..130.0).contains(&paced), "{paced}");
    }

    #[test]
    fn threads_take_longer_and_lines_at_a_rate_take_their_time() {
        let of = |text: &str| {
            seconds(&format!(
                "experiment = 'fanout'\nrepeats = 1\nconnections = 10_000\n{text}"
            ))
        };
        let one = of("targets = ['epoll-edge']");
        assert!((0.5..2.0).contains(&one), "{one}");
        let threads = of("targets = ['two-threads-per-connection']");
        assert!(threads > one + 1.0, "{threads}");
        let short = of("targets = ['epoll-edge']\nrate = 1\nduration = '30s'");
        assert!((30.0..33.0).contains(&short), "{short}");
        let overloaded = of("targets = ['epoll-edge']\nrate = 1000\nduration = '1s'");
        assert!(overloaded > 90.0, "{overloaded}");
    }
}
