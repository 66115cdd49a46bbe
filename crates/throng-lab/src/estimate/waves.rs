//! How long clients take that connect anew for each request: the least possible, and an allowance for the kernel's timers.
//!
//! The least is the service time of all requests, shared by as many as the server serves at once and the clients ask at once. Clients
//! that find the accept queue full come back when a timer has run out, in waves, all at nearly the same time. A wave lets about as
//! many in as the queue holds; if the server serves any number, it empties the queue meanwhile, and each wave is taken to let in twice
//! as many as the last. The timer is that of data that a client sends again (200 ms, doubling: a connection that a SYN cookie made is completed
//! by that), one step further than the number of waves; with `tcp_syn_linear_timeouts` 0 that of the SYN (1 s, doubling). Against the published
//! times and our own the result is 1 to 2.5 times too long. What a wave really lets in is chance: between runs it differs as much.

use std::time::Duration;

use throng_record::{Setting, TargetRecord};

use super::PER_CONNECTION;
use crate::plan::{BuiltInModel, ModelServes, ModelWorkers};

/// The first timeout of data that is not acknowledged, and of a SYN.
const DATA_TIMEOUT: Duration = Duration::from_millis(200);
const SYN_TIMEOUT: Duration = Duration::from_secs(1);
/// A single client that is sent away waits for a SYN timeout, and meets its like again.
const ALLOWANCE_LEAST: Duration = Duration::from_millis(1_500);
const LINEAR_TIMEOUTS: &str = "net.ipv4.tcp_syn_linear_timeouts";

/// How many requests a target serves at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtOnce {
    AnyNumber,
    AtMost(u32),
}

impl AtOnce {
    /// Nothing is known of servers that are not built in: one at a time takes longest.
    pub(super) fn of(
        target: &TargetRecord,
        model: Option<&BuiltInModel>,
        setting: &Setting,
    ) -> Self {
        let Some(model) = model else {
            return Self::AtMost(1);
        };
        let workers = target.options.workers.or(setting.workers);
        let has_loops = match model.serves_at_once {
            ModelServes::OnePerWorker { usual } => return Self::AtMost(workers.unwrap_or(usual)),
            ModelServes::AnyNumber => model.workers != ModelWorkers::NoChoice,
            ModelServes::About(_) => true,
        };
        let is_inline = setting.delay_inline || target.options.delay_inline;
        match model.serves_at_once {
            _ if has_loops && is_inline => {
                let cpus = setting.server_cpus.len().max(1) as u32;
                let usual = if model.uses_every_cpu { cpus } else { 1 };
                Self::AtMost(workers.unwrap_or(usual))
            }
            ModelServes::About(number) => Self::AtMost(number),
            _ => Self::AnyNumber,
        }
    }
}

/// All requests of one trial.
pub(super) fn requests(setting: &Setting, each: u64, at_once: AtOnce) -> Duration {
    let clients = u64::from(setting.connections);
    let served = match at_once {
        AtOnce::AnyNumber => clients,
        AtOnce::AtMost(number) => u64::from(number).min(clients),
    };
    let all = clients.saturating_mul(each);
    let service = Duration::from_nanos(setting.service_time_ns.unwrap_or(0));
    times(service, all.div_ceil(served.max(1)))
        .saturating_add(times(PER_CONNECTION, all))
        .saturating_add(allowance(setting, at_once))
}

/// For the clients that find the queue full.
fn allowance(setting: &Setting, at_once: AtOnce) -> Duration {
    let queue = setting.backlog.saturating_add(1);
    let held = match at_once {
        // All may come before the first is accepted.
        AtOnce::AnyNumber => queue,
        AtOnce::AtMost(number) => queue.saturating_add(number),
    };
    let excess = setting.connections.saturating_sub(held);
    if excess == 0 {
        return Duration::ZERO;
    }
    let waves = match at_once {
        AtOnce::AnyNumber => (f64::from(excess) / f64::from(queue)).ln_1p() / 2.0_f64.ln(),
        AtOnce::AtMost(_) => f64::from(excess) / f64::from(queue),
    };
    let waves = waves.ceil() as u32;
    let (timeout, steps) = match setting.kernel.get(LINEAR_TIMEOUTS).map(String::as_str) {
        Some("0") => (SYN_TIMEOUT, waves),
        _ => (DATA_TIMEOUT, waves.saturating_add(1)),
    };
    let most = setting.connect_timeout_ns.max(setting.reply_timeout_ns);
    timeout
        .saturating_mul(2_u32.saturating_pow(steps) - 1)
        .max(ALLOWANCE_LEAST)
        .min(Duration::from_nanos(most))
}

