//! A job divided among several generators, each on a machine of its own: the parts add up to the whole exactly.
//!
//! ```text
//! 10 clients, 1,009 messages, 3,000 a second
//! ├─ part 0: clients 0 to 3, 337 messages, 1,200 a second
//! ├─ part 1: clients 4 to 6, 336 messages,   900 a second
//! └─ part 2: clients 7 to 9, 336 messages,   900 a second
//! ```

use crate::{Amount, ExchangeSpec, LoadJob, Pacing, PhaseName, PhaseSpec, Sequence, Stop};

/// Why a job cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DivisionError {
    /// A line that is put on one generator comes out on the others, whose clocks are others.
    #[error("a line that comes out of every connection is put and heard by one generator; use one")]
    Fanout,
    /// It has neither a server nor a fleet.
    #[error("a multiplexer is timed within one process; use one generator")]
    Multiplexer,
    /// Each generator would stop by its own figures.
    #[error(
        "an exchange that ends when its throughput is known well enough cannot be divided; give a duration or a number of messages"
    )]
    Confidence,
}

/// One of the generators.
#[derive(Clone, Copy, Debug)]
struct Share {
    index: u32,
    generators: u32,
    /// Clients before its own, its own, and all.
    before: u32,
    own: u32,
    all: u32,
}

impl LoadJob {
    /// The job of each of so many generators: whole clients in the order of their indices. There are fewer parts where there are fewer clients or messages.
    ///
    /// # Errors
    /// [`DivisionError`] where one generator has to do it.
    pub fn parts(&self, generators: u32) -> Result<Vec<Self>, DivisionError> {
        if generators <= 1 {
            return Ok(vec![self.clone()]);
        }
        self.phases.is_divisible()?;
        let clients = self.phases.clients(self.fleet.connections);
        let generators = generators.min(clients).min(self.fewest_messages()).max(1);
        let mut before = 0;
        let part = |index| {
            let own = part_of(clients.into(), index, generators) as u32;
            let share = Share {
                index,
                generators,
                before,
                own,
                all: clients,
            };
            before += own;
            self.part(share)
        };
        Ok((0..generators).map(part).collect())
    }

    /// Of the numbers that are divided the smallest: each part has something to do.
    fn fewest_messages(&self) -> u32 {
        let numbers = self.phases.0.iter().filter_map(|phase| match phase {
            PhaseSpec::Exchange(spec) => match spec.stop {
                Stop::Messages(messages) => Some(u32::try_from(messages).unwrap_or(u32::MAX)),
                Stop::MessagesEach(_) | Stop::DurationNs(_) | Stop::Confidence { .. } => None,
            },
            PhaseSpec::Ping(spec) => Some(spec.pings),
            _ => None,
        });
        numbers.min().unwrap_or(u32::MAX)
    }

    fn part(&self, share: Share) -> Self {
        let mut part = self.clone();
        let fleet = &mut part.fleet;
        let of_client = self.fleet.connections / share.all.max(1);
        fleet.first_connection = self.fleet.first_connection + share.before * of_client;
        fleet.connections = share.own * of_client;
        fleet.shards = fleet.shards.min(fleet.connections);
        fleet.serves_at_once = fleet.serves_at_once.map(|at_once| {
            let own = u64::from(at_once) * u64::from(share.own) / u64::from(share.all);
            u32::try_from(own).unwrap_or(u32::MAX)
        });
        fleet.connect_rate_per_second = fleet.connect_rate_per_second.map(|rate| share.rate(rate));
        for phase in &mut part.phases.0 {
            match phase {
                PhaseSpec::Exchange(spec) => share.divide(spec),
                PhaseSpec::Ping(spec) => {
                    spec.pings = share.number(spec.pings.into()) as u32;
                    spec.at_once = (share.number(spec.at_once.into()) as u32).max(1);
                }
                _ => {}
            }
        }
        part
    }
}

impl Sequence {
    /// Whether several generators can each do a part of it.
    ///
    /// # Errors
    /// [`DivisionError`] where one generator has to do it.
    pub fn is_divisible(&self) -> Result<(), DivisionError> {
        let has = |name| self.has(name);
        if has(PhaseName::Multiplex) {
            return Err(DivisionError::Multiplexer);
        }
        if [PhaseName::Acknowledge, PhaseName::Get, PhaseName::Sustain]
            .into_iter()
            .any(has)
        {
            return Err(DivisionError::Fanout);
        }
        let exchanges = self.0.iter().filter_map(exchange_of);
        match exchanges
            .map(|spec| spec.stop)
            .any(|stop| matches!(stop, Stop::Confidence { .. }))
        {
            true => Err(DivisionError::Confidence),
            false => Ok(()),
        }
    }
}

fn exchange_of(phase: &PhaseSpec) -> Option<&ExchangeSpec> {
    match phase {
        PhaseSpec::Exchange(spec) => Some(spec),
        _ => None,
    }
}

/// One of so many parts of a number, which differ by one at most, the greater ones first.
#[must_use]
pub fn part_of(whole: u64, index: u32, parts: u32) -> u64 {
    let (index, parts) = (u64::from(index), u64::from(parts));
    whole / parts + u64::from(index < whole % parts)
}

impl Share {
    fn number(self, whole: u64) -> u64 {
        part_of(whole, self.index, self.generators)
    }

