//! Drafts laid over one another.

use std::time::Duration;

use throng_record::{Pacing, Protocol, SourceAddresses, Stop};

use super::{ECHO, asked};
use crate::plan::value::Addresses;
use crate::plan::{PlanDraft, Sweep, resolve, test_environment};

#[test]
fn what_stands_above_replaces_what_answers_the_same_question() {
    let over = |file: &str, flags: PlanDraft| {
        let file = ECHO.draft(file);
        resolve(file.overlay(flags), &test_environment(2)).map(|resolved| resolved.plan)
    };
    let flags = || PlanDraft::default();
    let messages = PlanDraft {
        messages: Some(Sweep::from(7)),
        ..flags()
    };
    assert_eq!(
        asked(
            &over("confidence = 0.1\nmax-duration = '9s'", messages)
                .unwrap()
                .settings[0]
        )
        .stop,
        Stop::Messages(7)
    );
    let lockstep = PlanDraft {
        lockstep: Some(Sweep::from(5)),
        ..flags()
    };
    assert_eq!(
        asked(
            &over("rate = 9\nspin = false\noutstanding = 2", lockstep)
                .unwrap()
                .settings[0]
        )
        .pacing,
        Pacing::Lockstep { group: 5 }
    );
    let outstanding = PlanDraft {
        outstanding: Some(Sweep::from(3)),
        ..flags()
    };
    assert_eq!(
        asked(&over("lockstep = 2", outstanding).unwrap().settings[0]).pacing,
        Pacing::Closed { outstanding: 3 }
    );
    let size = PlanDraft {
        size: Some(Sweep::from(9)),
        ..flags()
    };
    assert_eq!(
        asked(&over("send = 'a'\nexpect = 'b'", size).unwrap().settings[0]).protocol,
        Protocol::Echo { size_bytes: 9 }
    );
    let kernel = PlanDraft {
        addresses: Some(Sweep::from(Addresses::Kernel)),
        ..flags()
    };
    assert_eq!(
        over("source = '127.0.0.9'", kernel).unwrap().settings[0].source,
        SourceAddresses::Kernel
    );
    let targets = PlanDraft {
        targets: Some(vec!["io-uring".into()]),
        ..flags()
    };
    assert_eq!(over("baseline = 'poll'", targets).unwrap().baseline, 0);
    let both = PlanDraft {
        messages: Some(Sweep::from(7)),
        duration: Some(Sweep::from(Duration::from_secs(1))),
        ..flags()
    };
    assert!(
        over("", both).is_err(),
        "a conflict within the flags stays one"
    );
    let verify = PlanDraft {
        verify: Some(Sweep::from(false)),
        ..flags()
    };
    assert_eq!(over("repeats = 4", verify).unwrap().repeats, 4);
}
