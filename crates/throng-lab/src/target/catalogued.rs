//! `LANGUAGE/SERVER`: a server of the catalogue as a target.

use std::collections::BTreeMap;

use throng_record::{CatalogueRecord, ContractException, DeclaredModel, TargetKind, TargetRecord};

use super::{in_one_line, options};
use crate::plan::PlanError;
use throng_catalogue::catalogue::{Catalogue, Server};

/// The target, or why there is none of that name; `None` where the text is not meant as a catalogued server.
pub(super) fn resolve(
    text: &str,
    catalogue: &Catalogue,
) -> Option<Result<TargetRecord, PlanError>> {
    let word = text.split_whitespace().next()?;
    if let Some(server) = catalogue.server(word) {
        return Some(found(text, server));
    }
    let (language, name) = word.split_once('/')?;
    // Not a path, an address or a command.
    let is_plain = |part: &str| {
        let mut letters = part.chars();
        !part.is_empty() && letters.all(|one| one.is_ascii_alphanumeric() || "-_+".contains(one))
    };
    if !is_plain(language) || !is_plain(name) {
        return None;
    }
    let of_language: Vec<String> = catalogue
        .meant_by(language)
        .into_iter()
        .map(Server::full_name)
        .collect();
    let instead = match (catalogue.nearest(word), &catalogue.obstacle) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, Some(obstacle)) => obstacle.clone(),
        _ if !of_language.is_empty() => format!("there are {}", of_language.join(", ")),
        _ => "`throng servers` lists those there are".to_owned(),
    };
    let server = word.to_owned();
    Some(Err(PlanError::UnknownServer { server, instead }))
}

fn found(text: &str, server: &Server) -> Result<TargetRecord, PlanError> {
    let manifest = server.manifest.as_ref().ok();
    let model = manifest.map(|manifest| manifest.model);
    let none = BTreeMap::new();
    let declared = manifest.map_or(&none, |manifest| &manifest.options);
    let (options, own) = options::read_with(text, declared)?;
    Ok(TargetRecord {
        uses_every_cpu: model
            .is_some_and(|model| model.has_workers() && model != DeclaredModel::ThreadPool),
        options,
        catalogue: Some(CatalogueRecord {
            language: server.language.clone(),
            server: server.name.clone(),
            title: manifest.map(|manifest| manifest.title.clone()),
            model,
            runtime: manifest.map(|manifest| manifest.runtime.name.clone()),
            runtime_version: None,
            options: own,
            ignores_backlog: manifest.is_some_and(|manifest| {
                manifest
                    .exceptions
                    .contains_key(&ContractException::Backlog)
            }),
            contract: None,
        }),
        ..TargetRecord::named(&in_one_line(text), TargetKind::Catalogue)
    })
}
