//! From a server's name to what the contract check needs of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use throng_lab::contract::{Subject, Workload};
use throng_lab::suggest::nearest;
use throng_record::{ContractException, DeclaredModel};
use throng_servers::Model;

use crate::failure::Failure;

/// The server of this name, started by this program.
pub(super) fn of<'a>(name: &str, program: &'a Path) -> Result<Subject<'a>, Failure> {
    name.parse::<Model>()
        .map(|model| built_in(model, program))
        .map_err(|error| {
            let failure = Failure::usage(format_args!("there is no server `{}`", error.given));
            match nearest(name, names().into_iter()) {
                Some(meant) => failure.hint(format_args!("did you mean `{meant}`?")),
                None => failure.hint("throng servers lists them"),
            }
        })
}

/// Every server there is.
pub(super) fn names() -> Vec<&'static str> {
    Model::ALL.map(Model::name).to_vec()
}

fn built_in(model: Model, program: &Path) -> Subject<'_> {
    let mut exceptions = BTreeMap::new();
    if !model.serves_unix() {
        let reason = "Sockets that share a port have no counterpart for paths.";
        exceptions.insert(ContractException::Unix, reason.to_owned());
    }
    let workloads = Workload::ALL.into_iter();
    Subject {
        name: model.name().to_owned(),
        model: in_the_vocabulary(model),
        workloads: workloads
            .filter(|&workload| workload != Workload::Broadcast || model.broadcasts())
            .collect(),
        exceptions,
        listens_unasked: Some("127.0.0.1:7000".to_owned()),
        command: Box::new(move |words| {
            let mut command = Command::new(program);
            command.args(["serve", model.name()]).args(words);
            command
        }),
    }
}

/// What a built-in model is called among servers of all languages.
fn in_the_vocabulary(model: Model) -> DeclaredModel {
    match model {
        Model::Select
        | Model::Poll
        | Model::EpollLevel
        | Model::EpollEdge
        | Model::IoUring
        | Model::Mio => DeclaredModel::EventLoop,
        Model::EpollShared | Model::EpollReuseport => DeclaredModel::EventLoops,
        Model::Iterative | Model::ThreadPool => DeclaredModel::ThreadPool,
        Model::Prefork => DeclaredModel::ProcessPool,
        Model::ForkPerConnection => DeclaredModel::ProcessPerConnection,
        Model::ThreadPerConnection => DeclaredModel::ThreadPerConnection,
        Model::TwoThreadsPerConnection => DeclaredModel::TwoThreadsPerConnection,
        Model::TokioCurrentThread => DeclaredModel::Tasks,
        Model::Tokio | Model::Smol | Model::May | Model::Compio => DeclaredModel::TasksOnThreads,
    }
}
