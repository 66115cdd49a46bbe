//! The charts of messages: throughput or latency along the sweep and by target, the percentiles of latency, and replies over time.

use throng_record::Trial;

use crate::chart::{Along, Bars, Chart, Curve, Drawn, Percent, along, bars, percentiles, progress};
use crate::ratio::Compared;
use crate::row::Row;
use crate::text::capital;

const BARS: &str = "A bar for each target: the median over repeats, and its interval as a line across the end. Hollow: measured on a disturbed machine. ✕: no figure that holds.";
const ALONG: &str = "A line for each target, over what was swept: medians over repeats with their intervals. Hollow marks: measured on a disturbed machine. What has no figure that holds is left out; the tables say why.";

pub(crate) fn charts(drawn: &Drawn<'_>, published: &dyn Fn(&Row) -> Option<f64>) -> Vec<Chart> {
    let unit = drawn.summary.unit;
    let sweep = [
        ("rate-along", capital(unit), "messages_per_second"),
        (
            "latency-along",
            "99th percentile of latency".to_owned(),
            "latency_ns_p99",
        ),
        (
            "cpu-along",
            "CPU time of the server for each message".to_owned(),
            "server_cpu_per_message_ns",
        ),
    ];
    let sweep = sweep.map(|(name, title, key)| {
        along(
            drawn,
            Along {
                name,
                title,
                caption: ALONG,
                key,
                published: Vec::new(),
            },
        )
    });
    // Of a rate that was given, throughput says nothing.
    let (title, key) = match drawn.summary.compared() {
        Compared::MessagesPerSecond | Compared::CapacityPerSecond => {
            (capital(unit), "messages_per_second")
        }
        Compared::LatencyP99 => ("99th percentile of latency".to_owned(), "latency_ns_p99"),
    };
    let by_target = bars(
        drawn,
        &Bars {
            name: "by-target",
            title: format!("{title} by target"),
            caption: BARS,
            key,
            groups: drawn.summary.by_setting(),
            label: &|row| row.target.clone(),
            published,
        },
    );
    let mut charts: Vec<Chart> = sweep.into_iter().flatten().collect();
    charts.extend(by_target);
    charts.extend(latency(drawn));
    charts.extend(progress(drawn));
    charts
}

/// The percentiles of the latencies of an exchange.
fn latency(drawn: &Drawn<'_>) -> Option<Chart> {
    percentiles(
        drawn,
        &Curve {
            name: "percentiles",
            title: "Latency by percentile",
            caption: "How long the slowest take: at 99 % one message in a hundred took longer than the curve is high. The further right a curve stays low, the steadier its server.",
            axis: "latency",
            of: |trial: &Trial| Some(&trial.phases.exchange()?.latency),
            along: Percent::Nines,
        },
    )
}
