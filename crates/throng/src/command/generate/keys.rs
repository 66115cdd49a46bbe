//! `docs/keys.md`: the table of keys, for readers.

use throng_lab::plan::keys::{GROUPS, Key};
use throng_record::plan::Experiment;

const HEAD: &str = "\
# Keys

All keys of a [plan](plans.md) and the flags that set them. A flag's value is written as in a plan file, without quotes; where its name ends in `…`,
commas part several, which are [swept](plans.md#sweeps). A key that an experiment has no use for is refused there, with what to write instead.

`throng generate docs` writes this page from the table that also makes the flags.
";

pub(super) fn page() -> String {
    let mut page = HEAD.to_owned();
    for (heading, keys) in GROUPS {
        page += &format!(
            "\n## {heading}\n\n| key | flag | meaning | default | experiments |\n|---|---|---|---|---|\n"
        );
        page.extend(keys.iter().map(row));
    }
    page
}

fn row(key: &Key) -> String {
    let scope = match key.scope() {
        scope if scope.is_empty() => "all".to_owned(),
        scope => scope,
    };
    let (name, flags) = (key.name, flags(key).join(", "));
    let (meaning, default) = (meaning(key), escaped(&key.defaults(None)));
    format!("| `{name}` | {flags} | {meaning} | {default} | {scope} |\n")
}

fn flags(key: &Key) -> Vec<String> {
    let short = key.short.map(|short| format!("`-{short}`"));
    let valued = (!key.value_name.is_empty())
        .then(|| format!("`--{} {}`", key.name, key.value_name.replace('|', "\\|")));
    let switches = key
        .switches
        .iter()
        .map(|switch| format!("`--{}`", switch.flag));
    short.into_iter().chain(valued).chain(switches).collect()
}

/// In the words of all experiments, then those of one, then the values that there are.
fn meaning(key: &Key) -> String {
    let common = key.help(None);
    let own = Experiment::ALL.into_iter().filter_map(|experiment| {
        let own = key.help(Some(experiment));
        (own != common).then(|| format!(". In {}: {own}", experiment.name()))
    });
    let words = (!key.words.is_empty()).then(|| format!(". One of {}", key.words.join(", ")));
    let common = std::iter::once(common.to_owned());
    escaped(&common.chain(own).chain(words).collect::<String>())
}

/// With what Markdown would take for its own.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|")
}
