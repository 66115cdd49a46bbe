//! A figure is a value: what one number is called, in which unit it is, which way is better, what it says, and how it comes out of trials.
//!
//! Everything that is exported, shown in a table or compared is a figure; nothing knows a number in another way. A trial has a figure or has not
//! (`Figure::of_trial`); a row has it over the trials that it stands on (`Figure::of_row`): the median with its spread, or what the figure itself says is
//! right for it, such as the percentile of all latencies together or the sum of all failures. Which figures there are is told in [`crate::figures`].

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use throng_findings::counter_change;
use throng_record::{Histogram, PhaseName, Plan, Setting, TargetKind, TargetRecord, Trial};

use crate::cost::Part;
use crate::median::{self, Spread};
use crate::merge::{Live, Merges};
use crate::unit::{Better, Unit};

/// What a row has of the numbers of its trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Median,
    Sum,
    Least,
    Greatest,
}

/// A point of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantile {
    Mean,
    P50,
    P90,
    P99,
    P999,
    P9999,
    Max,
}

/// A trial and the plan that it is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneTrial<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) trial: &'a Trial,
}

/// How a number comes out of a trial; absent where it has none.
type Number = Arc<dyn Fn(&OneTrial<'_>) -> Option<f64> + Send + Sync>;
/// A part and the whole that it is of.
type Parts = fn(&OneTrial<'_>) -> Option<(u64, u64)>;
/// Latencies of a trial.
pub(crate) type Latencies = fn(&Trial) -> Option<&Histogram>;

#[derive(Clone)]
enum Source {
    Number(Number, Over),
    Share(Parts),
    Latency(Latencies, Quantile),
    Cost(PhaseName, Part),
}

/// What a number is. Fields that are public are told to people.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure {
    /// Its name everywhere: in files, in JSON, on the command line.
    pub key: Cow<'static, str>,
    /// Above a column, in one or two lines.
    pub heading: Cow<'static, str>,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// What it says: from which instant to which, of what.
    pub sentence: Cow<'static, str>,
    #[serde(skip)]
    source: Source,
}

/// By its key: how it comes out of trials is code.
impl std::fmt::Debug for Figure {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.key.fmt(to)
    }
}

/// A figure of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found {
    /// The figure.
    pub value: f64,
    /// How far those of single trials lie apart; absent for what is no median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Trials that have it.
    pub trials: u32,
}

impl Figure {
    /// A number of each trial, whose median a row has. Whether less or more is better follows from the unit, unless [`Self::neither`] and its like say
    /// otherwise.
    pub(crate) fn number(
        key: impl Into<Cow<'static, str>>,
        heading: impl Into<Cow<'static, str>>,
        unit: Unit,
        sentence: impl Into<Cow<'static, str>>,
        of: impl Fn(&OneTrial<'_>) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Self {
            key: key.into(),
            heading: heading.into(),
            unit,
            better: match unit {
                Unit::Nanoseconds | Unit::Bytes | Unit::Times => Better::Less,
                Unit::PerSecond | Unit::Share => Better::More,
                Unit::Count | Unit::Index => Better::Neither,
            },
            sentence: sentence.into(),
            source: Source::Number(Arc::new(of), Over::Median),
        }
    }

