//! The probes of all searches of a run, in turn: in each round every search that is not over makes one, in an order that is shuffled anew.
//!
//! So the probes of targets lie near each other in time, as trials do elsewhere. What a probe is to be is the search's affair ([`crate::search`]); here it is
//! made, judged, kept, and told which of them counts.

use std::time::Duration;

use throng_findings::limit_of_server;
use throng_record::{
    Check, CheckKind, CheckResult, Decision, Outcome, Pacing, Plan, Probe, Purpose, SearchEnd,
    SearchRecord, SearchSpec, Setting, Stop, SweptValue, Trial, Verdict,
};

use super::Conductor;
use crate::event::Event;
use crate::order::{Cell, SplitMix64};
use crate::search::decide::{decide, failure, length_ns};
use crate::search::{ATTEMPTS, Bounds, Search, Seen, State, Wanted};
use crate::store::StoreError;
use crate::trial::{Bench, Made};

/// The search at one target and setting, and the trials that it is about, by their places in the record.
struct Searching {
    target: u32,
    setting: u32,
    state: State,
    /// Made so far at the rate that is being probed.
    attempts: Vec<usize>,
    /// The last probe.
    last: Option<Wanted>,
    /// The one that counts of the repeat under way.
    best: Option<usize>,
}

impl Searching {
    fn new((place, (target, setting)): (usize, (u32, u32)), seed: u64) -> Self {
        Self {
            target,
            setting,
            state: State::new(seed.wrapping_add(place as u64)),
            attempts: vec![],
            last: None,
            best: None,
        }
    }

    fn record(&self) -> SearchRecord {
        let (saturated_per_second, brackets, ended) = self.state.found();
        SearchRecord {
            target: self.target,
            setting: self.setting,
            saturated_per_second,
            brackets: brackets.to_vec(),
            ended: ended.cloned().unwrap_or(SearchEnd::Interrupted),
        }
    }
}

