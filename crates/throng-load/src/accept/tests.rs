use std::net::IpAddr;

use throng_record::{IdleCost, SourceAddresses};
use throng_sys::affinity::allowed_cpus;
use throng_sys::select::FD_SETSIZE;

use super::*;

fn spec(multiplexer: Multiplexer, connections: u32) -> AcceptSpec {
    AcceptSpec {
        multiplexer,
        published: false,
        connections,
    }
}

fn measure(spec: &AcceptSpec, fleet: &FleetSpec) -> AcceptPhase {
    run_accept(spec, fleet, &Interrupt::default(), &mut |_| {}).expect("measured")
}

fn samples(cost: &IdleCost) -> u32 {
    cost.slices.iter().map(|slice| slice.samples).sum()
}

fn measures_every_connection(spec: &AcceptSpec, fleet: &FleetSpec) {
    let phase = measure(spec, fleet);
    assert_eq!((phase.accepted, &phase.stopped_by), (300, &None));
    for cost in [&phase.accept, &phase.data] {
        assert_eq!((samples(cost), cost.slices.len()), (300, 250));
        assert_eq!(cost.slices.first().map(|slice| slice.idle), Some(0));
        // The last slice is of two, 298 and 299.
        assert_eq!(cost.slices.last().map(|slice| slice.idle), Some(298));
        assert!(cost.slices.iter().all(|slice| slice.cost_ns_min > 0));
        assert!(cost.slope.is_some());
    }
}

#[test]
fn every_multiplexer_measures_every_connection() {
    for multiplexer in Multiplexer::ALL {
        measures_every_connection(&spec(multiplexer, 300), &FleetSpec::default());
    }
}

#[test]
fn poll_does_so_as_published_too() {
    let spec = AcceptSpec {
        published: true,
        ..spec(Multiplexer::Poll, 300)
    };
    measures_every_connection(&spec, &FleetSpec::default());
}

#[test]
fn one_cpu_is_enough_for_both_ends_and_is_theirs_alone() {
    let before = allowed_cpus();
    let cpus = vec![before[0]];
    let fleet = FleetSpec {
        cpus,
        ..FleetSpec::default()
    };
    measures_every_connection(&spec(Multiplexer::EpollEdge, 300), &fleet);
    assert_eq!(allowed_cpus(), before);
}

#[test]
fn select_stops_where_no_set_can_hold_the_next() {
    let phase = measure(&spec(Multiplexer::Select, 2_000), &FleetSpec::default());
    // The highest descriptor of a set is 1023; the table also has the three standard ones and the listener.
    let size = FD_SETSIZE as u32;
    assert_eq!(phase.accepted, size - 4 + 1, "{:?}", phase.stopped_by);
    assert_eq!(samples(&phase.accept), size - 4 + 1);
    assert_eq!(samples(&phase.data), size - 4);
    let words = phase.stopped_by.expect("stopped");
    for part in ["connection 1021", "descriptor 1024", "FD_SETSIZE"] {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let interrupt = Interrupt::default();
    let mut told = Vec::new();
    let mut tell = |event| {
        interrupt.raise();
        told.push(event);
    };
    let spec = spec(Multiplexer::EpollLevel, 10_000);
    let phase = run_accept(&spec, &FleetSpec::default(), &interrupt, &mut tell).expect("measured");
    assert_eq!(told, [LoadEvent::Progress { replies: 1 }]);
    assert_eq!((phase.accepted, samples(&phase.data)), (1, 1));
    assert_eq!(phase.stopped_by.as_deref(), Some("it was interrupted"));
}

#[test]
fn a_client_that_cannot_connect_is_said_to() {
    // TEST-NET-3 (RFC 5737): nobody's address.
    let nowhere: IpAddr = "203.0.113.7".parse().expect("an address");
    let source = SourceAddresses::List(vec![nowhere]);
    let fleet = FleetSpec {
        source,
        ..FleetSpec::default()
    };
    let phase = measure(&spec(Multiplexer::Poll, 10), &fleet);
    let words = phase.stopped_by.expect("stopped");
    assert_eq!(phase.accepted, 0);
    assert!(
        words.contains("connection 1 ") && words.contains("client"),
        "{words}"
    );
    assert_eq!(phase.accept, IdleCost::default());
}

#[test]
fn what_cannot_be_measured_is_refused_in_words() {
    let published = |spec| AcceptSpec {
        published: true,
        ..spec
    };
    for (spec, part) in [
        (spec(Multiplexer::Poll, 0), "at least one"),
        (published(spec(Multiplexer::Poll, u32::MAX)), "ulimit -n"),
        (published(spec(Multiplexer::Select, 5)), "only poll"),
    ] {
        let refused = run_accept(
            &spec,
            &FleetSpec::default(),
            &Interrupt::default(),
            &mut |_| {},
        );
        let error = refused.expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
    let fleet = FleetSpec {
        cpus: vec![1023],
        ..FleetSpec::default()
    };
    let spec = spec(Multiplexer::Poll, 5);
    let refused = run_accept(&spec, &fleet, &Interrupt::default(), &mut |_| {});
    let error = refused.expect_err("no such CPU").to_string();
    assert!(error.contains("1023"), "{error}");
}
