//! The kernel's own account of one TCP connection: `getsockopt(TCP_INFO)`.
//!
//! `struct tcp_info` (include/uapi/linux/tcp.h) has only ever grown at its end, and the kernel says how much of
//! it it filled in. The answer is therefore read by offset from the bytes that came; what a kernel does not know
//! yet is `None`. Years are those of the kernels that brought a field.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::kernel_file::with_context;

/// State of a TCP socket (RFC 9293; numbers of include/net/tcp_states.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the states' names are those of RFC 9293, figure 5"
)]
pub enum TcpState {
    Established,
    SynSent,
    SynReceived,
    FinWait1,
    FinWait2,
    TimeWait,
    Close,
    CloseWait,
    LastAck,
    Listen,
    Closing,
    NewSynReceived,
    /// A state that this list does not know.
    Other(u8),
}

impl From<u8> for TcpState {
    fn from(number: u8) -> Self {
        match number {
            1 => Self::Established,
            2 => Self::SynSent,
            3 => Self::SynReceived,
            4 => Self::FinWait1,
            5 => Self::FinWait2,
            6 => Self::TimeWait,
            7 => Self::Close,
            8 => Self::CloseWait,
            9 => Self::LastAck,
            10 => Self::Listen,
            11 => Self::Closing,
            12 => Self::NewSynReceived,
            other => Self::Other(other),
        }
    }
}

/// One connection at one moment. Counts are since it was opened, segments unless the name says otherwise.
///
/// For a listener the kernel puts the accept queue's length into `unacked` and its limit into `sacked`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// Where in its life the connection is.
    pub state: TcpState,
    /// Retransmissions of the segment that is waiting for its ACK right now; 0 once that came.
    pub retransmits_now: u8,
    /// Doublings of the retransmission timeout right now.
    pub backoff: u8,
    /// Retransmission timeout.
    pub rto_us: u32,
    /// How long the next delayed ACK is put off.
    pub ato_us: u32,
    /// Largest segment sent, bytes.
    pub snd_mss_bytes: u32,
    /// Sent and not yet acknowledged. Of a listener: the accept queue's length.
    pub unacked: u32,
    /// Acknowledged out of order. Of a listener: the accept queue's limit.
    pub sacked: u32,
    /// Believed lost.
    pub lost: u32,
    /// Retransmitted and not yet acknowledged.
    pub retrans: u32,
    /// Time since data was last sent.
    pub last_data_sent_ms: u32,
    /// Time since data was last received.
    pub last_data_received_ms: u32,
    /// Smoothed round-trip time. Includes the receiver's delay of ACKs.
    pub rtt_us: u32,
    /// Its mean deviation.
    pub rttvar_us: u32,
    /// Slow-start threshold.
    pub snd_ssthresh: u32,
    /// Congestion window.
    pub snd_cwnd: u32,
    /// Round-trip time as the receiving side estimates it; 0 without such an estimate.
    pub rcv_rtt_us: u32,
    /// All retransmissions, those of the SYN included.
    pub total_retrans: u32,
    /// Bytes that the peer has acknowledged, the SYN counted as one (Linux 4.1, 2015).
    pub bytes_acked: Option<u64>,
    /// Bytes received in order, a FIN counted as one (Linux 4.1, 2015).
    pub bytes_received: Option<u64>,
    /// Segments sent, bare ACKs included (Linux 4.2, 2015).
    pub segs_out: Option<u32>,
    /// Segments received, bare ACKs included (Linux 4.2, 2015).
    pub segs_in: Option<u32>,
    /// Bytes in the send buffer that have not been sent even once (Linux 4.6, 2016).
    pub notsent_bytes: Option<u32>,
    /// Shortest round-trip time seen (Linux 4.6, 2016); `None` also before the first measurement.
    pub min_rtt_us: Option<u32>,
    /// Segments with data received (Linux 4.6, 2016).
    pub data_segs_in: Option<u32>,
    /// Segments with data sent (Linux 4.6, 2016).
    pub data_segs_out: Option<u32>,
    /// Time with data on its way (Linux 4.10, 2017).
    pub busy_time_us: Option<u64>,
    /// The part of it held up by the peer's receive window (Linux 4.10, 2017).
    pub rwnd_limited_us: Option<u64>,
    /// The part of it held up by the send buffer (Linux 4.10, 2017).
    pub sndbuf_limited_us: Option<u64>,
    /// Bytes of data sent, retransmitted ones included (Linux 4.19, 2018).
    pub bytes_sent: Option<u64>,
    /// Bytes of data retransmitted (Linux 4.19, 2018).
    pub bytes_retrans: Option<u64>,
}

