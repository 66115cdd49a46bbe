//! The process that makes a namespace: it enters one, sets it up, hands its descriptors over, and ends.
//!
//! It is a process of its own because a user namespace can be entered only without threads; and it does everything without
//! an exec in between, which would give the privileges in a user namespace up.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use throng_sys::namespace::Entered;

use super::job::{NamespaceJob, NamespaceReport, SetUp};
use super::settings;

/// Makes a namespace as told on `socket`, a Unix stream socket, sends its descriptors back there, and reports on `report`
/// in one line.
///
/// # Errors
/// What writing the report answers. That there is no namespace stands in the report.
pub fn hold(socket: impl Read + AsFd, mut report: impl Write) -> io::Result<()> {
    let outcome = make(socket);
    let mut line = serde_json::to_vec(&outcome)?;
    line.push(b'\n');
    report.write_all(&line)?;
    report.flush()
}

fn make(mut socket: impl Read + AsFd) -> NamespaceReport {
    // First of all: nothing that comes later shall find the host's network.
    let entered = match Entered::enter() {
        Ok(entered) => entered,
        Err(obstacle) => return NamespaceReport::Refused(obstacle.to_string()),
    };
    let job: NamespaceJob = match serde_json::from_reader(&mut socket) {
        Ok(job) => job,
        Err(error) => {
            return NamespaceReport::Refused(format!(
                "no job on standard input ({error}): throng run makes one and starts this command"
            ));
        }
    };
    let (copied, not_copied) = settings::copy(&entered, &job.host);
    // With the host's settings in force: they say whether it gets an address of IPv6.
    if let Err(obstacle) = entered.bring_loopback_up() {
        return NamespaceReport::Refused(obstacle.to_string());
    }
    if let Err(refusal) = settings::apply(&entered, &job.kernel) {
        return NamespaceReport::Kernel(refusal);
    }
    match entered.hand_over(&socket) {
        Ok(()) => NamespaceReport::Made(SetUp {
            user_namespace: entered.in_user_namespace,
            copied,
            not_copied,
        }),
        Err(error) => NamespaceReport::Refused(error.to_string()),
    }
}
