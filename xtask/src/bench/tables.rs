//! How connections share out over descriptor tables, of which each holds as many as `ulimit -n` allows: the same number of tables for the
//! generator, the server and their floors.

use throng_sys::limits;

/// More in one table is never measured, whatever the limit: tables are part of what is compared.
const MOST: u64 = 19_000;
/// What a table's thread keeps for other things, with room to spare.
const RESERVED: u64 = 500;

/// Tables that so many connections need.
pub(super) fn needed(connections: u32) -> u32 {
    let each = limits::open_files().hard.saturating_sub(RESERVED);
    u64::from(connections).div_ceil(each.clamp(1, MOST)) as u32
}
