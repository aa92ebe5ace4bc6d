//! What INFO shows of the process.

use std::path::Path;

use totality_engine::state::ProcessInfo;

use crate::io::Io;

/// Fills in what does not change.
pub fn at_start(info: &mut ProcessInfo, io: &Io, config_file: Option<&Path>) {
    let uname = rustix::system::uname();
    let text = |s: &std::ffi::CStr| s.to_string_lossy().into_owned();
    info.os = format!("{} {} {}", text(uname.sysname()), text(uname.release()), text(uname.machine()));
    info.pid = std::process::id();
    listeners(info, io);
    certificates(info, io);
    info.executable = std::env::current_exe().map(|p| p.display().to_string()).unwrap_or_default();
    info.config_file = config_file.map(|p| p.display().to_string()).unwrap_or_default();
    info.total_system_memory = total_memory().unwrap_or(0);
    refresh(info);
}

/// Which ports are listened on.
pub fn listeners(info: &mut ProcessInfo, io: &Io) {
    let (plain, tls) = io.tcp_addresses();
    let port = |addresses: &[std::net::SocketAddr]| addresses.first().map_or(0, std::net::SocketAddr::port);
    (info.tcp_port, info.tls_port) = (port(&plain), port(&tls));
}

/// Which certificates are in use.
pub fn certificates(info: &mut ProcessInfo, io: &Io) {
    let shown = io.tls.as_ref().map(|tls| tls.shown.clone()).unwrap_or_default();
    info.certificates =
        [shown.server, shown.client, shown.ca].map(|cert| cert.map(|cert| (cert.serial, cert.ends)));
}

/// Memory and CPU time, from `/proc`; where there is none, the old values stay.
pub fn refresh(info: &mut ProcessInfo) {
    if let Some(pages) = std::fs::read_to_string("/proc/self/statm").ok().and_then(|s| field(&s, 1)) {
        info.rss = pages * rustix::param::page_size() as u64;
    }
    if let Some((user, system)) = std::fs::read_to_string("/proc/self/stat").ok().and_then(|s| cpu_ticks(&s))
    {
        let us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
        info.cpu_us = (user * us, system * us);
    }
    let ticks = std::fs::read_to_string("/proc/thread-self/stat").ok().and_then(|s| cpu_ticks(&s));
    if let Some((user, system)) = ticks {
        let us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let ns = std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|s| field(&s, 0));
        let active = ns.map_or((user + system) * us, |ns| ns / 1000);
        info.main_thread_us = (user * us, system * us, active);
    }
}

fn field(text: &str, i: usize) -> Option<u64> {
    text.split_whitespace().nth(i)?.parse().ok()
}

/// User and system time; they come after the name in brackets, which may hold anything.
fn cpu_ticks(stat: &str) -> Option<(u64, u64)> {
    let rest = &stat[stat.rfind(')')? + 1..];
    Some((field(rest, 11)?, field(rest, 12)?))
}

fn total_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
    Some(field(line, 1)? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_proc() {
        let stat = "12 (a b) c) S 1 2 3 4 5 6 7 8 9 10 77 88 0 0 20";
        assert_eq!(cpu_ticks(stat), Some((77, 88)));
        let mut info = ProcessInfo::default();
        refresh(&mut info);
        assert!(info.rss > 0);
        assert!(total_memory().is_some_and(|n| n > info.rss));
    }
}
