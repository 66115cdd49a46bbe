//! The check's results for people: a row for each server, then each clause that speaks against one.

use crate::table::{self, text_of};
use comfy_table::Cell;
use throng_record::format::plural;
use throng_record::{ClauseRecord, ClauseResult, ContractReport, LeftOut};

use super::Checked;

pub(super) fn for_people(checked: &Checked) -> String {
    let reports = &checked.reports;
    let mut table = table::of([
        "server",
        "model",
        "held",
        "not applicable",
        "exceptions",
        "contract",
    ]);
    for report in reports {
        table.add_row(row(report).map(Cell::new));
    }
    let failures = reports
        .iter()
        .flat_map(|report| report.failures().map(move |clause| told(report, clause)));
    let failures: String = failures.collect();
    let table = match reports.is_empty() {
        true => String::new(),
        false => text_of(table),
    };
    let broken = of_others("cannot be started", &checked.broken);
    let left_out = of_others("left out", &checked.left_out);
    format!("{table}{failures}{broken}{left_out}\n{}", summary(checked))
}

/// Those that were not checked, a line each.
fn of_others(what: &str, servers: &[LeftOut]) -> String {
    let lines = servers
        .iter()
        .map(|server| format!("\n{} {what}: {}", server.name, server.why));
    lines.collect::<String>() + if servers.is_empty() { "" } else { "\n" }
}

fn row(report: &ContractReport) -> [String; 6] {
    let count = |is: fn(&ClauseResult) -> bool| {
        let clauses = report.clauses.iter();
        clauses.filter(|clause| is(&clause.result)).count()
    };
    [
        report.server.clone(),
        report.model.name().to_owned(),
        count(|result| *result == ClauseResult::Held).to_string(),
        count(|result| matches!(result, ClauseResult::NotApplicable { .. })).to_string(),
        exceptions(report),
        verdict(report),
    ]
}

/// Those that are declared and true.
fn exceptions(report: &ContractReport) -> String {
    let mut names: Vec<&str> = report
        .clauses
        .iter()
        .filter(|clause| matches!(clause.result, ClauseResult::DeclaredAndFails { .. }))
        .filter_map(|clause| clause.exception.map(throng_record::ContractException::name))
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        "–".to_owned()
    } else {
        names.join(", ")
    }
}

fn verdict(report: &ContractReport) -> String {
    match report.failures().count() as u64 {
        0 if report.complete => "kept".to_owned(),
        0 => "ended early".to_owned(),
        failed => format!("broken in {}", plural(failed, "clause")),
    }
}

fn told(report: &ContractReport, clause: &ClauseRecord) -> String {
    let head = format!("\n{}: {} {}\n", report.server, clause.workload, clause.name);
    match &clause.result {
        ClauseResult::Failed { seen, due } => {
            let seen = seen.replace('\n', "\n        ");
            format!("{head}  due   {due}\n  seen  {seen}\n")
        }
        ClauseResult::DeclaredButHolds { reason } => {
            let exception = clause
                .exception
                .map_or("", throng_record::ContractException::name);
            format!(
                "{head}  the exception `{exception}` is declared ({reason}), and the clause holds: take the exception out\n"
            )
        }
        _ => String::new(),
    }
}

fn summary(checked: &Checked) -> String {
    let reports = &checked.reports;
    let kept = reports.iter().filter(|report| report.is_kept()).count();
    let servers = plural((reports.len() + checked.broken.len()) as u64, "server");
    if kept == reports.len() && checked.broken.is_empty() {
        format!(
            "Of {servers} {} the contract.\n",
            if kept == 1 { "one keeps" } else { "all keep" }
        )
    } else {
        format!("Of {servers} {kept} keep the contract; one that does not is not ranked.\n")
    }
}
