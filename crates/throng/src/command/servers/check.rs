//! `throng servers check`: whether servers keep the contract of the catalogue.

mod table;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use throng_catalogue::catalogue::{Cache, Catalogue, Recipe, Server, Unprepared, Versions};
use throng_catalogue::contract::{self, Subject, Trying};
use throng_record::{ContractReport, LeftOut};
use throng_sys::limits;

use super::subject::{self, Candidate};
use crate::catalogue::{self, CatalogueFlag};
use crate::exit::Exit;
use crate::failure::{Failure, note};
use crate::interrupt;
use crate::output::{self, Audience};

const AFTER_HELP: &str = "\
Examples:
  throng servers check                               every built-in and catalogued server
  throng servers check all                           every built-in one
  throng servers check epoll-edge python go/goroutines
  throng servers check poll --format json
  throng servers check --catalogue servers rust/mine
  throng servers check --jobs 4                      everything, four servers at a time

Every clause is tried on a server of its own: refusals, ready lines, IPv6 and Unix sockets, the
backlog that the kernel was asked for, what each workload answers, slow readers, resets, a thousand
connections, SIGTERM, and whether threads and processes are what its model says. A server takes
about ten seconds, a slow runtime up to a minute; most of it is waiting, so that --jobs saves time.
What a server declares that it cannot do must indeed fail. Runs that come after do not rank a
catalogued server that broke a clause, until it was changed or has passed.

Clauses that failed are shown with what was seen and what is due; JSON has all of them, each with
its result: held, failed, declared_and_fails, declared_but_holds or not_applicable. A server that
has nothing to run it on this machine is left out, which is no failure where it was neither named
nor `--strict` asked for.

Exit codes:
  0    every server that can run here keeps the contract, but for what it declares
  1    a clause failed or one holds that is declared to fail; a server could not be built, or its
       server.toml read; a server that was to run cannot run here
  2    there is no such server
  130  ended early by Ctrl-C or SIGTERM";

/// Check that servers keep the contract: replies, start, end, concurrency model
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// Models, `all` for every one of them, LANGUAGE/SERVER, LANGUAGE, or `catalogue`; every server where absent
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// A server that cannot run on this machine fails, named or not
    #[arg(long)]
    strict: bool,
    /// Servers to check at the same time
    #[arg(long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    #[command(flatten)]
    catalogue: CatalogueFlag,
}

impl Arguments {
    /// Whether it must run here.
    fn requires(&self, server: &LeftOut) -> bool {
        self.strict || self.names.contains(&server.name)
    }
}

/// What came of all of them, as programs read it.
#[derive(Debug, Default, Serialize)]
struct Checked {
    reports: Vec<ContractReport>,
    /// Nothing on this machine can run these.
    left_out: Vec<LeftOut>,
    /// These could not be read or built.
    broken: Vec<LeftOut>,
}

/// What came of one.
enum CheckOutcome {
    Checked(ContractReport),
    LeftOut(LeftOut),
    Broken(LeftOut),
}

/// What checking a server takes, beside the server.
struct Bench<'a> {
    program: &'a Path,
    /// Where catalogued servers are built; there where there is one to be checked.
    cache: Option<Cache>,
    versions: Versions,
    interrupted: &'a AtomicBool,
    bar: ProgressBar,
}

pub(super) fn run(arguments: &Arguments, audience: Audience) -> Result<Exit, Failure> {
    let program = catalogue::program()?;
    let folder = arguments.catalogue.folder();
    let catalogue = match folder.is_none() && subject::are_built_in(&arguments.names) {
        true => Catalogue::default(),
        false => catalogue::find(folder, &program)?,
    };
    let candidates = subject::meant(&arguments.names, &catalogue)?;
    let is_catalogued = |candidate: &Candidate<'_>| matches!(candidate, Candidate::Catalogued(_));
    let has_catalogued = candidates.iter().any(is_catalogued);
    let cache = has_catalogued.then(catalogue::cache).transpose()?;
    let interrupted = interrupt::watch()?;
    if let Err(error) = limits::raise_open_files() {
        note(error);
    }
    let bench = Bench {
        program: &program,
        cache,
        versions: Versions::default(),
        interrupted: &interrupted,
        bar: bar(candidates.len()),
    };
    let checked = bench.check_all(&candidates, arguments.jobs);
    bench.bar.finish_and_clear();
    let text = match audience {
        Audience::Terminal => table::for_people(&checked),
        Audience::Json => output::json(&checked),
    };
    output::write(&text, None)?;
    Ok(checked.exit(candidates.len(), arguments))
}

