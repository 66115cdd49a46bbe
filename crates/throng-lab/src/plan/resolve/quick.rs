//! Bringing a shortened plan under two minutes, whatever it asks for.

use std::time::Duration;

use throng_record::{Amount, ExchangeSpec, PhaseSpec, Plan, Setting, Stop};

use crate::estimate::{by_count, estimate};
use crate::plan::experiments::fanout;
use crate::plan::{Environment, nanoseconds};

/// What `--quick` promises.
const LONGEST: Duration = Duration::from_secs(120);
/// Below this a figure says nothing any more, however many trials there are.
const SHORTEST_NS: u64 = 50_000_000;
/// Connections below which there is no more to gain.
const CONNECTIONS_MIN: u32 = 100;
/// The same for clients, whose requests take a server's time.
const CLIENTS_MIN: u32 = 1;

/// Takes repeats, then length or requests, then values of the sweep, then connections, until the estimate is below [`LONGEST`]; a note
/// where something was taken.
pub(super) fn fit(plan: &mut Plan, environment: &Environment) -> Option<String> {
    let estimate = |plan: &Plan| estimate(plan, &environment.models, &environment.limits);
    let before = estimate(plan);
    let is_long = |plan: &Plan| estimate(plan) >= LONGEST;
    if !is_long(plan) {
        return None;
    }
    let mut taken = Vec::new();
    while plan.repeats > 1 && is_long(plan) {
        plan.repeats -= 1;
    }
    taken.push(match plan.repeats {
        1 => "with 1 repeat".to_owned(),
        repeats => format!("with {repeats} repeats"),
    });
    if is_long(plan) && counts_become_lengths(plan) {
        taken.push("ending by time instead of by messages".to_owned());
    }
    if is_long(plan) && halve_lengths(plan) {
        while is_long(plan) && halve_lengths(plan) {}
        taken.push("with shorter measurements".to_owned());
    }
    if is_long(plan) && halve_requests(plan) {
        while is_long(plan) && halve_requests(plan) {}
        taken.push("with fewer requests".to_owned());
    }
    if is_long(plan) {
        let whole = plan.clone();
        while is_long(plan) && thin(plan) {}
        let thinned = (0..whole.swept.len()).filter_map(|key| thinned(&whole, key, plan));
        taken.extend(thinned);
    }
    if is_long(plan) {
        while is_long(plan) && halve_connections(plan) {}
        taken.push(match plan.settings.iter().any(has_clients) {
            true => "with fewer clients".to_owned(),
            false => "with fewer connections".to_owned(),
        });
    }
    Some(format!(
        "the short form would take {} s: shortened to {} s, {}; \
         for more, leave --quick out or measure fewer targets",
        before.as_secs(),
        estimate(plan).as_secs(),
        taken.join(", ")
    ))
}

/// How long a count takes is the server's secret, so that only a length of time keeps the promise; whether there was a count.
fn counts_become_lengths(plan: &mut Plan) -> bool {
    let mut changed = false;
    for spec in exchanges(plan) {
        if matches!(spec.stop, Stop::MessagesEach(_)) {
            continue;
        }
        if let Stop::Messages(messages) = spec.stop {
            spec.stop = Stop::DurationNs(nanoseconds(by_count(spec, messages)));
            changed = true;
        }
        if let Amount::Messages(messages) = spec.warmup {
            spec.warmup = Amount::DurationNs(nanoseconds(by_count(spec, messages)));
            changed = true;
        }
    }
    changed
}

/// Whether there was something left to halve.
fn halve_lengths(plan: &mut Plan) -> bool {
    let mut halved = false;
    let mut halve = |length_ns: &mut u64| {
        if *length_ns > SHORTEST_NS {
            *length_ns = (*length_ns / 2).max(SHORTEST_NS);
            halved = true;
        }
    };
    for phase in phases(plan) {
        match phase {
            PhaseSpec::Exchange(spec) => {
                if let Stop::DurationNs(length_ns)
                | Stop::Confidence {
                    max_duration_ns: length_ns,
                    ..
                } = &mut spec.stop
                {
                    halve(length_ns);
                }
                if let Amount::DurationNs(length_ns) = &mut spec.warmup {
                    halve(length_ns);
                }
            }
            PhaseSpec::Sustain(spec) => halve(&mut spec.duration_ns),
            PhaseSpec::Hold { duration_ns } => halve(duration_ns),
            _ => {}
        }
    }
    halved
}

