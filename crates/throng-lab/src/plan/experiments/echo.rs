//! How many messages a second, at what latency? Messages on connections that are kept: echoes, or pages that are asked for.

use throng_record::plan::Experiment::Backlog;
use throng_record::{PhaseSpec, Sequence, Workload};

use super::exchange::{connections, kept, on_kept};
use super::{Asked, Asking, Asks, requests};
use crate::plan::keys::Usual;
use crate::plan::keys::instead::Instead::Take;
use crate::plan::keys::own::OwnKeys;
use crate::plan::{PlanDraft, PlanError};

/// The experiment.
pub(super) struct Echo;

const KEYS: OwnKeys = OwnKeys {
    uses: &[
        "workload",
        "method",
        "header",
        "body",
        "body-file",
        "tls",
        "tls-resumption",
        "ca",
        "sni",
        "insecure",
        "status",
    ],
    usual: &[("workload", Usual::Value("echo"))],
    refuses: &[
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

    fn takes_tls(&self) -> bool {
        true
    }

    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let connections = connections(asking.point, "nothing would be sent", "100")?;
        let (workload, exchange) = match requests::page_on_kept(asking)? {
            Some(page) => (Workload::Http, kept(asking.point, page)?),
            None => (Workload::Echo, on_kept(asking.point)?),
        };
        let phases = Sequence::on_open_connections([PhaseSpec::Exchange(exchange)]);
        Ok(Asked {
            workload,
            ..Asked::echoed(connections, phases)
        })
    }

    fn workloads(&self, draft: &PlanDraft) -> Vec<Workload> {
        requests::workloads(draft, Workload::Echo)
    }

    fn keeps_connections_to_pages(&self) -> bool {
        true
    }
}
