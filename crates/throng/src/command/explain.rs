//! `throng explain NAME`: what a finding, a check, a figure or a model is, from the guide that is built into the program.

pub(crate) mod figures;

use clap::Args;
use throng_catalogue::suggest;
use throng_findings::{checks, findings};
use throng_servers::Model;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

const AFTER_HELP: &str = "\
Examples:
  throng explain                           everything that can be explained
  throng explain accept-queue-overflow     a finding: evidence, cause, remedy, how to provoke it
  throng explain steal                     a check
  throng explain latency_ns_p99            a figure, as CSV and JSON name it
  throng explain epoll-edge                a built-in model";

/// Explain a finding, a check, a figure or a model
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Name as it stands in a report or a record; all of them are listed without it
    name: Option<String>,
}

/// Something that can be explained.
struct Topic {
    /// As reports and records name it.
    name: String,
    kind: &'static str,
    text: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let topics = topics();
    let Some(asked) = &arguments.name else {
        output::write(&listed(&topics), None)?;
        return Ok(Exit::Success);
    };
    let asked = named(asked);
    // A finding and a check may have the same name, and then both are meant.
    let texts = topics.iter().filter(|topic| named(&topic.name) == asked);
    let texts: Vec<&str> = texts.map(|topic| topic.text.trim_end()).collect();
    if texts.is_empty() {
        let names: Vec<String> = topics.iter().map(|topic| named(&topic.name)).collect();
        let nearest = suggest::nearest(&asked, names.iter().map(String::as_str));
        let meant =
            nearest.and_then(|meant| topics.iter().find(|topic| named(&topic.name) == meant));
        let failure = Failure::usage(format_args!("nothing is called '{asked}'"));
        let meant = meant.map(|topic| &topic.name);
        return Err(failure.meant(meant, "`throng explain` lists all there is"));
    }
    output::write(&format!("{}\n", texts.join("\n\n")), None)?;
    Ok(Exit::Success)
}

/// Findings have dashes in their names, figures underscores; people have blanks.
fn named(name: &str) -> String {
    name.to_lowercase().replace(['_', ' '], "-")
}

fn topics() -> Vec<Topic> {
    let mut findings = findings::KINDS.to_vec();
    findings.sort_by_key(|finding| finding.name);
    let findings = findings.into_iter().map(|finding| Topic {
        name: finding.name.to_owned(),
        kind: "findings",
        text: finding.page.to_owned(),
    });
    let checks = checks::KINDS.iter().map(|check| Topic {
        name: check.name.to_owned(),
        kind: "checks",
        text: check.page(),
    });
    let models = Model::ALL.into_iter().map(|model| Topic {
        name: model.name().to_owned(),
        kind: "models",
        text: format!(
            "# {model}\n\n{}. Serves at once: {}.\n\n`throng serve {model}` runs it, `throng echo {model}` measures it.",
            model.declaration().summary,
            model.declaration().serves_at_once_in_words()
        ),
    });
    let figures = figures::texts().into_iter().map(|(key, text)| Topic {
        name: key,
        kind: "figures",
        text,
    });
    let all = findings.chain(checks).chain(models);
    all.chain(figures)
        .chain([Topic {
            name: "figures".to_owned(),
            kind: "pages",
            text: figures::page(),
        }])
        .collect()
}

fn listed(topics: &[Topic]) -> String {
    let mut text = String::new();
    for kind in ["findings", "checks", "models"] {
        let names = topics.iter().filter(|topic| topic.kind == kind);
        let names: Vec<&str> = names.map(|topic| topic.name.as_str()).collect();
        let width = output::stdout_width().unwrap_or(100).into();
        let options = textwrap::Options::new(width)
            .initial_indent("  ")
            .subsequent_indent("  ")
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        text += &format!("{kind}\n{}\n\n", textwrap::fill(&names.join("  "), options));
    }
    let figures = topics.iter().filter(|topic| topic.kind == "figures");
    text += &format!(
        "figures\n  {} of them, the columns of CSV: throng explain figures\n\n",
        figures.count()
    );
    text + "throng explain NAME\n"
}

#[cfg(test)]
mod tests {
    use super::topics;

    #[test]
    fn every_check_finding_figure_and_model_has_a_text() {
        let topics = topics();
        let number = |kind: &str| topics.iter().filter(|topic| topic.kind == kind).count();
        assert_eq!((number("checks"), number("models")), (15, 19));
        assert!(number("findings") >= 20 && number("figures") > 100);
        for topic in &topics {
            assert!(topic.text.starts_with("# "), "{}", topic.name);
            assert!(topic.text.len() > 60, "{}", topic.name);
        }
    }
}
