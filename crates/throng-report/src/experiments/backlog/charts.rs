//! The amplification over clients and backlogs, and one cell in time: when which connect was slow, and how long the queue was.

use throng_record::{Cause, DepthSample, RequestRecord, Trial};

use super::tables::{Table, published, tables};
use crate::chart::{
    Axis, Chart, Drawn, Form, Heat, Look, Mark, Panel, Picture, Point, Series, View, typical,
};
use crate::failures;
use crate::format::{self, plural, time_ns};
use crate::published::Published;
use crate::row::Row;
use crate::setting::{clients_by_requests, requests_each};
use crate::unit::Unit;

pub(super) fn charts(drawn: &Drawn<'_>) -> Vec<Chart> {
    let tables = tables(drawn.summary);
    [heat(drawn, &tables), in_time(drawn, &tables)]
        .into_iter()
        .flatten()
        .collect()
}

/// A view for each target: columns are backlogs, lines clients × requests.
fn heat(drawn: &Drawn<'_>, tables: &[Table<'_>]) -> Option<Chart> {
    let targets = drawn.record.plan.targets.iter();
    let view = |name: &str| {
        let own: Vec<&Table<'_>> = tables.iter().filter(|table| table.target == name).collect();
        let has_any = |table: &&&Table<'_>| {
            let mut rows = table.rows.iter();
            rows.any(|row| row.value("amplification").is_some())
        };
        own.iter().find(has_any)?;
        let lines = own.first()?.rows.len();
        let cells = (0..lines).rev().map(|line| {
            let cells = own.iter().map(|table| table.rows.get(line));
            cells
                .map(|row| row.map_or((None, String::new()), |row| cell(row)))
                .collect()
        });
        let label = |row: &&Row| {
            let setting = &drawn.summary.plan.settings[row.setting as usize];
            clients_by_requests(row.connections, requests_each(setting))
        };
        let heading = |table: &&Table<'_>| {
            let heading = table.heading();
            let short = heading.strip_prefix(name).unwrap_or(&heading);
            short.trim_start_matches(" · ").to_owned()
        };
        Some(View {
            label: name.to_owned(),
            picture: Picture::Heat(Heat {
                y_title: "clients × requests of each".to_owned(),
                x: own.iter().map(heading).collect(),
                y: own.first()?.rows.iter().rev().map(label).collect(),
                cells: cells.collect(),
            }),
        })
    };
    Chart::of_views(
        "amplification",
        "How much longer than necessary",
        "Time of all requests ÷ the least possible: 1× is a server that is never held up. Below it, in parentheses, what is published of the same cell. ‡: requests failed, so that no ratio says anything.",
        "target",
        targets.filter_map(|target| view(&target.name)),
    )
}

fn cell(row: &Row) -> (Option<f64>, String) {
    let value = row.value("amplification");
    let mark = match (failures::of_row(row).total(), value) {
        (0, _) => row.trials.mark(),
        (_, _) => "‡ ",
    };
    let own = match (value, row.value("duration_ns")) {
        (Some(times), _) => format!("{mark}{}×", format::ratio(times)),
        (None, Some(total)) => format!("{mark}{}", time_ns(total)),
        (None, None) => "–".to_owned(),
    };
    let beside = match &row.published {
        Some(Published::Backlog(found)) => format!("\n({})", published_of(found)),
        _ => String::new(),
    };
    (value, own + &beside)
}

/// Amplifications where they are known, and times else.
fn published_of(found: &super::published::Published) -> String {
    let least = found
        .amplifications
        .iter()
        .copied()
        .fold(f64::MAX, f64::min);
    let most = found.amplifications.iter().copied().fold(0.0, f64::max);
    match found.amplifications.is_empty() {
        true => published(found),
        false if least == most => format!("{}×", format::ratio(least)),
        false => format!("{}–{}×", format::ratio(least), format::ratio(most)),
    }
}

