//! Which servers are measured.

use std::collections::BTreeMap;

use throng_record::plan::{Experiment, ListenFamily};
use throng_record::{BuiltInModel, TargetKind, TargetRecord};

use super::own::{self, OfTargets, Own};
use super::{NO_WORKERS, catalogue, tls};
use crate::plan::experiments::Asks;
use crate::plan::{Environment, PlanDraft, PlanError, keys};
use crate::target::{ALL, TargetDraft, http};

/// The targets as they stand in the record, each possible in every family that launched servers are to listen on.
pub(super) fn resolve(
    draft: &PlanDraft,
    asks: &dyn Asks,
    experiment: Experiment,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<(Vec<TargetRecord>, OfTargets), PlanError> {
    if let Some(process) = asks.in_one_process() {
        let targets = process.targets(draft, environment, notes)?;
        return Ok((targets, OfTargets::default()));
    }
    let mut targets: Vec<TargetRecord> = Vec::new();
    let mut all = OfTargets::default();
    for target in written(draft, asks, environment, notes)? {
        let own = own::of(target, draft, asks, environment)?;
        let record = resolve_one(&own, asks, experiment, environment)?;
        let is_alike = |other: &TargetRecord| match record.kind {
            TargetKind::Running if asks.running_are_one() => other.kind == TargetKind::Running,
            _ => other.name == record.name,
        };
        match targets.iter().position(is_alike) {
            Some(place) if targets[place].name != record.name => {
                targets[place].addresses.extend(record.addresses);
            }
            Some(place) if all.is_told_apart(place, &own) => all.add(place, own),
            Some(_) => return Err(PlanError::DuplicateTarget(record.name)),
            None => {
                all.add(targets.len(), own);
                targets.push(record);
            }
        }
    }
    for target in targets.iter_mut().filter(|one| one.addresses.len() > 1) {
        let others = target.addresses.len() - 1;
        target.name = format!("{} and {others} more", target.name);
    }
    if targets.is_empty() {
        return Err(PlanError::NoTarget {
            others: match asks.connects_for_each_request() {
                true => "http://HOST:PORT/PATH",
                false => "unix:PATH",
            },
        });
    }
    Ok((targets, all))
}

/// A target as it stands in the record, of which the first family decides.
fn resolve_one(
    own: &Own,
    asks: &dyn Asks,
    experiment: Experiment,
    environment: &Environment,
) -> Result<TargetRecord, PlanError> {
    let families = own.draft.family.as_ref();
    let families = families.map_or(&[ListenFamily::Ipv4][..], |sweep| sweep.values());
    if asks.connects_for_each_request() && families.contains(&ListenFamily::Unix) {
        return Err(PlanError::NoHandshake("`family = unix`".to_owned()));
    }
    let (models, catalogue) = (&environment.models, &environment.catalogue);
    let records = families
        .iter()
        .map(|&family| own.target.resolve(models, catalogue, family));
    let records: Vec<TargetRecord> = records.collect::<Result<_, _>>()?;
    let mut record = records.into_iter().next().expect("there is a family");
    if let Some(page) = &mut record.http {
        http::complete(page, &own.draft)?;
    }
    check(&record, &own.draft, asks, experiment, environment)?;
    Ok(record)
}

/// Refuses a target that the experiment cannot measure, or a model of which something is asked that it cannot do.
fn check(
    target: &TargetRecord,
    draft: &PlanDraft,
    asks: &dyn Asks,
    experiment: Experiment,
    environment: &Environment,
) -> Result<(), PlanError> {
    let address = target.addresses.first().map_or("", String::as_str);
    let takes_pages = asks.connects_for_each_request() || asks.keeps_connections_to_pages();
    if target.http.is_some() && !takes_pages {
        let (needed, instead) = asks.instead_of_a_page();
        return Err(PlanError::HttpTarget {
            target: target.name.clone(),
            experiment: experiment.in_prose(),
            needed,
            instead,
        });
    }
    tls::check(target, asks, experiment)?;
    // A server's own option is refused as the plan's key is.
    let delay = keys::find("delay-inline").expect("it is a key");
    if let Some(refusal) = delay
        .refusal(experiment)
        .filter(|_| target.options.delay_inline)
    {
        return Err(refusal);
    }
    if address.starts_with("unix:") && asks.connects_for_each_request() {
        return Err(PlanError::NoHandshake(format!("target `{}`", target.name)));
    }
    let server = target.catalogue.as_ref();
    if let Some(server) = server.and_then(|one| environment.catalogue.server(&one.name())) {
        let refusal = catalogue::refusal(server, draft, asks)
            .or_else(|| catalogue::refusal_of_options(server, target));
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
    }
    let own = Asked {
        workers: target.options.workers.as_slice(),
        accept_threads: target.options.accept_threads.is_some(),
        hand_over: target.options.hand_over.is_some(),
        families: &[],
    };
    asks.check_server(target, draft, environment)?;
    let refusal = environment
        .model_of(target)
        .and_then(|model| refusal(model, Asked::of(draft)).or_else(|| refusal(model, own)));
    refusal.map_or(Ok(()), Err)
}

/// The targets one by one. Of `all`, those that the plan's other keys leave possible.
fn written(
    draft: &PlanDraft,
    asks: &dyn Asks,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetDraft>, PlanError> {
    let mut targets = Vec::new();
    let mut left_out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for target in draft.targets.iter().flatten() {
        match target {
            TargetDraft::Text(text) if text == ALL => {
                for model in &environment.models {
                    if let Some(why) = asks.cannot_measure(model) {
                        let left = left_out.entry(why).or_default();
                        left.push(model.name.to_owned());
                        continue;
                    }
                    match refusal(model, Asked::of(draft)) {
                        None => targets.push(model.name.into()),
                        Some(PlanError::ModelCannot { model, why, .. }) => {
                            left_out.entry(why).or_default().push(model);
                        }
                        Some(_) => {}
                    }
                }
            }
            TargetDraft::Text(word) if environment.is_group_of_catalogue(word) => {
                targets.extend(group(word, draft, asks, environment, notes)?);
            }
            single => targets.push(single.clone()),
        }
    }
    notes.extend(left_out.into_iter().map(|(why, models)| {
        format!("left out of `all`, since each {why}: {}", models.join(", "))
    }));
    Ok(targets)
}

/// The servers of the catalogue that a word stands for, as far as the plan's other keys leave them possible.
fn group(
    word: &str,
    draft: &PlanDraft,
    asks: &dyn Asks,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetDraft>, PlanError> {
    let (mut possible, mut first_refusal) = (Vec::new(), None);
    let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for server in environment.catalogue.meant_by(word) {
        let target: TargetDraft = server.full_name().as_str().into();
        let fitted = own::of(target.clone(), draft, asks, environment);
        let refusal = fitted.map(|own| catalogue::refusal(server, &own.draft, asks));
        match refusal.unwrap_or_else(Some) {
            None => possible.push(target),
            Some(refusal) => {
                if let PlanError::ServerCannot { server, why } = &refusal {
                    let alike = left_out.entry(why.clone()).or_default();
                    alike.push(server.clone());
                }
                first_refusal.get_or_insert(refusal);
            }
        }
    }
    notes.extend(
        left_out
            .into_iter()
            .map(|(why, servers)| match &servers[..] {
                [server] => format!("left out of `{word}`: {server} {why}"),
                servers => format!(
                    "left out of `{word}`, since each {why}: {}",
                    servers.join(", ")
                ),
            }),
    );
    match first_refusal {
        Some(refusal) if possible.is_empty() => Err(refusal),
        _ if possible.is_empty() => Err(PlanError::EmptyCatalogue(
            environment.catalogue.obstacle.clone(),
        )),
        _ => Ok(possible),
    }
}

/// What is asked of a model that not every one can do.
#[derive(Clone, Copy)]
struct Asked<'a> {
    workers: &'a [u32],
    accept_threads: bool,
    hand_over: bool,
    families: &'a [ListenFamily],
}

impl<'a> Asked<'a> {
    fn of(draft: &'a PlanDraft) -> Self {
        Self {
            workers: draft.workers.as_ref().map_or(&[], |sweep| sweep.values()),
            accept_threads: draft.accept_threads.is_some(),
            // A model's own option only.
            hand_over: false,
            families: draft.family.as_ref().map_or(&[], |sweep| sweep.values()),
        }
    }
}

/// The first of it that this model cannot do.
fn refusal(model: &BuiltInModel, asked: Asked<'_>) -> Option<PlanError> {
    let cannot = |key, why| {
        Some(PlanError::ModelCannot {
            model: model.name.to_owned(),
            key,
            why,
        })
    };
    if asked
        .workers
        .iter()
        .any(|&workers| !model.workers.take(workers))
    {
        return cannot("workers", NO_WORKERS);
    }
    if asked.accept_threads && !model.takes_accept_threads {
        return cannot(
            "accept-threads",
            "has no threads that do nothing but accept",
        );
    }
    if asked.hand_over && !model.takes_hand_over {
        return cannot("hand-over", "hands nothing over from one thread to others");
    }
    if !model.serves_unix && asked.families.contains(&ListenFamily::Unix) {
        return cannot(
            "family = \"unix\"",
            "serves no Unix sockets, only TCP (--family ipv4): its loops share a port, and paths cannot be shared",
        );
    }
    None
}
