//! A network namespace for one measurement, as the lab gives one to each trial: what the one before left in TIME_WAIT takes no port from
//! this one. The program makes it (`throng namespace`); without a user namespace or root there is none, and the parts that need it fail.

use std::error::Error;
use std::io::Write as _;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use throng_sys::namespace::Network;

use super::peers::release;

/// A new one, with the kernel's own settings.
pub(super) fn private() -> Result<Network, Box<dyn Error>> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let child = Command::new(release("throng"))
        .arg("namespace")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .spawn()?;
    ours.write_all(br#"{"host": {}, "kernel": {}}"#)?;
    ours.shutdown(Shutdown::Write)?;
    let report = child.wait_with_output()?.stdout;
    Network::receive(&ours).map_err(|error| {
        let report = String::from_utf8_lossy(&report);
        format!("no network namespace ({error}): {report}; `throng doctor` says what is missing")
            .into()
    })
}
