//! How far a station's clock is off: round trips, of which the shortest counts.

use std::time::Duration;

use throng_record::ClockOffset;
use throng_sys::clock::monotonic_ns;

use super::message::{self, Order, Report};
use super::{Stations, StationsError, Waiting, unexpected};

/// Of so many one was held up by nothing.
const TICKS: u32 = 200;
const PATIENCE: Duration = Duration::from_secs(5);

/// A round trip: when it left and came back by the clock here, and what the clock there said in between.
#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    left_ns: u64,
    there_ns: u64,
    back_ns: u64,
}

impl Stations<'_> {
    /// The clock of each, in the order of the hosts, while nothing is measured.
    ///
    /// # Errors
    /// [`StationsError`] where one does not answer.
    pub fn clocks(&self) -> Result<Vec<ClockOffset>, StationsError> {
        self.ranks().map(|rank| self.clock(rank)).collect()
    }

    /// The clock of this station, which has nothing else to do meanwhile.
    pub(super) fn clock(&self, rank: u32) -> Result<ClockOffset, StationsError> {
        message::send(self.link, rank, &Order::Clocks { ticks: TICKS });
        let mut trips = Vec::with_capacity(TICKS as usize);
        for number in 0..TICKS {
            let left_ns = monotonic_ns();
            message::send(self.link, rank, &Order::Tick { number });
            match self.hear(rank, PATIENCE, Waiting::Eager)? {
                Report::Clock {
                    number: of,
                    at_monotonic_ns,
                } if of == number => trips.push(RoundTrip {
                    left_ns,
                    there_ns: at_monotonic_ns,
                    back_ns: monotonic_ns(),
                }),
                other => return Err(unexpected(rank, &other)),
            }
        }
        Ok(offset(&trips))
    }
}

/// The clock there was read somewhere between leaving and coming back: taken as the middle, it errs by half of the trip at most.
fn offset(trips: &[RoundTrip]) -> ClockOffset {
    let length = |trip: &&RoundTrip| trip.back_ns - trip.left_ns;
    let Some(best) = trips.iter().min_by_key(length) else {
        return ClockOffset::default();
    };
    let half_ns = (best.back_ns - best.left_ns).div_ceil(2);
    let middle_ns = best.left_ns + half_ns;
    ClockOffset {
        offset_ns: best
            .there_ns
            .cast_signed()
            .wrapping_sub(middle_ns.cast_signed()),
        uncertainty_ns: half_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_trip_tells_and_the_offset_lies_within_half_of_it() {
        let true_offset_ns = -5_000_000_i64;
        let trip = |left_ns: u64, there_after_ns: u64, back_after_ns: u64| RoundTrip {
            left_ns,
            there_ns: (left_ns + there_after_ns).saturating_add_signed(true_offset_ns),
            back_ns: left_ns + back_after_ns,
        };
        let trips = [
            trip(10_000_000, 900_000, 1_000_000),
            trip(20_000_000, 9_000, 40_000),
            trip(30_000_000, 60_000, 61_000),
        ];
        let found = offset(&trips);
        assert_eq!(found.uncertainty_ns, 20_000);
        assert_eq!(found.offset_ns, true_offset_ns + 9_000 - 20_000);
        assert!(found.offset_ns.abs_diff(true_offset_ns) <= found.uncertainty_ns);
    }
}
