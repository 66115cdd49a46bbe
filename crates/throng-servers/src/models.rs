//! One file per concurrency model. Each has one way in, `serve`, and can be read alone from top to bottom.

pub(crate) mod epoll_edge;
pub(crate) mod io_uring;
pub(crate) mod poll;
pub(crate) mod thread_per_connection;
