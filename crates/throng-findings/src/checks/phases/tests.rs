use throng_record::{
    Arrivals, ClosePhase, ConnectPhase, ConnectStop, Histogram, HoldPhase, LinePhase, Measured,
    PhaseSpec, PingPhase, PutSpec, Sequence, SustainSpec, SustainedPhase, TargetKind, Verdict,
    histogram,
};

use super::*;
use crate::hand_made::{Case, ended_with};

/// What is asked of a hundred connections.
#[derive(Clone, Copy)]
enum Asked {
    Hold,
    Fanout,
    Sustain,
}

impl Asked {
    fn phases(self) -> Sequence {
        let put = PutSpec {
            line: b"hello\n".to_vec(),
            speaker: 5,
        };
        let greeted = PhaseSpec::Acknowledge {
            greeting: b"connected\n".to_vec(),
        };
        let asked = match self {
            Self::Hold => vec![PhaseSpec::Hold { duration_ns: 0 }],
            Self::Fanout => vec![greeted, PhaseSpec::Get(put)],
            Self::Sustain => {
                let lines = SustainSpec {
                    put: put.clone(),
                    rate_per_second: 10.0,
                    arrivals: Arrivals::Constant,
                    duration_ns: 1_000_000_000,
                };
                vec![greeted, PhaseSpec::Get(put), PhaseSpec::Sustain(lines)]
            }
        };
        Sequence::on_open_connections(asked)
    }
}

impl Case {
    /// Of 100 connections to a built-in server, with both sides half busy.
    fn new(asked: Asked, connected: u32, heard: Option<u32>) -> Self {
        let mut case = Self::echo();
        case.setting.connections = 100;
        case.setting.phases = asked.phases();
        case.trial.job.phases = asked.phases();
        case.target.kind = TargetKind::BuiltIn;
        case.server_used(Some(0.5));
        case.generator_used(Some(0.5));
        case.end(Ending::in_order_for_tests());
        case.trial.phases = Phases::from_iter([Measured::Connect(ConnectPhase {
            connected,
            ..ConnectPhase::default()
        })]);
        if let Some(received) = heard {
            case.trial.phases.push(Measured::Acknowledge(LinePhase {
                due: connected,
                received,
                ..LinePhase::default()
            }));
        }
        case
    }

    /// What went wrong with the greetings.
    fn greeting_errors(&mut self) -> &mut ErrorCounts {
        let greeting = self.trial.phases.greeting_mut();
        &mut greeting.expect("made with one").errors
    }

    /// What went wrong when all were closed.
    fn close_errors(&mut self) -> &mut ErrorCounts {
        if self.trial.phases.close().is_none() {
            let close = Measured::Close(ClosePhase::default());
            self.trial.phases.push(close);
        }
        let close = self.trial.phases.close_mut();
        &mut close.expect("just put").errors
    }

    /// Held, and then pinged.
    fn held(&mut self, hold: HoldPhase, ping: PingPhase) {
        self.trial.phases.push(Measured::Hold(hold));
        self.trial.phases.push(Measured::Ping(ping));
    }

    fn stopped(mut self, kind: ErrorKind) -> Self {
        let connect = self.connect();
        connect.errors.count(kind, String::new);
        connect.stop = Some(ConnectStop {
            connection: 60,
            open: 60,
            at_ns: 1,
            kind,
            message: "the kernel's words".to_owned(),
        });
        self
    }

    fn checks(&self) -> Vec<Check> {
        super::super::all(&self.evidence())
    }

    fn verdict(&self) -> Verdict {
        Verdict::of(&self.checks())
    }

    fn told(&self, kind: CheckKind) -> Check {
        let checks = self.checks();
        let check = checks.into_iter().find(|check| check.kind == kind);
        check.expect("every check is made")
    }
}

#[test]
fn all_connections_opened_and_heard_are_valid() {
    assert_eq!(Case::new(Asked::Hold, 100, None).verdict(), Verdict::Valid);
    let fanout = Case::new(Asked::Fanout, 100, Some(100));
    assert_eq!(fanout.verdict(), Verdict::Valid);
    let law = fanout.told(CheckKind::LittlesLaw);
    assert_eq!(law.result, CheckResult::NotApplicable);
}

