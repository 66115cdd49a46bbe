//! Tables of one kind over a whole report: the same columns in each, of the same widths, in the first layout that fits the page.
//!
//! All columns stand side by side where they fit. Where they do not, a table is parted by theme, so that no figure is lost
//! and no cell is broken; only below the narrowest of the layouts does text wrap.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};

use crate::Options;
use crate::columns::Tabular;
use crate::summary::Standing;
use crate::text;

/// Spaces between columns.
pub(super) const GAP: u16 = 2;

/// A layout: the columns of each part of a table.
pub(super) type Layout<C> = Vec<Vec<C>>;

/// Tables of one kind.
pub(super) struct Sheet<'a, C: Tabular> {
    options: Options,
    context: C::Context,
    /// Every row of every table.
    rows: Vec<&'a C::Row>,
    layout: Layout<C>,
}

impl<'a, C: Tabular> Sheet<'a, C> {
    /// Takes the first of the layouts, from wide to narrow, whose tables all fit; the last where none does.
    pub(super) fn new(
        options: Options,
        context: C::Context,
        rows: impl Iterator<Item = &'a C::Row>,
        layouts: Vec<Layout<C>>,
    ) -> Self {
        let mut sheet = Self {
            options,
            context,
            rows: rows.collect(),
            layout: Vec::new(),
        };
        let last = layouts.len().saturating_sub(1);
        for (index, layout) in layouts.into_iter().enumerate() {
            if index == last || layout.iter().all(|columns| sheet.has_room_for(columns)) {
                sheet.layout = layout;
                break;
            }
        }
        sheet
    }

    fn has_room_for(&self, columns: &[C]) -> bool {
        fits(&self.widths(columns), &self.options)
    }

    /// The width of each column over all tables, so that they line up.
    fn widths(&self, columns: &[C]) -> Vec<u16> {
        let mut table = self.table(columns);
        for row in &self.rows {
            table.add_row(self.cells(row, columns));
        }
        table.column_max_content_widths()
    }

    /// One table, in as many parts as the layout has; parts that `is_wanted` denies are left out.
    pub(super) fn draw(&self, rows: &[C::Row], is_wanted: impl Fn(&[C]) -> bool) -> String {
        let parts: Vec<String> = self
            .layout
            .iter()
            .filter(|columns| is_wanted(columns))
            .filter_map(|columns| self.part(rows, columns))
            .collect();
        parts.join("\n")
    }

    /// A part without the column that says what is wrong with a row shows only the rows that have figures.
    fn part(&self, rows: &[C::Row], columns: &[C]) -> Option<String> {
        let says_why = columns.iter().any(|column| column.says_why());
        let mut rows = rows
            .iter()
            .filter(|row| says_why || C::has_figures(row))
            .peekable();
        rows.peek()?;
        let mut table = self.table(columns);
        for row in rows {
            table.add_row(self.cells(row, columns));
        }
        Some(laid_out(table, &self.widths(columns), &self.options))
    }

    fn table(&self, columns: &[C]) -> Table {
        let mut table = Table::new();
        let heading = |column: &C| aligned(column.heading(self.context), column.is_figure());
        table.set_header(columns.iter().map(heading).collect::<Vec<_>>());
        table
    }

    fn cells(&self, row: &C::Row, columns: &[C]) -> Vec<Cell> {
        let cell = |column: &C| {
            let text = column.cell(row, self.context);
            coloured(aligned(&text, column.is_figure()), C::standing(row))
        };
        columns.iter().map(cell).collect()
    }
}

/// The width of a table with columns of these widths.
fn total(widths: &[u16]) -> u16 {
    let columns = widths.iter().map(|width| width.saturating_add(GAP));
    columns.fold(0, u16::saturating_add).saturating_sub(GAP)
}

/// Whether it fits the page.
pub(super) fn fits(widths: &[u16], options: &Options) -> bool {
    options.width.is_none_or(|width| total(widths) <= width)
}

/// The finished table: no frame, a rule under the header, columns at least as wide as told.
pub(super) fn laid_out(mut table: Table, widths: &[u16], options: &Options) -> String {
    let rule = LineStyle::none().fill('─');
    table.load_style(TableStyle::new().header_separator(rule));
    if options.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let last = widths.len().saturating_sub(1);
    let fixed = |(index, width): (usize, &u16)| {
        let gap = if index == last { 0 } else { GAP };
        ColumnConstraint::LowerBoundary(Width::Fixed(width + gap))
    };
    match options.width {
        Some(width) if !fits(widths, options) => {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width);
        }
        _ => {
            table.set_constraints(widths.iter().enumerate().map(fixed));
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { GAP }));
    }
    let mut text = String::new();
    for line in table.lines() {
        text += line.trim_end();
        text.push('\n');
    }
    text
}

pub(super) fn aligned(text: &str, right: bool) -> Cell {
    Cell::new(text::clean(text)).set_alignment(if right {
        CellAlignment::Right
    } else {
        CellAlignment::Left
    })
}

/// Colour repeats what the marks say.
pub(super) fn coloured(cell: Cell, standing: Standing) -> Cell {
    match standing {
        Standing::Ranked => cell,
        Standing::Qualified => cell.fg(Color::Yellow),
        Standing::Invalid | Standing::Failed => cell.fg(Color::Red),
        Standing::Partial | Standing::Spared | Standing::NotMeasured => {
            cell.add_attribute(Attribute::Dim)
        }
    }
}
