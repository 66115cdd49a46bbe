//! The workload `http` in every model, as far as the contract does not say it: delays in line and among others, and the two ways to be closed.

#[expect(dead_code, reason = "the other test programs need more of it")]
mod common;

use std::io::{Read as _, Write as _};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use common::case::{Family, any, each_model, has_places, may_have_one_place, shares_a_thread};
use common::client::Client;
use common::named;
use common::setup::Setup;
use throng_record::Workload;
use throng_servers::Model;
use throng_sys::socket::{end_output, reset_on_close};

const PLAIN: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n";
const LAST: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
const LAST_ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
/// An answer that differs from the others: its head alone.
const HEAD: &[u8] = b"HEAD / HTTP/1.1\r\n\r\n";
const HALF_A_MINUTE: &[u8] = b"GET /?delay=30000 HTTP/1.1\r\n\r\n";

/// The contract's two seconds, and what a busy machine may add.
const LEAVES_WITHIN: Duration = Duration::from_millis(2500);

fn main() -> ExitCode {
    common::main(|| {
        let every = named![
            a_delay_lasts_and_the_answers_keep_their_order,
            more_answers_than_there_is_room_for_all_come,
            the_last_answer_comes_whole_although_more_is_sent,
            whoever_does_not_end_is_closed_all_the_same,
            what_is_malformed_is_refused_and_closed,
            the_end_of_input_during_a_delay_is_answered,
            a_reset_during_a_delay_harms_nobody,
            being_told_to_stop_ends_a_delay_and_answers,
            being_told_to_stop_ends_an_inline_delay_and_answers,
        ];
        let of_places = named![a_delay_holds_nobody_else_up];
        let of_one_place = named![a_delay_occupies_the_only_worker];
        let of_shared_threads = named![
            an_inline_delay_holds_everybody_up,
            a_reset_during_a_long_delay_does_not_keep_the_loop_busy,
        ];
        each_model(any, every)
            .chain(each_model(has_places, of_places))
            .chain(each_model(may_have_one_place, of_one_place))
            .chain(each_model(shares_a_thread, of_shared_threads))
            .collect()
    })
}

fn setup(model: Model) -> Setup {
    Setup::new(model, vec![Family::Ipv4.address()]).workload(Workload::Http)
}

fn delayed(milliseconds: u32) -> Vec<u8> {
    format!("GET /?delay={milliseconds} HTTP/1.1\r\n\r\n").into_bytes()
}

fn head_of_answer() -> &'static [u8] {
    &ANSWER[..ANSWER.len() - 3]
}

fn send(client: &mut Client, request: &[u8]) {
    client.write_all(request).expect("sent");
}

fn ask(client: &mut Client, request: &[u8]) {
    send(client, request);
    client.expect(ANSWER);
}

fn a_delay_lasts_and_the_answers_keep_their_order(model: Model) {
    let server = setup(model).start();
    let mut client = server.connect();
    let begin = Instant::now();
    let requests = [HEAD, &delayed(40), HEAD, &delayed(30), &delayed(0), PLAIN];
    send(&mut client, &requests.concat());
    // Before the delay, not behind it.
    client.expect(head_of_answer());
    client.expect(&[ANSWER, head_of_answer()].concat());
    assert!(begin.elapsed() >= Duration::from_millis(40));
    client.expect(&ANSWER.repeat(3));
    assert!(begin.elapsed() >= Duration::from_millis(70));
    // What was told of the connection meanwhile is not forgotten.
    send(&mut client, &delayed(20));
    send(&mut client, HEAD);
    client.expect(&[ANSWER, head_of_answer()].concat());
    drop(client);
    server.stop_expecting(1, 5 * ANSWER.len() + 3 * head_of_answer().len());
}

