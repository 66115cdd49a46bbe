//! How far a run is: a line on standard error before it starts, and a bar while it goes on where that is a terminal.

use std::time::{Duration, Instant};

use anstream::eprintln;
use indicatif::{ProgressBar, ProgressStyle};
use throng_lab::{Event, TrialPhase};
use throng_record::format::{count, plural};
use throng_record::{PhaseName, Plan, Setting, TargetKind, TargetRecord};
use throng_report::setting::heading;

use crate::failure::note;

/// The progress of one run.
pub(crate) struct Progress {
    /// Hidden by itself where standard error is no terminal.
    bar: ProgressBar,
    trial: String,
    /// Replies and time at the last event, for the rate between two events.
    last: (u64, Duration),
    since: Instant,
    estimate: Duration,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            trial: String::new(),
            last: (0, Duration::ZERO),
            since: Instant::now(),
            estimate: Duration::ZERO,
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
                self.show(&self.trial);
            }
            Event::Progress {
                phase,
                replies,
                elapsed,
                ..
            } => self.go_on(phase, replies, elapsed),
            Event::MakingAgain { trials, left } => {
                self.bar.inc_length(trials.into());
                self.show(&format!(
                    "{} disturbed, made again for {} at most",
                    plural(trials.into(), "trial"),
                    in_words(left)
                ));
            }
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
        self.since = Instant::now();
        self.estimate = estimate;
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
        self.show(&format!("{} · {phase}", self.trial));
    }

    fn show(&self, words: &str) {
        let elapsed = self.since.elapsed();
        let made = self.bar.position();
        let all = self.bar.length().unwrap_or(made);
        let left = remaining(self.estimate, elapsed, (made, all));
        let (elapsed, left) = (in_words(elapsed), in_words(left));
        self.bar
            .set_message(format!("{elapsed}, about {left} left · {words}"));
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

/// What is left of a run of which `made` of `all` trials are made: first as estimated, then at the pace so far.
fn remaining(estimate: Duration, elapsed: Duration, (made, all): (u64, u64)) -> Duration {
    // Trials differ in length, so that the pace of the first few says little.
    const TRIALS_FOR_HALF: f64 = 3.0;
    let (made, left) = (made as f64, all.saturating_sub(made) as f64);
    let trust = made / (made + TRIALS_FOR_HALF);
    let by_pace = elapsed.as_secs_f64() * left / made.max(1.0);
    let as_estimated = estimate.saturating_sub(elapsed).as_secs_f64();
    // A day and more is not told in seconds.
    Duration::from_secs_f64((trust * by_pace + (1.0 - trust) * as_estimated).min(1e6))
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
    let is_of_many = |setting: &Setting| {
        [PhaseName::Get, PhaseName::Hold]
            .iter()
            .any(|&phase| setting.phases.has(phase))
    };
    let holds_many = plan.settings.iter().any(is_of_many);
    let is_unknown = |target: &TargetRecord| target.kind != TargetKind::BuiltIn;
    holds_many && plan.targets.iter().any(is_unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_estimated_first_and_then_told_by_the_pace() {
        let of = |elapsed, made| {
            let of_all = (made, 100);
            remaining(
                Duration::from_secs(100),
                Duration::from_secs(elapsed),
                of_all,
            )
            .as_secs()
        };
        assert_eq!(of(0, 0), 100);
        assert_eq!(of(3, 1), 147, "a quarter of 297 s and three of 97 s");
        // Twice as slow as estimated.
        assert!((90..=100).contains(&of(100, 50)), "{}", of(100, 50));
        assert_eq!(of(190, 100), 0);
    }

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
