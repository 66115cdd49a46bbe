//! What stands above the tables: what was asked, under which circumstances, on which machine, and how much of it was done.

use throng_record::plan::ListenFamily;
use throng_record::{
    Amount, Arrivals, Expect, Network, NetworkRecord, Pacing, Plan, Protocol, SourceAddresses,
    Stop, TargetKind,
};

use crate::format::{exact, list, plural, rate, setting_ns};
use crate::summary::Summary;

/// The question.
pub(crate) fn title(summary: &Summary<'_>) -> String {
    let plan = summary.plan;
    if plan.title.is_empty() {
        plan.name.clone()
    } else {
        plan.title.clone()
    }
}

/// What was measured and how, each circumstance a phrase.
pub(crate) fn measurement(plan: &Plan) -> Vec<String> {
    let mut phrases = vec![
        protocol(plan),
        format!("{} connections", connections(&plan.connections)),
        pacing(&plan.pacing),
        format!(
            "{} of {}, after {} of warm-up",
            plural(plan.repeats.into(), "repeat"),
            stop(&plan.stop),
            amount(plan.warmup)
        ),
    ];
    if plan.quick {
        phrases.push("quick: shortened, for a first look".to_owned());
    }
    phrases
}

/// Where the two sides ran and how the generator moved its bytes.
pub(crate) fn arrangement(summary: &Summary<'_>) -> Vec<String> {
    let plan = summary.plan;
    let mut phrases = vec![format!(
        "generator: {} back end, {} on {}",
        plan.backend.name(),
        plural(plan.shards.into(), "thread"),
        cpus(&plan.generator_cpus)
    )];
    if plan
        .targets
        .iter()
        .any(|target| target.kind != TargetKind::Running)
    {
        let family = match plan.listen {
            ListenFamily::Ipv4 => "loopback IPv4",
            ListenFamily::Ipv6 => "loopback IPv6",
            ListenFamily::Unix => "Unix socket",
        };
        phrases.push(format!("server: on {}, {family}", cpus(&plan.server_cpus)));
        phrases.push(network(summary.network));
    }
    match &plan.source {
        SourceAddresses::Spread => {}
        SourceAddresses::Kernel => phrases.push("source addresses chosen by the kernel".to_owned()),
        SourceAddresses::List(addresses) => {
            phrases.push(format!("source addresses: {}", addresses.len()));
        }
    }
    if !plan.nodelay {
        phrases.push("TCP_NODELAY off".to_owned());
    }
    phrases
}

/// Whose network launched servers were in, why where that was not meant, and which settings it had of its own.
fn network(network: &NetworkRecord) -> String {
    match (network.used, &network.fallback) {
        (Network::Host, None) => "host network".to_owned(),
        (Network::Host, Some(reason)) => format!("host network ({reason})"),
        (Network::Private, _) if network.kernel.is_empty() => {
            "private network namespace".to_owned()
        }
        (Network::Private, _) => {
            let settings = network.kernel.iter();
            let settings: Vec<String> = settings
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            format!("private network namespace with {}", list(&settings))
        }
    }
}

/// The machine.
pub(crate) fn machine(summary: &Summary<'_>) -> Vec<String> {
    let machine = summary.machine;
    let mut phrases = vec![
        if machine.cpu_model.is_empty() {
            "unknown CPU".to_owned()
        } else {
            machine.cpu_model.clone()
        },
        plural(machine.cpus_online.into(), "CPU"),
    ];
    if machine.virtual_machine {
        phrases.push("virtual machine".to_owned());
    }
    phrases.push(format!("Linux {}", machine.kernel));
    phrases
}

/// When, by which program, and how many trials.
pub(crate) fn run(summary: &Summary<'_>) -> Vec<String> {
    vec![
        format!("plan {}", summary.plan.name),
        summary.started_at.to_owned(),
        format!("throng {}", summary.throng_version),
        format!(
            "{} in {}",
            plural(summary.trials_made.into(), "trial"),
            setting_ns(rounded_ns(summary.duration_ns))
        ),
    ]
}

/// To tenths of a second, which is all a person asks of the length of a run; shorter ones to milliseconds.
fn rounded_ns(length_ns: u64) -> u64 {
    let step_ns = if length_ns < 100_000_000 {
        1_000_000
    } else {
        100_000_000
    };
    length_ns / step_ns * step_ns
}

/// Said loudly where trials are missing.
pub(crate) fn cut_short(summary: &Summary<'_>) -> Option<String> {
    let how = if summary.interrupted {
        "was interrupted"
    } else {
        "ended"
    };
    summary.is_cut_short().then(|| {
        format!(
            "This run {how} after {} of {}. What was measured until then is below.",
            exact(summary.trials_made.into()),
            plural(summary.trials_planned.into(), "trial")
        )
    })
}

/// The rule of the sending, in the field's terms.
fn pacing(pacing: &Pacing) -> String {
    match pacing {
        Pacing::Closed { outstanding } => {
            format!("closed loop, {outstanding} outstanding on each")
        }
        Pacing::Lockstep { group } => {
            format!(
                "lockstep in groups of {}",
                plural((*group).into(), "connection")
            )
        }
        Pacing::Open {
            rate_per_second,
            arrivals,
            spin,
            outstanding,
        } => {
            let gaps = match arrivals {
                Arrivals::Constant => "equal gaps",
                Arrivals::Exponential => "exponential gaps",
            };
            let how = if *spin { "spinning" } else { "sleeping" };
            let rate = rate(*rate_per_second);
            format!(
                "open loop at {rate}, {gaps}, at most {outstanding} outstanding on each, {how} until each is due"
            )
        }
    }
}

fn protocol(plan: &Plan) -> String {
    let what = match &plan.protocol {
        Protocol::Echo { size_bytes } => {
            format!("echo of {}", plural((*size_bytes).into(), "byte"))
        }
        Protocol::Request { send, expect } => {
            let expect = match expect {
                Expect::Text(text) => quoted(text),
                Expect::Bytes(number) => plural(*number, "byte"),
                Expect::Until(delimiter) => format!("all until {}", quoted(delimiter)),
            };
            format!("{} answered by {expect}", quoted(send))
        }
    };
    if plan.verify {
        what
    } else {
        format!("{what}, not verified")
    }
}

/// Bytes as they would be typed, long ones cut.
fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    format!("\"{}{more}\"", shown.escape_ascii())
}

fn connections(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|&n| exact(n.into())).collect();
    list(&numbers)
}

fn stop(stop: &Stop) -> String {
    match stop {
        Stop::Messages(number) => plural(*number, "message"),
        Stop::DurationNs(duration) => setting_ns(*duration),
        Stop::Confidence {
            relative_half_width,
            max_duration_ns,
        } => format!(
            "as long as ±{} % takes (at most {})",
            relative_half_width * 100.0,
            setting_ns(*max_duration_ns)
        ),
    }
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Messages(number) => plural(number, "message"),
        Amount::DurationNs(duration) => setting_ns(duration),
    }
}

fn cpus(cpus: &[u32]) -> String {
    match cpus {
        [] => "any CPU".to_owned(),
        [one] => format!("CPU {one}"),
        many => {
            let names: Vec<String> = many.iter().map(ToString::to_string).collect();
            format!("CPUs {}", list(&names))
        }
    }
}
