//! Laying one draft over another: a file's `[quick]` table, then the command line.
//!
//! What is mentioned above replaces what stands below. Keys that answer one question together (when does it stop? how is
//! it paced? what is sent?) replace one another: `--messages` over a plan's `duration` means messages, not a conflict.
//! Within one draft such a pair stays a conflict, and is reported by [`super::resolve()`].

use super::{PlanDraft, experiments};

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

    /// The short form: the `[quick]` table laid over the plan, or, where it has none, what its experiment calls short. Lay the command line over it afterwards.
    /// [`super::resolve()`] brings whatever is still longer than two minutes below that.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        let quick = self.quick.take().map_or_else(
            || experiments::of(self.experiment.unwrap_or_default()).short(&self),
            |quick| *quick,
        );
        let mut short = self.overlay(quick);
        short.is_shortened = true;
        short
    }
}
