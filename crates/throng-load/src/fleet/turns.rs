//! Phases that shards do in turns: all at once would be thousands of handshakes, or of ends, at a time, which overflow every queue
//! between here and the server.

use throng_sys::clock::monotonic_ns;

use super::watch::Teller;
use super::{Fleet, Observer};
use crate::error::LoadError;
use crate::shard::{Answer, Phase};

impl Fleet {
    /// Shards that work at a time: one for each CPU of the generator, all where it is not pinned.
    pub(super) fn at_work(&self) -> usize {
        match self.spec.cpus.len() {
            0 => self.shards.len(),
            cpus => cpus,
        }
    }

    /// Shards that connect at a time, or make handshakes: only one where one connect is in flight at a time.
    pub(super) fn connecting(&self) -> usize {
        match self.spec.connect_concurrency {
            1 => 1,
            _ => self.at_work(),
        }
    }

    /// Has every shard do the phase, so many at a time, in the order of their connections.
    pub(super) fn in_turns(
        &self,
        at_a_time: usize,
        phase: impl Fn() -> Phase,
        observer: Observer<'_>,
    ) -> Result<Vec<Answer>, LoadError> {
        self.orders.begin_turns(monotonic_ns());
        self.shards.iter().for_each(|shard| shard.progress.reset());
        let mut waiting = self.shards.iter();
        let mut turns_left = self.shards.len();
        for shard in waiting.by_ref().take(at_a_time) {
            shard.tell(phase());
        }
        let mut turn_over = || {
            turns_left -= 1;
            if turns_left == 0 {
                self.orders.end_turns();
            }
            if let Some(shard) = waiting.next() {
                shard.tell(phase());
            }
        };
        let mut teller = Teller::new();
        self.gather_following(&mut turn_over, &mut |readings, _| {
            teller.look(readings, observer);
        })
    }
}
