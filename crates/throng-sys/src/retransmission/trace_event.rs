//! A kernel trace event as the kernel describes it, and a BPF program run wherever it happens (Documentation/trace/events.rst,
//! `perf_event_open(2)`).
//!
//! The description is in tracefs, which is mounted for ourselves alone where the host has not mounted it (`CAP_SYS_ADMIN`).

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::bpf::Program;
use crate::affinity::online_cpus;
use crate::kernel_file::{read_again, with_context};

/// Its number, and where its fields are: offset and size, in bytes.
#[derive(Debug)]
pub(super) struct TraceEvent {
    id: u64,
    fields: HashMap<String, (u16, u16)>,
}

/// Runs the program for each event, on every CPU, until it is dropped.
#[derive(Debug)]
pub(super) struct Attached {
    _event: OwnedFd,
    pub(super) program: Program,
}

/// `struct perf_event_attr` of include/uapi/linux/perf_event.h in its first version, of which this uses three fields.
#[repr(C)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    rest: [u64; 6],
}

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
/// `PERF_EVENT_IOC_SET_BPF`: `_IOW('$', 8, __u32)`.
const SET_BPF: libc::Ioctl = 0x4004_2408;

impl TraceEvent {
    /// Looks `event` up (`tcp/tcp_retransmit_skb`).
    ///
    /// # Errors
    /// `PermissionDenied` without the privilege; `NotFound` where the kernel has no such event; what it answers where it is built
    /// without any.
    pub(super) fn find(event: &str) -> io::Result<Self> {
        let tracefs = open_tracefs().map_err(|error| {
            with_context(&error, "cannot reach the kernel's trace events (tracefs)")
        })?;
        let read = |file: &str| {
            let path = format!("events/{event}/{file}");
            read_at(&tracefs, &path)
                .map_err(|error| with_context(&error, format_args!("cannot read {path}")))
        };
        Ok(Self {
            id: read("id")?.trim().parse().map_err(io::Error::other)?,
            fields: parse(&read("format")?),
        })
    }

    /// Offset and size of a field, in bytes.
    ///
    /// # Errors
    /// `Unsupported` where the kernel's event has no such field.
    pub(super) fn field(&self, name: &str) -> io::Result<(u16, u16)> {
        let field = self.fields.get(name).copied();
        field.ok_or_else(|| {
            let told = format!("trace event {} of this kernel has no field {name}", self.id);
            io::Error::new(io::ErrorKind::Unsupported, told)
        })
    }

    /// Begins to run `program`, of type tracepoint.
    ///
    /// # Errors
    /// What `perf_event_open(2)` answers: `PermissionDenied` without `CAP_PERFMON`, or where the program reads beyond the event.
    pub(super) fn attach(&self, program: Program) -> io::Result<Attached> {
        let attributes = EventAttributes {
            kind: TRACEPOINT,
            size: size_of::<EventAttributes>() as u32,
            config: self.id,
            rest: [0; 6],
        };
        // Whatever the CPU of the descriptor, the program belongs to the event.
        let cpu = online_cpus().first().map_or(0, |&cpu| cpu as libc::c_int);
        let (any_process, no_group) = (-1, -1);
        // SAFETY: the pointer is of a structure as large as it says, which outlives the call; the others are integers.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                any_process,
                cpu,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just returned this descriptor to us alone.
        let event = unsafe { OwnedFd::from_raw_fd(descriptor as i32) };
        // SAFETY: both descriptors are open, and the call takes integers only.
        let result = unsafe { libc::ioctl(event.as_raw_fd(), SET_BPF, program.as_raw_fd()) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Attached {
            _event: event,
            program,
        })
    }
}

/// Of the file `format`: a line for each field, `field:unsigned short dport; offset:30; size:2; signed:0;`.
fn parse(format: &str) -> HashMap<String, (u16, u16)> {
    format.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<(String, (u16, u16))> {
    let mut parts = line.split(';').map(str::trim);
    let mut value_of = |name: &str| parts.next()?.strip_prefix(name);
    let declaration = value_of("field:")?;
    let offset = value_of("offset:")?.parse().ok()?;
    let size = value_of("size:")?.parse().ok()?;
    let name = declaration.split_whitespace().last()?;
    let name = name.split('[').next()?;
    Some((name.to_owned(), (offset, size)))
}

/// Where the host has mounted it, or a mount that only this descriptor reaches.
fn open_tracefs() -> io::Result<OwnedFd> {
    const MOUNTED: &str = "/sys/kernel/tracing";
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, MOUNTED, flags, Mode::empty())?;
    if openat(&directory, "events", flags, Mode::empty()).is_ok() {
        return Ok(directory);
    }
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let (flags, attributes) = (FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty());
    Ok(fsmount(context.as_fd(), flags, attributes)?)
}

fn read_at(directory: &OwnedFd, path: &str) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(directory, path, flags, Mode::empty())?.into();
    String::from_utf8(read_again(&file)?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: tcp_retransmit_synack
ID: 2275
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;
\tfield:__u16 sport;\toffset:24;\tsize:2;\tsigned:0;
\tfield:__u8 saddr[4];\toffset:30;\tsize:4;\tsigned:0;

print fmt: \"family=%s\", REC->family
";

    #[test]
    fn fields_are_found_by_their_names() {
        let event = TraceEvent {
            id: 2275,
            fields: parse(FORMAT),
        };
        assert_eq!(event.fields.len(), 4);
        assert_eq!(event.field("common_type").unwrap(), (0, 2));
        assert_eq!(event.field("skaddr").unwrap(), (8, 8));
        assert_eq!(event.field("saddr").unwrap(), (30, 4));
        let error = event.field("daddr").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn an_event_that_there_is_not_is_an_error_that_names_it() {
        let error = TraceEvent::find("tcp/no_such_event").unwrap_err();
        let is_refused = error.kind() == io::ErrorKind::PermissionDenied;
        assert!(
            is_refused || error.to_string().contains("no_such_event"),
            "{error}"
        );
    }
}
