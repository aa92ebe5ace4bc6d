//! CLUSTER: the view of a cluster that has one node, which owns all slots. Without `cluster-enabled yes` only KEYSLOT
//! answers, which needs no cluster; the rest says so, as Redis does.
//!
//! What would give slots away, or bring in other nodes, is refused: MEET, DELSLOTS, FLUSHSLOTS.
//!
//! ```transcript
//! > CLUSTER INFO
//! (error) ERR This instance has cluster support disabled
//! # since 8.4
//! > CLUSTER KEYSLOT user:{42}:name
//! (integer) 8000
//! ```

use crate::cluster::{self, Address, SLOTS, Usage, slot_number};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, Handler, Spec};
use totality_ds::crc::key_slot;

/// The table's row.
pub const SPEC: Spec = Spec::new("cluster", -2, Group::Cluster, Flags::empty(), crate::commands::container)
    .doc("3.0.0", "Depends on the subcommand", "Cluster management.")
    .subs(SUBS);

const NO_ASYNC: Flags = Flags::NO_ASYNC_LOADING;
const VARIES: &[&str] = &["nondeterministic_output"];

/// What tells of this node, also while it loads.
const fn of_node(name: &'static str, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, 2, Group::Cluster, Flags::LOADING.union(Flags::STALE), run).doc(since, "O(N)", summary)
}

/// What tells of slots and keys.
const fn of_keys(name: &'static str, arity: i32, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Cluster, Flags::STALE, run).doc(since, "O(N)", summary)
}

/// What is an administrator's.
const fn change(name: &'static str, arity: i32, flags: Flags, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Cluster, Flags::ADMIN.union(Flags::STALE).union(flags), run)
        .doc(since, "O(N)", summary)
        .no_rollback()
}

