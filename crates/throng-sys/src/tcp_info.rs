//! The kernel's own account of one TCP connection: `getsockopt(TCP_INFO)`.
//!
//! `struct tcp_info` (include/uapi/linux/tcp.h) has only ever grown at its end, and the kernel says how much of
//! it it filled in. The answer is therefore read by offset from the bytes that came; what a kernel does not know
//! yet is `None`. Years are those of the kernels that brought a field.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::tcp_info;

use crate::kernel_file::with_context;

/// One connection at one moment, as far as anybody here asks. Counts are since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// Whether the handshake is over and neither side has ended.
    pub is_established: bool,
    /// Segments sent and not yet acknowledged.
    pub unacked: u32,
    /// Time since data was last sent.
    pub last_data_sent_ms: u32,
    /// Time since data was last received.
    pub last_data_received_ms: u32,
    /// All retransmissions, those of the SYN included.
    pub total_retrans: u32,
    /// Bytes that the peer has acknowledged, the SYN counted as one (Linux 4.1, 2015).
    pub bytes_acked: Option<u64>,
    /// Bytes received in order, a FIN counted as one (Linux 4.1, 2015).
    pub bytes_received: Option<u64>,
    /// Bytes in the send buffer that have not been sent even once (Linux 4.6, 2016).
    pub notsent_bytes: Option<u32>,
    /// Segments with data sent (Linux 4.6, 2016).
    pub data_segs_out: Option<u32>,
}

/// `TCP_ESTABLISHED` (include/net/tcp_states.h).
const ESTABLISHED: u8 = 1;

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
            is_established: at.byte(offset_of!(tcp_info, tcpi_state))? == ESTABLISHED,
            unacked: at.word(offset_of!(tcp_info, tcpi_unacked))?,
            last_data_sent_ms: at.word(offset_of!(tcp_info, tcpi_last_data_sent))?,
            last_data_received_ms: at.word(offset_of!(tcp_info, tcpi_last_data_recv))?,
            total_retrans: at.word(offset_of!(tcp_info, tcpi_total_retrans))?,
            bytes_acked: at.long(offset_of!(tcp_info, tcpi_bytes_acked)),
            bytes_received: at.long(offset_of!(tcp_info, tcpi_bytes_received)),
            notsent_bytes: at.word(offset_of!(tcp_info, tcpi_notsent_bytes)),
            data_segs_out: at.word(offset_of!(tcp_info, tcpi_data_segs_out)),
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
        assert!(of_client.is_established);
        // The SYN counts as one.
        assert_eq!(of_client.bytes_acked.unwrap(), 1010);
        assert_eq!(of_server.bytes_received.unwrap(), 1009);
        assert_eq!((of_client.total_retrans, of_client.unacked), (0, 0));
        assert_eq!(of_client.notsent_bytes, Some(0));
        assert!(of_client.data_segs_out.unwrap() >= 1);
    }

    #[test]
    fn the_answer_of_an_older_kernel_lacks_only_the_later_fields() {
        let mut answer = [0_u8; 104];
        answer[0] = ESTABLISHED;
        answer[100..].copy_from_slice(&77_u32.to_ne_bytes());
        let info = TcpInfo::parse(&answer).unwrap();
        assert_eq!((info.is_established, info.total_retrans), (true, 77));
        assert_eq!((info.bytes_acked, info.data_segs_out), (None, None));
        assert_eq!(TcpInfo::parse(&answer[..103]), None);
    }

    #[test]
    fn what_is_no_tcp_socket_is_refused() {
        let file = std::fs::File::open("/proc/version").unwrap();
        assert!(TcpInfo::of(file.as_fd()).is_err());
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(TcpInfo::of(one.as_fd()).is_err());
    }
}
