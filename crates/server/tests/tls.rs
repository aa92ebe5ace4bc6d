//! Encrypted connections: who is served, what arrives, what can be changed while the server runs.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use common::{Running, serve};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, SanType};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned};

type Connection = StreamOwned<ClientConnection, TcpStream>;

/// An authority and the files that it made.
struct Authority {
    dir: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
    cert: CertificateDer<'static>,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ca.crt"), cert.pem()).unwrap();
        Authority { dir, cert: cert.der().clone(), issuer: Issuer::new(params, key) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Makes NAME.crt and NAME.key.
    fn sign(&self, name: &str, uri: Option<&str>) {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.subject_alt_names.extend(uri.map(|uri| SanType::URI(uri.try_into().unwrap())));
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.path(&format!("{name}.crt")), cert.pem()).unwrap();
        std::fs::write(self.path(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    /// What a client needs that shows the certificate `name`, or none.
    fn client(
        &self,
        name: Option<&str>,
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.cert.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        Arc::new(match name {
            None => builder.with_no_client_auth(),
            Some(name) => {
                let chain = CertificateDer::pem_file_iter(self.path(&format!("{name}.crt"))).unwrap();
                let key = PrivateKeyDer::from_pem_file(self.path(&format!("{name}.key"))).unwrap();
                builder.with_client_auth_cert(chain.map(Result::unwrap).collect(), key).unwrap()
            }
        })
    }
}

/// A server that listens for TLS too.
struct Served {
    running: Running,
    port: u16,
    ca: Arc<Authority>,
}

impl Served {
    fn new(options: &[&str]) -> Served {
        let ca = Authority::new();
        ca.sign("server", None);
        ca.sign("alice", Some("urn:bob"));
        Served::of(Arc::new(ca), options)
    }

    /// With the certificates that are there.
    fn of(ca: Arc<Authority>, options: &[&str]) -> Served {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (port_text, cert, key, authority) =
            (port.to_string(), ca.text("server.crt"), ca.text("server.key"), ca.text("ca.crt"));
        let mut all = vec!["--tls-port", &port_text, "--tls-cert-file", &cert, "--tls-key-file", &key];
        all.extend(["--tls-ca-cert-file", &authority]);
        all.extend(options);
        Served { running: serve(&all), port, ca }
    }

    fn open(&self, config: &Arc<ClientConfig>) -> Connection {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        StreamOwned::new(ClientConnection::new(config.clone(), name).unwrap(), socket)
    }

    fn connect(&self, cert: Option<&str>) -> Connection {
        self.open(&self.ca.client(cert, rustls::ALL_VERSIONS))
    }

    fn plain(&self, line: &str) -> String {
        let answer = self.running.client().line(line).unwrap();
        answer.int().map_or_else(|| answer.text(), |n| n.to_string())
    }

    fn config_set(&self, pairs: &[&str]) -> String {
        let argv: Vec<&str> = ["CONFIG", "SET"].iter().chain(pairs).copied().collect();
        self.running.client().call(&argv).unwrap().text()
    }
}

/// Sends a command, gives what comes back at once.
fn ask(connection: &mut Connection, line: &str) -> std::io::Result<String> {
    connection.write_all(format!("{line}\r\n").as_bytes())?;
    let mut bytes = [0; 4096];
    let n = connection.read(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..n]).into_owned())
}

/// True when the server does not talk with this client.
fn is_refused(connection: &mut Connection) -> bool {
    ask(connection, "PING").map_or(true, |answer| answer.is_empty())
}

#[test]
fn who_shows_a_certificate_is_served() {
    let served = Served::new(&[]);
    assert_eq!(ask(&mut served.connect(Some("alice")), "PING").unwrap(), "+PONG\r\n");
    assert!(is_refused(&mut served.connect(None)));
    let others = Authority::new();
    others.sign("mallory", None);
    for name in ["mallory.crt", "mallory.key"] {
        std::fs::copy(others.path(name), served.ca.path(name)).unwrap();
    }
    assert!(is_refused(&mut served.connect(Some("mallory"))));
    assert_eq!(served.config_set(&["tls-auth-clients", "optional"]), "OK");
    assert_eq!(ask(&mut served.connect(None), "PING").unwrap(), "+PONG\r\n");
    assert!(is_refused(&mut served.connect(Some("mallory"))));
    assert_eq!(served.config_set(&["tls-auth-clients", "no"]), "OK");
    assert_eq!(ask(&mut served.connect(None), "PING").unwrap(), "+PONG\r\n");
    // The plain port is still there.
    served.running.assert_alive();
    let info = served.plain("INFO server");
    assert!(info.contains(&format!("listener1:name=tls,bind=127.0.0.1,port={}\r\n", served.port)), "{info}");
}

#[test]
fn much_arrives_whole_in_both_directions() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let served = Served::new(&["--tls-auth-clients", "no"]);
        let mut connection = served.open(&served.ca.client(None, &[version]));
        let value: Vec<u8> = (0..3_000_000u32).flat_map(u32::to_be_bytes).collect();
        let mut request = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${}\r\n", value.len()).into_bytes();
        request.extend_from_slice(&value);
        request.extend_from_slice(b"\r\n");
        // Enough small commands behind it for replies that no socket takes at once.
        let small = 20_000;
        request.extend_from_slice(b"GET k\r\n");
        request.extend_from_slice("ECHO abcdefghijklmnop\r\n".repeat(small).as_bytes());
        let mut expected = format!("+OK\r\n${}\r\n", value.len()).into_bytes();
        expected.extend_from_slice(&value);
        expected.extend_from_slice(b"\r\n");
        expected.extend_from_slice("$16\r\nabcdefghijklmnop\r\n".repeat(small).as_bytes());
        // A client that only writes until it is done: the server must not wait for it to read.
        connection.write_all(&request).unwrap();
        connection.flush().unwrap();
        let mut answer = vec![0; expected.len()];
        connection.read_exact(&mut answer).unwrap();
        assert!(answer == expected, "{version:?}: the bytes differ");
        assert_eq!(ask(&mut connection, "PING").unwrap(), "+PONG\r\n");
    }
}

