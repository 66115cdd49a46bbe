//! The built-in plans take no longer than they say, and models declare what a connection takes.

use throng_lab::capacity::PerConnection;
use throng_record::built_in::ServesAtOnce;

use super::*;

fn planned(name: &str, is_quick: bool) -> (throng_record::Plan, std::time::Duration) {
    let plan = throng_lab::plans::find(name).expect("it is built in");
    let draft = PlanDraft::parse(plan.text, plan.name).expect("parses");
    let draft = if is_quick { draft.shortened() } else { draft };
    let settings = [
        "tcp_syn_linear_timeouts",
        "tcp_syncookies",
        "tcp_abort_on_overflow",
    ];
    let environment = Environment {
        cpus_allowed: vec![0, 1],
        io_uring_obstacle: None,
        models: built_in_models(),
        catalogue: throng_catalogue::catalogue::Catalogue::default(),
        kernel_settings: settings.map(|name| format!("net.ipv4.{name}")).to_vec(),
        limits: throng_findings::Limits {
            open_files_hard: 20_000,
            ..throng_findings::Limits::default()
        },
        generators: vec![],
    };
    let plan = resolve(draft, &environment).expect("resolves").plan;
    let estimate = throng_lab::estimate(&plan, &environment.models, &environment.limits);
    (plan, estimate)
}

#[test]
fn the_tour_takes_less_than_ninety_seconds_on_two_cores() {
    let (plan, estimate) = planned("tour", false);
    assert!(estimate.as_secs() < 90, "{estimate:?}");
    let connections: Vec<u32> = plan.settings.iter().map(|one| one.connections).collect();
    assert_eq!(connections, [1, 100, 1000]);
    assert_eq!(plan.targets.len(), Model::ALL.len());
}

#[test]
fn the_published_grid_takes_less_than_an_hour_and_its_corner_less_than_a_minute() {
    let (plan, estimate) = planned("backlog", false);
    assert_eq!((plan.targets.len(), plan.settings.len()), (3, 16));
    assert!(
        (15..60).contains(&(estimate.as_secs() / 60)),
        "{estimate:?}"
    );
    for name in ["backlog", "backlog-kernel"] {
        let (_, estimate) = planned(name, true);
        assert!(estimate.as_secs() < 60, "{name}: {estimate:?}");
    }
}

#[test]
fn the_c10k_plan_takes_minutes_and_its_short_form_seconds() {
    let (plan, estimate) = planned("c10k", false);
    assert_eq!((plan.targets.len(), plan.repeats), (6, 3));
    assert!(estimate.as_secs() < 10 * 60, "{estimate:?}");
    let (plan, estimate) = planned("c10k", true);
    assert_eq!(plan.settings[0].connections, 2_000);
    assert!(estimate.as_secs() < 20, "{estimate:?}");
}

#[test]
fn models_say_what_they_have_for_each_connection() {
    let models = built_in_models();
    let of = |name: &str| {
        let model = models.iter().find(|model| model.name == name);
        PerConnection::of(model.expect(name).kind())
    };
    assert_eq!(of("epoll-edge"), PerConnection::State);
    assert_eq!(of("thread-per-connection"), PerConnection::Threads(1));
    assert_eq!(of("fork-per-connection"), PerConnection::Process);
}

#[test]
fn models_say_how_many_they_serve_and_which_have_accepting_threads() {
    let models = built_in_models();
    let of = |name: &str| {
        let model = models.iter().find(|model| model.name == name);
        *model.expect(name)
    };
    let served = |name: &str| {
        let model = of(name);
        (model.serves_at_once, model.workers.usual(4))
    };
    assert_eq!(served("iterative"), (ServesAtOnce::OnePerWorker, Some(1)));
    assert!(matches!(
        served("prefork"),
        (ServesAtOnce::OnePerWorker, Some(2..))
    ));
    assert_eq!(served("select"), (ServesAtOnce::WithinFdSetSize, Some(1)));
    assert_eq!(ServesAtOnce::BELOW_FD_SETSIZE, 1_020);
    assert_eq!(served("tokio"), (ServesAtOnce::Unbounded, Some(4)));
    assert!(of("thread-per-connection").takes_accept_threads);
    assert!(!of("thread-pool").takes_accept_threads);
    assert!(of("two-threads-per-connection").takes_hand_over);
    assert!(!of("thread-per-connection").takes_hand_over);
}
