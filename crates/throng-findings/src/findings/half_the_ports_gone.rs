//! Half of the ports gone: connects turned slow when half of a source address's ports were taken.
//!
//! `connect()` looks for a free port among those of one parity first (`net/ipv4/inet_hashtables.c`, `__inet_hash_connect()`); once these are taken
//! it goes through all of them in vain before it turns to the others. Two things are asked for: the rate has halved, and it did so there:
//! against the connects just before as well, so that a server which slows down little by little is not mistaken for it.

use throng_record::finding::HalfThePortsGone;
use throng_record::format::exact;
use throng_record::{HostPart, Timeline};

use super::capacity::busiest;
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "half-the-ports-gone",
    title: "Half the ports gone",
    page: include_str!("../../../../docs/findings/half-the-ports-gone.md"),
};

/// How many times slower.
const FALL_MIN: f64 = 2.0;
/// Fewer connects beyond the half tell no rate.
const BEYOND_MIN: u64 = 100;
/// A stretch that is over sooner is as slow by a single pause of whoever connects: 100 connects that should take 2 ms took 5.
const BEYOND_NS_MIN: f64 = 50e6;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<HalfThePortsGone> {
    let connect = evidence.phases().connect()?;
    let connected = connect.connected;
    let (ports, sources) = (evidence.ports()?, evidence.sources(connected)?);
    let of_address = u64::from(ports) / 2;
    let half = if sources.is_in_sequence {
        of_address
    } else {
        of_address * u64::from(sources.addresses)
    };
    if u64::from(sources.busiest) <= of_address || u64::from(connected) < half + BEYOND_MIN {
        return None;
    }
    let timeline = &connect.timeline;
    let before = rate(timeline, 0, half)?;
    let just_before = rate(timeline, half / 2, half)?;
    let beyond_ns = reached_ns(timeline, connected.into())? - reached_ns(timeline, half)?;
    if beyond_ns < BEYOND_NS_MIN {
        return None;
    }
    let after = rate(timeline, half, u64::from(connected))?;
    (before >= FALL_MIN * after && just_before >= FALL_MIN * after).then_some(HalfThePortsGone {
        ports,
        connections: sources.busiest,
        rate_before_per_second: before,
        rate_after_per_second: after,
    })
}

/// Whether one of a host's addresses had more than half of its ports taken.
pub(super) fn is_of(host: &HostPart) -> bool {
    host.local_ports
        .is_some_and(|ports| busiest(host) > ports / 2)
}

/// Connects per second from the `first` to the `last` of them.
fn rate(timeline: &Timeline, first: u64, last: u64) -> Option<f64> {
    let length_ns = reached_ns(timeline, last)? - reached_ns(timeline, first)?;
    (length_ns > 0.0).then(|| (last - first) as f64 / (length_ns / 1e9))
}

/// When so many had completed, taking those of one slice as evenly spread over it.
fn reached_ns(timeline: &Timeline, connects: u64) -> Option<f64> {
    let mut so_far = 0;
    for (slice, &completed) in timeline.replies.iter().enumerate() {
        if completed > 0 && so_far + completed >= connects {
            let share = (connects - so_far) as f64 / completed as f64;
            return Some((slice as f64 + share) * timeline.slice_ns as f64);
        }
        so_far += completed;
    }
    None
}

impl Words for HalfThePortsGone {
    fn happened(&self) -> String {
        format!(
            "{} connects a second until half of a source address's {} ports were taken, and {} a second from then on, up to {} connections from one address.",
            exact(self.rate_before_per_second.round() as u64),
            exact(self.ports.into()),
            exact(self.rate_after_per_second.round() as u64),
            exact(self.connections.into())
        )
    }

