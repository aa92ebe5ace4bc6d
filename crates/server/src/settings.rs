//! The parameters that the loop itself obeys, taken from the configuration whenever it changes.

use totality_engine::Config;
use totality_engine::config::OutputLimit;

use crate::listen::Options;
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
    /// What sockets that listen are told.
    pub listen: Options,
    /// Connections that a listener accepts per turn: plain ones, and those by TLS, whose beginning costs more.
    pub accepts: (usize, usize),
    /// The group that the unix socket belongs to; empty for the server's.
    pub unix_group: String,
    /// Names, users and bytes of clients do not go into the log.
    pub hides_users: bool,
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
    /// They are more while there are many clients.
    pub dynamic_hz: bool,
}

impl Settings {
    /// The parameters in `config`.
    pub fn of(config: &Config) -> Settings {
        let output = config.client_output_buffer_limit;
        let text = |name: &str| config.get(name).unwrap_or_default();
        let alarm = output.iter().flat_map(|l| [l.hard, l.soft]).filter(|n| *n > 0).min();
        Settings {
            port: config.port as u16,
            tls_port: config.tls.port as u16,
            tls_cluster: config.tls.cluster,
            bind: config.bind.clone(),
            listen: Options {
                backlog: config.tcp_backlog.min(65_535) as i32,
                mark: text("socket-mark-id").parse().unwrap_or(0),
                mptcp: text("mptcp") == "yes",
            },
            accepts: (
                config.max_new_connections_per_cycle as usize,
                config.max_new_tls_connections_per_cycle as usize,
            ),
            unix_group: text("unixsocketgroup"),
            hides_users: config.hide_user_data_from_log,
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
            dynamic_hz: config.dynamic_hz,
        }
    }
}
