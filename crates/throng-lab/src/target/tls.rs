//! `tls://HOST:PORT`, and the host of `https://HOST:PORT/PATH`: whom a certificate is to name.

const SCHEME: &str = "tls://";

/// The address `HOST:PORT` of a target that is written `tls://HOST:PORT`.
pub(super) fn read(text: &str) -> Option<&str> {
    text.strip_prefix(SCHEME)
}

/// The host of `HOST:PORT` or `HOST`; of an IPv6 address without its brackets.
pub(super) fn host(address: &str) -> &str {
    if let Some((within, _)) = address
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return within;
    }
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_stands_before_its_port() {
        for (address, expected) in [
            ("localhost:8443", "localhost"),
            ("one.test", "one.test"),
            ("[::1]:443", "::1"),
            ("[::1]", "::1"),
            ("127.0.0.1:1", "127.0.0.1"),
        ] {
            assert_eq!(host(address), expected);
        }
        assert_eq!(read("tls://a:1"), Some("a:1"));
        assert_eq!(read("tcp://a:1"), None);
    }
}
