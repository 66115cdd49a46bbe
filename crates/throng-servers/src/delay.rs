//! A delay that occupies its thread: what a [`crate::workload::Then::Wait`] is where a connection has a thread.

use std::os::fd::AsFd;
use std::time::Duration;

use throng_sys::clock::monotonic_ns;
use throng_sys::poll::wait_readable;

/// Waits for so long, or until `stop` becomes readable: then the answer is due at once. Nothing is read from it.
pub(crate) fn sit_out(stop: impl AsFd, delay: Duration) {
    if delay.is_zero() {
        return;
    }
    let delay_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
    // It fails where the kernel has no memory left, and then nothing is waited for.
    let _ = wait_readable(stop, monotonic_ns().saturating_add(delay_ns));
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn it_lasts_until_its_time_or_until_told_to_stop() {
        let (tell, told) = UnixStream::pair().expect("a pair");
        let begin_ns = monotonic_ns();
        sit_out(&told, Duration::from_millis(5));
        assert!(monotonic_ns() - begin_ns >= 5_000_000);
        drop(tell);
        sit_out(&told, Duration::MAX);
    }
}