fn more_answers_than_there_is_room_for_all_come(model: Model) {
    const REQUESTS: usize = 150_000;
    let server = setup(model).start();
    let mut client = server.connect();
    let mut writer = client.try_clone();
    thread::scope(|scope| {
        scope.spawn(move || {
            let requests = [&PLAIN.repeat(REQUESTS), &delayed(10)[..], LAST];
            send(&mut writer, &requests.concat());
        });
        // The buffers fill meanwhile; where they do not, there is less to be seen, and nothing fails.
        thread::sleep(Duration::from_millis(100));
        client.expect(&ANSWER.repeat(REQUESTS + 1));
        client.expect(LAST_ANSWER);
    });
    client.expect_end();
    drop(client);
    server.stop_expecting(1, (REQUESTS + 1) * ANSWER.len() + LAST_ANSWER.len());
}

fn the_last_answer_comes_whole_although_more_is_sent(model: Model) {
    let server = setup(model).start();
    for last in [LAST, b"GET /?delay=10 HTTP/1.0\r\n\r\n"] {
        let mut client = server.connect();
        send(&mut client, last);
        // More than the server reads at once, so some of it is there when it closes.
        send(&mut client, &PLAIN.repeat(10_000));
        client.expect(LAST_ANSWER);
        client.expect_end();
    }
    server.connect().expect_turn(LAST);
    server.accepts_everyone();
    server.stop_expecting(3, 3 * LAST_ANSWER.len());
}

fn whoever_does_not_end_is_closed_all_the_same(model: Model) {
    let server = setup(model).start();
    let mut client = server.connect();
    client.expect_turn(LAST);
    // Lingering has an end: then what is sent is answered by a reset.
    let begin = Instant::now();
    while client.write_all(b"x").is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(10), "it lingers on");
        thread::sleep(Duration::from_millis(10));
    }
    server.stop_expecting(1, LAST_ANSWER.len());
}

fn what_is_malformed_is_refused_and_closed(model: Model) {
    let server = setup(model).start();
    for malformed in [
        "hello\r\n\r\n",
        "GET /?delay=x HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let mut client = server.connect();
        send(&mut client, malformed.as_bytes());
        send(&mut client, &[b'x'; 100_000]);
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("to its end");
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    }
    server.connect().expect_turn(LAST);
    assert_eq!(server.stop().connections, 4);
}

fn the_end_of_input_during_a_delay_is_answered(model: Model) {
    let server = setup(model).start();
    let mut client = server.connect();
    send(&mut client, &[&delayed(50)[..], PLAIN].concat());
    end_output(&client).expect("half-closed");
    client.expect(&ANSWER.repeat(2));
    client.expect_end();
    // And of one that ends once the delay has begun.
    let mut client = server.connect();
    send(&mut client, &[HEAD, &delayed(50)].concat());
    client.expect(head_of_answer());
    end_output(&client).expect("half-closed");
    client.expect(ANSWER);
    client.expect_end();
    server.stop_expecting(2, 3 * ANSWER.len() + head_of_answer().len());
}

fn a_reset_during_a_delay_harms_nobody(model: Model) {
    let server = setup(model).start();
    for _ in 0..5 {
        let mut client = server.connect();
        send(&mut client, &[HEAD, &delayed(20)].concat());
        client.expect(head_of_answer());
        reset_on_close(&client).expect("set");
        drop(client);
    }
    server.uses_little_cpu_time(Duration::from_millis(100));
    let mut client = server.connect();
    ask(&mut client, &delayed(1));
    drop(client);
    assert_eq!(server.stop().connections, 6);
}

/// A state that nobody ends, and that is reported whether it is asked for or not.
fn a_reset_during_a_long_delay_does_not_keep_the_loop_busy(model: Model) {
    let server = setup(model).one_loop().start();
    let mut client = server.connect();
    send(&mut client, &[HEAD, HALF_A_MINUTE].concat());
    client.expect(head_of_answer());
    reset_on_close(&client).expect("set");
    drop(client);
    server.uses_little_cpu_time(Duration::from_millis(100));
    let ended = server.stop();
    assert!(ended.took < LEAVES_WITHIN, "{model}: {:?}", ended.took);
    assert_eq!(ended.connections, 1);
}

