//! TCP settings that change what a full queue looks like from a client.

use throng_sys::sysctl;

use super::{Line, Status};

pub(super) fn lines() -> Vec<Line> {
    let setting = |name| sysctl::read_value(name).ok();
    vec![
        syn_cookies(setting("net.ipv4.tcp_syncookies")),
        linear_timeouts(setting("net.ipv4.tcp_syn_linear_timeouts")),
    ]
}

/// Documentation/networking/ip-sysctl.rst, `tcp_syncookies`.
fn syn_cookies(value: Option<u64>) -> Line {
    let name = "tcp_syncookies";
    match value {
        Some(0) => Line::new(
            name,
            Status::Note,
            "0",
            "half-open connections beyond tcp_max_syn_backlog are dropped; a client sees a connect time of a second and more",
        )
        .improve("sudo sysctl -w net.ipv4.tcp_syncookies=1"),
        Some(1) => Line::new(
            name,
            Status::Ok,
            "1",
            "cookies are sent only when a queue of half-open connections overflows",
        ),
        Some(value) => Line::new(
            name,
            Status::Warn,
            value.to_string(),
            "every connection is opened by a cookie, which costs CPU time and TCP options",
        )
        .improve("sudo sysctl -w net.ipv4.tcp_syncookies=1"),
        None => Line::new(name, Status::Note, "not in this kernel", "half-open connections beyond the queue are dropped"),
    }
}

/// net/ipv4/tcp_timer.c, `tcp_retransmit_timer`: since Linux 6.5.
fn linear_timeouts(value: Option<u64>) -> Line {
    let name = "tcp_syn_linear_timeouts";
    match value {
        Some(0) => Line::new(
            name,
            Status::Note,
            "0",
            "a SYN that found a full accept queue is repeated after 1, 3, 7, 15 s and so on: connect times gather there",
        ),
        Some(count) => Line::new(
            name,
            Status::Ok,
            count.to_string(),
            format!(
                "a SYN that found a full accept queue is repeated {count} times a second apart, and then at doubling intervals: connect \
                 times gather at whole seconds. Older kernels, and figures published with them, have 0"
            ),
        ),
        None => Line::new(
            name,
            Status::Note,
            "not in this kernel (Linux 6.5)",
            "a SYN that found a full accept queue is repeated after 1, 3, 7, 15 s and so on",
        ),
    }
}
