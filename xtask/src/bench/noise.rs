//! How `throng run` does on a disturbed machine: rows ranked, and the order of the models beside that of quiet runs, by the rate and by CPU time per message.
//!
//! Runs are made in turn as the machine is, with what its hypervisor takes, and with neighbours: loops of this program that use each CPU for random
//! stretches. Three runs before them are the quiet one: of all their trials, those that nothing disturbed. Orders are compared by Kendall's τ over
//! the pairs of models, at the same number of connections, that the quiet run tells apart, those whose intervals do not overlap: (pairs in the same order − pairs
//! in the other) ÷ pairs.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use throng_record::{RunRecord, Trial};
use throng_report::median::{self, Estimate};
use throng_sys::affinity;

use super::Bench;
use super::peers::release;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs that the quiet one is made of.
const QUIET_RUNS: u32 = 3;

/// What models are ordered by.
struct Statistic {
    name: &'static str,
    of_trial: fn(&Trial) -> Option<f64>,
}

const STATISTICS: [Statistic; 2] = [
    Statistic {
        name: "rate",
        of_trial: rate,
    },
    Statistic {
        name: "messages per CPU second",
        of_trial: |trial| Some(1.0 / cpu_seconds_per_message(trial)?),
    },
];

/// The figure of each row, by setting and target.
type Rows = BTreeMap<(u32, u32), Estimate>;

pub(super) fn run(bench: &Bench) -> Result<()> {
    let runs = std::env::temp_dir().join(format!("throng-bench-{}", std::process::id()));
    let outcome = compare(bench, &runs);
    let _ = std::fs::remove_dir_all(&runs);
    outcome
}

fn compare(bench: &Bench, runs: &Path) -> Result<()> {
    let mut quiet = Vec::new();
    for round in 1..=QUIET_RUNS {
        let made = tour(runs)?;
        println!("quiet {round}: {}", made.words());
        quiet.extend(made.record.trials);
    }
    quiet.retain(|trial| trial.stands() && !trial.is_disturbed());
    let mut compared = [(); 2].map(|()| Compared::of(&quiet));
    for round in 1..=bench.rounds {
        for (beside, compared) in ["alone", "with neighbours"].iter().zip(&mut compared) {
            let made = match *beside {
                "alone" => tour(runs)?,
                _ => with_neighbours(|| tour(runs))?,
            };
            compared.add(&made.record.trials);
            println!("{round}, {beside}: {}; {}", made.words(), compared.last());
        }
    }
    for (beside, compared) in ["alone", "with neighbours"].iter().zip(&compared) {
        println!("{beside}:");
        compared.print();
    }
    Ok(())
}

/// What each statistic made of the runs.
struct Compared {
    quiet: [Rows; STATISTICS.len()],
    taus: [Vec<f64>; STATISTICS.len()],
    pairs: [usize; STATISTICS.len()],
    /// Pairs that a run told apart the wrong way round.
    wrong: [usize; STATISTICS.len()],
}

impl Compared {
    fn of(quiet: &[Trial]) -> Self {
        Self {
            quiet: STATISTICS
                .each_ref()
                .map(|statistic| rows(quiet, statistic)),
            taus: Default::default(),
            pairs: Default::default(),
            wrong: Default::default(),
        }
    }

    fn add(&mut self, trials: &[Trial]) {
        for (which, statistic) in STATISTICS.iter().enumerate() {
            let made = rows(trials, statistic);
            let (mut same, mut pairs) = (0.0, 0);
            for (one, two) in told_apart(&self.quiet[which]) {
                let (Some(a), Some(b)) = (made.get(&one), made.get(&two)) else {
                    continue;
                };
                let (quiet_a, quiet_b) = (self.quiet[which][&one], self.quiet[which][&two]);
                let agreement =
                    ((quiet_a.median - quiet_b.median) * (a.median - b.median)).signum();
                same += agreement;
                pairs += 1;
                if agreement < 0.0 && !a.overlaps(b) {
                    self.wrong[which] += 1;
                }
            }
            self.pairs[which] += pairs;
            self.taus[which].push(same / f64::from(u32::try_from(pairs).unwrap_or(u32::MAX)));
        }
    }

    /// What became of the last run.
    fn last(&self) -> String {
        let taus = self.taus.iter().filter_map(|taus| taus.last());
        let taus: Vec<String> = taus.map(|tau| format!("{tau:.3}")).collect();
        format!("τ {}", taus.join(" "))
    }

