//! The table of parameters.

use super::idle::{Check, Why};
use super::text::{parse_bool, parse_memory};
use super::{Config, OutputLimit};
use crate::notify::Class;
use bitflags::bitflags;
use core::net::{Ipv4Addr, Ipv6Addr};

bitflags! {
    /// What is special about a parameter that is kept as a text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Flag: u8 {
        /// Only the file and the command line set it.
        const FIXED = 1;
        /// Patterns of CONFIG GET do not find it.
        const HIDDEN = 1 << 1;
        /// CONFIG SET protects it.
        const PROTECTED = 1 << 2;
    }
}

/// How a parameter's value is read and shown.
pub enum Kind {
    /// `yes` or `no`.
    Bool(fn(&mut Config) -> &mut bool),
    /// An integer from `.1` to `.2`.
    Uint(fn(&mut Config) -> &mut u64, u64, u64),
    /// A signed integer from `.1` to `.2`.
    Int(fn(&mut Config) -> &mut i64, i64, i64),
    /// Bytes with a unit, from `.1` to `.2`.
    Memory(fn(&mut Config) -> &mut u64, u64, u64),
    /// Octal permissions.
    Octal(fn(&mut Config) -> &mut u64),
    /// One of the words; the field is its index.
    Enum(fn(&mut Config) -> &mut usize, &'static [&'static str]),
    /// Any text.
    Text(fn(&mut Config) -> &mut String),
    /// Words.
    Words(fn(&mut Config) -> &mut Vec<String>),
    /// Kept as a text and shown: the default, what is taken, and why it has no effect; `None`: the owner reads it.
    Idle(&'static str, Check, Option<Why>),
    /// A grammar of its own.
    Special(fn(&mut Config, &[&[u8]]) -> Result<(), String>, fn(&Config) -> String),
}

/// One parameter.
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// False: only the file and the command line set it.
    pub mutable: bool,
    /// Its value is a secret or a path that CONFIG SET protects.
    pub protected: bool,
    /// Patterns of CONFIG GET do not find it; its name does.
    pub hidden: bool,
    kind: Kind,
}

const fn fixed(name: &'static str, kind: Kind) -> Param {
    Param { name, aliases: &[], mutable: false, protected: false, hidden: false, kind }
}

pub(super) const fn free(name: &'static str, kind: Kind) -> Param {
    Param { name, aliases: &[], mutable: true, protected: false, hidden: false, kind }
}

const fn alias(name: &'static str, aliases: &'static [&'static str], kind: Kind) -> Param {
    Param { name, aliases, mutable: true, protected: false, hidden: false, kind }
}

/// One that CONFIG SET refuses unless `enable-protected-configs` allows it.
const fn guarded(name: &'static str, kind: Kind) -> Param {
    Param { name, aliases: &[], mutable: true, protected: true, hidden: false, kind }
}

/// One that has no effect, for the reason given.
pub(super) const fn idle(
    name: &'static str,
    aliases: &'static [&'static str],
    why: Why,
    flags: Flag,
    default: &'static str,
    check: Check,
) -> Param {
    text(name, aliases, flags, Kind::Idle(default, check, Some(why)))
}

/// One that the owner reads.
pub(super) const fn kept(
    name: &'static str,
    aliases: &'static [&'static str],
    flags: Flag,
    default: &'static str,
    check: Check,
) -> Param {
    text(name, aliases, flags, Kind::Idle(default, check, None))
}

