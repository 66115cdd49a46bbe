//! The order of trials: interleaved and shuffled, so that a slow stretch of the machine falls on all alike.
//!
//! Each repeat is one pass over every unit (a target at a setting, or at all settings that one server process serves in turn),
//! shuffled anew: repeat i of one target is near repeat i of another in time, which is what makes their ratio worth more than two
//! numbers. The generator of random numbers is our own (`SplitMix64`: Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", 2014), since the order of a recorded seed must not change with a library's version.

use throng_record::Plan;

use crate::lifetime::{Unit, units};

/// One trial to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Index into the plan's targets.
    pub(crate) target: u32,
    /// Index into the plan's settings.
    pub(crate) setting: u32,
    /// Which repeat, from 0.
    pub(crate) repeat: u32,
    /// Whether the server's process serves the next trial as well.
    pub(crate) server_lives_on: bool,
}

/// How many trials a plan has; `u32::MAX` stands for more.
pub(crate) fn trials(plan: &Plan) -> u32 {
    (plan.cells().count() as u32).saturating_mul(plan.repeats)
}

/// The trials in their order. Passes are shuffled as they come, so that a million repeats cost nothing in advance.
pub(crate) fn order(plan: &Plan) -> impl Iterator<Item = Cell> {
    let mut random = SplitMix64(plan.seed);
    let units = units(plan);
    (0..plan.repeats).flat_map(move |repeat| {
        let mut pass = units.clone();
        random.shuffle(&mut pass);
        pass.into_iter().flat_map(move |unit| cells(unit, repeat))
    })
}

/// What is to be made again because of these (target, setting, repeat): each with all that the same process served, since a process that has served
/// many is another than one that has not.
pub(crate) fn again(plan: &Plan, disturbed: &[(u32, u32, u32)]) -> Vec<Vec<Cell>> {
    let of_repeat = |repeat| {
        let is_disturbed = move |unit: &Unit| {
            let mut settings = unit.settings.iter();
            settings.any(|&setting| disturbed.contains(&(unit.target, setting, repeat)))
        };
        let units = units(plan).into_iter().filter(is_disturbed);
        units.map(move |unit| cells(unit, repeat).collect())
    };
    (0..plan.repeats).flat_map(of_repeat).collect()
}

fn cells(unit: Unit, repeat: u32) -> impl Iterator<Item = Cell> {
    let last = unit.settings.len() - 1;
    let settings = unit.settings.into_iter().enumerate();
    settings.map(move |(place, setting)| Cell {
        target: unit.target,
        setting,
        repeat,
        server_lives_on: place < last,
    })
}

#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From 0 to 1, 1 left out.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Fisher and Yates; the bias of the remainder is below 2⁻⁵⁰ for any plan.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::plan::{PlanDraft, resolve, test_environment};

    fn plan(seed: u64) -> Plan {
        plan_of("", seed)
    }

    fn plan_of(more: &str, seed: u64) -> Plan {
        let text = format!(
            "targets = ['poll', 'epoll-edge', 'io-uring']\nconnections = [10, 100]\nrepeats = 5\nseed = {seed}\n{more}"
        );
        let draft = PlanDraft::parse(&text, "test").expect("a plan");
        resolve(draft, &test_environment(2)).expect("resolves").plan
    }

    #[test]
    fn each_repeat_is_one_pass_over_every_cell() {
        let order: Vec<Cell> = order(&plan(7)).collect();
        assert_eq!(order.len() as u32, trials(&plan(7)));
        for (repeat, pass) in order.chunks(6).enumerate() {
            assert!(pass.iter().all(|cell| cell.repeat == repeat as u32));
            let cells: BTreeSet<_> = pass
                .iter()
                .map(|cell| (cell.target, cell.setting))
                .collect();
            assert_eq!(cells.len(), 6);
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        let of_seed = |seed| order(&plan(seed)).collect::<Vec<_>>();
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1), of_seed(2));
        let passes: BTreeSet<_> = of_seed(1)
            .chunks(6)
            .map(|pass| {
                pass.iter()
                    .map(|cell| (cell.target, cell.setting))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert!(passes.len() > 1, "passes are shuffled anew");
    }

    #[test]
    fn a_sweep_of_one_process_stays_together_and_sweeps_are_shuffled() {
        let plan = plan_of("server = 'per-sweep'\nsize = [1, 2]", 3);
        let order: Vec<Cell> = order(&plan).collect();
        assert_eq!(order.len(), 60);
        for sweep in order.chunks(4) {
            assert!(sweep.iter().all(|cell| cell.target == sweep[0].target));
            let connections = |cell: &Cell| plan.settings[cell.setting as usize].connections;
            assert!(sweep.is_sorted_by_key(connections));
            let lives_on: Vec<bool> = sweep.iter().map(|cell| cell.server_lives_on).collect();
            assert_eq!(lives_on, [true, true, true, false]);
        }
        let passes: BTreeSet<Vec<u32>> = order
            .chunks(12)
            .map(|pass| pass.iter().map(|cell| cell.target).collect())
            .collect();
        assert!(passes.len() > 1, "passes are shuffled anew");
    }

    #[test]
    fn what_is_made_again_comes_with_all_that_its_process_served() {
        let made = |more| {
            let of = |cell: &Cell| (cell.target, cell.setting, cell.repeat);
            let units = again(&plan_of(more, 3), &[(1, 1, 4), (2, 0, 2)]);
            let units = units.iter().map(|unit| unit.iter().map(of).collect());
            units.collect::<Vec<Vec<_>>>()
        };
        assert_eq!(made(""), [[(2, 0, 2)], [(1, 1, 4)]]);
        assert_eq!(
            made("server = 'per-sweep'"),
            [[(2, 0, 2), (2, 1, 2)], [(1, 0, 4), (1, 1, 4)]]
        );
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
