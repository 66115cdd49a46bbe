//! Silences of the whole fleet: where those of all shards coincide.
//!
//! A silence is kept where eight connections waited that had begun to wait about when it began. Fewer may each have waited for
//! a reply of their own that takes long by design; and so may those that had waited for long already.

use throng_record::Silence;

use crate::shard::{SILENCE_LEAST_NS, ShardExchange, ShardSilence};

const HELD_UP_MIN: u32 = 8;
/// Of those that waited so many had begun about when the silence did.
const HELD_UP_SHARE_MIN: f64 = 0.75;

/// In their order, since the begin of the window.
pub(super) fn silences(shards: &[ShardExchange]) -> Vec<Silence> {
    // A shard without connections is always silent.
    let mut of_each = shards
        .iter()
        .filter(|shard| shard.replies + shard.warmup_replies > 0);
    let Some(first) = of_each.next() else {
        return vec![];
    };
    let common = of_each.fold(first.silences.clone(), |common, shard| {
        intersection(&common, &shard.silences)
    });
    told(&common, first.measuring_since_ns)
}

fn told(common: &[ShardSilence], since_ns: u64) -> Vec<Silence> {
    let are_held_up = |silence: &&ShardSilence| {
        silence.until_ns - silence.from_ns >= SILENCE_LEAST_NS
            && silence.held_up >= HELD_UP_MIN
            && f64::from(silence.held_up) >= HELD_UP_SHARE_MIN * f64::from(silence.waiting)
    };
    let all = common.iter().filter(are_held_up);
    let told = all.map(|silence| Silence {
        at_ns: silence.from_ns.saturating_sub(since_ns),
        duration_ns: silence.until_ns - silence.from_ns,
        generator_late_ns: silence.late_ns,
        waiting: silence.waiting,
    });
    told.collect()
}

/// Where silences of both coincide. Each list is in order, and none of a list overlap.
fn intersection(one: &[ShardSilence], other: &[ShardSilence]) -> Vec<ShardSilence> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut both = Vec::new();
    while let (Some(&a), Some(&b)) = (one.peek(), other.peek()) {
        let (from_ns, until_ns) = (a.from_ns.max(b.from_ns), a.until_ns.min(b.until_ns));
        if from_ns < until_ns {
            both.push(ShardSilence {
                from_ns,
                until_ns,
                late_ns: a.late_ns + b.late_ns,
                waiting: a.waiting + b.waiting,
                held_up: a.held_up + b.held_up,
            });
        }
        if a.until_ns <= b.until_ns {
            one.next();
        } else {
            other.next();
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn silence(from_ms: u64, until_ms: u64, waiting: u32, held_up: u32) -> ShardSilence {
        ShardSilence {
            from_ns: from_ms * MS,
            until_ns: until_ms * MS,
            late_ns: MS,
            waiting,
            held_up,
        }
    }

    #[test]
    fn only_what_silenced_all_shards_is_told() {
        let one = [silence(100, 300, 5, 5), silence(500, 600, 5, 5)];
        let other = [
            silence(0, 60, 5, 5),
            silence(110, 310, 5, 5),
            silence(590, 700, 5, 5),
        ];
        let both = intersection(&one, &other);
        let expected = Silence {
            at_ns: 90 * MS,
            duration_ns: 190 * MS,
            generator_late_ns: 2 * MS,
            waiting: 10,
        };
        assert_eq!(told(&both, 20 * MS), [expected], "the last is 10 ms long");
        assert_eq!(intersection(&one, &[]), []);
    }

    #[test]
    fn few_that_wait_and_those_that_had_waited_for_long_tell_of_no_silence() {
        let is_told = |waiting, held_up| !told(&[silence(0, 50, waiting, held_up)], 0).is_empty();
        assert!(is_told(8, 8));
        assert!(!is_told(7, 7));
        assert!(is_told(12, 9));
        assert!(!is_told(13, 9));
        assert!(told(&[silence(0, 49, 8, 8)], 0).is_empty());
    }
}