const fn text(name: &'static str, aliases: &'static [&'static str], flags: Flag, kind: Kind) -> Param {
    Param {
        name,
        aliases,
        mutable: !flags.contains(Flag::FIXED),
        protected: flags.contains(Flag::PROTECTED),
        hidden: flags.contains(Flag::HIDDEN),
        kind,
    }
}

const MAX: u64 = i64::MAX as u64;

macro_rules! field {
    ($($path:tt)+) => {
        |c: &mut Config| &mut c.$($path)+
    };
}

/// All parameters, in the order in which CONFIG GET shows them.
pub static PARAMS: &[Param] = &[
    free("port", Kind::Uint(field!(port), 0, 65535)),
    free("bind", Kind::Words(field!(bind))),
    free("protected-mode", Kind::Bool(field!(protected_mode))),
    fixed("unixsocket", Kind::Text(field!(unixsocket))),
    fixed("unixsocketperm", Kind::Octal(field!(unixsocketperm))),
    fixed("tcp-backlog", Kind::Uint(field!(tcp_backlog), 0, 0x7fff_ffff)),
    free("tcp-keepalive", Kind::Uint(field!(tcp_keepalive), 0, 0x7fff_ffff)),
    free("timeout", Kind::Uint(field!(timeout), 0, 0x7fff_ffff)),
    free("maxclients", Kind::Uint(field!(maxclients), 1, 0xffff_ffff)),
    fixed("databases", Kind::Uint(field!(databases), 1, 10_000)),
    free("requirepass", Kind::Text(field!(requirepass))),
    free("loglevel", Kind::Enum(field!(loglevel), &["debug", "verbose", "notice", "warning", "nothing"])),
    fixed("logfile", Kind::Text(field!(logfile))),
    free("log-format", Kind::Enum(field!(log_format), &["legacy", "logfmt", "json"])),
    free(
        "log-timestamp-format",
        Kind::Enum(field!(log_timestamp_format), &["legacy", "iso8601", "milliseconds"]),
    ),
    free("hide-user-data-from-log", Kind::Bool(field!(hide_user_data_from_log))),
    free("crash-log-enabled", Kind::Bool(field!(crash_log_enabled))),
    free("max-new-connections-per-cycle", Kind::Uint(field!(max_new_connections_per_cycle), 1, 1000)),
    free("max-new-tls-connections-per-cycle", Kind::Uint(field!(max_new_tls_connections_per_cycle), 1, 1000)),
    guarded("dir", Kind::Text(field!(dir))),
    free("hz", Kind::Special(set_hz, |c| c.hz.to_string())),
    free("availability-zone", Kind::Text(field!(availability_zone))),
    free("import-mode", Kind::Bool(field!(import_mode))),
    free("dynamic-hz", Kind::Bool(field!(dynamic_hz))),
    fixed("daemonize", Kind::Bool(field!(daemonize))),
    fixed("pidfile", Kind::Text(field!(pidfile))),
    fixed("supervised", Kind::Enum(field!(supervised), &["no", "upstart", "systemd", "auto"])),
    free("proto-max-bulk-len", Kind::Memory(field!(proto_max_bulk_len), 1 << 20, MAX)),
    free("client-query-buffer-limit", Kind::Memory(field!(client_query_buffer_limit), 1 << 20, MAX)),
    free("client-output-buffer-limit", Kind::Special(set_output_limits, show_output_limits)),
    free("appendonly", Kind::Bool(field!(appendonly))),
    fixed(
        "appendfilename",
        Kind::Special(
            |c, a| set_file("appendfilename", a, &mut c.appendfilename),
            |c| c.appendfilename.clone(),
        ),
    ),
    fixed(
        "appenddirname",
        Kind::Special(|c, a| set_file("appenddirname", a, &mut c.appenddirname), |c| c.appenddirname.clone()),
    ),
    free("appendfsync", Kind::Special(set_fsync, |c| FSYNC[c.appendfsync].to_owned())),
    free("no-appendfsync-on-rewrite", Kind::Bool(field!(no_appendfsync_on_rewrite))),
    free("aof-load-truncated", Kind::Bool(field!(aof_load_truncated))),
    free("aof-use-rdb-preamble", Kind::Bool(field!(aof_use_rdb_preamble))),
    free("aof-timestamp-enabled", Kind::Bool(field!(aof_timestamp_enabled))),
    free("auto-aof-rewrite-percentage", Kind::Uint(field!(auto_aof_rewrite_percentage), 0, 0x7fff_ffff)),
    free("auto-aof-rewrite-min-size", Kind::Memory(field!(auto_aof_rewrite_min_size), 0, MAX)),
    Param {
        protected: true,
        ..free(
            "dbfilename",
            Kind::Special(|c, a| set_file("dbfilename", a, &mut c.dbfilename), |c| c.dbfilename.clone()),
        )
    },
    free("stop-writes-on-bgsave-error", Kind::Bool(field!(stop_writes_on_bgsave_error))),
    Param {
        hidden: true,
        ..free("rdb-key-save-delay", Kind::Int(field!(rdb_key_save_delay), -0x8000_0000, 0x7fff_ffff))
    },
    Param {
        hidden: true,
        ..free("key-load-delay", Kind::Int(field!(key_load_delay), -0x8000_0000, 0x7fff_ffff))
    },
    Param {
        hidden: true,
        ..free(
            "loading-process-events-interval-bytes",
            Kind::Uint(field!(loading_interval_bytes), 1024, 0x7fff_ffff),
        )
    },
    Param { hidden: true, ..free("aof-disable-auto-gc", Kind::Bool(field!(aof_disable_auto_gc))) },
    free("rdbcompression", Kind::Bool(field!(rdbcompression))),
    fixed("rdbchecksum", Kind::Bool(field!(rdbchecksum))),
    free("rdb-version-check", Kind::Enum(field!(rdb_version_check), &["strict", "relaxed"])),
    free("rdb-version-compat", Kind::Special(set_rdb_version, |c| c.rdb_version_compat.to_string())),
    free("save", Kind::Special(set_save, |c| c.save.clone())),
    free("maxmemory", Kind::Memory(field!(maxmemory), 0, u64::MAX)),
    free("maxmemory-policy", Kind::Enum(field!(maxmemory_policy), &Config::POLICIES)),
    free("maxmemory-samples", Kind::Uint(field!(maxmemory_samples), 1, 64)),
    free("maxmemory-clients", Kind::Special(set_maxmemory_clients, show_maxmemory_clients)),
    free("maxmemory-eviction-tenacity", Kind::Uint(field!(maxmemory_eviction_tenacity), 0, 100)),
    alias(
        "replica-ignore-maxmemory",
        &["slave-ignore-maxmemory"],
        Kind::Bool(field!(replica_ignore_maxmemory)),
    ),
    free("lfu-log-factor", Kind::Uint(field!(lfu_log_factor), 0, 0x7fff_ffff)),
    free("lfu-decay-time", Kind::Uint(field!(lfu_decay_time), 0, 0x7fff_ffff)),
    free("lazyfree-lazy-eviction", Kind::Bool(field!(lazyfree[0]))),
    free("lazyfree-lazy-expire", Kind::Bool(field!(lazyfree[1]))),
    free("lazyfree-lazy-server-del", Kind::Bool(field!(lazyfree[2]))),
    free("lazyfree-lazy-user-del", Kind::Bool(field!(lazyfree[3]))),
    free("lazyfree-lazy-user-flush", Kind::Bool(field!(lazyfree[4]))),
    free("notify-keyspace-events", Kind::Special(set_notify, |c| c.notify_keyspace_events.letters())),
    alias(
        "hash-max-listpack-entries",
        &["hash-max-ziplist-entries"],
        Kind::Uint(field!(enc.hash_entries), 0, MAX),
    ),
    alias(
        "hash-max-listpack-value",
        &["hash-max-ziplist-value"],
        Kind::Memory(field!(enc.hash_value), 0, MAX),
    ),
    alias(
        "list-max-listpack-size",
        &["list-max-ziplist-size"],
        Kind::Int(field!(enc.list_size), -0x8000_0000, 0x7fff_ffff),
    ),
    free("list-compress-depth", Kind::Int(field!(enc.list_compress), 0, 0x7fff_ffff)),
    free("set-max-intset-entries", Kind::Uint(field!(enc.set_intset), 0, MAX)),
    free("set-max-listpack-entries", Kind::Uint(field!(enc.set_entries), 0, MAX)),
    free("set-max-listpack-value", Kind::Uint(field!(enc.set_value), 0, MAX)),
    alias(
        "zset-max-listpack-entries",
        &["zset-max-ziplist-entries"],
        Kind::Uint(field!(enc.zset_entries), 0, MAX),
    ),
    alias(
        "zset-max-listpack-value",
        &["zset-max-ziplist-value"],
        Kind::Memory(field!(enc.zset_value), 0, MAX),
    ),
    alias(
        "repl-ping-replica-period",
        &["repl-ping-slave-period"],
        Kind::Uint(field!(repl_ping_replica_period), 1, 0x7fff_ffff),
    ),
    alias(
        "slowlog-log-slower-than",
        &["commandlog-execution-slower-than"],
        Kind::Int(field!(slowlog_log_slower_than), -1, i64::MAX),
    ),
    alias(
        "slowlog-max-len",
        &["commandlog-slow-execution-max-len"],
        Kind::Uint(field!(slowlog_max_len), 0, MAX),
    ),
    free("commandlog-request-larger-than", Kind::Int(field!(commandlog_request_larger_than), -1, i64::MAX)),
    free("commandlog-large-request-max-len", Kind::Uint(field!(commandlog_large_request_max_len), 0, MAX)),
    free("commandlog-reply-larger-than", Kind::Int(field!(commandlog_reply_larger_than), -1, i64::MAX)),
    free("commandlog-large-reply-max-len", Kind::Uint(field!(commandlog_large_reply_max_len), 0, MAX)),
    free("latency-tracking-info-percentiles", Kind::Special(set_percentiles, show_percentiles)),
    Param { aliases: &["slaveof"], ..fixed("replicaof", Kind::Special(set_replicaof, show_replicaof)) },
    alias("primaryauth", &["masterauth"], Kind::Text(field!(primaryauth))),
    alias("primaryuser", &["masteruser"], Kind::Text(field!(primaryuser))),
    free("rdb-del-sync-files", Kind::Bool(field!(rdb_del_sync_files))),
    free("repl-backlog-ttl", Kind::Uint(field!(repl_backlog_ttl), 0, MAX)),
    free("dual-channel-replication-enabled", Kind::Bool(field!(dual_channel_replication))),
    free("replica-full-sync-buffer-limit", Kind::Memory(field!(replica_full_sync_buffer_limit), 0, MAX)),
    free("repl-disable-tcp-nodelay", Kind::Bool(field!(repl_disable_tcp_nodelay))),
    free("repl-diskless-load", Kind::Enum(field!(repl_diskless_load), &DISKLESS_LOAD)),
    free("repl-diskless-sync", Kind::Bool(field!(repl_diskless_sync))),
    free("repl-diskless-sync-delay", Kind::Uint(field!(repl_diskless_sync_delay), 0, 0x7fff_ffff)),
    free(
        "repl-diskless-sync-max-replicas",
        Kind::Uint(field!(repl_diskless_sync_max_replicas), 0, 0x7fff_ffff),
    ),
    free("repl-timeout", Kind::Uint(field!(repl_timeout), 1, 0x7fff_ffff)),
    alias("replica-announce-ip", &["slave-announce-ip"], Kind::Text(field!(replica_announce_ip))),
    alias(
        "replica-announce-port",
        &["slave-announce-port"],
        Kind::Uint(field!(replica_announce_port), 0, 65535),
    ),
    free("replica-ignore-disk-write-errors", Kind::Bool(field!(replica_ignore_disk_write_errors))),
    free(
        "propagation-error-behavior",
        Kind::Enum(field!(propagation_error_behavior), &["ignore", "panic", "panic-on-replicas"]),
    ),
    free("replica-announced", Kind::Bool(field!(replica_announced))),
    alias("replica-priority", &["slave-priority"], Kind::Uint(field!(replica_priority), 0, 0x7fff_ffff)),
    alias("replica-read-only", &["slave-read-only"], Kind::Bool(field!(replica_read_only))),
    alias(
        "replica-serve-stale-data",
        &["slave-serve-stale-data"],
        Kind::Bool(field!(replica_serve_stale_data)),
    ),
    free("shutdown-timeout", Kind::Uint(field!(shutdown_timeout), 0, 0x7fff_ffff)),
    free("repl-backlog-size", Kind::Memory(field!(repl_backlog_size), 1, MAX)),
    free("latency-monitor-threshold", Kind::Uint(field!(latency_monitor_threshold), 0, MAX)),
    free("latency-tracking", Kind::Bool(field!(latency_tracking))),
    alias("busy-reply-threshold", &["lua-time-limit"], Kind::Int(field!(busy_reply_threshold), 0, i64::MAX)),
    free("script-undeclared-keys", Kind::Enum(field!(script_undeclared_keys), &["allow", "warn", "deny"])),
    free("script-rollback", Kind::Enum(field!(script_rollback), &crate::script::rollback::POLICIES)),
    free("script-rollback-max-bytes", Kind::Memory(field!(script_rollback_max_bytes), 0, MAX)),
    free("script-deadline-ms", Kind::Uint(field!(script_deadline_ms), 0, MAX)),
    free("transaction-rollback", Kind::Bool(field!(transaction_rollback))),
    free("script-max-memory", Kind::Memory(field!(script_max_memory), 1 << 20, MAX)),
    free("script-max-total-memory", Kind::Memory(field!(script_max_total_memory), 0, MAX)),
    free("script-max-size", Kind::Memory(field!(script_max_size), 1, MAX)),
    free("script-max-reply-size", Kind::Memory(field!(script_max_reply_size), 1 << 10, MAX)),
    free("script-max-reply-depth", Kind::Uint(field!(script_max_reply_depth), 1, 7960)),
    free("script-max-commands", Kind::Uint(field!(script_max_commands), 0, MAX)),
    free("script-stats-max-entries", Kind::Uint(field!(script_stats_max_entries), 0, 100_000)),
    free("script-debug-timeout", Kind::Uint(field!(script_debug_timeout), 0, MAX)),
    free("script-debug-max-bytes", Kind::Memory(field!(script_debug_max_bytes), 0, MAX)),
    free("script-cache-max-entries", Kind::Uint(field!(script_cache_max_entries), 1, MAX)),
    fixed("enable-debug-command", Kind::Enum(field!(enable_debug_command), &["no", "yes", "local"])),
    fixed("enable-module-command", Kind::Enum(field!(enable_module_command), &["no", "yes", "local"])),
    fixed("enable-protected-configs", Kind::Enum(field!(enable_protected_configs), &["no", "yes", "local"])),
    free("active-expire-effort", Kind::Uint(field!(active_expire_effort), 1, 10)),
    free("stream-node-max-bytes", Kind::Memory(field!(stream_node_max_bytes), 0, MAX)),
    free("stream-node-max-entries", Kind::Uint(field!(stream_node_max_entries), 0, MAX)),
    free("hll-sparse-max-bytes", Kind::Memory(field!(hll_sparse_max_bytes), 0, MAX)),
    fixed("cluster-enabled", Kind::Bool(field!(cluster_enabled))),
    fixed("cluster-config-file", Kind::Text(field!(cluster_config_file))),
    fixed("cluster-port", Kind::Uint(field!(cluster_port), 0, 65535)),
    free("cluster-slot-stats-enabled", Kind::Bool(field!(cluster_slot_stats_enabled))),
    fixed("cluster-databases", Kind::Uint(field!(cluster_databases), 1, 10_000)),
    free("cluster-announce-ip", Kind::Special(set_announce_ip, |c| c.cluster_announce_ip.clone())),
    free(
        "cluster-announce-client-ipv4",
        Kind::Special(
            |c, a| set_address::<Ipv4Addr>(a, "Invalid IPv4 address", &mut c.cluster_announce_client_ip[0]),
            |c| c.cluster_announce_client_ip[0].clone(),
        ),
    ),
    free(
        "cluster-announce-client-ipv6",
        Kind::Special(
            |c, a| set_address::<Ipv6Addr>(a, "Invalid IPv6 address", &mut c.cluster_announce_client_ip[1]),
            |c| c.cluster_announce_client_ip[1].clone(),
        ),
    ),
    free("cluster-announce-client-port", Kind::Uint(field!(cluster_announce_client_port[0]), 0, 65535)),
    free("cluster-announce-client-tls-port", Kind::Uint(field!(cluster_announce_client_port[1]), 0, 65535)),
    free("cluster-announce-tls-port", Kind::Uint(field!(cluster_announce_tls_port), 0, 65535)),
    free(
        "cluster-announce-human-nodename",
        Kind::Special(set_node_name, |c| c.cluster_announce_human_nodename.clone()),
    ),
    free("cluster-announce-port", Kind::Uint(field!(cluster_announce_port), 0, 65535)),
    free("cluster-announce-bus-port", Kind::Uint(field!(cluster_announce_bus_port), 0, 65535)),
    free("cluster-announce-hostname", Kind::Special(set_hostname, |c| c.cluster_announce_hostname.clone())),
    free(
        "cluster-preferred-endpoint-type",
        Kind::Enum(field!(cluster_preferred_endpoint_type), &["ip", "hostname", "unknown-endpoint"]),
    ),
    fixed("aclfile", Kind::Text(field!(aclfile))),
    free("acl-pubsub-default", Kind::Enum(field!(acl_pubsub_default), &["allchannels", "resetchannels"])),
    alias(
        "min-replicas-to-write",
        &["min-slaves-to-write"],
        Kind::Uint(field!(min_replicas_to_write), 0, 0x7fff_ffff),
    ),
    alias(
        "min-replicas-max-lag",
        &["min-slaves-max-lag"],
        Kind::Uint(field!(min_replicas_max_lag), 0, 0x7fff_ffff),
    ),
    free("acllog-max-len", Kind::Uint(field!(acllog_max_len), 0, MAX)),
    free("tracking-table-max-keys", Kind::Uint(field!(tracking_table_max_keys), 0, MAX)),
];

impl Param {
    /// The value as CONFIG GET shows it.
    pub fn get(&self, config: &Config) -> String {
        match &self.kind {
            Kind::Special(_, show) => show(config),
            Kind::Idle(default, ..) => {
                config.idle.get(self.name).map_or_else(|| (*default).to_owned(), String::clone)
            }
            // The accessors give `&mut`; a copy serves for reading one value.
            _ => self.show(&mut config.clone()),
        }
    }

    /// The same of a copy that is there already; it is not changed.
    pub fn show(&self, c: &mut Config) -> String {
        match &self.kind {
            Kind::Bool(f) => if *f(c) { "yes" } else { "no" }.to_owned(),
            Kind::Uint(f, ..) | Kind::Memory(f, ..) => f(c).to_string(),
            Kind::Int(f, ..) => f(c).to_string(),
            Kind::Octal(f) => format!("{:o}", f(c)),
            Kind::Enum(f, names) => names[*f(c)].to_owned(),
            Kind::Text(f) => f(c).clone(),
            Kind::Words(f) => f(c).join(" "),
            Kind::Special(..) | Kind::Idle(..) => self.get(c),
        }
    }

    /// Why the parameter has no effect here; `None` for one that has.
    pub fn idle(&self) -> Option<Why> {
        match self.kind {
            Kind::Idle(_, _, why) => why,
            _ => None,
        }
    }

    /// Sets the value from words.
    ///
    /// # Errors
    /// What is wrong, in Redis's words.
    pub fn set(&self, c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
        if let Kind::Special(set, _) = &self.kind {
            return set(c, args);
        }
        if let Kind::Words(f) = &self.kind {
            let words = args.iter().flat_map(|arg| arg.split(|b| *b == b' ')).filter(|w| !w.is_empty());
            *f(c) = words.map(|w| String::from_utf8_lossy(w).into_owned()).collect();
            return Ok(());
        }
        let joined;
        let arg = match (&self.kind, args) {
            (_, [arg]) => *arg,
            (
                Kind::Idle(_, Check::Words(_) | Check::OomScores | Check::Text | Check::Only(_), _),
                [_, ..],
            ) => {
                joined = args.join(&b" "[..]);
                joined.as_slice()
            }
            _ => return Err("wrong number of arguments".to_owned()),
        };
        match &self.kind {
            Kind::Idle(default, check, _) => {
                let value = check.judge(arg, default)?;
                c.idle.insert(self.name, value);
            }
            Kind::Bool(f) => {
                *f(c) = parse_bool(arg).ok_or_else(|| "argument must be 'yes' or 'no'".to_owned())?;
            }
            Kind::Uint(f, min, max) => {
                let n = crate::util::parse_i64(arg)
                    .ok_or_else(|| "argument couldn't be parsed into an integer".to_owned())?;
                *f(c) = in_range(i128::from(n), i128::from(*min), i128::from(*max))? as u64;
            }
            Kind::Int(f, min, max) => {
                let n = crate::util::parse_i64(arg)
                    .ok_or_else(|| "argument couldn't be parsed into an integer".to_owned())?;
                *f(c) = in_range(i128::from(n), i128::from(*min), i128::from(*max))? as i64;
            }
            Kind::Memory(f, min, max) => {
                let n = parse_memory(arg).ok_or_else(|| "argument must be a memory value".to_owned())?;
                *f(c) = in_range(i128::from(n), i128::from(*min), i128::from(*max))? as u64;
            }
            Kind::Octal(f) => {
                let text = std::str::from_utf8(arg).ok();
                let n = text.and_then(|t| u64::from_str_radix(t, 8).ok()).filter(|n| *n <= 0o777);
                *f(c) = n.ok_or_else(|| "argument couldn't be parsed as an octal number".to_owned())?;
            }
            Kind::Enum(f, names) => {
                let found = names.iter().position(|n| n.as_bytes().eq_ignore_ascii_case(arg));
                *f(c) = found.ok_or_else(|| {
                    format!("argument(s) must be one of the following: {}", names.join(", "))
                })?;
            }
            Kind::Text(f) => *f(c) = String::from_utf8_lossy(arg).into_owned(),
            Kind::Words(_) | Kind::Special(..) => {}
        }
        Ok(())
    }

    /// True when the value may be given as several words.
    pub fn takes_words(&self) -> bool {
        let idle = matches!(self.kind, Kind::Idle(_, Check::Words(_) | Check::OomScores, _));
        idle || matches!(self.kind, Kind::Words(_) | Kind::Special(..))
    }
}

pub(super) fn in_range(n: i128, min: i128, max: i128) -> Result<i128, String> {
    if n < min || n > max {
        return Err(format!("argument must be between {min} and {max} inclusive"));
    }
    Ok(n)
}

/// A letter that may stand in what a node says of itself.
fn is_plain(byte: u8) -> bool {
    byte > b',' && byte != 0x7f && !b";<=>?@[]^{|}~\\".contains(&byte)
}

fn set_announce_ip(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    if arg.len() >= 46 {
        return Err("cluster-announce-ip is too long".to_owned());
    }
    if !arg.iter().all(|byte| is_plain(*byte)) {
        return Err("cluster-announce-ip contains invalid character".to_owned());
    }
    c.cluster_announce_ip = String::from_utf8_lossy(arg).into_owned();
    Ok(())
}

fn set_node_name(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    if !arg.iter().all(|byte| is_plain(*byte)) {
        return Err("Announced human node name contained invalid character".to_owned());
    }
    c.cluster_announce_human_nodename = String::from_utf8_lossy(arg).into_owned();
    Ok(())
}

/// An address of one family, or nothing.
fn set_address<A: std::str::FromStr>(args: &[&[u8]], why: &str, kept: &mut String) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    let text = String::from_utf8_lossy(arg).into_owned();
    if !text.is_empty() && text.parse::<A>().is_err() {
        return Err(why.to_owned());
    }
    *kept = text;
    Ok(())
}

