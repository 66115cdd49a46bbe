//! From a catalogued server to a command that starts it: what it needs is looked for, and it is built if it has to be.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use throng_record::{LeftOut, Plan, TargetRecord};

use super::build::{BuildError, Builder, fill_in};
use super::{Cache, Catalogue, Server, Versions, program};

/// All that starting a server takes, but for the flags of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    program: PathBuf,
    arguments: Vec<String>,
    directory: PathBuf,
    environment: BTreeMap<String, String>,
    /// The version of what runs it.
    pub runtime_version: String,
}

impl Recipe {
    /// The command, in the server's directory and without standard input; the flags of the contract are the caller's to add.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.directory)
            .envs(&self.environment)
            .stdin(Stdio::null());
        command
    }
}

/// Why a server cannot be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unprepared {
    /// What it needs is not on this machine: what, and how to install it.
    Missing(String),
    /// It is broken, or could not be built: what, why, and the last of what was said.
    Failed(String),
    /// The user ended it.
    Interrupted,
}

impl Server {
    /// Looks for what the server needs and builds it if it has to be; `on_build` is told when it does.
    ///
    /// # Errors
    /// [`Unprepared`].
    pub fn prepare(
        &self,
        cache: &Cache,
        versions: &Versions,
        interrupted: &AtomicBool,
        on_build: &mut dyn FnMut(),
    ) -> Result<Recipe, Unprepared> {
        let manifest = self.manifest.as_ref();
        let manifest = manifest.map_err(|error| Unprepared::Failed(error.to_string()))?;
        let found = self.runtime(cache, versions, interrupted);
        let found = found.ok_or(Unprepared::Interrupted)?;
        if let Some(obstacle) = found.obstacle(manifest) {
            return Err(Unprepared::Missing(obstacle));
        }
        let version = found.version().expect("nothing is in its way");
        if let Some(build) = &manifest.build {
            let builder = Builder {
                server: self,
                build,
                cache,
                version,
                interrupted,
            };
            builder.up_to_date(on_build).map_err(|error| match error {
                BuildError::Interrupted => Unprepared::Interrupted,
                error => Unprepared::Failed(error.to_string()),
            })?;
        }
        let place = cache.build(&self.language, &self.name);
        let mut words = manifest.run.iter().map(|word| fill_in(word, &place));
        let word = words.next().expect("`run` has a word");
        let program = program::find(&word, &self.directory, &cache.runtimes());
        let program = program.ok_or_else(|| {
            Unprepared::Failed(format!(
                "{}: there is no program {word}; correct `run` or `[build]` in its server.toml",
                self.full_name()
            ))
        })?;
        Ok(Recipe {
            program,
            arguments: words.collect(),
            directory: self.directory.clone(),
            environment: manifest.environment.clone(),
            runtime_version: version.to_string(),
        })
    }
}

/// The catalogued servers of a run, each with its recipe or with the reason why there is none.
#[derive(Clone, Debug, Default)]
pub struct Prepared(HashMap<String, Result<Recipe, String>>);

impl Prepared {
    /// How that target is started.
    ///
    /// # Errors
    /// In words why it cannot be.
    pub fn recipe(&self, target: &TargetRecord) -> Result<&Recipe, String> {
        let name = target.catalogue.as_ref().map(|one| one.name());
        let name = name.as_deref().unwrap_or(&target.name);
        match self.0.get(name) {
            Some(Ok(recipe)) => Ok(recipe),
            Some(Err(message)) => Err(message.clone()),
            None => Err(format!(
                "{name} has not been prepared, since the run was ended early; run again"
            )),
        }
    }
}

/// Prepares the catalogued servers of a plan; `on_build` is told the name of each that is built. Those that need what is not on
/// this machine leave the plan for [`Plan::left_out`]; one that is broken stays, and its trials fail with the reason.
pub fn prepare_plan(
    plan: &mut Plan,
    catalogue: &Catalogue,
    cache: &Cache,
    interrupted: &AtomicBool,
    on_build: &mut dyn FnMut(&str),
) -> Prepared {
    let versions = Versions::default();
    let mut recipes = HashMap::new();
    let mut missing: HashMap<String, String> = HashMap::new();
    for target in &mut plan.targets {
        let Some(record) = &mut target.catalogue else {
            continue;
        };
        let name = record.name();
        let Some(server) = catalogue.server(&name) else {
            continue;
        };
        if !recipes.contains_key(&name) && !missing.contains_key(&name) {
            match server.prepare(cache, &versions, interrupted, &mut || on_build(&name)) {
                Ok(recipe) => drop(recipes.insert(name.clone(), Ok(recipe))),
                Err(Unprepared::Failed(why)) => drop(recipes.insert(name.clone(), Err(why))),
                Err(Unprepared::Missing(why)) => drop(missing.insert(name.clone(), why)),
                Err(Unprepared::Interrupted) => break,
            }
        }
        if let Some(Ok(recipe)) = recipes.get(&name) {
            record.runtime_version = Some(recipe.runtime_version.clone());
            record.contract = server.standing(cache, &recipe.runtime_version);
        }
    }
    leave_out(plan, &missing);
    let prepared = Prepared(recipes);
    let will_fail =
        |target: &TargetRecord| target.catalogue.is_some() && prepared.recipe(target).is_err();
    // The first is the baseline where none is asked for: with one that has no figure nothing could be compared.
    if plan.baseline == 0 {
        let mut targets = plan.targets.iter();
        plan.baseline = targets.position(|one| !will_fail(one)).unwrap_or(0) as u32;
    }
    prepared
}

/// Takes the targets out of the plan whose server's name is among the keys; the baseline stays the same target where it stays.
fn leave_out(plan: &mut Plan, missing: &HashMap<String, String>) {
    let baseline = plan
        .targets
        .get(plan.baseline as usize)
        .map(|one| one.name.clone());
    let why = |target: &TargetRecord| missing.get(&target.catalogue.as_ref()?.name());
    let gone = |target: &TargetRecord| {
        let why = why(target)?.clone();
        let name = target.name.clone();
        Some(LeftOut { name, why })
    };
    plan.left_out.extend(plan.targets.iter().filter_map(gone));
    plan.targets.retain(|target| why(target).is_none());
    let mut targets = plan.targets.iter();
    let place = targets.position(|target| Some(&target.name) == baseline.as_ref());
    plan.baseline = place.unwrap_or(0) as u32;
}
