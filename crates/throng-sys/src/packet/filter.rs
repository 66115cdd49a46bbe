//! The classic BPF program that picks handshakes out (Documentation/networking/filter.rst).
//!
//! On a socket of type `SOCK_DGRAM` the program sees a packet from its IP header on, whatever the interface. Data leaves it after
//! eleven instructions. On loopback every packet passes twice, once leaving and once coming in: the latter is kept.

use std::io;

use socket2::{SockFilter, SockRef};

use super::{PacketSocket, SNAP_BYTES};

const LOAD_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
const LOAD_HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
const LOAD_WORD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
/// Relative to the index register, which holds where the TCP header begins.
const LOAD_TCP_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_IND;
const LOAD_TCP_HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_IND;
/// The index register, from the length in the header of IPv4.
const INDEX_PAST_IPV4: u32 = libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH;
const INDEX: u32 = libc::BPF_LDX | libc::BPF_W | libc::BPF_IMM;
const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// Facts about the packet that are not in it stand at these places.
const fn fact(offset: libc::c_int) -> u32 {
    (libc::SKF_AD_OFF + offset).cast_unsigned()
}

pub(super) fn attach(socket: &PacketSocket, program: &[SockFilter]) -> io::Result<()> {
    SockRef::from(socket).attach_filter(program)
}

/// Lets nothing pass.
pub(super) fn nothing() -> [SockFilter; 1] {
    [step(RETURN, 0)]
}

/// Lets segments with SYN or RST pass that go to `port` or come from it.
pub(super) fn handshakes_of(port: u16) -> Vec<SockFilter> {
    let port = u32::from(port);
    let tcp = libc::IPPROTO_TCP.cast_unsigned();
    let ipv4 = [
        // The protocol is loaded already.
        require(IF_EQUAL, libc::ETH_P_IP.cast_unsigned()),
        vec![step(LOAD_BYTE, 9)],
        require(IF_EQUAL, tcp),
        // Only a first fragment has a TCP header.
        vec![step(LOAD_HALF, 6)],
        refuse(IF_ANY_BIT, 0x1fff),
        vec![step(INDEX_PAST_IPV4, 0)],
    ]
    .concat_steps();
    let ipv6 = [
        vec![step(LOAD_BYTE, 6)],
        require(IF_EQUAL, tcp),
        vec![step(INDEX, 40)],
    ]
    .concat_steps();
    let either = [
        vec![step(LOAD_TCP_BYTE, 13)],
        require(IF_ANY_BIT, SYN_OR_RST),
        vec![
            step(LOAD_TCP_HALF, 0),
            // Past the look at the other port.
            branch(IF_EQUAL, port, 3, 0),
            step(LOAD_TCP_HALF, 2),
        ],
        require(IF_EQUAL, port),
        vec![
            step(LOAD_WORD, fact(libc::SKF_AD_PKTTYPE)),
            // Past the look at the interface.
            branch(IF_EQUAL, u32::from(libc::PACKET_OUTGOING), 0, 3),
            step(LOAD_WORD, fact(libc::SKF_AD_HATYPE)),
        ],
        refuse(IF_EQUAL, u32::from(libc::ARPHRD_LOOPBACK)),
        vec![step(RETURN, SNAP_BYTES)],
    ]
    .concat_steps();
    // Past the jump at the end of IPv4's part too.
    let past_ipv4 = u8::try_from(ipv4.len() + 1).expect("a short program");
    let is_ipv6 = branch(IF_EQUAL, libc::ETH_P_IPV6.cast_unsigned(), past_ipv4, 0);
    let past_ipv6 = step(JUMP, ipv6.len() as u32);
    [
        vec![step(LOAD_WORD, fact(libc::SKF_AD_PROTOCOL)), is_ipv6],
        ipv4,
        vec![past_ipv6],
        ipv6,
        either,
    ]
    .concat_steps()
}

/// Of the byte of flags (RFC 9293, section 3.1).
const SYN_OR_RST: u32 = 0x02 | 0x04;

fn step(code: u32, operand: u32) -> SockFilter {
    branch(code, operand, 0, 0)
}

/// So many steps are left out where the condition holds, or does not.
fn branch(code: u32, operand: u32, where_true: u8, where_false: u8) -> SockFilter {
    let code = u16::try_from(code).expect("codes have 16 bits");
    SockFilter::new(code, where_true, where_false, operand)
}

/// Drops the packet where the condition does not hold.
fn require(condition: u32, operand: u32) -> Vec<SockFilter> {
    vec![branch(condition, operand, 1, 0), step(RETURN, 0)]
}

/// Drops the packet where the condition holds.
fn refuse(condition: u32, operand: u32) -> Vec<SockFilter> {
    vec![branch(condition, operand, 0, 1), step(RETURN, 0)]
}

/// A step cannot be cloned, as joining slices would.
trait ConcatSteps {
    fn concat_steps(self) -> Vec<SockFilter>;
}

impl<const PARTS: usize> ConcatSteps for [Vec<SockFilter>; PARTS] {
    fn concat_steps(self) -> Vec<SockFilter> {
        self.into_iter().flatten().collect()
    }
}
