//! INFO: the server's state in lines of `name:value`, with the names that exporters read.
//!
//! The section `keysizes` looks at every key and is shown only when it is named.
//!
//! ```transcript
//! > INFO nosuchsection
//! ""
//! # resp3
//!
//!
//! ```

use super::memory::Split;
use crate::commands;
use crate::cx::Cx;
use crate::error::Res;
use crate::keyspace::Keyspace;
use crate::persistence::Job;
use crate::script::Reason;
use crate::spec::{Cat, Flags, Group, Spec};
use crate::state::ServerState;
use crate::stats::Limited;
use std::fmt::Write;
use std::sync::atomic::Ordering;

/// The table's row.
pub const SPEC: Spec = Spec::new("info", -1, Group::Server, Flags::LOADING.union(Flags::STALE), run).args("section:s?*")
    .cats(Cat::DANGEROUS)
    .tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])
    .doc("1.0.0", "O(1)", "The server's state.");

type Section = fn(&Keyspace, &ServerState, &mut String);

/// Sections in their order, and whether `INFO` without arguments shows them.
const SECTIONS: [(&str, bool, Section); 14] = [
    ("server", true, server),
    ("tls", false, tls),
    ("clients", true, clients),
    ("memory", true, memory),
    ("persistence", true, persistence),
    ("stats", true, stats),
    ("replication", true, crate::commands::info_replication::section),
    ("cpu", true, cpu),
    ("modules", true, modules),
    ("commandstats", false, commandstats),
    ("errorstats", true, errorstats),
    ("latencystats", false, latencystats),
    ("cluster", true, cluster),
    ("keyspace", true, keyspace),
];

/// Sections that only who names them gets: one looks at every key, the other is for developers.
const NAMED: [(&str, Section); 2] = [("keysizes", keysizes), ("debug", debug)];