fn set_hostname(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    if arg.len() >= 256 {
        return Err("Hostnames must be less than 256 characters".to_owned());
    }
    if !arg.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.')) {
        return Err("Hostnames may only contain alphanumeric characters, hyphens or dots".to_owned());
    }
    c.cluster_announce_hostname = String::from_utf8_lossy(arg).into_owned();
    Ok(())
}

/// Any number is taken and brought into the range, as in Redis.
fn set_hz(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    let n = crate::util::parse_i64(arg)
        .ok_or_else(|| "argument couldn't be parsed into an integer".to_owned())?;
    c.hz = in_range(i128::from(n), 0, i128::from(i32::MAX))?.clamp(1, 500) as u64;
    Ok(())
}

/// Percentiles from 0 to 100 that INFO shows.
fn set_percentiles(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let none = args.iter().all(|arg| arg.is_empty());
    let words = args.iter().filter(|_| !none).flat_map(|arg| arg.split(|b| *b == b' '));
    let mut percentiles = Vec::new();
    for word in words {
        let p = std::str::from_utf8(word).ok().and_then(|w| w.parse::<f64>().ok());
        let p = p.ok_or_else(|| "Invalid latency-tracking-info-percentiles parameters".to_owned())?;
        if !(0.0..=100.0).contains(&p) {
            return Err(
                "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]".to_owned()
            );
        }
        percentiles.push(p);
    }
    c.latency_tracking_info_percentiles = percentiles;
    Ok(())
}

