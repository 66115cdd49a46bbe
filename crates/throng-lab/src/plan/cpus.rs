//! Which CPUs each side runs on.

use throng_record::{TargetKind, TargetRecord};
use throng_sys::affinity::CpuList;

use super::draft::Point;
use super::notes::tell;
use super::value::CpuChoice;
use super::{Environment, PlanError};

/// The CPUs of each side; empty: any.
pub(super) struct Cpus {
    pub(super) server: Vec<u32>,
    pub(super) generator: Vec<u32>,
}

/// Explicit choices are checked; by default the server gets the first half of the allowed CPUs and the generator the rest,
/// and on a single CPU neither is pinned. Where nothing is launched there is no server to make room for, nor where the load comes from other hosts a generator.
pub(super) fn of_sides(
    point: &Point,
    environment: &Environment,
    targets: &[TargetRecord],
    notes: &mut Vec<String>,
) -> Result<Cpus, PlanError> {
    let allowed = &environment.cpus_allowed;
    match &point.cpus {
        Some(CpuChoice::Any) => Ok(Cpus {
            server: vec![],
            generator: vec![],
        }),
        Some(CpuChoice::Pinned { server, generator }) => {
            let server = explicit("server", server.as_deref(), allowed)?;
            if environment.is_loaded_from_elsewhere() {
                return elsewhere(server, generator.as_deref(), environment);
            }
            let generator = explicit("generator", generator.as_deref(), allowed)?;
            let rest = |taken: &[u32]| -> Vec<u32> {
                allowed
                    .iter()
                    .copied()
                    .filter(|cpu| !taken.contains(cpu))
                    .collect()
            };
            let server = server.unwrap_or_else(|| generator.as_deref().map_or(vec![], rest));
            let generator = generator.unwrap_or_else(|| rest(&server));
            if server.iter().any(|cpu| generator.contains(cpu)) {
                tell(
                    notes,
                    format!(
                        "server and generator share CPUs ({} and {}): each takes time from the other",
                        CpuList::from(server.clone()),
                        CpuList::from(generator.clone())
                    ),
                );
            }
            Ok(Cpus { server, generator })
        }
        None if environment.is_loaded_from_elsewhere()
            || targets
                .iter()
                .all(|target| target.kind == TargetKind::Running) =>
        {
            Ok(Cpus {
                server: vec![],
                generator: vec![],
            })
        }
        None if allowed.len() < 2 => {
            tell(
                notes,
                "only one CPU may be used here: server and generator take turns on it, and the figures are of both".to_owned(),
            );
            Ok(Cpus {
                server: vec![],
                generator: vec![],
            })
        }
        None => {
            let (server, generator) = allowed.split_at(allowed.len() / 2);
            Ok(Cpus {
                server: server.to_vec(),
                generator: generator.to_vec(),
            })
        }
    }
}

/// Each side has a machine for itself, and only what is named is pinned; the generators' CPUs on every host alike.
fn elsewhere(
    server: Option<Vec<u32>>,
    generator: Option<&[u32]>,
    environment: &Environment,
) -> Result<Cpus, PlanError> {
    for host in &environment.generators {
        let side = format!("generator on host {}", host.name);
        explicit(&side, generator, &host.cpus_allowed)?;
    }
    Ok(Cpus {
        server: server.unwrap_or_default(),
        generator: generator.map_or_else(Vec::new, <[u32]>::to_vec),
    })
}

pub(super) fn explicit(
    side: &str,
    cpus: Option<&[u32]>,
    allowed: &[u32],
) -> Result<Option<Vec<u32>>, PlanError> {
    let Some(cpus) = cpus else { return Ok(None) };
    match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(&cpu) => Err(PlanError::CpuNotThere {
            side: side.to_owned(),
            cpu,
            allowed: CpuList::from(allowed.to_vec()).to_string(),
        }),
        None => Ok(Some(CpuList::from(cpus.to_vec()).cpus)),
    }
}
