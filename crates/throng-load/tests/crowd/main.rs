//! Connections in numbers: how they are opened, held and closed.

mod connect;
mod hold;
#[expect(dead_code, reason = "shared with tests that use all of it")]
#[path = "../support/mod.rs"]
mod support;
mod wants;

use throng_record::{ClosePhase, ConnectPhase, LoadRecord};

fn connects(record: &LoadRecord) -> &ConnectPhase {
    record.phases.connect().expect("a record of the connects")
}

fn closes(record: &LoadRecord) -> &ClosePhase {
    record.phases.close().expect("a record of the close")
}
