//! Uneven services: one of several took far longer for its requests than the others, which were asked as much.

use throng_record::TaskService;
use throng_record::finding::UnevenServices;
use throng_record::format::{ratio, time_ns};

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "uneven-services",
    title: "One service slower than the others",
    page: include_str!("../../../../docs/findings/uneven-services.md"),
};

/// Fewer have no middle.
const SERVICES_MIN: usize = 3;
/// Means of fewer are chance.
const REQUESTS_MIN: u64 = 200;
/// Processes that share CPUs are given them in turns: means of twenty equal ones lay within a fifth of their median.
const RATIO_MIN: f64 = 1.5;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<UnevenServices> {
    let tasks = evidence.phases().tasks()?;
    let services = &tasks.services;
    // One that failed is told by name.
    let is_whole = |service: &TaskService| service.failed == 0 && service.answered >= REQUESTS_MIN;
    if services.len() < SERVICES_MIN || !services.iter().all(is_whole) {
        return None;
    }
    let means = services.iter().filter_map(TaskService::request_ns_mean);
    let means: Vec<f64> = means.collect();
    let places = 0..means.len();
    let slowest = places.max_by(|&one, &other| means[one].total_cmp(&means[other]))?;
    let median_ns = median(means.clone());
    let cpu: Vec<f64> = evidence.trial.server.as_ref().map_or(vec![], |side| {
        side.cpu_ns_each.iter().map(|&ns| ns as f64).collect()
    });
    let has_cpu = cpu.len() == services.len();
    (means[slowest] >= RATIO_MIN * median_ns).then(|| UnevenServices {
        service: slowest as u32 + 1,
        of: services.len() as u32,
        request_ns_mean: means[slowest],
        request_ns_median: median_ns,
        cpu_ns: has_cpu.then(|| cpu[slowest] as u64),
        cpu_ns_median: has_cpu.then(|| median(cpu.clone()) as u64),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl Words for UnevenServices {
    fn happened(&self) -> String {
        let cpu = match self.cpu_ns.zip(self.cpu_ns_median) {
            Some((own, others)) => format!(
                "; it used {} of CPU time, the others {}",
                time_ns(own as f64),
                time_ns(others as f64)
            ),
            None => String::new(),
        };
        format!(
            "service {} of {} took {} for a request on average, {} times as long as the median of all ({}){cpu}.",
            self.service,
            self.of,
            time_ns(self.request_ns_mean),
            ratio(self.request_ns_mean / self.request_ns_median),
            time_ns(self.request_ns_median)
        )
    }

    fn cause(&self) -> &'static str {
        "all services are the same program and are asked as much. One that used more CPU time than the others does more for a request; one that used as much or less was given its CPU later, or waited for something of its own: a CPU that others use, a disk, a lock."
    }

    fn remedy(&self) -> String {
        "look at that process alone (its CPUs, its log, perf or strace on it) beside one of the others; running services by address may be on machines, or with settings, of their own.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.request_ns_mean / self.request_ns_median
    }
}

#[cfg(test)]
mod tests {
    use throng_record::TasksRecord;

    use super::*;
    use crate::hand_made::Case;

    /// Services whose requests take 100 µs, but for the second.
    fn case(of_second_us: u64, change: fn(&mut TaskService)) -> Case {
        let mut case = Case::echo();
        let service = |us: u64| TaskService {
            answered: 200,
            requests_ns: 200 * us * 1_000,
            ..TaskService::default()
        };
        let mut services = [100, of_second_us, 100, 100].map(service).to_vec();
        change(&mut services[1]);
        case.exchange().tasks = Some(TasksRecord {
            clients: vec![],
            services,
        });
        case
    }

    #[test]
    fn the_slowest_is_named_beside_the_median_with_its_cpu_time() {
        let mut case = case(150, |_| {});
        case.server().cpu_ns_each = vec![7, 30, 8, 9];
        let found = find(&case.evidence()).expect("half as long again");
        assert_eq!((found.service, found.of), (2, 4));
        assert_eq!((found.cpu_ns, found.cpu_ns_median), (Some(30), Some(9)));
        let words = found.happened();
        assert!(
            words.contains("service 2 of 4") && words.contains("1.50 times"),
            "{words}"
        );
    }

    #[test]
    fn what_is_nearly_as_quick_failed_or_was_hardly_asked_is_not() {
        assert_eq!(find(&case(149, |_| {}).evidence()), None);
        assert_eq!(
            find(&case(900, |service| service.failed = 1).evidence()),
            None
        );
        assert_eq!(
            find(&case(900, |service| service.answered = 199).evidence()),
            None
        );
        let two = |case: &mut Case| {
            let tasks = case.exchange().tasks.as_mut().expect("there are");
            tasks.services.truncate(2);
        };
        let mut few = case(900, |_| {});
        two(&mut few);
        assert_eq!(find(&few.evidence()), None);
    }
}
