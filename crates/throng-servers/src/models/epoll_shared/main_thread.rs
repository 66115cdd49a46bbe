//! What the main thread does: it opens what the loops share, starts them, waits for the stop signal or for one that fails, and
//! adds up what they did. What is shared is its own: a loop has it in its table, and must not be who closes it.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope, ScopedJoinHandle};

use throng_sys::poll::{PollSet, READABLE};

use super::Loop;
use crate::bell::Bell;
use crate::listener::Listener;
use crate::mailbox::Post;
use crate::opening::Opening;
use crate::places::Fullness;
use crate::serve::{ModelError, Served};
use crate::workload::{Audience, Session};

/// What the loops share.
pub(super) struct Common {
    pub(super) listeners: Vec<Listener>,
    /// Rung by whoever leaves the listeners.
    pub(super) bell: Bell,
    pub(super) fullness: Fullness,
    /// Readable once all are to end.
    pub(super) loops_end: UnixStream,
}

impl Common {
    pub(super) fn new(
        listeners: Vec<Listener>,
        loops: usize,
        loops_end: UnixStream,
    ) -> io::Result<Self> {
        Ok(Self {
            listeners,
            bell: Bell::new()?,
            fullness: Fullness::new(loops),
            loops_end,
        })
    }

    /// What each loop needs of it in its table.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listeners = self.listeners.iter().map(|listener| listener.as_fd());
        let bell = self.bell.descriptors();
        listeners.chain(bell).chain([self.loops_end.as_fd()])
    }
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let loops = opening.workers();
    let (main_end, loops_end) = UnixStream::pair()?;
    let common = Common::new(opening.listeners()?, loops, loops_end)?;
    let posts = posts::<S>(loops)?;
    // Until the last loop has ended.
    let _office = posts.iter().flatten().next().map(Post::office);
    // The scope ends when the last loop has: none outlives this call.
    let served = thread::scope(|scope| {
        let (begun, have_begun) = mpsc::channel();
        let started = start::<S>(scope, settings, &common, posts, &begun);
        drop(begun);
        // All, or one has failed.
        let all_serve = started.is_ok() && have_begun.iter().count() == loops;
        let waited = all_serve.then(|| {
            opening.ready(&common.listeners);
            wait_for_either(stop, &main_end)
        });
        // On every way out: loops that have started must end.
        shut_down(&main_end);
        let served = join(started?);
        waited.transpose().and(served)
    });
    Ok(served?)
}

/// A mailbox for each loop, where what one says goes to all.
fn posts<S: Session>(loops: usize) -> io::Result<Vec<Option<Post>>> {
    if S::AUDIENCE == Audience::Everyone {
        Ok(Post::for_loops(loops)?.into_iter().map(Some).collect())
    } else {
        Ok((0..loops).map(|_| None).collect())
    }
}

type Handle<'scope> = ScopedJoinHandle<'scope, io::Result<Served>>;

/// A loop begins in its own thread, since its descriptors are that thread's.
fn start<'scope, S: Session>(
    scope: &'scope Scope<'scope, '_>,
    settings: &'scope S::Settings,
    common: &'scope Common,
    posts: Vec<Option<Post>>,
    begun: &Sender<()>,
) -> io::Result<Vec<Handle<'scope>>> {
    let start = |(post, index): (Option<Post>, usize)| {
        let begun = begun.clone();
        thread::Builder::new()
            .name(format!("loop-{index}"))
            .spawn_scoped(scope, move || {
                let server = Loop::<S>::begin(settings, common, post);
                if server.is_ok() {
                    // Nobody listens where another one could not be started: then the stop is under way.
                    let _ = begun.send(());
                }
                drop(begun);
                let result = server.and_then(Loop::run);
                // After a failure the others end too; after a stop they do already.
                shut_down(&common.loops_end);
                result
            })
    };
    posts.into_iter().zip(0..).map(start).collect()
}

fn wait_for_either(stop: BorrowedFd<'_>, main_end: &UnixStream) -> io::Result<()> {
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    set.push(main_end, READABLE);
    // A signal that is not ours ends a wait too.
    while set.wait(None)? == 0 {}
    Ok(())
}

pub(super) fn shut_down(end: &UnixStream) {
    // It fails where the other end has been shut down, which has had the effect.
    let _ = end.shutdown(Shutdown::Both);
}

/// What all did together, or the first error, when all have ended.
fn join(loops: Vec<Handle<'_>>) -> io::Result<Served> {
    let join = |server: Handle<'_>| server.join().unwrap_or_else(|panic| resume_unwind(panic));
    let results: Vec<io::Result<Served>> = loops.into_iter().map(join).collect();
    results
        .into_iter()
        .try_fold(Served::default(), |sum, served| Ok(sum.and(served?)))
}
