//! Why there are no more connections, in words that name the limit.

use std::io;

use throng_sys::limits::open_files;

/// What was being done for the connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Connect,
    Accept,
    Join,
    Send,
    Receive,
}

impl Step {
    fn failed(self) -> &'static str {
        match self {
            Self::Connect => "could not be opened by the client",
            Self::Accept => "could not be accepted",
            Self::Join => "was accepted, but could not join the set",
            Self::Send => "could not be sent a byte by the client",
            Self::Receive => "could not be read",
        }
    }
}

/// What failed for the connection of this number, counted from 1.
pub(super) fn in_words(number: u32, step: Step, error: &io::Error) -> String {
    let failed = step.failed();
    format!("connection {number} {failed}: {error}{}", hint(step, error))
}

fn hint(step: Step, error: &io::Error) -> String {
    // The numbers are those of every Linux architecture.
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    const ENOSPC: i32 = 28;
    const EADDRNOTAVAIL: i32 = 99;
    match (step, error.raw_os_error()) {
        (_, Some(EMFILE)) => {
            let limit = open_files().soft;
            format!("; each side may have {limit} open files: raise the limit (`ulimit -n`)")
        }
        (_, Some(ENFILE)) => {
            "; the machine has no more open files: `sysctl fs.file-max`".to_owned()
        }
        (Step::Join, Some(ENOSPC)) => {
            "; this user may watch no more: `sysctl fs.epoll.max_user_watches`".to_owned()
        }
        (Step::Connect, Some(EADDRNOTAVAIL)) => {
            "; the source address is none of this machine's, or has no free port: look at `ip address`"
                .to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_named_with_its_number() {
        let words = in_words(19_996, Step::Accept, &io::Error::from_raw_os_error(24));
        let limit = open_files().soft.to_string();
        for part in ["connection 19996", "accepted", &limit, "ulimit -n"] {
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn a_hint_fits_what_was_tried() {
        let full = io::Error::from_raw_os_error(28);
        assert!(in_words(5, Step::Join, &full).contains("max_user_watches"));
        assert!(!in_words(5, Step::Send, &full).contains("max_user_watches"));
    }
}
