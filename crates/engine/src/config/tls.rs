//! Parameters of encrypted connections. The engine only keeps them: the server makes something of them.

use super::Config;
use super::table::{Kind, Param, free};

/// What `tls-auth-clients` chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientCerts {
    /// Nobody is asked for a certificate.
    No,
    /// Who has none is not served.
    Yes,
    /// A certificate that is shown must be good.
    Optional,
}

/// What `tls-auth-clients-user` chose: where in a client's certificate the name of its user stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertUser {
    /// The common name of the subject.
    CommonName,
    /// The first URI among the alternative names that is the name of a user.
    Uri,
    /// Nowhere.
    Off,
}

/// Values of the parameters `tls-…`, each in the field of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct TlsConfig {
    pub port: u64,
    pub cert_file: String,
    pub key_file: String,
    pub key_file_pass: String,
    pub client_cert_file: String,
    pub client_key_file: String,
    pub client_key_file_pass: String,
    pub ca_cert_file: String,
    pub ca_cert_dir: String,
    pub auth_clients: usize,
    pub auth_clients_user: usize,
    pub protocols: String,
    pub ciphers: String,
    pub ciphersuites: String,
    pub prefer_server_ciphers: bool,
    pub session_caching: bool,
    pub session_cache_size: u64,
    pub session_cache_timeout: u64,
    pub auto_reload_interval: u64,
    pub replication: bool,
    pub cluster: bool,
}

impl Default for TlsConfig {
    fn default() -> Self {
        TlsConfig {
            port: 0,
            cert_file: String::new(),
            key_file: String::new(),
            key_file_pass: String::new(),
            client_cert_file: String::new(),
            client_key_file: String::new(),
            client_key_file_pass: String::new(),
            ca_cert_file: String::new(),
            ca_cert_dir: String::new(),
            auth_clients: 1,
            auth_clients_user: 2,
            protocols: String::new(),
            ciphers: String::new(),
            ciphersuites: String::new(),
            prefer_server_ciphers: false,
            session_caching: true,
            session_cache_size: 20 * 1024,
            session_cache_timeout: 300,
            auto_reload_interval: 0,
            replication: false,
            cluster: false,
        }
    }
}

impl TlsConfig {
    /// True when something uses TLS: only then certificates are read.
    pub fn is_used(&self) -> bool {
        self.port > 0 || self.replication || self.cluster
    }

    /// What `tls-auth-clients` chose.
    pub fn client_certs(&self) -> ClientCerts {
        match self.auth_clients {
            0 => ClientCerts::No,
            1 => ClientCerts::Yes,
            _ => ClientCerts::Optional,
        }
    }

    /// What `tls-auth-clients-user` chose.
    pub fn cert_user(&self) -> CertUser {
        match self.auth_clients_user {
            0 => CertUser::CommonName,
            1 => CertUser::Uri,
            _ => CertUser::Off,
        }
    }
}

macro_rules! tls {
    ($field:ident) => {
        |c: &mut Config| &mut c.tls.$field
    };
}

const INT: u64 = 0x7fff_ffff;

/// The rows of the table.
pub static PARAMS: &[Param] = &[
    free("tls-port", Kind::Uint(tls!(port), 0, 65535)),
    free("tls-cert-file", Kind::Text(tls!(cert_file))),
    free("tls-key-file", Kind::Text(tls!(key_file))),
    free("tls-key-file-pass", Kind::Text(tls!(key_file_pass))),
    free("tls-client-cert-file", Kind::Text(tls!(client_cert_file))),
    free("tls-client-key-file", Kind::Text(tls!(client_key_file))),
    free("tls-client-key-file-pass", Kind::Text(tls!(client_key_file_pass))),
    free("tls-ca-cert-file", Kind::Text(tls!(ca_cert_file))),
    free("tls-ca-cert-dir", Kind::Text(tls!(ca_cert_dir))),
    free("tls-auth-clients", Kind::Enum(tls!(auth_clients), &["no", "yes", "optional"])),
    free("tls-auth-clients-user", Kind::Enum(tls!(auth_clients_user), &["CN", "URI", "off"])),
    free("tls-protocols", Kind::Text(tls!(protocols))),
    free("tls-ciphers", Kind::Text(tls!(ciphers))),
    free("tls-ciphersuites", Kind::Text(tls!(ciphersuites))),
    free("tls-prefer-server-ciphers", Kind::Bool(tls!(prefer_server_ciphers))),
    free("tls-session-caching", Kind::Bool(tls!(session_caching))),
    free("tls-session-cache-size", Kind::Uint(tls!(session_cache_size), 0, INT)),
    free("tls-session-cache-timeout", Kind::Uint(tls!(session_cache_timeout), 0, INT)),
    free("tls-auto-reload-interval", Kind::Uint(tls!(auto_reload_interval), 0, INT)),
    free("tls-replication", Kind::Bool(tls!(replication))),
    free("tls-cluster", Kind::Bool(tls!(cluster))),
];
