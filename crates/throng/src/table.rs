//! Lists for people as tables, as wide as the terminal allows.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};

use crate::output;

/// An empty one.
pub(crate) fn of<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    table.force_no_tty();
    if let Some(width) = output::stdout_width() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
    }
    table.set_header(header);
    table
}

/// Its lines, without blanks at their ends.
pub(crate) fn text_of(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}
