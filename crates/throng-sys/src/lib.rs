//! Safe wrappers over the Linux interfaces that throng measures with.
//!
//! Two halves. *Moving bytes*: addresses, sockets, the multiplexers (epoll, poll, select, `io_uring`), signals and
//! clocks, used by the load generator and by the servers, which share these wrappers but no event loop.
//! *Observing*: `/proc`, `sock_diag`, `TCP_INFO`, kernel counters, limits, used by the lab.
//!
//! This is the only crate of the workspace that may contain `unsafe`; what a well-kept crate (rustix, socket2,
//! io-uring, procfs) already wraps is used from there.
#![expect(
    unsafe_code,
    reason = "the one crate that may: raw system calls that no well-kept crate wraps"
)]

pub mod address;
pub mod affinity;
pub mod capability_probe;
pub mod cgroup;
pub mod children;
pub mod clock;
pub mod descriptor_table;
pub mod epoll;
pub mod kernel_counters;
mod kernel_file;
pub mod kernel_memory;
pub mod kernel_threads;
pub mod limits;
pub mod machine;
pub mod namespace;
pub mod open_descriptors;
pub mod orphans;
pub mod packet;
pub mod poll;
pub mod process;
pub mod process_tree;
pub mod select;
pub mod shared_counters;
pub mod shared_port;
pub mod signal;
pub mod sock_diag;
pub mod socket;
pub mod steal;
pub mod sysctl;
pub mod tcp_info;
pub mod uring;