impl Bench<'_> {
    /// Each of the threads takes the next server, and lives until the last of its servers has ended: children are bound to the
    /// thread that started them. The results are in the order of the candidates.
    fn check_all(&self, candidates: &[Candidate<'_>], jobs: NonZeroUsize) -> Checked {
        let next = AtomicUsize::new(0);
        let all = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..jobs.get().min(candidates.len()) {
                scope.spawn(|| {
                    while !self.interrupted.load(Ordering::Relaxed) {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&candidate) = candidates.get(place) else {
                            return;
                        };
                        if let Some(came) = self.check(candidate) {
                            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                            all.push((place, came));
                        }
                        self.bar.inc(1);
                    }
                });
            }
        });
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_unstable_by_key(|&(place, _)| place);
        all.into_iter().map(|(_, came)| came).collect()
    }

    /// Nothing where the user ended it before it could begin.
    fn check(&self, candidate: Candidate<'_>) -> Option<CheckOutcome> {
        let name = candidate.name();
        self.bar.set_message(name.clone());
        match candidate {
            Candidate::BuiltIn(model) => {
                let subject = subject::built_in(model, self.program);
                Some(CheckOutcome::Checked(self.check_subject(&subject)))
            }
            Candidate::Catalogued(server) => {
                let cache = self.cache.as_ref()?;
                let mut on_build = || self.bar.set_message(format!("{name} · building"));
                match server.prepare(cache, &self.versions, self.interrupted, &mut on_build) {
                    Ok(recipe) => self.check_catalogued(server, cache, recipe),
                    Err(Unprepared::Missing(why)) => {
                        Some(CheckOutcome::LeftOut(LeftOut { name, why }))
                    }
                    Err(Unprepared::Failed(why)) => {
                        Some(CheckOutcome::Broken(LeftOut { name, why }))
                    }
                    Err(Unprepared::Interrupted) => None,
                }
            }
        }
    }

    /// Runs that come after it are to know what it found.
    fn check_catalogued(
        &self,
        server: &Server,
        cache: &Cache,
        recipe: Recipe,
    ) -> Option<CheckOutcome> {
        let version = recipe.runtime_version.clone();
        let report = self.check_subject(&subject::catalogued(server, recipe)?);
        if let Some(standing) = report.standing()
            && let Err(error) = server.keep_standing(cache, &version, standing)
        {
            note(format_args!(
                "what was found of {} cannot be kept for later runs in {}: {error}; make that place writable, or set XDG_CACHE_HOME to another",
                server.full_name(),
                cache.root().display()
            ));
        }
        Some(CheckOutcome::Checked(report))
    }

    fn check_subject(&self, subject: &Subject<'_>) -> ContractReport {
        let mut tell = |trying: Trying<'_>| self.bar.set_message(in_words(&subject.name, trying));
        contract::check(subject, self.interrupted, &mut tell)
    }
}

impl FromIterator<CheckOutcome> for Checked {
    fn from_iter<I: IntoIterator<Item = CheckOutcome>>(all: I) -> Self {
        let mut checked = Self::default();
        for came in all {
            match came {
                CheckOutcome::Checked(report) => checked.reports.push(report),
                CheckOutcome::LeftOut(server) => checked.left_out.push(server),
                CheckOutcome::Broken(server) => checked.broken.push(server),
            }
        }
        checked
    }
}

impl Checked {
    fn exit(&self, asked: usize, arguments: &Arguments) -> Exit {
        let done = self.reports.len() + self.left_out.len() + self.broken.len();
        let is_complete = |report: &ContractReport| report.complete;
        let is_missed = |server: &LeftOut| arguments.requires(server);
        if done < asked || !self.reports.iter().all(is_complete) {
            Exit::Interrupted
        } else if self.reports.iter().all(ContractReport::is_kept)
            && self.broken.is_empty()
            && !self.left_out.iter().any(is_missed)
        {
            Exit::Success
        } else {
            Exit::Failed
        }
    }
}

/// Hidden by itself where standard error is no terminal.
fn bar(servers: usize) -> ProgressBar {
    let bar = ProgressBar::new(servers as u64);
    let style = ProgressStyle::with_template("{bar:12} {pos}/{len} · {wide_msg}");
    bar.set_style(style.expect("the template is well formed"));
    bar.tick();
    bar
}

fn in_words(server: &str, trying: Trying<'_>) -> String {
    format!(
        "{server} · {} of {} · {} {}",
        trying.done + 1,
        trying.total,
        trying.workload.name(),
        trying.clause
    )
}