#[test]
fn other_certificates_can_be_put_in_place() {
    let served = Served::new(&["--tls-auth-clients", "no"]);
    let shown = |connection: &mut Connection| {
        ask(connection, "PING").unwrap();
        connection.conn.peer_certificates().unwrap()[0].clone()
    };
    let mut old = served.connect(None);
    let first = shown(&mut old);
    served.ca.sign("second", None);
    let (cert, key) = (served.ca.text("second.crt"), served.ca.text("second.key"));
    assert_eq!(served.config_set(&["tls-cert-file", &cert, "tls-key-file", &key]), "OK");
    let second = shown(&mut served.connect(None));
    assert_ne!(first, second);
    assert_eq!(ask(&mut old, "PING").unwrap(), "+PONG\r\n", "connections stay");
    // What cannot be used is refused, and nothing changes.
    std::fs::write(served.ca.path("broken.crt"), "no certificate").unwrap();
    let broken = served.ca.text("broken.crt");
    for (name, file) in
        [("tls-cert-file", broken.as_str()), ("tls-key-file", "/nonexistent"), ("tls-ca-cert-file", &broken)]
    {
        assert_eq!(
            served.config_set(&[name, file]),
            format!(
                "ERR CONFIG SET failed (possibly related to argument '{name}') - Unable to update TLS configuration. \
                 Check server logs."
            )
        );
    }
    // A key of another certificate is one of these.
    assert!(served.config_set(&["tls-key-file", &served.ca.text("server.key")]).contains("Unable to update"));
    assert_eq!(shown(&mut served.connect(None)), second);
    let kept = served.running.client().call_raw(&["CONFIG", "GET", "tls-cert-file"]).unwrap();
    assert!(String::from_utf8(kept.raw).unwrap().contains("second.crt"));
    // Files that changed are read again when that is wished.
    served.config_set(&["tls-auto-reload-interval", "1"]);
    std::fs::copy(served.ca.path("server.crt"), &cert).unwrap();
    std::fs::copy(served.ca.path("server.key"), &key).unwrap();
    assert!(common::eventually(|| shown(&mut served.connect(None)) == first));
}

