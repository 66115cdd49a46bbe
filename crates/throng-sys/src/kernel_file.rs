//! Reading the small text files through which the kernel answers (`/proc`, `/sys`).
//!
//! One place gives their errors the file's name; the kind is preserved, so that callers can still tell a file
//! that this kernel lacks from one that may not be read.

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Reads the whole file, without the white space at its end.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref();
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned()),
        Err(error) => Err(with_context(
            &error,
            format_args!("cannot read {}", path.display()),
        )),
    }
}

/// Reads the whole of an open file from its beginning. One of `/proc` is made anew by the kernel.
pub(crate) fn read_again(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 << 10];
    loop {
        match file.read_at(&mut piece, bytes.len() as u64) {
            Ok(0) => return Ok(bytes),
            Ok(length) => bytes.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The file's content, or `None` where it is missing, unreadable or empty: for facts that a machine may lack.
pub(crate) fn read_if_present(path: impl AsRef<Path>) -> Option<String> {
    read(path).ok().filter(|text| !text.is_empty())
}

/// `error` with what was being done in front of it, of the same kind.
pub(crate) fn with_context(error: &io::Error, doing: impl Display) -> io::Error {
    io::Error::new(error.kind(), format!("{doing}: {error}"))
}

/// A file's content is not what this crate knows how to read.
pub(crate) fn unexpected_content(file: impl Display, what: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{file}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_file_and_keeps_its_kind() {
        let error = read("/proc/no-such-file").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/proc/no-such-file"), "{error}");
    }

    #[test]
    fn a_missing_file_is_no_fact() {
        assert_eq!(read_if_present("/sys/no-such-file"), None);
        assert!(read_if_present("/proc/version").is_some_and(|text| !text.ends_with('\n')));
    }
}
