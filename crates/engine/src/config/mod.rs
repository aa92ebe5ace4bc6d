//! The configuration parameters: one table with names, aliases, kinds and ranges, from which CONFIG GET, CONFIG SET,
//! CONFIG REWRITE, the configuration file and the command line are served.

mod idle;
mod table;
mod text;
mod tls;

pub use idle::Why;
pub use table::Param;
pub(crate) use text::trimmed;
pub use tls::{CertUser, ClientCerts, TlsConfig};

use crate::notify::Class;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// All parameters, in the order of their names.
static ALL: LazyLock<Vec<&'static Param>> = LazyLock::new(|| {
    let mut all: Vec<&'static Param> =
        [table::PARAMS, tls::PARAMS, idle::KEPT, idle::IDLE].into_iter().flatten().collect();
    all.sort_by_key(|param| param.name);
    all
});

/// All parameters in the order of their names.
pub fn params() -> impl Iterator<Item = &'static Param> {
    ALL.iter().copied()
}

/// Thresholds of the compact encodings.
#[derive(Debug, Clone, Copy)]
pub struct Encodings {
    /// `hash-max-listpack-entries`
    pub hash_entries: u64,
    /// `hash-max-listpack-value`, bytes
    pub hash_value: u64,
    /// `list-max-listpack-size`: entries, or -1…-5 for 4…64 KB
    pub list_size: i64,
    /// `list-compress-depth`
    pub list_compress: i64,
    /// `set-max-intset-entries`
    pub set_intset: u64,
    /// `set-max-listpack-entries`
    pub set_entries: u64,
    /// `set-max-listpack-value`, bytes
    pub set_value: u64,
    /// `zset-max-listpack-entries`
    pub zset_entries: u64,
    /// `zset-max-listpack-value`, bytes
    pub zset_value: u64,
}

impl Default for Encodings {
    fn default() -> Self {
        Encodings {
            hash_entries: 512,
            hash_value: 64,
            list_size: -2,
            list_compress: 0,
            set_intset: 512,
            set_entries: 128,
            set_value: 64,
            zset_entries: 128,
            zset_value: 64,
        }
    }
}

/// Limits of a class of clients' output buffers. Bytes and seconds; 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimit {
    /// Past it the client is closed at once.
    pub hard: u64,
    /// Past it for `seconds` the client is closed.
    pub soft: u64,
    /// How long the soft limit may be passed.
    pub seconds: u64,
}

/// What `script-undeclared-keys` chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndeclaredKeys {
    /// Redis's behaviour.
    Allow,
    /// Allowed, logged and counted.
    Warn,
    /// Refused.
    Deny,
}

