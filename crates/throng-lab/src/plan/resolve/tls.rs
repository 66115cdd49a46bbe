//! TLS: which targets speak it, what is trusted of them, and what cannot stand beside what.
//!
//! The file of `ca` is read here, so that what is wrong with it is said before anything is measured, and every host that generates load has it.

use std::path::Path;

use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use throng_record::plan::Experiment;
use throng_record::{Setting, TargetKind, TargetRecord, Trust};

use crate::plan::experiments::Asks;
use crate::plan::value::TlsChoice;
use crate::plan::{Environment, PlanDraft, PlanError, Sweep};
use throng_catalogue::suggest::or_list;

/// Refuses a target to which TLS is not spoken here, though its address says so.
pub(super) fn check(
    target: &TargetRecord,
    asks: &dyn Asks,
    experiment: Experiment,
) -> Result<(), PlanError> {
    match target.tls.is_some() && !asks.takes_tls() {
        true => Err(PlanError::NoTls {
            target: target.name.clone(),
            experiment: experiment.in_prose(),
        }),
        false => Ok(()),
    }
}

/// Gives the targets what the keys say of trust, and refuses keys that concern none of them.
pub(super) fn complete(
    targets: &mut [TargetRecord],
    draft: &PlanDraft,
    environment: &Environment,
) -> Result<(), PlanError> {
    launched(targets, draft, environment)?;
    let insecure = draft.insecure == Some(true);
    if insecure && draft.ca.is_some() {
        return Err(PlanError::Conflict {
            key: "insecure",
            other: "ca",
            why: "the one takes any certificate, the other those that the file vouches for",
        });
    }
    let mut running = targets
        .iter_mut()
        .filter_map(|one| one.tls.as_mut())
        .peekable();
    let of_running = [
        ("ca", draft.ca.is_some()),
        ("sni", draft.sni.is_some()),
        ("insecure", insecure),
    ];
    if let (None, Some((key, _))) = (running.peek(), of_running.iter().find(|(_, is)| *is)) {
        return Err(PlanError::NoTlsTarget(key));
    }
    let trust = match &draft.ca {
        Some(file) => Trust::Authorities {
            pem: authorities(file)?,
        },
        None if insecure => Trust::Anything,
        None => Trust::System,
    };
    if let Some(name) = draft
        .sni
        .as_deref()
        .filter(|name| ServerName::try_from(*name).is_err())
    {
        return Err(PlanError::Text {
            key: "sni",
            text: name.to_owned(),
            why: "no certificate could hold such a name; write a host's name or an IP address"
                .to_owned(),
        });
    }
    for tls in running {
        tls.trust = trust.clone();
        if let Some(name) = &draft.sni {
            tls.server_name.clone_from(name);
        }
    }
    Ok(())
}

/// Whether any value of the key switches TLS on.
fn is_on(draft: &PlanDraft) -> bool {
    let values = draft.tls.as_ref().map_or(&[][..], Sweep::values);
    values.contains(&TlsChoice::On)
}

/// Holds against the targets that TLS is switched on, or resumed, where nobody speaks it.
fn launched(
    targets: &[TargetRecord],
    draft: &PlanDraft,
    environment: &Environment,
) -> Result<(), PlanError> {
    if !is_on(draft) {
        let is_spoken = targets.iter().any(|one| one.tls.is_some());
        return match &draft.tls_resumption {
            Some(_) if !is_spoken => Err(PlanError::NoTlsTarget("tls-resumption")),
            _ => Ok(()),
        };
    }
    let is_launched = |one: &&TargetRecord| one.kind != TargetKind::Running;
    let cannot = |one: &&TargetRecord| one.kind != TargetKind::BuiltIn;
    let mut launched = targets.iter().filter(is_launched).peekable();
    if launched.peek().is_none() {
        return Err(PlanError::NothingToAsk {
            key: "tls",
            of_which: ", and a server that runs has its address for it (tls://HOST:PORT)",
        });
    }
    match launched.find(cannot) {
        None => Ok(()),
        Some(target) => Err(PlanError::CannotSpeakTls {
            target: target.name.clone(),
            known: or_list(&environment.models),
        }),
    }
}

/// The text of the file, once it holds a certificate.
fn authorities(file: &str) -> Result<String, PlanError> {
    let refuse = |why: String| PlanError::Ca {
        file: file.to_owned(),
        why,
    };
    let text = std::fs::read(Path::new(file)).map_err(|error| refuse(error.to_string()))?;
    let mut found = CertificateDer::pem_slice_iter(&text).flatten();
    match found.next() {
        Some(_) => Ok(String::from_utf8_lossy(&text).into_owned()),
        None => Err(refuse("there is no certificate in PEM in it".to_owned())),
    }
}

/// The handshakes are a phase of the setting where any target has them; a trial of one that speaks plainly leaves it out.
pub(super) fn secure(setting: &mut Setting, targets: &[TargetRecord]) {
    if setting.tls || targets.iter().any(|one| one.tls.is_some()) {
        setting.phases.secure();
    }
}
