//! Parameters of Redis and Valkey that have no effect here. They are read, judged, kept, shown and written back as
//! theirs are, so that configuration files and clients that set them work; the documentation lists them.

use super::table::{Flag, Param, idle};
use super::text::{parse_bool, parse_memory};

/// Which values are taken.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// `yes` or `no`.
    Bool,
    /// An integer in a range.
    Int(i128, i128),
    /// Bytes with a unit, in a range.
    Memory(i128, i128),
    /// One of the words.
    Enum(&'static [&'static str]),
    /// Some of the words.
    Words(&'static [&'static str]),
    /// Any text.
    Text,
    /// Nothing but the default, for the reason given: anything else would promise what is not there.
    Only(&'static str),
    /// The three numbers of `oom-score-adj-values`.
    OomScores,
    /// A template of the process title.
    Title,
}

const BAD_OOM: &str = "Invalid oom-score-adj-values, elements must be between -2000 and 2000.";
const BAD_TITLE: &str = "template format is invalid or contains unknown variables";

/// Variables of `proc-title-template`.
const TITLE_VARIABLES: [&str; 7] =
    ["title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file"];

impl Check {
    /// The value as it is kept.
    ///
    /// # Errors
    /// What is wrong, in Redis's words.
    pub(super) fn judge(self, arg: &[u8], default: &str) -> Result<String, String> {
        let text = String::from_utf8_lossy(arg).into_owned();
        match self {
            Check::Bool => match parse_bool(arg) {
                Some(on) => Ok(if on { "yes" } else { "no" }.to_owned()),
                None => Err("argument must be 'yes' or 'no'".to_owned()),
            },
            Check::Int(min, max) => {
                let n = text.parse::<i128>().ok().filter(|n| n.to_string() == text);
                let n = n.ok_or_else(|| "argument couldn't be parsed into an integer".to_owned())?;
                super::table::in_range(n, min, max).map(|n| n.to_string())
            }
            Check::Memory(min, max) => {
                let signed = if min < 0 { text.parse::<i128>().ok() } else { None };
                let n = parse_memory(arg).map(i128::from).or(signed);
                let n = n.ok_or_else(|| "argument must be a memory value".to_owned())?;
                super::table::in_range(n, min, max).map(|n| n.to_string())
            }
            Check::Enum(words) => {
                let found = words.iter().find(|w| w.as_bytes().eq_ignore_ascii_case(arg));
                // `relative` is another name of `yes` where both are there.
                let found = found.map(|w| if *w == "relative" { &"yes" } else { w });
                found.map(|w| (*w).to_owned()).ok_or_else(|| one_of(words))
            }
            Check::Words(words) => {
                let given: Vec<String> = text.split_whitespace().map(str::to_ascii_lowercase).collect();
                if given.is_empty() || !given.iter().all(|g| words.contains(&g.as_str())) {
                    return Err(one_of(words));
                }
                if given.iter().any(|g| g == "save") && given.iter().any(|g| g == "nosave") {
                    return Err("shutdown options SAVE and NOSAVE can't be used simultaneously".to_owned());
                }
                let kept: Vec<&str> = words
                    .iter()
                    .copied()
                    .filter(|w| given.iter().any(|g| g == w) && *w != "default")
                    .collect();
                Ok(if kept.is_empty() { "default".to_owned() } else { kept.join(" ") })
            }
            Check::Text => Ok(text),
            Check::Only(why) => {
                if text == default {
                    Ok(text)
                } else {
                    Err(why.to_owned())
                }
            }
            Check::OomScores => {
                let numbers: Vec<&str> = text.split_whitespace().collect();
                if numbers.len() != 3 {
                    return Err("wrong number of arguments".to_owned());
                }
                let fits = |n: &&str| n.parse::<i32>().is_ok_and(|n| (-2000..=2000).contains(&n));
                if numbers.iter().all(fits) { Ok(numbers.join(" ")) } else { Err(BAD_OOM.to_owned()) }
            }
            Check::Title => {
                if is_title(&text) {
                    Ok(text)
                } else {
                    Err(BAD_TITLE.to_owned())
                }
            }
        }
    }
}

fn one_of(words: &[&str]) -> String {
    format!("argument(s) must be one of the following: {}", words.join(", "))
}

/// True when every brace holds a variable that is known.
fn is_title(mut text: &str) -> bool {
    while let Some((_, rest)) = text.split_once('{') {
        let Some((name, rest)) = rest.split_once('}') else { return false };
        if !TITLE_VARIABLES.contains(&name) {
            return false;
        }
        text = rest;
    }
    true
}

const FIXED: Flag = Flag::FIXED;
const HIDDEN: Flag = Flag::HIDDEN;
const PROTECTED: Flag = Flag::PROTECTED;
const READ: Flag = Flag::READ;
const NONE: Flag = Flag::empty();

