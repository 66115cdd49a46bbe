//! From a draft to a plan: defaults filled in, everything validated, in one place.
//!
//! What holds for the whole run is resolved once, and every point of the sweep into a setting of its own, so that what is wrong
//! with one combination of values is found before the first trial. The defaults stand with the keys, in [`super::keys`].

mod catalogue;
mod elsewhere;
mod fleet;
mod kernel;
mod network;
mod own;
mod quick;
mod setting;
mod tables;
mod targets;
mod tls;

use throng_record::built_in::ServesAtOnce;
use throng_record::plan::{ListenFamily, ServerLifetime};
use throng_record::{Plan, TargetRecord};

use super::draft::Point;
use super::error::not_zero;
use super::experiments::{self, Asks};
use super::kernel::KernelSweep;
pub use kernel::KernelNameError;

use super::{Environment, PlanDraft, PlanError, keys, keys_in};
use throng_catalogue::suggest::or_list;

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
    keys_in::check(&draft, experiment)?;
    let asks = experiments::of(experiment);
    let usual_target = || Some(vec![asks.usual_target()?.into()]);
    draft.targets = draft.targets.or_else(usual_target);
    // A server that lives for the whole sweep meets few connections before many.
    draft.connections = draft.connections.map(super::Sweep::ascending);
    draft.clients = draft.clients.map(super::Sweep::ascending);
    asks.check(&draft)?;
    let mut notes = Vec::new();
    draft.family = draft.family.or_else(|| usual_family(asks));
    let (mut targets, own) = targets::resolve(&draft, asks, experiment, environment, &mut notes)?;
    asks.check_targets(&draft, &targets)?;
    tls::complete(&mut targets, &draft, environment)?;
    let net = network::network(&draft, &targets, environment)?;
    let kernel = kernel::resolve(&draft, environment)?;
    let mut resolved =
        |point| setting::resolve(&draft, asks, point, &targets, environment, &mut notes);
    let (settings, measured_at) = if own.keys.is_empty() {
        let points = points(&draft, asks, &kernel, targets.len())?.into_iter();
        let settings: Result<Vec<_>, _> = points.map(&mut resolved).collect();
        (settings?, None)
    } else {
        let points = own.points(asks, &kernel)?.into_iter();
        let resolved = points.map(|(target, point)| Ok((target, resolved(point)?)));
        let (settings, measured_at) =
            own::gathered(resolved.collect::<Result<_, PlanError>>()?, targets.len());
        (settings, Some(measured_at))
    };
    elsewhere::check(experiment, &targets, &settings, environment)?;
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
        baseline: baseline(&draft, asks, &targets, environment)?,
        targets,
        left_out: vec![],
        repeats: not_zero(
            "repeats",
            draft.repeats,
            keys::usual("repeats", asks.keys()),
            "there would be no trial",
            "6",
        )?,
        quick: draft.is_shortened,
        seed: draft
            .seed
            .unwrap_or_else(|| keys::usual("seed", asks.keys())),
        server: server(&draft, asks),
        net,
        swept: settings[0]
            .swept
            .iter()
            .map(|one| one.key.clone())
            .collect(),
        settings,
        measured_at,
        search: asks.search(&draft)?,
    };
    if plan.quick {
        notes.extend(quick::fit(&mut plan, environment));
    }
    Ok(Resolved { plan, notes })
}

/// Where it is not that of most experiments: what servers can do is held against it then.
fn usual_family(asks: &dyn Asks) -> Option<super::Sweep<ListenFamily>> {
    let usual: super::Sweep<ListenFamily> = keys::usual("family", asks.keys());
    (usual.values() != [ListenFamily::Ipv4]).then_some(usual)
}

/// What a server is launched for, where trials may share one.
fn server(draft: &PlanDraft, asks: &dyn Asks) -> ServerLifetime {
    let usual = || keys::usual("server", asks.keys());
    draft.server.unwrap_or_else(usual)
}

/// The points of the sweep, counted before they are made.
fn points(
    draft: &PlanDraft,
    asks: &dyn Asks,
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
    Ok(draft.points(kernel, asks.keys()))
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

/// Without one the first target that serves all connections at once, where they are kept.
fn baseline(
    draft: &PlanDraft,
    asks: &dyn Asks,
    targets: &[TargetRecord],
    environment: &Environment,
) -> Result<u32, PlanError> {
    let Some(baseline) = &draft.baseline else {
        let is_bounded = |target: &TargetRecord| {
            let model = environment.model_of(target);
            !asks.connects_for_each_request()
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
