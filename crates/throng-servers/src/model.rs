//! The closed vocabulary of concurrency models, the same in file names, flags, records and charts. It is listed once; whatever
//! goes through all models is made from that list.

use std::fmt;
use std::num::NonZeroU32;
use std::os::fd::BorrowedFd;
use std::str::FromStr;

use throng_record::{BuiltInModel, HandOver};

use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

/// The list of models: each with the file that declares and serves it.
macro_rules! models {
    ($($model:ident: $($file:ident)::+,)+) => {
        /// How a server shares its attention between connections. Each is what its file declares it to be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Model {
            $(#[doc = concat!("Declared in `models::", stringify!($($file)::+), "`.")] $model,)+
        }

        impl Model {
            /// Every model, from the oldest idea to the newest.
            pub const ALL: [Self; [$(Self::$model),+].len()] = [$(Self::$model),+];

            /// What it says of itself.
            #[must_use]
            pub fn declaration(self) -> &'static BuiltInModel {
                match self {
                    $(Self::$model => &crate::models::$($file)::+::DECLARATION,)+
                }
            }

            /// Serves until `stop` becomes readable.
            pub(crate) fn run<S: Session>(
                self,
                opening: &mut Opening<'_>,
                settings: &S::Settings,
                stop: BorrowedFd<'_>,
            ) -> Result<Served, ModelError> {
                match self {
                    $(Self::$model => {
                        crate::models::$($file)::+::serve::<S>(opening, settings, stop)
                    })+
                }
            }
        }
    };
}

models! {
    Iterative: iterative,
    ForkPerConnection: fork_per_connection,
    Prefork: prefork,
    ThreadPerConnection: thread_per_connection,
    TwoThreadsPerConnection: two_threads_per_connection,
    ThreadPool: thread_pool,
    Select: select,
    Poll: poll,
    EpollLevel: epoll_level,
    EpollEdge: epoll_edge,
    EpollShared: epoll_shared,
    EpollReuseport: epoll_reuseport,
    IoUring: io_uring,
    Mio: mio,
    TokioCurrentThread: tokio::current_thread,
    Tokio: tokio::work_stealing,
    Smol: smol,
    May: may,
    Compio: compio,
}

/// The name of no model.
#[derive(Debug, thiserror::Error)]
#[error("there is no built-in server model '{given}'; there are: {}", names())]
pub struct UnknownModel {
    /// As written.
    pub given: String,
}

impl Model {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Workers it has when that many are asked for (none: its own number), `None` where threads follow connections.
    #[must_use]
    pub fn workers(self, asked: Option<NonZeroU32>) -> Option<NonZeroU32> {
        let declared = self.declaration();
        let cpus = if declared.uses_every_cpu() {
            throng_sys::affinity::allowed_cpus().len() as u32
        } else {
            1
        };
        let own = declared.workers.usual(cpus)?;
        asked.or_else(|| NonZeroU32::new(own))
    }

    /// Threads of all its processes with so many workers, accept threads, such a hand-over (as asked for) and so many open
    /// connections at one listener: what an observer must find for the server to be what it says it is. Where it serves fewer at once, count
    /// those served.
    #[must_use]
    pub fn expected_threads(
        self,
        workers: Option<NonZeroU32>,
        accept_threads: Option<NonZeroU32>,
        hand_over: Option<HandOver>,
        connections: u64,
    ) -> u64 {
        let declared = self.declaration();
        let accepting = if declared.takes_accept_threads {
            accept_threads.unwrap_or(NonZeroU32::MIN).get()
        } else {
            0
        };
        let handing_over = if declared.takes_hand_over {
            hand_over.unwrap_or_default().threads()
        } else {
            0
        };
        declared.threads.at(workers, connections) + u64::from(accepting) + handing_over
    }

    /// Its processes, counted in the same way.
    #[must_use]
    pub fn expected_processes(self, workers: Option<NonZeroU32>, connections: u64) -> u64 {
        self.declaration().processes.at(workers, connections)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        Self::ALL
            .into_iter()
            .find(|model| model.name() == text)
            .ok_or_else(|| UnknownModel {
                given: text.to_owned(),
            })
    }
}

fn names() -> String {
    Model::ALL.map(Model::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for model in Model::ALL {
            assert_eq!(model.name().parse::<Model>().expect("a name"), model);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "epol-edge"
            .parse::<Model>()
            .expect_err("unknown")
            .to_string();
        assert!(
            error.contains("'epol-edge'") && error.contains("epoll-edge"),
            "{error}"
        );
    }
}
