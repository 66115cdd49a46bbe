//! What messages cost between two hosts: for `doctor`, while nothing is measured.

use std::time::{Duration, Instant};

use super::message::{self, Order, Report};
use super::{Link, Stations, StationsError, Waiting, unexpected, wait};

/// Small messages whose shortest round trip is the latency.
const SMALL: Trips = Trips {
    number: 200,
    bytes: 8,
};
/// Large ones, whose bytes by time are the throughput.
const LARGE: Trips = Trips {
    number: 20,
    bytes: 1 << 20,
};
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages that go to and fro.
#[derive(Clone, Copy)]
struct Trips {
    number: u32,
    bytes: u32,
}

/// What messages cost between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The lower rank; the lab has 0.
    pub one: u32,
    /// The higher.
    pub other: u32,
    /// The shortest round trip of a few bytes.
    pub round_trip_ns: u64,
    /// Bytes a second in each direction, of messages of 1 MiB that go to and fro.
    pub bytes_per_second: f64,
}

impl Stations<'_> {
    /// What messages cost between each two ranks, the lab included.
    ///
    /// # Errors
    /// [`StationsError`] where one does not answer.
    pub fn pairs(&self) -> Result<Vec<Pair>, StationsError> {
        let ranks = 0..self.link.number();
        let pairs = ranks.clone().flat_map(|one| {
            let others = ranks.clone().filter(move |&other| other > one);
            others.map(move |other| (one, other))
        });
        pairs.map(|(one, other)| self.pair(one, other)).collect()
    }

    fn pair(&self, one: u32, other: u32) -> Result<Pair, StationsError> {
        let small = self.trips(one, other, SMALL)?;
        let large = self.trips(one, other, LARGE)?;
        let bytes = f64::from(LARGE.number) * f64::from(LARGE.bytes);
        Ok(Pair {
            one,
            other,
            round_trip_ns: small.shortest_ns,
            // Each message goes both ways, one after the other.
            bytes_per_second: 2.0 * bytes / (large.all_ns.max(1) as f64 / 1e9),
        })
    }

    fn trips(&self, one: u32, other: u32, trips: Trips) -> Result<Times, StationsError> {
        let Trips { number, bytes } = trips;
        let to = one;
        message::send(self.link, other, &Order::Answer { to, number });
        // Not before it listens to somebody else than the lab.
        match self.hear(other, PATIENCE, Waiting::Eager)? {
            Report::Answers => {}
            report => return Err(unexpected(other, &report)),
        }
        if one == 0 {
            return exchange(self.link, other, number, bytes);
        }
        let with = other;
        let order = Order::Exchange {
            with,
            number,
            bytes,
        };
        message::send(self.link, one, &order);
        match self.hear(one, PATIENCE, Waiting::Lazy)? {
            Report::Exchanged {
                shortest_ns,
                all_ns,
            } => Ok(Times {
                shortest_ns,
                all_ns,
            }),
            report => Err(unexpected(one, &report)),
        }
    }
}

/// How long trips took.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) shortest_ns: u64,
    pub(super) all_ns: u64,
}

/// Sends so many messages to this rank, each when the one before it has come back.
pub(super) fn exchange(
    link: &dyn Link,
    with: u32,
    number: u32,
    bytes: u32,
) -> Result<Times, StationsError> {
    let mut message = vec![0; bytes as usize];
    let start = Instant::now();
    let mut shortest = Duration::MAX;
    for _ in 0..number {
        let left = Instant::now();
        link.send(with, message);
        message = wait(link, PATIENCE, Waiting::Eager)
            .ok_or_else(|| StationsError::Silent(format!("rank {with}")))?
            .1;
        shortest = shortest.min(left.elapsed());
    }
    let nanoseconds = |length: Duration| u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    Ok(Times {
        shortest_ns: nanoseconds(shortest),
        all_ns: nanoseconds(start.elapsed()),
    })
}

/// Sends back what comes, so many times.
pub(super) fn answer(link: &dyn Link, to: u32, number: u32) -> Result<(), StationsError> {
    for _ in 0..number {
        let (_, message) = wait(link, PATIENCE, Waiting::Eager)
            .ok_or_else(|| StationsError::Silent(format!("rank {to}")))?;
        link.send(to, message);
    }
    Ok(())
}
