//! The least time in which a trial's requests could have been served: what its total time is compared with.

use throng_record::{Setting, Stop, TargetRecord};

use crate::plan::asks_for_service_time;

/// Rounds × service time. In a round every place of the server answers one request, and there are no more of them than clients; a place
/// that is begun with takes its whole service time, so four requests at three places need two rounds.
///
/// `serves_at_once`: how many places the server announced; none announced is a place for every client. `loops`: how many event
/// loops there are, where each delay holds its whole loop up.
///
/// `None` where the service time is not known, where the number of requests is not fixed beforehand, and where the server's places are not
/// known: of commands and of servers that run already, and of a request of the user's own, for which any server may take any time.
pub(crate) fn duration_least_ns(
    (target, setting): (&TargetRecord, &Setting),
    serves_at_once: Option<u32>,
    loops: Option<u32>,
) -> Option<u64> {
    if !target.kind.keeps_contract() || !asks_for_service_time(setting) {
        return None;
    }
    let service_time_ns = setting.service_time_ns?;
    let clients = u64::from(setting.connections);
    let requests = match setting.phases.exchange()?.stop {
        Stop::MessagesEach(each) => clients.saturating_mul(each),
        Stop::Messages(messages) => messages,
        Stop::DurationNs(_) | Stop::Confidence { .. } => return None,
    };
    let places = [serves_at_once, loops].into_iter().flatten().map(u64::from);
    let at_once = places.fold(clients, u64::min).max(1);
    requests.div_ceil(at_once).checked_mul(service_time_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanDraft, backlog_test_environment, resolve};

    const MS: u64 = 1_000_000;

    /// The only target and setting of a plan.
    fn cell(text: &str) -> (TargetRecord, Setting) {
        let text = format!("experiment = 'backlog'\n{text}");
        let draft = PlanDraft::parse(&text, "test").expect(&text);
        let plan = resolve(draft, &backlog_test_environment())
            .expect(&text)
            .plan;
        (plan.targets[0].clone(), plan.settings[0].clone())
    }

    fn clients(clients: u32, each: u64) -> (TargetRecord, Setting) {
        cell(&format!(
            "targets = ['poll']\nclients = {clients}\nrequests = {each}"
        ))
    }

    fn least_ms(
        (target, setting): &(TargetRecord, Setting),
        at_once: Option<u32>,
        loops: Option<u32>,
    ) -> Option<u64> {
        duration_least_ns((target, setting), at_once, loops).map(|ns| ns / MS)
    }

    #[test]
    fn the_published_least_times() {
        for (number, each, one_at_a_time_ms, one_each_ms) in [
            (1, 160, 6_400, 6_400),
            (16, 10, 6_400, 400),
            (80, 2, 6_400, 80),
            (160, 1, 6_400, 40),
        ] {
            let asked = clients(number, each);
            assert_eq!(least_ms(&asked, Some(1), None), Some(one_at_a_time_ms));
            assert_eq!(least_ms(&asked, None, None), Some(one_each_ms));
        }
    }

    #[test]
    fn a_round_that_is_not_full_takes_as_long_as_a_full_one() {
        assert_eq!(least_ms(&clients(4, 1), Some(3), None), Some(80));
        assert_eq!(least_ms(&clients(4, 5), Some(3), None), Some(280));
        assert_eq!(least_ms(&clients(2, 5), Some(3), None), Some(200));
    }

    #[test]
    fn a_loop_that_is_held_up_serves_one_at_a_time() {
        assert_eq!(least_ms(&clients(8, 20), None, Some(2)), Some(3_200));
    }

    #[test]
    fn of_a_server_whose_places_are_not_known_nothing_is_the_least() {
        for text in [
            "targets = [{ command = './mine --port {port}' }]\nservice-time = '40ms'",
            "targets = ['tcp://127.0.0.1:9']\nservice-time = '40ms'",
            "targets = ['http://127.0.0.1:9/']\nservice-time = '40ms'",
            "targets = ['poll']\nworkload = 'http'\nsend = 'GET / HTTP/1.1'\nexpect = 'end'",
        ] {
            assert_eq!(least_ms(&cell(text), Some(1), None), None, "{text}");
        }
        let page = cell("targets = ['poll']\nworkload = 'http'");
        assert_eq!(least_ms(&page, Some(1), None), Some(6_400));
    }

    #[test]
    fn without_a_service_time_nothing_is_the_least() {
        let echo = cell("targets = ['poll']\nworkload = 'echo'");
        assert_eq!(least_ms(&echo, Some(1), None), None);
    }
}
