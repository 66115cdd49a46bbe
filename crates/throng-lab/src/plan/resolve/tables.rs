//! As many descriptor tables as the connections need: shards of the generator, and workers of models whose loops have one each.
//!
//! `RLIMIT_NOFILE` bounds a table and not a process (`unshare(2)`, `CLONE_FILES`), so a number of connections that does not fit into
//! one is shared out. Left out on purpose: models with one table for all. They run into their limit, which is then the result.

use throng_record::{PhaseName, Setting, TargetRecord};

use crate::capacity::of_a_table;
use crate::plan::Environment;
use crate::plan::notes::tell;

/// Tables that hold so many connections, where each keeps `reserved` descriptors for other things.
pub(super) fn needed(connections: u32, limit: u64, reserved: u64) -> u32 {
    let each = limit.saturating_sub(reserved).max(1);
    u64::from(connections).div_ceil(each) as u32
}

/// Loops with tables of their own that hold so many connections. Where all hear what one says, each keeps a way to all the others, so that more
/// loops hold less each; where no number of them is enough, the number that holds most.
fn loops_needed(connections: u32, limit: u64, all_hear: bool) -> u32 {
    let reserved = |loops: u32| of_a_table(loops.into(), true, all_hear);
    let mut loops = needed(connections, limit, reserved(1));
    if !all_hear {
        return loops;
    }
    let most = u32::try_from(limit.saturating_sub(reserved(0)) / 2).unwrap_or(u32::MAX);
    while loops < most && needed(connections, limit, reserved(loops)) > loops {
        loops += 1;
    }
    loops.min(most).max(1)
}

/// Asks each model that has private tables for enough workers, where nobody has asked for any and its usual number is too small.
pub(super) fn ask_for(
    targets: &mut [TargetRecord],
    settings: &[Setting],
    environment: &Environment,
    notes: &mut Vec<String>,
) {
    let hears = |setting: &Setting| setting.phases.has(PhaseName::Get);
    let are_held = |setting: &&Setting| hears(setting) || setting.phases.has(PhaseName::Hold);
    let most = settings.iter().filter(are_held);
    let Some(setting) = most.max_by_key(|setting| setting.connections) else {
        return;
    };
    let limit = environment.limits.open_files_hard;
    let all_hear = hears(setting);
    let needed = loops_needed(setting.connections, limit, all_hear);
    let cpus = match setting.server_cpus.len() {
        0 => environment.cpus_allowed.len(),
        pinned => pinned,
    };
    for target in targets {
        let Some(model) = environment.model_of(target) else {
            continue;
        };
        let usual = model.workers.usual(cpus as u32).unwrap_or(1);
        if model.has_private_tables && target.options.workers.is_none() && needed > usual {
            target.options.workers = Some(needed);
            tell(
                notes,
                format!(
                    "{} has {needed} workers: {} connections need so many descriptor tables of {limit} each",
                    target.name, setting.connections
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_post_to_each_other_need_more_tables_and_end_where_more_hold_less() {
        assert_eq!(loops_needed(1_000_000, 20_000, false), 51);
        assert_eq!(loops_needed(1_000_000, 20_000, true), 51);
        assert_eq!(loops_needed(400, 64, false), 8);
        assert_eq!(loops_needed(400, 64, true), 10, "of 64 - 14 - 10 each");
        assert_eq!(loops_needed(10_000, 64, true), 25, "625 at most");
        assert_eq!(loops_needed(10, 16, true), 1);
    }
}
