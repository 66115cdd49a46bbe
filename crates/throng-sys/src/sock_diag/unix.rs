//! Unix listeners, from `/proc/net/unix`.
//!
//! The text file rather than `UNIX_DIAG`: that is an optional part of the kernel, and its one addition, the length
//! of the accept queue, is not needed for readiness.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::kernel_file::{self, with_context};

/// One listening Unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnixListener {
    /// The name as its server bound it.
    pub path: PathBuf,
    /// Its inode number, as in `socket:[N]` of `/proc/PID/fd`; not that of the file.
    pub inode: u32,
}

/// The listener bound to `path`, in the calling thread's network namespace; `None` if there is none, even if the
/// file exists (a server that is killed leaves it behind). The path must be written as the server wrote it: the
/// kernel keeps that text, not the file it meant. Of several the last is given, as earlier ones can have lost
/// the name. An abstract name is written with `@` in front.
///
/// # Errors
/// What reading `/proc/net/unix` says.
pub fn find_unix_listener(path: &Path) -> io::Result<Option<UnixListener>> {
    let path_of_table = "/proc/thread-self/net/unix";
    let table = File::open(path_of_table)
        .map_err(|error| with_context(&error, format_args!("cannot read {path_of_table}")))?;
    find_unix_listener_in(&table, path)
}

/// The same in the namespace in which `table`, a `/proc/net/unix`, was opened.
pub(crate) fn find_unix_listener_in(table: &File, path: &Path) -> io::Result<Option<UnixListener>> {
    let table = kernel_file::read_again(table)
        .map_err(|error| with_context(&error, "cannot read /proc/net/unix"))?;
    let mut listeners = table.split(|&byte| byte == b'\n').filter_map(parse_line);
    Ok(listeners.rfind(|listener| listener.path == path))
}

/// `Num: RefCount Protocol Flags Type St Inode Path`; `None` if it has no path or does not listen.
fn parse_line(line: &[u8]) -> Option<UnixListener> {
    /// `__SO_ACCEPTCON`, include/uapi/linux/net.h.
    const LISTENS: u32 = 0x0001_0000;

    let mut rest = line;
    let mut column = || {
        let start = rest.iter().position(|&byte| byte != b' ')?;
        let text = &rest[start..];
        let end = text.iter().position(|&byte| byte == b' ')?;
        let (column, after) = text.split_at(end);
        rest = after;
        std::str::from_utf8(column).ok()
    };
    let flags = u32::from_str_radix([column()?, column()?, column()?, column()?][3], 16).ok()?;
    let inode = [column()?, column()?, column()?][2].parse().ok()?;
    // The inode is padded on its left: exactly one space stands before the path, which may itself hold spaces.
    let path = rest.strip_prefix(b" ")?;
    let listener = UnixListener {
        path: PathBuf::from(OsStr::from_bytes(path)),
        inode,
    };
    (flags & LISTENS != 0 && !path.is_empty()).then_some(listener)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener as Server, UnixStream};

    use super::*;

    #[test]
    fn a_listener_is_found_until_it_closes() {
        let name = format!("throng-sys unix {}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let server = Server::bind(&path).unwrap();
        let _client = UnixStream::connect(&path).unwrap();
        let _accepted = server.accept().unwrap();
        let found = find_unix_listener(&path).unwrap().unwrap();
        assert_eq!(found.path, path);
        let own = std::process::id();
        assert_eq!(
            super::super::owner_of(found.inode, &[own]).unwrap(),
            Some(own)
        );

        drop(server);
        assert_eq!(
            find_unix_listener(&path).unwrap(),
            None,
            "the file is still there, and the connection"
        );
        assert!(path.exists());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn lines_of_other_kinds_are_left_out() {
        let line = |flags: &str, end: &str| {
            format!("00000000a1b2c3d4: 00000002 00000000 {flags} 0001 01 {end}").into_bytes()
        };
        let listener = UnixListener {
            path: PathBuf::from("/tmp/two words"),
            inode: 4711,
        };
        assert_eq!(
            parse_line(&line("00010000", " 4711 /tmp/two words")),
            Some(listener)
        );
        assert_eq!(parse_line(&line("00000000", " 4711 /tmp/two words")), None);
        assert_eq!(parse_line(&line("00010000", " 4711")), None);
        assert_eq!(
            parse_line(b"Num       RefCount Protocol Flags    Type St Inode Path"),
            None
        );
        assert_eq!(parse_line(b""), None);
    }
}
