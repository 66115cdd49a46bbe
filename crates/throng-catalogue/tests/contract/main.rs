//! The contract's check, held against a server that keeps it and against others that each break a part of it.
//!
//! The server is this program again, started with other arguments, so there is no test harness of the compiler's.

mod broadcast;
mod fault;
mod framed;
mod http;
mod server;

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;

use libtest_mimic::{Arguments, Trial};
use throng_catalogue::contract::{Subject, check};
use throng_record::Workload;
use throng_record::{ClauseResult, ContractException, ContractReport, DeclaredModel};

use fault::Fault;

/// Most of a check is waiting.
const TRIALS_AT_ONCE: usize = 6;

fn main() -> ExitCode {
    if let Some(exit) = server::serve_if_asked() {
        return exit;
    }
    throng_sys::limits::raise_open_files().expect("the soft limit rises to the hard one");
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(TRIALS_AT_ONCE);
    libtest_mimic::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let broken = BROKEN.into_iter().map(|(fault, workload, clauses)| {
        let name = format!(
            "a_fault_fails_its_clauses_and_no_other/{}/{}",
            fault.word(),
            workload.name()
        );
        trial(name, move || breaks(fault, workload, clauses))
    });
    let whole = [
        (
            "a_server_without_a_fault_keeps_the_contract",
            keeps_it as fn(),
        ),
        ("an_exception_that_is_true_is_no_failure", declared_and_true),
        ("an_exception_that_is_not_true_is_one", declared_and_untrue),
        (
            "who_closes_after_each_reply_keeps_what_is_left",
            one_request,
        ),
        ("another_model_than_the_declared_one_is_seen", another_model),
        (
            "a_server_that_never_starts_fails_with_its_last_words",
            never_starts,
        ),
        ("an_interrupted_check_is_not_complete", interrupted),
    ];
    let whole = whole.map(|(name, test)| trial(name.to_owned(), test));
    broken.chain(whole).collect()
}

fn trial(name: String, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

use Workload::{Broadcast, Echo, Framed, Http, Oneshot};

/// A fault, the workload in which it shows, and the clauses that it breaks.
const BROKEN: [(Fault, Workload, &[&str]); 39] = [
    (Fault::IgnoresUnknownFlags, Oneshot, &["unknown-flag"]),
    (
        Fault::TakesAnyWorkload,
        Echo,
        &["unknown-workload", "unlisted-workload"],
    ),
    (Fault::ListensUnasked, Oneshot, &["no-listener"]),
    (Fault::TakesAnyNumber, Oneshot, &["bad-number"]),
    (Fault::ReadyTwice, Oneshot, &["ready-line"]),
    (Fault::KeepsItsPath, Oneshot, &["unix"]),
    (Fault::EndsInOrderWhereTaken, Oneshot, &["address-taken"]),
    (
        Fault::BacklogOfItsOwn,
        Oneshot,
        &["backlog", "backlog-unasked"],
    ),
    (
        Fault::StaysAfterTheEnd,
        Echo,
        &["half-close-empty", "half-close-after-bytes"],
    ),
    (Fault::ForgetsTheRest, Echo, &["half-close-after-bytes"]),
    (Fault::KeepsEverything, Echo, &["slow-reader-bounded"]),
    (Fault::WritesOneAtATime, Echo, &["slow-reader-alone"]),
    (Fault::EndsAtAReset, Echo, &["resets"]),
    (Fault::ServesFiveHundred, Echo, &["a-thousand"]),
    (Fault::IgnoresSigterm, Oneshot, &["unix", "leaves"]),
    (Fault::LeavesAChild, Oneshot, &["leaves"]),
    (
        Fault::SwapsBytes,
        Echo,
        &[
            "any-pieces",
            "pipelined",
            "one-mebibyte",
            "half-close-after-bytes",
            "slow-reader-bounded",
        ],
    ),
    (
        Fault::PassesPiecesOn,
        Broadcast,
        &["lines-in-pieces", "longest-line", "unfinished-line"],
    ),
    (Fault::EndsTheUnfinished, Broadcast, &["unfinished-line"]),
    (Fault::EndsLongLines, Broadcast, &["longest-line"]),
    (Fault::KeepsForTheSlow, Broadcast, &["slow-listener-closed"]),
    (
        Fault::WaitsForTheSlow,
        Broadcast,
        &["slow-listener-alone", "slow-listener-closed"],
    ),
    (Fault::ForgetsThePipelined, Http, &["pipelined"]),
    (Fault::KeepsTheOldOpen, Http, &["http-1.0"]),
    (Fault::NeverRefuses, Http, &["malformed"]),
    (Fault::CountsNothing, Http, &["count"]),
    (Fault::Spins, Http, &["delay-burns-nothing"]),
    (Fault::DelaysOneAtATime, Http, &["delays-together"]),
    (
        Fault::SkipsDelays,
        Http,
        &["pipelined", "usual-delay", "delay-lasts"],
    ),
    (Fault::IgnoresDelayMs, Http, &["usual-delay"]),
    (
        Fault::IgnoresDelayMs,
        Oneshot,
        &["answer-waits", "delays-together"],
    ),
    (Fault::AnswersSilence, Oneshot, &["silence"]),
    (Fault::ForgetsThePipelined, Framed, &["frames-together"]),
    (Fault::CountsNothing, Framed, &["count"]),
    (
        Fault::NeverRefuses,
        Framed,
        &["frames-together", "malformed"],
    ),
    (
        Fault::ClosesAfterMalformed,
        Framed,
        &["frames-together", "malformed"],
    ),
    (Fault::TakesAnyLength, Framed, &["too-long"]),
    (Fault::ForgetsBeginnings, Framed, &["frames-together"]),
    (Fault::RefusesLongFrames, Framed, &["longest-frame"]),
];

fn subject(fault: Fault, workloads: &[Workload]) -> Subject<'static> {
    let listed: Vec<&str> = workloads.iter().map(|workload| workload.name()).collect();
    let listed = listed.join(" ");
    Subject {
        name: fault.word(),
        model: match (fault, workloads) {
            (Fault::KeepsEverything, _) | (_, [Broadcast]) => {
                DeclaredModel::TwoThreadsPerConnection
            }
            _ => DeclaredModel::ThreadPerConnection,
        },
        workloads: workloads.to_vec(),
        exceptions: BTreeMap::new(),
        listens_unasked: None,
        command: Box::new(move |words| {
            // Not by its name, under which the next build puts another file.
            let mut command = Command::new(format!("/proc/{}/exe", std::process::id()));
            command.args([server::SERVE, &fault.word()]).args(words);
            command.env("LISTED", &listed);
            command
        }),
    }
}

