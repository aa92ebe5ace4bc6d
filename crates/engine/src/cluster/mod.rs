//! Cluster mode with one node, which owns all slots: a script or client that works here works on a Redis or Valkey
//! Cluster. There is no bus and no other node.
//!
//! The node's id is kept in the file that `cluster-config-file` names, in Redis's format; the owner of the engine
//! reads and writes it.

mod slots;
mod usage;

pub(crate) use slots::{CROSS_SLOT, SlotCounts, pattern_slot, slot_arg, slot_number, slot_of, tag_of};

pub(crate) use usage::{SlotUse, Usage, counted};

use crate::client::ClientId;
use crate::state::ServerState;

/// Number of slots.
pub const SLOTS: usize = totality_ds::crc::SLOTS as usize;

/// What the node knows of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// 40 hexadecimal digits.
    pub id: String,
    /// The same for its shard.
    pub shard: String,
    /// Configuration epoch.
    pub epoch: u64,
    /// The highest epoch seen.
    pub current_epoch: u64,
}

/// State of cluster mode.
pub struct Cluster {
    /// This node.
    pub node: Node,
    /// Keys by slot, as of the last time that somebody asked.
    pub(crate) counts: SlotCounts,
    /// What commands cost by slot.
    pub(crate) usage: Usage,
}

impl Cluster {
    /// A node with ids made of two times 20 random bytes.
    pub(crate) fn new(id: [u8; 20], shard: [u8; 20]) -> Cluster {
        Cluster {
            node: Node { id: hex(&id), shard: hex(&shard), epoch: 0, current_epoch: 0 },
            counts: SlotCounts::default(),
            usage: Usage::default(),
        }
    }
}

fn hex(bytes: &[u8; 20]) -> String {
    let digits = crate::script::cache::hex(bytes);
    String::from_utf8_lossy(&digits).into_owned()
}

fn is_id(word: &str) -> bool {
    word.len() == 40 && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

impl Node {
    /// Reads the node file: the line with `myself`, and the line `vars`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &[u8]) -> Result<Node, String> {
        let text = std::str::from_utf8(text).map_err(|_| "it is not text".to_owned())?;
        let mut node: Option<Node> = None;
        let mut current_epoch = 0;
        for line in text.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match words.as_slice() {
                [] => {}
                ["vars", vars @ ..] => {
                    for pair in vars.chunks(2) {
                        if let ["currentEpoch", n] = pair {
                            current_epoch =
                                n.parse().map_err(|_| format!("'{n}' is not the number of an epoch"))?;
                        }
                    }
                }
                [id, address, flags, _, _, _, epoch, ..] if flags.split(',').any(|f| f == "myself") => {
                    if !is_id(id) {
                        return Err(format!("'{id}' is not the id of a node"));
                    }
                    let shard = address.split(',').find_map(|part| part.strip_prefix("shard-id="));
                    let shard = shard.filter(|shard| is_id(shard)).unwrap_or(id);
                    let epoch = epoch.parse().map_err(|_| format!("'{epoch}' is not an epoch"))?;
                    node = Some(Node { id: (*id).to_owned(), shard: shard.to_owned(), epoch, current_epoch });
                }
                [_, _, _, _, _, _, _, ..] => {
                    return Err("it names other nodes, and this server is a cluster of one".to_owned());
                }
                _ => return Err(format!("unknown line '{line}'")),
            }
        }
        let mut node = node.ok_or("it does not name this node")?;
        node.current_epoch = current_epoch.max(node.epoch);
        Ok(node)
    }

    /// The node file's text; `name` is the one that people gave the node, or empty.
    pub fn render(&self, address: &Address, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!(",nodename={name}") };
        format!(
            "{} {},,tls-port={}{name},shard-id={} myself,master - 0 0 {} connected 0-{}\nvars currentEpoch {} lastVoteEpoch 0\n",
            self.id,
            address,
            address.tls,
            self.shard,
            self.epoch,
            SLOTS - 1,
            self.current_epoch
        )
    }
}

