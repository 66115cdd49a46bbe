//! `throng capacity TARGET…`: the capacity experiment as a command.

use clap::Args;
use throng_record::plan::Experiment;

use super::{Launched, Measures};

/// What only this command has.
#[derive(Debug, Args)]
pub(crate) struct Own {
    #[command(flatten)]
    launched: Launched,
}

impl Measures for Own {
    const EXPERIMENT: Experiment = Experiment::Capacity;
    const ABOUT: &str =
        "Find the greatest rate at which bounds on latency hold, and how latency grows up to it";
    const TARGETS: &str = "A built-in model, `all` of them, a catalogued server (python/asyncio), tcp://HOST:PORT or http://HOST:PORT/PATH. A model may have options of its own: 'prefork --workers 8'";
    const AFTER_HELP: &str = "\
Examples:
  throng capacity epoll-edge --bound 'p99 < 5ms'
  throng capacity all --bound 'p99 < 5ms' --connections 100,1000
  throng capacity http://127.0.0.1:8080/ --bound 'p99 < 5ms' --bound 'p99.9 < 20ms'
  throng capacity prefork --bound 'p99 < 5ms' --reuse false
  throng capacity tokio --bound 'p99 < 1ms' --within 2% --time-limit 10min --curve 20

A closed loop says how fast the server goes at most. Then open loops with exponential gaps
bracket the greatest rate at which every bound holds and the rate is kept, and halve the
bracket. The search is repeated, the probes of all targets in turn, until the interval of
its answers is as narrow as --within asks, or --time-limit is over. After it, --curve
measures latency from a tenth of the answer to beyond it, beside what queueing explains.

A flag with a list (…,…) is swept: every combination of all values is measured.";

    fn launched(&self) -> Option<&Launched> {
        Some(&self.launched)
    }
}
