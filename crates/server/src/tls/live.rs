//! TLS in the running server: parameters that change, files that change, clients whose handshake is over.

use totality_engine::acl;
use totality_engine::commands::connection::client::HIDDEN;
use totality_engine::config::TlsConfig;
use totality_engine::keyspace::Keyspace;
use totality_engine::state::ServerState;

use super::{Tls, user_names};
use crate::clients::DENIED;
use crate::conn::Fate;
use crate::io::Io;
use crate::process_info;
use crate::server::Server;

impl Io {
    /// Makes new connections use what `config` says.
    ///
    /// # Errors
    /// It cannot be used: then nothing changes, and the log has the reason.
    pub fn configure_tls(&mut self, config: &TlsConfig) -> Result<(), String> {
        if !config.is_used() {
            return Ok(());
        }
        match Tls::load(config) {
            Ok(tls) => {
                self.tls = Some(tls);
                Ok(())
            }
            Err(why) => {
                self.log.warning(why);
                Err("Unable to update TLS configuration. Check server logs.".to_owned())
            }
        }
    }
}

impl Server {
    /// Once a second: looks whether it is time to read the certificates again.
    pub(crate) fn reload_certificates(&mut self) {
        let config = &self.engine.sv.config.tls;
        let Some(tls) = self.io.tls.as_ref().filter(|_| config.auto_reload_interval > 0) else { return };
        if self.io.now_ms.saturating_sub(self.tls_read_ms) < config.auto_reload_interval * 1000 {
            return;
        }
        self.tls_read_ms = self.io.now_ms;
        match tls.reload(config) {
            Ok(None) => {}
            Ok(Some(new)) => {
                self.io.tls = Some(new);
                process_info::certificates(&mut self.engine.sv.process, &self.io);
                self.io.log.notice("TLS materials reloaded successfully");
            }
            Err(why) => self.io.log.warning(format!("TLS materials are not reloaded: {why}")),
        }
    }
}

/// After a read: notices that the handshake of a client is over, and what follows from it.
#[inline]
pub fn greet(io: &mut Io, (ks, sv): (&Keyspace, &mut ServerState), key: usize) {
    if io.conns.get_mut(key).and_then(|conn| conn.stream.tls()).is_some_and(|tls| tls.take_fresh()) {
        established(io, ks, sv, key);
    }
}

#[cold]
fn established(io: &mut Io, ks: &Keyspace, sv: &mut ServerState, key: usize) {
    let cert_user = io.tls.as_ref().map(|tls| tls.cert_user);
    let Some(conn) = io.conns.get_mut(key) else { return };
    let client = conn.client;
    let Some(tls) = conn.stream.tls() else { return };
    if tls.denied {
        conn.output.extend_from_slice(DENIED);
        conn.fate = conn.fate.max(Fate::AfterReplies);
        return;
    }
    let cert = tls.peer_certificate();
    let names = cert.zip(cert_user).map_or(Vec::new(), |(cert, of)| user_names(cert, of));
    if let Err(name) = acl::login_by_certificate(ks, sv, client, &names) {
        let shown = if io.settings.hides_users { HIDDEN.to_owned() } else { name.escape_ascii().to_string() };
        io.log.verbose(format!("TLS: no user may log in as {shown} of the client's certificate"));
    }
    // What the client sent with the end of the handshake may be answered at once, even if nothing could be written yet.
    if let Some(conn) = io.conns.get_mut(key) {
        conn.full = false;
    }
    io.enqueue_write(key);
}
