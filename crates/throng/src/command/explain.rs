//! `throng explain NAME`: what a finding, a check or a model is, from the guide that is built into the program.

use clap::Args;
use throng_findings::{checks, findings};
use throng_lab::suggest;
use throng_servers::Model;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

const AFTER_HELP: &str = "\
Examples:
  throng explain                           everything that can be explained
  throng explain accept-queue-overflow     a finding: evidence, cause, remedy, how to provoke it
  throng explain steal                     a check
  throng explain epoll-edge                a built-in model";

/// Explain a finding, a check or a model
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
    let asked = asked.to_lowercase().replace(['_', ' '], "-");
    // A finding and a check may have the same name, and then both are meant.
    let texts = topics.iter().filter(|topic| topic.name == asked);
    let texts: Vec<&str> = texts.map(|topic| topic.text.trim_end()).collect();
    if texts.is_empty() {
        let names = topics.iter().map(|topic| topic.name.as_str());
        let hint = match suggest::nearest(&asked, names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`throng explain` lists all there is".to_owned(),
        };
        return Err(Failure::usage(format_args!("nothing is called '{asked}'")).hint(hint));
    }
    output::write(&format!("{}\n", texts.join("\n\n")), None)?;
    Ok(Exit::Success)
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
            model.summary(),
            model.serves_at_once()
        ),
    });
    findings.chain(checks).chain(models).collect()
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
    text + "throng explain NAME\n"
}

#[cfg(test)]
mod tests {
    use super::topics;

    #[test]
    fn every_check_every_finding_and_every_model_has_a_text() {
        let topics = topics();
        let number = |kind: &str| topics.iter().filter(|topic| topic.kind == kind).count();
        assert_eq!((number("checks"), number("models")), (14, 19));
        assert!(number("findings") >= 20);
        for topic in &topics {
            assert!(topic.text.starts_with("# "), "{}", topic.name);
            assert!(topic.text.len() > 60, "{}", topic.name);
        }
    }
}
