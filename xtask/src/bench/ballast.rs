//! Memory that is taken, touched and given back piece by piece, as the kernel needs it.
//!
//! A virtual machine's host backs a page at its first touch, which here costs several times what the page's next user pays; a guest that
//! reports its free pages (`mm/page_reporting.c`) has them taken away again two seconds after it freed them. A measurement whose kernel
//! objects fill gigabytes is then one of the host. With a ballast every page that it takes was in use a moment before.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use throng_sys::machine;

const PIECE_BYTES: usize = 64 << 20;
/// What is left to everybody else.
const LEFT_BYTES: u64 = 1 << 30;
/// Far shorter than the time in which connections take a piece.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Measures while nearly all memory is a ballast's, which makes way.
///
/// # Errors
/// Those of the measurement; where the machine does not tell its memory.
pub(super) fn beside<T>(
    measure: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let mut pieces = Vec::new();
    while free_bytes()? > LEFT_BYTES {
        // Not zeros: those the kernel would not back before they are written.
        pieces.push(vec![1_u8; PIECE_BYTES]);
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| give_back(pieces, &is_over));
        let measured = measure();
        is_over.store(true, Ordering::Relaxed);
        measured
    })
}

fn give_back(mut pieces: Vec<Vec<u8>>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) && !pieces.is_empty() {
        if free_bytes().is_ok_and(|bytes| bytes < LEFT_BYTES) {
            pieces.pop();
        } else {
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// Not what is "available": that counts the inodes and directory entries of open sockets as if they could be had.
fn free_bytes() -> Result<u64, Box<dyn Error>> {
    machine::memory_free_bytes().ok_or_else(|| "the free memory is not known".into())
}
