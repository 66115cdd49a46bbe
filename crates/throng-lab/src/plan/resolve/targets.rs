//! Which servers are measured.

use std::collections::BTreeMap;

use throng_record::built_in::{Family, ServesAtOnce};
use throng_record::plan::{Experiment, ListenFamily};
use throng_record::{BuiltInModel, TargetRecord};

use super::{ALL, NO_WORKERS, accept, catalogue};
use crate::plan::escape::unescape;
use crate::plan::{Environment, PlanDraft, PlanError, keys};
use crate::target::TargetDraft;
use throng_catalogue::suggest::or_list;

/// The targets as they stand in the record, each possible in every family that launched servers are to listen on.
pub(super) fn resolve(
    draft: &PlanDraft,
    experiment: Experiment,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetRecord>, PlanError> {
    if experiment == Experiment::Accept {
        return accept::targets(draft, environment, notes);
    }
    let families = draft
        .family
        .as_ref()
        .map_or(&[ListenFamily::Ipv4][..], |sweep| sweep.values());
    let has_own_connections = matches!(experiment, Experiment::Backlog | Experiment::Churn);
    if has_own_connections && families.contains(&ListenFamily::Unix) {
        return Err(PlanError::NoHandshake("`family = unix`".to_owned()));
    }
    let mut targets: Vec<TargetRecord> = Vec::new();
    for target in written(draft, experiment, environment, notes)? {
        for (index, &family) in families.iter().enumerate() {
            let record = target.resolve(&environment.models, &environment.catalogue, family)?;
            if index > 0 {
                continue;
            }
            check(&record, draft, experiment, environment)?;
            if targets.iter().any(|other| other.name == record.name) {
                return Err(PlanError::DuplicateTarget(record.name));
            }
            targets.push(record);
        }
    }
    if targets.is_empty() {
        return Err(PlanError::NoTarget {
            others: match experiment {
                Experiment::Backlog | Experiment::Churn => "http://HOST:PORT/PATH",
                _ => "unix:PATH",
            },
        });
    }
    Ok(targets)
}

/// Refuses a target that the experiment cannot measure, or a model of which something is asked that it cannot do.
fn check(
    target: &TargetRecord,
    draft: &PlanDraft,
    experiment: Experiment,
    environment: &Environment,
) -> Result<(), PlanError> {
    let address = target.address.as_deref().unwrap_or_default();
    let has_own_connections = matches!(experiment, Experiment::Backlog | Experiment::Churn);
    if target.http.is_some() && !has_own_connections {
        return Err(http_refusal(target, experiment));
    }
    if target.options.delay_inline && experiment != Experiment::Backlog {
        return Err(no_delay(experiment));
    }
    if address.starts_with("unix:") && has_own_connections {
        return Err(PlanError::NoHandshake(format!("target `{}`", target.name)));
    }
    let server = target.catalogue.as_ref();
    if let Some(server) = server.and_then(|one| environment.catalogue.server(&one.name())) {
        let refusal = catalogue::refusal(server, draft, experiment)
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
    if experiment == Experiment::Fanout
        && let Some(model) = environment.model_of(target)
        && !model.broadcasts
    {
        return Err(PlanError::NoBroadcast {
            model: model.name.to_owned(),
            why: no_broadcast(model),
            known: broadcasters(environment),
        });
    }
    let greets_otherwise = draft.greeting.as_ref().is_some_and(|sweep| {
        let mut greetings = sweep.values().iter();
        // One that cannot be read is refused as such.
        greetings.any(|greeting| {
            unescape(greeting).is_ok_and(|bytes| bytes != super::fanout::GREETING.as_bytes())
        })
    });
    if experiment == Experiment::Fanout && greets_otherwise && target.kind.keeps_contract() {
        return Err(PlanError::Greeting {
            model: target.name.clone(),
        });
    }
    let refusal = environment
        .model_of(target)
        .and_then(|model| refusal(model, Asked::of(draft)).or_else(|| refusal(model, own)));
    refusal.map_or(Ok(()), Err)
}

/// A server's own option is refused as the plan's key is.
fn no_delay(experiment: Experiment) -> PlanError {
    let key = keys::find("delay-inline").expect("it is a key");
    key.refusal(experiment).expect("only one experiment has it")
}

/// The targets one by one. Of `all`, those that the plan's other keys leave possible.
fn written(
    draft: &PlanDraft,
    experiment: Experiment,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetDraft>, PlanError> {
    let mut targets = Vec::new();
    let mut left_out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for target in draft.targets.iter().flatten() {
        match target {
            TargetDraft::Text(text) if text == ALL => {
                for model in &environment.models {
                    if experiment == Experiment::Fanout && !model.broadcasts {
                        let left = left_out.entry(CANNOT_BROADCAST).or_default();
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
                targets.extend(group(word, draft, experiment, environment, notes)?);
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
    experiment: Experiment,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetDraft>, PlanError> {
    let (mut possible, mut first_refusal) = (Vec::new(), None);
    for server in environment.catalogue.meant_by(word) {
        match catalogue::refusal(server, draft, experiment) {
            None => possible.push(server.full_name().as_str().into()),
            Some(refusal) => {
                if let PlanError::ServerCannot { server, why } = &refusal {
                    notes.push(format!("left out of `{word}`: {server} {why}"));
                }
                first_refusal.get_or_insert(refusal);
            }
        }
    }
    match first_refusal {
        Some(refusal) if possible.is_empty() => Err(refusal),
        _ if possible.is_empty() => Err(PlanError::EmptyCatalogue(
            environment.catalogue.obstacle.clone(),
        )),
        _ => Ok(possible),
    }
}

const CANNOT_BROADCAST: &str = "cannot pass a line on to all connections";

fn broadcasters(environment: &Environment) -> String {
    let can = environment.models.iter().filter(|model| model.broadcasts);
    or_list(&can.collect::<Vec<_>>())
}

fn no_broadcast(model: &BuiltInModel) -> &'static str {
    match (model.serves_at_once, model.family) {
        (ServesAtOnce::OnePerWorker, _) => {
            "each of its workers serves one connection until it ends"
        }
        (_, Family::Processes) => "its processes share nothing",
        _ => "it knows one connection at a time",
    }
}

/// HTTP is no protocol of these experiments.
fn http_refusal(target: &TargetRecord, experiment: Experiment) -> PlanError {
    let (experiment, needed, instead) = match experiment {
        Experiment::Fanout => (
            "fan-out",
            "passes every line on to all of its connections",
            "write tcp://HOST:PORT of one that does",
        ),
        Experiment::Hold => (
            "hold",
            "sends back what it gets",
            "to ping it with one fixed request, write tcp://HOST:PORT with --send and --expect",
        ),
        other => (
            other.name(),
            "sends back what it gets",
            "to send it one fixed request, write tcp://HOST:PORT with --send and --expect",
        ),
    };
    PlanError::HttpTarget {
        target: target.name.clone(),
        experiment,
        needed,
        instead,
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
            "serves no Unix sockets: its loops share a port, and paths cannot be shared",
        );
    }
    None
}
