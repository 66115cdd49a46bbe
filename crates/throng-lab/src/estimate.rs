//! How long a plan will take, told before it starts.
//!
//! The lengths that it states, and for what it counts the time that such things usually take: on a machine twice as fast the estimate is too long. Once
//! trials have ended, their pace corrects it. Where a limit of this machine ends a sweep of connections, one number beyond it is tried, with its timeouts, and
//! none after; so does a server that takes connections so slowly that the last in its accept queue is greeted too late. Not in it are other limits of a server's own.
//!
//! Clients that connect anew for each request wait for the kernel's timers where they find the accept queue full: they come back in waves, all at
//! nearly the same time. A wave lets about as many in as the queue holds; a server for any number empties it before the next, and each wave is
//! taken to let in twice as many as the last. The timer is that of data sent again (200 ms, doubling: a connection that a SYN cookie made is completed
//! by that), one step further than the number of waves; with `tcp_syn_linear_timeouts` 0 that of the SYN (1 s, doubling). What a wave lets in is chance, and
//! between runs it differs by a factor of two.

use std::collections::HashMap;
use std::time::Duration;

use throng_findings::Limits;
use throng_record::built_in::{ServesAtOnce, Workers};
use throng_record::{
    AcceptSpec, Amount, BuiltInModel, ConnectionUse, DeclaredModel, ExchangeSpec, Multiplexer,
    Pacing, PhaseName, PhaseSpec, Plan, Setting, Stop, TargetKind, TargetRecord,
};

use crate::capacity::{Demand, PerConnection, shortages};
use crate::lifetime::{Launch, units};
use crate::plan::model_of;
use crate::target::multiplexer;
use crate::tls;

// All in seconds.

/// Starting and ending a generator, observing, and keeping the record.
const PER_TRIAL: f64 = 100e-3;
/// Launching a server, waiting until it listens, and ending it.
const PER_LAUNCH: f64 = 30e-3;
/// The record is written anew after each trial: for each trial that it holds already.
const PER_KEPT_TRIAL: f64 = 100e-6;
/// Opening and closing a connection; among a crowd that is opened one after another, and with many connects in flight.
const PER_CONNECTION: f64 = 100e-6;
const IN_TURN: f64 = 75e-6;
const IN_FLIGHT: f64 = 45e-6;
/// Starting a thread or a process for a connection, and ending it.
const PER_THREAD: f64 = 100e-6;
const PER_PROCESS: f64 = 400e-6;
/// A line out of one connection; where a thread is woken for it, more.
const DELIVERY: f64 = 10e-6;
const DELIVERY_BY_THREAD: f64 = 20e-6;
/// A full handshake, both sides together.
const PER_HANDSHAKE: f64 = 500e-6;
const PING: f64 = 25e-6;
/// What each connection to a catalogued server costs for each that there is already, by one lock or one set that all are in: of Ruby's servers (docs/results/many.md).
const PER_OTHER_CONNECTION: f64 = 400e-9;
const PER_OTHER_TASK: f64 = 100e-9;
/// Looking at one idle descriptor in a wait that looks at all of them.
const PER_LOOK: f64 = 200e-9;
/// `select(2)` knows no descriptor from here on.
const FD_SETSIZE: u32 = 1_024;
/// Messages per second of a modest server, where nothing better is known, and where each has a connection of its own.
const MODEST_RATE: f64 = 50_000.0;
const MODEST_CYCLE_RATE: f64 = 5_000.0;
/// A request of the services experiment, on one CPU of the machine that docs/results/services.md is of; and what a connection of its own adds.
const INTERPRETED_REQUEST: f64 = 70e-6;
const FREE_THREADED_REQUEST: f64 = 200e-6;
const COMPILED_REQUEST: f64 = 8e-6;
const MODEST_CONNECT_RATE: f64 = 30_000.0;
/// Starting an interpreter, with the CPUs that all of them share.
const INTERPRETER_LAUNCH: f64 = 0.08;
/// The first timeouts of data that is not acknowledged and of a SYN; the least that clients lose which find a queue full.
const DATA_TIMEOUT: f64 = 0.2;
const SYN_TIMEOUT: f64 = 1.0;
const SENT_AWAY: f64 = 1.5;
const LINEAR_TIMEOUTS: &str = "net.ipv4.tcp_syn_linear_timeouts";
/// Longer than this is too long as well.
const YEAR: f64 = 365.0 * 86_400.0;

