//! Interval logs of `HdrHistogram`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use throng_record::RunRecord;
use throng_report::{Format, Options, render};

use crate::fixture::{closed, services};

/// Each line: its tag and its histogram.
fn lines(record: &RunRecord) -> Vec<(String, Histogram<u64>)> {
    let log = render(record, Format::HdrLog, &Options::default());
    let entries = IntervalLogIterator::new(log.as_bytes()).map(|entry| entry.expect("a line"));
    let interval = |entry: LogEntry<'_>| match entry {
        LogEntry::Interval(interval) => {
            let bytes = STANDARD
                .decode(interval.encoded_histogram())
                .expect("base64");
            let histogram = Deserializer::new().deserialize(&mut bytes.as_slice());
            let tag = interval.tag().expect("each line has one");
            Some((tag.to_string(), histogram.expect("compressed")))
        }
        _ => None,
    };
    entries.filter_map(interval).collect()
}

#[test]
fn each_trial_has_a_line_with_all_of_its_latencies() {
    let record = closed();
    let lines = lines(&record);
    let tag = "epoll-edge:10_connections:latency";
    let own: Vec<_> = lines.iter().filter(|(own, _)| own == tag).collect();
    assert_eq!(own.len(), 6, "of each repeat");
    let first = record.trials.iter().find(|trial| trial.target == 0);
    let asked = first
        .and_then(|trial| trial.phases.exchange())
        .expect("measured");
    let (_, histogram) = own[0];
    assert_eq!(histogram.len(), asked.latency.count);
    assert_eq!(histogram.value_at_quantile(0.99), asked.latency.p99_ns);
    let connects = "epoll-edge:10_connections:connect_latency";
    assert!(lines.iter().any(|(tag, _)| tag == connects));
}

#[test]
fn whatever_a_target_is_called_a_tag_is_one_word() {
    let mut record = services();
    record.plan.targets[0].name = "a, b:\n<script>".to_owned();
    let lines = lines(&record);
    assert!(
        lines
            .iter()
            .any(|(tag, _)| tag.starts_with("a__b__<script>:"))
    );
    for (tag, _) in lines {
        assert_eq!(tag.split(':').count(), 3, "{tag}");
    }
}

#[test]
fn what_cannot_be_read_back_is_left_out() {
    let mut record = closed();
    for trial in &mut record.trials {
        if let Some(exchange) = trial.phases.exchange_mut() {
            exchange.latency.hdr_v2_base64 = "????".to_owned();
        }
    }
    let has_latency = |(tag, _): &(String, _)| tag.ends_with(":latency");
    assert!(!lines(&record).iter().any(has_latency));
}
