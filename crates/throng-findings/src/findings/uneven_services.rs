//! Uneven services: one of several, or one of their listeners, took far longer for its requests than the others, which were asked as much, or far less.

use throng_record::TaskTarget;
use throng_record::finding::{UnevenAmong, UnevenServices};
use throng_record::format::{ratio, time_ns};

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "uneven-services",
    title: "One service or listener unlike the others",
    page: include_str!("../../../../docs/findings/uneven-services.md"),
};

/// Fewer have no middle.
const NUMBER_MIN: usize = 3;
/// Means of fewer are chance.
const REQUESTS_MIN: u64 = 200;
/// Processes that share CPUs are given them in turns: means of twenty equal ones lay within a fifth of their median.
const RATIO_MIN: f64 = 1.5;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<UnevenServices> {
    let tasks = evidence.phases().tasks()?;
    // A service that failed is told by name, and clients that lost it ask the others less.
    if tasks.failed_services().next().is_some() {
        return None;
    }
    let among_services = || {
        let mut found = unlike_others(&tasks.services, UnevenAmong::Services)?;
        let each = &evidence.trial.server.as_ref()?.cpu_ns_each;
        if each.len() == tasks.services.len() {
            found.cpu_ns = Some(each[found.number as usize - 1]);
            found.cpu_ns_median =
                median(each.iter().map(|&ns| ns as f64).collect()).map(|ns| ns as u64);
        }
        Some(found)
    };
    among_services().or_else(|| unlike_others(&tasks.listeners, UnevenAmong::Listeners))
}

/// The one whose mean is farthest from the median, where that is far enough.
fn unlike_others(all: &[TaskTarget], among: UnevenAmong) -> Option<UnevenServices> {
    if all.len() < NUMBER_MIN || all.iter().any(|one| one.answered < REQUESTS_MIN) {
        return None;
    }
    let means: Vec<f64> = all.iter().filter_map(TaskTarget::request_ns_mean).collect();
    let median_ns = median(means.clone())?;
    let (place, mean_ns) = means
        .into_iter()
        .enumerate()
        .max_by(|(_, one), (_, other)| {
            apart(*one, median_ns).total_cmp(&apart(*other, median_ns))
        })?;
    (apart(mean_ns, median_ns) >= RATIO_MIN).then(|| UnevenServices {
        among,
        number: place as u32 + 1,
        of: all.len() as u32,
        request_ns_mean: mean_ns,
        request_ns_median: median_ns,
        cpu_ns: None,
        cpu_ns_median: None,
    })
}

/// How many times the longer is as long as the shorter.
fn apart(one_ns: f64, other_ns: f64) -> f64 {
    one_ns.max(other_ns) / one_ns.min(other_ns)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Words for UnevenServices {
    fn happened(&self) -> String {
        let what = match self.among {
            UnevenAmong::Services => "service",
            UnevenAmong::Listeners => "listener",
        };
        let times = ratio(apart(self.request_ns_mean, self.request_ns_median));
        let median = time_ns(self.request_ns_median);
        let against = if self.request_ns_mean > self.request_ns_median {
            format!("{times} times as long as the median of all ({median})")
        } else {
            format!("the median of all took {times} times as long ({median})")
        };
        let cpu = match self.cpu_ns.zip(self.cpu_ns_median) {
            Some((own, others)) => format!(
                "; it used {} of CPU time, the others {}",
                time_ns(own as f64),
                time_ns(others as f64)
            ),
            None => String::new(),
        };
        format!(
            "{what} {} of {} took {} for a request on average, {against}{cpu}.",
            self.number,
            self.of,
            time_ns(self.request_ns_mean),
        )
    }

    fn cause(&self) -> &'static str {
        match self.among {
            UnevenAmong::Services => {
                "all services are the same program and are asked as much. One that used more CPU time than the others does more for a request; one that used as much or less was given its CPU later, or waited for something of its own: a CPU that others use, a disk, a lock. One that is quicker was given more of a CPU than its part."
            }
            UnevenAmong::Listeners => {
                "all listeners of a service lead to the same process, and clients are spread over them evenly. So the process comes to some of them sooner: a scan or a poll that begins with the same ones each time, a thread for each with unequal parts of a CPU."
            }
        }
    }

    fn remedy(&self) -> String {
        match self.among {
            UnevenAmong::Services => "look at that process alone (its CPUs, its log, perf or strace on it) beside one of the others; running services by address may be on machines, or with settings, of their own.",
            UnevenAmong::Listeners => "ask what is ready as a whole (epoll), go through it in turns that begin elsewhere each time, and measure a listener alone: --listeners 1.",
        }
        .to_owned()
    }

    fn gravity(&self) -> f64 {
        apart(self.request_ns_mean, self.request_ns_median)
    }
}

#[cfg(test)]
mod tests {
    use throng_record::TasksRecord;

    use super::*;
    use crate::hand_made::Case;

    /// Requests take 100 µs, but those of the second.
    fn four(of_second_us: u64) -> Vec<TaskTarget> {
        let one = |us: u64| TaskTarget {
            answered: 200,
            requests_ns: 200 * us * 1_000,
            ..TaskTarget::default()
        };
        [100, of_second_us, 100, 100].map(one).to_vec()
    }

    fn case(services: Vec<TaskTarget>, listeners: Vec<TaskTarget>) -> Case {
        let mut case = Case::echo();
        case.exchange().tasks = Some(TasksRecord {
            clients: vec![],
            services,
            listeners,
        });
        case
    }

    #[test]
    fn the_slowest_is_named_beside_the_median_with_its_cpu_time() {
        let mut case = case(four(150), vec![]);
        case.server().cpu_ns_each = vec![7, 30, 8, 9];
        let found = find(&case.evidence()).expect("half as long again");
        assert_eq!((found.number, found.of), (2, 4));
        assert_eq!((found.cpu_ns, found.cpu_ns_median), (Some(30), Some(9)));
        let words = found.happened();
        assert!(
            words.contains("service 2 of 4") && words.contains("1.50 times"),
            "{words}"
        );
    }

    #[test]
    fn one_that_gets_more_than_its_part_is_named_as_well_a_service_before_a_listener() {
        let found = find(&case(four(100), four(50)).evidence()).expect("twice as quick");
        assert_eq!(found.among, UnevenAmong::Listeners);
        let words = found.happened();
        assert!(
            words.contains("listener 2 of 4") && words.contains("took 2.00 times as long"),
            "{words}"
        );
        let found = find(&case(four(50), four(50)).evidence()).expect("twice as quick");
        assert_eq!(found.among, UnevenAmong::Services);
    }

    #[test]
    fn what_is_nearly_as_quick_failed_or_was_hardly_asked_is_not() {
        for us in [149, 67] {
            assert_eq!(find(&case(four(us), four(us)).evidence()), None);
        }
        let but = |change: fn(&mut Vec<TaskTarget>)| {
            let mut all = four(900);
            change(&mut all);
            all
        };
        let failed = but(|all| all[1].failed = 1);
        assert_eq!(find(&case(failed, four(900)).evidence()), None);
        let hardly_asked = but(|all| all[1].answered = 199);
        let few = but(|all| all.truncate(2));
        assert_eq!(find(&case(hardly_asked, few).evidence()), None);
    }
}
