//! HTTP responses, whose end is told in three ways.

use throng_record::{ErrorKind, Expect, LoadJob};

use super::support::{exchanged, serve};
use super::{answer, at, expect};

fn http(job: &mut LoadJob) {
    expect(job, Expect::HttpResponse);
}

#[test]
fn a_length_chunks_or_the_end_end_a_response() {
    let by_length: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"ngth: 5\r\n\r\nhel",
        b"lo",
    ];
    let by_chunks: &[&[u8]] = &[
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r",
        b"\nhello\r\n6\r\n wo",
        b"rld\r\n0\r\n\r\n",
    ];
    let to_the_end: &[&[u8]] = &[b"HTTP/1.0 200 OK\r\n\r\nhello", b", world"];
    for pieces in [by_length, by_chunks, to_the_end] {
        at(&serve(answer(pieces)), http, |record, connections| {
            let errors = record.phases.errors();
            assert_eq!(errors.total(), 0, "{errors:?}");
            assert_eq!((connections.begun, connections.answered), (91, 91));
            let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
            assert_eq!(exchanged(record).received_bytes, 91 * bytes as u64);
        });
    }
}

#[test]
fn a_refusal_is_wrong_and_quoted() {
    let refusal: &[&[u8]] = &[b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"];
    at(&serve(answer(refusal)), http, |record, connections| {
        let errors = &exchanged(record).errors;
        assert_eq!(errors.of(ErrorKind::HttpStatus), 91, "{errors:?}");
        assert_eq!(connections.answered, 0);
        let example = &errors.first_examples[&ErrorKind::HttpStatus];
        assert!(
            example.contains("HTTP/1.1 503 Service Unavailable"),
            "{example}"
        );
    });
}

#[test]
fn a_response_cut_short_is_truncated() {
    let cut: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"];
    at(&serve(answer(cut)), http, |record, _| {
        assert_eq!(exchanged(record).errors.of(ErrorKind::Truncated), 91);
    });
}
