//! One TCP segment, read from its headers (RFC 791, RFC 8200, RFC 9293).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::ring::Frame;

const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// What a segment is in the life of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Asks for a connection.
    Syn,
    /// Grants it.
    SynAck,
    /// Refuses or breaks it.
    Reset,
}

/// A segment of a handshake, or one that breaks a connection.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// When it passed, by `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// The same by `CLOCK_REALTIME`, as the kernel stamped it: nanoseconds since 1970.
    pub realtime_ns: u64,
    /// Who sent it.
    pub source: SocketAddr,
    /// To whom.
    pub destination: SocketAddr,
    /// Which of the three.
    pub kind: SegmentKind,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number; 0 in a SYN.
    pub acknowledgement: u32,
    /// Length with all headers, of which `bytes` may be a part.
    pub length_bytes: u32,
    /// The packet from its IP header on, [`super::SNAP_BYTES`] at most.
    pub bytes: &'a [u8],
}

impl<'a> Segment<'a> {
    /// `None` for what the filter should not have let pass.
    pub(super) fn parse(frame: &Frame<'a>, monotonic_ns: u64) -> Option<Self> {
        let bytes = frame.bytes;
        let (source, destination, tcp) = match bytes.first()? >> 4 {
            4 => {
                let header_bytes = usize::from(bytes[0] & 0xf) * 4;
                let address =
                    |at: usize| Some(IpAddr::from(array::<4>(bytes, at).map(Ipv4Addr::from)?));
                (address(12)?, address(16)?, bytes.get(header_bytes..)?)
            }
            6 => {
                let address =
                    |at: usize| Some(IpAddr::from(array::<16>(bytes, at).map(Ipv6Addr::from)?));
                (address(8)?, address(24)?, bytes.get(40..)?)
            }
            _ => return None,
        };
        let port = |at: usize| array(tcp, at).map(u16::from_be_bytes);
        let word = |at: usize| array(tcp, at).map(u32::from_be_bytes);
        Some(Self {
            monotonic_ns,
            realtime_ns: frame.realtime_ns,
            source: SocketAddr::new(source, port(0)?),
            destination: SocketAddr::new(destination, port(2)?),
            kind: kind(*tcp.get(13)?)?,
            sequence: word(4)?,
            acknowledgement: word(8)?,
            length_bytes: frame.length_bytes,
            bytes,
        })
    }
}

fn kind(flags: u8) -> Option<SegmentKind> {
    match flags {
        flags if flags & RST != 0 => Some(SegmentKind::Reset),
        flags if flags & SYN == 0 => None,
        flags if flags & ACK != 0 => Some(SegmentKind::SynAck),
        _ => Some(SegmentKind::Syn),
    }
}

fn array<const LENGTH: usize>(bytes: &[u8], at: usize) -> Option<[u8; LENGTH]> {
    bytes.get(at..at + LENGTH)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(bytes: &[u8]) -> Option<Segment<'_>> {
        let frame = Frame {
            realtime_ns: 7,
            length_bytes: 60,
            bytes,
        };
        Segment::parse(&frame, 5)
    }

    #[test]
    fn options_of_ipv4_are_skipped() {
        let mut bytes = [0_u8; 44];
        bytes[0] = 0x46;
        bytes[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        bytes[24..28].copy_from_slice(&[0x12, 0x34, 0, 80]);
        bytes[28..32].copy_from_slice(&[1, 2, 3, 4]);
        bytes[37] = SYN | ACK;
        let segment = parsed(&bytes).expect("whole");
        assert_eq!(segment.source, "10.0.0.1:4660".parse().unwrap());
        assert_eq!(segment.destination, "10.0.0.2:80".parse().unwrap());
        assert_eq!(
            (segment.sequence, segment.kind),
            (0x0102_0304, SegmentKind::SynAck)
        );
        assert_eq!((segment.realtime_ns, segment.monotonic_ns), (7, 5));
    }

    #[test]
    fn what_is_cut_short_or_no_handshake_is_left_out() {
        let mut bytes = [0_u8; 60];
        bytes[0] = 0x60;
        assert!(parsed(&bytes).is_none(), "no flags");
        bytes[53] = SYN;
        assert!(parsed(&bytes).is_some());
        for length in 0..54 {
            assert!(parsed(&bytes[..length]).is_none(), "{length}");
        }
        bytes[0] = 0x4f;
        assert!(parsed(&bytes).is_none(), "the header ends with the packet");
    }
}
