//! The published fan-outs (`reference/many.toml`), and which of them stand beside a measured one: those of as many connections.
//!
//! No target is one of them: the published servers are Ruby. So they have lines of their own.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::phases::PhaseKind;
use crate::reference::{Origin, built_in};

/// All that is published of this experiment.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Where it comes from.
    pub origin: Origin,
    /// The servers.
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
}

/// One published server.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What it is called here.
    pub name: String,
    /// The runtime, as far as it is known.
    pub runtime: String,
    /// How it served.
    pub method: String,
    /// Its figures, connections ascending.
    #[serde(rename = "row", skip_serializing)]
    pub rows: Vec<PublishedRow>,
}

/// One published run: of each phase user, system and total CPU time of the client and real time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Connections.
    pub connections: u32,
    /// N connects, one after the other.
    pub connect: Seconds,
    /// One line read from each.
    pub acknowledge: Seconds,
    /// One line written to one.
    pub put: Seconds,
    /// One line read from each.
    pub get: Seconds,
}

/// User, system, total and real.
pub type Seconds = [f64; 4];

/// What is published at a number of connections, of one server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Which server.
    pub variant: &'static Variant,
    /// Its figures.
    pub row: &'static PublishedRow,
}

impl Published {
    /// Real time of a phase in nanoseconds; absent where there was no such phase.
    #[must_use]
    pub fn real_ns(&self, phase: PhaseKind) -> Option<f64> {
        let [_, _, _, real] = match phase {
            PhaseKind::Connect => self.row.connect,
            PhaseKind::Acknowledge => self.row.acknowledge,
            PhaseKind::Put => self.row.put,
            PhaseKind::Get => self.row.get,
            PhaseKind::Tls
            | PhaseKind::Sustain
            | PhaseKind::Hold
            | PhaseKind::Ping
            | PhaseKind::Close => {
                return None;
            }
        };
        Some(real * 1e9)
    }
}

/// The reference, parsed once.
#[must_use]
pub fn reference() -> &'static Reference {
    static REFERENCE: LazyLock<Reference> =
        LazyLock::new(|| built_in(include_str!("../../../../../reference/many.toml")));
    &REFERENCE
}

/// What is published at exactly this number of connections, in the order of the source.
#[must_use]
pub fn at(connections: u32) -> Vec<Published> {
    let variants = reference().variants.iter();
    variants
        .filter_map(|variant| {
            let mut rows = variant.rows.iter();
            let row = rows.find(|row| row.connections == connections)?;
            Some(Published { variant, row })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real_seconds(connections: u32, variant: &str) -> Option<[f64; 4]> {
        use PhaseKind::{Acknowledge, Connect, Get, Put};
        let mut found = at(connections).into_iter();
        let found = found.find(|found| found.variant.name == variant)?;
        let real = |phase| found.real_ns(phase).expect("published") / 1e9;
        Some([Connect, Acknowledge, Put, Get].map(real))
    }

    #[test]
    fn each_published_run_stands_at_its_number_of_connections() {
        let threads = real_seconds(7_000, "1:1 threads");
        assert_eq!(
            threads,
            Some([26.347_596, 43.158_578, 0.001_201, 6.532_745])
        );
        let select = real_seconds(25_000, "IO.select");
        assert_eq!(select, Some([79.642_494, 38.013_987, 0.000_038, 0.619_020]));
        assert_eq!(real_seconds(8_000, "1:1 threads"), None);
        let names = |connections| {
            at(connections)
                .iter()
                .map(|one| one.variant.name.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(25_000), ["M:N threads", "IO.select"]);
        assert!(names(29_000).is_empty() && names(1_500).is_empty());
    }

    #[test]
    fn numbers_of_connections_ascend_and_user_and_system_make_the_total() {
        let numbers: Vec<usize> = reference()
            .variants
            .iter()
            .map(|one| one.rows.len())
            .collect();
        assert_eq!(numbers, [7, 28, 1]);
        for variant in &reference().variants {
            assert!(variant.rows.is_sorted_by_key(|row| row.connections));
            for row in &variant.rows {
                for [user, system, total, _] in [row.connect, row.acknowledge, row.put, row.get] {
                    assert!((user + system - total).abs() < 2e-6, "{row:?}");
                }
            }
        }
    }
}