#[test]
fn a_generator_without_ports_or_descriptors_leaves_a_part() {
    for kind in [ErrorKind::PortsExhausted, ErrorKind::DescriptorsExhausted] {
        let case = Case::new(Asked::Hold, 60, None).stopped(kind);
        assert_eq!(case.verdict(), Verdict::Partial);
        let opened = case.told(CheckKind::UnservedConnections).detail;
        assert_eq!(opened, "opened 60 of 100: the kernel's words");
        let mut also_reset = case;
        also_reset
            .close_errors()
            .count(ErrorKind::Reset, String::new);
        assert_eq!(also_reset.verdict(), Verdict::Invalid);
    }
}

#[test]
fn a_late_close_is_told_and_undoes_nothing() {
    let mut case = Case::new(Asked::Fanout, 100, Some(100));
    case.close_errors()
        .count(ErrorKind::CloseTimedOut, String::new);
    assert_eq!(case.verdict(), Verdict::Valid);
    let told = case.told(CheckKind::UnexpectedErrors).detail;
    assert!(told.contains("slow to close"), "{told}");
    assert!(!told.contains("half-close"), "{told}");
}

#[test]
fn pings_that_were_given_up_are_told() {
    let mut case = Case::new(Asked::Hold, 100, None);
    let mut pings = PingPhase {
        not_pinged: 84,
        ..PingPhase::default()
    };
    pings.errors.count(ErrorKind::ReplyTimedOut, String::new);
    case.held(HoldPhase::default(), pings);
    assert_eq!(case.verdict(), Verdict::Invalid);
    let told = case.told(CheckKind::UnexpectedErrors).detail;
    assert!(told.contains("84 pings were not sent"), "{told}");
}

#[test]
fn connects_that_time_out_are_a_fault_unless_the_server_says_why() {
    let mut case = Case::new(Asked::Fanout, 80, Some(60)).stopped(ErrorKind::ConnectTimedOut);
    case.greeting_errors()
        .count(ErrorKind::NotDelivered, String::new);
    assert_eq!(case.verdict(), Verdict::Invalid);
    let opened = case.told(CheckKind::UnservedConnections).detail;
    assert!(opened.starts_with("serves 60 of 100"), "{opened}");
    assert!(opened.contains("the kernel's words"), "{opened}");

    case.end(ended_with(
        "note: accepting was paused 3 times, first because of: it was full",
    ));
    assert_eq!(case.verdict(), Verdict::Partial);
    let opened = case.told(CheckKind::UnservedConnections).detail;
    assert!(
        opened.starts_with("serves 60 of 100: accepting was paused"),
        "{opened}"
    );
    let errors = case.told(CheckKind::UnexpectedErrors);
    assert_eq!(errors.result, CheckResult::Passed, "{}", errors.detail);

    case.close_errors()
        .count(ErrorKind::WrongBytes, String::new);
    assert_eq!(case.verdict(), Verdict::Invalid);
}

#[test]
fn a_server_that_is_bounded_by_design_serves_a_part() {
    let mut case = Case::new(Asked::Fanout, 100, Some(4));
    case.greeting_errors()
        .count(ErrorKind::NotDelivered, String::new);
    assert_eq!(case.verdict(), Verdict::Invalid);
    case.trial.job.fleet.serves_at_once = Some(4);
    assert_eq!(case.verdict(), Verdict::Partial);
    case.trial.job.fleet.serves_at_once = Some(7);
    assert_eq!(case.verdict(), Verdict::Invalid, "fewer than it declares");
    let mut held = Case::new(Asked::Hold, 100, None);
    held.trial.job.fleet.serves_at_once = Some(4);
    assert_eq!(
        held.verdict(),
        Verdict::Partial,
        "the others wait to be accepted"
    );
}

