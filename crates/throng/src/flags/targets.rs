//! What is measured, as every experiment's command takes it.

use clap::Args;
use throng_lab::target::TargetDraft;

/// Servers that run, and servers to launch.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Targets {
    /// A built-in model, `all` of them, tcp://HOST:PORT, unix:PATH (echo) or http://HOST:PORT/PATH (backlog). A model may have options of its own: 'prefork --workers 8'
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// A server of yours to launch; {port}, {address} or {path} (with --family unix) is where it must listen. Repeatable
    #[arg(long, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Targets {
    /// In the form that a plan file has.
    pub(crate) fn drafts(&self) -> Vec<TargetDraft> {
        let texts = self.targets.iter().map(|text| text.as_str().into());
        let commands = self.command.iter().map(TargetDraft::command);
        texts.chain(commands).collect()
    }
}
