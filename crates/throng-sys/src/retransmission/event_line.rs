//! An event as the kernel writes it into a line (`TP_printk` of `tcp_retransmit_skb` and `tcp_retransmit_synack`,
//! include/trace/events/tcp.h):
//!
//! `sh-12 [001] ..s1. 16725.328912: tcp_retransmit_skb: … sport=40042 dport=80 … saddrv6=::ffff:127.0.0.1 daddrv6=::1 …`

use std::net::{Ipv6Addr, SocketAddr};

use super::{Retransmission, RetransmissionKind};
use crate::clock::SECOND_NS;

/// `None` for a line that tells of something else.
pub(super) fn parse(line: &str) -> Option<Retransmission> {
    let (before, event) = line.split_once(": tcp_retransmit_")?;
    let (name, fields) = event.split_once(": ")?;
    let source = end(fields, "saddrv6=", "sport=")?;
    let destination = end(fields, "daddrv6=", "dport=")?;
    let (kind, client, server) = match name {
        "skb" => (RetransmissionKind::Syn, source, destination),
        "synack" => (RetransmissionKind::SynAck, destination, source),
        _ => return None,
    };
    Some(Retransmission {
        monotonic_ns: time_ns(before.split_whitespace().next_back()?)?,
        kind,
        client,
        server,
    })
}

/// The address of IPv6 is told for both families: that of IPv4 is mapped into one.
fn end(fields: &str, ip: &str, port: &str) -> Option<SocketAddr> {
    let value_of = |name| {
        let mut all = fields.split_whitespace();
        all.find_map(|field| field.strip_prefix(name))
    };
    let ip: Ipv6Addr = value_of(ip)?.parse().ok()?;
    Some(SocketAddr::new(
        ip.to_canonical(),
        value_of(port)?.parse().ok()?,
    ))
}

/// Seconds and microseconds.
fn time_ns(told: &str) -> Option<u64> {
    let (seconds, microseconds) = told.split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let microseconds: u64 = microseconds.parse().ok()?;
    Some(seconds * SECOND_NS + microseconds * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_when_and_between_whom() {
        let syn = "    a b: c-5925    [001] .Ns1. 16758.080834: tcp_retransmit_skb: skbaddr=00000000efde115a skaddr=000000001b760694 family=AF_INET sport=45744 dport=80 saddr=127.0.0.1 daddr=127.0.0.2 saddrv6=::ffff:127.0.0.1 daddrv6=::ffff:127.0.0.2 state=TCP_SYN_SENT err=0";
        let expected = Retransmission {
            monotonic_ns: 16_758_080_834_000,
            kind: RetransmissionKind::Syn,
            client: "127.0.0.1:45744".parse().unwrap(),
            server: "127.0.0.2:80".parse().unwrap(),
        };
        assert_eq!(parse(syn), Some(expected));
        let syn_ack = "<idle>-0    [000] ..s2. 1.000007: tcp_retransmit_synack: skaddr=00000000efde115a req=000000001b760694 family=AF_INET6 sport=80 dport=45744 saddr=0.0.0.0 daddr=0.0.0.0 saddrv6=::2 daddrv6=::1";
        let expected = Retransmission {
            monotonic_ns: 1_000_007_000,
            kind: RetransmissionKind::SynAck,
            client: "[::1]:45744".parse().unwrap(),
            server: "[::2]:80".parse().unwrap(),
        };
        assert_eq!(parse(syn_ack), Some(expected));
    }

    #[test]
    fn other_lines_are_left_out() {
        for line in [
            "",
            "CPU:1 [LOST 12 EVENTS]",
            "sh-1 [000] ..s1. 7.5: tcp_retransmit_skb: sport=1 dport=2",
            "sh-1 [000] ..s1. 7: tcp_retransmit_skb: sport=1 dport=2 saddrv6=::1 daddrv6=::1",
            "sh-1 [000] ..s1. 7.5: tcp_retransmit_data: sport=1 dport=2 saddrv6=::1 daddrv6=::1",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
