//! Laying one draft over another: a file's `[quick]` table, then the command line.
//!
//! What is mentioned above replaces what stands below. Keys that answer one question together (when does it stop? how is
//! it paced? what is sent?) replace one another: `--messages` over a plan's `duration` means messages, not a conflict.
//! Within one draft such a pair stays a conflict, and is reported by [`super::resolve()`].

use std::time::Duration;

use throng_record::PhaseName;
use throng_record::plan::Experiment;

use super::{PlanDraft, Sweep, keys};

impl PlanDraft {
    /// This draft with everything that `over` mentions replaced.
    #[must_use]
    pub fn overlay(mut self, over: Self) -> Self {
        self.forget_what_is_answered_by(&over);
        // Settings have names of their own: those that are not mentioned above stay.
        let kernel = self.kernel.take();
        let over_kernel = over.kernel.clone();
        self.take(over);
        self.kernel = match (kernel, over_kernel) {
            (Some(mut below), Some(above)) => {
                below.overlay(above);
                Some(below)
            }
            (below, above) => above.or(below),
        };
        self
    }

    fn forget_what_is_answered_by(&mut self, over: &Self) {
        if over.messages.is_some() || over.duration.is_some() || over.confidence.is_some() {
            self.messages = None;
            self.duration = None;
            self.confidence = None;
            self.max_duration = None;
        }
        if over.requests.is_some() || over.requests_total.is_some() {
            self.requests = None;
            self.requests_total = None;
        }
        if over.lockstep.is_some() {
            self.outstanding = None;
            self.rate = None;
            self.arrivals = None;
            self.spin = None;
        }
        if over.outstanding.is_some() || over.rate.is_some() {
            self.lockstep = None;
        }
        if over.size.is_some() {
            self.send = None;
            self.expect = None;
        }
        if over.send.is_some() || over.expect.is_some() {
            self.size = None;
        }
        if over.source.is_some() || over.addresses.is_some() {
            self.source = None;
            self.addresses = None;
        }
        if over.targets.is_some() {
            self.baseline = None;
        }
    }

    /// The short form: the `[quick]` table laid over the plan, or, where it has none, two repeats of 400 ms; of the backlog
    /// experiment, which has no length, a single one, and of the accept, fan-out and hold experiments one of fewer connections. Lay the command line over it afterwards. [`super::resolve()`] brings whatever is still longer than two minutes below that.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        let quick = self
            .quick
            .take()
            .map_or_else(|| self.usual_quick(), |quick| *quick);
        let mut short = self.overlay(quick);
        short.is_shortened = true;
        short
    }

    /// Once, with fewer connections, and without lingering where time is spent on purpose.
    fn usual_quick_of_many(&self) -> Self {
        let is_fanout = self.experiment == Some(Experiment::Fanout);
        let most = if is_fanout { 7_000 } else { 10_000 };
        let linger = Duration::from_millis(400);
        let shorter = |length: Duration| length.min(linger);
        let experiment = self.experiment.unwrap_or_default();
        let usual = || keys::usual("connections", experiment);
        let connections = self.connections.clone().unwrap_or_else(usual);
        let rated = self.rate.as_ref().map(|_| linger.into());
        Self {
            repeats: Some(1),
            connections: Some(connections.map(|connections| connections.min(most))),
            duration: self.duration.clone().or(rated).map(|one| one.map(shorter)),
            hold: (!is_fanout).then(|| self.hold.clone().unwrap_or(linger.into()).map(shorter)),
            ..Self::default()
        }
    }

    /// Once, with fewer connections, and each phase no longer than others are in short.
    fn usual_quick_of_phases(&self) -> Self {
        let longest = Duration::from_millis(400);
        let short = |length: &Option<Sweep<Duration>>| {
            let length = length.clone().unwrap_or(longest.into());
            length.map(|one| one.min(longest))
        };
        let ends_by_time = self.messages.is_none() && self.confidence.is_none();
        let has_length = self.has_phase(PhaseName::Exchange) && ends_by_time;
        let connections = self.connections.clone();
        Self {
            repeats: Some(1),
            connections: connections.map(|all| all.map(|connections| connections.min(10_000))),
            duration: has_length.then(|| short(&self.duration)),
            hold: self.has_phase(PhaseName::Hold).then(|| short(&self.hold)),
            ..Self::default()
        }
    }

    fn usual_quick(&self) -> Self {
        if self.experiment == Some(Experiment::Accept) {
            let most = 2_000;
            let connections = self.connections.clone().unwrap_or(most.into());
            return Self {
                repeats: Some(1),
                connections: Some(connections.map(|connections| connections.min(most))),
                ..Self::default()
            };
        }
        if self.experiment == Some(Experiment::Phases) {
            return self.usual_quick_of_phases();
        }
        if matches!(self.experiment, Some(Experiment::Fanout | Experiment::Hold)) {
            return self.usual_quick_of_many();
        }
        if self.experiment == Some(Experiment::Backlog) {
            return Self {
                repeats: Some(1),
                ..Self::default()
            };
        }
        let mut quick = Self {
            repeats: Some(self.repeats.unwrap_or(2).min(2)),
            ..Self::default()
        };
        if self.messages.is_none() {
            let usual = Duration::from_millis(400);
            let lengths = self.duration.clone().unwrap_or(usual.into());
            quick.duration = Some(lengths.map(|length| length.min(usual)));
        }
        quick
    }
}
