//! TLS as a client speaks it: what a shard's handshakes are made with. How bytes pass through it is the back end's (`backend::tls`).
//!
//! *Method.* rustls, with the cryptography of ring. What is trusted is read once for the whole fleet; sessions that can be resumed are each shard's own, so that
//! no thread waits for another.
//!
//! *Left out on purpose.* Certificates of the client, and what is negotiated beside the cipher (ALPN): without it a server speaks HTTP/1.1.

mod refusal;
mod sessions;
mod verifier;

use std::sync::Arc;

use rustls::client::{Resumption, Tls12Resumption, UnbufferedClientConnection};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, version};
use throng_record::TlsSpec;

use crate::error::LoadError;
pub(crate) use refusal::Refusal;
use sessions::Sessions;
use verifier::Trusted;

/// What all shards of a fleet share.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    provider: Arc<CryptoProvider>,
    trusted: Trusted,
    name: ServerName<'static>,
    resumes: bool,
}

impl Tls {
    /// # Errors
    /// [`LoadError`] for a name that cannot be one, and where nothing is there to be trusted.
    pub(crate) fn of(spec: &TlsSpec) -> Result<Self, LoadError> {
        let provider = Arc::new(ring::default_provider());
        let name = ServerName::try_from(spec.server_name.clone()).map_err(|_| {
            LoadError::Tls(format!(
                "`{}` is no name that a certificate could have; give a host's name or an IP address with --sni",
                spec.server_name
            ))
        })?;
        Ok(Self {
            trusted: Trusted::of(&spec.trust, &provider)?,
            provider,
            name,
            resumes: spec.resumption,
        })
    }

    /// What one shard makes its handshakes with.
    ///
    /// # Errors
    /// [`LoadError`] where rustls and its cryptography do not fit each other.
    pub(crate) fn client(&self) -> Result<Client, LoadError> {
        let sessions = Arc::new(Sessions::default());
        let verifier = Arc::new(self.trusted.verifier(&self.provider));
        let versions = [&version::TLS13, &version::TLS12];
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider));
        let mut config = builder
            .with_protocol_versions(&versions)
            .map_err(|error| LoadError::Tls(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&verifier) as _)
            .with_no_client_auth();
        config.resumption = if self.resumes {
            let store = Arc::clone(&sessions);
            Resumption::store(store).tls12_resumption(Tls12Resumption::SessionIdOrTickets)
        } else {
            Resumption::disabled()
        };
        Ok(Client {
            config: Arc::new(config),
            name: self.name.clone(),
            sessions,
            verifier,
        })
    }
}

/// What one shard makes its handshakes with.
#[derive(Debug)]
pub(crate) struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    sessions: Arc<Sessions>,
    verifier: Arc<verifier::Verifier>,
}

impl Client {
    /// A connection that has said nothing yet.
    pub(crate) fn begin(&self) -> Result<UnbufferedClientConnection, rustls::Error> {
        UnbufferedClientConnection::new(Arc::clone(&self.config), self.name.clone())
    }

    /// Whether the next handshake has a session to resume.
    pub(crate) fn can_resume(&self) -> bool {
        self.sessions.has_any()
    }

    /// Why a handshake failed that was to read these bytes next.
    pub(crate) fn refusal(&self, error: &rustls::Error, unread: &[u8]) -> Refusal {
        Refusal::of(error, unread, self.verifier.last_refused())
    }
}
