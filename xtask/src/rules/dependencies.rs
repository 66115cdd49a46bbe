//! Which crate may use which: what `crates/README.md` draws is what the `Cargo.toml`s say, neither more nor less.
//!
//! The drawing is the one list, read from there: a line `throng-load → throng-record, throng-sys` for each crate. Tests may
//! use fewer of a crate's neighbours than the crate itself does, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

use super::read;

type Graph = BTreeMap<String, BTreeSet<String>>;

const DRAWING: &str = "crates/README.md";

pub(super) fn check(workspace: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let drawn = drawing(&read(&workspace.join(DRAWING))?);
    let mut violations = Vec::new();
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(workspace.join("crates"))? {
        let path = entry?.path().join("Cargo.toml");
        if path.exists() {
            let manifest: toml::Table = read(&path)?.parse()?;
            let (name, violation) = compare(&manifest, &drawn)?;
            violations.extend(violation);
            found.insert(name);
        }
    }
    let gone = drawn.keys().filter(|name| !found.contains(*name));
    violations.extend(gone.map(|name| format!("{DRAWING}: it draws {name}, which is not there")));
    violations.sort();
    Ok(violations)
}

/// The lines of the drawing: a crate, an arrow, and what it uses.
fn drawing(text: &str) -> Graph {
    let line = |line: &str| {
        let (from, to) = line.split_once('→')?;
        let from = from.trim();
        (from == "throng" || from.starts_with("throng-")).then(|| {
            let to = to
                .split(',')
                .map(str::trim)
                .filter(|name| name.starts_with("throng"));
            (from.to_owned(), to.map(str::to_owned).collect())
        })
    };
    text.lines().filter_map(line).collect()
}

/// The crate's name, and in what its manifest differs from the drawing.
fn compare(
    manifest: &toml::Table,
    drawn: &Graph,
) -> Result<(String, Option<String>), Box<dyn Error>> {
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name")?.as_str())
        .ok_or("a Cargo.toml without package.name")?
        .to_owned();
    let Some(allowed) = drawn.get(&name) else {
        let violation = format!("{DRAWING}: {name} is not drawn");
        return Ok((name, Some(violation)));
    };
    let used = used(manifest, &["dependencies", "build-dependencies"]);
    let used_by_tests = used_by_tests(manifest);
    let too_many: Vec<&String> = used
        .union(&used_by_tests)
        .filter(|other| !allowed.contains(*other))
        .collect();
    let unused: Vec<&String> = allowed.difference(&used).collect();
    let violation = (!too_many.is_empty() || !unused.is_empty()).then(|| {
        format!(
            "crates/{name}/Cargo.toml: differs from the drawing in {DRAWING}: used and not drawn {too_many:?}, drawn and not used {unused:?}"
        )
    });
    Ok((name, violation))
}

fn used_by_tests(manifest: &toml::Table) -> BTreeSet<String> {
    used(manifest, &["dev-dependencies"])
}

/// The crates of this workspace among some kinds of dependencies, those of single platforms included.
fn used(manifest: &toml::Table, kinds: &[&str]) -> BTreeSet<String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let platforms = platforms
        .into_iter()
        .flat_map(toml::Table::values)
        .filter_map(toml::Value::as_table);
    std::iter::once(manifest)
        .chain(platforms)
        .flat_map(|tables| {
            kinds
                .iter()
                .filter_map(|kind| tables.get(*kind)?.as_table())
        })
        .flat_map(toml::Table::keys)
        .filter(|name| name.starts_with("throng"))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo;

    const DRAWN: &str =
        "words → more words\nthrong-a →\nthrong-b → throng-a\nthrong-c → throng-a, throng-b\n";

    fn violation(manifest: &str) -> Option<String> {
        let manifest: toml::Table = manifest.parse().expect("TOML");
        compare(&manifest, &drawing(DRAWN)).expect("a manifest").1
    }

    #[test]
    fn the_drawing_is_read_line_by_line() {
        let drawn = drawing(DRAWN);
        assert_eq!(drawn.len(), 3);
        assert!(drawn["throng-a"].is_empty());
        assert_eq!(
            drawn["throng-c"].iter().collect::<Vec<_>>(),
            ["throng-a", "throng-b"]
        );
    }

    #[test]
    fn what_is_drawn_passes() {
        let manifest = "[package]\nname = 'throng-b'\n[dependencies]\nserde = '1'\nthrong-a = { workspace = true }";
        assert_eq!(violation(manifest), None);
    }

    #[test]
    fn more_less_and_other_than_drawn_does_not_pass() {
        for (manifest, what) in [
            (
                "[package]\nname = 'throng-a'\n[dependencies]\nthrong-b = '1'",
                "throng-b",
            ),
            (
                "[package]\nname = 'throng-a'\n[dev-dependencies]\nthrong-b = '1'",
                "throng-b",
            ),
            (
                "[package]\nname = 'throng-a'\n[target.'cfg(unix)'.dependencies]\nthrong-b = '1'",
                "throng-b",
            ),
            (
                "[package]\nname = 'throng-b'\n[dev-dependencies]\nthrong-a = '1'",
                "not used [\"throng-a\"]",
            ),
            ("[package]\nname = 'throng-z'", "not drawn"),
        ] {
            let violation = violation(manifest).expect(manifest);
            assert!(violation.contains(what), "{violation}");
        }
    }

    #[test]
    fn the_workspace_is_as_it_is_drawn() {
        assert_eq!(
            check(cargo::workspace()).expect("readable"),
            Vec::<String>::new()
        );
    }
}
