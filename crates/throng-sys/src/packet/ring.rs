//! The ring of frames that the kernel fills and we empty (Documentation/networking/packet_mmap.rst, version 2).
//!
//! Frames belong to the kernel or to us, as the word at the beginning of each says. The kernel skips nothing: where the
//! next frame is still ours, the packet is lost and counted.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::{PacketSocket, SocketGuard, options};
use crate::clock::SECOND_NS;

/// Header of the ring (32 bytes), address (20), alignment, and `SNAP_BYTES`.
const FRAME_BYTES: usize = 256;
/// A whole number of pages, on machines with large ones too.
const BLOCK_BYTES: usize = 64 << 10;
const BLOCKS: usize = 128;
const RING_BYTES: usize = BLOCK_BYTES * BLOCKS;
const FRAMES: usize = RING_BYTES / FRAME_BYTES;
/// `TPACKET_V2`.
const VERSION: libc::c_int = libc::tpacket_versions::TPACKET_V2 as libc::c_int;

/// One packet, while it is ours.
pub(super) struct Frame<'a> {
    pub(super) realtime_ns: u64,
    /// Its length, of which perhaps less is there.
    pub(super) length_bytes: u32,
    /// From the IP header on.
    pub(super) bytes: &'a [u8],
}

/// The mapped ring.
#[derive(Debug)]
pub(super) struct Ring {
    frames: NonNull<u8>,
    next: usize,
    loan: SocketGuard,
}

impl Ring {
    /// Gives the socket a ring, and maps it.
    pub(super) fn new(loan: SocketGuard) -> io::Result<Self> {
        options::set(&loan.0, libc::PACKET_VERSION, &VERSION)?;
        options::set(&loan.0, libc::PACKET_RX_RING, &request(BLOCKS))?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is asked for, so no mapping of ours is replaced.
        let mapped = unsafe {
            mmap(
                std::ptr::null_mut(),
                RING_BYTES,
                access,
                MapFlags::SHARED,
                &loan.0,
                0,
            )
        };
        let address = mapped.inspect_err(|_| free(&loan.0))?;
        Ok(Self {
            frames: NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?,
            next: 0,
            loan,
        })
    }

    pub(super) fn socket(&self) -> &PacketSocket {
        &self.loan.0
    }

    /// Shows the frames that are ours, and gives each back. Once round at most, so that it ends whatever comes.
    pub(super) fn read(&mut self, mut visit: impl FnMut(Frame<'_>)) {
        for _ in 0..FRAMES {
            // SAFETY: `next` is below FRAMES, so the frame is within the mapping.
            let frame = unsafe { self.frames.add(self.next * FRAME_BYTES) };
            // SAFETY: the word is aligned, within the mapping, and the kernel changes it as a whole.
            let status = unsafe { AtomicU32::from_ptr(frame.cast().as_ptr()) };
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return;
            }
            // SAFETY: the frame lies within the mapping, and as the word says the kernel leaves it alone until we write there.
            let bytes = unsafe { std::slice::from_raw_parts(frame.as_ptr(), FRAME_BYTES) };
            if let Some(frame) = parse(bytes) {
                visit(frame);
            }
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % FRAMES;
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours alone, and no borrow of it outlives `self`.
        let _ = unsafe { munmap(self.frames.as_ptr().cast(), RING_BYTES) };
        free(&self.loan.0);
    }
}

// SAFETY: the mapping is tied to no thread, and is reached through `&mut self` only.
unsafe impl Send for Ring {}

/// Takes the ring from the socket. It fails where there is none.
fn free(socket: &PacketSocket) {
    let _ = options::set(socket, libc::PACKET_RX_RING, &request(0));
}

fn request(blocks: usize) -> libc::tpacket_req {
    let frames = blocks * BLOCK_BYTES / FRAME_BYTES;
    libc::tpacket_req {
        tp_block_size: BLOCK_BYTES as u32,
        tp_block_nr: blocks as u32,
        tp_frame_size: FRAME_BYTES as u32,
        tp_frame_nr: frames as u32,
    }
}

/// `struct tpacket2_hdr`, include/uapi/linux/if_packet.h.
fn parse(frame: &[u8]) -> Option<Frame<'_>> {
    let word = |at: usize| -> Option<u32> {
        let bytes = frame.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    };
    let network = u16::from_ne_bytes(frame.get(14..16)?.try_into().ok()?);
    let captured = frame
        .get(usize::from(network)..)?
        .get(..word(8)? as usize)?;
    Some(Frame {
        realtime_ns: u64::from(word(16)?) * SECOND_NS + u64::from(word(20)?),
        length_bytes: word(4)?,
        bytes: captured,
    })
}
