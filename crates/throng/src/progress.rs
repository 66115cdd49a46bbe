//! How far a run is: a line on standard error before it starts, and a bar while it goes on where that is a terminal.

use std::time::Duration;

use anstream::eprintln;
use indicatif::{ProgressBar, ProgressStyle};
use throng_lab::{Event, TrialPhase};
use throng_record::plan::Experiment;
use throng_record::{Plan, TargetKind, TargetRecord};
use throng_report::format::{count, plural};
use throng_report::setting::heading;

use crate::failure::note;

/// The progress of one run.
pub(crate) struct Progress {
    /// Hidden by itself where standard error is no terminal.
    bar: ProgressBar,
    trial: String,
    /// Replies and time at the last event, for the rate between two events.
    last: (u64, Duration),
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            trial: String::new(),
            last: (0, Duration::ZERO),
        }
    }

    /// Shows what an event says.
    pub(crate) fn tell(&mut self, event: Event<'_>) {
        match event {
            Event::Started {
                trials,
                estimate,
                plan,
                network,
                ..
            } => {
                if let Some(reason) = &network.fallback {
                    note(format_args!(
                        "the host's network is used, there is no private one here: {reason}. throng doctor says what would allow it"
                    ));
                }
                self.start(trials, estimate, may_take_longer(plan));
            }
            Event::TrialStarted {
                target, setting, ..
            } => {
                self.trial = format!("{} · {}", target.name, heading(setting));
                self.last = (0, Duration::ZERO);
                self.bar.set_message(self.trial.clone());
            }
            Event::Progress {
                phase,
                replies,
                elapsed,
                ..
            } => self.go_on(phase, replies, elapsed),
            Event::TrialFinished { .. } => self.bar.inc(1),
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn start(&mut self, trials: u32, estimate: Duration, may_take_longer: bool) {
        eprintln!(
            "{}, about {}{}",
            plural(trials.into(), "trial"),
            in_words(estimate),
            if may_take_longer {
                ", longer where a server meets a limit"
            } else {
                ""
            }
        );
        self.bar = ProgressBar::new(trials.into());
        let style = ProgressStyle::with_template("{bar:12} {pos}/{len} · {wide_msg}");
        self.bar
            .set_style(style.expect("the template is well formed"));
        self.bar.tick();
    }

    fn go_on(&mut self, phase: TrialPhase, replies: u64, elapsed: Duration) {
        let rate = self.rate(replies, elapsed);
        let phase = match phase {
            TrialPhase::Launching => "launching".to_owned(),
            TrialPhase::Connecting => format!("connecting{}{rate}", open(replies)),
            TrialPhase::WarmingUp => format!("warming up{rate}"),
            TrialPhase::Measuring => format!("measuring{rate}"),
            TrialPhase::Greeting => format!("awaiting greetings{rate}"),
            TrialPhase::Delivering => format!("delivering one line to all{rate}"),
            TrialPhase::Sustaining => format!("delivering at a rate{rate}"),
            TrialPhase::Holding => format!("holding{}", open(replies)),
            TrialPhase::Pinging => format!("pinging{rate}"),
            TrialPhase::Closing => "closing".to_owned(),
        };
        self.bar.set_message(format!("{} · {phase}", self.trial));
    }

    fn rate(&mut self, replies: u64, elapsed: Duration) -> String {
        let (replies_before, elapsed_before) =
            std::mem::replace(&mut self.last, (replies, elapsed));
        let seconds = elapsed.saturating_sub(elapsed_before).as_secs_f64();
        let more = replies.saturating_sub(replies_before);
        if more == 0 || seconds <= 0.0 {
            return String::new();
        }
        format!(" · {}/s", count(more as f64 / seconds))
    }
}

/// How many connections are open, where that is told.
fn open(connections: u64) -> String {
    match connections {
        0 => String::new(),
        some => format!(" · {} open", count(some as f64)),
    }
}

/// `42 s`, `1 min 2 s`, `3 h 5 min`.
fn in_words(length: Duration) -> String {
    let seconds = length.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{} s", seconds.max(1)),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Whether a trial may wait for timeouts that nobody has foreseen: of the limits of servers that are not built in nothing is known.
fn may_take_longer(plan: &Plan) -> bool {
    let holds_many = matches!(plan.experiment, Experiment::Fanout | Experiment::Hold);
    let is_unknown = |target: &TargetRecord| target.kind != TargetKind::BuiltIn;
    holds_many && plan.targets.iter().any(is_unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_as_people_say_them() {
        for (milliseconds, words) in [
            (1, "1 s"),
            (41_600, "42 s"),
            (62_000, "1 min 2 s"),
            (11_100_000, "3 h 5 min"),
        ] {
            assert_eq!(in_words(Duration::from_millis(milliseconds)), words);
        }
    }
}
