//! What stopped the connecting before all were open.

use throng_record::{ConnectPhase, Trial};

use crate::format::{self, exact};

/// Of a trial that came to such an end.
pub(crate) fn of_trial(trial: &Trial) -> Option<String> {
    let connect = trial.phases.connect().and_then(connecting);
    connect.or_else(|| trial.phases.multiplexer()?.stopped_by.clone())
}

/// `connection 14,116 was the first to fail, after 3.10 s and with 14,116 open: ports exhausted (EADDRNOTAVAIL)`.
fn connecting(phase: &ConnectPhase) -> Option<String> {
    let stop = phase.stop.as_ref()?;
    Some(format!(
        "connection {} was the first to fail, after {} and with {} open: {} ({})",
        exact(stop.connection.into()),
        format::time_ns(stop.at_ns as f64),
        exact(stop.open.into()),
        stop.kind.words(),
        stop.message
    ))
}