fn show_percentiles(c: &Config) -> String {
    let shown: Vec<String> =
        c.latency_tracking_info_percentiles.iter().map(|p| super::text::trimmed(*p)).collect();
    shown.join(" ")
}

fn set_notify(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    c.notify_keyspace_events = Class::from_letters(arg)
        .ok_or_else(|| "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.".to_owned())?;
    Ok(())
}

/// Values of `appendfsync`, by the index that is kept.
const FSYNC: [&str; 3] = ["always", "everysec", "no"];

fn set_fsync(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    let found = FSYNC.iter().position(|word| word.as_bytes().eq_ignore_ascii_case(arg));
    // The order is Redis's.
    c.appendfsync =
        found.ok_or_else(|| "argument(s) must be one of the following: everysec, always, no".to_owned())?;
    Ok(())
}

/// A file's name without a path.
fn set_file(what: &str, args: &[&[u8]], name: &mut String) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    if arg.is_empty() {
        return Err(format!("{what} can't be empty"));
    }
    if arg.contains(&b'/') {
        let kind = if what == "appenddirname" { "dirname" } else { "filename" };
        return Err(format!("{what} can't be a path, just a {kind}"));
    }
    *name = String::from_utf8_lossy(arg).into_owned();
    Ok(())
}

/// The version of the format that is written: that of Redis 7.0, 7.2, 8 or Valkey 9.
fn set_rdb_version(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let version = match args {
        [arg] => crate::util::parse_i64(arg),
        _ => None,
    };
    c.rdb_version_compat = version
        .filter(|n| matches!(n, 10 | 11 | 12 | 80))
        .ok_or_else(|| "argument must be one of the following: 10, 11, 12, 80".to_owned())?
        as u64;
    Ok(())
}

