//! `\r\n` written in a shell or a file, as the bytes it means.

/// The bytes of a text in which `\r`, `\n`, `\t`, `\0`, `\\` and `\xNN` are escapes. Everything else stands for itself.
///
/// # Errors
/// Names the escape that is none.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let (byte, length) = escape(escaped)?;
        bytes.push(byte);
        rest = &escaped[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// The byte meant by what follows a backslash, and how much of it belongs to the escape.
fn escape(after: &str) -> Result<(u8, usize), String> {
    let byte = match after.chars().next() {
        Some('r') => b'\r',
        Some('n') => b'\n',
        Some('t') => b'\t',
        Some('0') => 0,
        Some('\\') => b'\\',
        Some('x') => {
            return after
                .get(1..3)
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .map(|byte| (byte, 3))
                .ok_or_else(|| "`\\x` needs two hexadecimal digits, for example \\x0a".to_owned());
        }
        Some(other) => {
            return Err(format!(
                "`\\{other}` is no escape; write \\r, \\n, \\t, \\0, \\xNN, or \\\\ for a backslash"
            ));
        }
        None => return Err("a single backslash at the end; write \\\\ for a backslash".to_owned()),
    };
    Ok((byte, 1))
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes_become_their_bytes() {
        assert_eq!(unescape(r"PING\r\n").unwrap(), b"PING\r\n");
        assert_eq!(unescape(r"\x00\xfF\\\0ä").unwrap(), b"\x00\xff\\\0\xc3\xa4");
        assert_eq!(unescape("").unwrap(), b"");
    }

    #[test]
    fn what_is_no_escape_is_named() {
        for (text, named) in [
            (r"a\q", r"\q"),
            (r"a\x1", "hexadecimal"),
            (r"\xgg", "hexadecimal"),
            (r"\x+1", "hexadecimal"),
            ("a\\", "at the end"),
            (r"\xä", "hexadecimal"),
        ] {
            let error = unescape(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