    fn print(&self) {
        for (which, statistic) in STATISTICS.iter().enumerate() {
            let Some(middle) = median::estimate(&self.taus[which]) else {
                continue;
            };
            let least = self.taus[which]
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min);
            println!(
                "  τ by {:<32} median {:.3}, least {least:.3}; {} of {} pairs told apart the wrong way round",
                statistic.name, middle.median, self.wrong[which], self.pairs[which]
            );
        }
    }
}

/// Pairs of rows with the same setting whose intervals do not overlap.
fn told_apart(rows: &Rows) -> Vec<((u32, u32), (u32, u32))> {
    let mut pairs = Vec::new();
    for (one, a) in rows {
        let later = rows.range(one..).skip(1);
        let of_setting = later.take_while(|((setting, _), _)| *setting == one.0);
        pairs.extend(
            of_setting
                .filter(|(_, b)| !a.overlaps(b))
                .map(|(two, _)| (*one, *two)),
        );
    }
    pairs
}

fn rows(trials: &[Trial], statistic: &Statistic) -> Rows {
    let mut figures: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    let counted = trials
        .iter()
        .filter(|trial| trial.stands() && !trial.is_superseded);
    for trial in counted {
        let row = figures.entry((trial.setting, trial.target)).or_default();
        row.extend((statistic.of_trial)(trial));
    }
    let rows = figures.into_iter();
    rows.filter_map(|(row, figures)| Some((row, median::estimate(&figures)?)))
        .collect()
}

/// One run, and what it looked like to its user.
struct Made {
    record: RunRecord,
    lines: usize,
    code: Option<i32>,
    seconds: f64,
}

impl Made {
    fn words(&self) -> String {
        let counted: Vec<&Trial> = self.record.counted().collect();
        let disturbed = counted.iter().filter(|trial| trial.is_disturbed()).count();
        let rows = self.record.plan.targets.len() * self.record.plan.settings.len();
        let standing = counted.iter().filter(|trial| trial.stands());
        let ranked: std::collections::BTreeSet<(u32, u32)> = standing
            .map(|trial| (trial.setting, trial.target))
            .collect();
        format!(
            "{} of {rows} rows ranked, {} trials made for {}, {disturbed} of these disturbed, {} lines, exit code {:?}, {:.0} s",
            ranked.len(),
            self.record.trials.len(),
            counted.len(),
            self.lines,
            self.code,
            self.seconds
        )
    }
}

fn tour(runs: &Path) -> Result<Made> {
    let since = Instant::now();
    let output = Command::new(release("throng"))
        .args(["run", "--runs-dir"])
        .arg(runs)
        .output()?;
    let entry = std::fs::read_dir(runs)?.next().ok_or("no run was kept")??;
    let text = std::fs::read_to_string(entry.path().join("run.json"))?;
    std::fs::remove_dir_all(runs)?;
    Ok(Made {
        record: throng_record::schema::read(&text)?,
        lines: String::from_utf8_lossy(&output.stdout).lines().count(),
        code: output.status.code(),
        seconds: since.elapsed().as_secs_f64(),
    })
}

/// Does something while a loop on each CPU works for some milliseconds and rests for others, a third of the time on average.
fn with_neighbours<T>(act: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for cpu in affinity::allowed_cpus() {
            let is_over = &is_over;
            scope.spawn(move || {
                let _ = affinity::set_current_thread(&[cpu]);
                // A fixed sequence: xorshift, by Marsaglia.
                let mut random = 0x9e37_79b9_u32 ^ cpu;
                while !is_over.load(Ordering::Relaxed) {
                    random ^= random << 13;
                    random ^= random >> 17;
                    random ^= random << 5;
                    let works = Duration::from_millis(u64::from(random % 100));
                    let until = Instant::now() + works;
                    while Instant::now() < until {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(Duration::from_millis(u64::from(random / 7 % 200)));
                }
            });
        }
        let done = act();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

fn rate(trial: &Trial) -> Option<f64> {
    Some(trial.phases.exchange()?.replies_per_second)
}

fn cpu_seconds_per_message(trial: &Trial) -> Option<f64> {
    let of = |side: &Option<throng_record::SideRecord>| side.as_ref()?.cpu_per_message_ns;
    Some((of(&trial.server)? + of(&trial.generator)?) / 1e9)
}
