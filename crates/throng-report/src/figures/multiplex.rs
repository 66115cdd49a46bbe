//! What a multiplexer costs while connections sit idle.

use throng_record::Trial;
use throng_record::accept::{IdleCost, IdleSlice};

use crate::figure::Figure;
use crate::unit::Unit;

/// One of the costs of a trial.
type PickCost = fn(&Trial) -> Option<&IdleCost>;

pub(super) fn figures() -> Vec<Figure> {
    let accepted = Figure::count(
        "accepted",
        "connections\naccepted",
        "Connections that were accepted; of a row the fewest of its trials.",
        |one| Some(one.trial.phases.multiplexer()?.accepted.into()),
    );
    let mut figures = vec![accepted.least()];
    figures.extend(of_cost(
        "accept",
        "From the wait's call to the accepted descriptor",
        |trial| Some(&trial.phases.multiplexer()?.accept),
    ));
    figures.extend(of_cost(
        "data",
        "From the wait's call to the end of the read of a byte",
        |trial| Some(&trial.phases.multiplexer()?.data),
    ));
    figures
}

fn of_cost(word: &'static str, from_when_to_when: &'static str, cost: PickCost) -> Vec<Figure> {
    type PickSlice = fn(&[IdleSlice]) -> Option<&IdleSlice>;
    let ends: [(_, _, _, PickSlice); 2] = [
        ("first", "few idle", "fewest", |slices| slices.first()),
        ("last", "at the end", "most", |slices| slices.last()),
    ];
    let mut figures = Vec::new();
    for (end, heading, number, slice) in ends {
        figures.push(Figure::count(
            format!("{word}_idle_{end}"),
            format!("{word},\n{number} idle"),
            format!("Idle connections at the {end} of these costs ({word})."),
            move |one| Some(slice(&cost(one.trial)?.slices)?.idle.into()),
        ));
        figures.push(Figure::number(
            format!("{word}_cost_ns_{end}"),
            format!("{word},\n{heading}"),
            Unit::Nanoseconds,
            format!("{from_when_to_when}, with the {number} idle connections."),
            move |one| Some(slice(&cost(one.trial)?.slices)?.cost_ns_median as f64),
        ));
    }
    figures.extend([
        Figure::number(
            format!("{word}_ns_per_connection"),
            format!("{word}, per\nidle connection"),
            Unit::Nanoseconds,
            format!("{from_when_to_when}, what each idle connection adds: the median of the slopes through all pairs of points (Theil and Sen)."),
            move |one| Some(cost(one.trial)?.slope?.ns_per_connection),
        ),
        Figure::number(
            format!("{word}_ns_per_connection_low"),
            format!("{word}, per idle\nconnection, low"),
            Unit::Nanoseconds,
            "Lower end of the 95 % interval of that slope.",
            move |one| Some(cost(one.trial)?.slope?.ns_per_connection_low),
        ),
        Figure::number(
            format!("{word}_ns_per_connection_high"),
            format!("{word}, per idle\nconnection, high"),
            Unit::Nanoseconds,
            "Upper end of the 95 % interval of that slope.",
            move |one| Some(cost(one.trial)?.slope?.ns_per_connection_high),
        ),
    ]);
    figures
}