    /// A number of things.
    pub(crate) fn count(
        key: impl Into<Cow<'static, str>>,
        heading: impl Into<Cow<'static, str>>,
        sentence: impl Into<Cow<'static, str>>,
        of: impl Fn(&OneTrial<'_>) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Self::number(key, heading, Unit::Count, sentence, of)
    }

    /// What went wrong so often: of a row all of it.
    pub(crate) fn failures(
        key: impl Into<Cow<'static, str>>,
        heading: impl Into<Cow<'static, str>>,
        sentence: impl Into<Cow<'static, str>>,
        of: impl Fn(&OneTrial<'_>) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        let figure = Self::count(key, heading, sentence, of).sum();
        Self {
            better: Better::Less,
            ..figure
        }
    }

    /// A part of a whole, the less the better: of a row that of all its trials together.
    pub(crate) fn share(
        key: &'static str,
        heading: &'static str,
        sentence: &'static str,
        of: Parts,
    ) -> Self {
        Self {
            key: key.into(),
            heading: heading.into(),
            unit: Unit::Share,
            better: Better::Less,
            sentence: sentence.into(),
            source: Source::Share(of),
        }
    }

    /// Quantiles of the same latencies: `prefix_ns_p50` and its like.
    pub(crate) fn latencies(
        prefix: impl std::fmt::Display,
        heading: &'static str,
        sentence: &'static str,
        quantiles: &[Quantile],
        of: Latencies,
    ) -> Vec<Self> {
        let figure = |quantile: &Quantile| {
            let word = quantile.word();
            let heading = match heading {
                "" => word.to_owned(),
                heading => format!("{heading}\n{word}"),
            };
            Self {
                key: format!("{prefix}_ns_{}", quantile.suffix()).into(),
                heading: heading.into(),
                unit: Unit::Nanoseconds,
                better: Better::Less,
                sentence: format!("{sentence}: {}.", quantile.in_words()).into(),
                source: Source::Latency(of, *quantile),
            }
        };
        quantiles.iter().map(figure).collect()
    }

    /// What a phase cost one of the sides.
    pub(crate) fn cost(phase: PhaseName, part: Part) -> Self {
        Self {
            key: part.key(phase).into(),
            heading: part.heading(phase).into(),
            unit: part.unit(),
            better: part.better(),
            sentence: part.sentence(phase).into(),
            source: Source::Cost(phase, part),
        }
    }

    pub(crate) fn neither(self) -> Self {
        Self {
            better: Better::Neither,
            ..self
        }
    }

    pub(crate) fn less(self) -> Self {
        Self {
            better: Better::Less,
            ..self
        }
    }

    pub(crate) fn sum(self) -> Self {
        self.over(Over::Sum)
    }

    pub(crate) fn least(self) -> Self {
        self.over(Over::Least)
    }

    pub(crate) fn greatest(self) -> Self {
        self.over(Over::Greatest)
    }

    fn over(self, over: Over) -> Self {
        let source = match self.source {
            Source::Number(of, _) => Source::Number(of, over),
            other => other,
        };
        Self { source, ..self }
    }

    /// Where it is a point of a distribution, which one: what it is called behind the name of the distribution.
    #[must_use]
    pub fn quantile(&self) -> Option<&'static str> {
        match self.source {
            Source::Latency(_, quantile) => Some(quantile.suffix()),
            Source::Number(..) | Source::Share(_) | Source::Cost(..) => None,
        }
    }

    /// The name that all points of its distribution begin with; of any other figure its key.
    #[must_use]
    pub fn stem(&self) -> &str {
        let end = self.quantile().unwrap_or_default();
        self.key.strip_suffix(end).unwrap_or(&self.key)
    }

    /// What its distribution is called: `connect_latency`.
    pub(crate) fn distribution(&self) -> &str {
        self.stem().trim_end_matches("_ns_")
    }

    /// Whether it is the point of its distribution that stands for the whole of it where each is to be met once.
    pub(crate) fn stands_for_distribution(&self) -> bool {
        self.quantile() == Some(Quantile::P50.suffix())
    }

    /// Its heading in one line.
    pub(crate) fn heading_in_line(&self) -> String {
        self.heading.replace("\n/", " /").replace('\n', " ")
    }

    /// The distribution that it is a point of, in one trial.
    pub(crate) fn latencies_of<'a>(&self, trial: &'a Trial) -> Option<&'a Histogram> {
        match self.source {
            Source::Latency(of, _) => of(trial),
            Source::Number(..) | Source::Share(_) | Source::Cost(..) => None,
        }
    }

    /// The distribution that it is a point of, of all messages of these trials.
    pub(crate) fn all_latencies<'a>(
        &self,
        trials: &[&Trial],
        merges: &'a mut Merges,
    ) -> Option<&'a Live> {
        match self.source {
            Source::Latency(of, _) => merges.of(self.stem(), trials, of).ok()?,
            Source::Number(..) | Source::Share(_) | Source::Cost(..) => None,
        }
    }

    /// The figure of one trial, whatever the trial is worth.
    pub(crate) fn of_trial(&self, one: &OneTrial<'_>) -> Option<f64> {
        match &self.source {
            Source::Number(of, _) => of(one),
            Source::Share(of) => share_of(of(one)?),
            Source::Latency(of, quantile) => {
                let latencies = of(one.trial).filter(|latencies| latencies.count > 0)?;
                Some(quantile.of_stored(latencies))
            }
            Source::Cost(phase, part) => part.of(one.trial.phases.cost(*phase)?),
        }
    }

    /// The figure of a row that stands on these trials; an error where a histogram of the record cannot be read.
    pub(crate) fn of_row(
        &self,
        plan: &Plan,
        trials: &[&Trial],
        merges: &mut Merges,
    ) -> Result<Option<Found>, String> {
        let of_trial = |trial: &&Trial| self.of_trial(&OneTrial { plan, trial });
        let values: Vec<f64> = trials.iter().filter_map(of_trial).collect();
        let Some(median) = median::estimate(&values) else {
            return Ok(None);
        };
        let (value, spread) = match &self.source {
            Source::Number(_, Over::Median) | Source::Cost(..) => {
                (median.median, Some(median.spread))
            }
            Source::Number(_, Over::Sum) => (values.iter().sum(), None),
            Source::Number(_, Over::Least) => {
                (values.iter().copied().fold(f64::MAX, f64::min), None)
            }
            Source::Number(_, Over::Greatest) => {
                (values.iter().copied().fold(f64::MIN, f64::max), None)
            }
            Source::Share(of) => {
                let parts = trials
                    .iter()
                    .filter_map(|&trial| of(&OneTrial { plan, trial }));
                let all = parts.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
                match share_of(all) {
                    Some(share) => (share, None),
                    None => return Ok(None),
                }
            }
            Source::Latency(of, quantile) => match merges.of(self.stem(), trials, *of)? {
                Some(all) => (quantile.of_live(all), Some(median.spread)),
                None => return Ok(None),
            },
        };
        Ok(Some(Found {
            value,
            spread,
            trials: median.values,
        }))
    }
}

