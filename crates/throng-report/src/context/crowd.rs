//! The circumstances of the experiments with many connections: how they are opened, and what is then said to them.

use throng_record::{Arrivals, Sequence};

use super::told::{Told, quoted};
use crate::format::{exact, rate, setting_ns};

impl Told<'_> {
    /// Who connects how, is greeted with what, and hears what.
    pub(super) fn fanout(&self) -> Vec<String> {
        let mut phrases = vec![self.connections(), self.connects()];
        let asked = &self.setting.phases;
        if let Some(put) = asked.put() {
            let greeting = self.or_swept("greeting", || match asked.greeting() {
                Some(greeting) => quoted(greeting),
                None => "nothing".to_owned(),
            });
            let line = self.or_swept("line", || quoted(&put.line));
            phrases.push(format!(
                "each greeted with {greeting}; {line} put to one of them comes out of all"
            ));
            if let Some(sustain) = asked.sustain() {
                let lines = match self.swept("rate") {
                    Some(rates) => format!("{rates} lines/s"),
                    None => format!("{} lines/s", sustain.rate_per_second),
                };
                let gaps = self.or_swept("arrivals", || match sustain.arrivals {
                    Arrivals::Constant => "equal".to_owned(),
                    Arrivals::Exponential => "exponential".to_owned(),
                });
                let length = self.or_swept("duration", || setting_ns(sustain.duration_ns));
                phrases.push(format!("then {lines} for {length}, {gaps} gaps"));
            }
        }
        phrases.push(self.repeats());
        phrases
    }

    /// Who connects how, and is pinged after what time.
    pub(super) fn hold(&self) -> Vec<String> {
        let mut phrases = vec![self.connections(), self.connects()];
        let asked = &self.setting.phases;
        if let Some(hold_ns) = asked.hold_ns() {
            phrases.push(match (self.swept("hold"), hold_ns) {
                (Some(lengths), _) => format!("held for {lengths}"),
                (None, 0) => "not held".to_owned(),
                (None, length_ns) => format!("held for {}", setting_ns(length_ns)),
            });
            let pinged = |phases: &Sequence| phases.ping().map_or(0, |ping| ping.pings);
            let number = pinged(asked);
            let all = || self.plan.settings.iter();
            let are_all = all().all(|one| pinged(&one.phases) == one.connections);
            let pings = match self.swept("pings") {
                Some(pings) => format!("{pings} of them pinged"),
                None if number == 0 => "none pinged".to_owned(),
                None if are_all => "each pinged once".to_owned(),
                None => format!("{} of them pinged", exact(number.into())),
            };
            phrases.push(match number {
                0 => pings,
                _ => format!("{pings}: {}", self.protocol().unwrap_or_default()),
            });
        }
        phrases.push(self.repeats());
        phrases
    }

    /// `connected one after another`, `connected 64 at a time by each thread, 1.00 k/s`.
    fn connects(&self) -> String {
        let how = match (
            self.swept("connect-concurrency"),
            self.setting.connect_concurrency,
        ) {
            (Some(numbers), _) => format!("connected {numbers} at a time"),
            (None, 1) => "connected one after another".to_owned(),
            (None, number) => format!("connected {number} at a time by each thread"),
        };
        let own = self.setting.connect_rate_per_second;
        match (self.swept("connect-rate"), own) {
            (Some(rates), _) => format!("{how}, {rates} a second"),
            (None, Some(per_second)) => format!("{how}, {}", rate(per_second)),
            (None, None) => how,
        }
    }
}
