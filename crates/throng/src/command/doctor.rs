//! `throng doctor`: what this machine allows, for people or for programs.

mod hosts;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde::Serialize;
use textwrap::{Options, WordSplitter, fill};
use throng_record::format::plural;

use crate::doctor::{Line, Section, Status, examine};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hosts::Hosts;
use crate::output::{self, Audience};

const AFTER_HELP: &str = "\
Examples:
  throng doctor
  throng doctor --format json

It changes nothing. Each line says ok, note (good to know), warn (bounds what can be measured, or
makes figures unsteady) or FAIL (nothing can be measured); the exit code is 1 only for the last.";

/// Columns of a terminal that does not tell, and the most that are used: longer lines are hard to read.
const WIDTH: u16 = 100;
/// Where the explanations begin.
const INDENT: &str = "        ";

/// Show what this machine allows, and the command for each thing to improve
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Audience::Terminal)]
    format: Audience,
}

/// The whole examination, for programs.
#[derive(Serialize)]
struct Examination<'a> {
    throng_version: &'static str,
    sections: &'a [Section],
}

pub(crate) fn run(arguments: &Arguments, hosts: Option<&Hosts<'_>>) -> Result<Exit, Failure> {
    if let Some(hosts) = hosts {
        return over_hosts(arguments, hosts);
    }
    let sections = examine();
    let text = match arguments.format {
        Audience::Terminal => for_people(&sections),
        Audience::Json => for_programs(&sections),
    };
    output::write(&text, None)?;
    if count(&sections, Status::Unusable) > 0 {
        return Ok(Exit::Failed);
    }
    Ok(Exit::Success)
}

/// Of several hosts those figures that bound a run over them; each has its own `throng doctor` for the rest.
fn over_hosts(arguments: &Arguments, hosts: &Hosts<'_>) -> Result<Exit, Failure> {
    let stations = hosts.muster()?;
    let examined = hosts::Examination::of(&stations).map_err(Failure::failed)?;
    let text = match arguments.format {
        Audience::Terminal => examined.for_people(),
        Audience::Json => output::json(&examined),
    };
    output::write(&text, None)?;
    Ok(Exit::Success)
}

fn for_programs(sections: &[Section]) -> String {
    let examination = Examination {
        throng_version: env!("CARGO_PKG_VERSION"),
        sections,
    };
    output::json(&examination)
}

fn for_people(sections: &[Section]) -> String {
    let page = Page {
        width: output::stdout_width().unwrap_or(WIDTH).min(WIDTH).into(),
        has_colour: output::stdout_has_colour(),
    };
    let mut text = String::new();
    for section in sections {
        text += &format!("{}\n", page.styled(section.title, Style::new().bold()));
        for line in &section.lines {
            text += &page.line(line);
        }
        text.push('\n');
    }
    text + &summary(sections)
}

fn summary(sections: &[Section]) -> String {
    let warnings = plural(count(sections, Status::Warn), "warning");
    let notes = plural(count(sections, Status::Note), "note");
    match count(sections, Status::Unusable) {
        0 => format!("throng can measure here: {warnings}, {notes}.\n"),
        _ => format!("throng cannot measure here: see FAIL above; {warnings}, {notes}.\n"),
    }
}

fn count(sections: &[Section], status: Status) -> u64 {
    let lines = sections.iter().flat_map(|section| &section.lines);
    lines.filter(|line| line.status == status).count() as u64
}

struct Page {
    width: usize,
    has_colour: bool,
}

impl Page {
    fn line(&self, line: &Line) -> String {
        let mark = self.styled(&format!("{:<4}", line.status.word()), style(line.status));
        let mut text = format!("  {mark}  {}: {}\n", line.name, line.found);
        let options = Options::new(self.width)
            .initial_indent(INDENT)
            .subsequent_indent(INDENT)
            .word_splitter(WordSplitter::NoHyphenation);
        text += &format!("{}\n", fill(&line.meaning, options));
        if let Some(command) = &line.improve {
            // Never broken: it is there to be copied.
            text += &format!(
                "{INDENT}{} {command}\n",
                self.styled("improve:", Style::new().bold())
            );
        }
        text
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.has_colour {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

fn style(status: Status) -> Style {
    let colour = match status {
        Status::Ok => AnsiColor::Green,
        Status::Note => AnsiColor::Cyan,
        Status::Warn => AnsiColor::Yellow,
        Status::Unusable => AnsiColor::Red,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}