fn phases(plan: &mut Plan) -> impl Iterator<Item = &mut PhaseSpec> {
    let settings = plan.settings.iter_mut();
    settings.flat_map(|setting| &mut setting.phases.0)
}

fn exchanges(plan: &mut Plan) -> impl Iterator<Item = &mut ExchangeSpec> {
    phases(plan).filter_map(|phase| match phase {
        PhaseSpec::Exchange(spec) => Some(spec),
        _ => None,
    })
}

/// Whether there was one to spare. What is swept keeps the values that it is shown under.
fn halve_requests(plan: &mut Plan) -> bool {
    let is_swept = |key: &String| key == "requests" || key == "requests-total";
    if plan.swept.iter().any(is_swept) {
        return false;
    }
    let mut halved = false;
    for spec in exchanges(plan) {
        if let Stop::MessagesEach(requests) = &mut spec.stop
            && *requests > 1
        {
            *requests /= 2;
            halved = true;
        }
    }
    halved
}

fn has_clients(setting: &Setting) -> bool {
    setting.phases.is_of_requests()
}

/// Leaves out every other value of the key that has the most, and keeps its ends; of two the first. Whether there was one.
fn thin(plan: &mut Plan) -> bool {
    if plan.measured_at.is_some() {
        return false;
    }
    let keys = 0..plan.swept.len();
    let most = keys.max_by_key(|&key| values(&plan.settings, key).len());
    let Some(key) = most else {
        return false;
    };
    let all = values(&plan.settings, key);
    let last = all.len() - 1;
    let is_kept = |place: usize| place.is_multiple_of(2) || (last > 1 && place == last);
    let kept: Vec<String> = all
        .into_iter()
        .enumerate()
        .filter_map(|(place, value)| is_kept(place).then_some(value))
        .collect();
    plan.settings
        .retain(|setting| kept.contains(&setting.swept[key].value));
    if kept.len() == 1 {
        plan.swept.remove(key);
        for setting in &mut plan.settings {
            setting.swept.remove(key);
        }
    }
    true
}

/// The values of the swept key at this place, in their order.
fn values(settings: &[Setting], key: usize) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for setting in settings {
        let value = &setting.swept[key].value;
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

/// What a key of the whole plan is still measured at; `None` where it has lost nothing.
fn thinned(whole: &Plan, key: usize, plan: &Plan) -> Option<String> {
    let name = &whole.swept[key];
    let Some(place) = plan.swept.iter().position(|swept| swept == name) else {
        return Some(format!("at the first {name} only"));
    };
    let left = values(&plan.settings, place);
    let is_whole = left.len() == values(&whole.settings, key).len();
    (!is_whole).then(|| format!("at {name} {}", left.join(", ")))
}

fn halve_connections(plan: &mut Plan) -> bool {
    let mut halved = false;
    for setting in &mut plan.settings {
        let least = if has_clients(setting) {
            CLIENTS_MIN
        } else {
            CONNECTIONS_MIN
        };
        // Clients with tasks are whole, and so many are what is asked.
        if setting.connections > least && setting.phases.connections_of_client() == 1 {
            setting.connections = (setting.connections / 2).max(least);
            setting.shards = setting.shards.min(setting.connections);
            let speaker = fanout::speaker(setting.connections);
            for phase in &mut setting.phases.0 {
                match phase {
                    PhaseSpec::Multiplex(spec) => spec.connections = setting.connections,
                    PhaseSpec::Get(put) => put.speaker = speaker,
                    PhaseSpec::Sustain(spec) => spec.put.speaker = speaker,
                    PhaseSpec::Ping(spec) => spec.pings = spec.pings.min(setting.connections),
                    _ => {}
                }
            }
            halved = true;
        }
    }
    halved
}
