//! Drafts laid over one another.

use std::time::Duration;

use throng_record::{Pacing, Protocol, SourceAddresses, Stop};

use super::with_targets;
use crate::plan::value::Addresses;
use crate::plan::{PlanDraft, resolve, test_environment};

#[test]
fn what_stands_above_replaces_what_answers_the_same_question() {
    let over = |file: &str, flags: PlanDraft| {
        let file = PlanDraft::parse(&with_targets(file), "plan.toml").expect(file);
        resolve(file.overlay(flags), &test_environment(2)).map(|resolved| resolved.plan)
    };
    let flags = || PlanDraft::default();
    let messages = PlanDraft {
        messages: Some(7),
        ..flags()
    };
    assert_eq!(
        over("confidence = 0.1\nmax-duration = '9s'", messages)
            .unwrap()
            .stop,
        Stop::Messages(7)
    );
    let lockstep = PlanDraft {
        lockstep: Some(5),
        ..flags()
    };
    assert_eq!(
        over("rate = 9\nspin = false\noutstanding = 2", lockstep)
            .unwrap()
            .pacing,
        Pacing::Lockstep { group: 5 }
    );
    let outstanding = PlanDraft {
        outstanding: Some(3),
        ..flags()
    };
    assert_eq!(
        over("lockstep = 2", outstanding).unwrap().pacing,
        Pacing::Closed { outstanding: 3 }
    );
    let size = PlanDraft {
        size: Some(9),
        ..flags()
    };
    assert_eq!(
        over("send = 'a'\nexpect = 'b'", size).unwrap().protocol,
        Protocol::Echo { size_bytes: 9 }
    );
    let kernel = PlanDraft {
        addresses: Some(Addresses::Kernel),
        ..flags()
    };
    assert_eq!(
        over("source = '127.0.0.9'", kernel).unwrap().source,
        SourceAddresses::Kernel
    );
    let targets = PlanDraft {
        targets: Some(vec!["io-uring".into()]),
        ..flags()
    };
    assert_eq!(over("baseline = 'poll'", targets).unwrap().baseline, 0);
    let both = PlanDraft {
        messages: Some(7),
        duration: Some(Duration::from_secs(1)),
        ..flags()
    };
    assert!(
        over("", both).is_err(),
        "a conflict within the flags stays one"
    );
    let verify = PlanDraft {
        verify: Some(false),
        ..flags()
    };
    assert_eq!(over("repeats = 4", verify).unwrap().repeats, 4);
}

#[test]
fn a_plan_is_shortened_by_its_own_table_or_by_the_usual_one() {
    let short = |text: &str| {
        let draft = PlanDraft::parse(&with_targets(text), "plan.toml").expect(text);
        resolve(draft.shortened(), &test_environment(2)).expect(text)
    };
    let own = short("repeats = 6\nduration = '2s'\n[quick]\nrepeats = 3\nmessages = 50").plan;
    assert_eq!(
        (own.repeats, own.stop, own.quick),
        (3, Stop::Messages(50), true)
    );
    let usual = short("repeats = 9\nconfidence = 0.01").plan;
    assert_eq!(
        (usual.repeats, usual.stop),
        (2, Stop::DurationNs(400_000_000))
    );
    let shorter_already = short("repeats = 1\nduration = '100ms'").plan;
    assert_eq!(
        (shorter_already.repeats, shorter_already.stop),
        (1, Stop::DurationNs(100_000_000))
    );
    let counted = short("messages = 1000").plan;
    assert_eq!(counted.stop, Stop::Messages(1000));
}

#[test]
fn a_short_form_ends_below_two_minutes() {
    let text =
        "connections = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20]\n[quick]\nrepeats = 5\nduration = '10s'";
    let draft = PlanDraft::parse(&with_targets(text), "plan.toml").expect("a plan");
    let resolved = resolve(draft.shortened(), &test_environment(2)).expect("resolves");
    assert!(crate::estimate(&resolved.plan) < Duration::from_secs(120));
    assert!(
        resolved
            .notes
            .iter()
            .any(|note| note.contains("shortened to")),
        "{:?}",
        resolved.notes
    );
}
