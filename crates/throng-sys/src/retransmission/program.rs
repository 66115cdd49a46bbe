//! The program that writes a retransmission down, made for one event and one port (RFC 9669 for the instructions; `bpf-helpers(7)`).

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};

use super::RetransmissionKind;
use super::bpf::{Counter, Instruction, Program, Ring};
use super::trace_event::TraceEvent;

/// What it writes, in this order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// `CLOCK_MONOTONIC`.
    pub(super) monotonic_ns: u64,
    pub(super) kind: RetransmissionKind,
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
    pub(super) source_ip: [u8; 16],
    pub(super) destination_ip: [u8; 16],
}

const RECORD_BYTES: i16 = 48;
/// Where its parts begin.
const KIND_AT: i16 = 8;
const SOURCE_PORT_AT: i16 = 12;
const DESTINATION_PORT_AT: i16 = 14;
const SOURCE_IP_AT: i16 = 16;
const DESTINATION_IP_AT: i16 = 32;

/// `TCP_SYN_SENT`, include/net/tcp_states.h: what a client in it sends again is its SYN.
const SYN_SENT: i32 = 2;

/// `bpf_ktime_get_ns` and `bpf_ringbuf_output`.
const MONOTONIC_NS: i32 = 5;
const RING_OUTPUT: i32 = 130;
/// `BPF_RB_NO_WAKEUP`: somebody comes to look.
const NO_WAKE_UP: i32 = 1;

/// Registers: results, arguments, one that calls leave alone, and the end of the stack.
const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const R4: u8 = 4;
const R6: u8 = 6;
const STACK: u8 = 10;
/// In place of a source register: the operand is a map, or the value of its first entry.
const MAP: u8 = 1;
const MAP_VALUE: u8 = 2;

pub(super) fn load(
    event: &TraceEvent,
    kind: RetransmissionKind,
    port: u16,
    ring: &Ring,
    without_room: &Counter,
) -> io::Result<Program> {
    let mut program = Assembly::default();
    program.emit(MOVE_REGISTER, R6, R1, 0, 0);
    let servers_port = match kind {
        RetransmissionKind::Syn => {
            program.require(event, "state", SYN_SENT)?;
            // One that found no way out is not counted by the kernel either. Older kernels tell of none.
            if event.field("err").is_ok() {
                program.require(event, "err", 0)?;
            }
            "dport"
        }
        RetransmissionKind::SynAck => "sport",
    };
    program.require(event, servers_port, port.into())?;
    program.emit(CALL, 0, 0, 0, MONOTONIC_NS);
    program.emit(STORE_8, STACK, R0, -RECORD_BYTES, 0);
    program.emit(
        STORE_4_OPERAND,
        STACK,
        0,
        KIND_AT - RECORD_BYTES,
        number(kind),
    );
    for (field, at) in [
        ("sport", SOURCE_PORT_AT),
        ("dport", DESTINATION_PORT_AT),
        ("saddr_v6", SOURCE_IP_AT),
        ("daddr_v6", DESTINATION_IP_AT),
    ] {
        program.copy(event, field, at)?;
    }
    program.emit_wide(R1, MAP, ring.as_fd().as_raw_fd());
    program.emit(MOVE_REGISTER, R2, STACK, 0, 0);
    program.emit(ADD, R2, 0, 0, (-RECORD_BYTES).into());
    program.emit(MOVE, R3, 0, 0, RECORD_BYTES.into());
    program.emit(MOVE, R4, 0, 0, NO_WAKE_UP);
    program.emit(CALL, 0, 0, 0, RING_OUTPUT);
    program.end_if(JUMP_IF_EQUAL, R0, 0);
    program.emit_wide(R1, MAP_VALUE, without_room.as_raw_fd());
    program.emit(MOVE, R2, 0, 0, 1);
    program.emit(ATOMIC_ADD_8, R1, R2, 0, 0);
    Program::load(&program.finish())
}

fn number(kind: RetransmissionKind) -> i32 {
    match kind {
        RetransmissionKind::Syn => 0,
        RetransmissionKind::SynAck => 1,
    }
}

impl Record {
    /// `None` for what the program does not write.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let kind = match u32::from_ne_bytes(part(bytes, KIND_AT)?) {
            0 => RetransmissionKind::Syn,
            1 => RetransmissionKind::SynAck,
            _ => return None,
        };
        Some(Self {
            monotonic_ns: u64::from_ne_bytes(part(bytes, 0)?),
            kind,
            source_port: u16::from_ne_bytes(part(bytes, SOURCE_PORT_AT)?),
            destination_port: u16::from_ne_bytes(part(bytes, DESTINATION_PORT_AT)?),
            source_ip: part(bytes, SOURCE_IP_AT)?,
            destination_ip: part(bytes, DESTINATION_IP_AT)?,
        })
    }
}

