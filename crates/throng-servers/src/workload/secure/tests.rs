use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::*;
use crate::workload::Answer;

/// A server's settings, and a client that trusts it.
fn ends(answered: Option<AnsweredSettings>) -> (Settings, ClientConnection) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("an identity");
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a certificate");
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let settings = Settings {
        config: Arc::new(config),
        answered,
    };
    let client = ClientConnection::new(Arc::new(client), name).expect("a client");
    (settings, client)
}

/// What the client has to send, taken from it.
fn said(client: &mut ClientConnection) -> Vec<u8> {
    let mut bytes = Vec::new();
    while client.wants_write() {
        client.write_tls(&mut bytes).expect("written");
    }
    bytes
}

/// Lets the client read that; what was in it.
fn heard(client: &mut ClientConnection, mut bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    while !bytes.is_empty() {
        client.read_tls(&mut bytes).expect("read");
        let state = client.process_new_packets().expect("TLS");
        let mut piece = vec![0; state.plaintext_bytes_to_read()];
        if !piece.is_empty() {
            client.reader().read_exact(&mut piece).expect("held");
        }
        plain.extend(piece);
    }
    plain
}

/// Gives the server what the client has to say, in pieces of this length; what it wants then.
fn pass(
    server: &mut Secure,
    client: &mut ClientConnection,
    length: usize,
    output: &mut Vec<u8>,
) -> Then {
    let mut then = Then::Read;
    for piece in said(client).chunks(length) {
        assert_eq!(then, Then::Read);
        then = server.input(piece, output);
    }
    then
}

fn shake_hands(server: &mut Secure, client: &mut ClientConnection, length: usize) {
    while client.is_handshaking() || client.wants_write() {
        let mut output = Vec::new();
        assert_eq!(pass(server, client, length, &mut output), Then::Read);
        assert_eq!(heard(client, &output), b"");
    }
}

#[test]
fn an_echo_comes_back_however_its_records_are_cut() {
    for length in [1, 2, 3, 5, 7, 101, 1 << 20] {
        let (settings, mut client) = ends(None);
        let mut server = Secure::begin(&settings);
        shake_hands(&mut server, &mut client, length);
        client.writer().write_all(b"all of it").expect("written");
        let mut output = Vec::new();
        assert_eq!(
            pass(&mut server, &mut client, length, &mut output),
            Then::Read
        );
        assert_eq!(heard(&mut client, &output), b"all of it");
    }
}

#[test]
fn the_peers_end_of_output_is_answered_by_an_end_in_tls() {
    let (settings, mut client) = ends(None);
    let mut server = Secure::begin(&settings);
    shake_hands(&mut server, &mut client, 1 << 20);
    client.writer().write_all(b"last").expect("written");
    client.send_close_notify();
    let mut output = Vec::new();
    assert_eq!(
        pass(&mut server, &mut client, 1 << 20, &mut output),
        Then::Close
    );
    assert_eq!(heard(&mut client, &output), b"last");
    assert!(client.process_new_packets().expect("TLS").peer_has_closed());
}

#[test]
fn an_end_without_a_word_in_tls_is_one_all_the_same() {
    let (settings, mut client) = ends(None);
    let mut server = Secure::begin(&settings);
    shake_hands(&mut server, &mut client, 1 << 20);
    assert_eq!(server.end_of_input(&mut Vec::new()), Then::Close);
}

#[test]
fn a_wait_holds_the_answer_and_the_end_back() {
    let (settings, mut client) = ends(Some(AnsweredSettings {
        answer: Answer::Http,
        delay: Duration::from_millis(7),
        inline: None,
    }));
    let mut server = Secure::begin(&settings);
    shake_hands(&mut server, &mut client, 1 << 20);
    let asked = b"GET / HTTP/1.1\r\n\r\n";
    client.writer().write_all(asked).expect("written");
    client.send_close_notify();
    let mut output = Vec::new();
    let then = pass(&mut server, &mut client, 1 << 20, &mut output);
    assert_eq!(then, Then::Wait(Duration::from_millis(7)));
    assert_eq!(heard(&mut client, &output), b"");
    output.clear();
    assert_eq!(server.resume(&mut output), Then::Close);
    assert!(heard(&mut client, &output).starts_with(b"HTTP/1.1 200 OK"));
    assert!(client.process_new_packets().expect("TLS").peer_has_closed());
}

#[test]
fn whoever_speaks_no_tls_is_told_so_and_closed() {
    let (settings, _) = ends(None);
    let mut output = Vec::new();
    let then = Secure::begin(&settings).input(b"GET / HTTP/1.1\r\n\r\n", &mut output);
    assert_eq!(then, Then::Linger);
    // A record of the kind alert (RFC 8446, 5.1).
    assert_eq!(output.first(), Some(&21));
}
