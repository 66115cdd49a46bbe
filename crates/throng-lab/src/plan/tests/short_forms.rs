//! Plans that `--quick` shortens.

use std::time::Duration;

use throng_record::{Amount, Stop};

use super::{ECHO, asked};
use crate::plan::{Resolved, test_environment};

fn stops(resolved: &Resolved) -> Vec<Stop> {
    let settings = resolved.plan.settings.iter();
    settings.map(|setting| asked(setting).stop).collect()
}

/// The one note about what was taken; the estimate keeps the promise.
fn fitted(text: &str) -> (Resolved, String) {
    let resolved = ECHO.short(text);
    let environment = test_environment(2);
    let estimate = crate::estimate(&resolved.plan, &environment.models, &environment.limits);
    assert!(estimate < Duration::from_secs(120), "{text}: {estimate:?}");
    let note = resolved
        .notes
        .iter()
        .find(|note| note.contains("shortened to"));
    let note = note.unwrap_or_else(|| panic!("{text}: {:?}", resolved.notes));
    let note = note.clone();
    (resolved, note)
}

#[test]
fn a_plan_is_shortened_by_its_own_table_or_by_the_usual_one() {
    let own = ECHO.short("repeats = 6\nduration = '2s'\n[quick]\nrepeats = 3\nmessages = 50");
    assert_eq!(stops(&own), [Stop::Messages(50)]);
    assert_eq!((own.plan.repeats, own.plan.quick), (3, true));
    let usual = ECHO.short("repeats = 9\nconfidence = 0.01");
    assert_eq!(stops(&usual), [Stop::DurationNs(400_000_000)]);
    assert_eq!(usual.plan.repeats, 2);
    let shorter_already = ECHO.short("repeats = 1\nduration = '100ms'");
    assert_eq!(stops(&shorter_already), [Stop::DurationNs(100_000_000)]);
    assert_eq!(shorter_already.plan.repeats, 1);
    let counted = ECHO.short("messages = 1000");
    assert_eq!(stops(&counted), [Stop::Messages(1000)]);
    assert!(counted.notes.is_empty(), "{:?}", counted.notes);
}

#[test]
fn swept_lengths_are_each_shortened_and_equals_are_measured_once() {
    let swept = ECHO.short("duration = ['100ms', '1s', '2s']");
    assert_eq!(
        stops(&swept),
        [Stop::DurationNs(100_000_000), Stop::DurationNs(400_000_000)]
    );
    assert_eq!(swept.plan.swept, ["duration"]);
}

#[test]
fn repeats_and_lengths_go_first_and_the_sweep_stays_whole() {
    let (resolved, note) = fitted(
        "connections = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20]\n[quick]\nrepeats = 5\nduration = '10s'",
    );
    assert_eq!(
        (resolved.plan.repeats, resolved.plan.settings.len()),
        (1, 11)
    );
    assert!(
        note.contains("with 1 repeat,") || note.contains("with 1 repeat;"),
        "{note}"
    );
}

#[test]
fn a_sweep_that_is_still_too_long_loses_values_and_keeps_its_ends() {
    let sizes: Vec<String> = (1..=40).map(|size| size.to_string()).collect();
    let (resolved, note) = fitted(&format!(
        "targets = ['all']\nsize = [{}]\noutstanding = [1, 2, 3, 4, 5, 6]\nconnections = [10, 20]",
        sizes.join(", ")
    ));
    let plan = &resolved.plan;
    assert_eq!(plan.swept, ["size", "outstanding", "connections"]);
    let values = |key: usize| -> Vec<&str> {
        let mut values: Vec<&str> = vec![];
        for setting in &plan.settings {
            let value = setting.swept[key].value.as_str();
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let sizes = values(0);
    assert_eq!((sizes.first(), sizes.last()), (Some(&"1"), Some(&"40")));
    assert!(sizes.len() < 40);
    assert_eq!(values(2), ["10", "20"]);
    assert!(
        note.contains(&format!("at size {}", sizes.join(", "))),
        "{note}"
    );
    assert!(note.contains("with shorter measurements"), "{note}");
    assert!(!note.contains("at connections"), "it is whole: {note}");
    let product = sizes.len() * values(1).len() * 2;
    assert_eq!(plan.settings.len(), product, "still every combination");
}

#[test]
fn a_count_that_takes_too_long_becomes_a_time() {
    let (resolved, note) = fitted("messages = 100_000_000_000\nwarmup = '1_000_000_000 messages'");
    let asked = asked(&resolved.plan.settings[0]);
    assert!(matches!(asked.stop, Stop::DurationNs(_)));
    assert!(matches!(asked.warmup, Amount::DurationNs(_)));
    assert!(note.contains("by time instead of by messages"), "{note}");
}

#[test]
fn a_plan_of_the_backlog_loses_repeats_then_requests_then_clients() {
    let backlog =
        |text: &str| format!("experiment = 'backlog'\ntargets = ['tcp://127.0.0.1:9']\n{text}");
    let usual = ECHO.short(&backlog("repeats = 4\nclients = 5"));
    assert_eq!(usual.plan.repeats, 1);
    assert_eq!(stops(&usual), [Stop::MessagesEach(5)]);
    let (fewer, note) = fitted(&backlog(
        "clients = 5\nrequests = 1000\n[quick]\nrepeats = 2",
    ));
    assert_eq!(fewer.plan.repeats, 1);
    assert!(matches!(stops(&fewer)[..], [Stop::MessagesEach(250..1000)]));
    assert!(
        note.contains("with 1 repeat, with fewer requests;"),
        "{note}"
    );
    let (fewest, note) = fitted(&backlog("service-time = '50s'"));
    assert_eq!(fewest.plan.settings[0].connections, 2);
    assert!(
        note.contains("with fewer requests, with fewer clients"),
        "{note}"
    );
    let (thinned, note) = fitted(&backlog("clients = 5\nrequests = [1, 5_000, 10_000]"));
    assert_eq!(stops(&thinned), [Stop::MessagesEach(1)]);
    assert!(note.contains("at the first requests only"), "{note}");
}

#[test]
fn even_a_million_connections_fit() {
    let (resolved, note) = fitted("targets = ['all']\nconnections = [500_000, 1_000_000]");
    assert!(resolved.plan.swept.is_empty());
    let settings = &resolved.plan.settings;
    assert_eq!(settings.len(), 1);
    assert!(settings[0].connections < 500_000);
    assert!(
        note.contains("at the first connections only, with fewer connections"),
        "{note}"
    );
}