/// At most the whole: what is counted apart may be counted a little later.
fn share_of((part, whole): (u64, u64)) -> Option<f64> {
    (whole > 0).then(|| (part as f64 / whole as f64).min(1.0))
}

impl Quantile {
    /// Those that are told of most distributions.
    pub(crate) const THREE: [Self; 3] = [Self::P50, Self::P99, Self::Max];

    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99_9",
            Self::P9999 => "p99_99",
            Self::Max => "max",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::P999 => "p99.9",
            Self::P9999 => "p99.99",
            other => other.suffix(),
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Mean => "the mean",
            Self::P50 => "the median",
            Self::P90 => "the 90th percentile",
            Self::P99 => "the 99th percentile",
            Self::P999 => "the 99.9th percentile",
            Self::P9999 => "the 99.99th percentile",
            Self::Max => "the greatest",
        }
    }

    fn of_stored(self, stored: &Histogram) -> f64 {
        let nanoseconds = match self {
            Self::Mean => return stored.mean_ns,
            Self::P50 => stored.p50_ns,
            Self::P90 => stored.p90_ns,
            Self::P99 => stored.p99_ns,
            Self::P999 => stored.p99_9_ns,
            Self::P9999 => stored.p99_99_ns,
            Self::Max => stored.max_ns,
        };
        nanoseconds as f64
    }

    fn of_live(self, live: &Live) -> f64 {
        let at = |quantile| live.value_at_quantile(quantile) as f64;
        match self {
            Self::Mean => live.mean(),
            Self::P50 => at(0.5),
            Self::P90 => at(0.9),
            Self::P99 => at(0.99),
            Self::P999 => at(0.999),
            Self::P9999 => at(0.9999),
            Self::Max => live.max() as f64,
        }
    }
}

impl<'a> OneTrial<'a> {
    pub(crate) fn setting(&self) -> Option<&'a Setting> {
        self.plan.settings.get(self.trial.setting as usize)
    }

    pub(crate) fn target(&self) -> Option<&'a TargetRecord> {
        self.plan.targets.get(self.trial.target as usize)
    }

    /// Whether its server was there before the run, on this host or elsewhere.
    fn is_running(&self) -> bool {
        self.target()
            .is_some_and(|target| target.kind == TargetKind::Running)
    }

    /// By how much a counter of the networks of the sides that count it grew. The record keeps those that changed; where others did, this one did
    /// not. Absent where none was read.
    pub(crate) fn counter(&self, name: &str) -> Option<i64> {
        let hosts = self.trial.hosts.iter().map(|host| &host.kernel_counters);
        let mut networks = std::iter::once(&self.trial.kernel_counters).chain(hosts);
        let is_server_here = self.trial.hosts.is_empty() || self.is_listener_here();
        let change = || counter_change(self.trial, name, is_server_here);
        networks.any(|counters| !counters.is_empty()).then(change)
    }

    /// A counter of the listener's side. Of a server that runs elsewhere the counters are not ours, and that it is here is known by its listener having been
    /// found. Fewer than before: others' are counted too, and nothing can be told.
    pub(crate) fn counter_of_listener(&self, name: &str) -> Option<f64> {
        let change = self.counter(name).filter(|_| self.is_listener_here())?;
        u64::try_from(change).ok().map(|change| change as f64)
    }

    fn is_listener_here(&self) -> bool {
        !self.is_running() || self.trial.accept_queue.is_some()
    }
}
