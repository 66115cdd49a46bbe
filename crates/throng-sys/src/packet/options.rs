//! Options of a packet socket, and binding it: no crate wraps them.

use std::io;
use std::os::fd::AsRawFd as _;

use super::{Interfaces, PacketSocket};

/// The loopback interface has this number in every namespace (`LOOPBACK_IFINDEX`, include/net/flow.h).
const LOOPBACK_INDEX: libc::c_int = 1;

/// What `SOL_PACKET`'s options take: plain integers, and structures of them.
///
/// # Safety
/// Only for types without padding, whose bytes may all be read.
pub(super) unsafe trait Plain {}
// SAFETY: an integer.
unsafe impl Plain for libc::c_int {}
// SAFETY: four integers of the same size.
unsafe impl Plain for libc::tpacket_req {}

/// Sets an option of `SOL_PACKET`.
pub(super) fn set<Value: Plain>(
    socket: &PacketSocket,
    option: libc::c_int,
    value: &Value,
) -> io::Result<()> {
    // SAFETY: the pointer and the length are of `value`, which outlives the call; the descriptor is open.
    let result = unsafe {
        libc::setsockopt(
            socket.descriptor.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<Value>() as libc::socklen_t,
        )
    };
    succeeded(result)
}

/// Lets it receive, all protocols: packets that leave are seen by no other.
pub(super) fn bind(socket: &PacketSocket, interfaces: Interfaces) -> io::Result<()> {
    // SAFETY: all zeros are a valid sockaddr_ll: it is made of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = match interfaces {
        Interfaces::Loopback => LOOPBACK_INDEX,
        Interfaces::All => 0,
    };
    // SAFETY: the pointer and the length are of `address`, which outlives the call; the descriptor is open.
    let result = unsafe {
        libc::bind(
            socket.descriptor.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    };
    succeeded(result)
}

/// Packets that passed the filter and found no room since this was last asked.
pub(super) fn take_losses(socket: &PacketSocket) -> io::Result<u32> {
    let mut statistics = libc::tpacket_stats {
        tp_packets: 0,
        tp_drops: 0,
    };
    let mut length = size_of_val(&statistics) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, the size of `statistics`, two integers.
    let result = unsafe {
        libc::getsockopt(
            socket.descriptor.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    };
    succeeded(result).map(|()| statistics.tp_drops)
}

fn succeeded(result: libc::c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
