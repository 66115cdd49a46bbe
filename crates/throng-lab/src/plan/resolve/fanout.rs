//! What a fan-out puts and awaits.

use throng_record::{PhaseSpec, PutSpec, Sequence, SustainSpec, Workload};

use super::exchange::{Asked, arrivals, connections, duration, is_rate, zero_length};
use crate::plan::draft::Point;
use crate::plan::escape::unescape;
use crate::plan::{PlanError, nanoseconds};

/// What servers greet with that keep the contract.
pub(super) const GREETING: &str = "connected";
/// Built-in servers give a connection up whose line is longer than 64 KiB.
const LINE_BYTES_MAX: usize = 32 * 1024;

/// Its lines, who speaks, and for how long.
pub(super) fn asked(point: &Point) -> Result<Asked, PlanError> {
    let why = "nobody would speak, and nobody hear";
    let connections = connections(point, why, "1000")?;
    let text = |key, given: &Option<String>| given.clone().unwrap_or_else(|| point.usual(key));
    let greeting = match text("greeting", &point.greeting).as_str() {
        "" => None,
        greeting => Some(line("greeting", greeting)?),
    };
    let put = PutSpec {
        line: line("line", &text("line", &point.line))?,
        speaker: speaker(connections),
    };
    let sustain = sustain(point, &put)?.map(PhaseSpec::Sustain);
    let greeted = greeting.map(|greeting| PhaseSpec::Acknowledge { greeting });
    let phases = greeted.into_iter().chain([PhaseSpec::Get(put)]);
    Ok(Asked {
        connections,
        phases: Sequence::on_open_connections(phases.chain(sustain)),
        // The only one in which connections hear of one another, so that there is no choice.
        workload: Workload::Broadcast,
        service_time_ns: None,
    })
}

/// The one in the middle, as published.
pub(super) fn speaker(connections: u32) -> u32 {
    connections / 2
}

fn line(key: &'static str, text: &str) -> Result<Vec<u8>, PlanError> {
    let refuse = |why: &str| PlanError::Text {
        key,
        text: text.to_owned(),
        why: why.to_owned(),
    };
    let mut bytes = unescape(text).map_err(|why| refuse(&why))?;
    if bytes.is_empty() {
        return Err(refuse("it is empty; write at least one byte"));
    }
    if bytes.contains(&b'\n') {
        return Err(refuse(
            "a line ends where its newline is, and that is added; leave the newline out",
        ));
    }
    if bytes.len() > LINE_BYTES_MAX {
        return Err(PlanError::Text {
            key,
            text: format!("{} bytes", bytes.len()),
            why: format!("it is too long to be a line; write {LINE_BYTES_MAX} bytes or less"),
        });
    }
    bytes.push(b'\n');
    Ok(bytes)
}

/// Lines at a rate, where one is asked for.
fn sustain(point: &Point, put: &PutSpec) -> Result<Option<SustainSpec>, PlanError> {
    let Some(rate) = point.rate else {
        let needs = |key, is_there, why| match is_there {
            true => Err(PlanError::Needs {
                key,
                needed: "rate",
                why,
            }),
            false => Ok(None),
        };
        needs(
            "duration",
            point.duration.is_some(),
            "it says how long lines are put at that rate, and without one a single line is put",
        )?;
        return needs(
            "arrivals",
            point.arrivals.is_some(),
            "only lines at a rate have gaps between them",
        );
    };
    if !is_rate(rate) {
        return Err(PlanError::Rate {
            key: "rate",
            rate,
            of_what: "lines",
            example: 10,
        });
    }
    let duration = duration(point);
    if duration.is_zero() {
        return Err(zero_length("duration", "\"2s\""));
    }
    Ok(Some(SustainSpec {
        put: put.clone(),
        rate_per_second: rate,
        arrivals: arrivals(point),
        duration_ns: nanoseconds(duration),
    }))
}
