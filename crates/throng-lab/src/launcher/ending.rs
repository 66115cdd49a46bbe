//! What a built-in server says, at its end, that it has done.

use std::time::Duration;

use throng_child::{Child, NextLine};
use throng_findings::Served;

/// Looks for the last words among the lines that have not been read yet; the child has ended.
pub(super) fn served(child: &Child) -> Option<Served> {
    let mut served = None;
    while let NextLine::Line(line) = child.next_line(Duration::from_millis(300)) {
        served = parse(&line).or(served);
    }
    served
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
