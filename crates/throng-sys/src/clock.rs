//! The monotonic clock in nanoseconds, and sleeping that is as precise as the kernel allows.

use std::io;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds per second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Nanoseconds per millisecond.
pub const MILLISECOND_NS: u64 = 1_000_000;

/// Nanoseconds of `CLOCK_MONOTONIC`: one clock for all processes and network namespaces of a machine.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * SECOND_NS + now.tv_nsec.cast_unsigned()
}

/// A length of time as the kernel takes it.
#[must_use]
pub fn timespec(duration_ns: u64) -> Timespec {
    Timespec {
        tv_sec: (duration_ns / SECOND_NS).cast_signed(),
        tv_nsec: (duration_ns % SECOND_NS).cast_signed(),
    }
}

/// Asks the kernel to wake the calling thread's timed waits on time: the default timer slack lets it be 50 µs late,
/// so that wake-ups can be joined (`prctl(2)`, `PR_SET_TIMERSLACK`).
///
/// # Errors
/// As `prctl` reports them; waits then keep their slack.
pub fn drop_timer_slack() -> io::Result<()> {
    let slack_ns: libc::c_ulong = 1;
    // SAFETY: PR_SET_TIMERSLACK takes one integer and touches no memory of ours.
    match unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack_ns) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timespec_carries_whole_seconds() {
        let three_and_a_half = timespec(3_500_000_000);
        assert_eq!(
            (three_and_a_half.tv_sec, three_and_a_half.tv_nsec),
            (3, 500_000_000)
        );
    }

    #[test]
    fn the_clock_does_not_run_backwards() {
        let mut last_ns = monotonic_ns();
        for _ in 0..10_000 {
            let now_ns = monotonic_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
    }
}
