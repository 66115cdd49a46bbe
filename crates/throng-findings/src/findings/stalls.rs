//! Stalls: the whole server stopped answering for a stretch, and went on.
//!
//! The generator keeps the silences of its window: stretches of 50 ms and more in which no connection got a reply, although eight or more waited
//! that had begun to wait about when the silence began (`throng-load/src/shard/exchange/silence.rs`). A silence is a stall
//! - where it is longer than the service explains: twice as long as half of the replies took. Clients of a slow server that ask all at
//!   once are answered in waves, with silences as long as the service;
//! - where many replies are missing in it, by the rate of the window: of a few connections each may wait for something of its own;
//! - and where silence is not the rule.
//!
//! What the generator missed itself is subtracted. Where the hypervisor took the server's CPUs, or other programs may have had
//! them, for half as long as all stalls together, the machine may be why, and there is no finding. Other programs take turns with the server
//! at no fixed times: they explain no stalls that come at equal intervals.

use throng_record::SideRecord;
use throng_record::finding::Stalls;
use throng_record::format::{plural, times};

use super::clause::{maybe, percent, time};
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "stalls",
    title: "Stalls",
    page: include_str!("../../../../docs/findings/stalls.md"),
};

/// What is left of a silence without what the generator missed. It reads a reply up to 20 ms late without noticing: 30 ms at least are the server's.
const STALL_NS_MIN: u64 = 50_000_000;
/// As many times as long as the median reply took.
const TIMES_MEDIAN_MIN: u64 = 2;
/// So many replies were to be expected: where replies come by chance, none comes instead once in e³⁰ times.
const REPLIES_MISSING_MIN: f64 = 30.0;
/// Silences for a third of the window are how the server works.
const SILENT_SHARE_MAX: f64 = 1.0 / 3.0;
/// Less costs hardly any client anything.
const STALLED_SHARE_MIN: f64 = 0.01;
/// A single one that is shorter may be anything's doing.
const SINGLE_NS_MIN: u64 = 100_000_000;
/// Intervals between stalls that differ from their median by no more are equal.
const IRREGULARITY_MAX: f64 = 0.05;

