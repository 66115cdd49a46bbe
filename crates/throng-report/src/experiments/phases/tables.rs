//! The tables: one for each phase, in their order, with the figures of its kind and what it cost both sides.

use throng_record::PhaseName;

use crate::experiments::{crowd, messages, tls};
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, Sheet, figure, target, with_spread};
use crate::view::{Block, Brief};

pub(super) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let phases = phases(summary).into_iter();
    phases
        .map(|phase| Block::Rows(sheet(summary, phase)))
        .collect()
}

/// The phases of the plan: all its settings have the same.
fn phases(summary: &Summary<'_>) -> Vec<PhaseName> {
    let first = summary.plan.settings.first();
    let phases = first.iter().flat_map(|setting| &setting.phases.0);
    phases.map(|phase| phase.name()).collect()
}

fn sheet(summary: &Summary<'_>, phase: PhaseName) -> Sheet<Row> {
    let groups = summary.by_setting().into_iter();
    let heading = |heading: String| format!("{heading}: {}", phase.name());
    Sheet {
        labels: vec![target()],
        themes: vec![own(summary, phase), costs(summary, phase)],
        is_joined: true,
        groups: groups
            .map(|(of_setting, rows)| (heading(of_setting), rows))
            .collect(),
    }
}

/// The figures of its kind that are asked for most.
fn own(summary: &Summary<'_>, phase: PhaseName) -> Vec<Column<Row>> {
    let of = |key: &'static str| figure(&summary.figures, key);
    let median = |key: &'static str| with_spread(&summary.figures, key);
    match phase {
        PhaseName::Connect => vec![
            crowd::opened(),
            median("opened_ns"),
            median("connects_per_second"),
            of("connect_latency_ns_p50"),
            of("connect_latency_ns_p99"),
            of("connect_latency_ns_max"),
        ],
        PhaseName::Tls => tls::columns(&summary.figures),
        PhaseName::Exchange => vec![
            messages::rate(summary),
            of("latency_ns_p50"),
            of("latency_ns_p90"),
            of("latency_ns_p99"),
            of("latency_ns_p99_9"),
            of("latency_ns_max"),
        ],
        PhaseName::Hold => vec![median("hold_duration_ns"), of("lost")],
        PhaseName::Ping => vec![
            of("answered").headed("pings\nanswered"),
            median("ping_duration_ns"),
            of("ping_latency_ns_p50"),
            of("ping_latency_ns_p99"),
            of("ping_latency_ns_max"),
        ],
        PhaseName::Close => vec![median("close_duration_ns")],
        // No plan has these beside others.
        PhaseName::Acknowledge
        | PhaseName::Get
        | PhaseName::Sustain
        | PhaseName::Request
        | PhaseName::Multiplex => Vec::new(),
    }
}

fn costs(summary: &Summary<'_>, phase: PhaseName) -> Vec<Column<Row>> {
    let parts = [
        ("generator_cpu_ns", "generator\nCPU"),
        ("server_cpu_ns", "server\nCPU"),
        ("server_threads", "server\nthreads"),
        ("server_rss_bytes", "server\nRSS"),
    ];
    let column = |(part, heading): (&str, &str)| {
        let key = format!("{}_{part}", phase.name());
        figure(&summary.figures, key).headed(heading)
    };
    parts.map(column).into()
}

/// The last setting, which the others lead to.
pub(super) fn brief(summary: &Summary<'_>) -> Vec<Brief> {
    let of = |key| figure(&summary.figures, key);
    let columns = || {
        vec![
            target(),
            crowd::opened(),
            of("opened_ns"),
            of("messages_per_second"),
            of("latency_ns_p99"),
            of("lost"),
            of("ping_latency_ns_p99"),
            of("server_memory_per_connection_bytes"),
            of("connect_latency_ns_p99"),
            of("close_duration_ns"),
        ]
    };
    let last = summary.by_setting().pop();
    let brief = |(heading, rows)| Brief {
        heading: (summary.plan.settings.len() > 1).then_some(heading),
        columns: columns(),
        rows,
    };
    last.map(brief).into_iter().collect()
}
