//! What each experiment asks: its own words on the plan's keys, and the phases that it makes of their values.
//!
//! An experiment is a folder or file here, and the folder of the same name in `throng-report`, which says what it shows of what was measured. Nothing else of the lab knows
//! which experiment it carries out: it knows phases. What several of them ask alike stands in `exchange` (messages on connections) and `requests`
//! (a connection for each).

mod accept;
mod backlog;
mod capacity;
mod churn;
mod echo;
mod exchange;
pub(super) mod fanout;
mod hold;
mod phases;
mod quick;
mod requests;
mod services;

use throng_record::plan::{Experiment, ListenFamily};
use throng_record::{BuiltInModel, SearchSpec, Sequence, TargetRecord, Workload};

use super::cpus::Cpus;
use super::draft::Point;
use super::keys::own::OwnKeys;
use super::{Environment, PlanDraft, PlanError};
pub(crate) use requests::asks_for_service_time;
use throng_catalogue::catalogue::Manifest;

/// A question, as a plan puts it.
pub(super) trait Asks: Sync {
    /// Its words on the keys.
    fn keys(&self) -> &'static OwnKeys;

    /// How many connections, and what is done on them, at one point of the sweep.
    fn asked(&self, asking: &Asking<'_>, notes: &mut Vec<String>) -> Result<Asked, PlanError>;

    /// Refuses keys that cannot stand together, whatever their values.
    fn check(&self, _draft: &PlanDraft) -> Result<(), PlanError> {
        Ok(())
    }

    /// Refuses what cannot be asked of these servers.
    fn check_targets(
        &self,
        _draft: &PlanDraft,
        _targets: &[TargetRecord],
    ) -> Result<(), PlanError> {
        Ok(())
    }

    /// The short form of a plan without a `[quick]` table, laid over it.
    fn short(&self, draft: &PlanDraft) -> PlanDraft {
        quick::shorter(draft)
    }

    /// What is measured where no target is named.
    fn usual_target(&self) -> Option<&'static str> {
        None
    }

    /// What is searched for, where the rates of the trials are not known beforehand.
    fn search(&self, _draft: &PlanDraft) -> Result<Option<SearchSpec>, PlanError> {
        Ok(None)
    }

    /// What servers are asked to serve; any of them may be asked for.
    fn workloads(&self, _draft: &PlanDraft) -> Vec<Workload> {
        vec![Workload::Echo]
    }

    /// Changes what is asked of a catalogued server to what it can do, where the plan leaves that open.
    ///
    /// # Errors
    /// Why it cannot do what the plan asks of it, in words that follow its name.
    fn fit(&self, _server: &Manifest, _draft: &mut PlanDraft) -> Result<(), String> {
        Ok(())
    }

    /// Whether running servers that are named together are one target.
    fn running_are_one(&self) -> bool {
        false
    }

    /// Whether every request has a connection of its own, so that what is measured has handshakes and may be a page.
    fn connects_for_each_request(&self) -> bool {
        false
    }

    /// Whether pages are asked for on connections that are kept.
    fn keeps_connections_to_pages(&self) -> bool {
        false
    }

    /// Whether it has a time for TLS handshakes, so that targets may speak it.
    fn takes_tls(&self) -> bool {
        false
    }

    /// Whether the length of the accept queue is what is asked about, so that 0 is one.
    fn is_about_the_accept_queue(&self) -> bool {
        false
    }

    /// The length of the accept queue, where it is another than that of most experiments.
    fn usual_backlog(&self, _listen: ListenFamily) -> Option<u32> {
        None
    }

    /// What a server has to do that HTTP does not, and what to write instead of a page's address.
    fn instead_of_a_page(&self) -> (&'static str, &'static str) {
        (
            "sends back what it gets",
            "to send it one fixed request, write tcp://HOST:PORT with --send and --expect",
        )
    }

    /// Why this model cannot be measured at all, in few words.
    fn cannot_measure(&self, _model: &BuiltInModel) -> Option<&'static str> {
        None
    }

    /// Refuses a server that cannot do what is asked.
    fn check_server(
        &self,
        _target: &TargetRecord,
        _draft: &PlanDraft,
        _environment: &Environment,
    ) -> Result<(), PlanError> {
        Ok(())
    }

    /// What is measured where that is no server, but goes on in the generator's one process.
    fn in_one_process(&self) -> Option<&dyn InOneProcess> {
        None
    }
}

/// An experiment without a server.
pub(super) trait InOneProcess {
    /// What is measured, as it stands in the record.
    fn targets(
        &self,
        draft: &PlanDraft,
        environment: &Environment,
        notes: &mut Vec<String>,
    ) -> Result<Vec<TargetRecord>, PlanError>;

    /// Where the process runs.
    fn cpus(&self, point: &Point, environment: &Environment) -> Result<Cpus, PlanError>;
}

/// What a point of the sweep is turned into phases with.
pub(super) struct Asking<'a> {
    pub(super) point: &'a Point,
    pub(super) draft: &'a PlanDraft,
    pub(super) targets: &'a [TargetRecord],
}

/// What is asked of the connections of a setting.
pub(super) struct Asked {
    pub(super) connections: u32,
    pub(super) phases: Sequence,
    pub(super) workload: Workload,
    pub(super) service_time_ns: Option<u64>,
    /// Processes of a launched server that are one target together.
    pub(super) services: u32,
    /// Addresses that each of them listens on.
    pub(super) listeners: u32,
}

impl Asked {
    /// On so many connections, to servers that send back what they get.
    fn echoed(connections: u32, phases: Sequence) -> Self {
        Self {
            connections,
            phases,
            workload: Workload::Echo,
            service_time_ns: None,
            services: 1,
            listeners: 1,
        }
    }
}

/// The one that a plan is of.
pub(super) fn of(experiment: Experiment) -> &'static dyn Asks {
    match experiment {
        Experiment::Echo => &echo::Echo,
        Experiment::Backlog => &backlog::Backlog,
        Experiment::Accept => &accept::Accept,
        Experiment::Fanout => &fanout::Fanout,
        Experiment::Hold => &hold::Hold,
        Experiment::Churn => &churn::Churn,
        Experiment::Services => &services::Services,
        Experiment::Capacity => &capacity::Capacity,
        Experiment::Phases => &phases::Phases,
    }
}

/// Its words on the keys.
pub(super) fn keys_of(experiment: Experiment) -> &'static OwnKeys {
    of(experiment).keys()
}