fn being_told_to_stop_ends_a_delay_and_answers(model: Model) {
    stops_during_a_delay(model, setup(model));
}

fn being_told_to_stop_ends_an_inline_delay_and_answers(model: Model) {
    stops_during_a_delay(model, setup(model).delay_inline());
}

fn stops_during_a_delay(model: Model, setup: Setup) {
    let server = setup.start();
    // What an inline delay has blocked is not accepted, so there is one.
    let mut client = server.connect();
    send(&mut client, &[HEAD, HALF_A_MINUTE, HALF_A_MINUTE].concat());
    client.expect(head_of_answer());
    let ended = server.stop();
    client.expect(&ANSWER.repeat(2));
    client.expect_end();
    assert!(ended.took < LEAVES_WITHIN, "{model}: {:?}", ended.took);
    let bytes = 2 * ANSWER.len() + head_of_answer().len();
    assert_eq!((ended.connections, ended.bytes), (1, bytes as u64));
}

fn a_delay_holds_nobody_else_up(model: Model) {
    let server = setup(model).one_loop().start();
    let mut waiting: Vec<Client> = server.connect_many(5);
    for client in &mut waiting {
        send(client, &[HEAD, HALF_A_MINUTE].concat());
        client.expect(head_of_answer());
    }
    let mut client = server.connect();
    (0..20).for_each(|_| ask(&mut client, PLAIN));
    ask(&mut client, &delayed(5));
    waiting.iter_mut().for_each(Client::expect_nothing);
    drop(client);
    server.uses_little_cpu_time(Duration::from_millis(100));
    server.stop_expecting(6, 26 * ANSWER.len() + 5 * head_of_answer().len());
    for mut client in waiting {
        client.expect(ANSWER);
        client.expect_end();
    }
}

fn a_delay_occupies_the_only_worker(model: Model) {
    let server = setup(model).workers(Some(NonZeroU32::MIN)).start();
    let mut first = server.connect();
    send(&mut first, &[HEAD, &delayed(60), LAST].concat());
    first.expect(head_of_answer());
    let mut second = server.connect();
    send(&mut second, LAST);
    // Read while the first ends, which it does not by itself.
    thread::scope(|scope| {
        scope.spawn(|| {
            first.expect(ANSWER);
            first.expect(LAST_ANSWER);
            second.expect_nothing();
            first.expect_end();
            drop(first);
            second.expect(LAST_ANSWER);
        });
    });
    server.stop_expecting(
        2,
        ANSWER.len() + head_of_answer().len() + 2 * LAST_ANSWER.len(),
    );
}

/// All that time lies between two answers to somebody else.
fn an_inline_delay_holds_everybody_up(model: Model) {
    const DELAY_MS: u32 = 300;
    let server = setup(model).one_loop().delay_inline().start();
    let mut other = server.connect();
    ask(&mut other, PLAIN);
    let mut asleep = server.connect();
    ask(&mut asleep, PLAIN);
    send(&mut asleep, &delayed(DELAY_MS));
    let until = Instant::now() + Duration::from_millis(u64::from(DELAY_MS));
    let mut slowest = Duration::ZERO;
    let mut asked = 0;
    while Instant::now() < until {
        let begin = Instant::now();
        ask(&mut other, PLAIN);
        slowest = slowest.max(begin.elapsed());
        asked += 1;
    }
    asleep.expect(ANSWER);
    assert!(
        slowest >= Duration::from_millis(u64::from(DELAY_MS) / 3),
        "{slowest:?} is the longest that one of {asked} requests took"
    );
    drop((other, asleep));
    server.stop_expecting(2, (3 + asked) * ANSWER.len());
}

/// What only these tests ask of a client.
trait Turn {
    /// Sends, and reads the last answer and the end.
    fn expect_turn(&mut self, request: &[u8]);
}

impl Turn for Client {
    fn expect_turn(&mut self, request: &[u8]) {
        send(self, request);
        self.expect(LAST_ANSWER);
        self.expect_end();
    }
}