#[test]
fn lines_at_a_rate_are_qualified_by_a_generator_that_is_full_or_late() {
    let late = |late_ns: u64| {
        let mut live = histogram::empty();
        live.record_n(late_ns, 100).expect("within range");
        let mut case = Case::new(Asked::Sustain, 100, Some(100));
        case.trial.phases.push(Measured::Sustain(SustainedPhase {
            scheduling_error: Histogram::from(&live),
            ..SustainedPhase::default()
        }));
        case
    };
    assert_eq!(late(50_000).verdict(), Verdict::Valid);
    assert_eq!(late(200_000).verdict(), Verdict::Qualified);
    let mut full = late(50_000);
    full.generator_used(Some(0.99));
    assert_eq!(full.verdict(), Verdict::Qualified);
    let mut single = Case::new(Asked::Fanout, 100, Some(100));
    single.generator_used(Some(0.99));
    assert_eq!(
        single.verdict(),
        Verdict::Valid,
        "one line is as fast as it goes"
    );
}

#[test]
fn what_stands_in_the_accept_queue_is_not_served() {
    let mut case = Case::new(Asked::Hold, 100, None);
    case.trial.unaccepted = Some(40);
    let mut pings = PingPhase {
        pinged: 10,
        answered: 6,
        ..PingPhase::default()
    };
    pings.errors.count(ErrorKind::ReplyTimedOut, String::new);
    case.held(HoldPhase::default(), pings);
    assert_eq!(case.verdict(), Verdict::Partial);
    let opened = case.told(CheckKind::UnservedConnections).detail;
    assert!(opened.starts_with("serves 60 of 100: 40 more"), "{opened}");
    case.trial.phases.ping_mut().expect("just put").answered = 0;
    assert_eq!(case.verdict(), Verdict::Invalid, "nobody is served");
}

/// It stops accepting at 60 connections, and resets some of those that it has.
#[test]
fn a_server_without_room_for_all_may_not_reset_those_that_it_has() {
    for kind in [ErrorKind::Reset, ErrorKind::ClosedEarly] {
        let mut case = Case::new(Asked::Hold, 100, None);
        case.trial.unaccepted = Some(40);
        assert_eq!(case.verdict(), Verdict::Partial);
        let mut hold = HoldPhase::default();
        hold.errors.count(kind, String::new);
        case.held(hold, PingPhase::default());
        assert_eq!(case.verdict(), Verdict::Invalid, "{kind:?}");
        case.trial.unaccepted = Some(0);
        case.trial.job.fleet.serves_at_once = Some(4);
        assert_eq!(case.verdict(), Verdict::Invalid, "{kind:?} in a pool");
    }
}

#[test]
fn connections_that_the_server_closed_for_want_of_threads_are_not_served() {
    let mut case = Case::new(Asked::Hold, 100, None);
    let mut hold = HoldPhase::default();
    for _ in 0..30 {
        hold.errors.count(ErrorKind::ClosedEarly, String::new);
    }
    case.held(hold, PingPhase::default());
    assert_eq!(case.verdict(), Verdict::Invalid);
    case.end(ended_with(
        "note: 30 connections were closed unserved: no thread",
    ));
    assert_eq!(case.verdict(), Verdict::Partial);
    let opened = case.told(CheckKind::UnservedConnections).detail;
    assert!(opened.starts_with("serves 70 of 100"), "{opened}");
}

#[test]
fn connections_that_a_burst_has_seen_closed_are_not_served_and_those_in_the_queue_count_once() {
    let mut case = Case::new(Asked::Hold, 100, None);
    case.connect().lost = 40;
    let mut hold = HoldPhase::default();
    let mut pings = PingPhase {
        pinged: 55,
        answered: 30,
        ..PingPhase::default()
    };
    for _ in 0..5 {
        hold.errors.count(ErrorKind::ClosedEarly, String::new);
    }
    for _ in 0..7 {
        pings.errors.count(ErrorKind::Reset, String::new);
    }
    for _ in 0..18 {
        pings.errors.count(ErrorKind::ReplyTimedOut, String::new);
    }
    case.held(hold, pings);
    let accepted = |unaccepted| accepted(&case.trial.phases, unaccepted);
    assert_eq!(accepted(0), 30);
    assert_eq!(accepted(18), 30, "the silent ones wait there");
    assert_eq!(accepted(20), 28);
}
