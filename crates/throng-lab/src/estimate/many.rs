//! How long many connections take: opened, held or spoken to, and closed.
//!
//! Connects are cheap and add up: 22 s for a million at best. One after the other each also waits for the server's turn, and a thread or
//! a process for each costs more than the connection. Guessed at the slower end, as everything here.
//!
//! A server whose descriptors end before the connections costs most of all: those that it does not accept wait in its queue for an answer, and
//! those that find the queue full for theirs to a SYN. What closes them unserved, such as a server without threads, or fails at once, such as a
//! generator without ports, costs nothing besides. A limit that is not foreseen, of a server that is not built in, is not in the estimate.

use std::time::Duration;

use throng_record::{FanoutSpec, HoldSpec, Setting};

use crate::capacity::{Demand, Facts, shortages};
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
/// Connects that time out one after another before a thread of the generator begins no more (`WANTS_MAX` ÷ `UNANSWERED_WANTS` of throng-load).
const UNANSWERED_CONNECTS: u32 = 4;
/// Ending a server that has connections in its accept queue.
const END_OF_A_FULL_SERVER: Duration = Duration::from_secs(2);
const PING: Duration = Duration::from_micros(25);

/// What a trial waits for in vain, where the server is foreseen to accept fewer than all: answers to SYNs beyond its accept queue, then the
/// greetings or pings of those in it.
pub(super) fn waits(setting: &Setting, demand: &Demand, facts: &Facts) -> Duration {
    // Whichever limit is least ends it: behind one that fails or closes at once nobody waits.
    let short = shortages(demand, facts);
    let Some(shortage) = short.first().filter(|least| least.is_waited_for) else {
        return Duration::ZERO;
    };
    let held = shortage
        .holds_about
        .saturating_add(u64::from(setting.backlog) + 1);
    let unanswered = u64::from(setting.connections).saturating_sub(held);
    let of_shard = u64::from(setting.connections).div_ceil(setting.shards.max(1).into());
    let at_a_time = match setting.connect_concurrency {
        1 => 1,
        _ => setting.generator_cpus.len().max(1) as u64,
    };
    let turns = unanswered.div_ceil(of_shard.max(1)).div_ceil(at_a_time);
    let rounds = UNANSWERED_CONNECTS.div_ceil(setting.connect_concurrency.max(1));
    let connects = u32::try_from(turns)
        .unwrap_or(u32::MAX)
        .saturating_mul(rounds);
    Duration::from_nanos(setting.connect_timeout_ns)
        .saturating_mul(connects)
        .saturating_add(Duration::from_nanos(setting.reply_timeout_ns))
        .saturating_add(END_OF_A_FULL_SERVER)
        .min(times(Duration::from_secs(1), 86_400.0))
}

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
    use crate::capacity::Facts;
    use crate::estimate;
    use crate::plan::{PlanDraft, many_test_environment, resolve};

    fn seconds(text: &str) -> f64 {
        seconds_within(text, &Facts::without_limits())
    }

    fn seconds_within(text: &str, facts: &Facts) -> f64 {
        let environment = many_test_environment();
        let draft = PlanDraft::parse(text, "test").expect(text);
        let plan = resolve(draft, &environment).expect(text).plan;
        estimate(&plan, &environment.models, facts).as_secs_f64()
    }

    #[test]
    fn a_million_held_and_pinged_take_more_than_a_minute_and_less_than_two() {
        let held = seconds("experiment = 'hold'\nconnections = 1_000_000\npings = 'all'");
        assert!((60.0..90.0).contains(&held), "{held}");
        let paced = seconds("experiment = 'hold'\nconnections = 1_000_000\nconnect-rate = 10_000");
        assert!((100.0..130.0).contains(&paced), "{paced}");
    }

    #[test]
    fn connections_that_a_server_is_foreseen_to_leave_waiting_take_the_timeouts() {
        let facts = Facts {
            open_files_hard: 20_000,
            max_map_count: Some(65_530),
            ..Facts::without_limits()
        };
        let of = |connections: &str, target: &str, backlog: &str| {
            let text = format!(
                "experiment = 'fanout'\nrepeats = 1\nconnections = {connections}\ntargets = ['{target}']\nbacklog = {backlog}\nconnect-timeout = '4s'\ntimeout = '10s'"
            );
            seconds_within(&text, &facts) - seconds(&text)
        };
        let near = |seconds: f64, expected: f64| (seconds - expected).abs() < 1e-6;
        // 10 s for the greetings, 2 s for the end.
        let queued = of("20_500", "epoll-edge", "1024");
        assert!(near(queued, 12.0), "{queued}");
        // Before that four connects one after another, each of 4 s.
        let beyond = of("25_000", "epoll-edge", "1024");
        assert!(near(beyond, 28.0), "{beyond}");
        let whole = of("25_000", "epoll-shared", "1024");
        assert!(near(whole, 0.0), "{whole}");
        let closed = of("25_000", "two-threads-per-connection", "1024");
        assert!(near(closed, 0.0), "closed at once: {closed}");
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
