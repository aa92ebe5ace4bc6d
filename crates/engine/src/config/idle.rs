//! Parameters that are kept as texts. Most have no effect here: they are read, judged, kept, shown and written back as
//! Redis and Valkey do it, so that configuration files and clients that set them work, and the documentation lists them
//! with the reason. The others are read by the owner of the engine, at start for the most part.

use super::table::{Flag, Param, idle, kept};
use super::text::{parse_bool, parse_memory};

/// Which values are taken.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// `yes` or `no`.
    Bool,
    /// `no`, for the reason given: `yes` would promise what is not there.
    No(&'static str),
    /// An integer in a range.
    Int(i128, i128),
    /// Bytes with a unit, in a range.
    Memory(i128, i128),
    /// One of the words.
    Enum(&'static [&'static str]),
    /// Some of the words.
    Words(&'static [&'static str]),
    /// A locale that sorts by bytes: there is no other.
    ByteOrder,
    /// Any text.
    Text,
    /// Any text up to so many bytes, and what is said of a longer one.
    Short(usize, &'static str),
    /// Nothing but the default, for the reason given: anything else would promise what is not there.
    Only(&'static str),
    /// The three numbers of `oom-score-adj-values`.
    OomScores,
    /// A template of the process title.
    Title,
}

const NO_DEFRAG: &str = "Active defragmentation cannot be enabled: it requires a server compiled with a modified Jemalloc like the one shipped by default with the source distribution";
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
            Check::No(why) => match Check::Bool.judge(arg, default)?.as_str() {
                "yes" => Err(why.to_owned()),
                no => Ok(no.to_owned()),
            },
            Check::Int(min, max) => {
                let n = crate::util::parse_i64(arg);
                let n = n.ok_or_else(|| "argument couldn't be parsed into an integer".to_owned())?;
                super::table::in_range(i128::from(n), min, max).map(|n| n.to_string())
            }
            Check::Memory(min, max) => {
                let signed = if min < 0 { text.parse::<i64>().ok().map(i128::from) } else { None };
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
            Check::ByteOrder => {
                if ["", "C", "POSIX", "C.UTF-8", "C.utf8"].contains(&text.as_str()) {
                    Ok(text)
                } else {
                    Err("Invalid locale name".to_owned())
                }
            }
            Check::Text => Ok(text),
            Check::Short(most, why) => {
                if arg.len() > most {
                    Err(why.to_owned())
                } else {
                    Ok(text)
                }
            }
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
    if text.is_empty() {
        return false;
    }
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
const NONE: Flag = Flag::empty();

/// Why a parameter has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Memory comes from the allocator of the Rust runtime and values are never moved to tidy it up: there is no jemalloc, and `activedefrag yes` is refused.
    Memory,
    /// Tables grow piece by piece as they are written, so there is no rehashing that spare time could be given to; a replaced data set is always freed by another thread.
    Tables,
    /// One thread reads, executes and answers; other threads only free memory and write files.
    Threads,
    /// Snapshots and rewrites of the append-only file are made by the server itself and not by a child process; their files are always handed to the disk in pieces.
    Forks,
    /// A cluster here is one node that owns all slots: there is no bus, nobody to vote, to fail over or to take slots, and the cluster is never down.
    Cluster,
    /// There is no transport by RDMA, and a port for it is refused.
    Rdma,
    /// The TLS of rustls has no finite-field Diffie-Hellman: a file is refused.
    Tls,
    /// Aids for faults of a server in C: memory is safe here, a failed check ends the process with a report (see `crash-log-enabled`), and handlers of signals, which `watchdog-period` needs, are not to be had in safe Rust.
    Crashes,
    /// Payloads and files are always checked to their last element, whoever they come from.
    Checked,
    /// The title of a process cannot be changed from safe Rust, and no well-kept crate does it: `ps` shows the command line.
    Title,
    /// The server always presents itself to clients as Redis does (`redis_version`, HELLO, error texts), there is no logo, and nothing that `ignore-warnings` names is warned of.
    Names,
    /// The runtime of scripts has no `getfenv`, `setfenv` and `newproxy`: `yes` is refused.
    Lua,
}

impl Why {
    /// All reasons, in the order in which they are documented.
    pub const ALL: &[Why] = &[
        Why::Memory,
        Why::Tables,
        Why::Threads,
        Why::Forks,
        Why::Cluster,
        Why::Rdma,
        Why::Tls,
        Why::Crashes,
        Why::Checked,
        Why::Title,
        Why::Names,
        Why::Lua,
    ];

    /// The reason for readers.
    pub fn text(self) -> &'static str {
        match self {
            Why::Memory => {
                "Memory comes from the allocator of the Rust runtime and values are never moved to tidy it up: there is no jemalloc, and `activedefrag yes` is refused."
            }
            Why::Tables => {
                "Tables grow piece by piece as they are written, so there is no rehashing that spare time could be given to; a replaced data set is always freed by another thread."
            }
            Why::Threads => {
                "One thread reads, executes and answers; other threads only free memory and write files."
            }
            Why::Forks => {
                "Snapshots and rewrites of the append-only file are made by the server itself and not by a child process; their files are always handed to the disk in pieces."
            }
            Why::Cluster => {
                "A cluster here is one node that owns all slots: there is no bus, nobody to vote, to fail over or to take slots, and the cluster is never down."
            }
            Why::Rdma => "There is no transport by RDMA, and a port for it is refused.",
            Why::Tls => "The TLS of rustls has no finite-field Diffie-Hellman: a file is refused.",
            Why::Crashes => {
                "Aids for faults of a server in C: memory is safe here, a failed check ends the process with a report (see `crash-log-enabled`), and handlers of signals, which `watchdog-period` needs, are not to be had in safe Rust."
            }
            Why::Checked => {
                "Payloads and files are always checked to their last element, whoever they come from."
            }
            Why::Title => {
                "The title of a process cannot be changed from safe Rust, and no well-kept crate does it: `ps` shows the command line."
            }
            Why::Names => {
                "The server always presents itself to clients as Redis does (`redis_version`, HELLO, error texts), there is no logo, and nothing that `ignore-warnings` names is warned of."
            }
            Why::Lua => {
                "The runtime of scripts has no `getfenv`, `setfenv` and `newproxy`: `yes` is refused."
            }
        }
    }
}

