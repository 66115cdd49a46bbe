//! Every report made from fixed runs, as a reader sees it.

mod fixture;

use throng_record::RunRecord;
use throng_report::{Format, Options, render};

fn terminal(record: &RunRecord, width: u16) -> String {
    let options = Options {
        width: Some(width),
        colour: false,
        is_full: true,
    };
    render(record, Format::Terminal, &options)
}

/// What is shown unless more is asked for.
fn screen(record: &RunRecord, width: u16) -> String {
    let options = Options {
        width: Some(width),
        ..Options::default()
    };
    render(record, Format::Terminal, &options)
}

/// As many servers as there are models, with every finding and doubt of the others.
fn many_servers() -> RunRecord {
    const SERVERS: u32 = 19;
    let mut record = fixture::closed();
    let findings = fixture::backlog().trials.into_iter();
    let findings: Vec<_> = findings.flat_map(|trial| trial.findings).collect();
    let target = record.plan.targets[0].clone();
    let made = std::mem::take(&mut record.trials);
    record.plan.targets = (0..SERVERS)
        .map(|index| {
            let mut target = target.clone();
            target.name = format!("thread-per-connection-{index}");
            target
        })
        .collect();
    let planned = u32::try_from(record.plan.settings.len()).expect("few") * record.plan.repeats;
    record.trials_planned = planned * SERVERS;
    for index in 0..SERVERS {
        let of_one = made.iter().filter(|trial| trial.target == index % 5);
        record.trials.extend(of_one.cloned().map(|mut trial| {
            trial.target = index;
            trial.findings.clone_from(&findings);
            trial
        }));
    }
    record
}

#[test]
fn the_answer_of_every_experiment_fits_a_screen() {
    let records = [
        ("closed", fixture::closed()),
        ("many_servers", many_servers()),
        ("open", fixture::open()),
        ("swept", fixture::swept()),
        ("rates", fixture::rates()),
        ("disturbed", fixture::disturbed()),
        ("interrupted", fixture::interrupted()),
        ("nothing_valid", fixture::nothing_valid()),
        ("churn", fixture::churn()),
        ("capacity", fixture::capacity()),
        ("backlog", fixture::backlog()),
        ("accept", fixture::accept()),
        ("fanout", fixture::fanout()),
        ("hold", fixture::hold()),
        ("phases", fixture::phases()),
        ("services", fixture::services()),
        ("hosts", fixture::hosts()),
        ("one_host", fixture::one_host()),
    ];
    for (name, record) in &records {
        for width in [80, 100, 120] {
            let screen = screen(record, width);
            // A narrow terminal breaks more lines.
            let most = if width < 100 { 50 } else { 45 };
            let lines = screen.lines().count();
            assert!(lines <= most, "{name} at {width}:\n{screen}");
            let widest = screen.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width.into()), "{name} at {width}:\n{screen}");
            if width != 100 {
                insta::assert_snapshot!(format!("{name}_screen_{width}"), screen);
            }
        }
    }
}

fn other(record: &RunRecord, format: Format) -> String {
    render(record, format, &Options::default())
}

