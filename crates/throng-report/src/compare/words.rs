//! A comparison in words: its answer, its lines, and all of it as Markdown.

use super::{Comparison, Line, Verdict};
use crate::format;
use crate::markdown;
use crate::unit::Unit;

impl Verdict {
    const ALL: [Self; 8] = [
        Self::Faster,
        Self::Slower,
        Self::More,
        Self::Less,
        Self::NoDifferenceSeen,
        Self::TooFewRepeats,
        Self::OnlyABound,
        Self::NoRatio,
    ];

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::More => "more",
            Self::Less => "less",
            Self::NoDifferenceSeen => "no difference seen",
            Self::TooFewRepeats => "too few repeats to tell",
            Self::OnlyABound => "a bound only",
            Self::NoRatio => "no ratio to 0",
        }
    }
}

impl Line {
    /// The row: `epoll-edge at 100 connections`.
    #[must_use]
    pub fn row(&self) -> String {
        format!("{} at {}", self.target, self.setting)
    }

    /// `1.07× [1.02×, 1.11×]`.
    #[must_use]
    pub fn ratio_in_words(&self) -> String {
        let times = Unit::Times.words();
        self.ratio.map_or_else(
            || format::ABSENT.to_owned(),
            |ratio| times(ratio.median) + &format::spread(&ratio, times),
        )
    }
}

impl Comparison {
    /// The answer: of how many figures something is seen.
    #[must_use]
    pub fn sentence(&self) -> String {
        let count = |verdict: Verdict| {
            let lines = self.lines.iter();
            let number = lines.filter(|line| line.verdict == verdict).count();
            (number > 0).then(|| format!("{number} {}", verdict.words()))
        };
        let figures = format::plural(self.lines.len() as u64, "figure");
        let parts: Vec<String> = Verdict::ALL.into_iter().filter_map(count).collect();
        format!(
            "Compared with {}, {figures}: {}.",
            self.first,
            parts.join(", ")
        )
    }

    /// What a page is called.
    #[must_use]
    pub fn title(&self) -> String {
        let mut others: Vec<&str> = self.lines.iter().map(|line| line.other.as_str()).collect();
        others.dedup();
        match others[..] {
            [other] => format!("{other} compared with {}", self.first),
            _ => format!("Compared with {}", self.first),
        }
    }

    /// As GitHub Markdown, for a pull request: figures of which no difference is seen stand folded below the others.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("{}\n", markdown::escaped(&self.sentence()));
        let cautions = self
            .cautions
            .iter()
            .map(|one| format!("not the same: {one}"));
        let cautions: Vec<String> = cautions.collect();
        if !cautions.is_empty() {
            text += &format!("\n{}", markdown::bullets(&cautions));
        }
        let header = [
            ("target", false),
            ("setting", false),
            ("figure", false),
            ("other", false),
            ("first", true),
            ("other", true),
            ("other ÷ first", true),
            ("", false),
        ];
        let header = header.map(|(heading, is_right)| (heading.to_owned(), is_right));
        let cells = |line: &Line| {
            let Line {
                target,
                setting,
                figure,
                other,
                before,
                after,
                ..
            } = line.clone();
            let (ratio, verdict) = (line.ratio_in_words(), line.verdict.words().to_owned());
            vec![
                target, setting, figure, other, before, after, ratio, verdict,
            ]
        };
        let table = |lines: &[&Line]| {
            let lines = lines.iter().map(|line| cells(line));
            markdown::table(header.to_vec(), lines)
        };
        let lines = self.lines.iter();
        let (same, others): (Vec<&Line>, Vec<&Line>) =
            lines.partition(|line| line.verdict == Verdict::NoDifferenceSeen);
        if !others.is_empty() {
            text += &format!("\n{}", table(&others));
        }
        if !same.is_empty() {
            let figures = format::plural(same.len() as u64, "figure");
            text += &format!(
                "\n<details><summary>{figures}: no difference seen</summary>\n\n{}\n</details>\n",
                table(&same)
            );
        }
        if !self.unmatched.is_empty() {
            text += &format!("\nNot compared:\n\n{}", markdown::bullets(&self.unmatched));
        }
        text
    }
}