const SUBS: &[Spec] = &[
    change("addslots", -3, NO_ASYNC, "3.0.0", "Assigns slots to this node, which has all of them.", add_slots).args("slot:i*"),
    change("addslotsrange", -4, NO_ASYNC, "7.0.0", "Assigns ranges of slots to this node, which has all of them.", add_slot_ranges).args("range:b*(start-slot:i end-slot:i)"),
    change("bumpepoch", 2, NO_ASYNC, "3.0.0", "Raises the configuration epoch.", bump_epoch).tips(VARIES),
    change("count-failure-reports", 3, Flags::empty(), "3.0.0", "Failure reports about a node.", failure_reports).args("node-id:s").tips(VARIES),
    change("delslots", -3, NO_ASYNC, "3.0.0", "Refused: this node keeps all slots.", delete_slots).args("slot:i*"),
    change("delslotsrange", -4, NO_ASYNC, "7.0.0", "Refused: this node keeps all slots.", delete_slot_ranges).args("range:b*(start-slot:i end-slot:i)"),
    change("failover", -2, NO_ASYNC, "3.0.0", "Concerns replicas of a cluster only.", failover).args("options:o?(force:t'FORCE' takeover:t'TAKEOVER')"),
    change("flushslots", 2, NO_ASYNC, "3.0.0", "Refused: this node keeps all slots.", flush_slots),
    change("forget", 3, NO_ASYNC, "3.0.0", "Removes a node from the list of known nodes.", forget).args("node-id:s"),
    change("meet", -4, NO_ASYNC, "3.0.0", "Refused: this server is a cluster of one node.", meet).args("ip:s port:i cluster-bus-port:i?^4.0.0"),
    change("replicas", 3, Flags::empty(), "5.0.0", "The replicas of a node.", replicas).args("node-id:s").tips(VARIES),
    change("replicate", -3, NO_ASYNC, "3.0.0", "Makes this node a replica of another.", replicate).args("args:o(node-id:s no-one:b^9.0.0(no:t'NO' one:t'ONE'))"),
    change("reset", -2, Flags::NOSCRIPT, "3.0.0", "Gives the node a new id (HARD).", reset).args("reset-type:o?(hard:t'HARD' soft:t'SOFT')"),
    change("saveconfig", 2, NO_ASYNC, "3.0.0", "Writes the node file.", save_config),
    change("set-config-epoch", 3, NO_ASYNC, "3.0.0", "Sets the configuration epoch of a fresh node.", set_config_epoch).args("config-epoch:i"),
    change("setslot", -4, NO_ASYNC, "3.0.0", "Changes the state of a slot.", set_slot).args("slot:i subcommand:o(importing/node-id:s'IMPORTING' migrating/node-id:s'MIGRATING' node/node-id:s'NODE' stable:t'STABLE') timeout/timeout:i'TIMEOUT'?^8.0.0"),
    change("slaves", 3, Flags::empty(), "3.0.0", "The replicas of a node.", replicas).args("node-id:s").tips(VARIES).deprecated("5.0.0", "CLUSTER REPLICAS"),
    of_keys("slot-stats", -4, "8.0.0", "Numbers of keys, time and bytes by slot.", slot_stats).args("filter:o(slotsrange:b'SLOTSRANGE'(start-slot:i end-slot:i) orderby:b'ORDERBY'(metric:s limit:i'LIMIT'? order:o?(asc:t'ASC' desc:t'DESC')))").tips(&["nondeterministic_output", "request_policy:all_shards"]).also(Flags::LOADING),
    of_keys("countkeysinslot", 3, "3.0.0", "Number of keys in a slot.", count_keys).args("slot:i"),
    of_keys("getkeysinslot", 4, "3.0.0", "Keys of a slot.", get_keys).args("slot:i count:i").tips(VARIES),
    of_keys("keyslot", 3, "3.0.0", "The hash slot of a key.", slot_of_key).args("key:s"),
    of_keys("links", 2, "7.0.0", "Connections to other nodes: none.", links).tips(VARIES),
    crate::commands::help_row(Group::Cluster, "5.0.0"),
    of_node("info", "3.0.0", "State of the cluster.", info).tips(VARIES),
    of_node("myid", "3.0.0", "This node's id.", my_id),
    of_node("myshardid", "7.2.0", "The id of this node's shard.", my_shard_id).tips(VARIES),
    of_node("nodes", "3.0.0", "The nodes that this one knows: itself.", nodes).tips(VARIES),
    of_node("shards", "7.0.0", "Slots by shard.", shards).tips(VARIES),
    of_node("slots", "3.0.0", "Slots by node.", slots).tips(VARIES),
];

const KEEPS_SLOTS: CmdError =
    CmdError::new("ERR This server is a cluster of one node: slots cannot be taken from it");

/// What is of clusters only begins with this.
pub(super) fn enabled(cx: &Cx<'_>) -> Res {
    if cx.sv.config.cluster_enabled { Ok(()) } else { Err(super::asking::DISABLED) }
}

fn address(cx: &Cx<'_>) -> Address {
    cluster::address(cx.sv, Some(cx.client))
}

