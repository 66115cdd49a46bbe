//! Connections refused: a connect was answered by RST. Nobody listened there, or something in between refused; Linux does not answer a full
//! accept queue so, `tcp_abort_on_overflow` or not.

use throng_record::finding::ConnectionsRefused;
use throng_record::format::{exact, plural};

use super::clause::maybe;
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "connections-refused",
    title: "Connections refused",
    page: include_str!("../../../../docs/findings/connections-refused.md"),
};

impl Words for ConnectionsRefused {
    fn happened(&self) -> String {
        format!(
            "{} of {} were answered by RST{}{}{}.",
            exact(self.refused),
            plural(self.begun, "connect"),
            match self.connected {
                0 => String::new(),
                some => format!(", {} connected", exact(some)),
            },
            if self.server_died {
                "; the server ended during the trial"
            } else {
                ""
            },
            maybe(self.was_listening, |was| format!(
                "; {} listened when the trial began",
                if was { "somebody" } else { "nobody" }
            ))
        )
    }

    fn cause(&self) -> &'static str {
        match (self.server_died, self.connected, self.was_listening) {
            (true, _, _) => "the server ended, and from then on nobody listened.",
            (false, 1.., _) | (false, 0, Some(true)) => {
                "the listener went away during the trial, a firewall rejects, or the server's system refuses where its queue is full (Windows does; Linux drops)."
            }
            (false, 0, Some(false)) => "nobody listens on that address and port.",
            (false, 0, None) => {
                "nobody listens on that address and port, a firewall rejects, or the server's system refuses where its queue is full (Windows does; Linux drops)."
            }
        }
    }

    fn remedy(&self) -> String {
        if self.server_died {
            "find out why it ended: its last words are with the checks; dmesg tells where the kernel killed it."
        } else {
            "ss -ltn on the server's host shows who listens where; then look into its log and its firewall."
        }
        .to_owned()
    }

    fn gravity(&self) -> f64 {
        self.refused as f64
    }
}
