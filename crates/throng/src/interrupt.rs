//! Ctrl-C: the first ends the run early and in order, keeping what it measured; the second ends the program at once.
//!
//! SIGTERM and SIGHUP count as Ctrl-C. Children are in process groups of their own, so the terminal's signal reaches only us, and
//! they are bound to our main thread: when the second one ends us, the kernel ends them.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use throng_sys::signal::Termination;

use crate::exit::Exit;
use crate::failure::{Failure, note};

/// Takes the signals over and watches for them from a thread. Call it before any other thread exists.
pub(crate) fn watch() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let raise = Arc::clone(&interrupted);
    on_termination(move |count| {
        if count > 1 {
            std::process::exit(Exit::Interrupted.code().into());
        }
        raise.store(true, Relaxed);
        // A terminal has shown `^C`, and perhaps a progress bar, on this line.
        let start = if io::stderr().is_terminal() { "\n" } else { "" };
        let _ = write!(anstream::stderr(), "{start}");
        note("ending early, keeping what has been measured; once more to stop at once");
    })?;
    Ok(interrupted)
}

/// Calls `act` with 1 for the first SIGINT, SIGTERM or SIGHUP, 2 for the second, and so on, on a thread of its own.
pub(crate) fn on_termination(act: impl Fn(u32) + Send + 'static) -> Result<(), Failure> {
    let cannot =
        |error| Failure::failed("cannot take SIGTERM, SIGINT and SIGHUP over").cause(error);
    let termination = Termination::take_over().map_err(cannot)?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for count in 1.. {
                // Without signals the run still goes on to its end.
                if termination.wait().is_err() {
                    return;
                }
                act(count);
            }
        })
        .map_err(|error| {
            Failure::failed("cannot start a thread")
                .cause(error)
                .hint("throng doctor")
        })?;
    Ok(())
}
