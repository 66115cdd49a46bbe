//! Lockstep groups: one message on each connection of a group, then all of their replies, then the next round.
//!
//! ```text
//! connection a   send ─────► reply          send ─► reply       …
//! connection b   send ─► reply   (waits)    send ─────► reply   …
//!                round 1                    round 2
//! ```
//!
//! It is what a client thread does that writes to its connections in turn and then reads from them in turn.

use super::{Pacing, Send};

/// Groups of neighbouring connections.
pub(crate) struct Lockstep {
    group: u32,
    groups: Vec<Group>,
    /// Group of each slot.
    of_slot: Vec<u32>,
}

#[derive(Default)]
struct Group {
    members: Vec<u32>,
    waiting_for: u32,
}

impl Lockstep {
    pub(crate) fn new(group: u32) -> Self {
        Self {
            group,
            groups: Vec::new(),
            of_slot: Vec::new(),
        }
    }

    fn one_less(&mut self, group: usize, now_ns: u64, sends: &mut Vec<Send>) {
        let group = &mut self.groups[group];
        group.waiting_for = group.waiting_for.saturating_sub(1);
        if group.waiting_for == 0 {
            group.begin_round(now_ns, sends);
        }
    }
}

impl Group {
    fn begin_round(&mut self, now_ns: u64, sends: &mut Vec<Send>) {
        self.waiting_for = self.members.len() as u32;
        sends.extend(self.members.iter().map(|&slot| Send::at(slot, now_ns)));
    }
}

impl Pacing for Lockstep {
    fn begin(&mut self, slots: &[u32], now_ns: u64, sends: &mut Vec<Send>) {
        let last = slots.iter().max().map_or(0, |&slot| slot as usize + 1);
        self.of_slot = vec![0; last];
        for (number, members) in slots.chunks(self.group as usize).enumerate() {
            members
                .iter()
                .for_each(|&slot| self.of_slot[slot as usize] = number as u32);
            let mut group = Group {
                members: members.to_vec(),
                waiting_for: 0,
            };
            group.begin_round(now_ns, sends);
            self.groups.push(group);
        }
    }

    #[inline]
    fn replied(&mut self, slot: u32, now_ns: u64, sends: &mut Vec<Send>) {
        self.one_less(self.of_slot[slot as usize] as usize, now_ns, sends);
    }

    fn lost(&mut self, slot: u32, outstanding: u32, now_ns: u64, sends: &mut Vec<Send>) {
        let number = self.of_slot[slot as usize] as usize;
        self.groups[number].members.retain(|&member| member != slot);
        if outstanding > 0 {
            self.one_less(number, now_ns, sends);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(sends: &mut Vec<Send>) -> Vec<u32> {
        std::mem::take(sends).iter().map(|send| send.slot).collect()
    }

    #[test]
    fn a_round_begins_when_the_last_reply_of_its_group_is_there() {
        let mut sends = Vec::new();
        let mut pacing = Lockstep::new(2);
        pacing.begin(&[0, 1, 2], 0, &mut sends);
        assert_eq!(slots(&mut sends), [0, 1, 2]);
        pacing.replied(1, 5, &mut sends);
        assert!(sends.is_empty(), "connection 0 still owes a reply");
        pacing.replied(2, 6, &mut sends);
        assert_eq!(slots(&mut sends), [2], "the last group has one member");
        pacing.replied(0, 7, &mut sends);
        assert_eq!(slots(&mut sends), [0, 1]);
    }

    #[test]
    fn a_lost_member_does_not_hold_its_group() {
        let mut sends = Vec::new();
        let mut pacing = Lockstep::new(2);
        pacing.begin(&[0, 1], 0, &mut sends);
        sends.clear();
        pacing.replied(0, 1, &mut sends);
        pacing.lost(1, 1, 2, &mut sends);
        assert_eq!(slots(&mut sends), [0]);
        pacing.lost(0, 1, 3, &mut sends);
        assert!(sends.is_empty(), "nobody is left");
    }
}
