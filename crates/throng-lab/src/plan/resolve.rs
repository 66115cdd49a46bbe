//! From a draft to a plan: defaults filled in, everything validated, in one place.
//!
//! What holds for the whole run is resolved once, and every point of the sweep into a setting of its own, so that what is wrong
//! with one combination of values is found before the first trial. The defaults stand with the keys, in [`super::keys`].

mod accept;
mod backlog;
mod catalogue;
mod churn;
mod exchange;
mod fanout;
mod fleet;
mod hold;
mod kernel;
mod network;
mod phases;
mod quick;
mod setting;
mod tables;
mod targets;

use throng_record::built_in::ServesAtOnce;
use throng_record::plan::{Experiment, ServerLifetime};
use throng_record::{Plan, TargetRecord};

use super::draft::Point;
use super::kernel::KernelSweep;
pub(crate) use backlog::asks_for_service_time;
pub use kernel::KernelNameError;

use super::{Environment, PlanDraft, PlanError, keys};
use throng_catalogue::suggest::or_list;

/// Stands for every built-in model, in the vocabulary's order.
const ALL: &str = "all";

/// Of a model, and of a server that declares one.
const NO_WORKERS: &str = "has no choice of workers: their number is its design";

/// Targets × settings at most: more is a slip, and no report could show them.
const CELLS_MAX: usize = 10_000;

/// A plan, and what a user should know about how it came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// Whole sentences, for standard error.
    pub notes: Vec<String>,
}

/// Fills in what the draft leaves open, and refuses what cannot be carried out here.
///
/// # Errors
/// [`PlanError`]: the first thing that is wrong.
pub fn resolve(mut draft: PlanDraft, environment: &Environment) -> Result<Resolved, PlanError> {
    if draft
        .quick
        .as_ref()
        .is_some_and(|quick| quick.quick.is_some())
    {
        return Err(PlanError::NestedQuick);
    }
    let experiment = draft.experiment.unwrap_or_default();
    keys::check(&draft, experiment)?;
    if experiment == Experiment::Phases {
        phases::check(&draft)?;
    }
    if experiment == Experiment::Hold && draft.targets.is_none() {
        draft.targets = Some(hold::usual_target());
    }
    // A server that lives for the whole sweep meets few connections before many.
    draft.connections = draft.connections.map(super::Sweep::ascending);
    draft.clients = draft.clients.map(super::Sweep::ascending);
    backlog::check_total(&draft)?;
    let mut notes = Vec::new();
    let mut targets = targets::resolve(&draft, experiment, environment, &mut notes)?;
    if matches!(experiment, Experiment::Backlog | Experiment::Churn) {
        backlog::check_asked(&draft, &targets)?;
    }
    let net = network::network(&draft, &targets)?;
    let kernel = kernel::resolve(&draft, environment)?;
    let points = points(&draft, &kernel, targets.len())?;
    let settings = points
        .into_iter()
        .map(|point| setting::resolve(&draft, experiment, point, &targets, environment, &mut notes))
        .collect::<Result<Vec<_>, _>>()?;
    if draft.workers.is_none() {
        tables::ask_for(&mut targets, &settings, environment, &mut notes);
    }
    let mut plan = Plan {
        name: name(&draft, experiment.name())?,
        title: draft
            .title
            .clone()
            .unwrap_or_else(|| experiment.question().to_owned()),
        experiment,
        baseline: baseline(&draft, experiment, &targets, environment)?,
        targets,
        left_out: vec![],
        repeats: not_zero(
            "repeats",
            draft.repeats,
            keys::usual("repeats", experiment),
            "there would be no trial",
            "6",
        )?,
        quick: draft.is_shortened,
        seed: draft
            .seed
            .unwrap_or_else(|| keys::usual("seed", experiment)),
        server: server(&draft, experiment),
        net,
        swept: draft
            .swept(&kernel)
            .into_iter()
            .map(|(key, _)| key)
            .collect(),
        settings,
    };
    if plan.quick {
        notes.extend(quick::fit(&mut plan, &environment.models));
    }
    Ok(Resolved { plan, notes })
}

/// What a server is launched for, where trials may share one.
fn server(draft: &PlanDraft, experiment: Experiment) -> ServerLifetime {
    let usual = || keys::usual("server", experiment);
    draft.server.unwrap_or_else(usual)
}

/// Once, however many settings it holds for.
fn tell(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// A count that must be at least 1.
fn not_zero(
    key: &'static str,
    value: Option<u32>,
    default: u32,
    why: &'static str,
    example: &'static str,
) -> Result<u32, PlanError> {
    match value.unwrap_or(default) {
        0 => Err(PlanError::Zero { key, why, example }),
        count => Ok(count),
    }
}

/// The points of the sweep, counted before they are made.
fn points(
    draft: &PlanDraft,
    kernel: &[KernelSweep],
    targets: usize,
) -> Result<Vec<Point>, PlanError> {
    let swept = draft.swept(kernel);
    let cells = swept
        .iter()
        .fold(targets, |cells, (_, values)| cells.saturating_mul(*values));
    if cells > CELLS_MAX {
        let lists: Vec<String> = swept
            .iter()
            .map(|(key, values)| format!("{values} of {key}"))
            .collect();
        return Err(PlanError::TooManyCells {
            cells,
            targets,
            lists: lists.join(" × "),
            most: CELLS_MAX,
        });
    }
    Ok(draft.points(kernel))
}

fn name(draft: &PlanDraft, usual: &str) -> Result<String, PlanError> {
    let name = draft.name.clone().unwrap_or_else(|| usual.to_owned());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let starts_well = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    if starts_well && name.chars().all(is_plain) && name.len() <= 100 {
        Ok(name)
    } else {
        Err(PlanError::Name(name))
    }
}

/// Without one the first target; of the echo experiment, unless that is a model that has no figure where there are many connections.
fn baseline(
    draft: &PlanDraft,
    experiment: Experiment,
    targets: &[TargetRecord],
    environment: &Environment,
) -> Result<u32, PlanError> {
    let Some(baseline) = &draft.baseline else {
        let is_bounded = |target: &TargetRecord| {
            let model = environment.model_of(target);
            experiment == Experiment::Echo
                && model.is_some_and(|model| model.serves_at_once != ServesAtOnce::Unbounded)
        };
        let first = targets.iter().position(|target| !is_bounded(target));
        return Ok(first.unwrap_or(0) as u32);
    };
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    names
        .iter()
        .position(|name| name == baseline)
        .map(|index| index as u32)
        .ok_or_else(|| PlanError::UnknownBaseline {
            baseline: baseline.clone(),
            targets: or_list(&names),
        })
}
