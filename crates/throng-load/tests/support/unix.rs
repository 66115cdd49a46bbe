//! Unix listeners with an accept queue of a chosen length.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// A blocking Unix listener with this backlog at a path of its own, which ends in `name`; its address and its path.
pub(crate) fn listener(name: &str, backlog: u32) -> (UnixListener, String, PathBuf) {
    let file = format!("throng-{}-{name}.sock", std::process::id());
    let path = std::env::temp_dir().join(file);
    let address = format!("unix:{}", path.display());
    let parsed = address.parse().expect("a path");
    let (listener, _) = throng_sys::socket::listen(&parsed, backlog).expect("listening");
    let listener = UnixListener::from(listener);
    listener.set_nonblocking(false).expect("an option");
    (listener, address, path)
}
