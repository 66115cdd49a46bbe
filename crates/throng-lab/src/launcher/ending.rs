//! What a built-in server says, at its end, that it has done.

use std::time::Duration;

use throng_child::{Child, NextLine};
use throng_findings::{Ending, Served};

/// Looks for the last words among the lines that have not been read yet; the child has ended.
pub(super) fn served(child: &Child) -> Option<Served> {
    let mut served = None;
    while let NextLine::Line(line) = child.next_line(Duration::from_millis(300)) {
        served = parse(&line).or(served);
    }
    served
}

/// That of several services, of which the first that ended otherwise than it was to is named. Of one it is its own.
pub(super) fn joined(mut ends: Vec<Ending>) -> Ending {
    let of = ends.len();
    let is_worse = |ending: &Ending| (ending.died_early, ending.was_killed, !ending.succeeded);
    let served = ends.iter().map(|ending| ending.served);
    let served = served.reduce(|sum, one| {
        let (sum, one) = (sum?, one?);
        Some(Served {
            connections: sum.connections + one.connections,
            bytes: sum.bytes + one.bytes,
        })
    });
    // Of several that are as bad the first.
    let worst = (0..of).rev().max_by_key(|&place| is_worse(&ends[place]));
    let place = worst.expect("there is at least one service");
    let tails = match of {
        1 => vec![],
        _ => ends.iter().map(|ending| ending.tail.clone()).collect(),
    };
    let worst = ends.swap_remove(place);
    Ending {
        how: match of {
            1 => worst.how,
            _ => format!("service {} of {of}: {}", place + 1, worst.how),
        },
        served: served.flatten(),
        tails,
        ..worst
    }
}

fn parse(line: &str) -> Option<Served> {
    let (connections, bytes) = line
        .strip_prefix("served connections=")?
        .split_once(" bytes=")?;
    Some(Served {
        connections: connections.parse().ok()?,
        bytes: bytes.trim().parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_read_and_nothing_else() {
        let served = Served {
            connections: 100,
            bytes: 6_000,
        };
        assert_eq!(parse("served connections=100 bytes=6000"), Some(served));
        for line in [
            "served connections=x bytes=1",
            "served connections=1",
            "ready tcp://127.0.0.1:1",
            "",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