    /// By its clients, so that each of them does as much.
    fn rate(self, whole: f64) -> f64 {
        whole * f64::from(self.own) / f64::from(self.all)
    }

    fn divide(self, spec: &mut ExchangeSpec) {
        if let Pacing::Open {
            rate_per_second, ..
        } = &mut spec.pacing
        {
            *rate_per_second = self.rate(*rate_per_second);
        }
        if let Amount::Messages(messages) = &mut spec.warmup {
            *messages = self.number(*messages);
        }
        if let Stop::Messages(messages) = &mut spec.stop {
            *messages = self.number(*messages);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Arrivals, FleetSpec, PingSpec, Protocol, Sequence, TasksSpec};

    fn job(connections: u32, exchange: ExchangeSpec) -> LoadJob {
        LoadJob {
            fleet: FleetSpec {
                connections,
                connect_rate_per_second: Some(500.0),
                ..FleetSpec::default()
            },
            phases: Sequence::of_exchange(exchange),
        }
    }

    fn parts(job: &LoadJob, generators: u32) -> Vec<LoadJob> {
        job.parts(generators).expect("can be divided")
    }

    proptest! {
        #[test]
        fn parts_follow_each_other_and_add_up_to_the_whole(
            connections in 1_u32..5_000,
            messages in 1_u64..100_000,
            warmup in 0_u64..1_000,
            generators in 1_u32..70,
        ) {
            let whole = job(connections, ExchangeSpec {
                warmup: Amount::Messages(warmup),
                stop: Stop::Messages(messages),
                ..ExchangeSpec::default()
            });
            let parts = parts(&whole, generators);
            let mut next = 0;
            let (mut sent, mut warmed, mut rate) = (0, 0, 0.0);
            for part in &parts {
                prop_assert_eq!(part.fleet.first_connection, next);
                prop_assert!(part.fleet.connections > 0);
                next += part.fleet.connections;
                rate += part.fleet.connect_rate_per_second.expect("given");
                let spec = part.phases.exchange().expect("an exchange");
                let (Stop::Messages(own), Amount::Messages(own_warmup)) = (spec.stop, spec.warmup) else {
                    panic!("{spec:?}");
                };
                prop_assert!(own > 0);
                sent += own;
                warmed += own_warmup;
            }
            prop_assert_eq!((next, sent, warmed), (connections, messages, warmup));
            prop_assert!((rate - 500.0).abs() < 1e-6);
            prop_assert!(parts.len() as u32 <= generators);
        }
    }

    #[test]
    fn a_client_with_tasks_is_of_one_generator() {
        let whole = job(
            21,
            ExchangeSpec {
                pacing: Pacing::Tasks(TasksSpec {
                    services: 3,
                    choices: 1,
                    at_once: 1,
                }),
                stop: Stop::MessagesEach(7),
                ..ExchangeSpec::default()
            },
        );
        let fleets: Vec<(u32, u32)> = parts(&whole, 3)
            .iter()
            .map(|part| (part.fleet.first_connection, part.fleet.connections))
            .collect();
        assert_eq!(fleets, [(0, 9), (9, 6), (15, 6)]);
    }

    #[test]
    fn rates_go_by_clients() {
        let whole = job(
            10,
            ExchangeSpec {
                pacing: Pacing::Open {
                    rate_per_second: 3_000.0,
                    arrivals: Arrivals::Exponential,
                    outstanding: 1,
                    spin: false,
                },
                stop: Stop::DurationNs(1),
                ..ExchangeSpec::default()
            },
        );
        let rates: Vec<f64> = parts(&whole, 3)
            .iter()
            .map(
                |part| match part.phases.exchange().map(|spec| &spec.pacing) {
                    Some(Pacing::Open {
                        rate_per_second, ..
                    }) => *rate_per_second,
                    other => panic!("{other:?}"),
                },
            )
            .collect();
        assert_eq!(rates, [1_200.0, 900.0, 900.0]);
    }

    #[test]
    fn a_server_that_serves_fewer_leaves_some_of_each_part() {
        let mut whole = job(10, ExchangeSpec::default());
        whole.fleet.serves_at_once = Some(9);
        whole.phases = Sequence::on_open_connections([PhaseSpec::Ping(PingSpec {
            protocol: Protocol::Echo { size_bytes: 6 },
            verify: true,
            pings: 5,
            at_once: 1,
        })]);
        let parts = parts(&whole, 2);
        let told = parts.iter().map(|part| {
            let ping = part.phases.ping().expect("asked for");
            (
                part.fleet.connections,
                part.fleet.serves_at_once,
                ping.pings,
                ping.at_once,
            )
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [(5, Some(4), 3, 1), (5, Some(4), 2, 1)]
        );
    }

    #[test]
    fn what_one_generator_has_to_do_is_refused_for_several() {
        let confident = ExchangeSpec {
            stop: Stop::Confidence {
                relative_half_width: 0.01,
                max_duration_ns: 1,
            },
            ..ExchangeSpec::default()
        };
        let mut job = job(10, confident);
        assert_eq!(job.parts(2), Err(DivisionError::Confidence));
        assert_eq!(job.parts(1), Ok(vec![job.clone()]));
        let greeting = b"hello\n".to_vec();
        job.phases = Sequence::on_open_connections([PhaseSpec::Acknowledge { greeting }]);
        assert_eq!(job.parts(2), Err(DivisionError::Fanout));
    }
}
