//! As much of `bpf(2)` as a small program takes that writes records into a ring: the ring, a counter, and loading.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use crate::kernel_file::with_context;

/// `struct bpf_insn`, include/uapi/linux/bpf.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) code: u8,
    /// The destination in the low half, the source in the high one.
    pub(super) registers: u8,
    pub(super) offset: i16,
    pub(super) operand: i32,
}

/// A program that the kernel has verified.
#[derive(Debug)]
pub(super) struct Program(OwnedFd);

/// A number that programs add to.
#[derive(Debug)]
pub(super) struct Counter(OwnedFd);

/// Records in the order in which programs on all CPUs have written them (Documentation/bpf/ringbuf.rst).
#[derive(Debug)]
pub(super) struct Ring {
    map: OwnedFd,
    /// A page with our position, a page with the kernel's, and the data twice in a row, so that no record is broken in two.
    pages: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
}

/// Commands of `bpf(2)`.
const MAP_CREATE: libc::c_int = 0;
const MAP_LOOK_UP: libc::c_int = 1;
const PROGRAM_LOAD: libc::c_int = 5;
const INFO_BY_DESCRIPTOR: libc::c_int = 15;

const MAP_OF_ARRAY: u32 = 2;
const MAP_OF_RING: u32 = 27;
const PROGRAM_OF_TRACEPOINT: u32 = 5;

/// Of a record's header: it is being written; it is to be left out.
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER_BYTES: usize = 8;

/// What `MAP_CREATE` takes, as far as it is used.
#[repr(C)]
struct MapAttributes {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
}

#[repr(C)]
struct LookUpAttributes {
    map: u64,
    key: u64,
    value: u64,
}

#[repr(C)]
struct ProgramAttributes {
    kind: u32,
    instructions_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
}

#[repr(C)]
struct InfoAttributes {
    descriptor: u32,
    length_bytes: u32,
    info: u64,
}

/// For what the verifier says.
const LOG_BYTES: usize = 64 << 10;

/// `struct bpf_prog_info` up to its field `recursion_misses`.
const MISSES_AT_BYTES: usize = 208;
const INFO_BYTES: usize = MISSES_AT_BYTES + 8;

impl Program {
    /// Has the kernel verify a program for trace events, and compile it.
    ///
    /// # Errors
    /// `PermissionDenied` without `CAP_BPF` and `CAP_PERFMON`, or with what the verifier says of the program.
    pub(super) fn load(instructions: &[Instruction]) -> io::Result<Self> {
        Self::load_telling(instructions, &mut []).map_err(|error| {
            // Asked for at once, a log that is too small for a good program would refuse it too.
            let mut log = vec![0; LOG_BYTES];
            let _ = Self::load_telling(instructions, &mut log);
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(0);
            match String::from_utf8_lossy(&log[..end]).trim() {
                "" => error,
                told => with_context(&error, told),
            }
        })
    }

    fn load_telling(instructions: &[Instruction], log: &mut [u8]) -> io::Result<Self> {
        const LICENSE: &CStr = c"MIT";
        let wants_log = !log.is_empty();
        let attributes = ProgramAttributes {
            kind: PROGRAM_OF_TRACEPOINT,
            instructions_count: instructions.len() as u32,
            instructions: instructions.as_ptr() as u64,
            license: LICENSE.as_ptr() as u64,
            log_level: wants_log.into(),
            log_bytes: log.len() as u32,
            log: if wants_log {
                log.as_mut_ptr() as u64
            } else {
                0
            },
        };
        // SAFETY: the pointers are of the instructions, of a text that ends with a zero byte, and of a buffer as large as it says, or none;
        // all outlive the call.
        unsafe { call(PROGRAM_LOAD, &attributes) }.map(|descriptor| Self(owned(descriptor)))
    }

    /// How often it was left out because another program was at work on the CPU.
    ///
    /// # Errors
    /// What `bpf(2)` answers.
    pub(super) fn misses(&self) -> io::Result<u64> {
        let mut info = [0_u8; INFO_BYTES];
        let attributes = InfoAttributes {
            descriptor: self.0.as_raw_fd() as u32,
            length_bytes: INFO_BYTES as u32,
            info: info.as_mut_ptr() as u64,
        };
        // SAFETY: the kernel writes as many bytes as `info` has at most, and it outlives the call.
        unsafe { call(INFO_BY_DESCRIPTOR, &attributes) }?;
        let misses = info[MISSES_AT_BYTES..].try_into().expect("eight bytes");
        Ok(u64::from_ne_bytes(misses))
    }
}

impl AsRawFd for Program {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Counter {
    /// At 0.
    ///
    /// # Errors
    /// What `bpf(2)` answers: `PermissionDenied` without `CAP_BPF`.
    pub(super) fn new() -> io::Result<Self> {
        new_map(MapAttributes {
            kind: MAP_OF_ARRAY,
            key_bytes: 4,
            value_bytes: 8,
            entries: 1,
        })
        .map(Self)
    }

