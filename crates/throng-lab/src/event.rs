//! What a run tells while it goes on, for whoever draws the progress.

use std::path::Path;
use std::time::Duration;

use throng_record::{NetworkRecord, Plan, Setting, TargetRecord, Trial};

/// Something that happened in a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// What is carried out.
        plan: &'a Plan,
        /// Trials planned.
        trials: u32,
        /// How long they will take.
        estimate: Duration,
        /// The network of launched targets.
        network: &'a NetworkRecord,
        /// Where the record is being written.
        path: &'a Path,
    },
    /// A trial begins.
    TrialStarted {
        /// Place in the order of execution, from 0.
        order: u32,
        /// Trials planned.
        trials: u32,
        /// The server.
        target: &'a TargetRecord,
        /// What is done to it.
        setting: &'a Setting,
        /// Which repeat, from 0.
        repeat: u32,
    },
    /// A trial goes on; about ten a second.
    Progress {
        /// Place in the order of execution, from 0.
        order: u32,
        /// What it is at.
        phase: TrialPhase,
        /// Replies so far, warm-up included. Where the work is in phases, what this one counts: connections while they are opened, held and
        /// closed, answers and deliveries otherwise.
        replies: u64,
        /// Since the trial began.
        elapsed: Duration,
    },
    /// All that was planned has been made, and disturbed trials are being made again.
    MakingAgain {
        /// Trials of this round, at most.
        trials: u32,
        /// How long this may go on.
        left: Duration,
    },
    /// A trial has ended, well or not, and is in the stored record.
    TrialFinished {
        /// All of it.
        trial: &'a Trial,
        /// The server.
        target: &'a TargetRecord,
    },
}

/// What a trial is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialPhase {
    /// The server is starting.
    Launching,
    /// Connections are being opened.
    Connecting,
    /// Messages go back and forth and do not count yet.
    WarmingUp,
    /// Messages count.
    Measuring,
    /// Every connection is due to be greeted.
    Greeting,
    /// One line is on its way to every connection.
    Delivering,
    /// Lines are put at a rate, each for every connection.
    Sustaining,
    /// Connections are open and nothing is sent.
    Holding,
    /// Some of the connections that are held are pinged.
    Pinging,
    /// What is under way is awaited, and connections are closed.
    Closing,
}
