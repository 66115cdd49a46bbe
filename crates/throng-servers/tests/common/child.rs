//! The child's side: this program with other arguments is a server that speaks to its parent in lines.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the child speaks to its parent"
)]

use std::num::NonZeroU32;
use std::process::{Command, ExitCode};

use throng_servers::{Announcement, Model, Options, Workload, serve};
use throng_sys::address::Address;

/// The first argument of a child. The others are a model, a number of workers, and addresses.
const SERVE: &str = "serve-for-a-test";
const ITS_OWN_NUMBER: &str = "its-own";
const BACKLOG: u32 = 512;

/// The command line that makes this program the server.
pub(super) fn command(
    model: Model,
    workers: Option<NonZeroU32>,
    listen: &[Address],
    open_files_max: Option<u32>,
) -> Command {
    let limit = open_files_max.map_or(String::new(), |limit| format!("ulimit -n {limit}; "));
    let workers = workers.map_or(ITS_OWN_NUMBER.to_owned(), |workers| workers.to_string());
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limit}exec \"$0\" \"$@\"")])
        // Not by its name, under which the next build puts another file.
        .arg(format!("/proc/{}/exe", std::process::id()))
        .args([SERVE, model.name(), &workers])
        .args(listen.iter().map(Address::to_string));
    command
}

/// Serves where the command line asks for it, before this process has any other thread.
pub(super) fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != SERVE {
        return None;
    }
    let model: Model = arguments.next()?.parse().expect("a model");
    let workers = match arguments.next()?.as_str() {
        ITS_OWN_NUMBER => None,
        number => Some(number.parse().expect("a number of workers")),
    };
    let options = Options {
        listen: arguments
            .map(|text| text.parse().expect("an address"))
            .collect(),
        backlog: BACKLOG,
        workers,
    };
    Some(match serve(model, Workload::Echo, &options, &mut tell) {
        Ok(served) => {
            println!("served {} {}", served.connections, served.bytes);
            for note in served.notes {
                println!("note {note}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn tell(announcement: Announcement<'_>) {
    match announcement {
        Announcement::Workers(workers) => println!("workers {workers}"),
        Announcement::ServesAtOnce(connections) => println!("serves-at-once {connections}"),
        Announcement::Ready(address) => println!("ready {address}"),
    }
}