#[test]
fn a_server_may_listen_for_tls_only_and_later_for_nothing() {
    let served = Served::new(&["--port", "0", "--tls-auth-clients", "no"]);
    let mut connection = served.connect(None);
    let info = ask(&mut connection, "INFO server").unwrap();
    assert!(info.contains(&format!("tcp_port:{}\r\n", served.port)), "{info}");
    assert!(info.contains(&format!("listener0:name=tls,bind=127.0.0.1,port={}\r\n", served.port)), "{info}");
    let tls = ask(&mut connection, "INFO tls").unwrap();
    assert!(tls.contains("tls_server_cert_serial:") && !tls.contains("tls_server_cert_serial:none"), "{tls}");
    assert!(tls.contains("tls_client_cert_serial:none\r\n"), "{tls}");
    assert_eq!(ask(&mut connection, "CONFIG SET tls-port 0").unwrap(), "+OK\r\n");
    assert!(TcpStream::connect(("127.0.0.1", served.port)).is_err());
    assert_eq!(ask(&mut connection, &format!("CONFIG SET tls-port {}", served.port)).unwrap(), "+OK\r\n");
    assert_eq!(ask(&mut served.connect(None), "PING").unwrap(), "+PONG\r\n");
}

#[test]
fn a_certificate_may_name_the_user() {
    let served = Served::new(&["--tls-auth-clients-user", "CN", "--requirepass", "secret"]);
    let mut admin = served.running.client();
    admin.line("AUTH secret").unwrap();
    let mut connection = served.connect(Some("alice"));
    assert!(ask(&mut connection, "PING").unwrap().starts_with("-NOAUTH"));
    let log = admin.call_raw(&["ACL", "LOG"]).unwrap().raw;
    let log = String::from_utf8(log).unwrap();
    assert!(log.contains("tls-cert") && log.contains("alice"), "{log}");
    assert!(admin.line("INFO stats").unwrap().text().contains("acl_access_denied_tls_cert:1\r\n"));
    admin.line("ACL SETUSER alice on +@all").unwrap();
    assert_eq!(ask(&mut served.connect(Some("alice")), "ACL WHOAMI").unwrap(), "$5\r\nalice\r\n");
    admin.line("ACL SETUSER alice off").unwrap();
    assert!(ask(&mut served.connect(Some("alice")), "PING").unwrap().starts_with("-NOAUTH"));
    admin.line("ACL SETUSER urn:bob on +@all").unwrap();
    admin.line("CONFIG SET tls-auth-clients-user URI").unwrap();
    assert_eq!(ask(&mut served.connect(Some("alice")), "ACL WHOAMI").unwrap(), "$7\r\nurn:bob\r\n");
}

#[test]
fn protocols_and_ciphers_are_chosen() {
    let served = Served::new(&["--tls-auth-clients", "no", "--tls-protocols", "TLSv1.3"]);
    let old = served.ca.client(None, &[&rustls::version::TLS12]);
    assert!(is_refused(&mut served.open(&old)));
    assert_eq!(ask(&mut served.connect(None), "PING").unwrap(), "+PONG\r\n");
    let ciphers = "ECDHE-ECDSA-CHACHA20-POLY1305";
    assert_eq!(served.config_set(&["tls-protocols", "TLSv1.2", "tls-ciphers", ciphers]), "OK");
    let mut connection = served.open(&old);
    assert_eq!(ask(&mut connection, "PING").unwrap(), "+PONG\r\n");
    let suite = connection.conn.negotiated_cipher_suite().unwrap().suite();
    assert_eq!(suite, rustls::CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256);
    for (name, value) in [("tls-protocols", "TLSv1.1"), ("tls-ciphers", "RC4-MD5"), ("tls-key-file", "")] {
        assert!(served.config_set(&[name, value]).contains("Unable to update TLS"), "{name} {value}");
    }
    assert!(served.config_set(&["tls-dh-params-file", "dh.pem"]).contains("not supported"));
}

