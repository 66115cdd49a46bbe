//! Which requests a stored run keeps: those that failed or were slow, as many as there is room for.
//!
//! Failed ones come first, then the slowest. Those that stay keep their order, which is that of their ends.

use throng_record::{ConnectionsPhase, RequestRecord};

/// Requests that a trial keeps. A run has tens of trials, and a request in JSON takes about half a kilobyte.
pub(super) const REQUESTS_KEPT_MAX: usize = 1_000;

/// Keeps failed requests and those with causes, at most so many, and counts the others of these.
pub(super) fn thin_out(phase: &mut ConnectionsPhase, kept_max: usize) {
    phase
        .requests
        .retain(|request| request.error.is_some() || !request.causes.is_empty());
    let excess = phase.requests.len().saturating_sub(kept_max);
    if excess == 0 {
        return;
    }
    let mut places: Vec<usize> = (0..phase.requests.len()).collect();
    places.sort_by_key(|&place| weight(&phase.requests[place]));
    places.truncate(excess);
    places.sort_unstable();
    let mut place = 0;
    phase.requests.retain(|_| {
        place += 1;
        places.binary_search(&(place - 1)).is_err()
    });
    phase.requests_left_out += excess as u64;
}

fn weight(request: &RequestRecord) -> (bool, u64) {
    (request.error.is_some(), request.duration_ns)
}

#[cfg(test)]
mod tests {
    use throng_record::{Cause, ErrorKind};

    use super::*;

    fn request(number: u32, duration_ns: u64, has_failed: bool, is_slow: bool) -> RequestRecord {
        let slow = Cause::NotExplained { waited_ns: 1 };
        RequestRecord {
            number,
            duration_ns,
            error: has_failed.then_some(ErrorKind::Reset),
            causes: is_slow.then_some(slow).into_iter().collect(),
            ..RequestRecord::default()
        }
    }

    fn kept(requests: Vec<RequestRecord>, kept_max: usize) -> (Vec<u32>, u64) {
        let mut phase = ConnectionsPhase {
            requests,
            requests_left_out: 3,
            ..ConnectionsPhase::default()
        };
        thin_out(&mut phase, kept_max);
        let numbers = phase.requests.iter().map(|request| request.number);
        (numbers.collect(), phase.requests_left_out)
    }

    #[test]
    fn quick_answers_go_and_are_not_counted_as_left_out() {
        let requests = vec![
            request(0, 9, false, false),
            request(1, 5, true, false),
            request(2, 7, false, true),
        ];
        assert_eq!(kept(requests, 10), (vec![1, 2], 3));
    }

    #[test]
    fn failed_and_slowest_stay_in_their_order_where_there_is_too_little_room() {
        let requests = vec![
            request(0, 50, false, true),
            request(1, 90, false, true),
            request(2, 1, true, false),
            request(3, 70, false, true),
            request(4, 2, true, true),
        ];
        assert_eq!(kept(requests.clone(), 3), (vec![1, 2, 4], 5));
        assert_eq!(kept(requests, 1), (vec![4], 7));
    }
}
