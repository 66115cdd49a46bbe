//! Running cargo, and other programs, on this workspace.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
}

/// The cargo that built this program, in the workspace's folder.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(workspace());
    command
}

/// Runs it to its end.
///
/// # Errors
/// Where it cannot be started or does not exit with 0.
pub(crate) fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command
        .status()
        .map_err(|error| format!("cannot start {}: {error}", command.get_program().display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", command.get_program().display()).into())
    }
}
