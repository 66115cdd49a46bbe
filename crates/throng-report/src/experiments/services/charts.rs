//! When clients were done, by system and variant, beside what is published; and what a request cost.

use super::tables::{DONE, by_target, told};
use crate::chart::{Bars, Chart, Drawn, bars};
use crate::published::Published;
use crate::row::Row;

pub(super) fn charts(drawn: &Drawn<'_>) -> Vec<Chart> {
    let told = told(drawn.summary);
    let label = |row: &Row| {
        let swept = row.swept.iter().filter(|one| told.contains(&one.key));
        let swept = swept.map(ToString::to_string);
        let words: Vec<String> = std::iter::once(row.target.clone()).chain(swept).collect();
        words.join(" · ")
    };
    let published = |row: &Row| match &row.published {
        Some(Published::Services(found)) => Some(found.seconds * 1e9),
        _ => None,
    };
    let groups = || vec![(String::new(), by_target(drawn.summary))];
    let charts = [
        bars(
            drawn,
            &Bars {
                name: "completion",
                title: "When a client is done".to_owned(),
                caption: "Mean over clients, from the begin to the last reply of a client; a bar for each system and variant. Hollow: measured on a disturbed machine. ◆: the published time, of another machine with clients in Python.",
                key: DONE,
                groups: groups(),
                label: &label,
                published: &published,
            },
        ),
        bars(
            drawn,
            &Bars {
                name: "cpu",
                title: "CPU time of the services for each request".to_owned(),
                caption: "What a request costs the services, whatever else takes its time.",
                key: "server_cpu_per_message_ns",
                groups: groups(),
                label: &label,
                published: &|_| None,
            },
        ),
    ];
    charts.into_iter().flatten().collect()
}
