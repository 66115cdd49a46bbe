//! How many messages are outstanding, by counts and the clock alone: nothing of it passes through the record of latencies, which is
//! checked against it.
//!
//! The integral over the window of the number outstanding is Σ end − Σ send over all messages, each time cut to the window. So a
//! send subtracts its time, an end adds it, and the window's end is added once for each message that is outstanding then.

/// A running integral of the number outstanding. Times are counted from the begin of the window and cut to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outstanding {
    number: u64,
    /// Σ end − Σ send, in nanoseconds.
    ends_less_sends_ns: i128,
}

impl Outstanding {
    #[inline]
    pub(super) fn sent(&mut self, at_ns: u64) {
        self.number += 1;
        self.ends_less_sends_ns -= i128::from(at_ns);
    }

    /// So many are answered, or never will be.
    #[inline]
    pub(super) fn ended(&mut self, number: u64, at_ns: u64) {
        self.number -= number;
        self.ends_less_sends_ns += i128::from(number) * i128::from(at_ns);
    }

    #[inline]
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Number outstanding × nanoseconds, from the begin of the window to its end.
    pub(super) fn integral_ns(&self, window_ns: u64) -> u128 {
        let area_ns = self.ends_less_sends_ns + i128::from(self.number) * i128::from(window_ns);
        // A clock that was read for the send and an earlier reading for the end may leave less than nothing.
        u128::try_from(area_ns).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_that_of_the_number_outstanding() {
        let mut outstanding = Outstanding::default();
        // One from before the window to 40, one from 10 to 30, one from 50 on.
        outstanding.sent(0);
        outstanding.sent(10);
        outstanding.ended(1, 30);
        outstanding.ended(1, 40);
        outstanding.sent(50);
        assert_eq!(outstanding.number(), 1);
        assert_eq!(outstanding.integral_ns(100), 40 + 20 + 50);
    }

    #[test]
    fn what_is_never_answered_is_outstanding_to_the_end() {
        let mut outstanding = Outstanding::default();
        (0..7).for_each(|at_ns| outstanding.sent(at_ns));
        assert_eq!(outstanding.integral_ns(1_000), 7 * 1_000 - 21);
        outstanding.ended(7, 500);
        assert_eq!(outstanding.integral_ns(1_000), 7 * 500 - 21);
    }
}
