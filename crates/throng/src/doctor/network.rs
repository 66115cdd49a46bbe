//! Ports, accept queues, and the loopback itself.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};

use throng_findings::Limits;
use throng_findings::limits::SOMAXCONN;
use throng_record::format::exact;

use super::{Line, Status};

/// What throng asks of a launched server's accept queue.
const BACKLOG: u64 = 1024;

pub(super) fn lines(limits: &Limits) -> Vec<Line> {
    let mut lines = vec![loopback(), ipv6()];
    lines.extend(limits.ip_local_port_range.map(ports));
    lines.extend(limits.somaxconn.map(accept_queue));
    lines
}

fn loopback() -> Line {
    let tried = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| TcpStream::connect(listener.local_addr()?));
    match tried {
        Ok(_) => Line::new(
            "loopback",
            Status::Ok,
            "127.0.0.1 answers",
            "launched servers listen there",
        ),
        Err(error) => Line::new(
            "loopback",
            Status::Unusable,
            error.to_string(),
            "launched servers cannot be reached over TCP",
        )
        .improve("sudo ip link set lo up"),
    }
}

fn ipv6() -> Line {
    match TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(_) => Line::new(
            "IPv6",
            Status::Ok,
            "[::1] can be bound",
            "--family ipv6 can be measured",
        ),
        Err(error) => Line::new(
            "IPv6",
            Status::Note,
            error.to_string(),
            "--family ipv6 cannot be measured; everything else can",
        )
        .improve("sudo sysctl -w net.ipv6.conf.lo.disable_ipv6=0"),
    }
}

fn ports((first, last): (u16, u16)) -> Line {
    let ports = u64::from(last.saturating_sub(first)) + 1;
    let status = if ports < 10_000 {
        Status::Warn
    } else {
        Status::Ok
    };
    let meaning = format!(
        "connections from one source address to one port: {} at most, and slower to open from half of that on. On loopback throng \
         spreads them over 127.0.0.0/8; towards another host name more addresses with --source",
        exact(ports)
    );
    Line::new(
        "ephemeral ports",
        status,
        format!("{} ({first} to {last})", exact(ports)),
        meaning,
    )
    .improve_unless_ok("sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'")
}

fn accept_queue(somaxconn: u64) -> Line {
    let status = if somaxconn < BACKLOG {
        Status::Warn
    } else {
        Status::Ok
    };
    let meaning = format!(
        "every backlog is silently lowered to this; throng asks for {} unless told otherwise",
        exact(BACKLOG)
    );
    Line::new(SOMAXCONN.name, status, exact(somaxconn), meaning)
        .improve_unless_ok(SOMAXCONN.raised_to(4_096))
}
