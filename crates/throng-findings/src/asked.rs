//! What generators had of a server, over all trials that it serves: one, or all of a sweep.

use throng_record::{LoadJob, LoadRecord, Measured, PhaseSpec, Phases, Protocol};

use crate::checks::heard;

/// What generators had of a server, over all trials of its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Trials.
    pub trials: u32,
    /// Connections that were opened.
    pub connections: u64,
    /// Bytes that came back.
    pub bytes: u64,
    /// Connections that got no reply, since the server serves fewer at once.
    pub unserved: u64,
    /// Connections that failed.
    pub errors: u64,
    /// Trials whose generator could not tell.
    pub untold: u32,
    /// Trials in which what came back was not counted in bytes.
    pub uncounted: u32,
}

impl Asked {
    /// Adds a trial; its record is absent where the generator could not tell.
    pub fn add(&mut self, job: &LoadJob, record: Option<&LoadRecord>) {
        self.trials += 1;
        let Some(record) = record else {
            self.untold += 1;
            return;
        };
        self.connections += record.phases.connected();
        self.unserved += unserved(&record.phases);
        match received_bytes(job, &record.phases) {
            Some(bytes) => self.bytes += bytes,
            None => self.uncounted += 1,
        }
        self.errors += record.phases.errors().total();
    }
}

/// Connections that opened and got nothing, or not all that was due to them.
fn unserved(phases: &Phases) -> u64 {
    if let Some(connections) = phases.connections() {
        return connections.connected.saturating_sub(connections.answered);
    }
    let exchanged = phases.exchange().map(|phase| phase.connections_served);
    let served = exchanged.or(heard(phases)).unwrap_or(phases.kept());
    phases.kept().saturating_sub(served).into()
}

/// Bytes that the server sent; absent where only messages are counted, which are of various lengths.
fn received_bytes(job: &LoadJob, phases: &Phases) -> Option<u64> {
    let mut bytes = 0;
    for (spec, phase) in phases.as_asked(&job.phases) {
        bytes += match (spec, &phase.measured) {
            (PhaseSpec::Acknowledge { greeting }, Measured::Acknowledge(line)) => {
                u64::from(line.received) * greeting.len() as u64
            }
            (PhaseSpec::Get(put), Measured::Get(phase)) => {
                u64::from(phase.line.received) * put.line.len() as u64
            }
            (_, Measured::Sustain(_)) => return None,
            (_, Measured::Exchange(exchange) | Measured::Request { exchange, .. }) => {
                exchange.received_bytes
            }
            (PhaseSpec::Ping(spec), Measured::Ping(phase)) => match spec.protocol {
                Protocol::Echo { size_bytes } => u64::from(phase.answered) * u64::from(size_bytes),
                Protocol::Request { .. } if phase.answered > 0 => return None,
                Protocol::Request { .. } => 0,
            },
            _ => 0,
        };
    }
    Some(bytes)
}
