use std::path::Path;

use super::*;

#[test]
fn every_finding_has_a_title_and_a_page_that_the_index_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings");
    let index = std::fs::read_to_string(folder.join("README.md")).expect("an index");
    for Kind { name, title, page } in KINDS {
        for section in [
            "## What you see",
            "## What happens in the kernel",
            "## The evidence",
            "## The remedy",
            "## To provoke it",
            "## What it is not",
        ] {
            assert!(page.contains(section), "{name} lacks {section:?}");
        }
        assert!(page.starts_with(&format!("# {title}\n")), "{name}: {title}");
        let line = format!("| [{title}]({name}.md) |");
        assert!(index.contains(&line), "the index lacks {line}");
    }
    let pages = std::fs::read_dir(&folder).expect("readable").count();
    assert_eq!(
        pages,
        KINDS.len() + 1,
        "a page for each finding, and the index"
    );
}
