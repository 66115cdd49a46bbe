//! The table of phases in a terminal.

use super::fanout::owned;
use super::sheet::{Layout, Sheet};
use crate::Options;
use crate::phases::lines::{Column, Line, with_setting};

/// From wide to narrow: the columns of each part.
const LAYOUTS: [&[&[Column]]; 3] = {
    use Column::{
        GeneratorSystem, GeneratorTotal, GeneratorUser, Phase, Real, Rss, ServerSystem,
        ServerTotal, ServerUser, Target, Threads, Window,
    };
    [
        &[&Column::AT_ONE_SETTING],
        &[
            &[Target, Phase, Real, Window, Threads, Rss],
            &[
                Target,
                Phase,
                GeneratorUser,
                GeneratorSystem,
                GeneratorTotal,
                ServerUser,
                ServerSystem,
                ServerTotal,
            ],
        ],
        &[
            &[Target, Phase, Real],
            &[
                Target,
                Phase,
                Window,
                GeneratorUser,
                GeneratorSystem,
                GeneratorTotal,
            ],
            &[Target, Phase, ServerUser, ServerSystem, ServerTotal],
            &[Target, Phase, Threads, Rss],
        ],
    ]
};

/// Below headings that say what was asked.
pub(super) fn sheet<'a>(
    options: Options,
    lines: impl Iterator<Item = &'a Line>,
) -> Sheet<'a, Column> {
    let layouts = LAYOUTS.iter().map(|layout| owned(layout));
    Sheet::new(options, (), lines, layouts.collect())
}

/// In one table of several settings.
pub(super) fn sheet_with_settings<'a>(
    options: Options,
    lines: impl Iterator<Item = &'a Line>,
) -> Sheet<'a, Column> {
    let layout = |layout: &&[&[Column]]| -> Layout<Column> {
        layout.iter().map(|columns| with_setting(columns)).collect()
    };
    Sheet::new(options, (), lines, LAYOUTS.iter().map(layout).collect())
}
