//! The list of servers, for people or for programs.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use throng_catalogue::catalogue::{Cache, Catalogue, RuntimeFound, Server, Versions};
use throng_record::{ContractException, ContractStanding, DeclaredModel};
use throng_servers::Model;

use crate::catalogue;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Audience};
use crate::table::{self, Column};

/// Programs asked for their version at the same time: most of their start is waiting for files.
const AT_ONCE: usize = 8;

/// The list as programs read it.
#[derive(Serialize)]
struct Listing {
    built_in: Vec<BuiltIn>,
    catalogue: Vec<Catalogued>,
}

/// A built-in server.
#[derive(Serialize)]
struct BuiltIn {
    model: &'static str,
    family: &'static str,
    serves_at_once: String,
    /// How many threads, loops or processes serve, where that is a number that may be chosen.
    workers: Option<u32>,
    serves_unix: bool,
    takes_accept_threads: bool,
    /// Whether it serves the broadcast workload; every model serves the others.
    broadcasts: bool,
    takes_hand_over: bool,
    summary: &'static str,
}

/// A catalogued one; what its `server.toml` says is absent where that cannot be used.
#[derive(Serialize)]
struct Catalogued {
    name: String,
    title: Option<String>,
    language: Option<String>,
    model: Option<DeclaredModel>,
    workloads: Vec<&'static str>,
    exceptions: Vec<ContractException>,
    source: Option<String>,
    runtime: Option<String>,
    /// Absent where none was found that will do.
    runtime_version: Option<String>,
    /// What the last check found; absent where it was not checked since it changed.
    contract: Option<ContractStanding>,
    /// What is in the way, and how to install it.
    missing: Option<String>,
    /// What is wrong with its `server.toml`.
    error: Option<String>,
}

pub(super) fn run(audience: Audience, folder: Option<&Path>) -> Result<Exit, Failure> {
    let found = catalogue::find(folder, &catalogue::program()?);
    let found = found.and_then(|found| Ok(catalogued(&found, &catalogue::cache()?)));
    let (catalogue, exit) = match found {
        Ok(catalogue) => (catalogue, Exit::Success),
        Err(failure) if folder.is_none() => {
            // The built-in ones are there all the same.
            failure.print();
            (vec![], failure.exit)
        }
        Err(failure) => return Err(failure),
    };
    let listing = Listing {
        built_in: Model::ALL.into_iter().map(built_in).collect(),
        catalogue,
    };
    let text = match audience {
        Audience::Terminal => for_people(&listing),
        Audience::Json => output::json(&listing),
    };
    output::write(&text, None)?;
    Ok(exit)
}

fn built_in(model: Model) -> BuiltIn {
    BuiltIn {
        model: model.name(),
        family: model.declaration().family.name(),
        serves_at_once: model.declaration().serves_at_once_in_words(),
        workers: model.workers(None).map(std::num::NonZeroU32::get),
        serves_unix: model.declaration().serves_unix,
        takes_accept_threads: model.declaration().takes_accept_threads,
        broadcasts: model.declaration().broadcasts,
        takes_hand_over: model.declaration().takes_hand_over,
        summary: model.declaration().summary,
    }
}

fn catalogued(catalogue: &Catalogue, cache: &Cache) -> Vec<Catalogued> {
    let uninterrupted = AtomicBool::new(false);
    let versions = Versions::default();
    let look = |server: &Server| server.runtime(cache, &versions, &uninterrupted);
    let of_chunk = |servers: &[Server]| -> Vec<Catalogued> {
        std::thread::scope(|scope| {
            let started: Vec<_> = servers
                .iter()
                .map(|server| (server, scope.spawn(|| look(server))))
                .collect();
            // A panic there would be one of our own code, and is passed on.
            let entry = |(server, thread): (&Server, std::thread::ScopedJoinHandle<'_, _>)| {
                let found = thread.join().expect("looking does not panic");
                entry(server, found, cache)
            };
            started.into_iter().map(entry).collect()
        })
    };
    catalogue
        .servers
        .chunks(AT_ONCE)
        .flat_map(of_chunk)
        .collect()
}

fn entry(server: &Server, found: Option<RuntimeFound>, cache: &Cache) -> Catalogued {
    let manifest = server.manifest.as_ref();
    let error = manifest.err().map(|error| error.in_one_line());
    let manifest = manifest.ok();
    let version = found.as_ref().and_then(RuntimeFound::version);
    let obstacle = |found: &RuntimeFound| found.obstacle(manifest?);
    let contract = version.and_then(|version| server.standing(cache, &version.to_string()));
    Catalogued {
        name: server.full_name(),
        title: manifest.map(|one| one.title.clone()),
        language: manifest.map(|one| one.language.clone()),
        model: manifest.map(|one| one.model),
        workloads: manifest.map_or(vec![], |one| {
            one.workloads
                .iter()
                .map(|workload| workload.name())
                .collect()
        }),
        exceptions: manifest.map_or(vec![], |one| one.exceptions.keys().copied().collect()),
        source: manifest.map(|one| one.source.clone()),
        runtime: manifest.map(|one| one.runtime.name.clone()),
        runtime_version: version.map(ToString::to_string),
        contract,
        missing: found.as_ref().and_then(obstacle),
        error,
    }
}

fn for_people(listing: &Listing) -> String {
    let mut text = table::list(&listing.built_in, &[&BUILT_IN, &BUILT_IN[..4]]);
    if !listing.catalogue.is_empty() {
        let [name, _, title, model, workloads, runtime] = CATALOGUED;
        text += "\n";
        text += &table::list(
            &listing.catalogue,
            &[
                &CATALOGUED,
                &[name, title, model, workloads, runtime],
                &[name, model, workloads, runtime],
                &[name, model, runtime],
            ],
        );
    }
    text
}

const BUILT_IN: [Column<BuiltIn>; 5] = [
    ("model", |entry| entry.model.to_owned()),
    ("family", |entry| entry.family.to_owned()),
    ("serves at once", |entry| entry.serves_at_once.clone()),
    ("broadcast", |entry| {
        if entry.broadcasts { "yes" } else { "no" }.to_owned()
    }),
    ("how it works", |entry| entry.summary.to_owned()),
];

const CATALOGUED: [Column<Catalogued>; 6] = [
    ("catalogue", |entry| entry.name.clone()),
    ("language", |entry| or_unknown(entry.language.clone())),
    ("title", |entry| or_unknown(entry.title.clone())),
    ("model", |entry| {
        or_unknown(entry.model.map(|model| model.to_string()))
    }),
    ("workloads", |entry| entry.workloads.join(" ")),
    ("runtime", runtime),
];

fn or_unknown(known: Option<String>) -> String {
    known.unwrap_or_else(|| "?".to_owned())
}

/// Its version, or why the server cannot run.
fn runtime(entry: &Catalogued) -> String {
    match (&entry.error, &entry.missing, &entry.runtime_version) {
        (Some(wrong), ..) => wrong.clone(),
        (None, Some(missing), _) => missing.clone(),
        (None, None, version) => format!(
            "{} {}{}",
            entry.runtime.as_deref().unwrap_or_default(),
            version.as_deref().unwrap_or_default(),
            breaks(entry.contract.as_ref())
        ),
    }
}

fn breaks(contract: Option<&ContractStanding>) -> String {
    let broken = contract.map_or(&[][..], |found| &found.broken[..]);
    match broken {
        [] => String::new(),
        clauses => format!(", breaks the contract: {}", clauses.join(", ")),
    }
}
