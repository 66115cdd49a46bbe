//! The way into a model: opens the listeners, says so, runs the model until it is told to stop, returns the totals.

use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use throng_record::Workload;
use throng_record::built_in::ServesAtOnce;
use throng_sys::address::Address;
use throng_sys::signal::Termination;
use throng_sys::socket::ListenError;

use crate::model::Model;
use crate::opening::{Announcement, Opening, Options};
use crate::served::{ModelError, Served};
use crate::tls::IdentityError;
use crate::workload::{
    Answer, Answered, AnsweredSettings, Broadcast, Echo, Secure, SecureSettings,
};

/// Why a server did not start, or ended before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A listener could not be opened.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The model cannot serve a Unix socket.
    #[error(
        "{model} cannot serve {address}: it is {}, and sockets that share a port have no counterpart for paths; give it \
         a TCP address, or choose another model (`throng servers`)",
        model.declaration().summary
    )]
    NoUnix {
        /// The model.
        model: Model,
        /// What was asked for.
        address: Address,
    },
    /// In the model nothing leads from one connection to all others.
    #[error(
        "{model} cannot serve the broadcast workload: it is {}, and passes nothing on from one connection to the others; \
         choose one of {}",
        model.declaration().summary,
        Model::ALL.into_iter().filter(|other| other.declaration().broadcasts).map(Model::name).collect::<Vec<_>>().join(", ")
    )]
    NoBroadcast {
        /// The model.
        model: Model,
    },
    /// What one connection says goes to all as it is, and each would have to encrypt it for itself.
    #[error(
        "the workload broadcast is not served over TLS; leave `--tls-certificate` and `--tls-key` out, or choose another workload"
    )]
    NoBroadcastOverTls,
    /// There is no certificate that could be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// No address was given.
    #[error("no address to listen on; give one, for example `--listen 127.0.0.1:0`")]
    NoAddress,
    /// The model's number of workers is part of its design.
    #[error(
        "{model} cannot have {asked} workers: it is {}; leave `--workers` out",
        model.declaration().summary
    )]
    Workers {
        /// The model.
        model: Model,
        /// What was asked for.
        asked: NonZeroU32,
    },
    /// Each worker blocks in the accept of one listener, and there are more of these.
    #[error(
        "{model} cannot serve {listeners} addresses: each worker blocks in the accept of one of them, and {}; give fewer \
         `--listen`, or choose a model with an event loop (`throng servers`)",
        match workers.get() {
            1 => "there is one worker".to_owned(),
            several => format!("there are {several} workers"),
        }
    )]
    Listeners {
        /// The model.
        model: Model,
        /// How many it has.
        workers: NonZeroU32,
        /// What was asked for.
        listeners: usize,
    },
    /// The model has no threads that do nothing but accept.
    #[error(
        "{model} has no accept threads to choose: it is {}; leave `--accept-threads` out, or serve with \
         thread-per-connection",
        model.declaration().summary
    )]
    AcceptThreads {
        /// The model.
        model: Model,
    },
    /// In the model nobody hands anything over.
    #[error(
        "{model} has no hand-over to choose: it is {}; leave `--hand-over` out, or serve with two-threads-per-connection",
        model.declaration().summary
    )]
    HandOver {
        /// The model.
        model: Model,
    },
    /// The workload answers at once.
    #[error(
        "the workload {workload} takes no delay; leave `--delay` and `--delay-inline` out, or choose another workload, for \
         example `--workload http`"
    )]
    Delay {
        /// The workload.
        workload: Workload,
    },
    /// The signals could not be taken over.
    #[error("cannot take SIGTERM and SIGINT over: {0}")]
    Signals(io::Error),
    /// The model itself failed.
    #[error("{model} cannot go on: {source}")]
    Model {
        /// The model.
        model: Model,
        /// Why.
        source: ModelError,
    },
}

/// Serves until SIGTERM or SIGINT, which are taken over: call it while the process has no other thread. `tell` is called
/// once all listeners are open.
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
    tell: &mut dyn FnMut(Announcement<'_>),
) -> Result<Served, ServeError> {
    let termination = Termination::take_over().map_err(ServeError::Signals)?;
    serve_until(model, workload, options, termination.as_fd(), tell)
}

