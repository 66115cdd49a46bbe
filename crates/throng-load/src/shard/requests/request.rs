//! What is kept of one request: a few words without a heap, made into a record when the work is done.

use std::net::SocketAddr;

use throng_record::{ErrorKind, RequestRecord};

/// One request, from the `connect` call to its end.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Index of the client within the fleet.
    pub(crate) client: u32,
    /// Which of the client's requests, from 0.
    pub(crate) number: u32,
    pub(crate) local: Option<SocketAddr>,
    /// Monotonic time; what follows is measured as in [`RequestRecord`].
    pub(crate) started_at_ns: u64,
    pub(crate) connect_ns: Option<u64>,
    pub(crate) first_byte_ns: Option<u64>,
    pub(crate) duration_ns: u64,
    pub(crate) last_data_sent_ns: Option<u64>,
    pub(crate) syn_retransmissions: u32,
    pub(crate) data_retransmissions: u32,
    pub(crate) is_acknowledged: bool,
    pub(crate) error: Option<ErrorKind>,
}

impl Request {
    pub(crate) fn ended_at_ns(&self) -> u64 {
        self.started_at_ns + self.duration_ns
    }

    /// Without the address, which needs memory of its own.
    fn to_measured(&self, phase_started_at_ns: u64) -> RequestRecord {
        RequestRecord {
            client: self.client,
            number: self.number,
            started_ns: self.started_at_ns.saturating_sub(phase_started_at_ns),
            connect_ns: self.connect_ns,
            first_byte_ns: self.first_byte_ns,
            duration_ns: self.duration_ns,
            syn_retransmissions: self.syn_retransmissions,
            data_retransmissions: self.data_retransmissions,
            last_data_sent_ns: self.last_data_sent_ns,
            is_acknowledged: self.is_acknowledged,
            error: self.error,
            ..RequestRecord::default()
        }
    }

    pub(crate) fn to_record(&self, phase_started_at_ns: u64) -> RequestRecord {
        RequestRecord {
            local_address: self.local.map(|address| address.to_string()),
            ..self.to_measured(phase_started_at_ns)
        }
    }

    /// Whether it is told of even where there is no room for all.
    pub(crate) fn is_notable(&self, slow_first_byte_ns: u64) -> bool {
        self.error.is_some()
            || self
                .first_byte_ns
                .is_some_and(|waited_ns| waited_ns > slow_first_byte_ns)
            || self.to_measured(0).is_slow_to_connect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn fast(number: u32) -> Request {
        Request {
            client: 0,
            number,
            local: None,
            started_at_ns: u64::from(number) * 1000,
            connect_ns: Some(10),
            first_byte_ns: Some(20),
            duration_ns: 40,
            last_data_sent_ns: None,
            syn_retransmissions: 0,
            data_retransmissions: 0,
            is_acknowledged: true,
            error: None,
        }
    }

    #[test]
    fn what_failed_or_was_slow_is_notable() {
        let with = |change: fn(&mut Request)| {
            let mut request = fast(7);
            change(&mut request);
            request.is_notable(1000)
        };
        assert!(!with(|_| ()));
        assert!(with(|request| request.error = Some(ErrorKind::Reset)));
        assert!(with(|request| request.first_byte_ns = Some(1001)));
        assert!(with(|request| request.connect_ns = Some(500_000_001)));
    }

    #[test]
    fn times_count_from_the_phases_first_connect() {
        let mut request = fast(7);
        request.local = Some(([127, 0, 0, 1], 5000).into());
        let record = request.to_record(6_500);
        assert_eq!((record.started_ns, record.duration_ns), (500, 40));
        assert_eq!(record.local_address.as_deref(), Some("127.0.0.1:5000"));
    }
}
