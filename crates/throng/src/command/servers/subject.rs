//! From servers' names to what the contract's check needs of each.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use throng_catalogue::catalogue::{ALL, Catalogue, Recipe, Server};
use throng_catalogue::contract::Subject;
use throng_catalogue::suggest::nearest;
use throng_record::{ContractException, Workload};
use throng_servers::Model;

use crate::failure::Failure;

/// Stands for every built-in server, as for runs.
const BUILT_IN: &str = "all";

/// A server that may be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate<'a> {
    BuiltIn(Model),
    Catalogued(&'a Server),
}

impl Candidate<'_> {
    pub(super) fn name(&self) -> String {
        match self {
            Self::BuiltIn(model) => model.name().to_owned(),
            Self::Catalogued(server) => server.full_name(),
        }
    }
}

/// Whether the words can be understood without the catalogue.
pub(super) fn are_built_in(words: &[String]) -> bool {
    let is_built_in = |word: &String| word == BUILT_IN || word.parse::<Model>().is_ok();
    !words.is_empty() && words.iter().all(is_built_in)
}

/// Each server once, in the order of the words; every one where there are none.
pub(super) fn meant<'a>(
    words: &[String],
    catalogue: &'a Catalogue,
) -> Result<Vec<Candidate<'a>>, Failure> {
    let everything = [BUILT_IN, ALL];
    let words: Vec<&str> = match words {
        [] => everything.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    let mut candidates = Vec::new();
    for word in words {
        for candidate in meant_by(word, catalogue)? {
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    Ok(candidates)
}

fn meant_by<'a>(word: &str, catalogue: &'a Catalogue) -> Result<Vec<Candidate<'a>>, Failure> {
    if word == BUILT_IN {
        return Ok(Model::ALL.map(Candidate::BuiltIn).to_vec());
    }
    if let Ok(model) = word.parse() {
        return Ok(vec![Candidate::BuiltIn(model)]);
    }
    let servers = catalogue.meant_by(word);
    if servers.is_empty() && word != ALL {
        return Err(unknown(word, catalogue));
    }
    Ok(servers.into_iter().map(Candidate::Catalogued).collect())
}

fn unknown(word: &str, catalogue: &Catalogue) -> Failure {
    let failure = Failure::usage(format_args!("there is no server `{word}`"));
    let model = || nearest(word, Model::ALL.into_iter().map(Model::name)).map(str::to_owned);
    let nearest = catalogue.nearest(word).or_else(model);
    failure.meant(nearest, "throng servers lists them")
}

pub(super) fn built_in(model: Model, program: &Path) -> Subject<'_> {
    let mut exceptions = BTreeMap::new();
    if !model.declaration().serves_unix {
        let reason = "Sockets that share a port have no counterpart for paths.";
        exceptions.insert(ContractException::Unix, reason.to_owned());
    }
    let workloads = Workload::ALL.into_iter();
    Subject {
        name: model.name().to_owned(),
        model: model.declaration().kind(),
        workloads: workloads
            .filter(|&workload| workload != Workload::Broadcast || model.declaration().broadcasts)
            .collect(),
        exceptions,
        listens_unasked: Some("127.0.0.1:7000".to_owned()),
        command: Box::new(move |words| {
            let mut command = Command::new(program);
            command.args(["serve", model.name()]).args(words);
            command
        }),
    }
}

/// A server that was prepared, so that its `server.toml` is known to be sound; nothing where it is not.
pub(super) fn catalogued(server: &Server, recipe: Recipe) -> Option<Subject<'static>> {
    let manifest = server.manifest.as_ref().ok()?;
    Some(Subject {
        name: server.full_name(),
        model: manifest.model,
        workloads: manifest.workloads.clone(),
        exceptions: manifest.exceptions.clone(),
        listens_unasked: None,
        command: Box::new(move |words| {
            let mut command = recipe.command();
            command.args(words);
            command
        }),
    })
}