fn run(cx: &mut Cx<'_>) -> Res {
    let words = &cx.args[1..];
    let asked = |word: &str| words.iter().any(|w| w.eq_ignore_ascii_case(word.as_bytes()));
    let all = asked("all") || asked("everything");
    let default = words.is_empty() || asked("default");
    let mut text = String::with_capacity(4096);
    for (name, by_default, write) in SECTIONS {
        if all || (default && by_default) || asked(name) {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            write(cx.ks, cx.sv, &mut text);
        }
    }
    for (name, write) in NAMED {
        if asked(name) {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            write(cx.ks, cx.sv, &mut text);
        }
    }
    cx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

macro_rules! lines {
    ($out:expr, $($name:literal = $value:expr),* $(,)?) => {
        $(let _ = write!($out, concat!($name, ":{}\r\n"), $value);)*
    };
}

fn server(_: &Keyspace, sv: &ServerState, out: &mut String) {
    let p = &sv.process;
    let uptime = sv.stamp.saturating_sub(sv.started_us) / 1_000_000;
    out.push_str("# Server\r\n");
    lines!(out,
        "redis_version" = crate::REDIS_VERSION,
        "server_name" = "totality",
        "totality_version" = env!("CARGO_PKG_VERSION"),
        "redis_git_sha1" = "00000000",
        "redis_git_dirty" = 0,
        "redis_build_id" = "0000000000000000",
        "redis_mode" = if sv.config.cluster_enabled { "cluster" } else { "standalone" },
        "os" = p.os,
        "arch_bits" = usize::BITS,
        "monotonic_clock" = "POSIX clock_gettime",
        "multiplexing_api" = "epoll",
        "process_id" = p.pid,
        "process_supervised" = if p.supervised.is_empty() { "no" } else { &p.supervised },
        "run_id" = sv.run_id,
        "tcp_port" = if p.tcp_port > 0 { p.tcp_port } else { p.tls_port },
        "server_time_usec" = sv.stamp,
        "uptime_in_seconds" = uptime,
        "uptime_in_days" = uptime / 86400,
        "hz" = if p.hz > 0 { p.hz } else { sv.config.hz },
        "configured_hz" = sv.config.hz,
        "clients_hz" = sv.config.hz,
        "lru_clock" = (sv.stamp / 1_000_000) & 0x00ff_ffff,
        "executable" = p.executable,
        "config_file" = p.config_file,
        "io_threads_active" = 0,
        "availability_zone" = sv.config.availability_zone,
    );
    if let Some(stopping) = &sv.repl.stopping {
        let left = (stopping.deadline - (sv.stamp / 1000) as i64).max(0);
        let _ = write!(out, "shutdown_in_milliseconds:{left}\r\n");
    }
    let bind: Vec<String> = sv.config.bind.iter().map(|addr| format!(",bind={addr}")).collect();
    let ports = [("tcp", p.tcp_port), ("tls", p.tls_port)];
    for (i, (name, port)) in ports.into_iter().filter(|(_, port)| *port > 0).enumerate() {
        let _ = write!(out, "listener{i}:name={name}{},port={port}\r\n", bind.concat());
    }
}

fn tls(_: &Keyspace, sv: &ServerState, out: &mut String) {
    out.push_str("# TLS\r\n");
    let now = (sv.stamp / 1_000_000) as i64;
    for (name, cert) in ["server", "client", "ca"].iter().zip(&sv.process.certificates) {
        let (serial, ends) = cert.as_ref().map_or(("none", now), |(serial, ends)| (serial.as_str(), *ends));
        let left = (ends - now).max(0);
        let _ = write!(out, "tls_{name}_cert_serial:{serial}\r\ntls_{name}_cert_expires_in_seconds:{left}\r\n");
    }
}

fn clients(ks: &Keyspace, sv: &ServerState, out: &mut String) {
    out.push_str("# Clients\r\n");
    let (mut max_in, mut max_out, mut blocked, mut subscribed) = (0, 0, 0, 0);
    for client in sv.clients.iter() {
        max_in = max_in.max(client.io.qbuf);
        max_out = max_out.max(client.io.obl + client.io.omem);
        blocked += usize::from(client.blocked || client.postponed);
        subscribed += usize::from(client.subscribed() > 0);
    }
    let pause = sv.pause.filter(|pause| pause.until > ks.now);
    let (reason, actions, left) = match pause {
        Some(pause) => ("client_pause", if pause.all { "all" } else { "write" }, pause.until - ks.now),
        None if sv.held.shutdown => ("shutdown_in_progress", "write", i64::MAX - ks.now),
        None if sv.held.failover => ("failover_in_progress", "write", i64::MAX - ks.now),
        None => ("none", "none", 0),
    };
    lines!(out,
        "connected_clients" = sv.clients.len() - sv.repl.replicas.len(),
        "cluster_connections" = 0,
        "maxclients" = sv.config.maxclients,
        "client_recent_max_input_buffer" = max_in,
        "client_recent_max_output_buffer" = max_out,
        "blocked_clients" = blocked,
        "tracking_clients" = sv.tracking.clients(),
        "pubsub_clients" = subscribed,
        "watching_clients" = ks.watch.clients(),
        "clients_in_timeout_table" = ks.blocked.timed(),
        "total_watched_keys" = ks.watch.keys(),
        "total_blocking_keys" = ks.blocked.keys(),
        "total_blocking_keys_on_nokey" = ks.blocked.keys_on_deletion(),
        "paused_reason" = reason,
        "paused_actions" = actions,
        "paused_timeout_milliseconds" = left,
    );
}

/// Bytes as INFO's `_human` fields show them.
fn human(n: u64) -> String {
    let units = ["B", "K", "M", "G", "T", "P"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n}B") } else { format!("{value:.2}{}", units[unit]) }
}

fn memory(ks: &Keyspace, sv: &ServerState, out: &mut String) {
    let Split { used, overhead } = super::memory::split(ks, sv);
    let dataset = used - overhead;
    let peak = used.max(sv.stats.peak_memory as u64);
    let rss = sv.process.rss;
    let vm_eval = sv.scripts.eval_vm_bytes() as u64;
    let vm_functions = sv.scripts.libraries.vm_bytes() as u64;
    let (eval, functions) = (sv.scripts.cache.memory() as u64, sv.scripts.libraries.text_bytes() as u64);
    let scripts = eval + functions;
    out.push_str("# Memory\r\n");
    let backlog = sv.repl.backlog.as_ref().map_or(0, |backlog| backlog.memory());
    lines!(out,
        "used_memory" = used,
        "used_memory_human" = human(used),
        "used_memory_rss" = rss,
        "used_memory_rss_human" = human(rss),
        "used_memory_peak" = peak,
        "used_memory_peak_human" = human(peak),
        "used_memory_peak_perc" = format_args!("{:.2}%", used as f64 * 100.0 / peak.max(1) as f64),
        "used_memory_overhead" = overhead,
        "used_memory_startup" = 0,
        "used_memory_dataset" = dataset,
        "used_memory_dataset_perc" = format_args!("{:.2}%", dataset as f64 * 100.0 / used.max(1) as f64),
        "total_system_memory" = sv.process.total_system_memory,
        "total_system_memory_human" = human(sv.process.total_system_memory),
        "used_memory_lua" = vm_eval,
        "used_memory_vm_eval" = vm_eval,
        "used_memory_lua_human" = human(vm_eval),
        "used_memory_scripts_eval" = eval,
        "number_of_cached_scripts" = sv.scripts.len(),
        "number_of_functions" = sv.scripts.functions(),
        "number_of_libraries" = sv.scripts.libraries(),
        "used_memory_vm_functions" = vm_functions,
        "used_memory_vm_total" = vm_eval + vm_functions,
        "used_memory_vm_total_human" = human(vm_eval + vm_functions),
        "used_memory_functions" = functions,
        "used_memory_scripts" = scripts,
        "used_memory_scripts_human" = human(scripts),
        "maxmemory" = sv.config.maxmemory,
        "maxmemory_human" = human(sv.config.maxmemory),
        "maxmemory_policy" = crate::Config::POLICIES[sv.config.maxmemory_policy],
        "allocator_allocated" = used,
        "allocator_active" = rss,
        "allocator_resident" = rss,
        "allocator_muzzy" = 0,
        "allocator_frag_ratio" = format_args!("{:.2}", rss as f64 / used.max(1) as f64),
        "allocator_frag_bytes" = rss as i64 - used as i64,
        "allocator_rss_ratio" = "1.00",
        "allocator_rss_bytes" = 0,
        "rss_overhead_ratio" = "1.00",
        "rss_overhead_bytes" = 0,
        "mem_fragmentation_ratio" = format_args!("{:.2}", rss as f64 / used.max(1) as f64),
        "mem_fragmentation_bytes" = rss as i64 - used as i64,
        "mem_not_counted_for_evict" = 0,
        "mem_replication_backlog" = backlog.min(sv.config.repl_backlog_size as usize),
        "mem_total_replication_buffers" = backlog + sv.repl.kept.0 as usize,
        "mem_overhead_db_hashtable_rehashing" = 0,
        "mem_replicas_repl_buffer" = sv.repl.kept.0,
        "mem_clients_slaves" = sv.replica_bytes(),
        "mem_clients_normal" = sv.client_memory,
        "mem_cluster_links" = 0,
        "mem_aof_buffer" = sv.persist.log.buffer.len(),
        "mem_allocator" = "rust",
        "active_defrag_running" = 0,
        "lazyfree_pending_objects" = sv.lazy_free.pending.load(Ordering::Relaxed),
        "lazyfreed_objects" = sv.lazy_free.freed.load(Ordering::Relaxed),
    );
}

fn persistence(ks: &Keyspace, sv: &ServerState, out: &mut String) {
    let p = &sv.persist;
    let status = |ok: bool| if ok { "ok" } else { "err" };
    let now = (sv.stamp / 1_000_000) as i64;
    let running = |job: Job| p.job.filter(|(running, _)| *running == job).map(|(_, since)| now - since);
    let (saving, rewriting) = (running(Job::Snapshot).or(running(Job::Sync)), running(Job::Rewrite));
    let (done, all) = ks.snapshot_progress();
    // What a fork would have had to copy.
    let copied = match p.job {
        Some(_) if ks.has_snapshot() => ks.snapshot_copied(),
        Some(_) => p.copied,
        None => 0,
    };
    out.push_str("# Persistence\r\n");
    lines!(out,
        "loading" = u8::from(p.loading.as_ref().is_some_and(|l| !l.beside)),
        "async_loading" = u8::from(p.loading.as_ref().is_some_and(|l| l.beside)),
        "current_cow_peak" = copied,
        "current_cow_size" = copied,
        "current_cow_size_age" = 0,
        "current_fork_perc" = format_args!("{:.2}", done as f64 * 100.0 / all.max(1) as f64),
        "current_save_keys_processed" = done,
        "current_save_keys_total" = all,
        "rdb_changes_since_last_save" = ks.dirty,
        "rdb_bgsave_in_progress" = u8::from(saving.is_some()),
        "rdb_last_save_time" = p.last_save,
        "rdb_last_bgsave_status" = status(p.save_ok),
        "rdb_last_bgsave_time_sec" = p.save_seconds,
        "rdb_current_bgsave_time_sec" = saving.unwrap_or(-1),
        "rdb_saves" = p.saves,
        "rdb_last_cow_size" = p.last_copied[0],
        "rdb_last_load_keys_expired" = p.loaded.0,
        "rdb_last_load_keys_loaded" = p.loaded.1,
        "aof_enabled" = u8::from(p.logs()),
        "aof_rewrite_in_progress" = u8::from(rewriting.is_some()),
        "aof_rewrite_scheduled" = u8::from(p.rewrite_scheduled),
        "aof_last_rewrite_time_sec" = p.rewrite_seconds,
        "aof_current_rewrite_time_sec" = rewriting.unwrap_or(-1),
        "aof_last_bgrewrite_status" = status(p.rewrite_ok),
        "aof_rewrites" = p.rewrites,
        "aof_rewrites_consecutive_failures" = p.rewrite_failures,
        "aof_last_write_status" = status(p.log.error.is_none()),
        "aof_last_cow_size" = p.last_copied[1],
        "module_fork_in_progress" = 0,
        "module_fork_last_cow_size" = 0,
    );
    if p.logs() {
        lines!(out,
            "aof_current_size" = p.log.size,
            "aof_base_size" = p.log.base_size,
            "aof_pending_rewrite" = 0,
            "aof_buffer_length" = p.log.buffer.len(),
            "aof_pending_bio_fsync" = u8::from(p.log.pending_fsync),
            "aof_delayed_fsync" = p.log.delayed,
        );
    }
    if let Some(loading) = &p.loading {
        let (percent, eta) = loading.estimate(now);
        lines!(out,
            "loading_start_time" = loading.since,
            "loading_total_bytes" = loading.total,
            "loading_rdb_used_mem" = loading.used_memory,
            "loading_loaded_bytes" = loading.loaded,
            "loading_loaded_perc" = format_args!("{percent:.2}"),
            "loading_eta_seconds" = eta,
        );
    }
}

fn stats(ks: &Keyspace, sv: &ServerState, out: &mut String) {
    let s = &sv.stats;
    let exceeded = s.eviction_exceeded.1.map_or(0, |since| sv.stamp.saturating_sub(since));
    let (net_in, net_out) = sv.net_bytes();
    let kbps = |rate: crate::stats::Rate| rate.per_second() as f64 / 1024.0;
    use crate::pubsub::Kind;
    out.push_str("# Stats\r\n");
    lines!(out,
        "total_connections_received" = s.connections,
        "total_commands_processed" = s.processed,
        "instantaneous_ops_per_sec" = s.rates.commands.per_second(),
        "total_net_input_bytes" = net_in,
        "total_net_output_bytes" = net_out,
        "total_net_repl_input_bytes" = s.from_primary,
        "total_net_repl_output_bytes" = s.to_replicas,
        "instantaneous_input_kbps" = format_args!("{:.2}", kbps(s.rates.input)),
        "instantaneous_output_kbps" = format_args!("{:.2}", kbps(s.rates.output)),
        "instantaneous_input_repl_kbps" = format_args!("{:.2}", kbps(s.rates.from_primary)),
        "instantaneous_output_repl_kbps" = format_args!("{:.2}", kbps(s.rates.to_replicas)),
        "total_reads_processed" = sv.process.io_calls.0,
        "total_writes_processed" = sv.process.io_calls.1,
        "io_threaded_reads_processed" = 0,
        "io_threaded_writes_processed" = 0,
        "client_query_buffer_limit_disconnections" = s.over_limits.0,
        "client_output_buffer_limit_disconnections" = s.over_limits.1,
        "active_defrag_hits" = 0,
        "active_defrag_misses" = 0,
        "active_defrag_key_hits" = 0,
        "active_defrag_key_misses" = 0,
        "total_active_defrag_time" = 0,
        "current_active_defrag_time" = 0,
        "rejected_connections" = s.rejected_connections,
        "sync_full" = s.syncs.0,
        "sync_partial_ok" = s.syncs.1,
        "sync_partial_err" = s.syncs.2,
        "expired_keys" = ks.stats.expired,
        "expired_fields" = ks.stats.expired_fields,
        "expired_subkeys" = ks.stats.expired_fields,
        "expired_stale_perc" = format_args!("{:.2}", ks.stats.stale_percent),
        "expired_time_cap_reached_count" = ks.stats.expiry_cut_short,
        "expire_cycle_cpu_milliseconds" = ks.stats.expiry_us / 1000,
        "evicted_keys" = ks.stats.evicted,
        "evicted_clients" = s.evicted_clients,
        "evicted_scripts" = s.evicted_scripts,
        "total_eviction_exceeded_time" = (s.eviction_exceeded.0 + exceeded) / 1000,
        "current_eviction_exceeded_time" = exceeded / 1000,
        "keyspace_hits" = ks.stats.hits,
        "keyspace_misses" = ks.stats.misses,
        "pubsub_channels" = sv.pubsub.len(Kind::Channel),
        "pubsub_patterns" = sv.pubsub.len(Kind::Pattern),
        "pubsubshard_channels" = sv.pubsub.len(Kind::Shard),
        "latest_fork_usec" = 0,
        "total_forks" = 0,
        "migrate_cached_sockets" = 0,
        "slave_expires_tracked_keys" = ks.own_keys(),
        "tracking_total_keys" = sv.tracking.keys(),
        "tracking_total_items" = sv.tracking.items(),
        "tracking_total_prefixes" = sv.tracking.prefixes(),
        "unexpected_error_replies" = s.unexpected_errors,
        "total_error_replies" = s.error_replies,
        "dump_payload_sanitizations" = 0,
        "reply_buffer_shrinks" = 0,
        "reply_buffer_expands" = 0,
        "eventloop_cycles" = s.turns.count,
        "eventloop_duration_sum" = s.turns.us,
        "eventloop_duration_cmd_sum" = s.turns.command_us,
        "instantaneous_eventloop_cycles_per_sec" = s.rates.turns.per_second(),
        "instantaneous_eventloop_duration_usec" = s.rates.turn_us(),
        "acl_access_denied_auth" = sv.acl.denied.logins,
        "acl_access_denied_cmd" = sv.acl.denied.commands,
        "acl_access_denied_key" = sv.acl.denied.keys,
        "acl_access_denied_channel" = sv.acl.denied.channels,
        "acl_access_denied_tls_cert" = sv.acl.denied.certificates,
        "acl_access_denied_db" = sv.acl.denied.databases,
        "acl_access_denied_script" = sv.acl.denied.scripts,
        "undeclared_keys" = s.undeclared_keys,
        "tracked_scripts" = sv.scripts.tracker.len(),
        "script_kills" = sv.scripts.tracker.kills,
        "script_noscripts" = sv.scripts.tracker.noscripts,
        "script_limit_memory" = s.limits[Limited::Memory as usize],
        "script_limit_total_memory" = s.limits[Limited::TotalMemory as usize],
        "script_limit_size" = s.limits[Limited::Size as usize],
        "script_limit_reply_size" = s.limits[Limited::ReplySize as usize],
        "script_limit_reply_depth" = s.limits[Limited::ReplyDepth as usize],
        "script_limit_commands" = s.limits[Limited::Commands as usize],
        "script_rollbacks" = s.rollbacks.scripts(),
        "script_rollbacks_error" = s.rollbacks.of(Reason::Error),
        "script_rollbacks_error_reply" = s.rollbacks.of(Reason::ErrorReply),
        "script_rollbacks_kill" = s.rollbacks.of(Reason::Kill),
        "script_rollbacks_deadline" = s.rollbacks.of(Reason::Deadline),
        "script_rollbacks_memory" = s.rollbacks.of(Reason::Memory),
        "script_rollbacks_undo" = s.rollbacks.of(Reason::Undo),
        "script_rollbacks_commands" = s.rollbacks.of(Reason::Commands),
        "savepoint_rollbacks" = s.rollbacks.of(Reason::Savepoint),
        "transaction_rollbacks" = s.rollbacks.of(Reason::Transaction),
    );
}

fn debug(_: &Keyspace, sv: &ServerState, out: &mut String) {
    let turns = &sv.stats.turns;
    out.push_str("# Debug\r\n");
    lines!(out,
        "eventloop_duration_aof_sum" = turns.log_us,
        "eventloop_duration_cron_sum" = turns.cron_us,
        "eventloop_duration_max" = turns.longest_us,
        "eventloop_cmd_per_cycle_max" = turns.most_commands,
        "io_threaded_reads_pending" = 0,
        "io_threaded_writes_pending" = 0,
    );
}

fn cpu(_: &Keyspace, sv: &ServerState, out: &mut String) {
    let (user, system) = sv.process.cpu_us;
    out.push_str("# CPU\r\n");
    lines!(out,
        "used_cpu_sys" = format_args!("{}.{:06}", system / 1_000_000, system % 1_000_000),
        "used_cpu_user" = format_args!("{}.{:06}", user / 1_000_000, user % 1_000_000),
        "used_cpu_sys_children" = "0.000000",
        "used_cpu_user_children" = "0.000000",
    );
    let (user, system, active) = sv.process.main_thread_us;
    lines!(out,
        "used_cpu_sys_main_thread" = format_args!("{}.{:06}", system / 1_000_000, system % 1_000_000),
        "used_cpu_user_main_thread" = format_args!("{}.{:06}", user / 1_000_000, user % 1_000_000),
        "used_active_time_main_thread" = format_args!("{}.{:06}", active / 1_000_000, active % 1_000_000),
    );
}

fn modules(_: &Keyspace, _: &ServerState, out: &mut String) {
    out.push_str("# Modules\r\n");
}

fn commandstats(_: &Keyspace, sv: &ServerState, out: &mut String) {
    out.push_str("# Commandstats\r\n");
    for (command, s) in commands::all().iter().zip(&sv.stats.commands) {
        if s.calls + s.rejected + s.failed > 0 {
            let per_call = s.usec as f64 / s.calls.max(1) as f64;
            let _ = write!(
                out,
                "cmdstat_{}:calls={},usec={},usec_per_call={per_call:.2},rejected_calls={},failed_calls={}\r\n",
                command.full_name, s.calls, s.usec, s.rejected, s.failed
            );
        }
    }
}

fn errorstats(_: &Keyspace, sv: &ServerState, out: &mut String) {
    out.push_str("# Errorstats\r\n");
    for (code, count) in &sv.stats.errors {
        // A script's error may hold what would make another line or field of it.
        let code = String::from_utf8_lossy(code).replace(['#', ':', '\n', '\r'], "_");
        let _ = write!(out, "errorstat_{code}:count={count}\r\n");
    }
}

fn latencystats(_: &Keyspace, sv: &ServerState, out: &mut String) {
    out.push_str("# Latencystats\r\n");
    for (command, histogram) in commands::all().iter().zip(&sv.stats.histograms) {
        let Some(histogram) = histogram else { continue };
        let shown: Vec<String> = sv
            .config
            .latency_tracking_info_percentiles
            .iter()
            .map(|p| format!("p{}={:.3}", crate::config::trimmed(*p), histogram.percentile(*p)))
            .collect();
        let _ = write!(out, "latency_percentiles_usec_{}:{}\r\n", command.full_name, shown.join(","));
    }
}

fn cluster(_: &Keyspace, sv: &ServerState, out: &mut String) {
    out.push_str("# Cluster\r\n");
    lines!(out, "cluster_enabled" = u8::from(sv.config.cluster_enabled));
}

/// Numbers of keys by the size of their value, in powers of two: bytes of strings, elements of the rest. O(N) for N keys.
fn keysizes(ks: &Keyspace, _: &ServerState, out: &mut String) {
    use crate::value::Value;
    out.push_str("# Keysizes\r\n");
    const NAMES: [&str; 5] =
        ["strings_sizes", "lists_items", "sets_items", "zsets_items", "hashes_items"];
    for (i, db) in ks.dbs().iter().enumerate() {
        let mut counts = [[0_u64; 65]; NAMES.len()];
        for entry in db.dict().iter() {
            let (kind, size) = match &entry.value {
                value @ (Value::Str(_) | Value::Int(_)) => (0, value.str_len().unwrap_or(0)),
                Value::List(v) => (1, v.len()),
                Value::Set(v) => (2, v.len()),
                Value::ZSet(v) => (3, v.len()),
                Value::Hash(v) => (4, v.len()),
                Value::Stream(_) => continue,
            };
            counts[kind][(usize::BITS - size.leading_zeros()) as usize] += 1;
        }
        for (name, counts) in NAMES.iter().zip(counts) {
            let shown: Vec<String> = counts
                .iter()
                .enumerate()
                .filter(|(_, n)| **n > 0)
                .map(|(bits, n)| format!("{}={n}", power_label(bits)))
                .collect();
            if !shown.is_empty() {
                let _ = write!(out, "db{i}_distrib_{name}:{}\r\n", shown.join(","));
            }
        }
    }
}

/// The least number of so many bits, with the letter of its unit.
fn power_label(bits: usize) -> String {
    let Some(exponent) = bits.checked_sub(1) else { return "0".to_owned() };
    let unit = ["", "K", "M", "G", "T", "P", "E"][exponent / 10];
    format!("{}{unit}", 1_u64 << (exponent % 10))
}

fn keyspace(ks: &Keyspace, _: &ServerState, out: &mut String) {
    out.push_str("# Keyspace\r\n");
    for (i, db) in ks.dbs().iter().enumerate() {
        if !db.is_empty() {
            let (keys, expires, avg_ttl, timed) = (db.len(), db.expires(), db.average_ttl(), db.timed_hashes());
            let _ = write!(out, "db{i}:keys={keys},expires={expires},avg_ttl={avg_ttl}");
            let _ = write!(out, ",keys_with_volatile_items={timed}\r\n");
        }
    }
}