/// A sum that cannot overflow: a day is too long as well as any longer time.
fn times(length: Duration, count: u64) -> Duration {
    Duration::from_secs_f64((length.as_secs_f64() * count as f64).min(86_400.0))
}

#[cfg(test)]
mod tests {
    use throng_record::Stop;

    use super::*;
    use crate::plan::{PlanDraft, backlog_test_environment, model_of, resolve};

    /// Seconds of one trial, by the rules of this file alone.
    fn seconds(text: &str) -> f64 {
        let environment = backlog_test_environment();
        let text = format!("experiment = 'backlog'\n{text}");
        let draft = PlanDraft::parse(&text, "test").expect(&text);
        let plan = resolve(draft, &environment).expect(&text).plan;
        let (setting, target) = (&plan.settings[0], &plan.targets[0]);
        let Stop::MessagesEach(each) = setting.stop else {
            panic!("{:?}", setting.stop)
        };
        let at_once = AtOnce::of(target, model_of(&environment.models, target), setting);
        requests(setting, each, at_once).as_secs_f64()
    }

    #[test]
    fn without_a_full_queue_it_is_the_least_time_and_the_connects() {
        let connects = 160.0 * PER_CONNECTION.as_secs_f64();
        for (target, least) in [
            ("iterative", 6.4),
            ("thread-per-connection", 0.8),
            ("poll", 0.8),
            ("poll --delay-inline", 6.4),
            ("poll --delay-inline --workers 4", 1.6),
            ("thread-per-connection --delay-inline", 0.8),
        ] {
            let estimate = seconds(&format!(
                "targets = ['{target}']\nbacklog = 256\nclients = 8\nrequests = 20"
            ));
            let difference = estimate - least - connects;
            assert!(difference.abs() < 1e-3, "{target}: {estimate}");
        }
        let running = seconds("targets = ['tcp://127.0.0.1:9']\nclients = 5\nrequests = 32");
        assert!((running - 6.4 - connects).abs() < 1e-3, "{running}");
    }

    #[test]
    fn a_full_queue_costs_more_the_more_clients_it_sends_away() {
        // Published and measured: 6.6, 7.9, 7.2, 9.9 to 14.7, and 107 to 150 s.
        for (clients, least, most) in [
            (4, 6.4, 6.6),
            (8, 7.9, 8.0),
            (16, 7.2, 8.0),
            (32, 14.7, 20.0),
            (80, 107.0, 150.0),
            (160, 107.0, 150.0),
        ] {
            let estimate = seconds(&format!(
                "targets = ['iterative']\nrequests-total = 160\nclients = {clients}"
            ));
            assert!((least..most).contains(&estimate), "{clients}: {estimate}");
        }
        let doubling = seconds("targets = ['iterative']\n[kernel]\ntcp_syn_linear_timeouts = 0");
        assert!((32.7..45.0).contains(&doubling), "{doubling}");
    }

    #[test]
    fn a_server_for_any_number_empties_its_queue_between_the_waves() {
        // Published: 1.7, 0.45 or 1.5, 1.3 to 3.2, and 1.5 to 27 s.
        for (clients, least, most) in [
            (4, 1.6, 1.7),
            (16, 1.5, 2.0),
            (80, 3.2, 8.0),
            (160, 7.7, 27.5),
        ] {
            let estimate = seconds(&format!(
                "targets = ['thread-per-connection']\nrequests-total = 160\nclients = {clients}"
            ));
            assert!((least..most).contains(&estimate), "{clients}: {estimate}");
        }
    }
}
