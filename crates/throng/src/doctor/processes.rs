//! Threads: what bounds a server with one for each connection.

use throng_findings::Limits;
use throng_findings::limits::{Bound, MAPPINGS, MAPPINGS_OF_BUILT_IN_THREAD, OF_THREADS};
use throng_record::format::exact;

use super::{Line, Status};

/// Threads that a server with one per connection should be able to have.
const PLENTY: u64 = 20_000;
/// To what a limit is raised that is met.
const RAISED: u64 = 1_000_000;

pub(super) fn lines(limits: &Limits) -> Vec<Line> {
    let counted = OF_THREADS.iter().map(|bound| line(bound, limits, 1));
    let mapped = line(&MAPPINGS, limits, MAPPINGS_OF_BUILT_IN_THREAD);
    counted.chain([mapped]).collect()
}

fn line(bound: &Bound, limits: &Limits, each: u64) -> Line {
    let Some(limit) = (bound.value)(limits) else {
        return Line::new(bound.name, Status::Ok, "no limit", bound.of_what);
    };
    let threads = limit / each;
    let status = match threads {
        ..PLENTY => Status::Warn,
        PLENTY.. => Status::Ok,
    };
    let meaning = format!(
        "{}: below {} connections to thread-per-connection",
        bound.of_what,
        exact(threads)
    );
    Line::new(bound.name, status, exact(limit), meaning).improve_unless_ok(bound.raised_to(RAISED))
}