/// A view for each cell in which a request was slow or failed, the one with the most SYNs that were dropped first.
fn in_time(drawn: &Drawn<'_>, tables: &[Table<'_>]) -> Option<Chart> {
    let rows = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, *row)));
    let mut rows: Vec<(&Table<'_>, &Row)> = rows.collect();
    let dropped = |row: &Row| row.value("syn_retransmissions").unwrap_or_default();
    rows.sort_by(|(_, one), (_, other)| dropped(other).total_cmp(&dropped(one)));
    let view = |(table, row): (&Table<'_>, &Row)| {
        let length = |trial: &Trial| Some(trial.phases.connections()?.duration_ns as f64);
        let trial = typical(drawn, row, length)?;
        let phase = trial.phases.connections()?;
        if phase.requests.is_empty() {
            return None;
        }
        let asked = &drawn.summary.plan.settings[row.setting as usize];
        let cell = clients_by_requests(row.connections, requests_each(asked));
        let x = Axis::new("since the first connect", Unit::Nanoseconds);
        let connects = Panel {
            levels: levels(&phase.requests),
            ..Panel::new(
                Axis::new("connect latency", Unit::Nanoseconds),
                connects(&phase.requests, Mark::of(row)),
            )
        };
        let depths = trial
            .accept_queue
            .as_ref()
            .map_or(&[][..], |queue| &queue.depths);
        let full = row.backlog_in_force;
        let queue = Panel {
            levels: full
                .map(|backlog| (f64::from(backlog), format!("full beyond {backlog}")))
                .into_iter()
                .collect(),
            ..Panel::new(
                Axis::new("accept queue", Unit::Count),
                queue(depths, &phase.requests),
            )
        };
        let first_bytes = Panel::new(
            Axis::new("first byte", Unit::Nanoseconds),
            first_bytes(&phase.requests, Mark::of(row)),
        );
        View::of_panels(
            format!("{} · {cell}", table.heading()),
            x,
            vec![connects, first_bytes, queue],
        )
    };
    Chart::of_views(
        "in-time",
        "Slow requests in time, and the queue below",
        "One trial, the one of median length; requests that were slow or failed (✕). Above, each stands at the moment of its connect, as high as the connect took: bands at 1, 2 and 3 s are SYNs that were dropped and sent again. Then, from the completed connect to the first byte, by what took most of it. Below, the accept queue, with the moments at which a SYN or a handshake's last ACK met it and was dropped.",
        "cell",
        rows.into_iter().filter_map(view),
    )
}

/// By how often the SYN was sent again; worth no more than the trial.
fn connects(requests: &[RequestRecord], trial: Mark) -> Vec<Series> {
    let most = requests.iter().map(|one| one.syn_retransmissions).max();
    let series = |again: u32| {
        let points = requests
            .iter()
            .filter(|one| one.syn_retransmissions == again)
            .map(|one| connect(one).worth(trial));
        let name = match again {
            0 => "SYN sent once".to_owned(),
            again => format!("sent again {}", plural(again.into(), "time")),
        };
        Series {
            name,
            look: Look::Part(again as usize),
            form: Form::Marks,
            points: points.collect(),
        }
    };
    let all = (0..=most.unwrap_or_default()).map(series);
    all.filter(|one| !one.points.is_empty()).collect()
}

/// What a request of its own is worth.
fn mark(request: &RequestRecord) -> Mark {
    match request.error {
        Some(_) => Mark::Crossed,
        None => Mark::Sound,
    }
}

fn connect(request: &RequestRecord) -> Point {
    let took_ns = request.connect_ns.unwrap_or(request.duration_ns) as f64;
    let failed = match request.error {
        Some(kind) => format!(", failed: {}", kind.words()),
        None => String::new(),
    };
    let words = format!(
        "client {}, request {}: connect {}, SYN sent again {}{failed}",
        request.client,
        request.number,
        time_ns(took_ns),
        plural(request.syn_retransmissions.into(), "time"),
    );
    Point {
        words,
        mark: mark(request),
        ..Point::new(request.started_ns as f64, took_ns)
    }
}

/// What can take most of the time from the completed connect to the first byte, and its look.
const CAUSES: [(&str, Look); 4] = [
    ("last ACK lost", Look::Part(3)),
    ("accept queue", Look::Part(2)),
    ("service", Look::Part(4)),
    ("other causes", Look::Part(6)),
];

