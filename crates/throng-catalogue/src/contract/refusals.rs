//! What a server must not start with: exit status 2, and a message that names the flag.

use super::clause::{Clause, Outcome, Verdict};
use super::server;
use super::stage::{Failure, Stage};
use throng_record::Workload;

pub(super) const CLAUSES: [Clause; 6] = [
    Clause::core(
        "unknown-flag",
        unknown_flag,
        "it refuses a flag that it does not know: exit status 2, and a message on standard error that names the flag",
    ),
    Clause::core(
        "unknown-workload",
        unknown_workload,
        "it refuses a workload that there is not: exit status 2, and a message on standard error that names `--workload`",
    ),
    Clause::core(
        "unlisted-workload",
        unlisted_workload,
        "it refuses the workloads that it does not list: exit status 2, and a message on standard error that names `--workload`, or the workload",
    ),
    Clause::core(
        "no-listener",
        no_listener,
        "it refuses to start without `--listen`: exit status 2, and a message on standard error that names the flag",
    ),
    Clause::core(
        "bad-address",
        bad_address,
        "it refuses an address without a port: exit status 2, and a message on standard error that names `--listen`",
    ),
    Clause::core(
        "bad-number",
        bad_number,
        "it refuses a `--backlog` and a `--delay-ms` that are no number: exit status 2, and a message on standard error that names the flag",
    ),
];

const SOMEWHERE: &str = "127.0.0.1:0";

fn unknown_flag(stage: &Stage<'_>) -> Outcome {
    is_refused(stage, &[SOMEWHERE], &["--nonsense"], &["--nonsense"])
}

fn unknown_workload(stage: &Stage<'_>) -> Outcome {
    let words = ["--listen", SOMEWHERE, "--workload", "nonsense"].map(str::to_owned);
    refuses(stage, &words, &["--workload"])
}

fn unlisted_workload(stage: &Stage<'_>) -> Outcome {
    let is_listed = |workload: &Workload| stage.subject.workloads.contains(workload);
    let mut unlisted = Workload::ALL
        .into_iter()
        .filter(|workload| !is_listed(workload))
        .peekable();
    if unlisted.peek().is_none() {
        return Ok(Verdict::Moot("it lists every workload".to_owned()));
    }
    for workload in unlisted {
        let words = ["--listen", SOMEWHERE, "--workload", workload.name()].map(str::to_owned);
        refuses(stage, &words, &["--workload", workload.name()])?;
    }
    Ok(Verdict::Holds)
}

fn no_listener(stage: &Stage<'_>) -> Outcome {
    if let Some(address) = &stage.subject.listens_unasked {
        return Ok(Verdict::Moot(format!("it then listens on {address}")));
    }
    is_refused(stage, &[], &[], &["--listen"])
}

fn bad_address(stage: &Stage<'_>) -> Outcome {
    is_refused(stage, &["127.0.0.1"], &[], &["--listen"])
}

fn bad_number(stage: &Stage<'_>) -> Outcome {
    for flag in ["--backlog", "--delay-ms"] {
        is_refused(stage, &[SOMEWHERE], &[flag, "x"], &[flag])?;
    }
    Ok(Verdict::Holds)
}

fn is_refused(stage: &Stage<'_>, listen: &[&str], more: &[&str], named: &[&str]) -> Outcome {
    let mut words = stage.words(listen);
    words.extend(more.iter().map(|&word| word.to_owned()));
    refuses(stage, &words, named)
}

/// That it ends with status 2, and that one of these words is in its message.
fn refuses(stage: &Stage<'_>, words: &[String], named: &[&str]) -> Outcome {
    let line = words.join(" ");
    let refusal = server::refuses(stage, words).map_err(|seen| seen.after(&line))?;
    if refusal.status.code() != Some(2) {
        return Failure::of(format!("{line}: {}", refusal.status));
    }
    if refusal.stderr.is_empty() {
        return Failure::of(format!("{line}: nothing on standard error"));
    }
    if !named.iter().any(|word| refusal.stderr.contains(word)) {
        return Failure::of(format!(
            "{line}: `{}` is not in what it says",
            named.join("`, `")
        ));
    }
    Ok(Verdict::Holds)
}