/// Pairs of seconds and changes; an empty argument for none.
fn set_save(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let words: Vec<&[u8]> =
        args.iter().flat_map(|arg| arg.split(|b| *b == b' ')).filter(|w| !w.is_empty()).collect();
    let bad = || "Invalid save parameters".to_owned();
    if args.is_empty() || !words.len().is_multiple_of(2) {
        return Err(bad());
    }
    let mut numbers = Vec::with_capacity(words.len());
    for (i, word) in words.iter().enumerate() {
        // At least one second; the number of changes may be 0.
        let least = i64::from(i % 2 == 0);
        let n = crate::util::parse_i64(word).filter(|n| *n >= least && *n <= i64::from(i32::MAX));
        numbers.push(n.ok_or_else(bad)?.to_string());
    }
    c.save = numbers.join(" ");
    Ok(())
}

/// Values of `repl-diskless-load`.
const DISKLESS_LOAD: [&str; 4] = ["disabled", "on-empty-db", "swapdb", "flush-before-load"];

/// `replicaof HOST PORT`, or `NO ONE`.
fn set_replicaof(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    if matches!(args, [none] if none.is_empty()) {
        // What CONFIG REWRITE leaves of a line that holds no longer.
        c.replicaof = None;
        return Ok(());
    }
    let [host, port] = args else { return Err("wrong number of arguments".to_owned()) };
    let port = std::str::from_utf8(port).unwrap_or_default();
    if host.is_empty() || (host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case("one")) {
        c.replicaof = None;
        return Ok(());
    }
    let port = port.parse().map_err(|_| "Invalid master port".to_owned())?;
    c.replicaof = Some((String::from_utf8_lossy(host).into_owned(), port));
    Ok(())
}

