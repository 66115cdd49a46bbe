//! One trial's job for the generator.

use throng_record::{
    ConnectionUse, FleetSpec, LoadJob, PhaseSpec, Plan, PutSpec, Sequence, Setting, TargetRecord,
};
use throng_sys::address::Address;

use crate::order::Cell;
use crate::target::{http, multiplexer};

/// A network setting as it is where the trial is: the plan's, or else the host's, which a private network has as well. `None`: this kernel
/// has none of that name, or it is no number.
pub(crate) fn in_force(setting: &Setting, name: &str) -> Option<u32> {
    match setting.kernel.get(name) {
        Some(value) => value.parse().ok(),
        None => throng_sys::sysctl::read_value(name).ok(),
    }
}

/// How many of a setting's connections a server can be given that serves `at_once`: those, and as many as wait in its accept
/// queue. Further ones would find it full, and wait for SYN retransmissions. Clients with a connection for each message are not fewer:
/// what becomes of those that find it full is their question.
fn connectable(setting: &Setting, at_once: u32) -> u32 {
    if setting.phases.is_of_requests() {
        return setting.connections;
    }
    let queue = in_force(setting, "net.core.somaxconn")
        .map_or(setting.backlog, |most: u32| most.min(setting.backlog));
    setting.connections.min(at_once.saturating_add(queue))
}

/// Fits a job to a server that serves so many connections at once: what is done with single ones is done with no more than there are.
pub(crate) fn limit(job: &mut LoadJob, setting: &Setting, at_once: u32) {
    // Clients with tasks are whole: what becomes of those that wait is their question.
    if job.phases.tasks().is_some() {
        return;
    }
    let connections = connectable(setting, at_once);
    job.fleet.serves_at_once = Some(at_once);
    job.fleet.connections = connections;
    job.fleet.shards = job.fleet.shards.min(connections);
    // One that is served speaks: a line from the accept queue would reach nobody.
    let fit = |put: &mut PutSpec| put.speaker = put.speaker.min(at_once.min(connections) / 2);
    for phase in &mut job.phases.0 {
        match phase {
            PhaseSpec::Ping(spec) => spec.pings = spec.pings.min(connections),
            PhaseSpec::Get(put) => fit(put),
            PhaseSpec::Sustain(spec) => fit(&mut spec.put),
            _ => {}
        }
    }
}

/// The job of a cell against a server at these addresses. Each repeat has payloads and arrivals of its own, the same for all
/// targets.
pub(crate) fn job(plan: &Plan, cell: Cell, addresses: &[Address]) -> LoadJob {
    let setting = &plan.settings[cell.setting as usize];
    let target = &plan.targets[cell.target as usize];
    LoadJob {
        fleet: FleetSpec {
            addresses: addresses.iter().map(Address::to_string).collect(),
            seed: plan.seed.wrapping_add(u64::from(cell.repeat)),
            ..FleetSpec::from(setting)
        },
        phases: phases(setting, target),
    }
}

/// What is asked of this target: a page and a multiplexer have requests and waits of their own.
fn phases(setting: &Setting, target: &TargetRecord) -> Sequence {
    if let Some(spec) = multiplexer::spec(target, setting.connections) {
        return Sequence(vec![PhaseSpec::Multiplex(spec)]);
    }
    let mut phases = setting.phases.clone();
    if let (Some(page), Some(exchange)) = (&target.http, phases.exchange_mut()) {
        exchange.protocol = match exchange.connection {
            ConnectionUse::Kept => http::of_target(page, &exchange.protocol),
            ConnectionUse::PerMessage { .. } => http::get(page),
        };
    }
    phases
}

/// One of a fleet of ten, for the tests of what is made of its record.
#[cfg(test)]
pub(crate) fn for_tests() -> LoadJob {
    use crate::plan::{PlanDraft, resolve, test_environment};

    let text = "targets = ['poll']\nconnections = 10";
    let draft = PlanDraft::parse(text, "test").expect("a plan");
    let plan = resolve(draft, &test_environment(1)).expect("a plan").plan;
    let cell = Cell {
        target: 0,
        setting: 0,
        repeat: 0,
        server_lives_on: false,
    };
    let address = Address::any_loopback_port(std::net::Ipv4Addr::LOCALHOST.into());
    job(&plan, cell, std::slice::from_ref(&address))
}

