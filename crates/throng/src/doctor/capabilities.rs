//! What the kernel lets this user do, found out by doing it.

use throng_sys::capability_probe::{
    Availability, io_uring, network_namespace, user_and_network_namespace,
};

use super::{Line, Status};

pub(super) fn lines() -> Vec<Line> {
    vec![ring(), namespaces()]
}

fn ring() -> Line {
    refused_or(
        "io_uring",
        io_uring(),
        "the generator uses it by default, and the model io-uring can be measured",
        "the generator uses epoll instead, and the model io-uring cannot be measured",
    )
}

fn namespaces() -> Line {
    let availability = match network_namespace() {
        Availability::Usable => Availability::Usable,
        Availability::Unusable(_) => user_and_network_namespace(),
    };
    refused_or(
        "network namespaces",
        availability,
        "launched servers and the generator have a network of their own: counters are theirs alone, and [kernel] sets its settings",
        "launched servers are in the host's network: its counters include other programs' traffic, and there is no [kernel]",
    )
}

fn refused_or(
    name: &'static str,
    availability: Availability,
    meaning_usable: &str,
    meaning_refused: &str,
) -> Line {
    match availability {
        Availability::Usable => Line::new(name, Status::Ok, "usable", meaning_usable),
        Availability::Unusable(obstacle) => {
            let line = Line::new(name, Status::Note, obstacle.to_string(), meaning_refused);
            match obstacle.remedy() {
                Some(remedy) => line.improve(remedy),
                None => line,
            }
        }
    }
}