fn show_replicaof(c: &Config) -> String {
    c.replicaof.as_ref().map(|(host, port)| format!("{host} {port}")).unwrap_or_default()
}

const CLASSES: [&str; 3] = ["normal", "slave", "pubsub"];

fn set_output_limits(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let words: Vec<&[u8]> =
        args.iter().flat_map(|arg| arg.split(|b| *b == b' ')).filter(|w| !w.is_empty()).collect();
    if !words.len().is_multiple_of(4) {
        return Err("Wrong number of arguments in buffer limit configuration.".to_owned());
    }
    let mut limits = c.client_output_buffer_limit;
    for group in words.chunks(4) {
        let class = CLASSES
            .iter()
            .position(|name| name.as_bytes().eq_ignore_ascii_case(group[0]))
            .or(group[0].eq_ignore_ascii_case(b"replica").then_some(1))
            .ok_or_else(|| "Invalid client class specified in buffer limit configuration.".to_owned())?;
        let bad = || "Error in hard, soft or soft_seconds setting in buffer limit configuration.".to_owned();
        limits[class] = OutputLimit {
            hard: parse_memory(group[1]).ok_or_else(bad)?,
            soft: parse_memory(group[2]).ok_or_else(bad)?,
            seconds: crate::util::parse_i64(group[3]).and_then(|n| u64::try_from(n).ok()).ok_or_else(bad)?,
        };
    }
    c.client_output_buffer_limit = limits;
    Ok(())
}