fn checked(subject: &Subject<'_>) -> ContractReport {
    let report = check(subject, &AtomicBool::new(false), &mut |_| {});
    assert!(report.complete);
    assert!(report.clauses.len() > 15, "{}", report.clauses.len());
    report
}

fn failed(report: &ContractReport) -> Vec<&str> {
    report
        .failures()
        .map(|clause| clause.name.as_str())
        .collect()
}

fn breaks(fault: Fault, workload: Workload, clauses: &[&str]) {
    let report = checked(&subject(fault, &[workload]));
    let details: Vec<_> = report.failures().collect();
    assert_eq!(failed(&report), clauses, "{details:#?}");
}

fn keeps_it() {
    let report = checked(&subject(Fault::None, &Workload::ALL));
    let failures: Vec<_> = report.failures().collect();
    assert!(report.is_kept(), "{failures:#?}");
    let held = |clause: &&throng_record::ClauseRecord| clause.result == ClauseResult::Held;
    let held = report.clauses.iter().filter(held).count();
    let moot = report.clauses.len() - held;
    assert!(moot <= 2, "{moot} were not tried: {:#?}", report.clauses);
}

fn declared_and_true() {
    let mut subject = subject(Fault::ForgetsTheRest, &[Echo]);
    let reason = "It forgets.".to_owned();
    subject
        .exceptions
        .insert(ContractException::HalfClose, reason);
    let report = checked(&subject);
    assert_eq!(failed(&report), Vec::<&str>::new());
    let of = |name: &str| {
        let mut clauses = report.clauses.iter();
        let clause = clauses.find(|clause| clause.name == name);
        clause.expect("tried").result.clone()
    };
    // One clause under the exception holds all the same, which is no reason to take it out.
    assert_eq!(of("half-close-empty"), ClauseResult::Held);
    assert!(matches!(
        of("half-close-after-bytes"),
        ClauseResult::DeclaredAndFails { reason, .. } if reason == "It forgets."
    ));
}

fn one_request() {
    let mut subject = subject(Fault::OneRequest, &[Framed]);
    let reason = "It keeps no connection.".to_owned();
    subject
        .exceptions
        .insert(ContractException::OneRequest, reason);
    let report = checked(&subject);
    let failures: Vec<_> = report.failures().collect();
    assert!(report.is_kept(), "{failures:#?}");
    let as_declared = |clause: &&throng_record::ClauseRecord| {
        matches!(clause.result, ClauseResult::DeclaredAndFails { .. })
    };
    let excepted = report.clauses.iter().filter(as_declared);
    let names: Vec<&str> = excepted.map(|clause| clause.name.as_str()).collect();
    assert_eq!(names, ["keep-alive", "frames-together"]);
}

fn declared_and_untrue() {
    let mut subject = subject(Fault::None, &[Oneshot]);
    let reason = "It was so once.".to_owned();
    subject
        .exceptions
        .insert(ContractException::Backlog, reason);
    let report = checked(&subject);
    assert_eq!(failed(&report), ["backlog", "backlog-unasked"]);
}

fn another_model() {
    let mut subject = subject(Fault::None, &[Echo]);
    subject.model = DeclaredModel::EventLoop;
    assert_eq!(failed(&checked(&subject)), ["model"]);
}

fn never_starts() {
    let report = checked(&subject(Fault::EndsBeforeReady, &[Oneshot]));
    let ready = report.failures().find(|clause| clause.name == "ready-line");
    let Some(ClauseResult::Failed { seen, due }) = ready.map(|clause| &clause.result) else {
        panic!("{:#?}", report.clauses);
    };
    for part in ["before it was ready", "exit status: 3", "the last of me"] {
        assert!(seen.contains(part), "{seen}");
    }
    assert!(due.contains("ready ADDRESS"), "{due}");
}

fn interrupted() {
    let subject = subject(Fault::None, &[Echo]);
    let report = check(&subject, &AtomicBool::new(true), &mut |_| {});
    assert!(!report.complete && report.clauses.is_empty() && !report.is_kept());
}
