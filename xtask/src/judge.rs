//! `cargo xtask judge`: throng beside tshark, nstat, ss and servers whose behaviour is known, and what came of it as a table in
//! docs/results/truth.md. The judgements themselves are tests (crates/throng/tests/judge), which the gate runs too.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;

use crate::cargo;

const PAGE: &str = "docs/results/truth.md";
const BEGIN: &str = "<!-- testimonies -->\n";
const END: &str = "<!-- /testimonies -->";

/// Judges, and writes the table.
///
/// # Errors
/// Where a judgement goes against throng, or the page cannot be written.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let gathered = cargo::workspace().join("target/testimonies.tsv");
    if gathered.exists() {
        fs::remove_file(&gathered)?;
    }
    let mut command =
        cargo::command(&["test", "--locked", "--package", "throng", "--test", "judge"]);
    cargo::run(command.env("THRONG_TESTIMONIES", &gathered))?;
    let page = cargo::workspace().join(PAGE);
    let text = fs::read_to_string(&page)?;
    let testimonies = fs::read_to_string(&gathered)?;
    fs::write(
        &page,
        with_table(&text, &table(&testimonies)).ok_or("the page has no place for the table")?,
    )?;
    Ok(())
}

/// A row for each testimony, in the order of their claims.
fn table(testimonies: &str) -> String {
    let mut lines: Vec<&str> = testimonies.lines().collect();
    lines.sort_unstable();
    let mut table = "| claim | throng says | independent | by |\n|---|---|---|---|\n".to_owned();
    for line in lines {
        let cells = line.replace('|', "\\|").replace('\t', " | ");
        writeln!(table, "| {cells} |").expect("a string takes all");
    }
    table
}

fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_replaces_the_one_before() {
        let page = format!("# Truth\n\n{BEGIN}old\n{END}\n\nMore.\n");
        let made = with_table(&page, &table("b\t1\t2 | 3\tss\na\t4\t5\tnstat\n")).expect("a place");
        let rows: Vec<&str> = made.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(
            rows[2..],
            ["| a | 4 | 5 | nstat |", "| b | 1 | 2 \\| 3 | ss |"]
        );
        assert!(made.starts_with("# Truth") && made.ends_with("More.\n") && !made.contains("old"));
        assert_eq!(with_table("# Truth", ""), None);
    }
}