fn part<const BYTES: usize>(bytes: &[u8], at: i16) -> Option<[u8; BYTES]> {
    let from = usize::try_from(at).ok()?;
    bytes.get(from..from + BYTES)?.try_into().ok()
}

/// Operation codes (RFC 9669, section 3 and on).
const MOVE: u8 = 0xb7;
const MOVE_REGISTER: u8 = 0xbf;
const ADD: u8 = 0x07;
const LOAD_WIDE: u8 = 0x18;
const LOAD_4: u8 = 0x61;
const LOAD_2: u8 = 0x69;
const STORE_2: u8 = 0x6b;
const STORE_8: u8 = 0x7b;
const STORE_4_OPERAND: u8 = 0x62;
const ATOMIC_ADD_8: u8 = 0xdb;
const JUMP_IF_EQUAL: u8 = 0x15;
const JUMP_IF_NOT_EQUAL: u8 = 0x55;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// A program in the making.
#[derive(Default)]
struct Assembly {
    instructions: Vec<Instruction>,
    /// Those that jump to the end, which is not known yet.
    to_end: Vec<usize>,
}

impl Assembly {
    fn emit(&mut self, code: u8, destination: u8, source: u8, offset: i16, operand: i32) {
        self.instructions.push(Instruction {
            code,
            registers: destination | source << 4,
            offset,
            operand,
        });
    }

    /// An operand of 64 bits takes two.
    fn emit_wide(&mut self, destination: u8, source: u8, operand: i32) {
        self.emit(LOAD_WIDE, destination, source, 0, operand);
        self.emit(0, 0, 0, 0, 0);
    }

    /// Ends the program where the register compares so with the operand.
    fn end_if(&mut self, comparison: u8, register: u8, operand: i32) {
        self.to_end.push(self.instructions.len());
        self.emit(comparison, register, 0, 0, operand);
    }

    /// Ends the program unless the event's field has this value.
    fn require(&mut self, event: &TraceEvent, field: &str, value: i32) -> io::Result<()> {
        let (offset, size) = event.field(field)?;
        let load = if size == 2 { LOAD_2 } else { LOAD_4 };
        self.emit(load, R2, R6, offset.cast_signed(), 0);
        self.end_if(JUMP_IF_NOT_EQUAL, R2, value);
        Ok(())
    }

    /// Copies the event's field into the record, by twos: fields of bytes are aligned to no more.
    fn copy(&mut self, event: &TraceEvent, field: &str, at: i16) -> io::Result<()> {
        let (offset, size) = event.field(field)?;
        for piece in (0..size).step_by(2) {
            self.emit(LOAD_2, R2, R6, (offset + piece).cast_signed(), 0);
            let to = at - RECORD_BYTES + piece.cast_signed();
            self.emit(STORE_2, STACK, R2, to, 0);
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<Instruction> {
        let end = self.instructions.len();
        self.emit(MOVE, R0, 0, 0, 0);
        self.emit(EXIT, 0, 0, 0, 0);
        for from in self.to_end {
            // Relative to the next.
            self.instructions[from].offset = (end - from - 1) as i16;
        }
        self.instructions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_lead_to_the_end() {
        let mut program = Assembly::default();
        program.end_if(JUMP_IF_EQUAL, R2, 7);
        program.emit_wide(R1, MAP, 3);
        program.end_if(JUMP_IF_NOT_EQUAL, R2, 9);
        let offsets: Vec<i16> = program.finish().iter().map(|one| one.offset).collect();
        assert_eq!(offsets, [3, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let mut bytes = [0; RECORD_BYTES as usize];
        bytes[..8].copy_from_slice(&77_u64.to_ne_bytes());
        bytes[8..12].copy_from_slice(&1_u32.to_ne_bytes());
        bytes[12..14].copy_from_slice(&80_u16.to_ne_bytes());
        bytes[14..16].copy_from_slice(&50_000_u16.to_ne_bytes());
        bytes[31] = 1;
        bytes[47] = 2;
        let record = Record::parse(&bytes).unwrap();
        assert_eq!(
            (record.monotonic_ns, record.kind),
            (77, RetransmissionKind::SynAck)
        );
        assert_eq!((record.source_port, record.destination_port), (80, 50_000));
        assert_eq!((record.source_ip[15], record.destination_ip[15]), (1, 2));
        assert_eq!(Record::parse(&bytes[..47]), None);
        bytes[8] = 2;
        assert_eq!(Record::parse(&bytes), None);
    }
}