/// The expected length of the whole plan, whose built-in targets are of these models, on a machine with these limits.
#[must_use]
pub fn estimate(plan: &Plan, models: &[BuiltInModel], limits: &Limits) -> Duration {
    let of_target = |target| of_sweep(plan, target, models, limits);
    let pass: f64 = (0..plan.targets.len() as u32).map(of_target).sum();
    let passes = match &plan.search {
        Some(spec) => crate::search::expected(spec, plan.repeats),
        None => plan.repeats,
    };
    let trials = plan.cells().count() as f64 * f64::from(passes);
    let keeping = PER_KEPT_TRIAL * trials * trials / 2.0;
    seconds((pass + PER_LAUNCH * launches(plan)) * f64::from(passes) + keeping)
}

/// All settings of a target, once.
fn of_sweep(plan: &Plan, place: u32, models: &[BuiltInModel], limits: &Limits) -> f64 {
    let target = &plan.targets[place as usize];
    let settings = || {
        let all = (0..).zip(&plan.settings);
        let own = all.filter(|&(setting, _)| plan.is_measured(place, setting));
        own.map(|(_, setting)| setting)
    };
    let model = model_of(models, target);
    // The fewest connections that are too many, and how many of them are opened.
    let mut ends: HashMap<Launch, (u32, u32)> = HashMap::new();
    for setting in settings() {
        if let Some(room) = room(plan, target, setting, models, limits) {
            let end = (setting.connections, room);
            let least = ends.entry(Launch::of(setting)).or_insert(end);
            *least = end.min(*least);
        }
    }
    let of_setting = |setting: &Setting| match ends.get(&Launch::of(setting)) {
        Some((least, _)) if setting.connections > *least => 0.0,
        Some(&(least, room)) if setting.connections == least => {
            let up_to = Setting {
                connections: room,
                ..setting.clone()
            };
            let timeouts = setting.connect_timeout_ns + 2 * setting.reply_timeout_ns;
            trial(&up_to, target, model) + of_ns(timeouts)
        }
        _ => trial(setting, target, model),
    };
    settings().map(of_setting).sum()
}

/// Connections that are opened, where not all that are asked for will be served.
fn room(
    plan: &Plan,
    target: &TargetRecord,
    setting: &Setting,
    models: &[BuiltInModel],
    limits: &Limits,
) -> Option<u32> {
    if !setting.phases.has(PhaseName::Connect) {
        return None;
    }
    let short = shortages(&Demand::of(plan, target, setting, models), limits);
    let held = short.first().map(|short| short.holds_about as u32);
    held.or_else(|| is_greeted_too_late(setting, target).then_some(setting.connections))
}

/// Whether the accept queue takes so long to be emptied, with all others there, that some in it wait for their greeting longer than is waited: on average half as long.
fn is_greeted_too_late(setting: &Setting, target: &TargetRecord) -> bool {
    let queue = f64::from(setting.backlog.min(setting.connections));
    let emptied = queue * per_other(target) * f64::from(setting.connections);
    setting.phases.has(PhaseName::Acknowledge) && 2.0 * emptied > of_ns(setting.reply_timeout_ns)
}

/// How long so many messages are guessed to take.
pub(crate) fn by_count(spec: &ExchangeSpec, messages: u64) -> Duration {
    seconds(messages as f64 / rate(spec))
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(YEAR))
}

fn of_ns(nanoseconds: u64) -> f64 {
    Duration::from_nanos(nanoseconds).as_secs_f64()
}

/// Servers that are launched in one repeat.
fn launches(plan: &Plan) -> f64 {
    let is_launched = |target: u32| {
        let kind = plan.targets[target as usize].kind;
        !matches!(kind, TargetKind::Running | TargetKind::Multiplexer)
    };
    let units = units(plan);
    let launched = units.iter().filter(|unit| is_launched(unit.target));
    launched.count() as f64
}

/// One trial, without the launch.
fn trial(setting: &Setting, target: &TargetRecord, model: Option<&BuiltInModel>) -> f64 {
    if let Some(spec) = multiplexer::spec(target, setting.connections) {
        return PER_TRIAL + accepting(spec);
    }
    let phases = setting.phases.0.iter();
    let each = phases.map(|spec| phase(spec, setting, target, model));
    PER_TRIAL + each.sum::<f64>()
}

