//! How the replies of a window fell on the connections: quantiles over the connections, and Jain's index.

use throng_record::RepliesPerConnection;

/// From each shard the replies of each of its connections. `None` where there were no replies to share.
pub(super) fn replies_per_connection<'a>(
    shards: impl Iterator<Item = &'a [u32]>,
) -> Option<RepliesPerConnection> {
    let mut all: Vec<u32> = Vec::new();
    let mut shard_means: Vec<f64> = Vec::new();
    let mut seldom_served = 0;
    for shard in shards.filter(|shard| !shard.is_empty()) {
        shard_means.push(sum(shard) / shard.len() as f64);
        let of_shard = all.len();
        all.extend_from_slice(shard);
        seldom_served += seldom(&mut all[of_shard..]);
    }
    all.sort_unstable();
    let (&min, &max) = all.first().zip(all.last())?;
    if max == 0 {
        return None;
    }
    let number = all.len() as f64;
    let squares: f64 = all.iter().map(|&replies| f64::from(replies).powi(2)).sum();
    Some(RepliesPerConnection {
        connections: all.len() as u32,
        min,
        p10: nearest_rank(&all, 10),
        median: nearest_rank(&all, 50),
        p90: nearest_rank(&all, 90),
        max,
        mean: sum(&all) / number,
        fairness_jain: sum(&all).powi(2) / (number * squares),
        seldom_served,
        shard_mean_min: shard_means.iter().copied().fold(f64::INFINITY, f64::min),
        shard_mean_max: shard_means.iter().copied().fold(0.0, f64::max),
    })
}

/// How many of one thread's connections had at most a fifth of their median. (Compared with another thread's, the generator might be why.)
fn seldom(replies: &mut [u32]) -> u32 {
    replies.sort_unstable();
    let most = nearest_rank(replies, 50) / 5;
    let number = replies.partition_point(|&of_one| of_one <= most);
    number as u32
}

fn sum(replies: &[u32]) -> f64 {
    replies.iter().map(|&of_one| u64::from(of_one)).sum::<u64>() as f64
}

/// The least of the sorted values that so many percent of them do not exceed.
fn nearest_rank(sorted: &[u32], percent: usize) -> u32 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted[rank.saturating_sub(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shards: &[&[u32]]) -> Option<RepliesPerConnection> {
        replies_per_connection(shards.iter().copied())
    }

    #[test]
    fn quantiles_are_counts_that_some_connection_had() {
        let shares = of(&[&[70, 10, 20], &[100, 30, 90, 40, 80, 50, 60]]).expect("there were some");
        let RepliesPerConnection {
            connections,
            min,
            p10,
            median,
            p90,
            max,
            mean,
            ..
        } = shares;
        assert_eq!((connections, min, max), (10, 10, 100));
        assert_eq!((p10, median, p90), (10, 50, 90));
        assert!((mean - 55.0).abs() < 1e-9, "{mean}");
        let eleven: Vec<u32> = (1..=11).collect();
        let shares = of(&[&eleven]).expect("there were some");
        assert_eq!((shares.p10, shares.median, shares.p90), (2, 6, 10));
        let one = of(&[&[7]]).expect("there were some");
        assert_eq!((one.p10, one.median, one.p90), (7, 7, 7));
    }

    #[test]
    fn the_index_is_one_where_all_have_the_same_and_the_served_share_where_some_have_nothing() {
        for (shares, index) in [
            (&[5, 5, 5, 5][..], 1.0),
            (&[0, 8, 0, 8], 0.5),
            (&[0, 0, 0, 3], 0.25),
            (&[1, 3], 16.0 / 20.0),
        ] {
            let found = of(&[shares]).expect("there were some").fairness_jain;
            assert!((found - index).abs() < 1e-12, "{shares:?}: {found}");
        }
    }

    #[test]
    fn the_means_of_the_generators_threads_are_told_apart() {
        let shares = of(&[&[10, 20], &[], &[40, 50, 60]]).expect("there were some");
        assert_eq!((shares.shard_mean_min, shares.shard_mean_max), (15.0, 50.0));
    }

    #[test]
    fn a_connection_with_a_fifth_of_its_threads_median_is_seldom_served() {
        for (shards, expected) in [
            (&[&[100, 18, 110, 90][..]][..], 1),
            (&[&[100, 19, 110, 90]], 0),
            (&[&[500, 500, 500], &[100, 100, 0]], 1),
            (&[&[9, 9, 9, 9], &[1, 0, 9, 9, 9]], 2),
        ] {
            let found = of(shards).expect("there were some").seldom_served;
            assert_eq!(found, expected, "{shards:?}");
        }
    }

    #[test]
    fn nothing_is_told_of_no_connections_and_of_no_replies() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[&[]]), None);
        assert_eq!(of(&[&[0, 0]]), None);
    }
}
