//! `throng load`, hidden: the generator process that the lab starts. One `LoadJob` in JSON on standard input, `LoadEvent`s
//! in JSON on standard output, a line each.
//!
//! Before each phase but that of the greetings it waits for a line, or the end, of standard input: until then the lab reads the memory, the CPU
//! time and the threads of both sides, and nothing may happen meanwhile. The line is empty, or a `GoOn` with the instant at which to begin.

use std::io::{self, BufRead as _, Write as _};
use std::time::Duration;

use clap::Args;
use throng_load::{Interrupt, run_job};
use throng_record::{GoOn, LoadEvent, LoadJob};
use throng_sys::clock::monotonic_ns;
use throng_sys::limits;

use crate::exit::Exit;
use crate::failure::{Failure, note};
use crate::interrupt::on_termination;

/// Generate load as a job on standard input says (started by run and the experiments)
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let raise = interrupt.clone();
    // Before the fleet has threads. A second signal changes nothing: the lab kills when it loses patience.
    on_termination(move |_| raise.raise())?;
    let last = match work(&interrupt) {
        Ok(event) => event,
        Err(message) => LoadEvent::Failed { message },
    };
    let exit = match last {
        LoadEvent::Failed { .. } => Exit::Failed,
        _ => Exit::Success,
    };
    tell(&last).map_err(|error| Failure::failed("cannot hand the record over").cause(error))?;
    Ok(exit)
}

fn work(interrupt: &Interrupt) -> Result<LoadEvent, String> {
    let mut stdin = io::stdin().lock();
    let mut line = String::new();
    let job: LoadJob = stdin
        .read_line(&mut line)
        .map_err(serde_json::Error::io)
        .and_then(|_| serde_json::from_str(&line))
        .map_err(|error| {
            format!("no load job on standard input: {error}; `throng echo` makes one and starts this command")
        })?;
    if let Err(error) = limits::raise_open_files() {
        note(error);
    }
    let record = run_job(&job, interrupt, &mut |event| {
        // Nobody listens any more: nobody needs the load.
        if tell(&event).is_err() {
            interrupt.raise();
        }
        if event.awaits_answer() {
            // That nothing more can be read is leave to go on as well.
            let mut answer = String::new();
            let _ = stdin.read_line(&mut answer);
            wait_for(&answer, interrupt);
        }
    })
    .map_err(|error| error.to_string())?;
    Ok(LoadEvent::Finished {
        record: Box::new(record),
    })
}

/// Until the instant that the answer names, if it names one. The last of the wait is spun through: a sleep ends late.
fn wait_for(answer: &str, interrupt: &Interrupt) {
    const SPIN: Duration = Duration::from_micros(200);
    const LOOK: Duration = Duration::from_millis(20);
    let Ok(GoOn { at_monotonic_ns }) = serde_json::from_str(answer) else {
        return;
    };
    loop {
        let left = Duration::from_nanos(at_monotonic_ns.saturating_sub(monotonic_ns()));
        if left.is_zero() || interrupt.is_raised() {
            return;
        }
        match left.checked_sub(SPIN) {
            Some(sleep) => std::thread::sleep(sleep.min(LOOK)),
            None => std::hint::spin_loop(),
        }
    }
}

fn tell(event: &LoadEvent) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
