//! As many descriptor tables as the connections need: shards of the generator, and workers of models whose loops have one each.
//!
//! `RLIMIT_NOFILE` bounds a table and not a process (`unshare(2)`, `CLONE_FILES`), so a number of connections that does not fit into
//! one is shared out. Left out on purpose: models with one table for all. They run into their limit, which is then the result.

use throng_record::{Setting, TargetRecord, Work};

use super::tell;
use crate::capacity::OF_A_LOOP;
use crate::plan::Environment;

/// Tables that hold so many connections, where each keeps `reserved` descriptors for other things.
pub(super) fn needed(connections: u32, limit: u64, reserved: u64) -> u32 {
    let each = limit.saturating_sub(reserved).max(1);
    u64::from(connections).div_ceil(each) as u32
}

/// Asks each model that has private tables for enough workers, where nobody has asked for any and its usual number is too small.
pub(super) fn ask_for(
    targets: &mut [TargetRecord],
    settings: &[Setting],
    environment: &Environment,
    notes: &mut Vec<String>,
) {
    let are_held = |setting: &&Setting| matches!(setting.work, Work::Fanout(_) | Work::Hold(_));
    let most = settings.iter().filter(are_held);
    let Some(setting) = most.max_by_key(|setting| setting.connections) else {
        return;
    };
    let limit = environment.open_files_hard;
    let needed = needed(setting.connections, limit, OF_A_LOOP);
    let cpus = match setting.server_cpus.len() {
        0 => environment.cpus_allowed.len(),
        pinned => pinned,
    };
    for target in targets {
        let Some(model) = environment.model_of(target) else {
            continue;
        };
        let usual = if model.uses_every_cpu { cpus as u32 } else { 1 };
        if model.private_tables && target.options.workers.is_none() && needed > usual {
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
