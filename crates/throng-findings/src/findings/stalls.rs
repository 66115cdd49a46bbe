//! Stalls: the whole server stopped answering for a stretch, and went on.

use throng_record::finding::Stalls;
use throng_record::format::{plural, times};

use super::clause::{maybe, percent, time};
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "stalls",
    title: "Stalls",
    page: include_str!("../../../../docs/findings/stalls.md"),
};

impl Words for Stalls {
    fn happened(&self) -> String {
        format!(
            "{}{} no connection got a reply, for {}, together {} of the window, with up to {} waiting; half of all replies took {} or less.",
            times(self.stalls.into()),
            maybe(self.period_ns, |period| format!(
                ", every {},",
                time(period)
            )),
            match self.stalls {
                1 => time(self.stall_ns_max),
                _ => format!(
                    "{} in the median and {} at most",
                    time(self.stall_ns_median),
                    time(self.stall_ns_max)
                ),
            },
            percent(self.share_of_window),
            plural(self.waiting_max.into(), "connection"),
            time(self.latency_ns_median)
        )
    }

    fn cause(&self) -> &'static str {
        "something stops the whole server: a garbage collection, a call that blocks the loop, a fork of a large process, a lock that all threads need, a compaction, a CPU quota that is used up."
    }

    fn remedy(&self) -> String {
        "the server's own log of pauses first (GODEBUG=gctrace=1, -Xlog:gc, --trace-gc); then perf trace -p PID or offcputime for what it waits in. cpu.stat of its cgroup (nr_throttled) tells of a quota.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.share_of_window
    }
}