#[test]
fn sessions_are_taken_up_again_if_wished() {
    for (caching, kind) in [("yes", HandshakeKind::Resumed), ("no", HandshakeKind::Full)] {
        let served = Served::new(&["--tls-session-caching", caching]);
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            let config = served.ca.client(Some("alice"), &[version]);
            for expected in [HandshakeKind::Full, kind] {
                let mut connection = served.open(&config);
                ask(&mut connection, "PING").unwrap();
                assert_eq!(connection.conn.handshake_kind(), Some(expected), "{caching} {version:?}");
            }
        }
    }
}

#[test]
fn what_is_no_handshake_ends_the_connection_only() {
    let served = Served::new(&["--tls-auth-clients", "no"]);
    let mut hello = Vec::new();
    let name = ServerName::try_from("localhost").unwrap();
    let config = served.ca.client(None, rustls::ALL_VERSIONS);
    ClientConnection::new(config, name).unwrap().write_tls(&mut hello).unwrap();
    let mut tries: Vec<Vec<u8>> =
        vec![b"PING\r\n".to_vec(), b"*1\r\n$4\r\nPING\r\n".to_vec(), vec![0; 70_000], vec![0xff; 70_000]];
    for at in (0..hello.len()).step_by(7) {
        let mut changed = hello.clone();
        changed[at] ^= 0x55;
        tries.push(changed);
        tries.push(hello[..at].to_vec());
    }
    for bytes in tries {
        let mut socket = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // The server may be gone before all is sent.
        let _ = socket.write_all(&bytes);
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let (_, ended) = common::drained_to_end(&mut socket);
        assert!(ended);
    }
    // TLS on the plain port is no command.
    assert!(
        served.running.exchange(&hello).is_empty() || served.running.exchange(&hello).starts_with(b"-ERR")
    );
    assert_eq!(ask(&mut served.connect(None), "PING").unwrap(), "+PONG\r\n");
}

#[test]
fn who_is_silent_does_not_stay() {
    let served = Served::new(&[]);
    let mut socket = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let (bytes, ended) = common::drained_to_end(&mut socket);
    // An alert at most.
    assert!(bytes < 10 && ended, "{bytes}");
}

#[test]
fn a_long_script_can_be_stopped_over_tls() {
    let served = Served::new(&["--tls-auth-clients", "no", "--busy-reply-threshold", "20"]);
    let mut first = served.connect(None);
    first.write_all(b"EVAL \"while true do end\" 0\r\n").unwrap();
    first.flush().unwrap();
    assert!(common::eventually(|| {
        let mut connection = served.connect(None);
        ask(&mut connection, "PING").is_ok_and(|answer| answer.starts_with("-BUSY"))
    }));
    assert_eq!(ask(&mut served.connect(None), "SCRIPT KILL").unwrap(), "+OK\r\n");
    let mut answer = [0; 4096];
    let n = first.read(&mut answer).unwrap();
    assert!(answer[..n].starts_with(b"-ERR"), "{:?}", answer[..n].escape_ascii().to_string());
}

#[test]
fn clients_without_a_password_are_kept_small() {
    let served = Served::new(&["--tls-auth-clients", "no", "--requirepass", "secret"]);
    let mut connection = served.connect(None);
    let answer = ask(&mut connection, "*11").unwrap();
    assert_eq!(answer, "-ERR Protocol error: unauthenticated multibulk length\r\n");
    let mut connection = served.connect(None);
    let answer = ask(&mut connection, "*2\r\n$4\r\nAUTH\r\n$16385").unwrap();
    assert_eq!(answer, "-ERR Protocol error: unauthenticated bulk length\r\n");
}

