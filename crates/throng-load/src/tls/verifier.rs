//! Which certificates of a server are good.
//!
//! A chain is verified by webpki. What it does not know is a certificate that is trusted as it is, without an authority above it: most that people make
//! for themselves are such. Those are looked for by their bytes, and are then held to the name alone.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use throng_record::Trust;

use super::refusal::Named;
use crate::error::LoadError;

/// What is trusted, read and understood.
#[derive(Clone, Debug)]
pub(super) enum Trusted {
    /// What these authorities have signed, and these certificates themselves.
    Roots {
        chains: Arc<WebPkiServerVerifier>,
        themselves: Arc<[CertificateDer<'static>]>,
    },
    Anything,
}

impl Trusted {
    pub(super) fn of(trust: &Trust, provider: &Arc<CryptoProvider>) -> Result<Self, LoadError> {
        let certificates = match trust {
            Trust::Anything => return Ok(Self::Anything),
            Trust::System => rustls_native_certs::load_native_certs().certs,
            Trust::Authorities { pem } => CertificateDer::pem_slice_iter(pem.as_bytes())
                .flatten()
                .collect(),
        };
        let mut roots = RootCertStore::empty();
        // Systems have old ones among theirs that nobody can read any more.
        roots.add_parsable_certificates(certificates.iter().cloned());
        let chains =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        let chains = chains.build().map_err(|_| nobody_trusted(trust))?;
        let themselves = match trust {
            Trust::Authorities { .. } => certificates.into(),
            _ => Arc::default(),
        };
        Ok(Self::Roots { chains, themselves })
    }

    pub(super) fn verifier(&self, provider: &CryptoProvider) -> Verifier {
        Verifier {
            trusted: self.clone(),
            algorithms: provider.signature_verification_algorithms,
            refused: Mutex::default(),
        }
    }
}

fn nobody_trusted(trust: &Trust) -> LoadError {
    LoadError::Tls(
        match trust {
            Trust::System => {
                "this system trusts no authority (Debian: the package ca-certificates); install its list, or pass an authority's certificate with --ca FILE, or --insecure to take any certificate"
            }
            _ => {
                "the file of --ca holds no certificate that could be read; give the authority's certificate in PEM, or pass --insecure to take any certificate"
            }
        }
        .to_owned(),
    )
}

/// Holds certificates to what is trusted, and remembers the last that was not.
#[derive(Debug)]
pub(super) struct Verifier {
    trusted: Trusted,
    algorithms: WebPkiSupportedAlgorithms,
    refused: Mutex<Option<Named>>,
}

impl Verifier {
    /// Whose certificate was refused last, as far as that could be read.
    pub(super) fn last_refused(&self) -> Option<Named> {
        let refused = self.refused.lock();
        refused.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = match &self.trusted {
            Trusted::Anything => Ok(ServerCertVerified::assertion()),
            Trusted::Roots { themselves, .. } if themselves.contains(end_entity) => {
                let certificate = ParsedCertificate::try_from(end_entity)?;
                let named = verify_server_name(&certificate, server_name);
                named.map(|()| ServerCertVerified::assertion())
            }
            Trusted::Roots { chains, .. } => chains.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            ),
        };
        if verified.is_err() {
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            *refused = Named::of(end_entity);
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