/// A silence without what the generator missed of it.
#[derive(Clone, Copy, Debug)]
struct Stall {
    at_ns: u64,
    length_ns: u64,
    waiting: u32,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Stalls> {
    let exchange = evidence.phases().exchange()?;
    let window_ns = exchange.duration_ns;
    let median_latency_ns = exchange.latency.p50_ns;
    let silent: Vec<Stall> = exchange
        .silences
        .iter()
        .map(|silence| Stall {
            at_ns: silence.at_ns,
            length_ns: silence
                .duration_ns
                .saturating_sub(silence.generator_late_ns),
            waiting: silence.waiting,
        })
        .collect();
    let is_stall = |stall: &&Stall| {
        let missing = exchange.replies_per_second * stall.length_ns as f64 / 1e9;
        stall.length_ns >= STALL_NS_MIN.max(TIMES_MEDIAN_MIN * median_latency_ns)
            && missing >= REPLIES_MISSING_MIN
    };
    let stalls: Vec<Stall> = silent.iter().filter(is_stall).copied().collect();
    let share = |stalls: &[Stall]| length_ns(stalls) as f64 / window_ns.max(1) as f64;
    let longest_ns = stalls.iter().map(|stall| stall.length_ns).max()?;
    let is_single = stalls.len() == 1;
    let period_ns = period_ns(&stalls, longest_ns);
    if share(&silent) > SILENT_SHARE_MAX
        || share(&stalls) < STALLED_SHARE_MIN
        || is_single && longest_ns < SINGLE_NS_MIN
        || may_be_the_machines(evidence, length_ns(&stalls), period_ns.is_some())
    {
        return None;
    }
    Some(Stalls {
        stalls: stalls.len() as u32,
        stall_ns_median: median(stalls.iter().map(|stall| stall.length_ns)),
        stall_ns_max: longest_ns,
        period_ns,
        share_of_window: share(&stalls),
        waiting_max: stalls.iter().map(|stall| stall.waiting).max()?,
        latency_ns_median: median_latency_ns,
    })
}

fn length_ns(stalls: &[Stall]) -> u64 {
    stalls.iter().map(|stall| stall.length_ns).sum()
}

/// From the begin of one to that of the next, where that is always the same. Stalls of less than half the longest may be others that came between.
fn period_ns(stalls: &[Stall], longest_ns: u64) -> Option<u64> {
    let is_long = |stall: &&Stall| stall.length_ns >= longest_ns / 2;
    let starts: Vec<u64> = stalls.iter().filter(is_long).map(|one| one.at_ns).collect();
    let intervals = || starts.windows(2).map(|pair| pair[1] - pair[0]);
    let usual_ns = median(intervals());
    let is_usual = |interval_ns: u64| {
        interval_ns.abs_diff(usual_ns) as f64 <= IRREGULARITY_MAX * usual_ns as f64
    };
    (starts.len() > 2 && intervals().all(is_usual)).then_some(usual_ns)
}

/// The upper one of the two in the middle; 0 of none.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Whether anything but the server can explain half of the stalls, as far as it can be told. Threads that wait for a CPU of which only the server
/// itself makes use wait for each other.
fn may_be_the_machines(evidence: &Evidence<'_>, stalled_ns: u64, are_regular: bool) -> bool {
    let explains = |time_ns: Option<u64>| time_ns.is_none_or(|time_ns| time_ns >= stalled_ns / 2);
    let Some(side) = evidence.trial.server.as_ref() else {
        return true;
    };
    let waited_for_cpu_ns = side.run_delay_ns.filter(|_| !side.is_of_other_window);
    let others_ns = used_by_others_ns(evidence, side);
    let may_be_others = explains(waited_for_cpu_ns) && explains(others_ns);
    explains(side.stolen_ns) || may_be_others && !are_regular
}

/// What anybody but the two sides used of the server's CPUs in the window.
fn used_by_others_ns(evidence: &Evidence<'_>, server: &SideRecord) -> Option<u64> {
    let cores = evidence.cores()?;
    let generator = evidence.trial.generator.as_ref()?;
    let all_ns = server.window_ns as f64 * (f64::from(cores.allowed) - cores.idle?);
    // CPUs of other hosts have the same numbers.
    let is_shared =
        evidence.hosts().is_empty() && server.cpus.iter().any(|cpu| generator.cpus.contains(cpu));
    let of_generator_ns = if is_shared { generator.cpu_ns } else { 0 };
    let ours_ns = server.cpu_ns + of_generator_ns + server.stolen_ns?;
    Some((all_ns - ours_ns as f64).max(0.0) as u64)
}

impl Words for Stalls {
    fn happened(&self) -> String {
        format!(
            "{}{} no connection got a reply, for {}, together {} of the window, with up to {} waiting; half of all replies took {} or less.",
            times(self.stalls.into()),
            maybe(self.period_ns, |period| format!(
                ", every {},",
                time(period)
            )),
            match self.stalls {
                1 => time(self.stall_ns_max),
                _ => format!(
                    "{} in the median and {} at most",
                    time(self.stall_ns_median),
                    time(self.stall_ns_max)
                ),
            },
            percent(self.share_of_window),
            plural(self.waiting_max.into(), "connection"),
            time(self.latency_ns_median)
        )
    }

    fn cause(&self) -> &'static str {
        "something stops the whole server: a garbage collection, a call that blocks the loop, a fork of a large process, a lock that all threads need, a compaction, a CPU quota that is used up."
    }

