//! How many cycles of connect, request, reply and close a second? A request and its answer at once, each on a connection of its own.
//!
//! The request is that of the backlog experiment, without a service time; pacing, warm-up and end are those of the echo experiment.

use std::time::Duration;

use throng_record::connections::SLOW_FIRST_BYTE_SPARE_NS;
use throng_record::plan::Experiment::{Backlog, Hold};
use throng_record::{ConnectionUse, ExchangeSpec, Sequence, TargetRecord, Workload};

use super::requests::{self, EACH_ITS_OWN, GONE, ONE_AT_A_TIME, TRIALS_APART};
use super::{Asked, Asking, Asks, exchange};
use crate::plan::keys::Usual;
use crate::plan::keys::instead::Instead::{Both, Either, LeaveOut, Take, Write};
use crate::plan::keys::instead::{CLIENTS, DURATION, MESSAGES, RATE, REPEATS};
use crate::plan::keys::own::OwnKeys;
use crate::plan::{PlanDraft, PlanError};

/// The experiment.
pub(super) struct Churn;

const AT_ONCE: &str =
    "its requests are answered at once: what a connection costs is what it measures";
const ENDED: &str = "its clients send until the measurement ends";

const KEYS: OwnKeys = OwnKeys {
    uses: &[
        "clients",
        "workload",
        "closing",
        "observe",
        "method",
        "header",
        "body",
        "body-file",
    ],
    usual: &[
        ("clients", Usual::Value("100")),
        ("workload", Usual::Value("echo")),
        ("observe", Usual::Value("false")),
    ],
    refuses: &[
        (&["connections"], EACH_ITS_OWN, Write(CLIENTS)),
        (&["requests"], ENDED, Either([MESSAGES, DURATION])),
        (&["requests-total"], ENDED, Write(MESSAGES)),
        (&["service-time", "delay-inline"], AT_ONCE, Take(Backlog)),
        (&["confidence"], ENDED, Both([DURATION, REPEATS])),
        (&["max-duration"], ENDED, Write(DURATION)),
        (&["hold", "pings"], GONE, Take(Hold)),
        (&["connect-concurrency"], ONE_AT_A_TIME, Write(CLIENTS)),
        (&["connect-rate"], ONE_AT_A_TIME, Write(RATE)),
        (
            &["outstanding"],
            "a client has one request under way",
            Write(CLIENTS),
        ),
        (
            &["lockstep"],
            "a client goes on as soon as it is answered, or by a schedule",
            Either([CLIENTS, RATE]),
        ),
        (&["server"], TRIALS_APART, LeaveOut),
    ],
    ..OwnKeys::NONE
};

impl Asks for Churn {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let point = asking.point;
        let workload = requests::workload(asking)?;
        let at_once = Some(Duration::ZERO);
        let phases = Sequence::of_exchange(ExchangeSpec {
            protocol: requests::protocol(asking, workload, at_once)?,
            verify: exchange::verify(point),
            connection: ConnectionUse::PerMessage {
                slow_first_byte_ns: SLOW_FIRST_BYTE_SPARE_NS,
                // They are many, and what explains them is looked for only where something is observed.
                tells_every_request: point.observe == Some(true),
            },
            pacing: exchange::pacing(point)?,
            warmup: exchange::warmup(point),
            stop: exchange::stop(point)?,
        });
        Ok(Asked {
            workload,
            service_time_ns: workload.takes_delay().then_some(0),
            ..Asked::echoed(requests::clients(point, "100")?, phases)
        })
    }

    fn check_targets(&self, draft: &PlanDraft, targets: &[TargetRecord]) -> Result<(), PlanError> {
        requests::check_launched(draft, targets)
    }

    fn workloads(&self, draft: &PlanDraft) -> Vec<Workload> {
        requests::workloads(draft, Workload::Echo)
    }

    fn connects_for_each_request(&self) -> bool {
        true
    }
}
