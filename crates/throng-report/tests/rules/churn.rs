//! What a report says of connections that live for one request.

use throng_report::{Format, Summary, render};

use super::{FULL, groups};

use super::fixture::{churn, churn_open};

#[test]
fn what_is_left_in_time_wait_is_a_median_and_unknown_where_others_close_too() {
    let record = churn();
    let groups = groups(&record);
    let value = |group: usize, row: usize, key| groups[group][row].value(key);
    assert_eq!(value(0, 0, "time_wait_sockets"), Some(131_072.0));
    assert_eq!(value(0, 0, "time_wait_overflows"), Some(7_300.0));
    assert_eq!(value(0, 1, "time_wait_overflows"), Some(0.0));
    assert_eq!(value(1, 0, "time_wait_sockets"), Some(0.0));
    let shared = churn_open();
    let shared = &Summary::of(&shared).rows[0];
    assert_eq!(shared.value("time_wait_sockets"), None);
}

#[test]
fn no_room_in_time_wait_is_told_only_of_those_that_had_none() {
    let text = render(&churn(), Format::Markdown, &FULL);
    let told: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("tcp\\_max\\_tw\\_buckets"))
        .collect();
    assert_eq!(told.len(), 1, "{text}");
    assert!(told[0].contains("epoll-edge 7,300") && !told[0].contains("thread"));
    let text = render(&churn_open(), Format::Markdown, &FULL);
    assert!(!text.contains("buckets"));
}
