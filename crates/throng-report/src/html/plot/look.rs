//! What gives a series its colour, its mark and its dashes: the same in every chart.

use plotly::common::{DashType, Line, Marker, MarkerSymbol};

use crate::chart::{Look, Mark};

/// Told apart by colour-blind readers, and on white as on black: after Okabe and Ito, without black and yellow.
const COLOURS: [&str; 7] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c8c8c",
];
/// What is published is of no target.
pub(super) const PUBLISHED: &str = "#7a7a7a";
/// Each with its hollow twin. As many as share no divisor with the colours, so that no two of 42 targets look the same.
const SYMBOLS: [(MarkerSymbol, MarkerSymbol); 6] = [
    (MarkerSymbol::Circle, MarkerSymbol::CircleOpen),
    (MarkerSymbol::Square, MarkerSymbol::SquareOpen),
    (MarkerSymbol::TriangleUp, MarkerSymbol::TriangleUpOpen),
    (MarkerSymbol::TriangleDown, MarkerSymbol::TriangleDownOpen),
    (MarkerSymbol::Pentagon, MarkerSymbol::PentagonOpen),
    (MarkerSymbol::Star, MarkerSymbol::StarOpen),
];
/// Those of what is published.
const OF_PUBLISHED: [(MarkerSymbol, MarkerSymbol); 3] = [
    (MarkerSymbol::Diamond, MarkerSymbol::DiamondOpen),
    (MarkerSymbol::Cross, MarkerSymbol::CrossOpen),
    (MarkerSymbol::Hexagram, MarkerSymbol::HexagramOpen),
];
const DASHES: [DashType; 3] = [DashType::Solid, DashType::Dash, DashType::Dot];
pub(super) fn colour(look: Look) -> &'static str {
    match look {
        Look::Target(index) | Look::Part(index) => COLOURS[index % COLOURS.len()],
        Look::Published(_) => PUBLISHED,
    }
}

pub(super) fn dash(look: Look) -> DashType {
    match look {
        Look::Target(index) | Look::Part(index) => {
            DASHES[index / COLOURS.len() % DASHES.len()].clone()
        }
        Look::Published(index) => DASHES[(index + 2) % DASHES.len()].clone(),
    }
}

pub(super) fn marker(look: Look, mark: Mark) -> Marker {
    let (full, hollow) = match look {
        Look::Target(index) | Look::Part(index) => SYMBOLS[index % SYMBOLS.len()].clone(),
        Look::Published(index) => OF_PUBLISHED[index % OF_PUBLISHED.len()].clone(),
    };
    let symbol = match mark {
        Mark::Sound => full,
        Mark::Hollow => hollow,
        Mark::Crossed => MarkerSymbol::X,
    };
    let marker = Marker::new().symbol(symbol).color(colour(look));
    match look {
        // It stands on bars.
        Look::Published(_) => marker.line(Line::new().color("#ffffff").width(1.0)),
        _ => marker,
    }
}
