//! The child's side: this program with other arguments is a server that speaks to its parent in lines.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the child speaks to its parent"
)]

use std::fmt::Debug;
use std::num::NonZeroU32;
use std::process::{Command, ExitCode};
use std::str::FromStr;
use std::time::Duration;

use throng_record::{HandOver, Workload};
use throng_servers::{Announcement, Model, Options, serve};
use throng_sys::address::Address;

use super::setup::Setup;

/// The first argument of a child. The others are a model, its numbers of workers and accept threads, its hand-over, a
/// workload, a delay in nanoseconds and how it is waited for, and addresses.
const SERVE: &str = "serve-for-a-test";
const ITS_OWN: &str = "its-own";
const INLINE: &str = "inline";
const BACKLOG: u32 = 512;

/// The command line that makes this program the server.
pub(super) fn command(setup: &Setup) -> Command {
    let limit = setup.open_files_max;
    let limit = limit.map_or(String::new(), |limit| format!("ulimit -n {limit}; "));
    let number =
        |number: Option<NonZeroU32>| number.map_or(ITS_OWN.to_owned(), |number| number.to_string());
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limit}exec \"$0\" \"$@\"")])
        // Not by its name, under which the next build puts another file.
        .arg(format!("/proc/{}/exe", std::process::id()))
        .args([SERVE, setup.model.name()])
        .args([number(setup.workers), number(setup.accept_threads)])
        .arg(setup.hand_over.map_or(ITS_OWN, HandOver::name))
        .args([setup.workload.name(), &setup.delay.as_nanos().to_string()])
        .arg(if setup.delay_inline { INLINE } else { "own" })
        .args(setup.listen.iter().map(Address::to_string));
    command
}

/// Serves where the command line asks for it, before this process has any other thread.
pub(super) fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != SERVE {
        return None;
    }
    let model: Model = arguments.next()?.parse().expect("a model");
    let workers = its_own_or(&arguments.next()?);
    let accept_threads = its_own_or(&arguments.next()?);
    let hand_over = its_own_or(&arguments.next()?);
    let workload: Workload = arguments.next()?.parse().expect("a workload");
    let options = Options {
        workers,
        accept_threads,
        hand_over,
        delay: Duration::from_nanos(arguments.next()?.parse().expect("a delay")),
        delay_inline: arguments.next()? == INLINE,
        listen: arguments
            .map(|text| text.parse().expect("an address"))
            .collect(),
        backlog: BACKLOG,
        tls: None,
    };
    Some(match serve(model, workload, &options, &mut tell) {
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

fn its_own_or<T: FromStr<Err: Debug>>(text: &str) -> Option<T> {
    (text != ITS_OWN).then(|| text.parse().expect("a number or a word"))
}

fn tell(announcement: Announcement<'_>) {
    match announcement {
        Announcement::Workers(workers) => println!("workers {workers}"),
        Announcement::ServesAtOnce(connections) => println!("serves-at-once {connections}"),
        Announcement::Ready(address) => println!("ready {address}"),
    }
}
