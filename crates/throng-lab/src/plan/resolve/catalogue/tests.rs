//! Plans with servers that are made for the test: a directory each, with a shell script in it at most.

use std::sync::atomic::AtomicBool;

use throng_catalogue::catalogue::{Cache, Catalogue, prepare_plan};
use throng_record::plan::Experiment;
use throng_record::{Plan, TargetKind};

use crate::plan::{Environment, PlanDraft, PlanError, resolve, test_environment};

#[path = "../../../../../throng-catalogue/src/catalogue/tests/bench.rs"]
mod bench;

use bench::Bench;

impl Bench {
    fn environment(&self) -> Environment {
        Environment {
            catalogue: self.catalogue(),
            ..test_environment(2)
        }
    }

    fn plan(&self, text: &str) -> Result<(Plan, Vec<String>), PlanError> {
        let draft = PlanDraft::parse(text, "test").expect(text);
        resolve(draft, &self.environment()).map(|resolved| (resolved.plan, resolved.notes))
    }

    fn names(&self, text: &str) -> Vec<String> {
        let (plan, _) = self.plan(text).unwrap_or_else(|error| panic!("{error}"));
        plan.targets.into_iter().map(|target| target.name).collect()
    }

    fn refusal(&self, text: &str) -> String {
        self.plan(text).expect_err(text).to_string()
    }
}

#[test]
fn a_server_is_named_with_its_language_and_words_stand_for_several() {
    let bench = Bench::new();
    bench.server("a/one", "");
    bench.server("a/two", "");
    bench.server("b/one", "");
    assert_eq!(
        bench.names("targets = ['b/one', 'poll']"),
        ["b/one", "poll"]
    );
    assert_eq!(bench.names("targets = ['a']"), ["a/one", "a/two"]);
    assert_eq!(
        bench.names("targets = ['catalogue']"),
        ["a/one", "a/two", "b/one"]
    );
    let (plan, _) = bench.plan("targets = ['a/two']").expect("a plan");
    let record = plan.targets[0].catalogue.as_ref().expect("catalogued");
    assert_eq!(plan.targets[0].kind, TargetKind::Catalogue);
    assert_eq!(
        (record.name(), record.title.as_deref()),
        ("a/two".to_owned(), Some("T"))
    );
    assert!(
        bench
            .refusal("targets = ['a/tow']")
            .contains("did you mean `a/two`?")
    );
    assert!(
        bench
            .refusal("targets = ['a/zzz']")
            .contains("there are a/one, a/two")
    );
    assert!(
        bench
            .refusal("targets = ['c/x']")
            .contains("throng servers")
    );
    assert!(
        bench
            .refusal("targets = ['cataloge']")
            .contains("did you mean `catalogue`?")
    );
    assert!(
        bench
            .refusal("targets = ['./mine {port}']")
            .contains("--command")
    );
    assert!(
        bench
            .refusal("targets = ['a', 'a/one']")
            .contains("two targets")
    );
}

#[test]
fn what_a_server_cannot_do_is_refused_with_its_reason_and_left_out_of_groups() {
    let bench = Bench::new();
    let reason = "[exceptions]\nbacklog = 'Its library takes none.'\nunix = 'It knows TCP alone.'";
    bench.server("a/less", reason);
    bench.server("a/more", "");
    bench.declare("b/echo", &["echo"], "echo 3", "");
    for (text, parts) in [
        (
            "experiment = 'backlog'\ntargets = ['a/less']",
            &["a/less cannot be asked", "Its library takes none."][..],
        ),
        (
            "family = 'unix'\ntargets = ['a/less']",
            &["no Unix sockets: It knows TCP alone."],
        ),
        (
            "family = ['ipv4', 'unix']\ntargets = ['a/less']",
            &["no Unix sockets"],
        ),
        (
            "experiment = 'backlog'\ntargets = ['b/echo']",
            &["`oneshot`", "only echo"],
        ),
        (
            "experiment = 'backlog'\nworkload = 'http'\ntargets = ['b']",
            &["`http`"],
        ),
        (
            "experiment = 'fanout'\ntargets = ['a/more']",
            &["`broadcast`", "echo, http or oneshot"],
        ),
        (
            "workers = 2\ntargets = ['a/more']",
            &["no choice of workers"],
        ),
        (
            "targets = ['a/more --workers 2']",
            &["no choice of workers"],
        ),
        ("targets = ['a/more --hand-over queues']", &["hand-over"]),
        (
            "experiment = 'backlog'\ndelay-inline = true\ntargets = ['a/more', 'poll']",
            &["--delay-inline"],
        ),
    ] {
        let refusal = bench.refusal(text);
        for part in parts {
            assert!(refusal.contains(part), "{text}: {part} in {refusal}");
        }
    }
    let (plan, notes) = bench
        .plan("experiment = 'backlog'\ntargets = ['catalogue']")
        .expect("one is left");
    assert_eq!(plan.experiment, Experiment::Backlog);
    assert_eq!(plan.targets.len(), 1, "{:?}", plan.targets);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].contains("left out of `catalogue`: a/less cannot"),
        "{notes:?}"
    );
}

#[test]
fn the_service_time_is_asked_of_catalogued_servers_and_not_only_believed() {
    let bench = Bench::new();
    bench.server("a/one", "");
    let text = "experiment = 'backlog'\nservice-time = '10ms'\ntargets = ['a/one']";
    let (plan, notes) = bench.plan(text).expect("a plan");
    assert_eq!(plan.settings[0].service_time_ns, Some(10_000_000));
    assert_eq!(notes, Vec::<String>::new());
}

#[test]
fn servers_that_cannot_run_here_leave_the_plan_and_broken_ones_stay() {
    let bench = Bench::new();
    bench.declare("a/absent", &["echo"], "exit 1", "");
    bench.server("a/broken", "nonsense = 1");
    bench.server("a/fine", "");
    let text = "targets = ['a', 'poll']\nbaseline = 'poll'";
    let (mut plan, _) = bench.plan(text).expect("a plan");
    let (catalogue, cache) = (bench.catalogue(), bench.cache());
    let mut built = Vec::new();
    let prepared = prepare_plan(
        &mut plan,
        &catalogue,
        &cache,
        &AtomicBool::new(false),
        &mut |name| {
            built.push(name.to_owned());
        },
    );
    let names: Vec<&str> = plan.targets.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a/broken", "a/fine", "poll"]);
    assert_eq!(plan.baseline, 2);
    assert_eq!(plan.left_out.len(), 1);
    assert_eq!(plan.left_out[0].name, "a/absent");
    assert!(plan.left_out[0].why.contains("apt-get install thing"));
    let why = prepared.recipe(&plan.targets[0]).expect_err("broken");
    assert!(why.contains("a/broken/server.toml, line 12"), "{why}");
    assert!(prepared.recipe(&plan.targets[1]).is_ok());
    let found = plan.targets[1].catalogue.as_ref().expect("catalogued");
    assert_eq!(found.runtime_version.as_deref(), Some("2.5.1"));
    assert_eq!(built, Vec::<String>::new());
    let (mut plan, _) = bench.plan("targets = ['a', 'poll']").expect("a plan");
    prepare_plan(
        &mut plan,
        &catalogue,
        &cache,
        &AtomicBool::new(false),
        &mut |_| {},
    );
    assert_eq!(plan.targets[plan.baseline as usize].name, "a/fine");
}