impl Conductor<'_> {
    pub(super) fn search(
        &mut self,
        spec: &SearchSpec,
        bounds: &dyn Bounds,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StoreError> {
        let plan = self.bench.plan;
        let cells = plan.cells().enumerate();
        let mut all: Vec<Searching> = cells.map(|cell| Searching::new(cell, plan.seed)).collect();
        let mut random = SplitMix64::new(plan.seed);
        loop {
            let mut round: Vec<usize> = (0..all.len()).collect();
            random.shuffle(&mut round);
            let mut is_over = true;
            for place in round {
                if self.is_interrupted() {
                    return Ok(());
                }
                let of_target = plan.targets[all[place].target as usize]
                    .addresses
                    .is_empty();
                let search = Search {
                    spec,
                    repeats: plan.repeats,
                    is_running: !of_target,
                    spread: &|values| bounds.spread(values),
                };
                if let Some(wanted) = search.next(&all[place].state) {
                    is_over = false;
                    self.probe(&search, &mut all[place], wanted, bounds, on_event)?;
                    self.record.searches = all.iter().map(Searching::record).collect();
                    self.write()?;
                    self.tell_of_last(on_event);
                }
            }
            if is_over {
                self.record.trials_planned =
                    u32::try_from(self.record.trials.len()).unwrap_or(u32::MAX);
                return Ok(());
            }
        }
    }

    fn tell_of_last(&self, on_event: &mut dyn FnMut(Event<'_>)) {
        if let Some(trial) = self.record.trials.last() {
            let target = &self.bench.plan.targets[trial.target as usize];
            on_event(Event::TrialFinished { trial, target });
        }
    }

    /// Makes one, judges it, and says which one counts now.
    fn probe(
        &mut self,
        search: &Search<'_>,
        searching: &mut Searching,
        wanted: Wanted,
        bounds: &dyn Bounds,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StoreError> {
        let place = self.record.trials.len();
        if searching.last != Some(wanted) {
            searching.attempts.clear();
        }
        searching.last = Some(wanted);
        searching.attempts.push(place);
        let Made { trial, is_hopeless } =
            self.make_probe(searching, wanted, search.spec, bounds, on_event);
        let is_interrupted = trial.outcome == Outcome::Interrupted;
        self.record.trials.push(Trial {
            is_superseded: true,
            ..trial
        });
        if is_interrupted {
            return Ok(());
        }
        let (decision, because) = self.judge(searching, wanted, bounds);
        let trial = &mut self.record.trials[place];
        trial.probe = Some(Probe {
            purpose: wanted.purpose,
            offered_per_second: wanted.rate_per_second,
            decision,
            because: because.clone(),
        });
        let seen = Seen {
            decision,
            because,
            replies_per_second: trial
                .phases
                .exchange()
                .map_or(0.0, |phase| phase.replies_per_second),
            limit: limit_of_server(trial),
            failure: failure(trial)
                .or_else(|| is_hopeless.then(|| "it cannot be measured".to_owned())),
            took_ns: trial.duration_ns,
        };
        let repeats_before = searching.state.found().1.len();
        search.learn(&mut searching.state, &seen);
        self.count(searching, wanted, &seen, (place, repeats_before));
        Ok(())
    }

    fn make_probe(
        &mut self,
        searching: &Searching,
        wanted: Wanted,
        spec: &SearchSpec,
        bounds: &dyn Bounds,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Made {
        let order = u32::try_from(self.record.trials.len()).unwrap_or(u32::MAX);
        let mut plan: Plan = self.bench.plan.clone();
        // Each has arrivals of its own.
        plan.seed = plan.seed.wrapping_add(u64::from(order));
        let setting = &mut plan.settings[searching.setting as usize];
        pace(setting, wanted, spec, bounds.replies_needed());
        on_event(Event::TrialStarted {
            order,
            trials: self.record.trials_planned,
            target: &plan.targets[searching.target as usize],
            setting: &told(setting, wanted),
            repeat: wanted.repeat,
        });
        let bench = Bench {
            plan: &plan,
            ..self.bench
        };
        let cell = Cell {
            target: searching.target,
            setting: searching.setting,
            repeat: wanted.repeat,
            server_lives_on: false,
        };
        let mut on_progress = |phase, replies, elapsed: Duration| {
            on_event(Event::Progress {
                order,
                phase,
                replies,
                elapsed,
            });
        };
        let made = bench.make(cell, order, &mut self.servers, &mut on_progress);
        self.servers.end();
        made
    }

    fn judge(
        &self,
        searching: &Searching,
        wanted: Wanted,
        bounds: &dyn Bounds,
    ) -> (Decision, String) {
        if wanted.rate_per_second.is_none() {
            return (Decision::NotAsked, String::new());
        }
        let trials = searching.attempts.iter();
        let trials: Vec<&Trial> = trials.map(|&place| &self.record.trials[place]).collect();
        let is_last = trials.len() >= ATTEMPTS as usize || wanted.purpose == Purpose::Curve;
        decide(bounds, self.bench.plan, &trials, is_last)
    }

    /// Of each repeat the probe at the greatest rate at which the bounds held; where they hold at none, the last.
    fn count(
        &mut self,
        searching: &mut Searching,
        wanted: Wanted,
        seen: &Seen,
        (place, repeats_before): (usize, usize),
    ) {
        let trials = &mut self.record.trials;
        let is_of_repeat = matches!(wanted.purpose, Purpose::Calm | Purpose::Search);
        if is_of_repeat && seen.decision == Decision::Met {
            if let Some(before) = searching.best.replace(place) {
                trials[before].is_superseded = true;
            }
            trials[place].is_superseded = false;
            hold_nevertheless(&mut trials[place]);
        }
        let (_, brackets, ended) = searching.state.found();
        if brackets.len() > repeats_before {
            let best = searching.best.take();
            let bracket = brackets.last().filter(|bracket| bracket.is_generators);
            if let (Some(best), Some(bracket)) = (best, bracket) {
                be_a_bound(&mut trials[best], &bracket.missed_because);
            }
        } else if let (Some(best), true) = (searching.best, ended.is_some()) {
            // Of a repeat that was not finished.
            trials[best].is_superseded = true;
            searching.best = None;
        }
        let is_of_cell =
            |trial: &&Trial| trial.target == searching.target && trial.setting == searching.setting;
        if ended.is_some()
            && !trials
                .iter()
                .filter(is_of_cell)
                .any(|trial| !trial.is_superseded)
        {
            trials[place].is_superseded = false;
        }
    }
}

/// Gives a setting the rate of a probe, and the time that it needs.
fn pace(setting: &mut Setting, wanted: Wanted, spec: &SearchSpec, replies: u64) {
    let Some(exchange) = setting.phases.exchange_mut() else {
        return;
    };
    let Pacing::Open {
        outstanding,
        arrivals,
        spin,
        ..
    } = exchange.pacing
    else {
        return;
    };
    let Some(rate_per_second) = wanted.rate_per_second else {
        exchange.pacing = Pacing::Closed { outstanding };
        return;
    };
    exchange.pacing = Pacing::Open {
        rate_per_second,
        arrivals,
        outstanding,
        spin,
    };
    if let Stop::DurationNs(least_ns) = &mut exchange.stop {
        *least_ns = length_ns(spec, *least_ns, replies, rate_per_second);
    }
}

/// With its rate, for whoever shows how far a run is.
fn told(setting: &Setting, wanted: Wanted) -> Setting {
    let value = match wanted.rate_per_second {
        Some(rate) => format!("{}/s", throng_record::format::count(rate)),
        None => "as fast as it goes".to_owned(),
    };
    let mut told = setting.clone();
    told.swept.push(SweptValue {
        key: "rate".to_owned(),
        value,
    });
    told
}

/// That the generator was late is in the latencies, and the bounds hold with it: no reservation is left.
fn hold_nevertheless(trial: &mut Trial) {
    for check in &mut trial.checks {
        if check.kind == CheckKind::SchedulingError && check.result == CheckResult::Qualified {
            check.result = CheckResult::Passed;
            check
                .detail
                .push_str("; the bounds hold with that lateness in every latency");
        }
    }
    trial.verdict = Verdict::of(&trial.checks);
}

/// The generator was the limit above this rate: the server could do more.
fn be_a_bound(trial: &mut Trial, because: &str) {
    let rate = trial
        .probe
        .as_ref()
        .and_then(|probe| probe.offered_per_second)
        .unwrap_or_default();
    trial
        .checks
        .retain(|check| check.kind != CheckKind::GeneratorBound);
    trial.checks.push(Check {
        kind: CheckKind::GeneratorBound,
        result: CheckResult::Qualified,
        measured: None,
        bound: None,
        detail: format!(
            "the bounds held at {rate:.0}/s, and above it the generator was late itself ({because}): the server could do more than it was asked; the capacity is a lower bound. Give the generator more CPUs (cpus) and shards"
        ),
    });
    trial.verdict = Verdict::of(&trial.checks);
}
