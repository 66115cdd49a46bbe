//! Head-of-line blocking: the server had accepted the requests, was not busy, and yet each waited for others' service.

use throng_record::finding::HeadOfLineBlocking;
use throng_record::format::{exact, plural, setting_ns};

use super::clause::{percent, time};
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "head-of-line-blocking",
    title: "Head-of-line blocking",
    page: include_str!("../../../../docs/findings/head-of-line-blocking.md"),
};

impl Words for HeadOfLineBlocking {
    fn happened(&self) -> String {
        format!(
            "{} of {} waited inside a server that used {} of its CPU; the median first byte took {}, the service takes {}.",
            exact(self.requests),
            plural(self.of_requests, "request"),
            percent(self.server_busy),
            time(self.first_byte_ns_median),
            setting_ns(self.service_time_ns)
        )
    }

    fn cause(&self) -> &'static str {
        "accepted requests waited for one another: a handler that blocks holds up every other connection of its loop or thread."
    }

    fn remedy(&self) -> String {
        "do not block in the loop: a timer, asynchronous I/O, a thread pool for what blocks; or more workers.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.first_byte_ns_median as f64
    }
}
