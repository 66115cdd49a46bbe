//! Who launched servers are by TLS: an authority that is made for a run, and a certificate that it has signed.
//!
//! They are made anew for each run and are gone with it, so that nobody has to guard a key or to note that it expires. The key is of the curve P-256, as that of most
//! servers today. Nothing of it enters the record but the authority's certificate, which generators are to trust.

use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use throng_record::{LoadJob, PhaseSpec, Setting, TargetKind, TargetRecord, TlsSpec, Trust};

/// What launched servers are called, wherever they listen.
const NAME: &str = "localhost";

/// A certificate could not be made or kept.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// It could not be made.
    #[error("cannot make a certificate for launched servers: {0}; leave tls out, and report it")]
    Make(#[from] rcgen::Error),
    /// It could not be kept.
    #[error("cannot keep a certificate for launched servers in {}: {error}; set TMPDIR to a folder that can be written", path.display())]
    Keep {
        /// Where.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
}

/// A certificate, its key and its authority, as long as this lives.
#[derive(Debug)]
pub(crate) struct Identity {
    folder: tempfile::TempDir,
    authority: String,
}

impl Identity {
    pub(crate) fn make() -> Result<Self, IdentityError> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name = named("throng, of one run");
        let key = KeyPair::generate()?;
        let authority = params.self_signed(&key)?.pem();
        let issuer = Issuer::new(params, key);
        let mut params = CertificateParams::new(vec![NAME.to_owned()])?;
        params.distinguished_name = named(NAME);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?.pem();
        // Only its owner can enter it.
        let folder = tempfile::Builder::new().prefix("throng-tls-").tempdir();
        let folder = folder.map_err(|error| IdentityError::Keep {
            path: std::env::temp_dir(),
            error,
        })?;
        let identity = Self { folder, authority };
        for (path, text) in [
            (identity.certificate(), certificate),
            (identity.key(), key.serialize_pem()),
        ] {
            std::fs::write(&path, text).map_err(|error| IdentityError::Keep { path, error })?;
        }
        Ok(identity)
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.file("certificate.pem")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.file("key.pem")
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(name)
    }
}

fn named(name: &str) -> rcgen::DistinguishedName {
    let mut names = rcgen::DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

/// Whether this target speaks TLS at this setting.
pub(crate) fn is_spoken(target: &TargetRecord, setting: &Setting) -> bool {
    target.tls.is_some() || setting.tls && target.kind == TargetKind::BuiltIn
}

/// Has the generator speak TLS where this target does at this setting; where not, the handshakes are left out.
pub(crate) fn fit(
    job: &mut LoadJob,
    (target, setting): (&TargetRecord, &Setting),
    identity: Option<&Identity>,
) {
    let of_launched = || {
        let identity = identity.filter(|_| is_spoken(target, setting))?;
        let pem = identity.authority.clone();
        Some((NAME.to_owned(), Trust::Authorities { pem }))
    };
    let of_running = target.tls.as_ref();
    let of_running = of_running.map(|tls| (tls.server_name.clone(), tls.trust.clone()));
    job.fleet.tls = of_running
        .or_else(of_launched)
        .map(|(server_name, trust)| TlsSpec {
            server_name,
            trust,
            resumption: setting.tls_resumption,
        });
    if job.fleet.tls.is_none() {
        job.phases.0.retain(|phase| *phase != PhaseSpec::Tls);
    }
}
