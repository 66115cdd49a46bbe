//! The slowest connections, found on the way: one comparison for each that is not among them.

use throng_record::SlowConnection;

/// How many are kept.
const KEPT: usize = 10;

/// The slowest so far, slowest first; of equally slow ones the first that came.
#[derive(Clone, Debug)]
pub(crate) struct Slowest(Vec<SlowConnection>);

impl Default for Slowest {
    fn default() -> Self {
        Self(Vec::with_capacity(KEPT + 1))
    }
}

impl Slowest {
    #[inline]
    pub(crate) fn note(&mut self, candidate: SlowConnection) {
        let is_full = self.0.len() == KEPT;
        if is_full && candidate.latency_ns <= self.0[KEPT - 1].latency_ns {
            return;
        }
        self.insert(candidate);
    }

    #[cold]
    fn insert(&mut self, candidate: SlowConnection) {
        let place = self
            .0
            .partition_point(|kept| kept.latency_ns >= candidate.latency_ns);
        self.0.insert(place, candidate);
        self.0.truncate(KEPT);
    }

    /// Those that are kept, for what is not worth asking of all.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut SlowConnection> {
        self.0.iter_mut()
    }

    /// The slowest of several shards'.
    pub(crate) fn merge(parts: impl Iterator<Item = Self>) -> Vec<SlowConnection> {
        let mut whole = Self::default();
        parts
            .flat_map(|part| part.0)
            .for_each(|connection| whole.note(connection));
        whole.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_slowest_of_all_shards_are_kept_slowest_first() {
        let of_shard = |shard: u32| {
            let mut slowest = Slowest::default();
            for n in 0..101 {
                let connection = shard * 101 + n * 37 % 101;
                slowest.note(SlowConnection {
                    connection,
                    latency_ns: u64::from(connection),
                    syn_retransmissions: 0,
                });
            }
            slowest
        };
        let kept: Vec<_> = Slowest::merge([1, 0].map(of_shard).into_iter())
            .iter()
            .map(|slow| slow.connection)
            .collect();
        assert_eq!(kept, (192..202).rev().collect::<Vec<_>>());
    }
}
