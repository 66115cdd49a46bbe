//! The least time in which a trial's requests could have been served: what its total time is compared with.

use throng_record::{Setting, Stop};

/// The service time of all requests ÷ how many are served at once: no more than there are clients, and no more than the server has places
/// for. Of a server whose places are not known it is the time of one client's requests, which is a lower bound all the same.
///
/// `loops`: how many event loops there are, where each delay holds its whole loop up.
///
/// `None` where the service time is not known, or the number of requests is not fixed beforehand.
pub(crate) fn duration_least_ns(
    setting: &Setting,
    serves_at_once: Option<u32>,
    loops: Option<u32>,
) -> Option<u64> {
    let service_time_ns = setting.service_time_ns?;
    let clients = u64::from(setting.connections);
    let requests = match setting.stop {
        Stop::MessagesEach(each) => clients.saturating_mul(each),
        Stop::Messages(messages) => messages,
        Stop::DurationNs(_) | Stop::Confidence { .. } => return None,
    };
    let places = [serves_at_once, loops].into_iter().flatten().map(u64::from);
    let at_once = places.fold(clients, u64::min).max(1);
    let least_ns = u128::from(service_time_ns) * u128::from(requests) / u128::from(at_once);
    u64::try_from(least_ns).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanDraft, resolve, test_environment};

    const MS: u64 = 1_000_000;

    fn setting(clients: u32, each: u64) -> Setting {
        let text = format!("targets = ['poll']\nconnections = {clients}");
        let draft = PlanDraft::parse(&text, "test").expect("a plan");
        let plan = resolve(draft, &test_environment(1)).expect("resolves").plan;
        let mut setting = plan.settings.into_iter().next().expect("one");
        setting.stop = Stop::MessagesEach(each);
        setting.service_time_ns = Some(40 * MS);
        setting
    }

    #[test]
    fn the_published_least_times() {
        for (clients, each, one_at_a_time_ms, one_each_ms) in [
            (1, 160, 6_400, 6_400),
            (16, 10, 6_400, 400),
            (80, 2, 6_400, 80),
            (160, 1, 6_400, 40),
        ] {
            let setting = setting(clients, each);
            let least_ms = |at_once| duration_least_ns(&setting, at_once, None).map(|ns| ns / MS);
            assert_eq!(least_ms(Some(1)), Some(one_at_a_time_ms));
            assert_eq!(least_ms(None), Some(one_each_ms));
        }
    }

    #[test]
    fn a_loop_that_is_held_up_serves_one_at_a_time() {
        let setting = setting(8, 20);
        assert_eq!(duration_least_ns(&setting, None, Some(2)), Some(3_200 * MS));
    }

    #[test]
    fn without_a_service_time_nothing_is_the_least() {
        let setting = Setting {
            service_time_ns: None,
            ..setting(8, 20)
        };
        assert_eq!(duration_least_ns(&setting, Some(1), None), None);
    }
}
