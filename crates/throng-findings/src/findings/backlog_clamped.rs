//! Backlog clamped: `listen(2)` was asked for more than `net.core.somaxconn`, and the kernel silently took that (`__sys_listen` in
//! net/socket.c).

use throng_record::finding::BacklogClamped;

use super::clause::maybe;
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "backlog-clamped",
    title: "Backlog clamped",
    page: include_str!("../../../../docs/findings/backlog-clamped.md"),
};

impl Words for BacklogClamped {
    fn happened(&self) -> String {
        format!(
            "the server was asked for a backlog of {}, and {} is in force{}.",
            self.asked,
            self.in_force,
            maybe(self.somaxconn, |limit| format!(
                "; net.core.somaxconn is {limit}"
            ))
        )
    }

    fn cause(&self) -> &'static str {
        if is_the_kernels(self) {
            "listen(2) gives no more than net.core.somaxconn, and says nothing of it."
        } else {
            "the server passed another number to listen(2), such as a default of its runtime."
        }
    }

    fn remedy(&self) -> String {
        if is_the_kernels(self) {
            let asked = self.asked;
            format!(
                "sysctl -w net.core.somaxconn={asked} and start the server again; in a trial, --kernel somaxconn={asked}."
            )
        } else {
            "look for the backlog in the server's configuration, or in its call of listen(2)."
                .to_owned()
        }
    }

    fn gravity(&self) -> f64 {
        f64::from(self.asked) / f64::from(self.in_force.max(1))
    }
}

/// Whether it is the kernel's bound that is in force. Where that could not be read the kernel is the likelier one.
fn is_the_kernels(clamped: &BacklogClamped) -> bool {
    clamped
        .somaxconn
        .is_none_or(|most| most == clamped.in_force)
}
