//! The flags that say what one message is.

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};

use super::lists;

/// What is sent, and what comes back.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MessageFlags {
    /// Bytes of a message, 1 to 1048576 [default: 6]
    #[arg(long, value_name = "BYTES,…", value_parser = value::counts::<u64>, help_heading = "Message")]
    size: Option<Vec<Sweep<u64>>>,
    /// Send this request instead; \r \n \t \0 \\ \xNN are escapes
    #[arg(long, value_name = "TEXT", help_heading = "Message")]
    send: Option<String>,
    /// Where the reply to --send ends: a text, 'N bytes', 'until DELIMITER' or, in the backlog experiment, 'end'; same escapes
    #[arg(
        long,
        value_name = "REPLY",
        allow_hyphen_values = true,
        help_heading = "Message"
    )]
    expect: Option<String>,
    /// Do not compare the returned bytes with the expected ones
    #[arg(long, help_heading = "Message")]
    no_verify: bool,
}

impl MessageFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            size: lists(flags.size),
            send: flags.send.map(Sweep::from),
            expect: flags.expect.map(Sweep::from),
            verify: flags.no_verify.then(|| Sweep::from(false)),
            ..PlanDraft::default()
        }
    }
}
