//! `throng hold N [TARGET…]`: the hold experiment as a command.

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};
use throng_record::plan::Experiment;

use super::{Launched, Measures};

/// What only this command has.
#[derive(Debug, Args)]
pub(crate) struct Own {
    /// Connections: 5000, 100k, 1m; a list measures each number apart
    #[arg(index = 1, value_name = "N,…", value_parser = value::connections)]
    connections: Sweep<u32>,
    #[command(flatten)]
    launched: Launched,
}

impl Measures for Own {
    const EXPERIMENT: Experiment = Experiment::Hold;
    const ABOUT: &str = "Measure how many connections can be held, and how many bytes each takes";
    const TARGETS: &str = "A built-in model, `all` of them, a catalogued server (python/asyncio), tcp://HOST:PORT or unix:PATH. A model may have options of its own: 'epoll-shared --workers 4' [default: epoll-shared]";
    const PLACE_OF_TARGETS: usize = 2;
    const AFTER_HELP: &str = "\
Examples:
  throng hold 100k                                  by epoll-shared, whose loops have descriptor tables of their own
  throng hold 1m --pings all                        a million, each pinged once: a minute and 10 GiB
  throng hold 1000,10000 thread-per-connection epoll-edge io-uring
  throng hold 10k epoll-edge --hold 30s --connect-rate 2000
  throng hold 10k tcp://127.0.0.1:6379 --send 'PING\\r\\n' --expect '+PONG\\r\\n'
  throng hold 50k --quick

How many connections can be held, and at how many bytes each? They are opened, left alone, a sample is
pinged, and all are closed. The memory of both sides and of the kernel is read before, while and after.
Before it starts throng says whether this machine can hold so many, and if not what would let it.";

    fn launched(&self) -> Option<&Launched> {
        Some(&self.launched)
    }

    /// Said in so many words, the number stands in the short form too.
    fn add_to(&self, flags: &mut PlanDraft) {
        flags.connections = Some(self.connections.clone());
    }
}