/// Parameters without effect.
pub static IDLE: &[Param] = &[
    idle("activedefrag", &[], Why::Memory, NONE, "no", Check::No(NO_DEFRAG)),
    idle("active-defrag-cycle-max", &[], Why::Memory, NONE, "25", Check::Int(1, 99)),
    idle("active-defrag-cycle-min", &[], Why::Memory, NONE, "1", Check::Int(1, 99)),
    idle("active-defrag-cycle-us", &[], Why::Memory, NONE, "500", Check::Int(0, 100000)),
    idle(
        "active-defrag-ignore-bytes",
        &[],
        Why::Memory,
        NONE,
        "104857600",
        Check::Memory(1, 9223372036854775807),
    ),
    idle("active-defrag-max-scan-fields", &[], Why::Memory, NONE, "1000", Check::Int(1, 9223372036854775807)),
    idle("active-defrag-threshold-lower", &[], Why::Memory, NONE, "10", Check::Int(0, 1000)),
    idle("active-defrag-threshold-upper", &[], Why::Memory, NONE, "100", Check::Int(0, 1000)),
    idle("jemalloc-bg-thread", &[], Why::Memory, NONE, "yes", Check::Bool),
    idle("activerehashing", &[], Why::Tables, NONE, "yes", Check::Bool),
    idle("replica-lazy-flush", &["slave-lazy-flush"], Why::Tables, NONE, "yes", Check::Bool),
    idle("io-threads", &[], Why::Threads, NONE, "1", Check::Int(1, 256)),
    idle("io-threads-always-active", &[], Why::Threads, HIDDEN, "no", Check::Bool),
    idle("io-threads-do-reads", &[], Why::Threads, FIXED.union(HIDDEN), "no", Check::Bool),
    idle("min-io-threads-avoid-copy-reply", &[], Why::Threads, HIDDEN, "7", Check::Int(0, 2147483647)),
    idle("min-string-size-avoid-copy-reply", &[], Why::Threads, HIDDEN, "16384", Check::Int(0, 2147483647)),
    idle(
        "min-string-size-avoid-copy-reply-threaded",
        &[],
        Why::Threads,
        HIDDEN,
        "65536",
        Check::Int(0, 2147483647),
    ),
    idle("prefetch-batch-max-size", &[], Why::Threads, NONE, "16", Check::Int(0, 128)),
    idle("aof-rewrite-cpulist", &["aof_rewrite_cpulist"], Why::Forks, FIXED, "", Check::Text),
    idle("bgsave-cpulist", &["bgsave_cpulist"], Why::Forks, FIXED, "", Check::Text),
    idle("aof-rewrite-incremental-fsync", &[], Why::Forks, NONE, "yes", Check::Bool),
    idle("rdb-save-incremental-fsync", &[], Why::Forks, NONE, "yes", Check::Bool),
    idle("cluster-allow-pubsubshard-when-down", &[], Why::Cluster, NONE, "yes", Check::Bool),
    idle("cluster-allow-reads-when-down", &[], Why::Cluster, NONE, "no", Check::Bool),
    idle("cluster-allow-replica-migration", &[], Why::Cluster, NONE, "yes", Check::Bool),
    idle(
        "cluster-blacklist-ttl",
        &[],
        Why::Cluster,
        NONE,
        "60",
        Check::Int(-9223372036854775808, 9223372036854775807),
    ),
    idle(
        "cluster-config-save-behavior",
        &[],
        Why::Cluster,
        NONE,
        "sync",
        Check::Enum(&["sync", "best-effort"]),
    ),
    idle("cluster-link-sendbuf-limit", &[], Why::Cluster, NONE, "0", Check::Memory(0, 18446744073709551615)),
    idle("cluster-manual-failover-timeout", &[], Why::Cluster, NONE, "5000", Check::Int(1, 2147483647)),
    idle("cluster-message-gossip-perc", &[], Why::Cluster, HIDDEN, "10", Check::Int(1, 100)),
    idle("cluster-migration-barrier", &[], Why::Cluster, NONE, "1", Check::Int(0, 2147483647)),
    idle("cluster-node-timeout", &[], Why::Cluster, NONE, "15000", Check::Int(0, 9223372036854775807)),
    idle("cluster-ping-interval", &[], Why::Cluster, HIDDEN, "0", Check::Int(0, 9223372036854775807)),
    idle(
        "cluster-replica-no-failover",
        &["cluster-slave-no-failover"],
        Why::Cluster,
        NONE,
        "no",
        Check::Bool,
    ),
    idle(
        "cluster-replica-validity-factor",
        &["cluster-slave-validity-factor"],
        Why::Cluster,
        NONE,
        "10",
        Check::Int(0, 2147483647),
    ),
    idle("cluster-require-full-coverage", &[], Why::Cluster, NONE, "yes", Check::Bool),
    idle(
        "cluster-slot-migration-log-max-len",
        &[],
        Why::Cluster,
        NONE,
        "1000",
        Check::Int(0, 9223372036854775807),
    ),
    idle(
        "slot-migration-max-failover-repl-bytes",
        &[],
        Why::Cluster,
        NONE,
        "0",
        Check::Memory(-1, 9223372036854775807),
    ),
    idle("rdma-bind", &[], Why::Rdma, NONE, "", Check::Text),
    idle("rdma-completion-vector", &[], Why::Rdma, FIXED, "-1", Check::Int(-1, 1024)),
    idle("rdma-port", &[], Why::Rdma, NONE, "0", Check::Only("RDMA is not supported")),
    idle("rdma-rx-size", &[], Why::Rdma, FIXED, "1048576", Check::Int(65536, 16777216)),
    idle(
        "tls-dh-params-file",
        &[],
        Why::Tls,
        NONE,
        "",
        Check::Only("finite-field Diffie-Hellman is not supported"),
    ),
    idle("crash-memcheck-enabled", &[], Why::Crashes, NONE, "yes", Check::Bool),
    idle("enable-debug-assert", &[], Why::Crashes, FIXED.union(HIDDEN), "no", Check::Bool),
    idle("use-exit-on-panic", &[], Why::Crashes, HIDDEN, "no", Check::Bool),
    idle("sanitize-dump-payload", &[], Why::Checked, NONE, "no", Check::Enum(&["no", "yes", "clients"])),
    idle("proc-title-template", &[], Why::Title, NONE, "{title} {listen-addr} {server-mode}", Check::Title),
    idle("set-proc-title", &[], Why::Title, FIXED, "yes", Check::Bool),
    idle("always-show-logo", &[], Why::Names, FIXED, "no", Check::Bool),
    idle("extended-redis-compatibility", &[], Why::Names, NONE, "no", Check::Bool),
    idle("ignore-warnings", &[], Why::Names, NONE, "", Check::Text),
    idle(
        "lua-enable-insecure-api",
        &["lua-enable-deprecated-api"],
        Why::Lua,
        HIDDEN.union(PROTECTED),
        "no",
        Check::No("getfenv, setfenv and newproxy do not exist"),
    ),
    idle("watchdog-period", &[], Why::Crashes, HIDDEN, "0", Check::Only("there is no software watchdog")),
];

