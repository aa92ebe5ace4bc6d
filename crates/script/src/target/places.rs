//! Addresses: of a server, of a primary behind Sentinel, of a cluster's nodes.

use crate::error::LinkError;
use crate::slot::SLOTS;
use crate::value::Value;
use crate::words::Words;
use redis::{ConnectionAddr, ConnectionInfo};

/// Most nodes of a cluster that are remembered.
const MAX_NODES: usize = 4096;

/// The same login at another address (`host:port`, or `:port` for the same host).
pub(super) fn at(login: &ConnectionInfo, address: &str) -> Result<ConnectionInfo, LinkError> {
    let bad = || LinkError::Unconnected(format!("not an address: {address}"));
    let (host, port) = address.rsplit_once(':').ok_or_else(bad)?;
    let port: u16 = port.parse().map_err(|_| bad())?;
    let same = match login.addr() {
        ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => host.clone(),
        _ => "127.0.0.1".into(),
    };
    let host = if host.is_empty() { same } else { host.trim_matches(['[', ']']).to_string() };
    let addr = match login.addr() {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host, port, insecure: *insecure, tls_params: tls_params.clone() }
        }
        _ => ConnectionAddr::Tcp(host, port),
    };
    Ok(login.clone().set_addr(addr))
}

/// An address as `host:port`.
pub(super) fn name(info: &ConnectionInfo) -> String {
    match info.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            format!("{host}:{port}")
        }
        other => other.to_string(),
    }
}

/// The address in Sentinel's answer to `get-master-addr-by-name`.
pub(super) fn primary(reply: Option<&Value>) -> Option<String> {
    match reply? {
        Value::Array(v) => match (v.first()?.bytes(), v.get(1)?.bytes()) {
            (Some(host), Some(port)) => {
                Some(format!("{}:{}", String::from_utf8_lossy(host), String::from_utf8_lossy(port)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The question for it.
pub(super) fn ask_sentinel(name: &str) -> Words {
    Words::of(&["SENTINEL", "get-master-addr-by-name", name])
}

/// True when ROLE says that this is a primary.
pub(super) fn is_primary(reply: Option<&Value>) -> bool {
    matches!(reply, Some(Value::Array(v)) if v.first().and_then(Value::bytes) == Some(b"master"))
}

/// Which node serves which slot.
#[derive(Debug, Default)]
pub(super) struct Slots {
    nodes: Vec<String>,
    /// For each slot the place in `nodes`, plus one; 0 is unknown. Empty before the first look.
    owner: Vec<u16>,
}

impl Slots {
    /// Reads the reply of CLUSTER SLOTS. `asked` is the node that answered: an empty host means itself.
    pub(super) fn read(&mut self, reply: &Value, asked: &str) -> bool {
        let Value::Array(ranges) = reply else { return false };
        let mut fresh = Slots { nodes: Vec::new(), owner: vec![0; usize::from(SLOTS)] };
        for range in ranges {
            let Value::Array(parts) = range else { continue };
            let (Some(Value::Int(from)), Some(Value::Int(to)), Some(Value::Array(node))) =
                (parts.first(), parts.get(1), parts.get(2))
            else {
                continue;
            };
            let (Some(host), Some(Value::Int(port))) = (node.first(), node.get(1)) else { continue };
            let own = asked.rsplit_once(':').map_or("", |(host, _)| host);
            let host = host.bytes().map(String::from_utf8_lossy).filter(|h| !h.is_empty() && h != "?");
            let id = fresh.id(&format!("{}:{port}", host.as_deref().unwrap_or(own)));
            for slot in (*from).max(0)..=(*to).min(i64::from(SLOTS) - 1) {
                fresh.owner[slot as usize] = id;
            }
        }
        let found = !fresh.nodes.is_empty();
        if found {
            *self = fresh;
        }
        found
    }

    fn id(&mut self, address: &str) -> u16 {
        let at = self.nodes.iter().position(|n| n == address).unwrap_or_else(|| {
            if self.nodes.len() < MAX_NODES {
                self.nodes.push(address.to_string());
            }
            self.nodes.len() - 1
        });
        at as u16 + 1
    }

    /// A slot is served by this node now.
    pub(super) fn moved(&mut self, slot: u16, address: &str) {
        if self.owner.is_empty() {
            self.owner = vec![0; usize::from(SLOTS)];
        }
        let id = self.id(address);
        if let Some(owner) = self.owner.get_mut(usize::from(slot)) {
            *owner = id;
        }
    }

    /// Who serves a slot; without one the first node.
    pub(super) fn of(&self, slot: Option<u16>) -> Option<&str> {
        let id = match slot {
            Some(slot) => usize::from(*self.owner.get(usize::from(slot))?).checked_sub(1)?,
            None => 0,
        };
        self.nodes.get(id).map(String::as_str)
    }

    pub(super) fn nodes(&self) -> &[String] {
        &self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: i64, to: i64, host: &str, port: i64) -> Value {
        let node = Value::Array(vec![Value::Bulk(host.into()), Value::Int(port)]);
        Value::Array(vec![Value::Int(from), Value::Int(to), node])
    }

    #[test]
    fn slots_are_read_and_moved() {
        let mut slots = Slots::default();
        assert_eq!(slots.of(Some(5)), None);
        let reply = Value::Array(vec![range(0, 99, "10.0.0.1", 7000), range(100, 16383, "", 7001)]);
        assert!(slots.read(&reply, "10.0.0.9:7001"));
        assert_eq!(slots.of(Some(99)), Some("10.0.0.1:7000"));
        assert_eq!(slots.of(Some(100)), Some("10.0.0.9:7001"));
        slots.moved(99, "10.0.0.3:7002");
        assert_eq!(slots.of(Some(99)), Some("10.0.0.3:7002"));
        assert!(!slots.read(&Value::Nil, "x:1"));
        // A server that answers nonsense moves nothing out of bounds.
        assert!(slots.read(&Value::Array(vec![range(-5, 99_999, "h", 1)]), "x:1"));
        slots.moved(60_000, "h:1");
    }

    #[test]
    fn sentinels_answer() {
        let reply = Value::Array(vec![Value::Bulk(b"10.0.0.1".to_vec()), Value::Bulk(b"6379".to_vec())]);
        assert_eq!(primary(Some(&reply)).as_deref(), Some("10.0.0.1:6379"));
        assert_eq!(primary(Some(&Value::Nil)), None);
    }
}
