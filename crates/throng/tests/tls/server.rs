//! A server of the tests' own that speaks TLS, and the certificates that it has.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{
    HandshakeKind, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion,
};

/// A certificate, its key, and the authority that has signed it.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: KeyPair,
    /// In PEM.
    pub(crate) authority: String,
    pub(crate) pem: String,
}

impl Identity {
    /// Of this host, signed by `the authority`; `change` makes it another than a good one.
    pub(crate) fn made(host: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let named = (DnType::CommonName, "the authority");
        params.distinguished_name.push(named.0, named.1);
        let key = KeyPair::generate().expect("a key");
        let authority = params.self_signed(&key).expect("signed").pem();
        let issuer = Issuer::new(params, key);
        let mut params = CertificateParams::new(vec![host.to_owned()]).expect("a name");
        params.distinguished_name.push(DnType::CommonName, host);
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &issuer).expect("signed");
        Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            key,
            authority,
        }
    }

    pub(crate) fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// What a server makes handshakes with, in these versions.
    pub(crate) fn config(&self, versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
        let anybody = WebPkiClientVerifier::no_client_auth();
        self.config_for(versions, anybody)
    }

    /// The same for clients that this one takes.
    pub(crate) fn config_for(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        clients: Arc<dyn ClientCertVerifier>,
    ) -> ServerConfig {
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).expect("a key");
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("versions")
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![self.certificate.clone()], key)
            .expect("an identity");
        config.ticketer = ring::Ticketer::new().expect("a key for tickets");
        config
    }
}

/// What a server counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) connections: AtomicU64,
    pub(crate) full: AtomicU64,
    pub(crate) resumed: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// What is answered to what came in one read.
type Answer = fn(&[u8]) -> Vec<u8>;

/// A thread for each connection.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) counts: Arc<Counts>,
}

impl Server {
    /// Answers what comes in one read by what `answer` makes of it.
    pub(crate) fn start(config: ServerConfig, answer: Answer) -> Self {
        Self::ending_after(u64::MAX, config, answer)
    }

    /// The same; each connection is ended after so many answers.
    pub(crate) fn ending_after(answers: u64, config: ServerConfig, answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let counts = Arc::new(Counts::default());
        let (config, counting) = (Arc::new(config), Arc::clone(&counts));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counting.connections.fetch_add(1, Relaxed);
                let (config, counts) = (Arc::clone(&config), Arc::clone(&counting));
                std::thread::spawn(move || serve(config, stream, (answers, answer), &counts));
            }
        });
        Self { port, counts }
    }

    pub(crate) fn full_and_resumed(&self) -> (u64, u64) {
        let Counts { full, resumed, .. } = &*self.counts;
        (full.load(Relaxed), resumed.load(Relaxed))
    }
}

fn serve(
    config: Arc<ServerConfig>,
    mut stream: TcpStream,
    (answers, answer): (u64, Answer),
    counts: &Counts,
) {
    let mut connection = ServerConnection::new(config).expect("a connection");
    stream.set_nodelay(true).expect("set");
    if connection.complete_io(&mut stream).is_err() {
        return;
    }
    let of_kind = match connection.handshake_kind() {
        Some(HandshakeKind::Resumed) => &counts.resumed,
        _ => &counts.full,
    };
    of_kind.fetch_add(1, Relaxed);
    let mut stream = StreamOwned::new(connection, stream);
    let mut bytes = [0; 1 << 14];
    for _ in 0..answers {
        let Ok(length @ 1..) = stream.read(&mut bytes) else {
            break;
        };
        counts.bytes.fetch_add(length as u64, Relaxed);
        if stream.write_all(&answer(&bytes[..length])).is_err() {
            return;
        }
    }
    stream.conn.send_close_notify();
    // Whoever is gone already hears nothing of it.
    let _ = stream.flush();
}
