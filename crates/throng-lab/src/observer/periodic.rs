//! A thread that looks at something at a fixed rate until it is told to stop.
//!
//! The times to look are fixed from the start, so a late look does not shift those that follow. What was missed is left out
//! rather than made up for: two looks in a row tell no more than one. It looks once before [`Periodic::start`] returns, and once
//! more when it is stopped, so that nothing between those two is left out.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use throng_sys::clock::monotonic_ns;

/// The running thread. Dropped, it ends by itself.
#[derive(Debug)]
pub(super) struct Periodic<State> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<State>>,
}

impl<State: Send + 'static> Periodic<State> {
    /// Looks at once, and then each `period_ns`.
    pub(super) fn start(
        name: &str,
        period_ns: u64,
        mut state: State,
        look: fn(&mut State),
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let begin_ns = monotonic_ns();
        look(&mut state);
        let body = move || {
            while wait_for_next(begin_ns, period_ns, &is_stopped) {
                look(&mut state);
            }
            look(&mut state);
            state
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Looks a last time, and gives back what was seen.
    ///
    /// # Panics
    /// If looking did.
    pub(super) fn stop(mut self) -> State {
        self.tell_to_stop();
        let thread = self.thread.take().expect("it is taken here only");
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl<State> Periodic<State> {
    fn tell_to_stop(&self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl<State> Drop for Periodic<State> {
    fn drop(&mut self) {
        self.tell_to_stop();
    }
}

/// Sleeps until the next time to look that has not passed; false if it is to stop.
fn wait_for_next(begin_ns: u64, period_ns: u64, is_stopped: &AtomicBool) -> bool {
    let passed_ns = monotonic_ns() - begin_ns;
    let next_ns = begin_ns + (passed_ns / period_ns + 1) * period_ns;
    loop {
        if is_stopped.load(Ordering::Acquire) {
            return false;
        }
        let left_ns = next_ns.saturating_sub(monotonic_ns());
        if left_ns == 0 {
            return true;
        }
        std::thread::park_timeout(Duration::from_nanos(left_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_at_the_start_and_at_the_end_however_long_the_period() {
        let looked = Periodic::start("look", u64::MAX / 4, 0, |looks| *looks += 1).unwrap();
        assert_eq!(looked.stop(), 2);
    }

    #[test]
    fn it_looks_again_and_again() {
        let (told, looks) = std::sync::mpsc::channel();
        let look = Periodic::start("look", 1_000, told, |told| {
            let _ = told.send(());
        });
        let look = look.unwrap();
        for _ in 0..100 {
            looks.recv().unwrap();
        }
        look.stop();
    }
}
