use super::*;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n";
const PLAIN: &str = "GET / HTTP/1.1\r\n\r\n";

fn session() -> Http {
    Http::begin(&Duration::ZERO)
}

/// What is answered to that, on a connection of its own.
fn answered(text: &str) -> (Then, String) {
    let mut output = Vec::new();
    let then = session().input(text.as_bytes(), &mut output);
    (then, String::from_utf8(output).expect("text"))
}

fn milliseconds(number: u64) -> Then {
    Then::Wait(Duration::from_millis(number))
}

#[test]
fn requests_are_answered_however_they_are_cut() {
    let text = format!("{PLAIN}POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nGET /{PLAIN}{PLAIN}");
    let (_, whole) = answered(&text);
    assert_eq!(whole.matches(ANSWER).count(), 3);
    assert_eq!(whole.matches("405 Method Not Allowed\r\n").count(), 1);
    for length in 1..text.len() {
        let (mut session, mut output) = (session(), Vec::new());
        for piece in text.as_bytes().chunks(length) {
            assert_eq!(session.input(piece, &mut output), Then::Read);
        }
        assert_eq!(output, whole.as_bytes(), "in pieces of {length}");
        assert_eq!(session.rest.capacity(), 0, "nothing is kept");
    }
}

#[test]
fn a_delayed_request_holds_the_later_ones_back() {
    let (mut session, mut output) = (session(), Vec::new());
    let text = format!(
        "{PLAIN}GET /?delay=40 HTTP/1.1\r\n\r\n{PLAIN}GET /?delay=0.5 HTTP/1.1\r\n\r\n{PLAIN}"
    );
    assert_eq!(
        session.input(text.as_bytes(), &mut output),
        milliseconds(40)
    );
    assert_eq!(output, ANSWER.as_bytes());
    let half = Then::Wait(Duration::from_micros(500));
    assert_eq!(session.resume(&mut output), half);
    assert_eq!(output, ANSWER.repeat(3).as_bytes());
    assert_eq!(session.resume(&mut output), Then::Read);
    assert_eq!(output, ANSWER.repeat(5).as_bytes());
    assert_eq!(session.end_of_input(&mut output), Then::Close);
    assert_eq!(output, ANSWER.repeat(5).as_bytes());
}

#[test]
fn the_usual_delay_is_of_requests_that_name_none() {
    let mut session = Http::begin(&Duration::from_millis(7));
    let mut output = Vec::new();
    assert_eq!(
        session.input(PLAIN.as_bytes(), &mut output),
        milliseconds(7)
    );
    assert_eq!(session.resume(&mut output), Then::Read);
    let own = b"GET /?delay=0 HTTP/1.1\r\n\r\n";
    assert_eq!(session.input(own, &mut output), Then::Read);
    assert_eq!(output, ANSWER.repeat(2).as_bytes());
}

#[test]
fn after_counting_others_have_their_turn() {
    let count = "GET /a?count=1000&b=c HTTP/1.1\r\n\r\n";
    assert_eq!(answered(count), (Then::Read, ANSWER.to_owned()));
    let (mut session, mut output) = (session(), Vec::new());
    let then = session.input(count.repeat(2).as_bytes(), &mut output);
    assert_eq!(then, Then::Wait(Duration::ZERO));
    assert_eq!(output, ANSWER.as_bytes());
    assert_eq!(session.resume(&mut output), Then::Read);
    assert_eq!(output, ANSWER.repeat(2).as_bytes());
    let both = b"GET /?delay=3&count=10 HTTP/1.1\r\n\r\n";
    assert_eq!(session.input(both, &mut output), milliseconds(3));
    assert_eq!(session.resume(&mut output), Then::Read);
    assert_eq!(output, ANSWER.repeat(3).as_bytes());
}

#[test]
fn the_last_answer_says_so_and_what_follows_is_not_read() {
    for last in [
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nCONNECTION: x , Close\r\n\r\n",
        "PUT / HTTP/1.1\r\nConnection: close\r\n\r\n",
    ] {
        let (then, answer) = answered(&format!("{last}{PLAIN}"));
        assert_eq!(then, Then::Linger);
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1);
        assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    }
}

#[test]
fn head_is_answered_without_the_body() {
    let (then, answer) = answered("HEAD / HTTP/1.1\r\n\r\n");
    assert_eq!(then, Then::Read);
    assert_eq!(answer, ANSWER.trim_end_matches("ok\n"));
}

#[test]
fn what_is_refused_is_told_why() {
    let field = |field: &str| format!("GET / HTTP/1.1\r\n{field}\r\n\r\n");
    let query = |query: &str| format!("GET /?{query} HTTP/1.1\r\n\r\n");
    for (text, why) in [
        ("hello\r\n\r\n".to_owned(), "no HTTP/1 request"),
        ("GET / HTTP/2.0\r\n\r\n".to_owned(), "no HTTP/1 request"),
        (field("Transfer-Encoding: chunked"), "Transfer-Encoding"),
        (field("Content-Length: +1"), "Content-Length"),
        (
            field("Content-Length: 1\r\nContent-Length: 2"),
            "Content-Length",
        ),
        (field("Content-Length: 16385"), "16384 bytes"),
        (query("delay=1e3"), "delay="),
        (query("delay="), "delay="),
        (query("delay=3600000.1"), "delay="),
        (query("count=-1"), "count="),
        (query("count=1000000001"), "count="),
        (
            field(&format!("A: {}", "b".repeat(16 * 1024))),
            "16384 bytes",
        ),
        ("GET /".to_owned() + &"b".repeat(16 * 1024), "16384 bytes"),
        (field(&"A: b\r\n".repeat(65)), "no HTTP/1 request"),
    ] {
        let (then, answer) = answered(&format!("{PLAIN}{text}"));
        assert_eq!(then, Then::Linger, "{text}");
        let refusal = answer.strip_prefix(ANSWER).expect("the first is answered");
        assert!(
            refusal.starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{text}"
        );
        assert!(refusal.contains("\r\nConnection: close\r\n"), "{text}");
        let body = refusal.split_once("\r\n\r\n").expect("a body").1;
        assert!(body.contains(why) && body.lines().count() == 1, "{body}");
        assert!(refusal.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
    }
}

#[test]
fn an_end_within_a_request_is_refused() {
    let (mut session, mut output) = (session(), Vec::new());
    assert_eq!(session.input(b"GET / HT", &mut output), Then::Read);
    assert_eq!(session.end_of_input(&mut output), Then::Close);
    let refusal = String::from_utf8(output).expect("text");
    assert!(
        refusal.contains("the input ended within a request"),
        "{refusal}"
    );
}
