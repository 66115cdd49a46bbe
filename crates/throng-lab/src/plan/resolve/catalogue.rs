//! What a catalogued server cannot be measured at: workloads that it does not list, exceptions that it declares, flags that it does
//! not take.
//!
//! A server whose `server.toml` cannot be used is not refused here: its trials fail with what is wrong, and the others go on.

use throng_record::plan::ListenFamily;
use throng_record::{ContractException, TargetRecord, Workload};

use super::NO_WORKERS;
use crate::plan::experiments::Asks;
use crate::plan::{PlanDraft, PlanError};
use throng_catalogue::catalogue::{Manifest, Server};
use throng_catalogue::suggest::or_list;

/// The first thing that the plan asks of this server and that it cannot do.
pub(super) fn refusal(server: &Server, draft: &PlanDraft, asks: &dyn Asks) -> Option<PlanError> {
    let manifest = server.manifest.as_ref().ok()?;
    let why = why_not(manifest, draft, asks)?;
    let server = server.full_name();
    Some(PlanError::ServerCannot { server, why })
}

fn why_not(manifest: &Manifest, draft: &PlanDraft, asks: &dyn Asks) -> Option<String> {
    let lacking = asks
        .workloads(draft)
        .into_iter()
        .map(Workload::name)
        .find(|workload| !manifest.serves(workload));
    if let Some(workload) = lacking {
        let served: Vec<&str> = manifest.workloads.iter().map(|one| one.name()).collect();
        let served = or_list(&served);
        return Some(format!(
            "does not serve the workload `{workload}`, which this experiment needs, only {served}"
        ));
    }
    let excepted = |exception| manifest.exceptions.get(&exception);
    if asks.is_about_the_accept_queue()
        && let Some(reason) = excepted(ContractException::Backlog)
    {
        return Some(format!(
            "cannot be asked for the length of its accept queue, which this experiment varies: {reason}"
        ));
    }
    let families = draft.family.as_ref().map_or(&[][..], |one| one.values());
    if families.contains(&ListenFamily::Unix)
        && let Some(reason) = excepted(ContractException::Unix)
    {
        return Some(format!("serves no Unix sockets: {reason}"));
    }
    let inline = draft.delay_inline.as_ref();
    let is_inline = inline.is_some_and(|sweep| sweep.values().contains(&true));
    let fixed = [
        (draft.workers.is_some() && !manifest.model.has_workers()).then_some(NO_WORKERS),
        draft.accept_threads.is_some().then_some(NO_ACCEPT_THREADS),
        is_inline.then_some(NO_DELAY_INLINE),
    ];
    fixed.into_iter().flatten().next().map(str::to_owned)
}

/// Refuses options behind its name that it does not take.
pub(super) fn refusal_of_options(server: &Server, target: &TargetRecord) -> Option<PlanError> {
    let manifest = server.manifest.as_ref().ok()?;
    let options = &target.options;
    let fixed = [
        (options.workers.is_some() && !manifest.model.has_workers()).then_some(NO_WORKERS),
        options.accept_threads.map(|_| NO_ACCEPT_THREADS),
        options.delay_inline.then_some(NO_DELAY_INLINE),
        options.hand_over.map(|_| NO_HAND_OVER),
    ];
    let why = fixed.into_iter().flatten().next()?.to_owned();
    let server = server.full_name();
    Some(PlanError::ServerCannot { server, why })
}

const NO_ACCEPT_THREADS: &str =
    "cannot be asked for threads that accept (--accept-threads is of built-in models)";
const NO_DELAY_INLINE: &str = "cannot be asked how it waits (--delay-inline is of built-in models)";
const NO_HAND_OVER: &str =
    "cannot be asked for another hand-over (--hand-over is of built-in models)";

#[cfg(test)]
mod tests;
