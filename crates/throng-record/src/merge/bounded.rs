//! What only the connections themselves could tell, and is bounded where they are of several generators.

use crate::{RepliesPerConnection, StarvedConnections};

/// By the slowest reply of both: of those that waited for longer than it, the generator that had it knows how many, and the other's waits were told by
/// a lesser bound. Where their longest is not above it none counts, else all do: at most so many.
pub(super) fn starved(one: StarvedConnections, other: StarvedConnections) -> StarvedConnections {
    let reply_ns_max = one.reply_ns_max.max(other.reply_ns_max);
    let counted = |part: StarvedConnections| match part.waited_ns_max > reply_ns_max {
        true => (part.connections, part.waited_ns_max),
        false => (0, 0),
    };
    let (ours, theirs) = (counted(one), counted(other));
    StarvedConnections {
        connections: ours.0 + theirs.0,
        waited_ns_max: ours.1.max(theirs.1),
        reply_ns_max,
    }
}

/// Number, extremes, mean and index are those of all. Quantiles lie between those of the parts; told is the lower, as the fewest are asked about.
pub(super) fn per_connection(
    one: RepliesPerConnection,
    other: RepliesPerConnection,
) -> RepliesPerConnection {
    let sums = |part: RepliesPerConnection| {
        let number = f64::from(part.connections);
        let sum = part.mean * number;
        (number, sum, sum * sum / (number * part.fairness_jain))
    };
    let ((n, x, xx), (m, y, yy)) = (sums(one), sums(other));
    let (number, sum, squares) = (n + m, x + y, xx + yy);
    RepliesPerConnection {
        connections: one.connections + other.connections,
        min: one.min.min(other.min),
        p10: one.p10.min(other.p10),
        median: one.median.min(other.median),
        p90: one.p90.min(other.p90),
        max: one.max.max(other.max),
        mean: sum / number,
        fairness_jain: sum * sum / (number * squares),
        seldom_served: one.seldom_served + other.seldom_served,
        shard_mean_min: one.shard_mean_min.min(other.shard_mean_min),
        shard_mean_max: one.shard_mean_max.max(other.shard_mean_max),
    }
}