/// The values of all parameters.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // each field is the parameter of its name; the table documents them
pub struct Config {
    pub port: u64,
    pub bind: Vec<String>,
    pub protected_mode: bool,
    pub unixsocket: String,
    pub unixsocketperm: u64,
    pub tcp_backlog: u64,
    pub tcp_keepalive: u64,
    pub timeout: u64,
    pub maxclients: u64,
    pub databases: u64,
    pub requirepass: String,
    pub loglevel: usize,
    pub logfile: String,
    pub log_format: usize,
    pub log_timestamp_format: usize,
    pub hide_user_data_from_log: bool,
    pub max_new_connections_per_cycle: u64,
    pub max_new_tls_connections_per_cycle: u64,
    pub dir: String,
    pub hz: u64,
    pub dynamic_hz: bool,
    pub daemonize: bool,
    pub pidfile: String,
    pub supervised: usize,
    pub proto_max_bulk_len: u64,
    pub client_query_buffer_limit: u64,
    pub client_output_buffer_limit: [OutputLimit; 3],
    pub maxmemory: u64,
    pub maxmemory_policy: usize,
    pub maxmemory_samples: u64,
    pub maxmemory_clients: i64,
    pub maxmemory_eviction_tenacity: u64,
    pub replica_ignore_maxmemory: bool,
    pub lfu_log_factor: u64,
    pub lfu_decay_time: u64,
    pub lazyfree: [bool; 5],
    pub notify_keyspace_events: Class,
    pub enc: Encodings,
    pub slowlog_log_slower_than: i64,
    pub slowlog_max_len: u64,
    pub latency_monitor_threshold: u64,
    pub latency_tracking: bool,
    pub latency_tracking_info_percentiles: Vec<f64>,
    pub commandlog_request_larger_than: i64,
    pub commandlog_large_request_max_len: u64,
    pub commandlog_reply_larger_than: i64,
    pub commandlog_large_reply_max_len: u64,
    pub availability_zone: String,
    pub busy_reply_threshold: i64,
    pub script_undeclared_keys: usize,
    pub script_rollback: usize,
    pub script_rollback_max_bytes: u64,
    pub script_deadline_ms: u64,
    pub transaction_rollback: bool,
    pub script_max_memory: u64,
    pub script_cache_max_entries: u64,
    pub script_max_total_memory: u64,
    pub script_max_size: u64,
    pub script_max_reply_size: u64,
    pub script_max_reply_depth: u64,
    pub script_max_commands: u64,
    pub script_stats_max_entries: u64,
    pub script_debug_timeout: u64,
    pub script_debug_max_bytes: u64,
    pub appendonly: bool,
    pub appendfsync: usize,
    pub save: String,
    pub enable_debug_command: usize,
    pub enable_module_command: usize,
    pub enable_protected_configs: usize,
    pub active_expire: bool,
    pub import_mode: bool,
    pub active_expire_effort: u64,
    pub stream_node_max_bytes: u64,
    pub stream_node_max_entries: u64,
    pub hll_sparse_max_bytes: u64,
    pub rdbcompression: bool,
    pub rdbchecksum: bool,
    pub rdb_version_check: usize,
    pub rdb_version_compat: u64,
    pub dbfilename: String,
    pub appendfilename: String,
    pub no_appendfsync_on_rewrite: bool,
    pub aof_load_truncated: bool,
    pub aof_use_rdb_preamble: bool,
    pub aof_timestamp_enabled: bool,
    pub aof_disable_auto_gc: bool,
    pub auto_aof_rewrite_percentage: u64,
    pub auto_aof_rewrite_min_size: u64,
    pub rdb_key_save_delay: i64,
    pub key_load_delay: i64,
    pub loading_interval_bytes: u64,
    pub appenddirname: String,
    pub cluster_enabled: bool,
    pub cluster_config_file: String,
    pub cluster_port: u64,
    pub cluster_announce_ip: String,
    /// What clients are told that come by IPv4 and by IPv6.
    pub cluster_announce_client_ip: [String; 2],
    /// What clients are told: the port without TLS, and that with TLS.
    pub cluster_announce_client_port: [u64; 2],
    pub cluster_announce_tls_port: u64,
    pub cluster_announce_human_nodename: String,
    pub cluster_databases: u64,
    pub cluster_slot_stats_enabled: bool,
    pub cluster_announce_port: u64,
    pub cluster_announce_bus_port: u64,
    pub cluster_announce_hostname: String,
    pub cluster_preferred_endpoint_type: usize,
    pub acllog_max_len: u64,
    pub acl_pubsub_default: usize,
    pub aclfile: String,
    pub tls: TlsConfig,
    /// Users of the configuration file: the name, then the rules.
    pub users: Vec<Vec<Vec<u8>>>,
    pub tracking_table_max_keys: u64,
    pub crash_log_enabled: bool,
    pub stop_writes_on_bgsave_error: bool,
    /// The primary that this server follows: its host and port.
    pub replicaof: Option<(String, u16)>,
    pub primaryauth: String,
    pub primaryuser: String,
    pub rdb_del_sync_files: bool,
    /// Connections of replicas wait for packets to fill (`repl-disable-tcp-nodelay`).
    pub repl_disable_tcp_nodelay: bool,
    /// Full syncs use two connections where both sides can (`dual-channel-replication-enabled`).
    pub dual_channel_replication: bool,
    /// Bytes of the stream that a replica keeps until its snapshot is loaded (`replica-full-sync-buffer-limit`); 0: the
    /// hard limit of what waits for replicas.
    pub replica_full_sync_buffer_limit: u64,
    pub repl_backlog_ttl: u64,
    /// Index of `disabled`, `on-empty-db`, `swapdb`, `flush-before-load`.
    pub repl_diskless_load: usize,
    pub repl_diskless_sync: bool,
    pub repl_diskless_sync_delay: u64,
    pub repl_diskless_sync_max_replicas: u64,
    pub replica_announce_ip: String,
    pub replica_announce_port: u64,
    pub replica_announced: bool,
    pub replica_ignore_disk_write_errors: bool,
    /// Index of `ignore`, `panic`, `panic-on-replicas`.
    pub propagation_error_behavior: usize,
    pub replica_priority: u64,
    pub shutdown_timeout: u64,
    pub repl_backlog_size: u64,
    pub repl_timeout: u64,
    pub repl_ping_replica_period: u64,
    pub min_replicas_to_write: u64,
    pub min_replicas_max_lag: u64,
    pub replica_serve_stale_data: bool,
    pub replica_read_only: bool,
    /// Values of the parameters that are kept as texts, where they are not the default.
    pub idle: BTreeMap<&'static str, String>,
    /// `rename-command`: old names in lower case and new ones; an empty one takes the command away.
    pub renames: Vec<(String, String)>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            port: 6379,
            bind: vec!["127.0.0.1".to_owned(), "-::1".to_owned()],
            protected_mode: true,
            unixsocket: String::new(),
            unixsocketperm: 0,
            tcp_backlog: 511,
            tcp_keepalive: 300,
            timeout: 0,
            maxclients: 10000,
            databases: 16,
            requirepass: String::new(),
            loglevel: 2,
            logfile: String::new(),
            log_format: 0,
            log_timestamp_format: 0,
            hide_user_data_from_log: true,
            max_new_connections_per_cycle: 10,
            max_new_tls_connections_per_cycle: 1,
            dir: ".".to_owned(),
            hz: 10,
            dynamic_hz: true,
            daemonize: false,
            pidfile: String::new(),
            supervised: 0,
            proto_max_bulk_len: 512 << 20,
            client_query_buffer_limit: 1 << 30,
            client_output_buffer_limit: [
                OutputLimit { hard: 0, soft: 0, seconds: 0 },
                OutputLimit { hard: 256 << 20, soft: 64 << 20, seconds: 60 },
                OutputLimit { hard: 32 << 20, soft: 8 << 20, seconds: 60 },
            ],
            maxmemory: 0,
            maxmemory_policy: 7,
            maxmemory_samples: 5,
            maxmemory_clients: 0,
            maxmemory_eviction_tenacity: 10,
            replica_ignore_maxmemory: true,
            lfu_log_factor: 10,
            lfu_decay_time: 1,
            lazyfree: [true; 5],
            notify_keyspace_events: Class::empty(),
            enc: Encodings::default(),
            slowlog_log_slower_than: 10000,
            slowlog_max_len: 128,
            latency_monitor_threshold: 0,
            latency_tracking: true,
            latency_tracking_info_percentiles: vec![50.0, 99.0, 99.9],
            commandlog_request_larger_than: 1 << 20,
            commandlog_large_request_max_len: 128,
            commandlog_reply_larger_than: 1 << 20,
            commandlog_large_reply_max_len: 128,
            availability_zone: String::new(),
            busy_reply_threshold: 5000,
            script_undeclared_keys: 0,
            script_rollback: 1,
            script_rollback_max_bytes: 256 << 20,
            script_deadline_ms: 0,
            transaction_rollback: false,
            script_max_memory: 1 << 30,
            script_cache_max_entries: 500,
            script_max_total_memory: 0,
            script_max_size: 64 << 20,
            script_max_reply_size: 512 << 20,
            script_max_reply_depth: 7960,
            script_max_commands: 0,
            script_stats_max_entries: 500,
            script_debug_timeout: 600,
            script_debug_max_bytes: 1 << 30,
            appendonly: false,
            appendfsync: 1,
            save: "3600 1 300 100 60 10000".to_owned(),
            enable_debug_command: 0,
            enable_module_command: 0,
            enable_protected_configs: 0,
            active_expire: true,
            import_mode: false,
            active_expire_effort: 1,
            stream_node_max_bytes: 4096,
            stream_node_max_entries: 100,
            hll_sparse_max_bytes: 3000,
            rdbcompression: true,
            rdbchecksum: true,
            rdb_version_check: 0,
            rdb_version_compat: 11,
            dbfilename: "dump.rdb".to_owned(),
            no_appendfsync_on_rewrite: false,
            aof_load_truncated: true,
            aof_use_rdb_preamble: true,
            aof_timestamp_enabled: false,
            aof_disable_auto_gc: false,
            auto_aof_rewrite_percentage: 100,
            auto_aof_rewrite_min_size: 64 << 20,
            rdb_key_save_delay: 0,
            key_load_delay: 0,
            loading_interval_bytes: 2 << 20,
            appendfilename: "appendonly.aof".to_owned(),
            appenddirname: "appendonlydir".to_owned(),
            cluster_enabled: false,
            cluster_config_file: "nodes.conf".to_owned(),
            cluster_port: 0,
            cluster_announce_ip: String::new(),
            cluster_announce_client_ip: [String::new(), String::new()],
            cluster_announce_client_port: [0, 0],
            cluster_announce_tls_port: 0,
            cluster_announce_human_nodename: String::new(),
            cluster_databases: 1,
            cluster_slot_stats_enabled: false,
            cluster_announce_port: 0,
            cluster_announce_bus_port: 0,
            cluster_announce_hostname: String::new(),
            cluster_preferred_endpoint_type: 0,
            acllog_max_len: 128,
            acl_pubsub_default: 1,
            aclfile: String::new(),
            tls: TlsConfig::default(),
            users: Vec::new(),
            tracking_table_max_keys: 1_000_000,
            crash_log_enabled: true,
            stop_writes_on_bgsave_error: true,
            replicaof: None,
            primaryauth: String::new(),
            primaryuser: String::new(),
            rdb_del_sync_files: false,
            repl_disable_tcp_nodelay: false,
            dual_channel_replication: false,
            replica_full_sync_buffer_limit: 0,
            repl_backlog_ttl: 3600,
            repl_diskless_load: 0,
            repl_diskless_sync: true,
            repl_diskless_sync_delay: 5,
            repl_diskless_sync_max_replicas: 0,
            replica_announce_ip: String::new(),
            replica_announce_port: 0,
            replica_announced: true,
            replica_ignore_disk_write_errors: false,
            propagation_error_behavior: 0,
            replica_priority: 100,
            shutdown_timeout: 10,
            repl_backlog_size: 10 << 20,
            repl_timeout: 60,
            repl_ping_replica_period: 10,
            min_replicas_to_write: 0,
            min_replicas_max_lag: 10,
            replica_serve_stale_data: true,
            replica_read_only: true,
            idle: BTreeMap::new(),
            renames: Vec::new(),
        }
    }
}

