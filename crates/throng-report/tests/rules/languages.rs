//! The published echo servers beside measured ones: only of the same name, asked the same.

use throng_record::{Amount, Pacing, RunRecord};
use throng_report::experiments::echo::published as languages;
use throng_report::published::Published;
use throng_report::row::Row;
use throng_report::{Format, Summary};

use super::{fixture, terminal};

/// Two targets that are published, and one that is not, asked as there: without a warm-up, then with.
fn as_published() -> RunRecord {
    let mut record = fixture::closed();
    let names = ["cpp/epoll", "python/gevent", "poll"];
    for (target, name) in record.plan.targets.iter_mut().zip(names) {
        name.clone_into(&mut target.name);
    }
    for setting in &mut record.plan.settings {
        fixture::asked(setting).pacing = Pacing::Lockstep { group: 2 };
    }
    record
}

fn with_warmup(mut record: RunRecord, warmup: Amount) -> RunRecord {
    for setting in &mut record.plan.settings {
        fixture::asked(setting).warmup = warmup;
    }
    record
}

fn row(record: &RunRecord, target: &str) -> Option<Row> {
    let mut rows = Summary::of(record).rows.into_iter();
    rows.find(|row| row.connections == 100 && row.target == target)
}

fn beside(row: Row) -> Option<languages::PublishedRate> {
    match row.published? {
        Published::Echo(beside) => Some(beside),
        other => panic!("of another experiment: {other:?}"),
    }
}

fn published(record: &RunRecord, target: &str) -> Option<f64> {
    let row = row(record, target).expect("the plan has it");
    beside(row).map(|one| one.published_messages_per_second)
}

#[test]
fn the_first_run_stands_beside_a_cold_server_and_the_median_of_the_later_ones_beside_a_warm_one() {
    let cold = with_warmup(as_published(), Amount::DurationNs(0));
    assert_eq!(published(&cold, "cpp/epoll"), Some(117_036.86));
    let warm = with_warmup(as_published(), Amount::Messages(1_000));
    let median = f64::midpoint(118_702.63, 119_129.38);
    assert_eq!(published(&warm, "cpp/epoll"), Some(median));
    assert_eq!(published(&warm, "poll"), None);
}

#[test]
fn of_several_published_versions_the_latest_stands_in_the_table() {
    let row = row(&as_published(), "python/gevent").expect("the plan has it");
    let name = &beside(row).expect("published").published.name;
    assert_eq!(name, "gevent 1.0a2, Python 2.7.2");
}

#[test]
fn what_was_asked_otherwise_has_nothing_beside_it() {
    let mut closed = as_published();
    for setting in &mut closed.plan.settings {
        fixture::asked(setting).pacing = Pacing::Closed { outstanding: 1 };
    }
    assert_eq!(published(&closed, "cpp/epoll"), None);
    assert!(!terminal(&closed, None, false).contains("published"));
    let text = terminal(&as_published(), None, false);
    assert!(
        text.contains("published") && text.contains("Intel Core 2"),
        "{text}"
    );
    let record = as_published();
    let summary = Summary::of(&record);
    let mut elsewhere = summary.rows.iter().filter(|row| row.connections != 100);
    assert!(elsewhere.all(|row| row.published.is_none()));
    let json = throng_report::render(&closed, Format::Json, &throng_report::Options::default());
    assert!(!json.contains("published_messages_per_second"));
}

#[test]
fn the_transcript_is_whole() {
    let results = &languages::reference().results;
    assert_eq!(results.len(), 21, "as many as the page has");
    for one in results {
        let runs = &one.messages_per_second;
        assert!(runs.len() >= 3, "{}", one.name);
        assert!(
            runs.iter().all(|run| (10_000.0..200_000.0).contains(run)),
            "{}",
            one.name
        );
    }
}