/// The rows. A parameter that the engine obeys stands in [`super::table::PARAMS`] and not here.
pub static IDLE: &[Param] = &[
    idle("active-defrag-cycle-max", &[], NONE, "25", Check::Int(1, 99)),
    idle("active-defrag-cycle-min", &[], NONE, "1", Check::Int(1, 99)),
    idle("active-defrag-cycle-us", &[], NONE, "500", Check::Int(0, 100000)),
    idle("active-defrag-ignore-bytes", &[], NONE, "104857600", Check::Memory(1, 9223372036854775807)),
    idle("active-defrag-max-scan-fields", &[], NONE, "1000", Check::Int(1, 9223372036854775807)),
    idle("active-defrag-threshold-lower", &[], NONE, "10", Check::Int(0, 1000)),
    idle("active-defrag-threshold-upper", &[], NONE, "100", Check::Int(0, 1000)),
    idle("activedefrag", &[], NONE, "no", Check::Bool),
    idle("aof-rewrite-cpulist", &["aof_rewrite_cpulist"], FIXED, "", Check::Text),
    idle("aof-rewrite-incremental-fsync", &[], NONE, "yes", Check::Bool),
    idle("bgsave-cpulist", &["bgsave_cpulist"], FIXED, "", Check::Text),
    idle("bind-source-addr", &[], READ, "", Check::Text),
    idle("bio-cpulist", &["bio_cpulist"], FIXED, "", Check::Text),
    idle("cluster-allow-pubsubshard-when-down", &[], NONE, "yes", Check::Bool),
    idle("cluster-allow-reads-when-down", &[], NONE, "no", Check::Bool),
    idle("cluster-allow-replica-migration", &[], NONE, "yes", Check::Bool),
    idle("cluster-announce-client-ipv4", &[], NONE, "", Check::Text),
    idle("cluster-announce-client-ipv6", &[], NONE, "", Check::Text),
    idle("cluster-announce-client-port", &[], NONE, "0", Check::Int(0, 65535)),
    idle("cluster-announce-client-tls-port", &[], NONE, "0", Check::Int(0, 65535)),
    idle("cluster-announce-human-nodename", &[], NONE, "", Check::Text),
    idle("cluster-announce-tls-port", &[], NONE, "0", Check::Int(0, 65535)),
    idle("cluster-blacklist-ttl", &[], NONE, "60", Check::Int(0, 18446744073709551615)),
    idle("cluster-config-save-behavior", &[], NONE, "sync", Check::Enum(&["sync", "best-effort"])),
    idle("cluster-databases", &[], FIXED, "1", Check::Int(1, 2147483647)),
    idle("cluster-link-sendbuf-limit", &[], NONE, "0", Check::Memory(0, 18446744073709551615)),
    idle("cluster-manual-failover-timeout", &[], NONE, "5000", Check::Int(1, 2147483647)),
    idle("cluster-message-gossip-perc", &[], HIDDEN, "10", Check::Int(1, 100)),
    idle("cluster-migration-barrier", &[], NONE, "1", Check::Int(0, 2147483647)),
    idle("cluster-node-timeout", &[], NONE, "15000", Check::Int(0, 9223372036854775807)),
    idle("cluster-ping-interval", &[], HIDDEN, "0", Check::Int(0, 9223372036854775807)),
    idle("cluster-replica-no-failover", &["cluster-slave-no-failover"], NONE, "no", Check::Bool),
    idle(
        "cluster-replica-validity-factor",
        &["cluster-slave-validity-factor"],
        NONE,
        "10",
        Check::Int(0, 2147483647),
    ),
    idle("cluster-require-full-coverage", &[], NONE, "yes", Check::Bool),
    idle("cluster-slot-migration-log-max-len", &[], NONE, "1000", Check::Int(0, 9223372036854775807)),
    idle("cluster-slot-stats-enabled", &[], NONE, "no", Check::Bool),
    idle("crash-log-enabled", &[], NONE, "yes", Check::Bool),
    idle("crash-memcheck-enabled", &[], NONE, "yes", Check::Bool),
    idle("debug-context", &[], HIDDEN, "", Check::Text),
    idle("disable-thp", &[], FIXED, "yes", Check::Bool),
    idle("dual-channel-replication-enabled", &[], NONE, "no", Check::Bool),
    idle("enable-debug-assert", &[], FIXED.union(HIDDEN), "no", Check::Bool),
    idle("extended-redis-compatibility", &[], NONE, "no", Check::Bool),
    idle("hash-seed", &[], FIXED, "", Check::Text),
    idle("hide-user-data-from-log", &[], NONE, "yes", Check::Bool),
    idle("ignore-warnings", &[], NONE, "", Check::Text),
    idle("io-threads", &[], NONE, "1", Check::Int(1, 256)),
    idle("io-threads-always-active", &[], HIDDEN, "no", Check::Bool),
    idle("io-threads-do-reads", &[], NONE, "no", Check::Bool),
    idle("jemalloc-bg-thread", &[], NONE, "yes", Check::Bool),
    idle("locale-collate", &[], NONE, "", Check::Text),
    idle("log-format", &[], NONE, "legacy", Check::Enum(&["legacy", "logfmt", "json"])),
    idle("log-timestamp-format", &[], NONE, "legacy", Check::Enum(&["legacy", "iso8601", "milliseconds"])),
    idle(
        "lua-enable-insecure-api",
        &["lua-enable-deprecated-api"],
        HIDDEN.union(PROTECTED),
        "no",
        Check::Bool,
    ),
    idle("max-new-connections-per-cycle", &[], NONE, "10", Check::Int(1, 1000)),
    idle("max-new-tls-connections-per-cycle", &[], NONE, "1", Check::Int(1, 1000)),
    idle("min-io-threads-avoid-copy-reply", &[], HIDDEN, "7", Check::Int(0, 2147483647)),
    idle("min-string-size-avoid-copy-reply", &[], HIDDEN, "16384", Check::Int(0, 2147483647)),
    idle("min-string-size-avoid-copy-reply-threaded", &[], HIDDEN, "65536", Check::Int(0, 2147483647)),
    idle("mptcp", &[], FIXED, "no", Check::Bool),
    idle("oom-score-adj", &[], READ, "no", Check::Enum(&["no", "yes", "relative", "absolute"])),
    idle("oom-score-adj-values", &[], READ, "0 200 800", Check::OomScores),
    idle("prefetch-batch-max-size", &[], NONE, "16", Check::Int(0, 128)),
    idle("proc-title-template", &[], NONE, "{title} {listen-addr} {server-mode}", Check::Title),
    idle(
        "propagation-error-behavior",
        &[],
        NONE,
        "ignore",
        Check::Enum(&["ignore", "panic", "panic-on-replicas"]),
    ),
    idle("rdb-save-incremental-fsync", &[], NONE, "yes", Check::Bool),
    idle("rdma-bind", &[], NONE, "", Check::Text),
    idle("rdma-completion-vector", &[], FIXED, "-1", Check::Int(-1, 1024)),
    idle("rdma-port", &[], NONE, "0", Check::Only("RDMA is not supported")),
    idle("rdma-rx-size", &[], FIXED, "1048576", Check::Int(65536, 16777216)),
    idle("repl-mptcp", &[], FIXED, "no", Check::Bool),
    idle("replica-full-sync-buffer-limit", &[], NONE, "0", Check::Memory(0, 18446744073709551615)),
    idle("replica-ignore-disk-write-errors", &[], NONE, "no", Check::Bool),
    idle("sanitize-dump-payload", &[], NONE, "no", Check::Enum(&["no", "yes", "clients"])),
    idle("server-cpulist", &["server_cpulist"], FIXED, "", Check::Text),
    idle("set-proc-title", &[], FIXED, "yes", Check::Bool),
    idle(
        "shutdown-on-sigint",
        &[],
        READ,
        "default",
        Check::Words(&["default", "save", "nosave", "now", "force", "safe", "failover"]),
    ),
    idle(
        "shutdown-on-sigterm",
        &[],
        READ,
        "default",
        Check::Words(&["default", "save", "nosave", "now", "force", "safe", "failover"]),
    ),
    idle("slot-migration-max-failover-repl-bytes", &[], NONE, "0", Check::Memory(-1, 9223372036854775807)),
    idle("socket-mark-id", &[], FIXED, "0", Check::Int(0, 4294967295)),
    idle("syslog-enabled", &[], FIXED, "no", Check::Bool),
    idle(
        "syslog-facility",
        &[],
        FIXED,
        "local0",
        Check::Enum(&[
            "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
        ]),
    ),
    idle("syslog-ident", &[], FIXED, "totality", Check::Text),
    idle("tls-dh-params-file", &[], NONE, "", Check::Only("finite-field Diffie-Hellman is not supported")),
    idle("unixsocketgroup", &[], FIXED, "", Check::Text),
    idle("use-exit-on-panic", &[], HIDDEN, "no", Check::Bool),
    idle("watchdog-period", &[], HIDDEN, "0", Check::Int(0, 2147483647)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_judged_as_redis_judges_them() {
        let words = Check::Words(&["default", "save", "nosave", "now", "force", "safe", "failover"]);
        assert_eq!(words.judge(b"now nosave", "default"), Ok("nosave now".to_owned()));
        assert!(words.judge(b"save nosave", "default").is_err());
        assert_eq!(Check::Memory(-1, 100).judge(b"-1", "0"), Ok("-1".to_owned()));
        assert_eq!(
            Check::Int(1, 99).judge(b"100", "1"),
            Err("argument must be between 1 and 99 inclusive".to_owned())
        );
        assert!(Check::Title.judge(b"{title} {nothing}", "").is_err());
        assert!(Check::Title.judge(b"{title", "").is_err());
        assert_eq!(Check::Enum(&["no", "yes", "relative"]).judge(b"RELATIVE", "no"), Ok("yes".to_owned()));
        assert_eq!(Check::Only("not there").judge(b"7", "0"), Err("not there".to_owned()));
    }
}
