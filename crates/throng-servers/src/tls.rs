//! Who a server is by TLS: its certificate and key, from files, and what it makes handshakes with.
//!
//! rustls with the cryptography of ring. Sessions are resumed by tickets that the server itself encrypts, so that it remembers nothing, and that any of its processes takes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, version};

/// Files in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, and those between it and the authority, in this order.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why there is no certificate, or none that can be used.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A file does not hold what it should.
    #[error("cannot read {what} from {}: {why}; give a file in PEM, as `openssl req -x509` writes them", path.display())]
    File {
        /// What was to be in it.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Certificate and key do not belong together, or are of a kind that is not known.
    #[error(
        "the certificate and its key cannot be used: {0}; give the key that the certificate was made with"
    )]
    Pair(#[from] rustls::Error),
}

impl Identity {
    /// What handshakes are made with.
    pub(crate) fn config(&self) -> Result<Arc<ServerConfig>, IdentityError> {
        let chain = self.chain()?;
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| unreadable("a key", &self.key, &error))?;
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.ticketer = ring::Ticketer::new()?;
        Ok(Arc::new(config))
    }

    fn chain(&self) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
        let failed = |error: &pem::Error| unreadable("a certificate", &self.certificate, error);
        let found = CertificateDer::pem_file_iter(&self.certificate);
        let chain: Result<Vec<_>, _> = found.map_err(|error| failed(&error))?.collect();
        match chain.map_err(|error| failed(&error))? {
            none if none.is_empty() => Err(failed(&pem::Error::NoItemsFound)),
            chain => Ok(chain),
        }
    }
}

fn unreadable(what: &'static str, path: &Path, error: &pem::Error) -> IdentityError {
    let why = match error {
        pem::Error::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            "there is no such file".to_owned()
        }
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => "there is none in it".to_owned(),
        other => other.to_string(),
    };
    IdentityError::File {
        what,
        path: path.to_owned(),
        why,
    }
}