/// Where clients find the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// IP address; empty where none is known.
    pub ip: String,
    /// Host name that the configuration announces, or empty.
    pub hostname: String,
    /// Port for this client.
    pub port: u16,
    /// Port without TLS, 0 for none.
    pub plain: u16,
    /// Port with TLS, 0 for none.
    pub tls: u16,
    /// Port of the bus, which nobody listens to.
    pub bus_port: u16,
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}@{}", self.ip, self.port, self.bus_port)
    }
}

/// Where a client finds the node: what the configuration announces, else where the client came in, so that it can
/// come again. A real node learns its address from others, and there are none. `None`: for the node file.
pub fn address(sv: &ServerState, client: Option<ClientId>) -> Address {
    let config = &sv.config;
    let client = client.and_then(|id| sv.client(id));
    let local = client.filter(|client| !client.conn.unix).and_then(|c| c.conn.laddr.rsplit_once(':'));
    let ipv6 = client.is_some_and(|client| client.conn.addr.starts_with('['));
    let own = client.map_or("", |_| config.cluster_announce_client_ip[usize::from(ipv6)].as_str());
    let announced = [own, config.cluster_announce_ip.as_str()].into_iter().find(|ip| !ip.is_empty());
    let ip = announced.map_or_else(
        || local.map_or("", |(host, _)| host).trim_start_matches('[').trim_end_matches(']').to_owned(),
        str::to_owned,
    );
    let first = |ports: [u64; 3]| {
        u16::try_from(ports.into_iter().find(|port| *port > 0).unwrap_or(0)).unwrap_or_default()
    };
    let [for_plain, for_tls] = client.map_or([0, 0], |_| config.cluster_announce_client_port);
    let (own_plain, own_tls) = (u64::from(sv.process.tcp_port), u64::from(sv.process.tls_port));
    let plain = first([for_plain, config.cluster_announce_port, own_plain]);
    let tls = first([for_tls, config.cluster_announce_tls_port, own_tls]);
    // Who came by TLS is told how to come so again.
    let by_tls = own_tls > 0 && local.is_some_and(|(_, port)| port.parse() == Ok(own_tls));
    let base = if config.tls.cluster { own_tls } else { own_plain };
    Address {
        ip,
        hostname: config.cluster_announce_hostname.clone(),
        port: if by_tls || config.tls.cluster { tls } else { plain },
        plain,
        tls,
        bus_port: first([config.cluster_announce_bus_port, config.cluster_port, base.saturating_add(10_000)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_file_reads_back_and_redis_own_files_load() {
        let mut node = Cluster::new([7; 20], [9; 20]).node;
        node.epoch = 3;
        node.current_epoch = 3;
        let address = Address {
            ip: String::new(),
            hostname: String::new(),
            port: 7000,
            plain: 7000,
            tls: 0,
            bus_port: 17000,
        };
        assert_eq!(Node::parse(node.render(&address, "tram").as_bytes()), Ok(node));
        let old = format!(
            "{} :6379@16379 myself,master - 0 0 1 connected 0-16383\nvars currentEpoch 2 lastVoteEpoch 0\n",
            "a".repeat(40)
        );
        let node = Node::parse(old.as_bytes()).unwrap();
        assert_eq!((node.id.as_str(), node.epoch, node.current_epoch), ("a".repeat(40).as_str(), 1, 2));
    }

    #[test]
    fn other_files_are_refused() {
        for (text, why) in [
            ("", "it does not name this node"),
            ("xx", "unknown line 'xx'"),
            ("zz :0@0 myself,master - 0 0 1 connected", "'zz' is not the id of a node"),
            ("a b master - 0 0 1 connected", "it names other nodes, and this server is a cluster of one"),
        ] {
            assert_eq!(Node::parse(text.as_bytes()), Err(why.to_owned()));
        }
    }
}
