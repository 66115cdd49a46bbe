//! The latencies of a run as an `HdrHistogram` interval log, which `HistogramLogAnalyzer`, `HdrHistogramVisualizer` and the readers of Java, Go and Python
//! take: a line for each distribution of each trial, under a tag that says of which target, setting and distribution it is.
//!
//! Left out are trials that a later attempt stands for, and distributions without a value.

use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use throng_record::{RunRecord, Trial};

use crate::figure::Figure;
use crate::figures;
use crate::setting::heading;
use crate::target;

/// Values are nanoseconds; the greatest of each line is told in milliseconds, as other writers of such logs do.
const NANOSECONDS_IN_MILLISECOND: f64 = 1e6;

/// What writing to memory cannot come to.
const WRITTEN: &str = "within the range of a record's histograms, and written to memory";

pub(crate) fn render(record: &RunRecord) -> String {
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let began = humantime::parse_rfc3339_weak(&record.started_at).unwrap_or(SystemTime::UNIX_EPOCH);
    let plan = format!(
        "plan {} by throng {}",
        record.plan.name, record.throng_version
    );
    let mut writer = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(&plan.replace(['\r', '\n'], " "))
        .with_start_time(began)
        .with_base_time(began)
        .with_max_value_divisor(NANOSECONDS_IN_MILLISECOND)
        .begin_log_with(&mut log, &mut serializer)
        .expect(WRITTEN);
    let figures = figures::of_plan(&record.plan);
    let is_whole = |figure: &&Figure| figure.stands_for_distribution();
    for trial in record.counted() {
        for distribution in figures.iter().filter(is_whole) {
            let Some(latencies) = distribution.latencies_of(trial) else {
                continue;
            };
            // What cannot be read back is told by every other report.
            let Ok(live) = latencies.decode() else {
                continue;
            };
            if live.is_empty() {
                continue;
            }
            let tag = tag(record, trial, distribution);
            let since = Duration::from_nanos(trial.started_at_ns);
            let took = Duration::from_nanos(trial.duration_ns);
            writer
                .write_histogram(&live, since, took, Tag::new(&tag))
                .expect(WRITTEN);
        }
    }
    String::from_utf8(log).expect("numbers, base64 and what was text before")
}

/// `epoll-edge:100_connections:latency`: neither blanks nor commas may be in it.
fn tag(record: &RunRecord, trial: &Trial, distribution: &Figure) -> String {
    let setting = record.plan.settings.get(trial.setting as usize);
    let words = [
        target::name(&record.plan, trial.target).to_owned(),
        setting.map_or_else(String::new, heading),
        distribution.distribution().to_owned(),
    ];
    let plain = |letter: char| {
        let parts = letter.is_whitespace() || letter.is_control() || matches!(letter, ',' | ':');
        if parts { '_' } else { letter }
    };
    words
        .map(|word| word.chars().map(plain).collect::<String>())
        .join(":")
}
