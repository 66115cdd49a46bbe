//! `throng backlog TARGET…`: the backlog experiment as a command.

use std::path::Path;

use clap::Args;
use throng_record::plan::Experiment;

use super::{Launched, Measures};
use crate::experiment::CaptureFlag;

/// What only this command has.
#[derive(Debug, Args)]
pub(crate) struct Own {
    #[command(flatten)]
    launched: Launched,
    #[command(flatten)]
    capture: CaptureFlag,
}

impl Measures for Own {
    const EXPERIMENT: Experiment = Experiment::Backlog;
    const ABOUT: &str = "Measure what a short accept queue does to clients, and explain it";
    const TARGETS: &str = "A built-in model, `all` of them, a catalogued server (python/asyncio), tcp://HOST:PORT or http://HOST:PORT/PATH. A model may have options of its own: 'prefork --workers 8'";
    const AFTER_HELP: &str = "\
Examples:
  throng backlog iterative                           32 clients × 5 requests of 40 ms, a queue of 5
  throng backlog iterative --backlog 5,256 --clients 8,32 --requests-total 160
  throng backlog 'thread-per-connection --accept-threads 4' fork-per-connection --clients 160
  throng backlog epoll-edge 'epoll-edge --delay-inline' --backlog 1024
  throng backlog iterative --kernel tcp_syncookies=0,1 --kernel tcp_syn_linear_timeouts=0,4
  throng backlog --command './mine --port {port}' --workload http --service-time 10ms
  throng backlog http://127.0.0.1:8080/index.html --clients 200 --capture handshakes.pcapng
  throng backlog tcp://127.0.0.1:6379 --send 'PING\\r\\n' --expect '+PONG\\r\\n'
  throng run backlog --quick                         a corner of the published grid

Every request has a connection of its own: connect, ask, receive, close. Where clients find
the accept queue full, the kernel's timers decide: a connect may take a second or two minutes.

A flag with a list (…,…) is swept: every combination of all values is measured,
clients varying fastest.";

    fn launched(&self) -> Option<&Launched> {
        Some(&self.launched)
    }

    fn capture(&self) -> Option<&Path> {
        self.capture.file()
    }
}
