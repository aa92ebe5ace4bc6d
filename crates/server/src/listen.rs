//! Listening sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::Path;

use mio::net::{TcpListener, UnixListener};
use socket2::{Domain, Protocol, Socket, Type};

/// A listening socket of either kind.
#[derive(Debug)]
pub enum Listener {
    /// TCP, v4 or v6.
    Tcp(TcpListener),
    /// TCP for TLS.
    Tls(TcpListener),
    /// A unix socket.
    Unix(UnixListener),
}

/// A bind address of the configuration: `-` in front means that it may be missing on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bind<'a> {
    address: &'a str,
    optional: bool,
}

impl<'a> Bind<'a> {
    fn parse(text: &'a str) -> Bind<'a> {
        match text.strip_prefix('-') {
            Some(address) => Bind { address, optional: true },
            None => Bind { address: text, optional: false },
        }
    }

    fn resolve(&self, port: u16) -> io::Result<SocketAddr> {
        let ip = match self.address {
            "*" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            "::*" => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            other => match other.parse() {
                Ok(ip) => ip,
                Err(_) => {
                    let mut found = (other, port).to_socket_addrs()?;
                    return found.next().ok_or_else(|| io::Error::other("no address for the name"));
                }
            },
        };
        Ok(SocketAddr::new(ip, port))
    }
}

/// What sockets that listen are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Length of the queue of connections that are not accepted yet.
    pub backlog: i32,
    /// `socket-mark-id`: the mark of their packets; 0 for none.
    pub mark: u32,
    /// `mptcp`: clients may use several paths at once.
    pub mptcp: bool,
}

/// Listens on every address of `binds`; `kind` is `tcp` or `tls`, for messages. Addresses that are optional, or of a family that the machine lacks, may fail;
/// any other failure is an error with Redis's text. `warn` gets a line for each that failed.
pub fn tcp(
    binds: &[String],
    port: u16,
    options: Options,
    kind: &str,
    mut warn: impl FnMut(String),
) -> Result<Vec<TcpListener>, String> {
    let mut out = Vec::new();
    let mut port = port;
    for text in binds {
        let bind = Bind::parse(text);
        match bind.resolve(port).and_then(|addr| tcp_one(addr, options)) {
            Ok(listener) => {
                // Port 0 of the tests: all addresses share the port that the first one got.
                if port == 0 {
                    port = listener.local_addr().map_err(|e| e.to_string())?.port();
                }
                // Marking needs a right that the server may lack; it serves all the same.
                if options.mark > 0
                    && let Err(e) = socket2::SockRef::from(&listener).set_mark(options.mark)
                {
                    let why = reason(&e);
                    warn(format!(
                        "socket-mark-id: setting the mark {} of a socket failed: {why}",
                        options.mark
                    ));
                }
                out.push(listener);
            }
            Err(e) => {
                let line = format!(
                    "Warning: Could not create server TCP listening socket {}:{port}: {}",
                    bind.address,
                    reason(&e)
                );
                warn(line);
                let absent = e.kind() == io::ErrorKind::AddrNotAvailable && bind.optional;
                if !absent && !no_such_family(&e) {
                    return Err(format!("Failed listening on port {port} ({kind}), aborting."));
                }
            }
        }
    }
    Ok(out)
}

/// TCP, or its kind that uses several paths.
pub fn protocol(mptcp: bool) -> Protocol {
    if mptcp { Protocol::MPTCP } else { Protocol::TCP }
}

fn tcp_one(addr: SocketAddr, options: Options) -> io::Result<TcpListener> {
    let kind = Type::STREAM.nonblocking();
    let socket = Socket::new(Domain::for_address(addr), kind, Some(protocol(options.mptcp)))?;
    if addr.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&addr.into())?;
    socket.listen(options.backlog)?;
    Ok(TcpListener::from_std(socket.into()))
}

/// ENOPROTOOPT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EPFNOSUPPORT, EAFNOSUPPORT: a machine without IPv6, say.
fn no_such_family(e: &io::Error) -> bool {
    use rustix::io::Errno;
    let families = [
        Errno::NOPROTOOPT,
        Errno::PROTONOSUPPORT,
        Errno::SOCKTNOSUPPORT,
        Errno::PFNOSUPPORT,
        Errno::AFNOSUPPORT,
    ];
    e.raw_os_error().is_some_and(|code| families.iter().any(|f| f.raw_os_error() == code))
}

/// The system's text without Rust's `(os error N)`.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    match text.find(" (os error") {
        Some(i) => text[..i].to_owned(),
        None => text,
    }
}

