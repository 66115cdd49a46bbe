//! What of the machine and of this throng a plan is resolved against.

use throng_record::TargetRecord;

use throng_catalogue::catalogue::Catalogue;

/// The surroundings that decide defaults and what is possible. Made by [`Environment::detect`], or by hand in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// CPUs this process may use, ascending, at least one.
    pub cpus_allowed: Vec<u32>,
    /// Why `io_uring` cannot be used here; `None` where it can.
    pub io_uring_obstacle: Option<String>,
    /// The built-in models.
    pub models: Vec<BuiltInModel>,
    /// The catalogued servers; none where the plan names none.
    pub catalogue: Catalogue,
    /// The network settings of this kernel, by dotted name.
    pub kernel_settings: Vec<String>,
    /// Descriptors of one table at most (`RLIMIT_NOFILE`, hard); `u64::MAX`: any number.
    pub open_files_hard: u64,
}

/// What a plan must know of a model: the lab launches servers, it does not contain them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltInModel {
    /// The word for it.
    pub name: String,
    /// Whether it has a loop for each CPU that it may use.
    pub uses_every_cpu: bool,
    /// How many workers may be asked for.
    pub workers: ModelWorkers,
    /// Whether it can listen on a Unix socket.
    pub serves_unix: bool,
    /// How many connections it serves at once.
    pub serves_at_once: ModelServes,
    /// Whether several threads may accept for it.
    pub takes_accept_threads: bool,
    /// Whether it serves the broadcast workload.
    pub broadcasts: bool,
    /// Whether each of its loops has a descriptor table of its own, so that more loops hold more connections.
    pub private_tables: bool,
    /// What each of its connections has of its own.
    pub each: PerConnection,
    /// Whether it has several ways to hand a message over from one thread to others.
    pub takes_hand_over: bool,
}

/// What a model has for each connection beyond its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerConnection {
    /// State in an event loop.
    State,
    /// So many threads.
    Threads(u32),
    /// A process.
    Process,
}

/// How many connections a model serves at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelServes {
    /// As many as the machine has room for.
    AnyNumber,
    /// One for each worker.
    OnePerWorker {
        /// Workers where none are asked for.
        usual: u32,
    },
    /// About so many, whatever its workers.
    About(u32),
}

/// How many workers may be asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelWorkers {
    /// One, which is what it has anyway.
    One,
    /// None: connections have workers of their own.
    NoChoice,
    /// Any number.
    Any,
}

impl ModelWorkers {
    pub(crate) fn takes(self, workers: u32) -> bool {
        match self {
            Self::One => workers == 1,
            Self::NoChoice => false,
            Self::Any => true,
        }
    }
}

impl BuiltInModel {
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            uses_every_cpu: false,
            workers: if name.ends_with("-per-connection") {
                ModelWorkers::NoChoice
            } else {
                ModelWorkers::Any
            },
            serves_unix: true,
            serves_at_once: ModelServes::AnyNumber,
            takes_accept_threads: name == "thread-per-connection",
            broadcasts: true,
            private_tables: name == "epoll-shared",
            each: match name {
                "thread-per-connection" => PerConnection::Threads(1),
                "two-threads-per-connection" => PerConnection::Threads(2),
                "fork-per-connection" => PerConnection::Process,
                _ => PerConnection::State,
            },
            takes_hand_over: name == "two-threads-per-connection",
        }
    }

    #[cfg(test)]
    pub(crate) fn iterative() -> Self {
        Self {
            workers: ModelWorkers::One,
            serves_at_once: ModelServes::OnePerWorker { usual: 1 },
            broadcasts: false,
            ..Self::named("iterative")
        }
    }
}

impl AsRef<str> for BuiltInModel {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

/// The model that a target is, if it is one.
pub(crate) fn model_of<'a>(
    models: &'a [BuiltInModel],
    target: &TargetRecord,
) -> Option<&'a BuiltInModel> {
    let name = target.model.as_ref()?;
    models.iter().find(|model| model.name == *name)
}

impl Environment {
    /// The model that a target is, if it is one.
    pub(crate) fn model_of(&self, target: &TargetRecord) -> Option<&BuiltInModel> {
        model_of(&self.models, target)
    }

    /// Whether the word stands for several servers of the catalogue.
    pub(crate) fn is_group_of_catalogue(&self, word: &str) -> bool {
        self.catalogue.is_group(word)
    }

    /// This machine, with the given built-in models and catalogue.
    #[must_use]
    pub fn detect(models: Vec<BuiltInModel>, catalogue: Catalogue) -> Self {
        Self {
            cpus_allowed: throng_sys::affinity::allowed_cpus(),
            io_uring_obstacle: crate::machine::io_uring_obstacle(),
            models,
            catalogue,
            kernel_settings: throng_sys::sysctl::network::names(),
            open_files_hard: throng_sys::limits::open_files().hard,
        }
    }
}
