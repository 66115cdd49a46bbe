//! The workload `oneshot` in every model: one answer to what the first read brings, and the server closes first, on every address family and with delays in line.

#[expect(dead_code, reason = "the other test programs need more of it")]
mod common;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::case::{Case, Family, any, each_case, each_model};
use common::named;
use common::setup::Setup;
use throng_record::Workload;
use throng_servers::Model;

/// What the published client sent, and what it was answered.
const QUESTION: &[u8; 14] = b"GET / HTTP/1.1";
const ANSWER: &[u8; 23] = b"HTTP/1.1 200 OK\r\n\r\nok\r\n";

fn main() -> ExitCode {
    common::main(|| {
        let every = named![
            the_first_bytes_are_answered_and_the_server_closes,
            an_answer_waits_for_as_long_as_it_is_told,
        ];
        // Whether it is accepted does not show on a Unix socket.
        let of_tcp = named![being_told_to_stop_ends_the_delay];
        each_case(any, every)
            .chain(each_model(any, of_tcp))
            .collect()
    })
}

fn setup(case: Case) -> Setup {
    case.setup().workload(Workload::Oneshot)
}

fn the_first_bytes_are_answered_and_the_server_closes(case: Case) {
    let server = setup(case).start();
    for question in [&QUESTION[..], b"x", b"\0\r\n\r\n"] {
        let mut client = server.connect();
        client.write_all(question).expect("sent");
        client.expect(ANSWER);
        client.expect_end();
    }
    server.stop_expecting(3, 3 * ANSWER.len());
}

fn an_answer_waits_for_as_long_as_it_is_told(case: Case) {
    let delay = Duration::from_millis(40);
    for setup in [setup(case), setup(case).delay_inline()] {
        let server = setup.delay(delay).start();
        for _ in 0..2 {
            let mut client = server.connect();
            let begin = Instant::now();
            client.write_all(QUESTION).expect("sent");
            client.expect(ANSWER);
            assert!(begin.elapsed() >= delay);
            client.expect_end();
        }
        server.stop_expecting(2, 2 * ANSWER.len());
    }
}

fn being_told_to_stop_ends_the_delay(model: Model) {
    let setup = Setup::new(model, vec![Family::Ipv4.address()]).workload(Workload::Oneshot);
    let server = setup.delay(Duration::from_secs(30)).start();
    let mut client = server.connect();
    client.write_all(QUESTION).expect("sent");
    server.accepts_everyone();
    server.stop_expecting(1, ANSWER.len());
    client.expect(ANSWER);
    client.expect_end();
}
