//! How long a plan will take, told before it starts.
//!
//! The lengths that the plan states, plus what launching, connecting and ending usually take. A stop by count
//! is guessed at a modest server's rate, and a stop by confidence at its bound: an estimate, better too long than too short.
//! Where each message has a connection of its own, the server's time and the kernel's timers decide; see [`waves`]. Where many connections are
//! themselves the question, see [`many`]; where this machine is foreseen to have no room for them, a run also waits for its timeouts.

mod many;
mod waves;

use std::time::Duration;

use throng_record::{
    AcceptSpec, Amount, ConnectionUse, Multiplexer, Pacing, Plan, Setting, Stop, TargetKind,
    TargetRecord, Work,
};

use crate::capacity::{Demand, Facts};
use crate::lifetime::units;
use crate::plan::{BuiltInModel, model_of};
use crate::target::multiplexer;
use waves::AtOnce;

/// Starting and ending a generator, observing, and keeping the record.
const PER_TRIAL: Duration = Duration::from_millis(50);
/// Launching a server, waiting until it listens, and ending it.
const PER_LAUNCH: Duration = Duration::from_millis(30);
/// Opening and closing one connection over loopback, at the slower end.
const PER_CONNECTION: Duration = Duration::from_micros(100);
/// Looking at one idle descriptor in a wait that looks at all of them, at the slower end: ten thousand sockets do not fit into the caches.
const PER_LOOK: Duration = Duration::from_nanos(450);
/// `select(2)` knows no descriptor from here on.
const FD_SETSIZE: u64 = 1_024;
/// The record is written anew after each trial: for each trial that it holds already.
const PER_KEPT_TRIAL: Duration = Duration::from_micros(100);
/// Messages per second of a modest server, where nothing better is known, and where each has a connection of its own.
const MODEST_RATE: f64 = 50_000.0;
const MODEST_CYCLE_RATE: f64 = 5_000.0;

/// The expected length of the whole plan, whose built-in targets are of these models, on a machine with these limits.
#[must_use]
pub fn estimate(plan: &Plan, models: &[BuiltInModel], facts: &Facts) -> Duration {
    let of_target = |target: &TargetRecord| {
        let model = model_of(models, target);
        let waits =
            |setting| many::waits(setting, &Demand::of(plan, target, setting, models), facts);
        plan.settings
            .iter()
            .map(
                |setting| match multiplexer::spec(target, setting.connections) {
                    Some(spec) => PER_TRIAL.saturating_add(accepting(spec)),
                    None => match &setting.work {
                        Work::Fanout(spec) => (PER_TRIAL + many::fanout(setting, spec, model))
                            .saturating_add(waits(setting)),
                        Work::Hold(spec) => (PER_TRIAL + many::hold(setting, spec, model))
                            .saturating_add(waits(setting)),
                        Work::Exchange | Work::Accept(_) => {
                            trial(setting, AtOnce::of(target, model, setting))
                        }
                    },
                },
            )
            .fold(Duration::ZERO, Duration::saturating_add)
    };
    let pass = plan
        .targets
        .iter()
        .map(of_target)
        .fold(Duration::ZERO, Duration::saturating_add)
        .saturating_add(PER_LAUNCH.saturating_mul(launches(plan)));
    pass.saturating_mul(plan.repeats)
        .saturating_add(keeping(crate::order::trials(plan)))
}

/// Servers that are launched in one repeat.
fn launches(plan: &Plan) -> u32 {
    let is_launched = |target: u32| {
        let kind = plan.targets[target as usize].kind;
        !matches!(kind, TargetKind::Running | TargetKind::Multiplexer)
    };
    let units = units(plan);
    let launched = units.iter().filter(|unit| is_launched(unit.target));
    launched.count() as u32
}

/// Writing a record that grows by one trial at a time.
fn keeping(trials: u32) -> Duration {
    let written = f64::from(trials) * f64::from(trials) / 2.0;
    // A day is "too long" as well as any longer time, and cannot overflow a sum.
    Duration::from_secs_f64((PER_KEPT_TRIAL.as_secs_f64() * written).min(86_400.0))
}

/// One trial, without the launch.
fn trial(setting: &Setting, at_once: AtOnce) -> Duration {
    let exchange = match (setting.connection, setting.stop) {
        (ConnectionUse::PerMessage { .. }, Stop::MessagesEach(requests)) => {
            waves::requests(setting, requests, at_once)
        }
        _ => exchange(setting),
    };
    (PER_TRIAL + PER_CONNECTION * setting.connections).saturating_add(exchange)
}