    fn cause(&self) -> &'static str {
        "connect(2) looks for a free port among those of one parity first; when these are taken it goes through all of them in vain, for each further connection, before it turns to the others."
    }

    fn remedy(&self) -> String {
        "more source addresses: leave --addresses kernel out, or name some with --source. A client elsewhere: bind to several addresses with IP_BIND_ADDRESS_NO_PORT, or widen net.ipv4.ip_local_port_range.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.rate_before_per_second / self.rate_after_per_second.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{Finding, SourceAddresses};

    use super::*;
    use crate::hand_made::{Case, host};

    /// From one address, with 1,000 ports: connects in each tenth of a second.
    fn case(slices: &[u64]) -> Case {
        let mut case = Case::echo();
        case.setting.source = SourceAddresses::Kernel;
        case.seen.limits.ip_local_port_range = Some((1_001, 2_000));
        case.connect().timeline = Timeline {
            slice_ns: 100_000_000,
            replies: slices.to_vec(),
            latency_sum_ns: vec![0; slices.len()],
        };
        case.connect().connected = slices.iter().sum::<u64>() as u32;
        case
    }

    #[test]
    fn a_rate_that_falls_at_the_half_is_told_with_both_rates() {
        let case = case(&[250, 250, 100, 100, 100]);
        let expected = HalfThePortsGone {
            ports: 1_000,
            connections: 800,
            rate_before_per_second: 2_500.0,
            rate_after_per_second: 1_000.0,
        };
        assert_eq!(find(&case.evidence()), Some(expected));
    }

    #[test]
    fn a_flat_rate_a_gradual_fall_and_few_connections_are_none() {
        assert_eq!(find(&case(&[250, 250, 200, 100]).evidence()), None);
        assert_eq!(
            find(&case(&[300, 100, 60, 40, 60, 55, 50]).evidence()),
            None,
            "it fell long before"
        );
        assert_eq!(find(&case(&[250, 250]).evidence()), None);
        assert_eq!(find(&case(&[250, 250, 9, 9]).evidence()), None);
        assert_eq!(find(&case(&[]).evidence()), None);
    }

    #[test]
    fn a_stretch_as_short_as_a_pause_is_none() {
        let mut case = case(&[250, 250, 100, 100, 100]);
        let long_enough = |case: &Case| find(&case.evidence()).is_some();
        case.connect().timeline.slice_ns = 17_000_000;
        assert!(long_enough(&case), "51 ms beyond the half");
        case.connect().timeline.slice_ns = 16_000_000;
        assert!(!long_enough(&case), "48 ms");
    }

    #[test]
    fn hosts_have_a_half_each() {
        let mut case = case(&[500, 500, 100, 100]);
        case.setting.source = SourceAddresses::Spread;
        case.seen.limits.ip_local_port_range = None;
        case.trial.hosts = vec![host(1, "gen1"), host(2, "gen2")];
        for host in &mut case.trial.hosts {
            (host.connected, host.local_ports) = (600, Some(1_000));
        }
        let found = find(&case.evidence()).expect("one");
        assert_eq!((found.ports, found.connections), (1_000, 600));
        let named = crate::findings::hosts(&Finding::HalfThePortsGone(found), &case.trial);
        assert_eq!(named, ["gen1", "gen2"]);
        for host in &mut case.trial.hosts {
            host.source_addresses = 2;
        }
        assert_eq!(find(&case.evidence()), None, "300 from each address");
    }

    #[test]
    fn several_addresses_have_as_many_halves() {
        let mut case = case(&[250, 250, 100, 100, 100]);
        let two = ["127.0.0.1", "127.0.0.2"].map(|ip| ip.parse().expect("an address"));
        case.setting.source = SourceAddresses::List(two.to_vec());
        assert_eq!(find(&case.evidence()), None, "400 from each");
        case.connect().timeline.replies = vec![500, 500, 100, 100];
        case.connect().connected = 1_200;
        assert!(matches!(
            find(&case.evidence()),
            Some(HalfThePortsGone {
                connections: 600,
                ..
            })
        ));
    }
}