/// Parameters that the owner of the engine reads as texts.
pub static KEPT: &[Param] = &[
    kept("bind-source-addr", &[], NONE, "", Check::Text),
    kept("bio-cpulist", &["bio_cpulist"], FIXED, "", Check::Text),
    kept("debug-context", &[], HIDDEN, "", Check::Text),
    kept("disable-thp", &[], FIXED, "yes", Check::Bool),
    kept("locale-collate", &[], NONE, "", Check::ByteOrder),
    kept("mptcp", &[], FIXED, "no", Check::Bool),
    kept(
        "hash-seed",
        &[],
        FIXED,
        "",
        Check::Short(256, "hash-seed must be less than or equal to 256 characters"),
    ),
    kept("oom-score-adj", &[], NONE, "no", Check::Enum(&["no", "yes", "relative", "absolute"])),
    kept("oom-score-adj-values", &[], NONE, "0 200 800", Check::OomScores),
    kept("repl-mptcp", &[], FIXED, "no", Check::Bool),
    kept("server-cpulist", &["server_cpulist"], FIXED, "", Check::Text),
    kept(
        "shutdown-on-sigint",
        &[],
        NONE,
        "default",
        Check::Words(&["default", "save", "nosave", "now", "force", "safe", "failover"]),
    ),
    kept(
        "shutdown-on-sigterm",
        &[],
        NONE,
        "default",
        Check::Words(&["default", "save", "nosave", "now", "force", "safe", "failover"]),
    ),
    kept("socket-mark-id", &[], FIXED, "0", Check::Int(0, 4294967295)),
    kept("syslog-enabled", &[], FIXED, "no", Check::Bool),
    kept(
        "syslog-facility",
        &[],
        FIXED,
        "local0",
        Check::Enum(&[
            "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
        ]),
    ),
    kept("syslog-ident", &[], FIXED, "totality", Check::Text),
    kept("unixsocketgroup", &[], FIXED, "", Check::Text),
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
