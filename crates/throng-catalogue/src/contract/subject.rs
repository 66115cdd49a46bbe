//! What is checked: how it is started, and what it says of itself.

use std::collections::BTreeMap;
use std::fmt;
use std::process::Command;

use throng_record::{ContractException, DeclaredModel};

use throng_record::Workload;

/// Makes the command that runs a server with these words after its own.
pub type MakeCommand<'a> = Box<dyn Fn(&[String]) -> Command + 'a>;

/// A server that is to be checked.
pub struct Subject<'a> {
    /// Its name.
    pub name: String,
    /// What it says that it is.
    pub model: DeclaredModel,
    /// The workloads that it lists, at least one.
    pub workloads: Vec<Workload>,
    /// What it declares that it cannot do, with the reason.
    pub exceptions: BTreeMap<ContractException, String>,
    /// Where it listens if it is not told where: only built-in servers do, for whoever types the command.
    pub listens_unasked: Option<String>,
    /// How it is started. Its standard streams are set later.
    pub command: MakeCommand<'a>,
}

impl Subject<'_> {
    /// The workload that the clauses are tried with for which any will do.
    pub(super) fn usual_workload(&self) -> Workload {
        let has_echo = self.workloads.contains(&Workload::Echo);
        let first = self.workloads.first().copied();
        if has_echo {
            Workload::Echo
        } else {
            first.unwrap_or(Workload::Echo)
        }
    }
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Subject")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("workloads", &self.workloads)
            .field("exceptions", &self.exceptions)
            .finish_non_exhaustive()
    }
}
