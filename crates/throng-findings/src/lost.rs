//! What of the CPUs' time may be gone, stolen or used by others, before a figure can have changed by it. `docs/checks.md` derives it.

/// What decides the figures of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// CPU time, or how soon a side that waits gets it: rates and latencies.
    CpuTime,
    /// Service times and the kernel's timers, while both sides idle. What is lost delays a trial by no more than itself, and nothing else.
    Timers,
}

/// A side that used less of its CPUs idled.
const IDLE_MAX: f64 = 0.1;
/// Of all the CPUs' time.
const SHARE_MAX: f64 = 0.02;
/// Of a trial's own time. Repeats of a trial that timers decide differ by far more.
const DELAY_MAX: f64 = 0.1;

impl Lost {
    /// `has_least`: whether the trial's time is compared with the least that its service times allow, as in the backlog experiment.
    pub(crate) fn of(
        has_least: bool,
        server_busy: Option<f64>,
        generator_busy: Option<f64>,
    ) -> Self {
        let idles = |side: Option<f64>| side.is_some_and(|busy| busy < IDLE_MAX);
        if has_least && idles(server_busy) && idles(generator_busy) {
            Self::Timers
        } else {
            Self::CpuTime
        }
    }

    /// The share of the time of so many CPUs.
    pub(crate) fn share_max(self, cpus: u64) -> f64 {
        match self {
            Self::CpuTime => SHARE_MAX,
            Self::Timers => (DELAY_MAX / cpus.max(1) as f64).max(SHARE_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_decide_where_both_sides_idle_and_a_least_time_is_known() {
        let of = Lost::of;
        assert_eq!(of(true, Some(0.09), Some(0.01)), Lost::Timers);
        assert_eq!(of(false, Some(0.09), Some(0.01)), Lost::CpuTime);
        assert_eq!(of(true, Some(0.1), Some(0.01)), Lost::CpuTime);
        assert_eq!(of(true, Some(0.01), Some(0.1)), Lost::CpuTime);
        assert_eq!(of(true, None, Some(0.01)), Lost::CpuTime);
    }

    #[test]
    fn the_delay_is_of_the_trials_time_and_the_share_of_all_cpus() {
        assert_eq!(Lost::Timers.share_max(2), 0.05);
        assert_eq!(Lost::Timers.share_max(64), 0.02);
        assert_eq!(Lost::CpuTime.share_max(2), 0.02);
    }
}
