//! What the clients of the churn experiment ask, and when: a request and its answer at once, each on a connection of its own.
//!
//! The request is that of the backlog experiment, without a service time; pacing, warm-up and end are those of the echo experiment.

use std::time::Duration;

use throng_record::connections::SLOW_FIRST_BYTE_SPARE_NS;
use throng_record::{ConnectionUse, ExchangeSpec, HttpTarget, Sequence, TargetRecord, Workload};

use super::backlog;
use super::exchange::{self, Asked};
use crate::plan::PlanError;
use crate::plan::draft::Point;

/// What is exchanged at one point of the sweep.
pub(super) fn asked(point: &Point, targets: &[TargetRecord]) -> Result<Asked, PlanError> {
    let why = "nobody would ask";
    let clients = backlog::clients(point, why, "100")?;
    let pages: Vec<&HttpTarget> = targets.iter().filter_map(|one| one.http.as_ref()).collect();
    let workload = backlog::workload(point, &pages)?;
    let at_once = Some(Duration::ZERO);
    Ok(Asked {
        connections: clients,
        phases: Sequence::of_exchange(ExchangeSpec {
            protocol: backlog::protocol(point, targets, &pages, workload, at_once)?,
            verify: exchange::verify(point),
            connection: ConnectionUse::PerMessage {
                slow_first_byte_ns: SLOW_FIRST_BYTE_SPARE_NS,
                // They are many, and what explains them is looked for only where something is observed.
                tells_every_request: point.observe == Some(true),
            },
            pacing: exchange::pacing(point)?,
            warmup: exchange::warmup(point),
            stop: exchange::stop(point)?,
        }),
        workload,
        service_time_ns: (workload != Workload::Echo).then_some(0),
    })
}
