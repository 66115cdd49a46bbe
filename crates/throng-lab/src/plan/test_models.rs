//! Built-in models for tests: the lab does not contain the real ones.

use std::num::NonZeroU32;

use throng_record::BuiltInModel;
use throng_record::built_in::{Count, Family, ServesAtOnce, Workers};

/// One that takes any number of workers, and has one unless asked.
pub(crate) fn test_model(name: &'static str) -> BuiltInModel {
    let (family, per_connection) = match name {
        "thread-per-connection" => (Family::Threads, 1),
        "two-threads-per-connection" => (Family::Threads, 2),
        "fork-per-connection" => (Family::Processes, 1),
        _ => (Family::EventLoop, 0),
    };
    BuiltInModel {
        name,
        family,
        workers: match per_connection {
            0 => Workers::Pool(NonZeroU32::MIN),
            _ => Workers::OnePerConnection,
        },
        threads: Count {
            per_connection,
            ..Count::ONE
        },
        takes_accept_threads: name == "thread-per-connection",
        takes_hand_over: name == "two-threads-per-connection",
        has_private_tables: name == "epoll-shared",
        ..BuiltInModel::ONE_THREAD
    }
}

/// One that serves one connection at a time.
pub(crate) fn iterative_test_model() -> BuiltInModel {
    BuiltInModel {
        name: "iterative",
        family: Family::Threads,
        serves_at_once: ServesAtOnce::OnePerWorker,
        broadcasts: false,
        ..BuiltInModel::ONE_THREAD
    }
}
