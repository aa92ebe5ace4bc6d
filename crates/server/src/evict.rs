//! `maxmemory-clients`: when the buffers of all clients together are too large, the largest clients go.

use totality_engine::state::ServerState;
use totality_engine::{Config, Engine};

use crate::conn::{Conn, Fate};
use crate::server::Server;

/// Bytes that a connection takes without its buffers: its entries in the tables and the kernel's handle.
const BASE: usize = 1024;
/// A lower limit would make it impossible to talk to the server at all.
const LEAST: u64 = 128 * 1024;

impl Server {
    /// Drops the largest clients until the rest fits.
    pub(crate) fn evict_clients(&mut self) {
        let sv = &self.engine.sv;
        let Some(limit) = limit(&sv.config) else { return };
        let mut total = sv.client_memory;
        if total as u64 <= limit {
            return;
        }
        let mut sizes = Vec::new();
        for (key, conn) in &self.io.conns {
            if conn.fate == Fate::Now {
                total -= conn.counted;
            } else if sv.clients.get(conn.client).is_some_and(|c| !c.no_evict && !c.replica) {
                sizes.push((conn.counted, key));
            }
        }
        sizes.sort_unstable();
        while total as u64 > limit
            && let Some((bytes, key)) = sizes.pop()
        {
            total -= bytes;
            self.engine.sv.stats.evicted_clients += 1;
            if let Some(conn) = self.io.conns.get_mut(key) {
                conn.fate = Fate::Now;
                let line = self.engine.describe(conn.client);
                self.io.log.notice(format!("Evicting client: {}", line.trim_end()));
                self.io.enqueue_write(key);
            }
        }
    }
}

/// Bytes that all clients together may take; `None` for any number.
fn limit(config: &Config) -> Option<u64> {
    let bytes = match config.maxmemory_clients {
        0 => return None,
        bytes if bytes > 0 => bytes as u64,
        // A percentage of `maxmemory`, which may itself be unlimited.
        _ if config.maxmemory == 0 => return None,
        percent => (u128::from(config.maxmemory) * u128::from(percent.unsigned_abs()) / 100) as u64,
    };
    Some(bytes.max(LEAST))
}

/// Output that fits here is shown as Redis's fixed buffer, more as its list of blocks.
const FIXED: usize = 16 * 1024;

/// Brings up to date what a connection adds to the memory of all clients, and what is shown of its output. Replicas are not counted: their buffers must
/// not make the server evict what they are to be told of.
pub(crate) fn account(engine: &mut Engine, conn: &mut Conn) {
    if let Some(io) = engine.client_io(conn.client) {
        let pending = conn.pending();
        let small = pending <= FIXED;
        io.obl = if small { pending } else { 0 };
        io.oll = usize::from(!small);
        io.omem = if small { 0 } else { conn.output.capacity() };
        io.net_out = conn.net.1;
    }
    let held = match engine.sv.clients.get(conn.client) {
        Some(client) if !client.replica => client.held_memory() + engine.ks.watch.memory(conn.client),
        _ => return forget(&mut engine.sv, conn),
    };
    let bytes = BASE + conn.input.capacity() + conn.output.capacity() + conn.parser.memory() + held;
    let total = &mut engine.sv.client_memory;
    *total = (*total + bytes).saturating_sub(conn.counted);
    conn.counted = bytes;
}

/// A connection does not count any more.
pub(crate) fn forget(sv: &mut ServerState, conn: &mut Conn) {
    let total = &mut sv.client_memory;
    *total = total.saturating_sub(std::mem::take(&mut conn.counted));
}
