//! One file per concurrency model. Each has one way in, `serve`, and shows who waits for what and who runs then. What it shares
//! with others (`connection.rs`, `connections.rs`, `loops.rs`) is equal in all of them, and need not be read to understand it.

pub(crate) mod compio;
pub(crate) mod epoll_edge;
pub(crate) mod epoll_level;
pub(crate) mod epoll_reuseport;
pub(crate) mod epoll_shared;
pub(crate) mod fork_per_connection;
pub(crate) mod io_uring;
pub(crate) mod iterative;
pub(crate) mod may;
pub(crate) mod mio;
pub(crate) mod poll;
pub(crate) mod prefork;
pub(crate) mod select;
pub(crate) mod smol;
pub(crate) mod thread_per_connection;
pub(crate) mod thread_pool;
pub(crate) mod tokio;
pub(crate) mod two_threads_per_connection;
