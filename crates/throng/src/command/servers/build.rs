//! `throng servers build`: what has to be built, before a run needs it.

use std::time::{Duration, Instant};

use clap::Args;
use throng_catalogue::catalogue::{ALL, Catalogue, Server, Unprepared, Versions};

use crate::catalogue::{self, CatalogueFlag};
use crate::exit::Exit;
use crate::failure::{Failure, note};
use crate::{interrupt, output};

const AFTER_HELP: &str = "\
A server is built into the user's cache folder ($XDG_CACHE_HOME/throng or ~/.cache/throng), and again only when its source, its
command or its compiler has changed. A run builds what it needs by itself.

Exit codes: 0 all that can be built here is built; 1 a build failed, or a server that was named cannot be built here.";

/// Build catalogued servers
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// LANGUAGE/SERVER, LANGUAGE for all of its servers, or `catalogue`
    #[arg(value_name = "NAME", default_value = ALL)]
    names: Vec<String>,
    #[command(flatten)]
    catalogue: CatalogueFlag,
}

/// What came of one server.
enum BuildOutcome {
    Built(Duration),
    UpToDate,
    NothingToBuild,
    Missing(String),
    Failed(String),
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let catalogue = catalogue::find(arguments.catalogue.folder(), &catalogue::program()?)?;
    let cache = catalogue::cache()?;
    let servers = meant(&catalogue, &arguments.names)?;
    let versions = Versions::default();
    let interrupted = interrupt::watch()?;
    let mut summary = String::new();
    let mut exit = Exit::Success;
    for server in servers {
        let name = server.full_name();
        let begin = Instant::now();
        let mut was_built = false;
        let prepared = server.prepare(&cache, &versions, &interrupted, &mut || {
            note(format_args!("building {name}"));
            was_built = true;
        });
        let has_build = server
            .manifest
            .as_ref()
            .is_ok_and(|one| one.build.is_some());
        let came = match prepared {
            Ok(_) if !has_build => BuildOutcome::NothingToBuild,
            Ok(_) if was_built => BuildOutcome::Built(begin.elapsed()),
            Ok(_) => BuildOutcome::UpToDate,
            Err(Unprepared::Missing(why)) => BuildOutcome::Missing(why),
            Err(Unprepared::Failed(why)) => BuildOutcome::Failed(why),
            Err(Unprepared::Interrupted) => {
                exit = Exit::Interrupted;
                break;
            }
        };
        let is_named = arguments.names.contains(&name);
        if matches!(&came, BuildOutcome::Failed(_))
            || is_named && matches!(&came, BuildOutcome::Missing(_))
        {
            exit = Exit::Failed;
        }
        summary += &line(&name, &came);
    }
    output::write(&summary, None)?;
    Ok(exit)
}

/// Each server once, in the order of the names.
fn meant<'a>(catalogue: &'a Catalogue, names: &[String]) -> Result<Vec<&'a Server>, Failure> {
    let mut servers: Vec<&Server> = Vec::new();
    for name in names {
        let meant = catalogue.meant_by(name);
        if meant.is_empty() && name != ALL {
            let failure =
                Failure::usage(format_args!("there is no server `{name}` in the catalogue"));
            let nearest = catalogue.nearest(name);
            return Err(failure.meant(nearest, "throng servers lists those there are"));
        }
        for server in meant {
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
    }
    Ok(servers)
}

/// A failure is told at once, and its reason stands in the summary in short.
fn line(name: &str, came: &BuildOutcome) -> String {
    let what = match came {
        BuildOutcome::Built(took) => format!("built in {:.1} s", took.as_secs_f64()),
        BuildOutcome::UpToDate => "up to date".to_owned(),
        BuildOutcome::NothingToBuild => "nothing to build".to_owned(),
        BuildOutcome::Missing(why) => format!("left out: {why}"),
        BuildOutcome::Failed(why) => {
            Failure::failed(why).with_hint_parted().print();
            "failed".to_owned()
        }
    };
    format!("{name}: {what}\n")
}
