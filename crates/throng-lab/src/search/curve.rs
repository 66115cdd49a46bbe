//! The rates of the curve: from a tenth of the capacity to a quarter beyond it, in equal steps.

const FROM: f64 = 0.1;
const TO: f64 = 1.25;

/// None where there is no capacity.
pub(super) fn rates(capacity: f64, points: u32) -> Vec<f64> {
    if capacity <= 0.0 || points < 2 {
        return vec![];
    }
    let step = (TO - FROM) / f64::from(points - 1);
    (0..points)
        .map(|place| capacity * (FROM + step * f64::from(place)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_from_a_tenth_to_beyond_the_capacity() {
        let rates = rates(1_000.0, 24);
        assert_eq!(rates.len(), 24);
        assert!((rates[0] - 100.0).abs() < 1e-9 && (rates[23] - 1_250.0).abs() < 1e-9);
        assert!((rates[1] - 150.0).abs() < 1e-9);
    }

    #[test]
    fn without_a_capacity_there_is_no_curve() {
        assert!(rates(0.0, 8).is_empty());
        assert!(rates(1_000.0, 0).is_empty());
    }
}