fn info(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let node = &cx.sv.cluster.node;
    let text = format!(
        "cluster_state:ok\r\ncluster_slots_assigned:{SLOTS}\r\ncluster_slots_ok:{SLOTS}\r\ncluster_slots_pfail:0\r\n\
         cluster_slots_fail:0\r\ncluster_known_nodes:1\r\ncluster_size:1\r\ncluster_current_epoch:{}\r\n\
         cluster_my_epoch:{}\r\ncluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\n\
         total_cluster_links_buffer_limit_exceeded:0\r\n",
        node.current_epoch, node.epoch
    );
    cx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

fn my_id(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    cx.reply.bulk(cx.sv.cluster.node.id.as_bytes());
    Ok(())
}

fn my_shard_id(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    cx.reply.bulk(cx.sv.cluster.node.shard.as_bytes());
    Ok(())
}

/// The line of this node, as CLUSTER NODES and CLUSTER REPLICAS show it.
fn nodes(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let (address, node) = (address(cx), &cx.sv.cluster.node);
    let name = if address.hostname.is_empty() { String::new() } else { format!(",{}", address.hostname) };
    let line = format!(
        "{} {address}{name} myself,master - 0 0 {} connected 0-{}\n",
        node.id,
        node.epoch,
        SLOTS - 1
    );
    cx.reply.verbatim("txt", line.as_bytes());
    Ok(())
}

/// What `cluster-preferred-endpoint-type` chose.
fn endpoint(cx: &mut Cx<'_>, address: &Address) {
    match cx.sv.config.cluster_preferred_endpoint_type {
        0 => cx.reply.bulk(address.ip.as_bytes()),
        1 if address.hostname.is_empty() => cx.reply.bulk(b"?"),
        1 => cx.reply.bulk(address.hostname.as_bytes()),
        _ => cx.reply.null(),
    }
}

fn slots(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let address = address(cx);
    let preferred = cx.sv.config.cluster_preferred_endpoint_type;
    cx.reply.array(1);
    cx.reply.array(3);
    cx.reply.int(0);
    cx.reply.int(SLOTS as i64 - 1);
    cx.reply.array(4);
    endpoint(cx, &address);
    cx.reply.int(i64::from(address.port));
    cx.reply.bulk(cx.sv.cluster.node.id.as_bytes());
    let (ip, hostname) = (preferred != 0, preferred != 1 && !address.hostname.is_empty());
    cx.reply.map(usize::from(ip) + usize::from(hostname));
    if ip {
        cx.reply.bulk(b"ip");
        cx.reply.bulk(address.ip.as_bytes());
    }
    if hostname {
        cx.reply.bulk(b"hostname");
        cx.reply.bulk(address.hostname.as_bytes());
    }
    Ok(())
}

fn shards(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let address = address(cx);
    cx.reply.array(1);
    cx.reply.map(2);
    cx.reply.bulk(b"slots");
    cx.reply.array(2);
    cx.reply.int(0);
    cx.reply.int(SLOTS as i64 - 1);
    cx.reply.bulk(b"nodes");
    cx.reply.array(1);
    let (plain, tls) = (address.plain, address.tls);
    let zone = cx.sv.config.availability_zone.clone();
    let fields = [plain > 0, tls > 0, !address.hostname.is_empty(), !zone.is_empty()];
    cx.reply.map(6 + fields.iter().filter(|there| **there).count());
    cx.reply.bulk(b"id");
    cx.reply.bulk(cx.sv.cluster.node.id.as_bytes());
    if plain > 0 {
        cx.reply.bulk(b"port");
        cx.reply.int(i64::from(plain));
    }
    if tls > 0 {
        cx.reply.bulk(b"tls-port");
        cx.reply.int(i64::from(tls));
    }
    cx.reply.bulk(b"ip");
    cx.reply.bulk(address.ip.as_bytes());
    cx.reply.bulk(b"endpoint");
    endpoint(cx, &address);
    if !address.hostname.is_empty() {
        cx.reply.bulk(b"hostname");
        cx.reply.bulk(address.hostname.as_bytes());
    }
    cx.reply.bulk(b"role");
    cx.reply.bulk(b"master");
    cx.reply.bulk(b"replication-offset");
    cx.reply.int(0);
    cx.reply.bulk(b"health");
    cx.reply.bulk(b"online");
    if !zone.is_empty() {
        cx.reply.bulk(b"availability-zone");
        cx.reply.bulk(zone.as_bytes());
    }
    Ok(())
}

fn links(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    cx.reply.array(0);
    Ok(())
}

fn slot_of_key(cx: &mut Cx<'_>) -> Res {
    cx.reply.int(i64::from(key_slot(cx.args[2])));
    Ok(())
}

fn count_keys(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let slot = slot_number(cx.int(2)?).ok_or(CmdError::new("ERR Invalid slot"))?;
    let count = cx.sv.cluster.counts.of_db(cx.ks, cx.ks.cur)[usize::from(slot)];
    cx.reply.int(i64::from(count));
    Ok(())
}

fn get_keys(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let (slot, max) = (cx.int(2)?, cx.int(3)?);
    let slot = slot_number(slot).zip(usize::try_from(max).ok());
    let (slot, max) = slot.ok_or(CmdError::new("ERR Invalid slot or number of keys"))?;
    let keys = cx.sv.cluster.counts.keys(cx.ks, slot, max);
    cx.reply.array(keys.len());
    keys.into_iter().for_each(|key| cx.reply.bulk(key));
    Ok(())
}

/// `SLOTSRANGE first last`, or `ORDERBY metric [LIMIT n] [ASC|DESC]`.
fn slot_stats(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let mut shown: Vec<u16> = if cx.is(2, "SLOTSRANGE") && cx.argc() == 5 {
        let (first, last) = (slot_arg(cx, 3)?, slot_arg(cx, 4)?);
        if first > last {
            return Err(CmdError::owned(format!(
                "ERR Start slot number {first} is greater than end slot number {last}"
            )));
        }
        (first..=last).collect()
    } else if cx.is(2, "ORDERBY") {
        ordered(cx)?
    } else {
        return Err(crate::commands::syntax_of_subcommand(cx.args));
    };
    let cluster = &mut cx.sv.cluster;
    let (counts, usage) = (cluster.counts.of(cx.ks), &cluster.usage);
    let all = cx.sv.config.cluster_slot_stats_enabled;
    cx.reply.array(shown.len());
    for slot in shown.drain(..) {
        cx.reply.array(2);
        cx.reply.int(i64::from(slot));
        cx.reply.map(if all { METRICS.len() } else { 1 });
        for metric in METRICS.iter().take(if all { METRICS.len() } else { 1 }) {
            cx.reply.bulk(metric.as_bytes());
            cx.reply.int(value(metric, slot, counts, usage) as i64);
        }
    }
    Ok(())
}

/// What CLUSTER SLOT-STATS tells of a slot. All but the first need `cluster-slot-stats-enabled`.
const METRICS: [&str; 4] = ["key-count", "cpu-usec", "network-bytes-in", "network-bytes-out"];

fn value(metric: &str, slot: u16, counts: &[u32], usage: &Usage) -> u64 {
    let used = usage.of(slot);
    match metric {
        "key-count" => u64::from(counts[usize::from(slot)]),
        "cpu-usec" => used.cpu_us,
        "network-bytes-in" => used.net_in,
        _ => used.net_out,
    }
}

/// Slots by one of their metrics, those of the same value by their numbers.
fn ordered(cx: &mut Cx<'_>) -> Res<Vec<u16>> {
    let known = if cx.sv.config.cluster_slot_stats_enabled { METRICS.len() } else { 1 };
    let metric = METRICS.iter().take(known).find(|metric| cx.is(3, metric));
    let metric = metric.ok_or(CmdError::new("ERR Unrecognized sort metric for ORDERBY."))?;
    let (mut limit, mut ascending) = (None, None);
    let mut i = 4;
    while i < cx.argc() {
        let twice = if cx.is(i, "LIMIT") && i + 1 < cx.argc() {
            i += 1;
            let n = usize::try_from(cx.int(i)?).ok().filter(|n| (1..=SLOTS).contains(n));
            let n = n.ok_or(CmdError::new(
                "ERR Limit has to lie in between 1 and 16384 (maximum number of slots).",
            ))?;
            limit.replace(n).is_some()
        } else if cx.is(i, "ASC") || cx.is(i, "DESC") {
            ascending.replace(cx.is(i, "ASC")).is_some()
        } else {
            return Err(SYNTAX);
        };
        if twice {
            return Err(CmdError::new("ERR Multiple filters of the same type are disallowed."));
        }
        i += 1;
    }
    let cluster = &mut cx.sv.cluster;
    let (counts, usage) = (cluster.counts.of(cx.ks), &cluster.usage);
    let mut slots: Vec<(u64, u16)> =
        (0..SLOTS as u16).map(|slot| (value(metric, slot, counts, usage), slot)).collect();
    if ascending == Some(true) {
        slots.sort_unstable();
    } else {
        slots.sort_unstable_by_key(|(value, slot)| (std::cmp::Reverse(*value), *slot));
    }
    slots.truncate(limit.unwrap_or(SLOTS));
    Ok(slots.into_iter().map(|(_, slot)| slot).collect())
}

/// Argument `i` as a slot.
fn slot_arg(cx: &Cx<'_>, i: usize) -> Res<u16> {
    cluster::slot_arg(cx.args[i])
}

fn add_slots(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    for i in 2..cx.argc() {
        slot_arg(cx, i)?;
    }
    Err(busy(slot_arg(cx, 2)?))
}

fn busy(slot: u16) -> CmdError {
    CmdError::owned(format!("ERR Slot {slot} is already busy"))
}

/// Pairs of first and last slot; the first slot of all.
fn ranges(cx: &Cx<'_>) -> Res<u16> {
    if cx.argc() % 2 == 1 {
        return Err(CmdError::arity(&cx.command.full_name));
    }
    for i in (2..cx.argc()).step_by(2) {
        let (first, last) = (slot_arg(cx, i)?, slot_arg(cx, i + 1)?);
        if first > last {
            return Err(CmdError::owned(format!(
                "ERR start slot number {first} is greater than end slot number {last}"
            )));
        }
    }
    slot_arg(cx, 2)
}

fn add_slot_ranges(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    Err(busy(ranges(cx)?))
}

fn delete_slots(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    for i in 2..cx.argc() {
        slot_arg(cx, i)?;
    }
    Err(KEEPS_SLOTS)
}

fn delete_slot_ranges(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    ranges(cx)?;
    Err(KEEPS_SLOTS)
}

fn flush_slots(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if cx.ks.dbs().iter().any(|db| !db.is_empty()) {
        return Err(CmdError::new("ERR DB must be empty to perform CLUSTER FLUSHSLOTS."));
    }
    Err(KEEPS_SLOTS)
}

/// True when argument `i` names this node.
fn is_me(cx: &Cx<'_>, i: usize) -> bool {
    cx.args.get(i).is_some_and(|id| *id == cx.sv.cluster.node.id.as_bytes())
}

fn unknown_node(cx: &Cx<'_>, i: usize) -> CmdError {
    CmdError::owned([b"ERR Unknown node ", cx.args[i]].concat())
}

fn replicas(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if !is_me(cx, 2) {
        return Err(unknown_node(cx, 2));
    }
    cx.reply.array(0);
    Ok(())
}

fn failure_reports(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if !is_me(cx, 2) {
        return Err(unknown_node(cx, 2));
    }
    cx.reply.int(0);
    Ok(())
}

fn forget(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if is_me(cx, 2) {
        return Err(CmdError::new("ERR I tried hard but I can't forget myself..."));
    }
    Err(unknown_node(cx, 2))
}

fn replicate(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if is_me(cx, 2) {
        return Err(CmdError::new("ERR Can't replicate myself"));
    }
    Err(unknown_node(cx, 2))
}

fn meet(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if cx.argc() > 5 {
        return Err(crate::commands::syntax_of_subcommand(cx.args));
    }
    if crate::util::parse_i64(cx.args[3]).is_none() {
        return Err(CmdError::owned([b"ERR Invalid base port specified: ", cx.args[3]].concat()));
    }
    Err(CmdError::new("ERR This server is a cluster of one node and meets no other"))
}

fn failover(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if cx.argc() > 3 {
        return Err(crate::commands::syntax_of_subcommand(cx.args));
    }
    if cx.argc() == 3 && !cx.is(2, "FORCE") && !cx.is(2, "TAKEOVER") {
        return Err(SYNTAX);
    }
    Err(CmdError::new("ERR You should send CLUSTER FAILOVER to a replica"))
}

/// STABLE and NODE with this node's own id change nothing; slots do not move.
fn set_slot(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let slot = slot_arg(cx, 2)?;
    let four = cx.argc() == 5;
    let unknown = |cx: &Cx<'_>| CmdError::owned([b"ERR I don't know about node ", cx.args[4]].concat());
    if cx.is(3, "STABLE") && cx.argc() == 4 {
        cx.reply.ok();
        Ok(())
    } else if cx.is(3, "MIGRATING") && four {
        Err(if is_me(cx, 4) { KEEPS_SLOTS } else { unknown(cx) })
    } else if cx.is(3, "IMPORTING") && four {
        Err(CmdError::owned(format!("ERR I'm already the owner of hash slot {slot}")))
    } else if cx.is(3, "NODE") && four {
        if !is_me(cx, 4) {
            return Err(unknown_node(cx, 4));
        }
        cx.reply.ok();
        Ok(())
    } else {
        Err(CmdError::new("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP"))
    }
}

/// Has the owner write the node file.
fn save(cx: &mut Cx<'_>) -> Res {
    let address = cluster::address(cx.sv, None);
    let text = cx.sv.cluster.node.render(&address, &cx.sv.config.cluster_announce_human_nodename);
    let path = cx.sv.config.cluster_config_file.clone();
    cx.ticker
        .write_node_file(&path, text.as_bytes())
        .map_err(|why| CmdError::owned(format!("ERR error saving the cluster node config: {why}")))
}

fn save_config(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    save(cx)?;
    cx.reply.ok();
    Ok(())
}

fn bump_epoch(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let node = &mut cx.sv.cluster.node;
    let bumped = node.epoch == 0 || node.epoch != node.current_epoch;
    if bumped {
        node.current_epoch += 1;
        node.epoch = node.current_epoch;
    }
    let text = format!("{} {}", if bumped { "BUMPED" } else { "STILL" }, node.epoch);
    if bumped {
        save(cx)?;
    }
    cx.reply.simple(&text);
    Ok(())
}

fn set_config_epoch(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    let epoch = cx.int(2)?;
    let Ok(epoch) = u64::try_from(epoch) else {
        return Err(CmdError::owned(format!("ERR Invalid config epoch specified: {epoch}")));
    };
    let node = &mut cx.sv.cluster.node;
    if node.epoch != 0 {
        return Err(CmdError::new("ERR Node config epoch is already non-zero"));
    }
    node.epoch = epoch;
    node.current_epoch = node.current_epoch.max(epoch);
    save(cx)?;
    cx.reply.ok();
    Ok(())
}

fn reset(cx: &mut Cx<'_>) -> Res {
    enabled(cx)?;
    if cx.argc() > 3 {
        return Err(crate::commands::syntax_of_subcommand(cx.args));
    }
    let hard = cx.is(2, "HARD");
    if cx.argc() == 3 && !hard && !cx.is(2, "SOFT") {
        return Err(SYNTAX);
    }
    if cx.ks.dbs().iter().any(|db| !db.is_empty()) {
        return Err(CmdError::new(
            "ERR CLUSTER RESET can't be called with master nodes containing keys",
        ));
    }
    if hard {
        let mut fresh = || {
            let mut id = [0; 20];
            id.chunks_mut(8).for_each(|part| part.copy_from_slice(&cx.ks.random().to_le_bytes()[..part.len()]));
            id
        };
        let (id, shard) = (fresh(), fresh());
        cx.sv.cluster.node = crate::cluster::Cluster::new(id, shard).node;
    }
    save(cx)?;
    cx.reply.ok();
    Ok(())
}