#[test]
fn a_connection_that_is_killed_is_gone() {
    let served = Served::new(&["--tls-auth-clients", "no"]);
    let mut admin = served.running.client();
    for load in ["PING", "GET big", "SUBSCRIBE c", "BLPOP l 0"] {
        admin.call(&["SET", "big", &"x".repeat(8 << 20)]).unwrap();
        let mut victim = served.connect(None);
        assert_eq!(ask(&mut victim, "CLIENT SETNAME victim").unwrap(), "+OK\r\n");
        // What it asks for is under way when it is killed.
        victim.write_all(format!("{load}\r\n").repeat(3).as_bytes()).unwrap();
        victim.flush().unwrap();
        let list = admin.line("CLIENT LIST").unwrap().text();
        let line = list.lines().find(|line| line.contains(" name=victim ")).unwrap().to_owned();
        let id = line.split(' ').next().unwrap().strip_prefix("id=").unwrap().to_owned();
        assert_eq!(admin.call(&["CLIENT", "KILL", "ID", &id]).unwrap().int(), Some(1));
        let mut rest = Vec::new();
        // Whether the last word of TLS arrives does not matter.
        let _ = victim.read_to_end(&mut rest);
        assert!(!admin.line("CLIENT LIST").unwrap().text().contains("name=victim"), "{load}");
    }
    // Its own connection, with commands behind it.
    let mut own = served.connect(None);
    own.write_all(b"CLIENT KILL TYPE normal SKIPME no\r\nPING\r\nPING\r\n").unwrap();
    own.flush().unwrap();
    let _ = own.read_to_end(&mut Vec::new());
    assert_eq!(ask(&mut served.connect(None), "PING").unwrap(), "+PONG\r\n");
}

#[test]
fn migrate_goes_by_tls_if_wished() {
    let from = Served::new(&["--tls-cluster", "yes"]);
    let to = Served::of(from.ca.clone(), &[]);
    let port = to.port.to_string();
    from.plain("SET k v");
    assert_eq!(from.plain(&format!("MIGRATE 127.0.0.1 {port} k 0 5000")), "OK");
    assert_eq!((from.plain("EXISTS k"), to.plain("GET k")), ("0".to_owned(), "v".to_owned()));
    // Who is no server of this authority gets nothing.
    let other = Served::new(&["--tls-auth-clients", "no"]);
    from.plain("SET k v");
    assert!(from.plain(&format!("MIGRATE 127.0.0.1 {} k 0 5000", other.port)).starts_with("IOERR"));
    assert_eq!(from.plain("EXISTS k"), "1");
}

/// An address of this machine that is not its own to itself; `None` (and a line) where it has no network.
fn outer_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the system only chooses the address.
    let found = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()).map(|address| address.ip());
    match found {
        Ok(ip) if !ip.is_loopback() && !ip.is_unspecified() => Some(ip),
        _ => {
            eprintln!("SKIPPED: this machine has no address but its own");
            None
        }
    }
}

