use std::path::Path;

use super::*;
use crate::hand_made::{Case, listener};

#[test]
fn every_finding_has_a_title_and_a_page_that_the_index_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings");
    let index = std::fs::read_to_string(folder.join("README.md")).expect("an index");
    for Kind { name, title, page } in KINDS {
        for section in [
            "## What you see",
            "## What happens in the kernel",
            "## The evidence",
            "## The remedy",
            "## To provoke it",
            "## What it is not",
        ] {
            assert!(page.contains(section), "{name} lacks {section:?}");
        }
        assert!(page.starts_with(&format!("# {title}\n")), "{name}: {title}");
        let line = format!("| [{title}]({name}.md) |");
        assert!(index.contains(&line), "the index lacks {line}");
    }
    let pages = std::fs::read_dir(&folder).expect("readable").count();
    assert_eq!(
        pages,
        KINDS.len() + 1,
        "a page for each finding, and the index"
    );
}

fn names(case: &Case) -> Vec<&'static str> {
    let found = find(&case.evidence());
    found.iter().map(|finding| kind(finding).name).collect()
}

#[test]
fn an_uneventful_trial_has_no_findings() {
    assert_eq!(names(&Case::backlog()), [""; 0]);
    assert_eq!(names(&Case::echo()), [""; 0]);
}

#[test]
fn what_lost_most_stands_first() {
    let mut case = Case::backlog();
    case.counter("TcpExt.ListenOverflows", 31);
    case.counter("TcpExt.SyncookiesSent", 9);
    case.account().final_acks_dropped = 4;
    case.account().delayed = 100;
    case.account().delayed_by_accept_queue = 100;
    case.ask_for_backlog(256);
    case.trial.job.fleet.serves_at_once = Some(1);
    case.seen.somaxconn = Some(128);
    case.queue().listeners = vec![listener(128, 129, 50.0)];
    case.fail(throng_record::ErrorKind::ConnectRefused);
    assert_eq!(
        names(&case),
        [
            "connections-refused",
            "accept-queue-overflow",
            "backlog-clamped",
            "final-ack-dropped",
            "syn-cookies",
            "too-few-acceptors",
        ]
    );
}