/// From the completed connect, by what took most of the time; worth no more than the trial.
fn first_bytes(requests: &[RequestRecord], trial: Mark) -> Vec<Series> {
    let series = |(cause, (name, look)): (usize, (&str, Look))| {
        let own = requests.iter().filter(|one| main_cause(one) == cause);
        let points = own.filter_map(|one| Some(first_byte(one, name)?.worth(trial)));
        Series {
            name: format!("first byte: {name}"),
            look,
            form: Form::Marks,
            points: points.collect(),
        }
    };
    let all = CAUSES.into_iter().enumerate().map(series);
    all.filter(|one| !one.points.is_empty()).collect()
}

/// Absent where there was no connection to wait on.
fn first_byte(request: &RequestRecord, cause: &str) -> Option<Point> {
    let connect_ns = request.connect_ns?;
    let waited_ns = request.duration_ns.saturating_sub(connect_ns);
    let waited_ns = request.first_byte_ns.unwrap_or(waited_ns) as f64;
    let words = format!(
        "client {}, request {}: first byte after {}, {cause}",
        request.client,
        request.number,
        time_ns(waited_ns),
    );
    Some(Point {
        words,
        mark: mark(request),
        ..Point::new((request.started_ns + connect_ns) as f64, waited_ns)
    })
}

/// The longest of what came after the connect, as its place in [`CAUSES`].
fn main_cause(request: &RequestRecord) -> usize {
    let after = request.causes.iter().filter_map(|cause| match cause {
        Cause::FinalAckDropped { waited_ns, .. } => Some((*waited_ns, 0)),
        Cause::AcceptQueue { waited_ns, .. } => Some((*waited_ns, 1)),
        Cause::Service { waited_ns } => Some((*waited_ns, 2)),
        Cause::NotExplained { waited_ns } => Some((*waited_ns, 3)),
        Cause::SynRetransmissions { .. } | Cause::GeneratorLate { .. } => None,
    });
    after.max().map_or(3, |(_, cause)| cause)
}

/// 1, 2 and 3 s, as far as connects took so long.
fn levels(requests: &[RequestRecord]) -> Vec<(f64, String)> {
    let slowest = requests.iter().filter_map(|one| one.connect_ns).max();
    let levels = [1_u64, 2, 3].into_iter();
    levels
        .filter(|seconds| slowest >= Some(seconds * 1_000_000_000))
        .map(|seconds| (seconds as f64 * 1e9, format!("{seconds} s")))
        .collect()
}

fn queue(depths: &[DepthSample], requests: &[RequestRecord]) -> Vec<Series> {
    let depth_at = |at_ns: u64| {
        let until = depths.partition_point(|sample| sample.at_ns <= at_ns);
        until
            .checked_sub(1)
            .map_or(0.0, |last| f64::from(depths[last].depth))
    };
    let depth = |sample: &DepthSample| Point::new(sample.at_ns as f64, sample.depth.into());
    let dropped = |name: &str, index, points: Vec<u64>| Series {
        name: name.to_owned(),
        look: Look::Part(index),
        form: Form::Marks,
        points: points
            .into_iter()
            .map(|at_ns| Point {
                words: format!("{name} at {}", time_ns(at_ns as f64)),
                mark: Mark::Crossed,
                ..Point::new(at_ns as f64, depth_at(at_ns))
            })
            .collect(),
    };
    let again = requests.iter().filter(|one| one.syn_retransmissions > 0);
    let lost_ack = |one: &&RequestRecord| {
        let mut causes = one.causes.iter();
        causes.any(|cause| matches!(cause, Cause::FinalAckDropped { .. }))
    };
    let last_ack = requests.iter().filter(lost_ack);
    let mut series = vec![
        Series {
            name: "waiting to be accepted".to_owned(),
            look: Look::Part(5),
            form: Form::Steps,
            points: depths.iter().map(depth).collect(),
        },
        dropped(
            "first SYN dropped",
            1,
            again.map(|one| one.started_ns).collect(),
        ),
        dropped(
            "last ACK dropped",
            3,
            last_ack
                .map(|one| one.started_ns + one.connect_ns.unwrap_or_default())
                .collect(),
        ),
    ];
    series.retain(|one| !one.points.is_empty());
    series
}
