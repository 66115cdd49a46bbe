//! Several loops of one server, each in a thread: how they are started, ended together, and added up. The main thread waits.
//!
//! *Method.* The loops and the main thread hold the ends of a socket pair. Whoever shuts it down, the main thread on the stop
//! signal or a loop that fails, makes it readable for all of them, and since nobody reads from it, it stays so: no loop can
//! miss it.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope, ScopedJoinHandle};

use throng_sys::poll::{PollSet, READABLE};

use crate::served::Served;

/// The loops' end of the pair: readable once all are to end.
#[derive(Debug)]
pub(crate) struct End(UnixStream);

impl End {
    /// With the main thread's.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (main, loops) = UnixStream::pair()?;
        Ok((Self(main), Self(loops)))
    }

    pub(crate) fn tell(&self) {
        // It fails where the other end has been shut down, which has had the effect.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Said by a loop once it serves.
pub(crate) struct Begun(Sender<()>);

impl Begun {
    pub(crate) fn say(self) {
        // Nobody listens where another one could not be started: then the stop is under way.
        let _ = self.0.send(());
    }
}

/// Does `work` with each of `parts`, in a thread of its own, until `stop` becomes readable or one of them fails. `ready` is
/// called when all have begun.
pub(crate) fn serve_in_threads<Part: Send>(
    parts: Vec<Part>,
    (main_end, loops_end): (&End, &End),
    stop: BorrowedFd<'_>,
    work: impl Fn(Part, Begun) -> io::Result<Served> + Sync,
    ready: impl FnOnce(),
) -> io::Result<Served> {
    let loops = parts.len();
    // The scope ends when the last loop has: none outlives this call.
    thread::scope(|scope| {
        let (begun, have_begun) = mpsc::channel();
        let started = start(scope, parts, loops_end, &work, begun);
        // All, or one has failed.
        let all_serve = started.is_ok() && have_begun.iter().count() == loops;
        let waited = all_serve.then(|| {
            ready();
            wait_for_either(stop, main_end)
        });
        // On every way out: loops that have started must end.
        main_end.tell();
        let served = join(started?);
        waited.transpose().and(served)
    })
}

type Handle<'scope> = ScopedJoinHandle<'scope, io::Result<Served>>;

/// A loop begins in its own thread: its descriptors may be that thread's.
fn start<'scope, Part: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    parts: Vec<Part>,
    loops_end: &'scope End,
    work: &'scope (impl Fn(Part, Begun) -> io::Result<Served> + Sync),
    begun: Sender<()>,
) -> io::Result<Vec<Handle<'scope>>> {
    let start = |(part, index): (Part, usize)| {
        let begun = Begun(begun.clone());
        thread::Builder::new()
            .name(format!("loop-{index}"))
            .spawn_scoped(scope, move || {
                let result = work(part, begun);
                // After a failure the others end too; after a stop they do already.
                loops_end.tell();
                result
            })
    };
    parts.into_iter().zip(0..).map(start).collect()
}

fn wait_for_either(stop: BorrowedFd<'_>, main_end: &End) -> io::Result<()> {
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    set.push(main_end, READABLE);
    // A signal that is not ours ends a wait too.
    while set.wait(None)? == 0 {}
    Ok(())
}

/// What all did together, or the first error, when all have ended.
fn join(loops: Vec<Handle<'_>>) -> io::Result<Served> {
    let join = |server: Handle<'_>| server.join().unwrap_or_else(|panic| resume_unwind(panic));
    let results: Vec<io::Result<Served>> = loops.into_iter().map(join).collect();
    results
        .into_iter()
        .try_fold(Served::default(), |sum, served| Ok(sum.and(served?)))
}
