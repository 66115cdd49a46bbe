//! One question about listeners, to be asked again and again: the request is written once, the buffers are used again, and
//! only the fixed part of an answer is read. (Asked a thousand times a second, what a general parser allocates is what costs.)

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NLMSG_OVERRUN, NetlinkBuffer,
    NetlinkHeader, NetlinkMessage, Parseable as _,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP, TCP_LISTEN};
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponseHeader, SocketId, StateFlags,
};

use super::{Listener, Numbered};

/// The kernel fills datagrams of at most 32 KiB (`netlink_dump`, net/netlink/af_netlink.c).
const ANSWER_BYTES_MAX: usize = 32 << 10;

/// A question to [`super::SocketDiagnostics::repeat`].
#[derive(Debug)]
pub struct LookUp {
    request: Vec<u8>,
    is_dump: bool,
    answer: Box<[u8]>,
    found: Vec<Listener>,
}

impl LookUp {
    /// The listener that a connection to `address` would reach: one bound to it, or to the wildcard address of
    /// its family, or to `[::]` for an IPv4 address where that takes both. Of several that share a port it is one, arbitrarily.
    /// Costs some microseconds.
    #[must_use]
    pub fn exact(address: SocketAddr) -> Self {
        let canonical = SocketAddr::new(address.ip().to_canonical(), address.port());
        let scope = if let SocketAddr::V6(v6) = address {
            v6.scope_id()
        } else {
            0
        };
        Self::new(&request(canonical, scope, [0xff; 8]), NLM_F_REQUEST)
    }

    /// All listeners of the family and the port of `address`. Costs a look at each place of the kernel's table of listeners.
    #[must_use]
    pub fn on(address: SocketAddr) -> Self {
        Self::new(&request(address, 0, [0; 8]), NLM_F_REQUEST | NLM_F_DUMP)
    }

    fn new(request: &InetRequest, flags: u16) -> Self {
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        let payload = SockDiagMessage::InetRequest(request.clone()).into();
        let mut message = NetlinkMessage::new(header, payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        Self {
            request: bytes,
            is_dump: flags & NLM_F_DUMP == NLM_F_DUMP,
            answer: vec![0; ANSWER_BYTES_MAX].into(),
            found: Vec::new(),
        }
    }

    /// Sends the request and collects the listeners in its answer.
    pub(super) fn ask(&mut self, diagnostics: &mut Numbered) -> io::Result<&[Listener]> {
        diagnostics.last = diagnostics.last.wrapping_add(1);
        let number = diagnostics.last;
        NetlinkBuffer::new(&mut self.request).set_sequence_number(number);
        let kernel = netlink_sys::SocketAddr::new(0, 0);
        let socket = &diagnostics.socket;
        socket.send_to(&self.request, &kernel, 0)?;
        self.found.clear();
        loop {
            let mut space = &mut *self.answer;
            let length = match socket.recv(&mut space, libc::MSG_TRUNC) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                answer => answer?,
            };
            let datagram = self.answer.get(..length);
            let datagram = datagram.ok_or_else(|| invalid("it is too long"))?;
            match collect(datagram, number, &mut self.found) {
                Ok(Progress::Ended) => break,
                Ok(Progress::Answered) if !self.is_dump => break,
                Ok(Progress::Answered | Progress::OfAnother) => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) && !self.is_dump => break,
                Err(error) => return Err(error),
            }
        }
        Ok(&self.found)
    }
}

/// What a datagram was.
#[derive(Clone, Copy)]
enum Progress {
    /// To a question that was given up.
    OfAnother,
    Answered,
    /// The last one.
    Ended,
}

fn request(address: SocketAddr, interface_id: u32, cookie: [u8; 8]) -> InetRequest {
    let (family, blank) = match address.ip() {
        IpAddr::V4(_) => (AF_INET, SocketId::new_v4()),
        IpAddr::V6(_) => (AF_INET6, SocketId::new_v6()),
    };
    InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::LISTEN,
        socket_id: SocketId {
            source_port: address.port(),
            source_address: address.ip(),
            interface_id,
            cookie,
            ..blank
        },
    }
}

/// Adds the listeners in one datagram of messages to `found`.
fn collect(datagram: &[u8], number: u32, found: &mut Vec<Listener>) -> io::Result<Progress> {
    let mut progress = Progress::OfAnother;
    let mut rest = datagram;
    while !rest.is_empty() {
        let message = NetlinkBuffer::new_checked(rest).map_err(invalid)?;
        // Messages are aligned to four bytes, the last one need not be.
        let length = (message.length() as usize).next_multiple_of(4).max(4);
        rest = rest.get(length..).unwrap_or_default();
        if message.sequence_number() != number {
            continue;
        }
        progress = Progress::Answered;
        match message.message_type() {
            NLMSG_DONE => return Ok(Progress::Ended),
            NLMSG_ERROR => return Err(error(message.payload())),
            NLMSG_OVERRUN => return Err(invalid("it is cut short")),
            _ => {
                let header = InetResponseHeader::parse(message.payload()).map_err(invalid)?;
                found.extend(listener(&header));
            }
        }
    }
    Ok(progress)
}

fn listener(header: &InetResponseHeader) -> Option<Listener> {
    let address = match header.socket_id.source_address {
        IpAddr::V6(ip) => SocketAddrV6::new(
            ip,
            header.socket_id.source_port,
            0,
            header.socket_id.interface_id,
        )
        .into(),
        ip => SocketAddr::new(ip, header.socket_id.source_port),
    };
    (header.state == TCP_LISTEN).then_some(Listener {
        address,
        inode: header.inode,
        uid: header.uid,
        accept_queue: header.recv_queue,
        accept_queue_limit: header.send_queue,
    })
}

/// A number below 0 at its beginning.
fn error(payload: &[u8]) -> io::Error {
    let number = payload
        .first_chunk()
        .map(|bytes| i32::from_ne_bytes(*bytes));
    number.map_or_else(
        || invalid("an error without its number"),
        |number| io::Error::from_raw_os_error(number.wrapping_neg()),
    )
}

fn invalid(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("unexpected sock_diag answer: {what}"),
    )
}
