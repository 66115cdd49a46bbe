//! The first thing a newcomer types.

mod support;

use support::Bench;
use throng_servers::Model;

#[test]
fn the_tour_shows_how_the_models_compare() {
    let bench = Bench::new();
    let outcome = bench.throng(&["run", "--quick"]);
    outcome.assert_well_but_for_noise();
    outcome.assert_plain();
    for model in Model::ALL {
        assert!(outcome.stdout.contains(model.name()), "{}", outcome.stdout);
    }
    assert!(
        outcome.stdout.contains("messages/s") && outcome.stdout.contains("p99"),
        "{}",
        outcome.stdout
    );
    let planned = format!("{} trials, about ", 3 * Model::ALL.len());
    assert!(outcome.stderr.starts_with(&planned), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("run.json"), "{}", outcome.stderr);
    let record = bench.record();
    assert_eq!(record.trials.len(), 3 * Model::ALL.len());
    assert!(record.plan.quick);
    for trial in &record.trials {
        assert_eq!(support::failed_checks(trial), Vec::<String>::new());
    }
    for partial in [
        "serves 1 of 100",
        "serves 1 of 1,000",
        "serves 120 of 1,000",
    ] {
        assert!(
            outcome.stdout.contains(partial),
            "{partial}\n{}",
            outcome.stdout
        );
    }
}

#[test]
fn the_plans_are_listed_and_nothing_is_run() {
    let bench = Bench::new();
    let outcome = bench.throng(&["run", "--list"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.starts_with("tour "), "{}", outcome.stdout);
    for plan in ["\nbacklog ", "\nbacklog-kernel ", "\nc10k "] {
        assert!(outcome.stdout.contains(plan), "{}", outcome.stdout);
    }
    assert!(bench.runs().is_empty());
}

#[test]
fn a_plan_of_ones_own_is_run_and_flags_win_over_it() {
    let bench = Bench::new();
    bench.write(
        "mine.toml",
        "name = \"mine\"\ntargets = [\"poll\"]\nconnections = [2, 3]\nduration = \"9s\"\nrepeats = 1\nsize = 17\n",
    );
    bench.throng(&[
        "run",
        "mine.toml",
        "--messages",
        "101",
        "--runs-dir",
        "elsewhere",
    ]);
    let folder = std::fs::read_dir(bench.path().join("elsewhere")).expect("made");
    let folder = folder.flatten().next().expect("a run").path();
    assert!(
        folder.to_string_lossy().ends_with("-mine"),
        "{}",
        folder.display()
    );
    let text = std::fs::read_to_string(folder.join("run.json")).expect("stored");
    let record = throng_record::schema::read(&text).expect("a record");
    let settings = record.plan.settings.iter();
    let connections: Vec<u32> = settings.map(|setting| setting.connections).collect();
    assert_eq!(connections, [2, 3]);
    for setting in &record.plan.settings {
        let exchange = setting.phases.exchange().expect("an echo");
        assert_eq!(exchange.stop, throng_record::Stop::Messages(101));
    }
    for trial in &record.trials {
        let exchange = trial.phases.exchange().expect("measured");
        assert_eq!(exchange.replies, 101);
    }
}

#[test]
fn any_request_and_reply_protocol_can_be_measured() {
    let bench = Bench::new();
    let address = support::peer::start(support::peer::redis_ping);
    bench.throng(&[
        "echo",
        &address,
        "--send",
        r"PING\r\n",
        "--expect",
        r"+PONG\x0d\n",
        "--messages",
        "1009",
        "--connections",
        "3",
        "--repeats",
        "1",
        "--warmup",
        "0 messages",
    ]);
    let trial = bench.record().trials.remove(0);
    assert_eq!(support::failed_checks(&trial), Vec::<String>::new());
    let exchange = trial.phases.exchange().expect("measured");
    assert_eq!(
        (
            exchange.replies,
            exchange.sent_bytes,
            exchange.received_bytes
        ),
        (1009, 1009 * 6, 1009 * 7)
    );
}
