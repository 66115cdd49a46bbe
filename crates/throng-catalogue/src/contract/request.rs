//! Requests of HTTP.

pub(super) const PLAIN: &[u8] = b"GET / HTTP/1.1\r\nHost: throng\r\n\r\n";

pub(super) fn get(query: &str) -> Vec<u8> {
    format!("GET /?{query} HTTP/1.1\r\nHost: throng\r\n\r\n").into_bytes()
}
