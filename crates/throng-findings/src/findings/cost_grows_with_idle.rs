//! Cost grows with idle connections: a wait looks at every descriptor that it is given, whether anything happened there or not.
//!
//! Two things are asked for. The slope must not be chance or caches: half a nanosecond for each connection is a tenth of what looking
//! at one descriptor takes, and the interval's lower end must be above it. And it must matter: the cost at the end is twice that at
//! the beginning.

use throng_record::AcceptPhase;
use throng_record::accept::{IdleCost, Slope};
use throng_record::finding::CostGrowsWithIdle;
use throng_record::format::{exact, hundredths};

use super::clause::time;
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "cost-grows-with-idle",
    title: "Cost grows with idle connections",
    page: include_str!("../../../../docs/findings/cost-grows-with-idle.md"),
};

/// Nanoseconds for each connection.
const SLOPE_LOW_MIN: f64 = 0.5;
const GROWTH_MIN: u64 = 2;

/// Of what was timed, that which grows more.
pub(super) fn find(evidence: &Evidence<'_>) -> Option<CostGrowsWithIdle> {
    grown(evidence.phases().multiplexer()?)
}

fn grown(phase: &AcceptPhase) -> Option<CostGrowsWithIdle> {
    let grown = [("accept", &phase.accept), ("data", &phase.data)];
    let grown = grown
        .into_iter()
        .filter_map(|(measured, cost)| Some((measured, cost, growing(cost)?)));
    let (measured, cost, slope) = grown.max_by(|(.., one), (.., other)| {
        one.ns_per_connection.total_cmp(&other.ns_per_connection)
    })?;
    let (first, last) = (cost.slices.first()?, cost.slices.last()?);
    Some(CostGrowsWithIdle {
        measured: measured.to_owned(),
        ns_per_connection: slope.ns_per_connection,
        ns_per_connection_low: slope.ns_per_connection_low,
        ns_per_connection_high: slope.ns_per_connection_high,
        idle: last.idle,
        cost_ns_last: last.cost_ns_median,
        cost_ns_first: first.cost_ns_median,
    })
}

fn growing(cost: &IdleCost) -> Option<Slope> {
    let slope = cost.slope?;
    let (first, last) = (cost.slices.first()?, cost.slices.last()?);
    let is_steep = slope.ns_per_connection_low > SLOPE_LOW_MIN;
    let is_more = last.cost_ns_median >= first.cost_ns_median.saturating_mul(GROWTH_MIN);
    (is_steep && is_more).then_some(slope)
}

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

#[cfg(test)]
mod tests {
    use throng_record::accept::IdleSlice;

    use super::*;

    /// Ten slices of a thousand on a line.
    fn cost(ns_per_connection: f64, low: f64, first: u64, last: u64) -> IdleCost {
        let slice = |place: u64| IdleSlice {
            idle: place as u32 * 1_000 + 500,
            samples: 1_000,
            cost_ns_median: first + last.saturating_sub(first) * place / 9,
            ..IdleSlice::default()
        };
        IdleCost {
            slices: (0..10).map(slice).collect(),
            slope: Some(Slope {
                ns_per_connection,
                ns_per_connection_low: low,
                ns_per_connection_high: ns_per_connection + 1.0,
                intercept_ns: first as f64,
            }),
        }
    }

    fn found(accept: IdleCost, data: IdleCost) -> Option<String> {
        let phase = AcceptPhase {
            accepted: 10_000,
            accept,
            data,
            ..AcceptPhase::default()
        };
        grown(&phase).map(|finding| finding.measured)
    }

    fn flat() -> IdleCost {
        cost(0.01, -0.02, 2_000, 2_100)
    }

    #[test]
    fn a_cost_that_grows_surely_and_doubles_is_found_with_its_ends() {
        let phase = AcceptPhase {
            accept: cost(20.0, 19.0, 2_000, 202_000),
            ..AcceptPhase::default()
        };
        let expected = CostGrowsWithIdle {
            measured: "accept".to_owned(),
            ns_per_connection: 20.0,
            ns_per_connection_low: 19.0,
            ns_per_connection_high: 21.0,
            idle: 9_500,
            cost_ns_last: 202_000,
            cost_ns_first: 2_000,
        };
        assert_eq!(grown(&phase), Some(expected));
    }

    #[test]
    fn that_which_grows_more_is_told() {
        let of = |accept, data| {
            let steep = |slope: f64| cost(slope, slope - 0.1, 2_000, 9_000);
            found(steep(accept), steep(data))
        };
        assert_eq!(of(20.0, 22.0).as_deref(), Some("data"));
        assert_eq!(of(22.0, 20.0).as_deref(), Some("accept"));
        let only_data = found(flat(), cost(20.0, 19.0, 2_000, 9_000));
        assert_eq!(only_data.as_deref(), Some("data"));
    }

    #[test]
    fn a_flat_cost_an_unsure_slope_and_a_small_growth_are_none() {
        assert_eq!(found(flat(), flat()), None);
        assert!(found(cost(0.7, 0.51, 1_000, 2_000), flat()).is_some());
        assert_eq!(found(cost(0.7, 0.5, 1_000, 9_000), flat()), None);
        assert_eq!(found(cost(0.7, 0.51, 1_000, 1_999), flat()), None);
    }

    #[test]
    fn without_a_slope_nothing_is_claimed() {
        let mut unfitted = cost(20.0, 19.0, 2_000, 202_000);
        unfitted.slope = None;
        assert_eq!(found(unfitted, IdleCost::default()), None);
    }
}
