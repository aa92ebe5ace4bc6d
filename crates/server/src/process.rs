//! What the process asks of the kernel for itself: processors (`server-cpulist`, `bio-cpulist`) and pages (`disable-thp`).

use std::io;

use rustix::process::Pid;
use rustix::thread::{CpuSet, disable_transparent_huge_pages, sched_setaffinity};
use totality_engine::Config;

use crate::listen::reason;
use crate::log::Log;

/// Says when the kernel makes huge pages by itself.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Names of the threads that work beside the loop.
const HELPERS: [&str; 4] = ["fsync", "lazy-free", "lazy-free-lua", "snapshot"];

/// Reads a list of processors as taskset(1) does: `0,2-3,8-20:2`.
fn cpu_set(list: &str) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    for part in list.split(',') {
        let (range, step) = part.split_once(':').map_or((part, "1"), |(range, step)| (range, step));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        // A step belongs to a range.
        if step != "1" && !range.contains('-') {
            return None;
        }
        let number = |text: &str| text.parse::<usize>().ok().filter(|_| !text.starts_with('+'));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if first > last || last >= CpuSet::MAX_CPU || step == 0 {
            return None;
        }
        (first..=last).step_by(step).for_each(|cpu| set.set(cpu));
    }
    Some(set)
}

fn pin(thread: Option<Pid>, list: &str) -> io::Result<()> {
    let set = cpu_set(list)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not a list of processors"))?;
    Ok(sched_setaffinity(thread, &set)?)
}

/// Binds the calling thread, and those that it will start, to `server-cpulist`.
pub fn pin_loop(config: &Config, log: &mut Log) {
    let list = config.get("server-cpulist").unwrap_or_default();
    if !list.is_empty()
        && let Err(e) = pin(None, &list)
    {
        log.warning(format!("server-cpulist '{list}' is not obeyed: {}", reason(&e)));
    }
}

/// Binds the threads that free memory and write files to `bio-cpulist`. Some of them come and go, so this is done again
/// and again; without the parameter it costs nothing.
pub fn pin_helpers(config: &Config, log: &mut Log, warned: &mut bool) {
    let list = config.get("bio-cpulist").unwrap_or_default();
    if list.is_empty() || *warned {
        return;
    }
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return };
    for task in tasks.flatten() {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        let id = task.file_name().to_str().and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        if !HELPERS.contains(&name.trim_end()) || id.is_none() {
            continue;
        }
        match pin(id, &list) {
            // It ended meanwhile.
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
            Err(e) => {
                *warned = true;
                return log.warning(format!("bio-cpulist '{list}' is not obeyed: {}", reason(&e)));
            }
            Ok(()) => {}
        }
    }
}

/// Has the kernel give this process no huge pages that nobody asked for: memory that is freed here and there could not
/// go back to the system.
pub fn spare_huge_pages(config: &Config, log: &mut Log) {
    let wanted = config.get("disable-thp").is_none_or(|value| value == "yes");
    let always = std::fs::read_to_string(HUGE_PAGES).is_ok_and(|text| text.contains("[always]"));
    if wanted
        && always
        && let Err(e) = disable_transparent_huge_pages(true)
    {
        let why = reason(&io::Error::from(e));
        log.warning(format!("Transparent huge pages of the kernel could not be refused: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Level;
    use rustix::thread::sched_getaffinity;

    fn cpus(list: &str) -> Option<Vec<usize>> {
        cpu_set(list).map(|set| (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
    }

    #[test]
    fn lists_of_processors_are_those_of_taskset() {
        assert_eq!(cpus("0,2,3"), Some(vec![0, 2, 3]));
        assert_eq!(cpus("0,2-3"), Some(vec![0, 2, 3]));
        assert_eq!(cpus("0-8:4,1"), Some(vec![0, 1, 4, 8]));
        for bad in ["", "x", "3-1", "1-", "-1", "0-4:0", "0:2", "1,", "999999", "+1"] {
            assert_eq!(cpus(bad), None, "{bad}");
        }
    }

    #[test]
    fn threads_are_bound() {
        let mine = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|cpu| mine.is_set(*cpu)).unwrap();
        let list = first.to_string();
        let only = cpu_set(&list).unwrap();
        let mut config = Config::default();
        config.set("server-cpulist", &[list.as_bytes()]).unwrap();
        config.set("bio-cpulist", &[list.as_bytes()]).unwrap();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let helper = std::thread::Builder::new().name("fsync".to_owned()).spawn(move || {
            for () in ended {
                tell.send(sched_getaffinity(None).unwrap()).unwrap();
            }
        });
        // The name is there once the thread runs.
        end.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), mine);
        let mut log = Log::stdout(Level::Nothing);
        let mut warned = false;
        pin_helpers(&config, &mut log, &mut warned);
        end.send(()).unwrap();
        assert_eq!((told.recv().unwrap(), warned), (only, false));
        drop(end);
        helper.unwrap().join().unwrap();
        pin_loop(&config, &mut log);
        assert_eq!(sched_getaffinity(None).unwrap(), only);
        // Something that is no list changes nothing.
        config.set("server-cpulist", &[b"nothing"]).unwrap();
        pin_loop(&config, &mut log);
        assert_eq!(sched_getaffinity(None).unwrap(), only);
    }
}