#[test]
fn terminal_of_a_closed_loop_with_every_kind_of_trial() {
    let record = fixture::closed();
    insta::assert_snapshot!("closed_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("closed_terminal_100", terminal(&record, 100));
    insta::assert_snapshot!("closed_terminal_80", terminal(&record, 80));
}

#[test]
fn reports_of_a_disturbed_machine() {
    let record = fixture::disturbed();
    insta::assert_snapshot!("disturbed_terminal_120", terminal(&record, 120));
    insta::assert_snapshot!("disturbed_terminal_80", terminal(&record, 80));
    insta::assert_snapshot!("disturbed_csv", other(&record, Format::Csv));
}

#[test]
fn terminal_of_an_open_loop() {
    let record = fixture::open();
    insta::assert_snapshot!("open_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("open_terminal_100", terminal(&record, 100));
}

#[test]
fn terminal_of_a_run_cut_short() {
    let record = fixture::interrupted();
    insta::assert_snapshot!("interrupted_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("interrupted_terminal_100", terminal(&record, 100));
}

#[test]
fn terminal_of_a_run_without_a_valid_trial() {
    let record = fixture::nothing_valid();
    insta::assert_snapshot!("nothing_valid_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("nothing_valid_terminal_100", terminal(&record, 100));
}

#[test]
fn terminal_of_a_sweep_over_three_keys() {
    let record = fixture::swept();
    insta::assert_snapshot!("swept_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("swept_terminal_80", terminal(&record, 80));
}

#[test]
fn terminal_of_a_full_accept_queue() {
    let record = fixture::backlog();
    insta::assert_snapshot!("backlog_terminal_120", terminal(&record, 120));
    insta::assert_snapshot!("backlog_terminal_80", terminal(&record, 80));
    let elsewhere = fixture::backlog_elsewhere();
    insta::assert_snapshot!("backlog_elsewhere_terminal_120", terminal(&elsewhere, 120));
}

#[test]
fn terminal_of_multiplexers_with_idle_connections() {
    let record = fixture::accept();
    insta::assert_snapshot!("accept_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("accept_terminal_100", terminal(&record, 100));
    insta::assert_snapshot!("accept_terminal_80", terminal(&record, 80));
    let few = fixture::accept_few();
    insta::assert_snapshot!("accept_few_terminal_160", terminal(&few, 160));
}

#[test]
fn terminal_of_connections_for_one_request() {
    let record = fixture::capacity();
    insta::assert_snapshot!("capacity_terminal_120", terminal(&record, 120));
    insta::assert_snapshot!("capacity_terminal_80", terminal(&record, 80));
    insta::assert_snapshot!("capacity_screen_80", screen(&record, 80));
    let record = fixture::churn();
    insta::assert_snapshot!("churn_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("churn_terminal_100", terminal(&record, 100));
    insta::assert_snapshot!("churn_terminal_80", terminal(&record, 80));
    let open = fixture::churn_open();
    insta::assert_snapshot!("churn_open_terminal_160", terminal(&open, 160));
}

#[test]
fn terminal_of_fan_outs() {
    let record = fixture::fanout();
    insta::assert_snapshot!("fanout_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("fanout_terminal_100", terminal(&record, 100));
    insta::assert_snapshot!("fanout_terminal_80", terminal(&record, 80));
    let sustained = fixture::fanout_sustained();
    insta::assert_snapshot!("fanout_sustained_terminal_100", terminal(&sustained, 100));
}

#[test]
fn terminal_of_held_connections() {
    let record = fixture::hold();
    insta::assert_snapshot!("hold_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("hold_terminal_100", terminal(&record, 100));
    insta::assert_snapshot!("hold_terminal_80", terminal(&record, 80));
    let few = fixture::hold_few();
    insta::assert_snapshot!("hold_few_terminal_100", terminal(&few, 100));
}

#[test]
fn terminal_of_phases_of_a_plans_own() {
    let record = fixture::phases();
    insta::assert_snapshot!("phases_terminal_100", terminal(&record, 100));
    insta::assert_snapshot!("phases_markdown", other(&record, Format::Markdown));
}

#[test]
fn reports_of_services() {
    let record = fixture::services();
    insta::assert_snapshot!("services_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("services_terminal_80", terminal(&record, 80));
    insta::assert_snapshot!("services_markdown", other(&record, Format::Markdown));
    insta::assert_snapshot!("services_csv", other(&record, Format::Csv));
}

#[test]
fn reports_of_several_hosts() {
    let record = fixture::hosts();
    insta::assert_snapshot!("hosts_terminal_120", terminal(&record, 120));
    insta::assert_snapshot!("hosts_terminal_80", terminal(&record, 80));
    insta::assert_snapshot!("hosts_markdown", other(&record, Format::Markdown));
    insta::assert_snapshot!("hosts_json", other(&record, Format::Json));
}

#[test]
fn rates_that_were_not_kept() {
    let record = fixture::rates();
    insta::assert_snapshot!("rates_terminal_160", terminal(&record, 160));
    insta::assert_snapshot!("rates_terminal_80", terminal(&record, 80));
    insta::assert_snapshot!("rates_markdown", other(&record, Format::Markdown));
    insta::assert_snapshot!("rates_csv", other(&record, Format::Csv));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(
        "capacity_markdown",
        other(&fixture::capacity(), Format::Markdown)
    );
    insta::assert_snapshot!("churn_markdown", other(&fixture::churn(), Format::Markdown));
    insta::assert_snapshot!(
        "fanout_markdown",
        other(&fixture::fanout(), Format::Markdown)
    );
    insta::assert_snapshot!("hold_markdown", other(&fixture::hold(), Format::Markdown));
    insta::assert_snapshot!(
        "accept_markdown",
        other(&fixture::accept(), Format::Markdown)
    );
    insta::assert_snapshot!(
        "backlog_markdown",
        other(&fixture::backlog(), Format::Markdown)
    );
    insta::assert_snapshot!("swept_markdown", other(&fixture::swept(), Format::Markdown));
    insta::assert_snapshot!(
        "closed_markdown",
        other(&fixture::closed(), Format::Markdown)
    );
    insta::assert_snapshot!("open_markdown", other(&fixture::open(), Format::Markdown));
    insta::assert_snapshot!(
        "interrupted_markdown",
        other(&fixture::interrupted(), Format::Markdown)
    );
}

#[test]
fn csv() {
    insta::assert_snapshot!("churn_csv", other(&fixture::churn(), Format::Csv));
    insta::assert_snapshot!("churn_open_csv", other(&fixture::churn_open(), Format::Csv));
    insta::assert_snapshot!("fanout_csv", other(&fixture::fanout(), Format::Csv));
    insta::assert_snapshot!(
        "fanout_sustained_csv",
        other(&fixture::fanout_sustained(), Format::Csv)
    );
    insta::assert_snapshot!("hold_few_csv", other(&fixture::hold_few(), Format::Csv));
    insta::assert_snapshot!("accept_few_csv", other(&fixture::accept_few(), Format::Csv));
    insta::assert_snapshot!("backlog_csv", other(&fixture::backlog(), Format::Csv));
    insta::assert_snapshot!("closed_csv", other(&fixture::closed(), Format::Csv));
    insta::assert_snapshot!("open_csv", other(&fixture::open(), Format::Csv));
    insta::assert_snapshot!("swept_csv", other(&fixture::swept(), Format::Csv));
}

#[test]
fn json() {
    insta::assert_snapshot!(
        "churn_open_json",
        other(&fixture::churn_open(), Format::Json)
    );
    insta::assert_snapshot!(
        "fanout_sustained_json",
        other(&fixture::fanout_sustained(), Format::Json)
    );
    insta::assert_snapshot!("hold_few_json", other(&fixture::hold_few(), Format::Json));
    insta::assert_snapshot!(
        "accept_few_json",
        other(&fixture::accept_few(), Format::Json)
    );
    let elsewhere = fixture::backlog_elsewhere();
    insta::assert_snapshot!("backlog_elsewhere_json", other(&elsewhere, Format::Json));
    insta::assert_snapshot!("open_json", other(&fixture::open(), Format::Json));
    insta::assert_snapshot!(
        "nothing_valid_json",
        other(&fixture::nothing_valid(), Format::Json)
    );
}
