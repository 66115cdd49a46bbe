//! How a run does on a disturbed machine: rows ranked, and the order of the models beside that of a quiet run, by several statistics.
//!
//! One run is made as it is and taken for the quiet one; the others beside neighbours: loops of this program that use each CPU for random stretches. The order is compared
//! by Kendall's τ over the pairs that the quiet run tells apart, those whose intervals do not overlap: (pairs in the same order − pairs in the other) ÷ pairs.

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

const MODELS: [&str; 8] = [
    "poll",
    "epoll-level",
    "epoll-edge",
    "io-uring",
    "tokio",
    "smol",
    "thread-per-connection",
    "compio",
];

/// What the models are ordered by, of the trials of one model.
type Statistic = (&'static str, fn(&[&Trial]) -> Option<Estimate>);
const STATISTICS: [Statistic; 4] = [
    ("rate of the trials that count", |trials| {
        estimate(trials, false, rate)
    }),
    ("rate of all attempts", |trials| {
        estimate(trials, true, rate)
    }),
    ("rate ÷ what was not taken of the CPUs", |trials| {
        estimate(trials, false, |trial| Some(rate(trial)? / left(trial)))
    }),
    ("messages per CPU second of both sides", |trials| {
        estimate(trials, false, |trial| Some(1.0 / cpu_per_message(trial)?))
    }),
];

pub(super) fn run(bench: &Bench) -> Result<()> {
    let runs = std::env::temp_dir().join(format!("throng-bench-{}", std::process::id()));
    let outcome = compare(bench, &runs);
    let _ = std::fs::remove_dir_all(&runs);
    outcome
}

fn compare(bench: &Bench, runs: &Path) -> Result<()> {
    let quiet = echo(runs)?;
    println!("quiet     {}", quiet.words());
    let mut taus = vec![Vec::new(); STATISTICS.len()];
    for round in 1..=bench.rounds {
        let made = beside_neighbours(|| echo(runs))?;
        println!("noise {round:>3} {}", made.words());
        for (statistic, taus) in STATISTICS.iter().zip(&mut taus) {
            taus.extend(tau(&order(&quiet, *statistic), &order(&made, *statistic)));
        }
    }
    for ((name, _), taus) in STATISTICS.iter().zip(&taus) {
        let least = taus.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = median::estimate(taus).ok_or("no pair is told apart")?;
        println!(
            "  τ by {name:<40} median {:.2}, least {least:.2}",
            middle.median
        );
    }
    Ok(())
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
        let ranked = (0..MODELS.len() as u32)
            .filter(|&target| {
                let mut of_target = counted.iter().filter(|trial| trial.target == target);
                of_target.any(|trial| trial.verdict != throng_record::Verdict::Invalid)
            })
            .count();
        format!(
            "{ranked} of {} rows ranked, {disturbed} of {} trials disturbed, {} made, {} lines, exit code {:?}, {:.0} s",
            MODELS.len(),
            counted.len(),
            self.record.trials.len(),
            self.lines,
            self.code,
            self.seconds
        )
    }
}

fn echo(runs: &Path) -> Result<Made> {
    let since = Instant::now();
    let output = Command::new(release("throng"))
        .arg("echo")
        .args(MODELS)
        .args(["--connections", "100", "--duration", "500ms"])
        .arg("--runs-dir")
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
fn beside_neighbours<T>(act: impl FnOnce() -> T) -> T {
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

fn order(made: &Made, (_, statistic): Statistic) -> Vec<Option<Estimate>> {
    let of_target = |target| {
        let trials = made.record.trials.iter();
        let trials: Vec<&Trial> = trials.filter(|trial| trial.target == target).collect();
        statistic(&trials)
    };
    (0..MODELS.len() as u32).map(of_target).collect()
}

/// `None` where the quiet run tells nothing apart.
fn tau(quiet: &[Option<Estimate>], other: &[Option<Estimate>]) -> Option<f64> {
    let (mut same, mut pairs) = (0.0, 0.0);
    for one in 0..quiet.len() {
        for two in one + 1..quiet.len() {
            let (Some(a), Some(b)) = (quiet[one], quiet[two]) else {
                continue;
            };
            if a.overlaps(&b) {
                continue;
            }
            pairs += 1.0;
            if let (Some(c), Some(d)) = (other[one], other[two]) {
                same += ((a.median - b.median) * (c.median - d.median)).signum();
            }
        }
    }
    (pairs > 0.0).then(|| same / pairs)
}

fn estimate(
    trials: &[&Trial],
    with_superseded: bool,
    figure: impl Fn(&Trial) -> Option<f64>,
) -> Option<Estimate> {
    let trials = trials.iter();
    let counted = trials.filter(|trial| with_superseded || !trial.is_superseded);
    let figures: Vec<f64> = counted.filter_map(|trial| figure(trial)).collect();
    median::estimate(&figures)
}

fn rate(trial: &Trial) -> Option<f64> {
    Some(trial.exchange.as_ref()?.replies_per_second)
}

/// The share of both sides' CPUs that neither the hypervisor nor other programs took.
fn left(trial: &Trial) -> f64 {
    let sides = [&trial.server, &trial.generator].into_iter().flatten();
    let (taken, all) = sides.fold((0.0, 0.0), |(taken, all), side| {
        let own = side.stolen_ns.unwrap_or(0) + side.others_ns.unwrap_or(0);
        let whole = side.window_ns as f64 * side.cpus.len() as f64;
        (taken + own as f64, all + whole)
    });
    if all > 0.0 {
        (1.0 - taken / all).max(0.01)
    } else {
        1.0
    }
}

fn cpu_per_message(trial: &Trial) -> Option<f64> {
    let of = |side: &Option<throng_record::SideRecord>| side.as_ref()?.cpu_per_message_ns;
    Some((of(&trial.server)? + of(&trial.generator)?) / 1e9)
}
