//! `maxmemory-clients`: when the buffers of all clients together are too large, the largest clients go.

use crate::conn::{Conn, Fate};
use crate::server::Server;

/// Bytes that a connection takes without its buffers: its entries in the tables and the kernel's handle.
const BASE: usize = 1024;

impl Server {
    /// Drops the largest clients until the rest fits.
    pub(crate) fn evict_clients(&mut self) {
        let limit = match self.engine.sv.config.maxmemory_clients {
            0 => return,
            bytes if bytes > 0 => bytes as u64,
            // A percentage of `maxmemory`, which may itself be unlimited.
            percent => match self.engine.sv.config.maxmemory {
                0 => return,
                all => (u128::from(all) * u128::from(percent.unsigned_abs()) / 100) as u64,
            },
        } as usize;
        let clients = &self.engine.sv.clients;
        let mut total = 0usize;
        let mut sizes = Vec::new();
        for (key, conn) in &self.io.conns {
            let client = clients.get(conn.client);
            let bytes = memory(conn) + client.and_then(|c| c.multi.as_ref()).map_or(0, |m| m.bytes);
            total += bytes;
            if client.is_some_and(|c| !c.no_evict && !c.replica) && conn.fate != Fate::Now {
                sizes.push((bytes, key));
            }
        }
        if total <= limit {
            return;
        }
        sizes.sort_unstable();
        while total > limit
            && let Some((bytes, key)) = sizes.pop()
        {
            total -= bytes;
            if let Some(conn) = self.io.conns.get_mut(key) {
                conn.fate = Fate::Now;
                self.io.log.notice(format!("Evicting client: id={} tot-mem={bytes}", conn.client.id));
                self.io.enqueue_write(key);
            }
        }
    }
}

/// Bytes that a connection's buffers take.
fn memory(conn: &Conn) -> usize {
    BASE + conn.input.capacity() + conn.output.capacity() + conn.parser.memory()
}