    /// What programs have added so far.
    ///
    /// # Errors
    /// What `bpf(2)` answers.
    pub(super) fn get(&self) -> io::Result<u64> {
        let (key, mut value) = (0_u32, 0_u64);
        let attributes = LookUpAttributes {
            map: self.0.as_raw_fd() as u64,
            key: (&raw const key) as u64,
            value: (&raw mut value) as u64,
        };
        // SAFETY: key and value have the sizes that the map was made with, and outlive the call.
        unsafe { call(MAP_LOOK_UP, &attributes) }?;
        Ok(value)
    }
}

impl AsRawFd for Counter {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Ring {
    /// `data_bytes`: a power of two, of a page at least.
    ///
    /// # Errors
    /// What `bpf(2)` answers: `PermissionDenied` without `CAP_BPF`, `InvalidInput` before Linux 5.8.
    pub(super) fn new(data_bytes: usize) -> io::Result<Self> {
        let map = new_map(MapAttributes {
            kind: MAP_OF_RING,
            key_bytes: 0,
            value_bytes: 0,
            entries: data_bytes as u32,
        })?;
        let page_bytes = page_size();
        // Two mappings side by side, since only the first page may be written to: a place for both, and then each in it.
        let whole_bytes = 2 * page_bytes + 2 * data_bytes;
        let nowhere = ProtFlags::empty();
        let private = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: no address is asked for, so no mapping of ours is replaced.
        let pages = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), whole_bytes, nowhere, private)
        }?;
        let pages = NonNull::new(pages.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let ring = Self {
            map,
            pages,
            page_bytes,
            data_bytes,
        };
        ring.map_part(0, page_bytes, ProtFlags::READ | ProtFlags::WRITE)?;
        ring.map_part(page_bytes, whole_bytes - page_bytes, ProtFlags::READ)?;
        Ok(ring)
    }

    fn map_part(&self, at_bytes: usize, length: usize, access: ProtFlags) -> io::Result<()> {
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the part lies within the mapping that `self` owns, which nothing else refers to yet.
        unsafe {
            let address = self.pages.add(at_bytes).as_ptr().cast();
            mmap(address, length, access, flags, &self.map, at_bytes as u64)?;
        }
        Ok(())
    }

    /// Shows the records that have come since the last call.
    pub(super) fn read(&mut self, mut visit: impl FnMut(&[u8])) {
        // SAFETY: our position is aligned, within the part that may be written to, and changed as a whole.
        let own = unsafe { AtomicU64::from_ptr(self.pages.cast().as_ptr()) };
        // SAFETY: within the mapping, which is a whole number of pages.
        let kernels = unsafe { self.pages.add(self.page_bytes).cast::<u64>() };
        let mut position = own.load(Ordering::Relaxed);
        // SAFETY: the kernel's position is aligned, and within the mapping.
        while position < unsafe { load(kernels) } {
            let at_bytes = 2 * self.page_bytes + position as usize % self.data_bytes;
            // SAFETY: `at_bytes` is within the first copy of the data, and aligned to 8 as records are.
            let record = unsafe { self.pages.add(at_bytes) };
            // SAFETY: the header is aligned, and within the mapping.
            let header: u32 = unsafe { load(record.cast()) };
            if header & BUSY != 0 {
                return;
            }
            let length_bytes = (header & !DISCARDED) as usize;
            if header & DISCARDED == 0 {
                // SAFETY: a record is no longer than the data, so from the first copy on it ends within the second; the kernel leaves it alone
                // until we have gone past it.
                visit(unsafe {
                    std::slice::from_raw_parts(record.add(HEADER_BYTES).as_ptr(), length_bytes)
                });
            }
            position += (HEADER_BYTES + length_bytes).next_multiple_of(8) as u64;
            own.store(position, Ordering::Release);
        }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let whole_bytes = 2 * self.page_bytes + 2 * self.data_bytes;
        // SAFETY: the mapping is ours alone, and no borrow of it outlives `self`.
        let _ = unsafe { munmap(self.pages.as_ptr().cast(), whole_bytes) };
    }
}

// SAFETY: the mapping is tied to no thread, and is reached through `&mut self` only.
unsafe impl Send for Ring {}

/// What the kernel has stored there, in memory that we may only read; and whatever it stored before that.
///
/// # Safety
/// The address must be aligned, and valid to read from.
unsafe fn load<Value: Copy>(address: NonNull<Value>) -> Value {
    // SAFETY: as the caller says.
    let value = unsafe { address.read_volatile() };
    fence(Ordering::Acquire);
    value
}

fn new_map(attributes: MapAttributes) -> io::Result<OwnedFd> {
    // SAFETY: it holds integers only.
    unsafe { call(MAP_CREATE, &attributes) }.map(owned)
}

/// # Safety
/// What `attributes` points to must be as `bpf(2)` says of the command.
unsafe fn call<Attributes>(
    command: libc::c_int,
    attributes: &Attributes,
) -> io::Result<libc::c_long> {
    let length = size_of::<Attributes>() as libc::c_uint;
    // SAFETY: the pointer and the length are of `attributes`; the caller answers for what it points to.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_ref(attributes),
            length,
        )
    };
    match result {
        0.. => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Of a command that answers with a new descriptor.
fn owned(descriptor: libc::c_long) -> OwnedFd {
    // SAFETY: the kernel has just returned this descriptor to us alone.
    unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_the_verifier_refuses_is_told_with_its_words() {
        // It ends without a result.
        let exit = Instruction {
            code: 0x95,
            registers: 0,
            offset: 0,
            operand: 0,
        };
        if Counter::new().is_err() {
            // Not privileged: nothing is verified.
            return;
        }
        let error = Program::load(&[exit]).unwrap_err();
        assert!(error.to_string().contains("R0"), "{error}");
    }

    #[test]
    fn a_counter_begins_at_none_and_a_ring_empty() {
        let (Ok(counter), Ok(mut ring)) = (Counter::new(), Ring::new(64 << 10)) else {
            return;
        };
        assert_eq!(counter.get().unwrap(), 0);
        ring.read(|record| panic!("{record:?}"));
    }
}