impl TcpInfo {
    /// Asks the kernel about the TCP socket `socket`.
    ///
    /// # Errors
    /// `ENOTSOCK`, `EOPNOTSUPP` or `ENOPROTOOPT` if it is not a TCP socket.
    pub fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut answer = [0_u8; ANSWER_BYTES_MAX];
        let mut length = ANSWER_BYTES_MAX as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes, the size of `answer`, and puts into `length` how many.
        let failed = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                answer.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if failed != 0 {
            return Err(with_context(
                &io::Error::last_os_error(),
                "no TCP_INFO of this descriptor",
            ));
        }
        Self::parse(&answer[..length as usize]).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "the kernel's TCP_INFO is too short",
            )
        })
    }

    /// `None` if not even the fields of the first Linux with this struct are there.
    fn parse(answer: &[u8]) -> Option<Self> {
        let at = Answer(answer);
        Some(Self {
            state: TcpState::from(at.byte(0)?),
            retransmits_now: at.byte(2)?,
            backoff: at.byte(4)?,
            rto_us: at.word(8)?,
            ato_us: at.word(12)?,
            snd_mss_bytes: at.word(16)?,
            unacked: at.word(24)?,
            sacked: at.word(28)?,
            lost: at.word(32)?,
            retrans: at.word(36)?,
            last_data_sent_ms: at.word(44)?,
            last_data_received_ms: at.word(52)?,
            rtt_us: at.word(68)?,
            rttvar_us: at.word(72)?,
            snd_ssthresh: at.word(76)?,
            snd_cwnd: at.word(80)?,
            rcv_rtt_us: at.word(92)?,
            total_retrans: at.word(100)?,
            bytes_acked: at.long(120),
            bytes_received: at.long(128),
            segs_out: at.word(136),
            segs_in: at.word(140),
            notsent_bytes: at.word(144),
            // All ones: nothing measured yet.
            min_rtt_us: at.word(148).filter(|&rtt_us| rtt_us != u32::MAX),
            data_segs_in: at.word(152),
            data_segs_out: at.word(156),
            busy_time_us: at.long(168),
            rwnd_limited_us: at.long(176),
            sndbuf_limited_us: at.long(184),
            bytes_sent: at.long(200),
            bytes_retrans: at.long(208),
        })
    }
}

/// Ample: about twice what Linux 6 answers. A longer answer would be cut off in its later fields only.
const ANSWER_BYTES_MAX: usize = 512;

/// The bytes that the kernel filled in, read at the offsets of `struct tcp_info`.
struct Answer<'a>(&'a [u8]);

impl Answer<'_> {
    fn array<const SIZE: usize>(&self, offset: usize) -> Option<[u8; SIZE]> {
        self.0.get(offset..)?.first_chunk().copied()
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.array(offset).map(u8::from_ne_bytes)
    }

    fn word(&self, offset: usize) -> Option<u32> {
        self.array(offset).map(u32::from_ne_bytes)
    }

    fn long(&self, offset: usize) -> Option<u64> {
        self.array(offset).map(u64::from_ne_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::mem::offset_of;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_connection_and_its_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 1009]).unwrap();
        server.read_exact(&mut [0; 1009]).unwrap();
        server.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();

        let of_client = TcpInfo::of(client.as_fd()).unwrap();
        let of_server = TcpInfo::of(server.as_fd()).unwrap();
        assert_eq!(of_client.state, TcpState::Established);
        assert!(of_client.rtt_us > 0 && of_client.snd_cwnd > 0 && of_client.snd_mss_bytes > 0);
        assert_eq!(of_client.bytes_sent.unwrap(), 1009);
        assert_eq!(of_server.bytes_received.unwrap(), 1009);
        assert_eq!(of_client.total_retrans, 0);
        assert!(of_client.segs_out.unwrap() >= 3);
        assert!(of_server.data_segs_in.unwrap() >= 1);
    }

    #[test]
    fn a_listener_shows_its_accept_queue() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _waiting = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = TcpInfo::of(listener.as_fd()).unwrap();
        assert_eq!((info.state, info.unacked), (TcpState::Listen, 1));
        assert!(info.sacked > 0);
    }

    #[test]
    fn the_answer_of_an_older_kernel_lacks_only_the_later_fields() {
        let mut answer = [0_u8; 104];
        answer[0] = 10;
        answer[68..72].copy_from_slice(&77_u32.to_ne_bytes());
        let info = TcpInfo::parse(&answer).unwrap();
        assert_eq!((info.state, info.rtt_us), (TcpState::Listen, 77));
        assert_eq!(
            (info.bytes_acked, info.min_rtt_us, info.bytes_retrans),
            (None, None, None)
        );
        assert_eq!(TcpInfo::parse(&answer[..103]), None);
    }

    #[test]
    fn the_offsets_are_those_of_the_c_struct() {
        use libc::tcp_info;
        assert_eq!(offset_of!(tcp_info, tcpi_unacked), 24);
        assert_eq!(offset_of!(tcp_info, tcpi_rtt), 68);
        assert_eq!(offset_of!(tcp_info, tcpi_rcv_rtt), 92);
        assert_eq!(offset_of!(tcp_info, tcpi_total_retrans), 100);
        assert_eq!(offset_of!(tcp_info, tcpi_bytes_acked), 120);
        assert_eq!(offset_of!(tcp_info, tcpi_segs_out), 136);
        assert_eq!(offset_of!(tcp_info, tcpi_min_rtt), 148);
        assert_eq!(offset_of!(tcp_info, tcpi_busy_time), 168);
        assert_eq!(offset_of!(tcp_info, tcpi_bytes_retrans), 208);
    }

    #[test]
    fn what_is_no_tcp_socket_is_refused() {
        let file = std::fs::File::open("/proc/version").unwrap();
        assert!(TcpInfo::of(file.as_fd()).is_err());
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(TcpInfo::of(one.as_fd()).is_err());
    }
}
