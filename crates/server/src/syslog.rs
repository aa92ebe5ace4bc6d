//! `syslog-enabled`: the lines of the log go to the system's log daemon too, as syslog(3) sends them.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use crate::log::Level;

/// Where the daemon listens.
const SOCKET: &str = "/dev/log";

/// Numbers of the facilities that `syslog-facility` names.
fn facility_number(name: &str) -> u32 {
    match name.strip_prefix("local").and_then(|n| n.parse::<u32>().ok()) {
        Some(n) if n < 8 => 16 + n,
        // `user`
        _ => 1,
    }
}

/// The way to the daemon.
#[derive(Debug)]
pub struct Syslog {
    path: PathBuf,
    ident: String,
    facility: u32,
    pid: u32,
    socket: Option<UnixDatagram>,
}

impl Syslog {
    /// To the system's daemon, under the name `ident` and a facility of `syslog-facility`.
    pub fn new(ident: &str, facility: &str) -> Syslog {
        Syslog::at(Path::new(SOCKET), ident, facility)
    }

    fn at(path: &Path, ident: &str, facility: &str) -> Syslog {
        Syslog {
            path: path.to_owned(),
            ident: ident.to_owned(),
            facility: facility_number(facility),
            pid: std::process::id(),
            socket: None,
        }
    }

    /// Connects to the daemon, unless that is done.
    ///
    /// # Errors
    /// When nobody listens there, or it may not be written to.
    pub fn connect(&mut self) -> io::Result<&UnixDatagram> {
        if self.socket.is_none() {
            let socket = UnixDatagram::unbound()?;
            socket.connect(&self.path)?;
            // A daemon that is stuck must not stop the server.
            socket.set_nonblocking(true)?;
            self.socket = Some(socket);
        }
        self.socket.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Sends a line. What cannot be sent is lost, as with syslog(3); a daemon that comes back is found again.
    pub fn send(&mut self, level: Level, now: &jiff::ZonedDateTime, text: &str) {
        let severity = match level {
            Level::Debug => 7,
            Level::Verbose => 6,
            Level::Notice => 5,
            Level::Warning | Level::Nothing => 4,
        };
        let line = format!(
            "<{}>{} {}[{}]: {text}",
            self.facility * 8 + severity,
            now.strftime("%b %e %H:%M:%S"),
            self.ident,
            self.pid
        );
        for _ in 0..2 {
            match self.connect().map(|socket| socket.send(line.as_bytes())) {
                // The daemon was started anew: a new connection finds it.
                Ok(Err(e)) if e.kind() != io::ErrorKind::WouldBlock => self.socket = None,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_arrive_as_syslog_sends_them_also_after_the_daemon_came_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut syslog = Syslog::at(&path, "me", "local3");
        assert!(syslog.connect().is_err(), "nobody is there");
        let now = jiff::ZonedDateTime::now();
        syslog.send(Level::Warning, &now, "lost");
        for round in 0..2 {
            let daemon = UnixDatagram::bind(&path).unwrap();
            syslog.send(Level::Notice, &now, &format!("hello {round}"));
            let mut line = [0; 200];
            let n = daemon.recv(&mut line).unwrap();
            let want = format!(
                "<{}>{} me[{}]: hello {round}",
                19 * 8 + 5,
                now.strftime("%b %e %H:%M:%S"),
                std::process::id()
            );
            assert_eq!(std::str::from_utf8(&line[..n]).unwrap(), want);
            drop(daemon);
            std::fs::remove_file(&path).unwrap();
        }
        assert_eq!((facility_number("user"), facility_number("local0")), (1, 16));
    }
}