#[test]
fn protected_mode_tells_strangers_so() {
    let Some(ip) = outer_address() else { return };
    let served = Served::new(&["--tls-auth-clients", "no", "--bind", "0.0.0.0"]);
    let read_all = |mut stream: Box<dyn ReadWrite>| {
        // A command that comes with the handshake is not carried out.
        let _ = stream.write_all(b"SET k v\r\n");
        let _ = stream.flush();
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let plain = TcpStream::connect((ip, served.running.port)).unwrap();
    let socket = TcpStream::connect((ip, served.port)).unwrap();
    for stream in [&plain, &socket] {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }
    let name = ServerName::try_from("localhost").unwrap();
    let config = served.ca.client(None, rustls::ALL_VERSIONS);
    let tls = StreamOwned::new(ClientConnection::new(config, name).unwrap(), socket);
    let answers = [read_all(Box::new(plain)), read_all(Box::new(tls))];
    // A plain connection may be reset by what it still had to send.
    assert!(
        answers[0].is_empty() || answers[0].starts_with("-DENIED Redis is running in protected mode"),
        "{answers:?}"
    );
    assert!(answers[1].starts_with("-DENIED Redis is running in protected mode"), "{answers:?}");
    assert_eq!(served.plain("EXISTS k"), "0");
    assert!(served.plain("INFO stats").contains("rejected_connections:2\r\n"));
    // With a password nobody is a stranger.
    assert_eq!(served.config_set(&["requirepass", "secret"]), "OK");
    let mut stream = TcpStream::connect((ip, served.running.port)).unwrap();
    stream.write_all(b"AUTH secret\r\n").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n");
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

#[test]
fn servers_that_cannot_work_do_not_start() {
    use totality_engine::Config;
    use totality_server::Server;
    let ca = Authority::new();
    ca.sign("server", None);
    let (cert, key) = (ca.text("server.crt"), ca.text("server.key"));
    for pairs in [
        vec![],
        vec![("tls-cert-file", cert.as_str())],
        vec![("tls-cert-file", &cert), ("tls-key-file", &key)],
        vec![("tls-cert-file", &key), ("tls-key-file", &key), ("tls-auth-clients", "no")],
    ] {
        let mut config = Config::default();
        config.set("port", &[b"0"]).unwrap();
        config.set("tls-port", &[b"1"]).unwrap();
        for (name, value) in pairs {
            config.set(name, &[value.as_bytes()]).unwrap();
        }
        let error = Server::new(config, None).err().unwrap().to_string();
        assert_eq!(error, "Failed to configure TLS. Check logs for more info.");
    }
}

fn redis_cli(served: &Served, words: &[&str]) -> Option<String> {
    redis_cli_at(served, served.port, words)
}

fn redis_cli_at(served: &Served, port: u16, words: &[&str]) -> Option<String> {
    let file = |name: &str| Path::new(&served.ca.text(name)).display().to_string();
    let port = port.to_string();
    let run = Command::new("redis-cli")
        .args(["-h", "127.0.0.1", "-p", &port, "--tls", "--cacert", &file("ca.crt")])
        .args(["--cert", &file("alice.crt"), "--key", &file("alice.key")])
        .args(words)
        .output();
    match run {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(_) => {
            assert!(std::env::var_os("CI").is_none(), "redis-cli is missing");
            eprintln!("SKIPPED: there is no redis-cli");
            None
        }
    }
}

#[test]
fn redis_cli_talks_tls_with_us() {
    let served = Served::new(&[]);
    let Some(answer) = redis_cli(&served, &["SET", "k", "v"]) else { return };
    assert_eq!(answer, "OK\n");
    assert_eq!(redis_cli(&served, &["GET", "k"]).unwrap(), "v\n");
}

/// A process that ends with the test.
struct Process(std::process::Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_redis_server_replicates_over_tls() {
    let served = Served::new(&[]);
    served.plain("SET before 1");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dir = tempfile::tempdir().unwrap();
    let spawned = Command::new("redis-server")
        .args(["--port", "0", "--tls-port", &port.to_string(), "--save", "", "--tls-replication", "yes"])
        .args([
            "--replicaof",
            "127.0.0.1",
            &served.port.to_string(),
            "--tls-ca-cert-file",
            &served.ca.text("ca.crt"),
        ])
        .args([
            "--tls-cert-file",
            &served.ca.text("server.crt"),
            "--tls-key-file",
            &served.ca.text("server.key"),
        ])
        .current_dir(dir.path())
        .stdout(std::process::Stdio::null())
        .spawn();
    let Ok(child) = spawned else {
        assert!(std::env::var_os("CI").is_none(), "redis-server is missing");
        eprintln!("SKIPPED: there is no redis-server");
        return;
    };
    let _process = Process(child);
    assert!(common::eventually(|| served.plain("INFO replication").contains("state=online")));
    served.plain("SET after 2");
    let there = |key: &str| redis_cli_at(&served, port, &["GET", key]);
    for (key, value) in [("before", "1\n"), ("after", "2\n")] {
        assert!(common::eventually(|| there(key).is_none_or(|got| got == value)), "{key}");
    }
}