fn phase(
    spec: &PhaseSpec,
    setting: &Setting,
    target: &TargetRecord,
    model: Option<&BuiltInModel>,
) -> f64 {
    let each = model.map(|model| PerConnection::of(model.kind()));
    match spec {
        PhaseSpec::Connect if setting.phases.exchange().is_some() => {
            PER_CONNECTION * f64::from(setting.connections)
        }
        PhaseSpec::Connect => crowd(setting, target, each),
        PhaseSpec::Tls if tls::is_spoken(target, setting) => {
            PER_HANDSHAKE * f64::from(setting.connections)
        }
        PhaseSpec::Tls => 0.0,
        PhaseSpec::Acknowledge { .. } | PhaseSpec::Get(_) => delivery(setting, each),
        PhaseSpec::Sustain(spec) => {
            let asked = of_ns(spec.duration_ns);
            // What cannot be delivered in time is still awaited.
            asked.max(delivery(setting, each) * spec.rate_per_second * asked)
        }
        PhaseSpec::Exchange(spec) if spec.pacing.tasks().is_some() => tasks(spec, setting, target),
        PhaseSpec::Exchange(spec) => match (spec.connection, spec.stop) {
            (ConnectionUse::PerMessage { .. }, Stop::MessagesEach(requests_each)) => {
                let opening = PER_CONNECTION * f64::from(setting.connections);
                let at_once = served_at_once(target, model, setting);
                opening + requests(setting, requests_each, at_once)
            }
            (ConnectionUse::PerMessage { .. }, _) => {
                PER_CONNECTION * f64::from(setting.connections) + exchange(spec, setting)
            }
            (ConnectionUse::Kept, _) => exchange(spec, setting),
        },
        PhaseSpec::Hold { duration_ns } => of_ns(*duration_ns),
        PhaseSpec::Ping(spec) => PING * f64::from(spec.pings),
        PhaseSpec::Close => 0.0,
        PhaseSpec::Multiplex(spec) => accepting(*spec),
    }
}

/// Warm-up and measurement.
fn exchange(spec: &ExchangeSpec, setting: &Setting) -> f64 {
    let counted = |messages: u64| messages as f64 / rate(spec);
    let warmup = match spec.warmup {
        Amount::Messages(messages) => counted(messages),
        Amount::DurationNs(length_ns) => of_ns(length_ns),
    };
    let measured = match spec.stop {
        Stop::Messages(messages) => counted(messages),
        Stop::MessagesEach(each) => counted(each) * f64::from(setting.connections),
        Stop::DurationNs(length_ns)
        | Stop::Confidence {
            max_duration_ns: length_ns,
            ..
        } => of_ns(length_ns),
    };
    warmup + measured
}

/// All requests of all clients to all services. What each takes is that of a request that counts to 1000.
fn tasks(spec: &ExchangeSpec, setting: &Setting, target: &TargetRecord) -> f64 {
    let services = f64::from(setting.services);
    let clients = setting.phases.clients(setting.connections);
    let requests = spec.stop.each() as f64 * services * f64::from(clients);
    let server = target.catalogue.as_ref();
    let is_free_threaded = server.is_some_and(|one| one.server.ends_with("free-threaded"));
    let (each, launch) = match server.map(|one| one.language.as_str()) {
        Some("python") if is_free_threaded => (FREE_THREADED_REQUEST, INTERPRETER_LAUNCH),
        Some("python" | "ruby") => (INTERPRETED_REQUEST, INTERPRETER_LAUNCH),
        Some(_) => (COMPILED_REQUEST, INTERPRETER_LAUNCH),
        None => (COMPILED_REQUEST, 0.0),
    };
    let connects = match spec.connection {
        ConnectionUse::Kept => 0.0,
        ConnectionUse::PerMessage { .. } => requests / MODEST_CONNECT_RATE,
    };
    requests * each + connects + services * launch
}

/// Messages per second.
fn rate(spec: &ExchangeSpec) -> f64 {
    match spec.pacing {
        Pacing::Open {
            rate_per_second, ..
        } => rate_per_second,
        _ if spec.connection != ConnectionUse::Kept => MODEST_CYCLE_RATE,
        Pacing::Closed { .. } | Pacing::Lockstep { .. } | Pacing::Tasks(_) => MODEST_RATE,
    }
}

/// Connecting, and two waits with each number of idle connections.
fn accepting(spec: AcceptSpec) -> f64 {
    let asked = spec.connections;
    // A wait that looks at every descriptor: at half of them on average, or at room for all.
    let (connections, looked_at) = match spec.multiplexer {
        Multiplexer::Select => (asked.min(FD_SETSIZE), asked.min(FD_SETSIZE) / 2),
        Multiplexer::Poll if spec.published => (asked, asked),
        Multiplexer::Poll => (asked, asked / 2),
        Multiplexer::EpollLevel | Multiplexer::EpollEdge | Multiplexer::IoUring => (asked, 0),
    };
    f64::from(connections) * (PER_CONNECTION + PER_LOOK * 2.0 * f64::from(looked_at))
}