/// The number of a group of users.
fn group_number(name: &str) -> io::Result<u32> {
    let found = nix::unistd::Group::from_name(name).map_err(io::Error::from)?;
    let found = found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no group of this name"))?;
    Ok(found.gid.as_raw())
}

/// Listens on a unix socket, in place of what was left there. `mode` is the permission of the file, 0 for the default,
/// and `group` the group that it belongs to, empty for the server's.
///
/// # Errors
/// What failed, and why.
pub fn unix(path: &str, (mode, group): (u32, &str), backlog: i32) -> Result<UnixListener, String> {
    let bind = |e: io::Error| format!("bind: {path}: {}", reason(&e));
    let socket = unix_socket(path, mode).map_err(bind)?;
    // Before anybody can connect.
    if !group.is_empty() {
        let number =
            group_number(group).map_err(|e| format!("getgrnam error for group '{group}': {}", reason(&e)))?;
        std::os::unix::fs::chown(path, None, Some(number))
            .map_err(|e| format!("chown error for group '{group}': {}", reason(&e)))?;
    }
    socket.listen(backlog).map_err(|e| format!("listen: {}", reason(&e)))?;
    Ok(UnixListener::from_std(socket.into()))
}

fn unix_socket(path: &str, mode: u32) -> io::Result<Socket> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let path = Path::new(path);
    // Only ever a socket is removed: a wrong path in the configuration must not cost a file.
    if std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket()) {
        std::fs::remove_file(path)?;
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
    socket.bind(&socket2::SockAddr::unix(path)?)?;
    // Before anybody can connect.
    if mode != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Options = Options { backlog: 16, mark: 0, mptcp: false };

    #[test]
    fn several_addresses_share_a_port_and_optional_ones_may_be_missing() {
        let binds = ["127.0.0.1".to_owned(), "-192.0.2.1".to_owned()];
        let mut lines = Vec::new();
        let listeners = tcp(&binds, 0, PLAIN, "tcp", |l| lines.push(l)).unwrap();
        assert_eq!(listeners.len(), 1);
        let port = listeners[0].local_addr().unwrap().port();
        let expected = format!(
            "Warning: Could not create server TCP listening socket 192.0.2.1:{port}: Cannot assign requested address"
        );
        assert_eq!(lines, [expected]);
        let taken = tcp(&["127.0.0.1".to_owned()], port, PLAIN, "tcp", |_| {});
        assert_eq!(taken.unwrap_err(), format!("Failed listening on port {port} (tcp), aborting."));
    }

    #[test]
    fn a_unix_socket_replaces_an_old_one_but_no_file() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let text = path.to_str().unwrap();
        for _ in 0..2 {
            drop(unix(text, (0o700, ""), 16).unwrap());
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        let file = dir.path().join("file");
        std::fs::write(&file, b"precious").unwrap();
        assert!(unix(file.to_str().unwrap(), (0, ""), 16).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    }

    #[test]
    fn a_unix_socket_can_belong_to_another_group() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let text = path.to_str().unwrap();
        let none = unix(text, (0, "no-such-group"), 16).unwrap_err();
        assert_eq!(none, "getgrnam error for group 'no-such-group': no group of this name");
        // A group that everybody may give to what is theirs: their own.
        let own = nix::unistd::Group::from_gid(nix::unistd::getegid()).unwrap().unwrap();
        drop(unix(text, (0, &own.name), 16).unwrap());
        assert_eq!(std::fs::metadata(&path).unwrap().gid(), own.gid.as_raw());
        if nix::unistd::geteuid().is_root()
            && let Some(other) = nix::unistd::Group::from_name("daemon").unwrap()
        {
            drop(unix(text, (0o770, "daemon"), 16).unwrap());
            assert_eq!(std::fs::metadata(&path).unwrap().gid(), other.gid.as_raw());
        }
    }

    #[test]
    fn sockets_are_marked_and_use_several_paths_where_the_system_lets_them() {
        let binds = ["127.0.0.1".to_owned()];
        let mut lines = Vec::new();
        let options = Options {
            mark: 7,
            mptcp: Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).is_ok(),
            ..PLAIN
        };
        let listeners = tcp(&binds, 0, options, "tcp", |line| lines.push(line)).unwrap();
        let socket = socket2::SockRef::from(&listeners[0]);
        assert_eq!(socket.protocol().unwrap(), Some(protocol(options.mptcp)));
        match lines.as_slice() {
            [] => assert_eq!(socket.mark().unwrap(), 7),
            [line] => assert!(line.starts_with("socket-mark-id: setting the mark 7"), "{line}"),
            more => panic!("{more:?}"),
        }
    }
}
