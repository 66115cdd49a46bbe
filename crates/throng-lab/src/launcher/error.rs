//! Why a server could not be launched: what failed, the likely cause, what to do.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;

use throng_record::format::tail_in_words;
use throng_sys::orphans::Orphan;

use crate::network::MakeError;
use throng_child::SpawnError;

/// A launch that failed. Nothing of the server is left.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error("{0}")]
    Unprepared(String),
    #[error("the command `{0}` is not made of words; check its quotes")]
    Command(String),
    #[error("the server ended at once ({how}), before it listened on {address}: its arguments or its surroundings are wrong; run the command by itself to see{tail}", tail = tail_in_words(.tail))]
    ExitedAtOnce {
        address: String,
        how: String,
        tail: Vec<String>,
    },
    #[error("{}", background(.how, .left))]
    WentToBackground { how: String, left: Vec<Orphan> },
    #[error("the server did not listen on {address} within {seconds} s{elsewhere}: it may ignore the address it is given, or need longer; check the command, or raise --ready-timeout{tail}", tail = tail_in_words(.tail))]
    NeverReady {
        address: String,
        seconds: f64,
        /// `; it listens on … instead`, or nothing.
        elsewhere: String,
        tail: Vec<String>,
    },
    #[error("another process took {address} just before the server could ({how}); run again{tail}", tail = tail_in_words(.tail))]
    AddressTaken {
        address: String,
        how: String,
        tail: Vec<String>,
    },
    #[error(
        "the server said `ready {0}`, which is no address; a server that is not of this throng? Run it with --command instead"
    )]
    ReadyWithoutAddress(String),
    #[error(
        "there is no free port on {ip}: {source}; if the family is not there at all, choose another (--family ipv4)"
    )]
    NoPort { ip: IpAddr, source: io::Error },
    #[error(
        "cannot make a folder for the server's Unix socket: {0}; set TMPDIR to a place that can be written"
    )]
    Folder(io::Error),
    #[error("cannot observe the server that was started: {0}")]
    Observe(io::Error),
    #[error("cannot look the server's listener up: {0}")]
    LookUp(io::Error),
    #[error("cannot make a private network for the server: {0}; run again, or with --net host")]
    Network(#[from] MakeError),
    #[error("service {number} of {of}: {error}")]
    OfService {
        /// From 1.
        number: u32,
        of: u32,
        error: Box<Self>,
    },
    #[error("interrupted while the server was starting")]
    Interrupted,
}

/// That a server left its process for others, and what to do about it.
pub(super) fn background(how: &str, left: &[Orphan]) -> String {
    let names: BTreeSet<&str> = left.iter().map(|orphan| orphan.name.as_str()).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    format!(
        "the server went into the background: the process that was started ended ({how}) and left {names}, which throng has ended; keep it in the foreground, where it can be observed (nginx: -g 'daemon off;', others: --foreground, --no-daemon, or exec in a script)"
    )
}

impl LaunchError {
    /// Whether another attempt would fail in the same way.
    pub(crate) fn will_repeat_itself(&self) -> bool {
        match self {
            Self::OfService { error, .. } => error.will_repeat_itself(),
            Self::Interrupted | Self::AddressTaken { .. } | Self::Network(_) => false,
            _ => true,
        }
    }
}
