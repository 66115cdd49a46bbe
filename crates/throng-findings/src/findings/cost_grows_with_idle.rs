//! Cost grows with idle connections: a wait looks at every descriptor that it is given, whether anything happened there or not.

use throng_record::finding::CostGrowsWithIdle;
use throng_record::format::{exact, hundredths};

use super::clause::time;
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "cost-grows-with-idle",
    title: "Cost grows with idle connections",
    page: include_str!("../../../../docs/findings/cost-grows-with-idle.md"),
};

impl Words for CostGrowsWithIdle {
    fn happened(&self) -> String {
        format!(
            "{} took {} with few idle connections and {} with {}; each adds {} ns (95 % interval {} to {}).",
            match self.measured.as_str() {
                "accept" => "waiting and accepting",
                "data" => "waiting and reading",
                other => other,
            },
            time(self.cost_ns_first),
            time(self.cost_ns_last),
            exact(self.idle.into()),
            hundredths(self.ns_per_connection),
            hundredths(self.ns_per_connection_low),
            hundredths(self.ns_per_connection_high)
        )
    }

    fn cause(&self) -> &'static str {
        "select(2) and poll(2) are given the whole set with every call, and the kernel asks each descriptor in it whether it is ready; epoll and io_uring keep the set in the kernel, where what becomes ready reports itself."
    }

    fn remedy(&self) -> String {
        "epoll or io_uring where most connections are idle. Where it must be poll: give it no unused entries, and share the connections among several loops.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.cost_ns_last as f64 - self.cost_ns_first as f64
    }
}
