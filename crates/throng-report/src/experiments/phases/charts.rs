//! The charts of whatever phases there are: how connections opened, and those of messages where there are any.

use throng_record::Trial;

use crate::chart::{Chart, Curve, Drawn, Percent, percentiles};
use crate::experiments::messages;

pub(super) fn charts(drawn: &Drawn<'_>) -> Vec<Chart> {
    let mut charts = messages::charts::charts(drawn, &|_| None);
    charts.extend(percentiles(
        drawn,
        &Curve {
            name: "connects",
            title: "Connects by percentile",
            caption: "How long the slowest connects take: at 99 % one in a hundred took longer than the curve is high.",
            axis: "connect latency",
            of: |trial: &Trial| Some(&trial.phases.connect()?.latency),
            along: Percent::Nines,
        },
    ));
    charts
}
