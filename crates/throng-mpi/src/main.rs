//! `throng-mpi`: throng with its load generators on several hosts.
//!
//! ```text
//! mpirun --host server,gen1,gen2 throng-mpi echo epoll-edge
//!                 │      │    │
//!                 │      └────┴─ ranks 1 and 2: a generator each, observed by its own host
//!                 └─ rank 0, the lab: the command line, the server, the record, the report
//! ```
//!
//! MPI starts the processes, carries their messages, and notices when one is gone; the rest is [`throng`]. Servers and generators are started as this
//! same program (`throng-mpi serve`, `throng-mpi load`), take no part in MPI, and hear nothing of it.
#![forbid(unsafe_code)]

mod link;

use std::process::ExitCode;

use mpi::Threading;
use throng::hosts::{Hosts, Interrupts, generate};
use throng_lab::stations::dismiss;

use link::Ranks;

/// As a shell has it for SIGINT.
const INTERRUPTED: i32 = 130;
/// As Rust has it.
const PANICKED: i32 = 101;

fn main() -> ExitCode {
    if !throng::concerns_all_hosts(std::env::args_os()) {
        return throng::main(None);
    }
    end_with_a_panic();
    // Before MPI has threads, which would take the signals.
    let interrupts = Interrupts::watch();
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return throng::hosts::refuse(
            "MPI is initialised already",
            "start throng-mpi by mpirun, not from within another MPI program",
        );
    };
    let ranks = Ranks::of(&universe);
    if ranks.own() > 0 {
        return match generate(&ranks, &link::host_name(), &interrupts) {
            Ok(()) => ExitCode::SUCCESS,
            // Not in order, in which it would wait for all others: mpirun notices, names this rank, and ends them.
            Err(code) => std::process::exit(code),
        };
    }
    let exit = throng::main(Some(&Hosts::new(&ranks, interrupts.clone())));
    if interrupts.are_raised() {
        throng::hosts::tell_early_end();
        // Others may be gone already, and MPI would wait for them when it ends. mpirun ends those that are left.
        std::process::exit(INTERRUPTED);
    }
    dismiss(&ranks);
    exit
}

/// A panic that is unwound would end MPI in order, which waits for all other ranks.
fn end_with_a_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        std::process::exit(PANICKED);
    }));
}