impl Config {
    /// Names of the `maxmemory-policy` values, by their index in [`Config::maxmemory_policy`].
    pub const POLICIES: [&'static str; 8] = [
        "volatile-lru",
        "volatile-lfu",
        "volatile-random",
        "volatile-ttl",
        "allkeys-lru",
        "allkeys-lfu",
        "allkeys-random",
        "noeviction",
    ];

    /// The parameter of this name or alias, whatever its case.
    pub fn param(name: &[u8]) -> Option<&'static Param> {
        params().find(|p| {
            p.name.as_bytes().eq_ignore_ascii_case(name)
                || p.aliases.iter().any(|a| a.as_bytes().eq_ignore_ascii_case(name))
        })
    }

    /// Sets a parameter from the words of a configuration file or the command line.
    ///
    /// # Errors
    /// A text in Redis's words: what is wrong with the value, or `Bad directive or wrong number of arguments`.
    pub fn set(&mut self, name: &str, args: &[&[u8]]) -> Result<(), String> {
        if name.eq_ignore_ascii_case("user") {
            return crate::acl::declare(self, args);
        }
        if name.eq_ignore_ascii_case("rename-command") {
            return self.rename_command(args);
        }
        let param = Config::param(name.as_bytes())
            .ok_or_else(|| "Bad directive or wrong number of arguments".to_owned())?;
        param.set(self, args)
    }

    /// `rename-command OLD NEW`
    fn rename_command(&mut self, args: &[&[u8]]) -> Result<(), String> {
        let [old, new] = args else { return Err("Bad directive or wrong number of arguments".to_owned()) };
        let old = String::from_utf8_lossy(old).to_ascii_lowercase();
        let new = String::from_utf8_lossy(new).to_ascii_lowercase();
        if let Some(at) = self.renames.iter().position(|(_, name)| *name == old && !old.is_empty()) {
            // A name that a command got by a line before.
            if !new.is_empty() && self.is_taken(&new) {
                return Err("Target command name already exists".to_owned());
            }
            self.renames[at].1 = new;
            return Ok(());
        }
        if crate::commands::lookup(old.as_bytes()).is_none() || self.renames.iter().any(|(o, _)| *o == old) {
            return Err("No such command in rename-command".to_owned());
        }
        if !new.is_empty() && new != old && self.is_taken(&new) {
            return Err("Target command name already exists".to_owned());
        }
        self.renames.push((old, new));
        Ok(())
    }

    /// True for the name of a command as it is now.
    fn is_taken(&self, name: &str) -> bool {
        let freed = self.renames.iter().any(|(old, _)| old == name);
        (crate::commands::lookup(name.as_bytes()).is_some() && !freed)
            || self.renames.iter().any(|(_, new)| new == name)
    }

    /// The value of a parameter as CONFIG GET shows it.
    pub fn get(&self, name: &str) -> Option<String> {
        Config::param(name.as_bytes()).map(|p| p.get(self))
    }

    /// True when users may hear all channels unless they are told otherwise (`acl-pubsub-default`).
    pub fn acl_all_channels(&self) -> bool {
        self.acl_pubsub_default == 0
    }

    /// What `script-undeclared-keys` says.
    pub fn undeclared_keys(&self) -> UndeclaredKeys {
        match self.script_undeclared_keys {
            0 => UndeclaredKeys::Allow,
            1 => UndeclaredKeys::Warn,
            _ => UndeclaredKeys::Deny,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_is_there_once() {
        let mut names: Vec<&str> =
            params().flat_map(|p| std::iter::once(p.name).chain(p.aliases.iter().copied())).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn commands_get_new_names_or_none() {
        let mut config = Config::default();
        assert_eq!(config.set("rename-command", &[b"GET", b"fetch"]), Ok(()));
        assert_eq!(config.set("rename-command", &[b"FLUSHALL", b""]), Ok(()));
        assert_eq!(config.set("rename-command", &[b"set", b"get"]), Ok(()));
        let refused = |text: &str| Err(text.to_owned());
        assert_eq!(
            config.set("rename-command", &[b"nosuch", b"x"]),
            refused("No such command in rename-command")
        );
        assert_eq!(
            config.set("rename-command", &[b"del", b"exists"]),
            refused("Target command name already exists")
        );
        assert_eq!(config.set("rename-command", &[b"ping", b"one"]), Ok(()));
        assert_eq!(config.set("rename-command", &[b"ONE", b"two"]), Ok(()));
        assert_eq!(
            config.set("rename-command", &[b"one", b"x"]),
            refused("No such command in rename-command")
        );
        assert_eq!(
            config.set("rename-command", &[b"two", b"fetch"]),
            refused("Target command name already exists")
        );
        let name = |argv: &[&[u8]]| {
            crate::commands::resolve_renamed(argv, &config.renames).map(|command| command.full_name.as_str())
        };
        assert_eq!(name(&[b"FETCH", b"k"]), Ok("get"));
        assert_eq!(name(&[b"get", b"k", b"v"]), Ok("set"));
        assert_eq!(name(&[b"two"]), Ok("ping"));
        assert!(name(&[b"one"]).is_err());
        assert_eq!(name(&[b"config", b"get", b"k"]), Ok("config|get"));
        assert!(name(&[b"set", b"k", b"v"]).is_err());
        assert!(name(&[b"flushall"]).is_err());
        assert!(name(&[b""]).is_err());
    }
}
