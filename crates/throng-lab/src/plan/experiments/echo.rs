//! How many messages a second, at what latency? Messages on connections that are kept.

use throng_record::plan::Experiment::Backlog;
use throng_record::{PhaseSpec, Sequence};

use super::exchange::{connections, on_kept};
use super::{Asked, Asking, Asks};
use crate::plan::PlanError;
use crate::plan::keys::instead::Instead::Take;
use crate::plan::keys::own::OwnKeys;

/// The experiment.
pub(super) struct Echo;

const KEYS: OwnKeys = OwnKeys {
    refuses: &[
        (
            &["workload"],
            "its servers send back what they get",
            Take(Backlog),
        ),
        (
            &["service-time"],
            "an echo is sent back at once",
            Take(Backlog),
        ),
        (
            &["delay-inline"],
            "an echo is sent back at once, so there is no delay",
            Take(Backlog),
        ),
        (
            &["observe"],
            "its connections are opened before anything is measured",
            Take(Backlog),
        ),
    ],
    ..OwnKeys::NONE
};

impl Asks for Echo {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let connections = connections(asking.point, "nothing would be sent", "100")?;
        let exchange = PhaseSpec::Exchange(on_kept(asking.point)?);
        Ok(Asked::echoed(
            connections,
            Sequence::on_open_connections([exchange]),
        ))
    }
}
