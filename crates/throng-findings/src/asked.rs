//! What generators had of a server, over all trials that it serves: one, or all of a sweep.

use throng_record::{ErrorKind, LoadJob, LoadRecord, Measured, PhaseSpec, Phases, Protocol};

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
        // The server counts what it has sent, which is more under TLS than what was in it.
        let bytes = received_bytes(job, &record.phases).filter(|_| job.fleet.tls.is_none());
        match bytes {
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
                _ if phase.answered > 0 => return None,
                Protocol::Request { .. } | Protocol::Pages(_) => 0,
            },
            _ => 0,
        };
    }
    Some(bytes)
}

/// Connections to which everything that was due came; absent where nothing was due to all of them.
pub(crate) fn heard(phases: &Phases) -> Option<u32> {
    let got = phases.put().map(|phase| &phase.line);
    let lines = phases.greeting().into_iter().chain(got);
    lines.map(|line| line.received).min()
}

/// Connections that the server took and did not end by itself: while others connected, while they were held, or instead of answering a ping.
/// Those that wait in its accept queue answer no ping either, and are not counted twice.
pub(crate) fn accepted(phases: &Phases, unaccepted: u32) -> u32 {
    let lost_at_once = phases.connect().map_or(0, |phase| phase.lost);
    let lost_held = phases.hold().map_or(0, |phase| phase.errors.total());
    let (lost_pinged, silent) = phases.ping().map_or((0, 0), |phase| {
        let failed = &phase.errors;
        let silent = failed.of(ErrorKind::ReplyTimedOut) + failed.of(ErrorKind::NotAcknowledged);
        (phase.lost_errors.total() + failed.total() - silent, silent)
    });
    let ended = u64::from(lost_at_once) + lost_held + lost_pinged;
    let not_served = ended + silent.max(unaccepted.into());
    let not_served = u32::try_from(not_served).unwrap_or(u32::MAX);
    phases.kept().saturating_sub(not_served)
}