fn show_output_limits(c: &Config) -> String {
    let parts: Vec<String> = CLASSES
        .iter()
        .zip(c.client_output_buffer_limit)
        .map(|(name, l)| format!("{name} {} {} {}", l.hard, l.soft, l.seconds))
        .collect();
    parts.join(" ")
}

/// Bytes, or a percentage of `maxmemory`, kept as a negative number.
fn set_maxmemory_clients(c: &mut Config, args: &[&[u8]]) -> Result<(), String> {
    let [arg] = args else { return Err("wrong number of arguments".to_owned()) };
    let bad = || "argument must be a memory or percent value".to_owned();
    if let Some(percent) = arg.strip_suffix(b"%") {
        let n = crate::util::parse_i64(percent).filter(|n| *n >= 0).ok_or_else(bad)?;
        if n > 100 {
            return Err("percentage argument must be less or equal to 100".to_owned());
        }
        c.maxmemory_clients = -n;
    } else {
        c.maxmemory_clients = parse_memory(arg).and_then(|n| i64::try_from(n).ok()).ok_or_else(bad)?;
    }
    Ok(())
}

fn show_maxmemory_clients(c: &Config) -> String {
    if c.maxmemory_clients < 0 {
        format!("{}%", -c.maxmemory_clients)
    } else {
        c.maxmemory_clients.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_shows_a_value_that_it_accepts() {
        let config = Config::default();
        for param in crate::config::params() {
            let shown = param.get(&config);
            let mut copy = config.clone();
            if shown.is_empty() && !matches!(param.kind, Kind::Text(_) | Kind::Special(..) | Kind::Idle(..)) {
                continue;
            }
            assert_eq!(param.set(&mut copy, &[shown.as_bytes()]), Ok(()), "{}", param.name);
            assert_eq!(param.get(&copy), shown, "{}", param.name);
        }
    }

    #[test]
    fn a_value_out_of_range_is_refused() {
        let mut config = Config::default();
        assert_eq!(
            config.set("maxmemory-samples", &[b"0"]),
            Err("argument must be between 1 and 64 inclusive".to_owned())
        );
        assert_eq!((config.set("hz", &[b"0"]), config.hz), (Ok(()), 1));
    }
}
