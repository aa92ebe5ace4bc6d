//! TLS: what the parameters `tls-…` mean, made ready for connections.
//!
//! Certificates and keys are read when the server starts, when CONFIG SET changes a parameter, and, if
//! `tls-auto-reload-interval` says so, when a file changed. What cannot be used is refused as a whole and the old
//! stays. Connections keep what they began with.

mod der;
mod live;
mod names;
mod sessions;
mod stream;
mod verify;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use totality_engine::config::{CertUser, ClientCerts, TlsConfig};

use crate::listen::reason;
use der::{Validity, common_name, validity};
pub use live::greet;
pub use stream::TlsStream;

/// Largest file with certificates or a key, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Most files of `tls-ca-cert-dir` that are read.
const MAX_FILES: usize = 1000;
/// Milliseconds that a client has for the handshake.
pub const HANDSHAKE_MS: u64 = 10_000;

/// Certificates that INFO tells of: the first of each file.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// What the server shows to clients.
    pub server: Option<Validity>,
    /// What it shows to other servers, if that is another one.
    pub client: Option<Validity>,
    /// Of those that it trusts, the one that ends first.
    pub ca: Option<Validity>,
}

/// What new connections use.
#[derive(Debug, Clone)]
pub struct Tls {
    /// For those who connect to us.
    pub server: Arc<ServerConfig>,
    /// For connections of ours to other servers.
    pub client: Arc<ClientConfig>,
    /// Where a client's certificate names its user.
    pub cert_user: CertUser,
    /// What INFO shows.
    pub shown: Shown,
    /// Digest of the files.
    print: u64,
}

/// What the files hold.
struct Material {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    client: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    trusted: Vec<CertificateDer<'static>>,
    print: u64,
}

impl Tls {
    /// Reads the files and prepares what connections need.
    ///
    /// # Errors
    /// What is missing, cannot be read or cannot be used, in one line for the log.
    pub fn load(config: &TlsConfig) -> Result<Tls, String> {
        check_presence(config)?;
        let material = Material::read(config)?;
        let versions = names::protocols(&config.protocols)?;
        let provider = CryptoProvider {
            cipher_suites: names::suites(&config.ciphers, &config.ciphersuites, &versions)?,
            ..ring::default_provider()
        };
        let provider = Arc::new(provider);
        let mut roots = RootCertStore::empty();
        let (usable, _) = roots.add_parsable_certificates(material.trusted.iter().cloned());
        if usable == 0 && !material.trusted.is_empty() {
            return Err("Failed to configure CA certificate(s) file/directory: none can be used".to_owned());
        }
        let roots = Arc::new(roots);
        let shown = Shown {
            server: material.chain.first().and_then(validity),
            client: material.client.as_ref().and_then(|(chain, _)| chain.first()).and_then(validity),
            ca: material.trusted.iter().filter_map(validity).min_by_key(|cert| cert.ends),
        };
        let print = material.print;
        let server = server_config(config, &material, &provider, &versions, &roots)?;
        let client = client_config(material, &provider, &versions, roots)?;
        Ok(Tls {
            server: Arc::new(server),
            client: Arc::new(client),
            cert_user: config.cert_user(),
            shown,
            print,
        })
    }

    /// Reads the files again; `None` when they hold what they held.
    ///
    /// # Errors
    /// As [`Tls::load`].
    pub fn reload(&self, config: &TlsConfig) -> Result<Option<Tls>, String> {
        if Material::read(config)?.print == self.print {
            return Ok(None);
        }
        Tls::load(config).map(Some)
    }
}

fn check_presence(config: &TlsConfig) -> Result<(), String> {
    if config.cert_file.is_empty() {
        return Err("No tls-cert-file configured!".to_owned());
    }
    if config.key_file.is_empty() {
        return Err("No tls-key-file configured!".to_owned());
    }
    let verifies = config.client_certs() != ClientCerts::No || config.cluster || config.replication;
    if verifies && config.ca_cert_file.is_empty() && config.ca_cert_dir.is_empty() {
        return Err(
            "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, tls-replication \
                    or tls-auth-clients are enabled!"
                .to_owned(),
        );
    }
    Ok(())
}

impl Material {
    fn read(config: &TlsConfig) -> Result<Material, String> {
        let mut print = DefaultHasher::new();
        let chain = certificates(&config.cert_file, &mut print)?;
        let key = private_key(&config.key_file, &mut print)?;
        let own = !config.client_cert_file.is_empty() && !config.client_key_file.is_empty();
        let client = if own {
            let chain = certificates(&config.client_cert_file, &mut print)?;
            Some((chain, private_key(&config.client_key_file, &mut print)?))
        } else {
            None
        };
        let mut trusted = Vec::new();
        for path in trusted_files(config)? {
            let given = path == Path::new(&config.ca_cert_file);
            match certificates(&path.to_string_lossy(), &mut print) {
                Ok(found) => trusted.extend(found),
                // A directory may hold other things.
                Err(_) if !given => {}
                Err(_) => {
                    return Err(format!(
                        "Failed to configure CA certificate(s) file/directory: no certificate can be read from {}",
                        path.display()
                    ));
                }
            }
        }
        Ok(Material { chain, key, client, trusted, print: print.finish() })
    }
}