/// Connecting, and two waits with each number of idle connections.
fn accepting(spec: AcceptSpec) -> Duration {
    let asked = u64::from(spec.connections);
    // A wait that looks at every descriptor: at half of them on average, or at room for all.
    let (connections, looked_at) = match spec.multiplexer {
        Multiplexer::Select => (asked.min(FD_SETSIZE), asked.min(FD_SETSIZE) / 2),
        Multiplexer::Poll if spec.published => (asked, asked),
        Multiplexer::Poll => (asked, asked / 2),
        Multiplexer::EpollLevel | Multiplexer::EpollEdge | Multiplexer::IoUring => (asked, 0),
    };
    let waits_seconds = PER_LOOK.as_secs_f64() * 2.0 * connections as f64 * looked_at as f64;
    // A day is "too long" as well as any longer time.
    Duration::from_secs_f64(
        (PER_CONNECTION.as_secs_f64() * connections as f64 + waits_seconds).min(86_400.0),
    )
}

/// Warm-up and measurement of one trial.
fn exchange(setting: &Setting) -> Duration {
    let warmup = match setting.warmup {
        Amount::Messages(messages) => by_count(setting, messages),
        Amount::DurationNs(length_ns) => Duration::from_nanos(length_ns),
    };
    let measured = match setting.stop {
        Stop::Messages(messages) => by_count(setting, messages),
        Stop::MessagesEach(messages) => {
            by_count(setting, messages.saturating_mul(setting.connections.into()))
        }
        Stop::DurationNs(length_ns) => Duration::from_nanos(length_ns),
        Stop::Confidence {
            max_duration_ns, ..
        } => Duration::from_nanos(max_duration_ns),
    };
    warmup.saturating_add(measured)
}

/// How long so many messages are guessed to take.
pub(crate) fn by_count(setting: &Setting, messages: u64) -> Duration {
    let rate = match setting.pacing {
        Pacing::Open {
            rate_per_second, ..
        } => rate_per_second,
        _ if setting.connection != ConnectionUse::Kept => MODEST_CYCLE_RATE,
        Pacing::Closed { .. } | Pacing::Lockstep { .. } => MODEST_RATE,
    };
    Duration::from_secs_f64((messages as f64 / rate).min(86_400.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanDraft, resolve, test_environment};

    fn estimate_of(text: &str) -> f64 {
        let draft = PlanDraft::parse(text, "test").expect(text);
        let plan = resolve(draft, &test_environment(2)).expect(text).plan;
        estimate(&plan, &test_environment(2).models, &Facts::without_limits()).as_secs_f64()
    }

    #[test]
    fn twenty_four_trials_that_took_56_seconds_are_estimated_a_little_longer() {
        let text = "targets = ['thread-per-connection', 'poll', 'epoll-edge', 'io-uring']\nwarmup = '300ms'\nduration = '2s'";
        let estimate = estimate_of(text);
        assert!((56.5..60.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn a_wait_that_looks_at_all_of_ten_thousand_takes_seconds_and_others_hardly_any() {
        let of = |targets: &str| {
            estimate_of(&format!(
                "experiment = 'accept'\nrepeats = 1\nconnections = 10000\ntargets = [{targets}]"
            ))
        };
        let epoll = of("'epoll-edge'");
        assert!((0.5..2.0).contains(&epoll), "{epoll}");
        assert!((40.0..60.0).contains(&of("'poll'")), "{}", of("'poll'"));
        assert!(of("'poll-published'") > 1.5 * of("'poll'"));
        assert!(of("'select'") < epoll, "it ends early");
    }

    #[test]
    fn every_setting_counts_and_a_shared_server_is_launched_once() {
        let text = "targets = ['poll']\nwarmup = '0s'\nrepeats = 1\nduration = ['1s', '3s']\nconnections = [1, 2, 3]";
        let apart = estimate_of(text);
        assert!((12.0..13.0).contains(&apart), "{apart}");
        let shared = estimate_of(&format!("server = 'per-sweep'\n{text}"));
        let saved = apart - shared;
        assert!(
            (saved - 5.0 * PER_LAUNCH.as_secs_f64()).abs() < 1e-6,
            "{saved}"
        );
    }
}
