//! The circumstances of a plan in words: where all settings agree their one value, else all values of what is swept.

use throng_record::plan::{ListenFamily, ServerLifetime};
use throng_record::{
    Amount, Arrivals, Expect, Network, NetworkRecord, Pacing, PagesSpec, Plan, Protocol, Setting,
    SourceAddresses, Stop,
};

use crate::format::{exact, list, plural, rate, setting_ns};
use crate::setting::{kernel_values, values};

/// A plan, and its first setting for all that the others share.
#[derive(Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) setting: &'a Setting,
    /// Whether the load came from other hosts.
    pub(crate) is_from_hosts: bool,
}

impl Circumstances<'_> {
    /// `1 and 8`; `None` where the key is not swept.
    pub(crate) fn swept(&self, key: &str) -> Option<String> {
        values(self.plan, key).map(|values| list(&values))
    }

    /// The values of a swept key, or what all settings share.
    pub(crate) fn or_swept(&self, key: &str, shared: impl FnOnce() -> String) -> String {
        self.swept(key).unwrap_or_else(shared)
    }

    /// How fast, and how long.
    pub(crate) fn paced(&self) -> Vec<String> {
        let Some(asked) = self.setting.phases.exchange() else {
            return vec![self.repeats()];
        };
        let stop = self.stop(asked.stop);
        let warmup = self.warmup(asked.warmup);
        let repeats = self.repeats();
        vec![
            self.pacing(&asked.pacing),
            format!("{repeats} of {stop}, after {warmup} of warm-up"),
        ]
    }

    pub(crate) fn repeats(&self) -> String {
        plural(self.plan.repeats.into(), "repeat")
    }

    /// A noun with all its numbers, or with the one.
    fn number(&self, key: &str, number: u64, noun: &str) -> String {
        match self.swept(key) {
            Some(values) => format!("{values} {noun}s"),
            None => plural(number, noun),
        }
    }

    /// What is sent, and what answers it; nothing where no message is answered.
    pub(crate) fn protocol(&self) -> Option<String> {
        let what = match self.setting.phases.protocol()? {
            _ if self.requests_differ() => {
                let workload =
                    self.or_swept("workload", || self.setting.workload.name().to_owned());
                format!("requests of the workload {workload}")
            }
            Protocol::Echo { size_bytes } => {
                let bytes = self.number("size", (*size_bytes).into(), "byte");
                format!("echo of {bytes}")
            }
            Protocol::Request { send, expect } => {
                let send = self.or_swept("send", || quoted(send));
                let expect = self.or_swept("expect", || match expect {
                    Expect::Text(text) => quoted(text),
                    Expect::Bytes(number) => plural(*number, "byte"),
                    Expect::Until(delimiter) => format!("all until {}", quoted(delimiter)),
                    Expect::End => "all until the end".to_owned(),
                    Expect::Frame => "a frame with the code 200".to_owned(),
                    Expect::HttpResponse => "an HTTP response".to_owned(),
                });
                format!("{send} answered by {expect}")
            }
            Protocol::Pages(pages) => pages_asked(pages),
        };
        Some(match (self.swept("verify"), self.is_verified()) {
            (Some(_), _) => format!("{what}, verified or not"),
            (None, true) => what,
            (None, false) => format!("{what}, not verified"),
        })
    }

    fn is_verified(&self) -> bool {
        let phases = &self.setting.phases;
        let of_exchange = phases.exchange().map(|spec| spec.verify);
        let of_pings = phases.ping().map(|spec| spec.verify);
        of_exchange.or(of_pings).unwrap_or(true)
    }

    /// Whether the first request is not all settings', and no key of its own tells them apart: it follows from the workload or the
    /// service time.
    fn requests_differ(&self) -> bool {
        let of_its_own = ["size", "send", "expect"];
        let mut settings = self.plan.settings.iter();
        of_its_own.iter().all(|key| self.swept(key).is_none())
            && settings.any(|one| one.phases.protocol() != self.setting.phases.protocol())
    }

    pub(crate) fn connections(&self) -> String {
        match self.swept("connections") {
            Some(numbers) => format!("{numbers} connections"),
            None => plural(self.setting.connections.into(), "connection"),
        }
    }

    /// Whether each message has a connection of its own.
    fn cycles(&self) -> bool {
        self.setting.phases.is_of_requests()
    }

    /// What is counted.
    fn unit(&self) -> &'static str {
        if self.cycles() { "cycle" } else { "message" }
    }

    /// How the due times of an open loop are spaced.
    pub(crate) fn gaps(&self, arrivals: Arrivals) -> String {
        self.or_swept("arrivals", || match arrivals {
            Arrivals::Constant => "equal".to_owned(),
            Arrivals::Exponential => "exponential".to_owned(),
        })
    }

    /// The rule of the sending, in the field's terms.
    fn pacing(&self, pacing: &Pacing) -> String {
        let each =
            |outstanding: &u32| self.or_swept("outstanding", || exact((*outstanding).into()));
        match pacing {
            Pacing::Closed { .. } if self.cycles() => {
                "closed loop, one cycle at a time each".to_owned()
            }
            Pacing::Closed { outstanding } => {
                format!("closed loop, {} outstanding on each", each(outstanding))
            }
            Pacing::Tasks(_) => "closed loop, one request at a time for each task".to_owned(),
            Pacing::Lockstep { group } => {
                let group = self.number("lockstep", (*group).into(), "connection");
                format!("lockstep in groups of {group}")
            }
            Pacing::Open {
                rate_per_second,
                arrivals,
                spin,
                outstanding,
            } => {
                let gaps = self.gaps(*arrivals);
                let how = match (self.swept("spin"), *spin) {
                    (Some(_), _) => "spinning or sleeping",
                    (None, true) => "spinning",
                    (None, false) => "sleeping",
                };
                let rate = match self.swept("rate") {
                    Some(rates) => format!("{rates} {}s/s", self.unit()),
                    None => rate(*rate_per_second),
                };
                if self.cycles() {
                    return format!("open loop at {rate}, {gaps} gaps, {how} until each is due");
                }
                let each = each(outstanding);
                format!(
                    "open loop at {rate}, {gaps} gaps, at most {each} outstanding on each, {how} until each is due"
                )
            }
        }
    }

    fn stop(&self, stop: Stop) -> String {
        match stop {
            Stop::Messages(number) => self.number("messages", number, self.unit()),
            Stop::MessagesEach(number) => {
                format!("{} of each client", plural(number, self.unit()))
            }
            Stop::DurationNs(duration) => self.or_swept("duration", || setting_ns(duration)),
            Stop::Confidence {
                relative_half_width,
                max_duration_ns,
            } => {
                let width = match self.swept("confidence") {
                    Some(widths) => format!("a confidence of {widths}"),
                    None => format!("±{} %", relative_half_width * 100.0),
                };
                let most = self.or_swept("max-duration", || setting_ns(max_duration_ns));
                format!("as long as {width} takes (at most {most})")
            }
        }
    }

    fn warmup(&self, warmup: Amount) -> String {
        self.or_swept("warmup", || match warmup {
            Amount::Messages(number) => plural(number, self.unit()),
            Amount::DurationNs(duration) => setting_ns(duration),
        })
    }

    pub(crate) fn generator(&self) -> String {
        let backend = self.or_swept("backend", || self.setting.backend.name().to_owned());
        let who = if self.is_from_hosts {
            "each generator"
        } else {
            "generator"
        };
        let generator = format!("{who}: {backend} back end, {}", self.shards());
        if self.swept("cpus").is_some() {
            return generator;
        }
        format!("{generator} on {}", cpus(&self.setting.generator_cpus))
    }

    /// Of the accept experiment: there is no server, and the generator is one process that accepts its own connections.
    pub(crate) fn both_ends(&self) -> String {
        let ends = "one process is both ends, over loopback";
        match self.swept("cpus") {
            Some(cpus) => format!("{ends}; CPUs {cpus}"),
            None => format!("{ends}, on {}", cpus(&self.setting.generator_cpus)),
        }
    }

    /// Threads follow the connections unless they are asked for.
    fn shards(&self) -> String {
        let all = || self.plan.settings.iter().map(|setting| setting.shards);
        match (all().min(), all().max()) {
            (Some(least), Some(most)) if least != most => format!("{least} to {most} threads"),
            _ => plural(self.setting.shards.into(), "thread"),
        }
    }

    pub(crate) fn server(&self) -> Vec<String> {
        let setting = self.setting;
        let family = match (self.swept("family"), setting.listen) {
            (Some(families), _) => families,
            (None, ListenFamily::Ipv4) if self.is_from_hosts => "IPv4".to_owned(),
            (None, ListenFamily::Ipv6) if self.is_from_hosts => "IPv6".to_owned(),
            (None, ListenFamily::Ipv4) => "loopback IPv4".to_owned(),
            (None, ListenFamily::Ipv6) => "loopback IPv6".to_owned(),
            (None, ListenFamily::Unix) => "Unix socket".to_owned(),
        };
        let mut phrases = match self.swept("cpus") {
            Some(cpus) => vec![
                format!("server: {family}"),
                format!("CPUs of server and generator: {cpus}"),
            ],
            None => vec![format!(
                "server: on {}, {family}",
                cpus(&setting.server_cpus)
            )],
        };
        let swept = |key| Some(format!("{key} {}", self.swept(key)?));
        let keys = ["backlog", "workers", "accept-threads", "delay-inline"];
        phrases.extend(keys.into_iter().filter_map(swept));
        if self.plan.server == ServerLifetime::PerSweep {
            phrases.push("one server process for each sweep".to_owned());
        }
        phrases
    }

    /// Whose network launched servers were in, why where that was not meant, and which settings it had of its own throughout.
    pub(crate) fn network(&self, network: &NetworkRecord) -> String {
        let shared = self.kernel().filter(|(_, values)| values.len() == 1);
        let shared: Vec<String> = shared
            .map(|(name, values)| format!("{name} = {}", list(&values)))
            .collect();
        match (network.used, &network.fallback) {
            (Network::Host, None) => "host network".to_owned(),
            (Network::Host, Some(reason)) => format!("host network ({reason})"),
            (Network::Private, _) if shared.is_empty() => "private network namespace".to_owned(),
            (Network::Private, _) => format!("private network namespace with {}", list(&shared)),
        }
    }

    /// Kernel settings that are compared, by their whole names.
    pub(crate) fn kernel_sweeps(&self) -> impl Iterator<Item = String> {
        let swept = self.kernel().filter(|(_, values)| values.len() > 1);
        swept.map(|(name, values)| format!("{name} {}", list(&values)))
    }

    /// Each kernel setting with its values in their order.
    fn kernel(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        let names = self.setting.kernel.keys();
        names.map(|name| (name.as_str(), kernel_values(self.plan, name)))
    }

    pub(crate) fn addresses(&self) -> Option<String> {
        if let Some(choices) = self.swept("addresses") {
            return Some(format!("source addresses: {choices}"));
        }
        match &self.setting.source {
            SourceAddresses::Spread => None,
            SourceAddresses::Kernel => Some("source addresses chosen by the kernel".to_owned()),
            SourceAddresses::List(addresses) => {
                Some(format!("source addresses: {}", addresses.len()))
            }
        }
    }

    pub(crate) fn nodelay(&self) -> Option<String> {
        match (self.swept("nodelay"), self.setting.nodelay) {
            (Some(_), _) => Some("TCP_NODELAY on and off".to_owned()),
            (None, true) => None,
            (None, false) => Some("TCP_NODELAY off".to_owned()),
        }
    }

    /// Worth a word only where they are what is compared.
    pub(crate) fn timeouts(&self) -> Vec<String> {
        let keys = ["connect-timeout", "timeout", "ready-timeout"].into_iter();
        keys.filter_map(|key| Some(format!("{key} {}", self.swept(key)?)))
            .collect()
    }
}

/// Bytes as they would be typed, long ones cut.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    format!("\"{}{more}\"", shown.escape_ascii())
}

fn pages_asked(pages: &PagesSpec) -> String {
    let what = match &pages.requests[..] {
        [one] => one.page.clone(),
        several => format!("{} requests in turn", exact(several.len() as u64)),
    };
    let statuses: Vec<String> = pages.statuses.iter().map(ToString::to_string).collect();
    match &statuses[..] {
        [] => what,
        statuses => format!("{what} with a status of {}", statuses.join(", ")),
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
