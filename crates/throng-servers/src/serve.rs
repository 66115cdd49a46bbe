//! The way into a model: opens the listeners, says so, runs the model until it is told to stop, returns the totals.

use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsFd as _, BorrowedFd};

use throng_sys::address::Address;
use throng_sys::signal::Termination;
use throng_sys::socket::ListenError;

use crate::listener::Listener;
use crate::model::Model;
use crate::models::{epoll_edge, io_uring, poll, thread_per_connection};
use crate::note::Note;
use crate::workload::{Echo, Session, Workload};

/// Where and how to listen.
#[derive(Clone, Debug)]
pub struct Options {
    /// The addresses, at least one. Port 0 leaves the choice to the kernel.
    pub listen: Vec<Address>,
    /// The length asked of each accept queue; the kernel clamps it to `net.core.somaxconn`, and the queue holds one more.
    pub backlog: u32,
    /// Threads or processes that serve, for models in which that is a choice; `None` is the model's own number.
    pub workers: Option<NonZeroU32>,
}

/// What a server did until it was told to stop.
#[derive(Debug, Default)]
pub struct Served {
    /// Connections served, those that their peer reset included.
    pub connections: u64,
    /// Bytes of answers that the kernel took over.
    pub bytes: u64,
    /// What the user should hear of, although the server went on.
    pub notes: Vec<Note>,
}

/// Why a server did not start, or ended before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A listener could not be opened.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// No address was given.
    #[error("no address to listen on; give one, for example `--listen 127.0.0.1:0`")]
    NoAddress,
    /// The model's number of workers is part of its design.
    #[error(
        "{model} cannot have {asked} workers: it is {}; leave `--workers` out",
        model.summary()
    )]
    Workers {
        /// The model.
        model: Model,
        /// What was asked for.
        asked: NonZeroU32,
    },
    /// The signals could not be taken over.
    #[error("cannot take SIGTERM and SIGINT over: {0}")]
    Signals(io::Error),
    /// The kernel refused a ring.
    #[error(
        "io-uring needs Linux 6.1 or newer with io_uring enabled, and the kernel says: {0}; see `uname -r` and \
         `sysctl kernel.io_uring_disabled` (0 is enabled; a container's seccomp filter may forbid it as well), or serve \
         with epoll-edge"
    )]
    IoUring(io::Error),
    /// The model's own waiting failed.
    #[error("{model} cannot go on: {source}; see `throng doctor` for the limits of this machine")]
    Waiting {
        /// The model.
        model: Model,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// Serves until SIGTERM or SIGINT, which are taken over: call it while the process has no other thread. `ready` is
/// called for each listener, in the order of `options.listen`, once all of them are open.
///
/// It returns within two seconds of the signal: listeners are closed, what has come is answered, connections are
/// closed after that, or when one and a half seconds are over.
///
/// # Errors
/// [`ServeError`], which says what to do about it.
pub fn serve(
    model: Model,
    workload: Workload,
    options: &Options,
    ready: &mut dyn FnMut(&Address),
) -> Result<Served, ServeError> {
    let termination = Termination::take_over().map_err(ServeError::Signals)?;
    serve_until(model, workload, options, termination.as_fd(), ready)
}

/// As [`serve`], until `stop` becomes readable or is hung up, for a server within a larger program. Nothing is read from it.
///
/// # Errors
/// As [`serve`].
pub fn serve_until(
    model: Model,
    workload: Workload,
    options: &Options,
    stop: BorrowedFd<'_>,
    ready: &mut dyn FnMut(&Address),
) -> Result<Served, ServeError> {
    if let Some(asked) = options.workers
        && !is_own_number_of_workers(model, asked)
    {
        return Err(ServeError::Workers { model, asked });
    }
    if options.listen.is_empty() {
        return Err(ServeError::NoAddress);
    }
    match workload {
        Workload::Echo => run::<Echo>(model, options, stop, ready),
    }
}

/// A single event loop is one worker; where threads follow connections, no fixed number is true.
fn is_own_number_of_workers(model: Model, asked: NonZeroU32) -> bool {
    match model {
        Model::ThreadPerConnection => false,
        Model::Poll | Model::EpollEdge | Model::IoUring => asked.get() == 1,
    }
}

fn run<S: Session>(
    model: Model,
    options: &Options,
    stop: BorrowedFd<'_>,
    ready: &mut dyn FnMut(&Address),
) -> Result<Served, ServeError> {
    let mut open = || listeners(options, ready);
    let served = match model {
        Model::ThreadPerConnection => thread_per_connection::serve::<S>(open()?, stop),
        Model::Poll => poll::serve::<S>(open()?, stop),
        Model::EpollEdge => epoll_edge::serve::<S>(open()?, stop),
        Model::IoUring => {
            // First: nobody is told that it is ready on a kernel where it cannot be.
            let ring = io_uring::ring().map_err(ServeError::IoUring)?;
            io_uring::serve::<S>(ring, open()?, stop)
        }
    };
    served.map_err(|source| ServeError::Waiting { model, source })
}

fn listeners(
    options: &Options,
    ready: &mut dyn FnMut(&Address),
) -> Result<Vec<Listener>, ServeError> {
    let listeners = options
        .listen
        .iter()
        .map(|address| Listener::open(address, options.backlog))
        .collect::<Result<Vec<_>, _>>()?;
    for listener in &listeners {
        ready(listener.address());
    }
    Ok(listeners)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn refused(options: &Options) -> ServeError {
        let (stop, _other) = UnixStream::pair().expect("a pair");
        serve_until(
            Model::Poll,
            Workload::Echo,
            options,
            stop.as_fd(),
            &mut |_| panic!("ready"),
        )
        .expect_err("refused")
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_before_anything_listens() {
        let mut options = Options {
            listen: vec![],
            backlog: 1,
            workers: None,
        };
        assert!(matches!(refused(&options), ServeError::NoAddress));
        options.workers = NonZeroU32::new(4);
        assert!(refused(&options).to_string().contains("--workers"));
    }

    #[test]
    fn one_taken_address_of_several_leaves_nothing_behind() {
        let path = std::env::temp_dir().join(format!("throng-serve-{}.sock", std::process::id()));
        let address = Address::Unix(path.clone());
        let options = Options {
            listen: vec![address.clone(), address],
            backlog: 1,
            workers: None,
        };
        assert!(matches!(refused(&options), ServeError::Listen(_)));
        assert!(!path.exists(), "the first one's path was removed");
    }
}
