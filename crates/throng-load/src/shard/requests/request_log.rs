//! Which requests are told of one by one: all while there is room, where all are wanted; then those that failed or were slow, while
//! there is room for these.

use super::Request;

/// Room for all requests, and the same again for failed and slow ones.
const ROOM: usize = 100_000;

/// Requests in the order of their ends.
#[derive(Clone, Debug)]
pub(crate) struct RequestLog {
    /// For requests of any kind, and for failed and slow ones after these.
    room: [usize; 2],
    slow_first_byte_ns: u64,
    requests: Vec<Request>,
    /// Failed or slow ones without room.
    left_out: u64,
    /// How many of any kind have been offered.
    offered: usize,
    /// How many are in the second room.
    notable: usize,
}

impl RequestLog {
    /// For every request, or for failed and slow ones alone.
    pub(crate) fn new(every: bool, slow_first_byte_ns: u64) -> Self {
        let of_any = if every { ROOM } else { 0 };
        Self::with_room([of_any, ROOM], slow_first_byte_ns)
    }

    fn with_room(room: [usize; 2], slow_first_byte_ns: u64) -> Self {
        Self {
            room,
            slow_first_byte_ns,
            // Reserved and not touched: memory is taken as requests are kept, and never moved meanwhile.
            requests: Vec::with_capacity(room[0]),
            left_out: 0,
            offered: 0,
            notable: 0,
        }
    }

    /// Whether each is told of while there is room.
    pub(super) fn tells_every(&self) -> bool {
        self.room[0] > 0
    }

    /// Whether one is told of even where there is no room for all.
    pub(super) fn is_notable(&self, request: &Request) -> bool {
        request.is_notable(self.slow_first_byte_ns)
    }

    #[inline]
    pub(super) fn offer(&mut self, request: Request) {
        if self.offered < self.room[0] {
            self.offered += 1;
            self.requests.push(request);
        } else if self.is_notable(&request) {
            if self.notable < self.room[1] {
                self.notable += 1;
                self.requests.push(request);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// What one keeper would have kept of all shards' requests: those in the order of their ends, and how many are left out.
    /// No shard lacks what belongs into the whole, since its own room is as large.
    pub(crate) fn merge(shards: Vec<Self>) -> (Vec<Request>, u64) {
        let Some(first) = shards.first() else {
            return (Vec::new(), 0);
        };
        let mut whole = Self::with_room(first.room, first.slow_first_byte_ns);
        let mut requests = Vec::new();
        for shard in shards {
            whole.left_out += shard.left_out;
            requests.extend(shard.requests);
        }
        requests.sort_by_key(Request::ended_at_ns);
        requests
            .into_iter()
            .for_each(|request| whole.offer(request));
        (whole.requests, whole.left_out)
    }
}

#[cfg(test)]
mod tests {
    use throng_record::ErrorKind;

    use super::super::request::tests::fast;
    use super::*;

    /// Every third one has failed.
    fn request(number: u32) -> Request {
        Request {
            error: number.is_multiple_of(3).then_some(ErrorKind::Reset),
            ..fast(number)
        }
    }

    fn log_of(room: usize, numbers: impl Iterator<Item = u32>) -> RequestLog {
        let mut log = RequestLog::with_room([room; 2], 1000);
        numbers.for_each(|number| log.offer(request(number)));
        log
    }

    fn numbers(requests: &[Request]) -> Vec<u32> {
        requests.iter().map(|request| request.number).collect()
    }

    #[test]
    fn all_are_kept_while_there_is_room_then_those_that_failed() {
        let (requests, left_out) = RequestLog::merge(vec![log_of(5, 0..23)]);
        assert_eq!(numbers(&requests), [0, 1, 2, 3, 4, 6, 9, 12, 15, 18]);
        assert_eq!(left_out, 1, "that of number 21");
    }

    #[test]
    fn without_room_for_all_those_that_failed_are_kept() {
        let mut log = RequestLog::new(false, 1000);
        (0..7).for_each(|number| log.offer(request(number)));
        let (requests, left_out) = RequestLog::merge(vec![log]);
        assert_eq!((numbers(&requests), left_out), (vec![0, 3, 6], 0));
    }

    #[test]
    fn several_shards_keep_what_one_would() {
        for room in [1, 2, 5, 7, 100] {
            let of_shard = |shard| (0..101).filter(move |number| number / 4 % 3 == shard);
            let (requests, left_out) =
                RequestLog::merge((0..3).map(|shard| log_of(room, of_shard(shard))).collect());
            let one = log_of(room, 0..101);
            assert_eq!(numbers(&requests), numbers(&one.requests));
            assert_eq!(left_out, one.left_out);
        }
    }
}