/// Many connections, opened and closed.
fn crowd(setting: &Setting, target: &TargetRecord, each: Option<PerConnection>) -> f64 {
    let connections = f64::from(setting.connections);
    let connect = match setting.connect_concurrency {
        1 => IN_TURN,
        _ => IN_FLIGHT,
    };
    let of_server = match each {
        Some(PerConnection::Threads(threads)) => PER_THREAD * f64::from(threads),
        Some(PerConnection::Process) => PER_PROCESS,
        Some(PerConnection::State) | None => 0.0,
    };
    let paced = setting
        .connect_rate_per_second
        .map_or(0.0, |rate| connections / rate);
    paced.max(connections * (connect + of_server + per_other(target) * connections))
}

/// What one connection costs for each other that is there.
fn per_other(target: &TargetRecord) -> f64 {
    match target.catalogue.as_ref().map(|catalogue| catalogue.model) {
        Some(Some(DeclaredModel::Tasks | DeclaredModel::TasksOnThreads)) => PER_OTHER_TASK,
        Some(_) => PER_OTHER_CONNECTION,
        None => 0.0,
    }
}

/// A line to all.
fn delivery(setting: &Setting, each: Option<PerConnection>) -> f64 {
    let delivery = match each {
        Some(PerConnection::Threads(_)) => DELIVERY_BY_THREAD,
        _ => DELIVERY,
    };
    delivery * f64::from(setting.connections)
}

/// How many requests a target serves at the same time; `None`: any number. Nothing is known of servers that are not built in: one at a time takes longest.
fn served_at_once(
    target: &TargetRecord,
    model: Option<&BuiltInModel>,
    setting: &Setting,
) -> Option<u32> {
    let Some(model) = model else {
        return Some(1);
    };
    let workers = target.options.workers.or(setting.workers);
    let is_inline = setting.delay_inline || target.options.delay_inline;
    let cpus = setting.server_cpus.len() as u32;
    let loops = || workers.or(model.workers.usual(cpus)).unwrap_or(1);
    match model.serves_at_once {
        ServesAtOnce::OnePerWorker => Some(loops()),
        // Of loops and tasks each serves one where they wait inline; threads of their own serve on.
        ServesAtOnce::Unbounded if !is_inline || model.workers == Workers::OnePerConnection => None,
        ServesAtOnce::WithinFdSetSize if !is_inline => Some(ServesAtOnce::BELOW_FD_SETSIZE),
        ServesAtOnce::Unbounded | ServesAtOnce::WithinFdSetSize => Some(loops()),
    }
}

/// So many requests of each client: the service time, shared by as many as are served at once and the clients ask at once, the connects, and the timers.
fn requests(setting: &Setting, each: u64, at_once: Option<u32>) -> f64 {
    let clients = setting.connections;
    let all = f64::from(clients) * each as f64;
    let served = f64::from(at_once.unwrap_or(clients).clamp(1, clients.max(1)));
    let service = of_ns(setting.service_time_ns.unwrap_or(0));
    let (service, away) = (service * (all / served).ceil(), sent_away(setting, at_once));
    // A server that is never idle serves some while the others are away, and waits for the last of them.
    let together = match at_once {
        Some(_) if away > 0.0 => away.max(service + SENT_AWAY),
        _ => service + away,
    };
    together + PER_CONNECTION * all
}

/// What the clients lose that find the queue full.
fn sent_away(setting: &Setting, at_once: Option<u32>) -> f64 {
    let queue = f64::from(setting.backlog) + 1.0;
    // Of a server for any number all may come before the first is accepted.
    let excess = f64::from(setting.connections) - queue - f64::from(at_once.unwrap_or(0));
    if excess <= 0.0 {
        return 0.0;
    }
    let waves = match at_once {
        None => (excess / queue + 1.0).log2().ceil(),
        Some(_) => (excess / queue).ceil(),
    };
    let (timeout, steps) = match setting.kernel.get(LINEAR_TIMEOUTS).map(String::as_str) {
        Some("0") => (SYN_TIMEOUT, waves),
        _ => (DATA_TIMEOUT, waves + 1.0),
    };
    let most = of_ns(setting.connect_timeout_ns.max(setting.reply_timeout_ns));
    (timeout * (steps.exp2() - 1.0)).max(SENT_AWAY).min(most)
}

#[cfg(test)]
mod tests;
