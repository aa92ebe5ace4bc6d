//! `supervised`: the service manager is told when the server is ready and when it ends.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::listen::reason;
use crate::log::Log;

/// The variable in which systemd names its socket.
const SOCKET: &str = "NOTIFY_SOCKET";

/// The service manager.
#[derive(Debug, Default)]
pub enum Manager {
    /// There is none.
    #[default]
    None,
    /// upstart, which waited for the process to stop itself.
    Upstart,
    /// systemd, with the address of its socket.
    Systemd(OsString),
}

impl Manager {
    /// The manager that `supervised` (0 no, 1 upstart, 2 systemd, 3 auto) and the environment name. Upstart is told at
    /// once: the process stops until upstart lets it go on.
    pub fn find(supervised: usize, log: &mut Log) -> Manager {
        let (job, socket) = (std::env::var_os("UPSTART_JOB"), std::env::var_os(SOCKET));
        let supervised = match supervised {
            3 if job.is_some() => 1,
            3 if socket.is_some() => 2,
            chosen => chosen,
        };
        match supervised {
            1 if job.is_none() => {
                log.warning("upstart supervision requested, but UPSTART_JOB not found!");
                Manager::None
            }
            1 => {
                log.notice("supervised by upstart, will stop to signal readiness.");
                match signal_hook::low_level::raise(signal_hook::consts::SIGSTOP) {
                    Ok(()) => Manager::Upstart,
                    Err(e) => {
                        log.warning(format!("upstart supervision error: {}", reason(&e)));
                        Manager::None
                    }
                }
            }
            2 => {
                let Some(address) = socket else {
                    log.warning("systemd supervision error: NOTIFY_SOCKET not found!");
                    return Manager::None;
                };
                let manager = Manager::Systemd(address);
                if manager.tell("STATUS=Totality is loading...\n", log) {
                    log.notice(
                        "Supervised by systemd. Please make sure you set appropriate values for TimeoutStartSec and \
                         TimeoutStopSec in your service unit.",
                    );
                    manager
                } else {
                    Manager::None
                }
            }
            _ => Manager::None,
        }
    }

    /// The name that INFO shows.
    pub fn name(&self) -> &'static str {
        match self {
            Manager::None => "no",
            Manager::Upstart => "upstart",
            Manager::Systemd(_) => "systemd",
        }
    }

    /// The server serves.
    pub fn ready(&self, log: &mut Log) {
        self.tell("STATUS=Ready to accept connections\nREADY=1\n", log);
    }

    /// The server ends.
    pub fn stopping(&self, log: &mut Log) {
        self.tell("STOPPING=1\n", log);
    }

    /// False when it could not be told; the log says why.
    fn tell(&self, text: &str, log: &mut Log) -> bool {
        let Manager::Systemd(address) = self else { return true };
        match send(address, text) {
            Ok(()) => true,
            Err(e) => {
                log.warning(format!("systemd supervision error: sd_notify: {}", reason(&e)));
                false
            }
        }
    }
}

/// Sends to a path, or to a name without a file, which begins with `@`.
fn send(address: &OsStr, text: &str) -> io::Result<()> {
    let address = match address.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(address)?,
    };
    UnixDatagram::unbound()?.send_to_addr(text.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Level;

    #[test]
    fn systemd_is_told_by_path_and_by_name() {
        let mut log = Log::stdout(Level::Nothing);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let name = format!("totality-test-{}", std::process::id());
        let abstract_address = SocketAddr::from_abstract_name(&name).unwrap();
        for (socket, address) in [
            (UnixDatagram::bind(&path).unwrap(), path.clone().into_os_string()),
            (UnixDatagram::bind_addr(&abstract_address).unwrap(), format!("@{name}").into()),
        ] {
            let manager = Manager::Systemd(address);
            manager.ready(&mut log);
            manager.stopping(&mut log);
            for want in ["STATUS=Ready to accept connections\nREADY=1\n", "STOPPING=1\n"] {
                let mut text = [0; 100];
                let n = socket.recv(&mut text).unwrap();
                assert_eq!(&text[..n], want.as_bytes());
            }
        }
        assert!(!Manager::Systemd("/no/such/socket".into()).tell("READY=1\n", &mut log));
        assert_eq!(Manager::find(0, &mut log).name(), "no");
    }
}