    fn remedy(&self) -> String {
        "the server's own log of pauses first (GODEBUG=gctrace=1, -Xlog:gc, --trace-gc); then perf trace -p PID or offcputime for what it waits in. cpu.stat of its cgroup (nr_throttled) tells of a quota.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.share_of_window
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Silence;

    use super::*;
    use crate::hand_made::{Case, histogram};

    const MS: u64 = 1_000_000;

    /// A window of 10 s with 1,000 replies a second and a median of 1 ms; silences of so many milliseconds, one every two seconds.
    fn case(lengths_ms: &[u64]) -> Case {
        let mut case = Case::echo();
        case.exchange().duration_ns = 10_000 * MS;
        case.exchange().replies_per_second = 1_000.0;
        case.exchange().latency = histogram(&[(MS, 1_000)]);
        let silence = |(n, &length_ms): (u64, &u64)| Silence {
            at_ns: n * 2_000 * MS + 500 * MS,
            duration_ns: length_ms * MS,
            generator_late_ns: 0,
            waiting: 20,
        };
        case.exchange().silences = (0..).zip(lengths_ms).map(silence).collect();
        *case.server() = SideRecord {
            cpus: vec![0],
            window_ns: 10_000 * MS,
            cpu_ns: 1_990 * MS,
            run_delay_ns: Some(5 * MS),
            stolen_ns: Some(0),
            ..SideRecord::default()
        };
        case.seen.cores_idle = Some(0.79);
        case
    }

    fn is_found(case: &Case) -> bool {
        find(&case.evidence()).is_some()
    }

    #[test]
    fn a_fifth_of_a_second_every_two_seconds_is_found_with_its_period() {
        let expected = Stalls {
            stalls: 5,
            stall_ns_median: 200 * MS,
            stall_ns_max: 203 * MS,
            period_ns: Some(2_000 * MS),
            share_of_window: 0.1,
            waiting_max: 20,
            latency_ns_median: 0,
        };
        let mut found = find(&case(&[200, 198, 199, 203, 200]).evidence()).expect("found");
        assert!(found.latency_ns_median.abs_diff(MS) < MS / 100);
        found.latency_ns_median = 0;
        assert_eq!(found, expected);
    }

    #[test]
    fn irregular_ones_have_no_period() {
        let mut case = case(&[200, 200, 200]);
        case.exchange().silences[1].at_ns += 900 * MS;
        let Some(Stalls { period_ns, .. }) = find(&case.evidence()) else {
            panic!("they are stalls");
        };
        assert_eq!(period_ns, None);
    }

    #[test]
    fn other_programs_explain_no_stalls_at_equal_intervals() {
        let mut case = case(&[200, 190, 210, 60, 200]);
        let side = case.server();
        (side.run_delay_ns, side.cpu_ns) = (Some(5_000 * MS), 0);
        // The short one came between.
        case.exchange().silences[3].at_ns -= 700 * MS;
        case.exchange().silences[4].at_ns -= 2_000 * MS;
        assert!(is_found(&case));
        case.exchange().silences[2].at_ns += 110 * MS;
        assert!(!is_found(&case));
        case.exchange().silences[2].at_ns -= 110 * MS;
        case.server().stolen_ns = Some(500 * MS);
        assert!(
            !is_found(&case),
            "a hypervisor's share may run out regularly"
        );
    }

    #[test]
    fn a_single_one_is_long_and_several_are_a_hundredth_of_the_window() {
        assert!(is_found(&case(&[100])));
        assert!(!is_found(&case(&[99])));
        assert!(is_found(&case(&[50, 50])));
        assert!(!is_found(&case(&[50, 49])));
        assert!(!is_found(&case(&[])));
    }

    #[test]
    fn what_the_generator_missed_is_its_own() {
        let mut case = case(&[200]);
        case.exchange().silences[0].generator_late_ns = 100 * MS;
        assert!(is_found(&case));
        case.exchange().silences[0].generator_late_ns = 101 * MS;
        assert!(!is_found(&case));
    }

    #[test]
    fn a_service_that_is_slow_by_design_is_silent_now_and_then() {
        let mut slow = case(&[200]);
        slow.exchange().latency = histogram(&[(99 * MS, 100)]);
        assert!(is_found(&slow));
        slow.exchange().latency = histogram(&[(101 * MS, 100)]);
        assert!(!is_found(&slow), "waves of 100 ms");
        let mut seldom = case(&[200]);
        seldom.exchange().replies_per_second = 150.0;
        assert!(is_found(&seldom));
        seldom.exchange().replies_per_second = 149.0;
        assert!(!is_found(&seldom), "30 replies are missing, or fewer");
        assert!(is_found(&case(&[800, 800, 800, 900])));
        assert!(!is_found(&case(&[800, 800, 900, 900])), "silent as a rule");
    }

    #[test]
    fn what_the_machine_may_have_done_is_not_the_servers() {
        let side = |change: fn(&mut SideRecord)| {
            let mut case = case(&[200]);
            change(case.server());
            is_found(&case)
        };
        assert!(side(|side| side.stolen_ns = Some(90 * MS)));
        assert!(!side(|side| side.stolen_ns = Some(100 * MS)));
        assert!(!side(|side| side.stolen_ns = None));
        // Others used 10 s less 7.9 s idle less 1.99 s of its own: 110 ms.
        assert!(side(|side| side.run_delay_ns = Some(99 * MS)));
        assert!(!side(|side| side.run_delay_ns = Some(100 * MS)));
        assert!(!side(|side| side.run_delay_ns = None));
        assert!(side(|side| {
            side.run_delay_ns = Some(5_000 * MS);
            side.cpu_ns = 2_010 * MS;
        }));
        let mut unseen = case(&[200]);
        unseen.trial.server = None;
        assert!(!is_found(&unseen));
    }
}