#[cfg(test)]
mod tests {
    use throng_record::{AcceptSpec, Multiplexer, Protocol};

    use super::*;
    use crate::plan::{PlanDraft, resolve, test_environment};

    fn plan(text: &str) -> Plan {
        let draft = PlanDraft::parse(text, "test").expect(text);
        resolve(draft, &test_environment(2)).expect(text).plan
    }

    #[test]
    fn kept_connections_are_no_more_than_a_server_and_its_queue_hold_and_clients_are_all_there() {
        let of = |text: &str| connectable(&plan(text).settings[0], 1);
        assert_eq!(of("targets = ['poll']\nconnections = 30\nbacklog = 5"), 6);
        let backlog = "experiment = 'backlog'\ntargets = ['poll']\nclients = 30\nbacklog = 5";
        assert_eq!(of(backlog), 30);
    }

    #[test]
    fn no_more_are_pinged_than_a_server_can_be_given() {
        let plan = plan(
            "experiment = 'hold'\ntargets = ['poll']\nconnections = 30\npings = 'all'\nbacklog = 5\nshards = 8",
        );
        let cell = Cell {
            target: 0,
            setting: 0,
            repeat: 0,
            server_lives_on: false,
        };
        let address = "127.0.0.1:9".parse().expect("an address");
        let mut job = job(&plan, cell, std::slice::from_ref(&address));
        limit(&mut job, &plan.settings[0], 1);
        assert_eq!((job.fleet.connections, job.fleet.shards), (6, 6));
        let [_, _, PhaseSpec::Ping(spec), _] = &job.phases.0[..] else {
            panic!("{:?}", job.phases);
        };
        assert_eq!(spec.pings, 6);
    }

    #[test]
    fn each_multiplexer_is_asked_for_by_its_own_name() {
        let plan = plan(
            "experiment = 'accept'\nconnections = 300\ntargets = ['poll-published', 'epoll-edge']",
        );
        let work = |target| {
            let cell = Cell {
                target,
                setting: 0,
                repeat: 0,
                server_lives_on: false,
            };
            job(
                &plan,
                cell,
                &[Address::any_loopback_port(
                    std::net::Ipv4Addr::LOCALHOST.into(),
                )],
            )
            .phases
        };
        let spec = |multiplexer, published| {
            Sequence(vec![PhaseSpec::Multiplex(AcceptSpec {
                multiplexer,
                published,
                connections: 300,
            })])
        };
        assert_eq!(work(0), spec(Multiplexer::Poll, true));
        assert_eq!(work(1), spec(Multiplexer::EpollEdge, false));
    }

    #[test]
    fn the_one_that_speaks_is_one_that_is_served() {
        let plan =
            plan("experiment = 'fanout'\ntargets = ['poll']\nconnections = 5000\nbacklog = 16");
        let cell = Cell {
            target: 0,
            setting: 0,
            repeat: 0,
            server_lives_on: false,
        };
        let address = Address::any_loopback_port(std::net::Ipv4Addr::LOCALHOST.into());
        let mut job = job(&plan, cell, std::slice::from_ref(&address));
        limit(&mut job, &plan.settings[0], 1_018);
        assert_eq!(job.fleet.connections, 1_034);
        let PhaseSpec::Get(put) = &job.phases.0[2] else {
            panic!("{:?}", job.phases);
        };
        assert_eq!(put.speaker, 509);
    }

    #[test]
    fn each_page_is_asked_for_by_its_own_name() {
        let plan = plan(
            "experiment = 'backlog'\nservice-time = '2500us'\ntargets = ['http://127.0.0.1:81/a', 'poll']",
        );
        let address: Address = "127.0.0.1:81".parse().expect("an address");
        let sent = |target| {
            let cell = Cell {
                target,
                setting: 0,
                repeat: 0,
                server_lives_on: false,
            };
            let job = job(&plan, cell, std::slice::from_ref(&address));
            match job.phases.protocol().expect("one").clone() {
                Protocol::Request { send, .. } => String::from_utf8(send).expect("text"),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            sent(0),
            "GET /a HTTP/1.1\r\nHost: 127.0.0.1:81\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(
            sent(1),
            "GET /?delay=2.5 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        );
    }
}