/// As [`serve`], until `stop` becomes readable or is hung up. Nothing is read from it.
fn serve_until(
    model: Model,
    workload: Workload,
    options: &Options,
    stop: BorrowedFd<'_>,
    tell: &mut dyn FnMut(Announcement<'_>),
) -> Result<Served, ServeError> {
    check(model, workload, options)?;
    let declaration = model.declaration();
    let workers = model.workers(options.workers);
    let mut opening = Opening::new(declaration, options, workers, tell);
    let opening = &mut opening;
    let answer = match workload {
        Workload::Echo | Workload::Broadcast => None,
        Workload::Http => Some(Answer::Http),
        Workload::Oneshot => Some(Answer::Oneshot),
        Workload::Framed => Some(Answer::Framed),
    };
    let answered = answer.map(|answer| answered(model, answer, options, stop));
    let answered = answered.transpose().map_err(|error| ServeError::Model {
        model,
        source: error.into(),
    })?;
    let served = match (&options.tls, answered) {
        (Some(identity), answered) => {
            let config = identity.config()?;
            let settings = SecureSettings { config, answered };
            model.run::<Secure>(opening, &settings, stop)
        }
        (None, Some(settings)) => model.run::<Answered>(opening, &settings, stop),
        (None, None) if workload == Workload::Broadcast => {
            model.run::<Broadcast>(opening, &(), stop)
        }
        (None, None) => model.run::<Echo>(opening, &(), stop),
    };
    served.map_err(|source| match source {
        ModelError::Listen(error) => ServeError::Listen(error),
        source => ServeError::Model { model, source },
    })
}

fn check(model: Model, workload: Workload, options: &Options) -> Result<(), ServeError> {
    let declared = model.declaration();
    if !workload.takes_delay() && (options.delay_inline || !options.delay.is_zero()) {
        return Err(ServeError::Delay { workload });
    }
    if workload == Workload::Broadcast && !declared.broadcasts {
        return Err(ServeError::NoBroadcast { model });
    }
    if workload == Workload::Broadcast && options.tls.is_some() {
        return Err(ServeError::NoBroadcastOverTls);
    }
    if options.accept_threads.is_some() && !declared.takes_accept_threads {
        return Err(ServeError::AcceptThreads { model });
    }
    if options.hand_over.is_some() && !declared.takes_hand_over {
        return Err(ServeError::HandOver { model });
    }
    if let Some(asked) = options.workers
        && !declared.workers.take(asked.get())
    {
        return Err(ServeError::Workers { model, asked });
    }
    if options.listen.is_empty() {
        return Err(ServeError::NoAddress);
    }
    if let Some(workers) = model.workers(options.workers)
        && declared.serves_at_once == ServesAtOnce::OnePerWorker
        && options.listen.len() > workers.get() as usize
    {
        return Err(ServeError::Listeners {
            model,
            workers,
            listeners: options.listen.len(),
        });
    }
    let is_unix = |address: &&Address| matches!(address, Address::Unix(_));
    match options.listen.iter().find(is_unix) {
        Some(address) if !declared.serves_unix => Err(ServeError::NoUnix {
            model,
            address: address.clone(),
        }),
        _ => Ok(()),
    }
}

/// With the delay as the workload has it, or slept out inline where that makes a difference.
fn answered(
    model: Model,
    answer: Answer,
    options: &Options,
    stop: BorrowedFd<'_>,
) -> io::Result<AnsweredSettings> {
    let is_inline = options.delay_inline && !model.declaration().blocks();
    Ok(AnsweredSettings {
        answer,
        delay: options.delay,
        inline: if is_inline {
            Some(Arc::new(stop.try_clone_to_owned()?))
        } else {
            None
        },
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn refused(model: Model, options: &Options) -> ServeError {
        let (stop, _other) = UnixStream::pair().expect("a pair");
        serve_until(model, Workload::Echo, options, stop.as_fd(), &mut |_| {
            panic!("ready")
        })
        .expect_err("refused")
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_before_anything_listens() {
        let mut options = Options {
            listen: vec![],
            backlog: 1,
            ..Options::default()
        };
        assert!(matches!(
            refused(Model::Poll, &options),
            ServeError::NoAddress
        ));
        options.workers = NonZeroU32::new(4);
        assert!(
            refused(Model::Poll, &options)
                .to_string()
                .contains("--workers")
        );
    }

    #[test]
    fn a_worker_that_blocks_in_accept_has_one_listener() {
        let any = "127.0.0.1:0".parse::<Address>().expect("an address");
        let mut options = Options {
            listen: vec![any; 3],
            backlog: 1,
            ..Options::default()
        };
        let error = refused(Model::Iterative, &options).to_string();
        assert!(
            error.contains("3 addresses") && error.contains("one worker"),
            "{error}"
        );
        options.workers = NonZeroU32::new(2);
        for model in [Model::Prefork, Model::ThreadPool] {
            let error = refused(model, &options).to_string();
            assert!(error.contains("2 workers"), "{error}");
        }
    }

    #[test]
    fn a_process_with_threads_does_not_fork() {
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || gone.recv());
        let path = std::env::temp_dir().join(format!("throng-fork-{}.sock", std::process::id()));
        let options = Options {
            listen: vec![Address::Unix(path.clone())],
            backlog: 1,
            ..Options::default()
        };
        for model in [Model::Prefork, Model::ForkPerConnection] {
            let error = refused(model, &options).to_string();
            assert!(error.contains("threads"), "{error}");
            assert!(!path.exists(), "nothing has listened");
        }
        drop(go);
        other.join().expect("no panic").expect_err("hung up");
    }

    #[test]
    fn one_taken_address_of_several_leaves_nothing_behind() {
        let path = std::env::temp_dir().join(format!("throng-serve-{}.sock", std::process::id()));
        let address = Address::Unix(path.clone());
        let options = Options {
            listen: vec![address.clone(), address],
            backlog: 1,
            ..Options::default()
        };
        assert!(matches!(
            refused(Model::Poll, &options),
            ServeError::Listen(_)
        ));
        assert!(!path.exists(), "the first one's path was removed");
    }
}