/// The files of `tls-ca-cert-file` and `tls-ca-cert-dir`, in the order of their names.
fn trusted_files(config: &TlsConfig) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    if !config.ca_cert_file.is_empty() {
        files.push(PathBuf::from(&config.ca_cert_file));
    }
    if !config.ca_cert_dir.is_empty() {
        let failed = |e| {
            format!(
                "Failed to configure CA certificate(s) file/directory: {}: {}",
                config.ca_cert_dir,
                reason(&e)
            )
        };
        let entries = std::fs::read_dir(&config.ca_cert_dir).map_err(failed)?;
        let mut found: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.is_file())
            .take(MAX_FILES)
            .collect();
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

fn read(path: &str, print: &mut DefaultHasher) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let got = std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    got.map_err(|e| reason(&e))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err("the file is too large".to_owned());
    }
    bytes.hash(print);
    Ok(bytes)
}

fn certificates(path: &str, print: &mut DefaultHasher) -> Result<Vec<CertificateDer<'static>>, String> {
    let failed = |why: &str| format!("Failed to load certificate: {path}: {why}");
    let bytes = read(path, print).map_err(|why| failed(&why))?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match chain {
        Ok(chain) if chain.is_empty() => Err(failed("there is no certificate in it")),
        Ok(chain) => Ok(chain),
        Err(e) => Err(failed(&e.to_string())),
    }
}

fn private_key(path: &str, print: &mut DefaultHasher) -> Result<PrivateKeyDer<'static>, String> {
    let failed = |why: &str| format!("Failed to load private key: {path}: {why}");
    let bytes = read(path, print).map_err(|why| failed(&why))?;
    let text = String::from_utf8_lossy(&bytes);
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(failed(
            "keys with a password are not supported: store the key without one, readable only for the server",
        ));
    }
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|e| failed(&e.to_string()))
}

type Versions = [&'static SupportedProtocolVersion];

fn server_config(
    config: &TlsConfig,
    material: &Material,
    provider: &Arc<CryptoProvider>,
    versions: &Versions,
    roots: &Arc<RootCertStore>,
) -> Result<ServerConfig, String> {
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|e| format!("Failed to configure TLS: {e}"))?;
    let builder = match client_verifier(config.client_certs(), provider, roots)? {
        None => builder.with_no_client_auth(),
        Some(verifier) => builder.with_client_cert_verifier(verifier),
    };
    let mut server = builder
        .with_single_cert(material.chain.clone(), material.key.clone_key())
        .map_err(|e| format!("Failed to load private key: {}: {e}", config.key_file))?;
    server.ignore_client_order = config.prefer_server_ciphers;
    if config.session_caching {
        let timeout = Duration::from_secs(config.session_cache_timeout);
        server.session_storage =
            Arc::new(sessions::Sessions::new(config.session_cache_size as usize, timeout));
    } else {
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
    }
    Ok(server)
}

fn client_verifier(
    certs: ClientCerts,
    provider: &Arc<CryptoProvider>,
    roots: &Arc<RootCertStore>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, String> {
    if certs == ClientCerts::No {
        return Ok(None);
    }
    let mut builder = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone());
    if certs == ClientCerts::Optional {
        builder = builder.allow_unauthenticated();
    }
    builder
        .build()
        .map(Some)
        .map_err(|e| format!("Failed to configure CA certificate(s) file/directory: {e}"))
}

fn client_config(
    material: Material,
    provider: &Arc<CryptoProvider>,
    versions: &Versions,
    roots: Arc<RootCertStore>,
) -> Result<ClientConfig, String> {
    let (chain, key) = match material.client {
        Some(pair) => pair,
        None => (material.chain, material.key),
    };
    ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|e| format!("Failed to configure TLS: {e}"))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verify::Chain::new(roots, provider.clone())))
        .with_client_auth_cert(chain, key)
        .map_err(|e| format!("Failed to load private key: {e}"))
}

/// The names in a client's certificate that may be a user's, the first one first.
pub fn user_names(cert: &CertificateDer<'_>, of: CertUser) -> Vec<Vec<u8>> {
    match of {
        CertUser::Off => Vec::new(),
        CertUser::CommonName => common_name(cert).into_iter().collect(),
        CertUser::Uri => match webpki::EndEntityCert::try_from(cert) {
            Ok(cert) => cert.valid_uri_names().map(|name| name.as_bytes().to_vec()).collect(),
            Err(_) => Vec::new(),
        },
    }
}
