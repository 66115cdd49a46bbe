//! Descriptors: one for each connection, on each side.

use throng_findings::limits::OPEN_FILES;
use throng_record::format::exact;
use throng_sys::{descriptor_table, limits};

use super::{Line, Status};

/// Below this not even a short plan with its pipes and listeners has room.
const HARD_LEAST: u64 = 64;
/// What most plans need at most.
const HARD_PLENTY: u64 = 20_000;

pub(super) fn lines() -> Vec<Line> {
    vec![open_files(), private_tables()]
}

fn open_files() -> Line {
    let limit = limits::open_files();
    let status = match limit.hard {
        ..HARD_LEAST => Status::Unusable,
        HARD_LEAST..HARD_PLENTY => Status::Warn,
        HARD_PLENTY.. => Status::Ok,
    };
    let meaning = format!(
        "throng raises the soft limit to the hard one by itself: at most {} connections to an event loop in one process, and as many \
         again for each shard of the generator",
        amount(limit.hard)
    );
    let found = format!("soft {}, hard {}", amount(limit.soft), amount(limit.hard));
    Line::new("open files", status, found, meaning).improve_unless_ok(OPEN_FILES.raised_to(1 << 20))
}

/// Tried on a thread that ends at once.
fn private_tables() -> Line {
    let tried = std::thread::spawn(|| descriptor_table::make_private(&[])).join();
    match tried {
        Ok(Ok(())) => Line::new(
            "descriptor tables",
            Status::Ok,
            "private to a thread",
            "the limit on open files bounds each shard of the generator, and not the run",
        ),
        Ok(Err(error)) => Line::new(
            "descriptor tables",
            Status::Unusable,
            error.to_string(),
            "a shard of the generator cannot have a descriptor table of its own, and does not start",
        )
        .improve("boot Linux 5.9 or newer, or leave the sandbox that hides close_range(2)"),
        Err(_) => Line::new(
            "descriptor tables",
            Status::Unusable,
            "no thread could be started to try it",
            "the generator needs threads",
        ),
    }
}

/// A limit in words.
pub(super) fn amount(limit: u64) -> String {
    if limit == u64::MAX {
        "unlimited".to_owned()
    } else {
        exact(limit)
    }
}
