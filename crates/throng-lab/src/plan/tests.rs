use std::time::Duration;

use throng_record::plan::{ListenFamily, ServerLifetime};
use throng_record::{
    Amount, Arrivals, Backend, ExchangeSpec, Expect, Pacing, Plan, Protocol, Setting,
    SourceAddresses, Stop,
};

use super::value::{self, BackendChoice, CpuChoice};
use super::*;

mod accept;
mod backlog;
mod churn;
mod files;
mod many;
mod overlays;
mod refusals;
mod services;
mod short_forms;
mod sweeps;
mod tls;

/// Plans by texts that name no more than they are about.
struct Plans {
    /// Of texts that name none.
    experiment: &'static str,
    /// The same.
    targets: &'static str,
    environment: fn() -> Environment,
}

impl Plans {
    fn draft(&self, text: &str) -> PlanDraft {
        let targets = if text.contains("targets") {
            ""
        } else {
            self.targets
        };
        let experiment = if text.contains("experiment") {
            String::new()
        } else {
            format!("experiment = '{}'", self.experiment)
        };
        let text = format!("{experiment}\n{targets}\n{text}");
        PlanDraft::parse(&text, "plan.toml").unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn outcome(&self, text: &str) -> Result<Resolved, PlanError> {
        resolve(self.draft(text), &(self.environment)())
    }

    fn resolved(&self, text: &str) -> Resolved {
        self.outcome(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn short(&self, text: &str) -> Resolved {
        resolve(self.draft(text).shortened(), &(self.environment)())
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn plan(&self, text: &str) -> Plan {
        self.resolved(text).plan
    }

    /// The first, of most plans the only one.
    fn setting(&self, text: &str) -> Setting {
        self.plan(text).settings.swap_remove(0)
    }

    fn refusal(&self, text: &str) -> String {
        self.outcome(text).expect_err(text).to_string()
    }
}

const ECHO: Plans = Plans {
    experiment: "echo",
    targets: "targets = ['poll']",
    environment: || test_environment(2),
};

/// The messages that a setting asks for.
fn asked(setting: &Setting) -> &ExchangeSpec {
    let exchange = setting.phases.exchange();
    exchange.expect("messages are exchanged")
}

#[test]
fn nothing_but_a_target_is_needed() {
    let plan = ECHO.plan("");
    assert_eq!(
        (plan.name.as_str(), plan.repeats, plan.seed),
        ("echo", 6, 1)
    );
    assert_eq!((plan.settings.len(), plan.swept.len()), (1, 0));
    let setting = ECHO.setting("");
    let asked = asked(&setting);
    assert_eq!(setting.connections, 100);
    assert_eq!(asked.protocol, Protocol::Echo { size_bytes: 6 });
    assert_eq!(asked.pacing, Pacing::Closed { outstanding: 1 });
    assert_eq!(asked.warmup, Amount::DurationNs(300_000_000));
    assert_eq!(asked.stop, Stop::DurationNs(2_000_000_000));
    assert_eq!(
        (
            &setting.server_cpus[..],
            &setting.generator_cpus[..],
            setting.shards
        ),
        (&[0][..], &[1][..], 1)
    );
    assert_eq!(
        (setting.backend, &setting.source),
        (Backend::IoUring, &SourceAddresses::Spread)
    );
    assert_eq!(
        (
            setting.connect_timeout_ns,
            setting.reply_timeout_ns,
            setting.ready_timeout_ns
        ),
        (10_000_000_000, 10_000_000_000, 10_000_000_000)
    );
    assert!(asked.verify && setting.nodelay && !plan.quick);
}

#[test]
fn every_key_is_read() {
    let text = r#"
        name = "all"
        title = "Everything"
        experiment = "echo"
        targets = ["poll", "epoll-edge", { command = "./mine {path}", name = "mine" }]
        baseline = "mine"
        repeats = 3
        seed = 42
        server = "per-sweep"
        connections = [100, 10]
        messages = 1000
        warmup = "1_000 messages"
        size = 1048576
        verify = false
        outstanding = 4
        rate = 20000
        arrivals = "exponential"
        spin = false
        backend = "epoll"
        shards = 2
        addresses = "kernel"
        nodelay = false
        backlog = 7
        workers = 3
        family = "unix"
        connect-timeout = "1s"
        timeout = "2s"
        ready-timeout = "1m 3s"
        [cpus]
        server = "1"
        generator = "0"
        [quick]
        repeats = 1
    "#;
    let plan = ECHO.plan(text);
    assert_eq!(
        (plan.name.as_str(), plan.title.as_str(), plan.baseline),
        ("all", "Everything", 2)
    );
    assert_eq!(
        (plan.repeats, plan.seed, plan.server),
        (3, 42, ServerLifetime::PerSweep)
    );
    let connections = plan.settings.iter().map(|setting| setting.connections);
    assert_eq!(connections.collect::<Vec<_>>(), [10, 100]);
    assert_eq!(plan.swept, ["connections"]);
    let setting = &plan.settings[1];
    let asked = asked(setting);
    assert_eq!(
        (asked.stop, asked.warmup),
        (Stop::Messages(1000), Amount::Messages(1000))
    );
    let pacing = Pacing::Open {
        rate_per_second: 20_000.0,
        arrivals: Arrivals::Exponential,
        outstanding: 4,
        spin: false,
    };
    assert_eq!(asked.pacing, pacing);
    assert_eq!(
        asked.protocol,
        Protocol::Echo {
            size_bytes: 1 << 20
        }
    );
    assert_eq!(
        (setting.backend, setting.shards, &setting.source),
        (Backend::Epoll, 2, &SourceAddresses::Kernel)
    );
    assert_eq!(
        (setting.backlog, setting.workers, setting.listen),
        (7, Some(3), ListenFamily::Unix)
    );
    assert_eq!(
        (&setting.server_cpus[..], &setting.generator_cpus[..]),
        (&[1][..], &[0][..])
    );
    assert_eq!(setting.ready_timeout_ns, 63_000_000_000);
    assert!(!asked.verify && !setting.nodelay);
}

#[test]
fn any_request_and_reply_can_be_written() {
    let of = |text: &str| asked(&ECHO.setting(text)).protocol.clone();
    let protocol = |expect: &str| of(&format!("send = 'PING\\r\\n'\nexpect = '{expect}'"));
    let request = |expect| Protocol::Request {
        send: b"PING\r\n".to_vec(),
        expect,
    };
    assert_eq!(
        protocol(r"+PONG\r\n"),
        request(Expect::Text(b"+PONG\r\n".to_vec()))
    );
    assert_eq!(protocol("7 bytes"), request(Expect::Bytes(7)));
    assert_eq!(protocol("1 byte"), request(Expect::Bytes(1)));
    assert_eq!(
        protocol(r"until \n"),
        request(Expect::Until(b"\n".to_vec()))
    );
    assert_eq!(
        protocol("text 7 bytes"),
        request(Expect::Text(b"7 bytes".to_vec()))
    );
    // TOML's own escapes come to the same.
    assert_eq!(
        of("send = \"PING\\r\\n\"\nexpect = \"1 byte\""),
        request(Expect::Bytes(1))
    );
}

#[test]
fn a_stop_by_confidence_has_a_bound() {
    let bounded = |text: &str| asked(&ECHO.setting(text)).stop;
    assert_eq!(
        bounded("confidence = 0.01"),
        Stop::Confidence {
            relative_half_width: 0.01,
            max_duration_ns: 30_000_000_000
        }
    );
    assert_eq!(
        bounded("confidence = 0.5\nmax-duration = '3s'"),
        Stop::Confidence {
            relative_half_width: 0.5,
            max_duration_ns: 3_000_000_000
        }
    );
}

#[test]
fn cpus_are_shared_out_by_what_there_is() {
    let sides = |text: &str, cpus| {
        let Resolved { plan, notes } =
            resolve(ECHO.draft(text), &test_environment(cpus)).expect(text);
        let setting = plan.settings.into_iter().next().expect("one");
        (
            setting.server_cpus,
            setting.generator_cpus,
            setting.shards,
            notes.len(),
        )
    };
    assert_eq!(sides("", 1), (vec![], vec![], 1, 1));
    assert_eq!(sides("", 5), (vec![0, 1], vec![2, 3, 4], 3, 0));
    assert_eq!(
        sides("connections = 2", 8),
        (vec![0, 1, 2, 3], vec![4, 5, 6, 7], 2, 0)
    );
    assert_eq!(sides("cpus = 'any'", 4), (vec![], vec![], 1, 0));
    assert_eq!(sides("cpus = '0:1-2'", 4), (vec![0], vec![1, 2], 2, 0));
    assert_eq!(sides("cpus = '0-1:1'", 4), (vec![0, 1], vec![1], 1, 1));
    assert_eq!(
        sides("[cpus]\ngenerator = '3'", 4),
        (vec![0, 1, 2], vec![3], 1, 0)
    );
    assert_eq!(
        sides("targets = ['tcp://127.0.0.1:1']", 4),
        (vec![], vec![], 1, 0)
    );
}

#[test]
fn the_back_end_follows_the_kernel_unless_it_is_named() {
    let refusing = Environment {
        io_uring_obstacle: Some("forbidden by a setting".to_owned()),
        ..test_environment(2)
    };
    let backend = |choice: Option<BackendChoice>| {
        let draft = PlanDraft {
            targets: Some(vec!["poll".into()]),
            backend: choice.map(Sweep::from),
            ..PlanDraft::default()
        };
        resolve(draft, &refusing).map(|resolved| resolved.plan.settings[0].backend)
    };
    assert_eq!(backend(None).unwrap(), Backend::Epoll);
    assert_eq!(backend(Some(BackendChoice::Epoll)).unwrap(), Backend::Epoll);
    let error = backend(Some(BackendChoice::IoUring))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("forbidden by a setting") && error.contains("epoll"),
        "{error}"
    );
}

#[test]
fn flags_are_read_as_the_file_is() {
    assert_eq!(
        Arrivals::read_flag("exponential"),
        Ok(Arrivals::Exponential.into())
    );
    assert!(
        Arrivals::read_flag("poisson")
            .unwrap_err()
            .contains("constant")
    );
    assert_eq!(value::duration("1m 30s"), Ok(Duration::from_secs(90)));
    assert!(value::duration("5").unwrap_err().contains("300ms"));
    assert_eq!(value::amount("2s"), Ok(Amount::DurationNs(2_000_000_000)));
    assert_eq!(value::amount("1 message"), Ok(Amount::Messages(1)));
    assert!(value::amount("lots").unwrap_err().contains("1000 messages"));
    assert_eq!("any".parse(), Ok(CpuChoice::Any));
    let pinned = CpuChoice::Pinned {
        server: Some(vec![0]),
        generator: None,
    };
    assert_eq!("0:".parse(), Ok(pinned));
    assert!("0".parse::<CpuChoice>().unwrap_err().contains("0:1"));
}

#[test]
fn a_command_that_bears_a_models_name_is_not_that_model() {
    let text =
        "targets = [{ command = './mine {port}', name = 'thread-per-connection' }]\nworkers = 4";
    assert_eq!(ECHO.plan(text).targets[0].model, None);
}
