//! The parameters that the loop itself obeys, taken from the configuration whenever it changes.

use totality_engine::Config;
use totality_engine::config::OutputLimit;

use crate::log::Level;

/// Kinds of clients that have output limits of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Ordinary clients.
    Normal = 0,
    /// Clients that get the stream of effects.
    Replica = 1,
    /// Subscribers.
    Pubsub = 2,
}

/// The loop's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// TCP port; 0 for none.
    pub port: u16,
    /// TCP port for TLS; 0 for none.
    pub tls_port: u16,
    /// Other servers of the cluster are called with TLS.
    pub tls_cluster: bool,
    /// Addresses to listen on.
    pub bind: Vec<String>,
    /// Length of the queue of connections that are not accepted yet.
    pub backlog: i32,
    /// Path of the unix socket; empty for none.
    pub unix_socket: String,
    /// Its permissions; 0 for the system's.
    pub unix_mode: u32,
    /// Seconds after which an idle client is dropped; 0 for never.
    pub timeout_s: u64,
    /// Seconds between probes of an idle TCP connection; 0 for none.
    pub keepalive_s: u64,
    /// Most clients at a time.
    pub max_clients: usize,
    /// Longest argument in bytes.
    pub max_bulk: u64,
    /// Most bytes that may wait in a client's query buffer.
    pub query_limit: usize,
    /// Output limits by [`Class`].
    pub output: [OutputLimit; 3],
    /// Bytes of output below which no limit can be passed.
    pub output_alarm: usize,
    /// Strangers are refused while there is no password: protected mode is on.
    pub protected: bool,
    /// What is logged.
    pub log_level: Level,
    /// Where it is logged; empty for standard output.
    pub log_file: String,
    /// Rounds of background work per second.
    pub hz: u64,
}

impl Settings {
    /// The parameters in `config`.
    pub fn of(config: &Config) -> Settings {
        let output = config.client_output_buffer_limit;
        let alarm = output.iter().flat_map(|l| [l.hard, l.soft]).filter(|n| *n > 0).min();
        Settings {
            port: config.port as u16,
            tls_port: config.tls.port as u16,
            tls_cluster: config.tls.cluster,
            bind: config.bind.clone(),
            backlog: config.tcp_backlog.min(65_535) as i32,
            unix_socket: config.unixsocket.clone(),
            unix_mode: config.unixsocketperm as u32,
            timeout_s: config.timeout,
            keepalive_s: config.tcp_keepalive,
            max_clients: config.maxclients as usize,
            max_bulk: config.proto_max_bulk_len,
            query_limit: config.client_query_buffer_limit as usize,
            output,
            output_alarm: alarm.map_or(usize::MAX, |n| n as usize),
            protected: config.protected_mode,
            log_level: Level::from_index(config.loglevel),
            log_file: config.logfile.clone(),
            hz: config.hz.clamp(1, 500),
        }
    }
}
