//! Running throng as another user, where the tests run as root.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Bench, THRONG};

pub(crate) fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// Gives the bench to this user and group, if that can be done; a throng that the user may run.
pub(crate) fn give_to(bench: &Bench, user: u32) -> PathBuf {
    if !is_root() {
        return PathBuf::from(THRONG);
    }
    // The tests' own copy may be below a folder that the user may not enter.
    let program = bench.path().join("throng");
    copy_elsewhere(Path::new(THRONG), &program);
    fs::set_permissions(bench.path(), fs::Permissions::from_mode(0o755)).expect("opened");
    chown(bench.path(), Some(user), Some(user)).expect("given away");
    program
}

/// Copies by another process. A descriptor open for writing here would be inherited by whatever another test's thread starts
/// meanwhile, and a program that anybody holds open for writing cannot be started (`ETXTBSY`, execve(2)).
fn copy_elsewhere(from: &Path, to: &Path) {
    let status = Command::new("cp").arg(from).arg(to).status();
    assert!(status.expect("started").success());
}
