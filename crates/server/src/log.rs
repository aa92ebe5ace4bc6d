//! The log: one line per event, in the shape that Redis's users and their tools know.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For those who work on the server.
    Debug,
    /// A lot, but readable.
    Verbose,
    /// What an operator wants to know.
    Notice,
    /// What an operator must know.
    Warning,
    /// Nothing is logged at this level; as a threshold it silences the log.
    Nothing,
}

impl Level {
    /// The level that `loglevel` chose, by its place among the values.
    pub fn from_index(index: usize) -> Level {
        [Level::Debug, Level::Verbose, Level::Notice, Level::Warning]
            .get(index)
            .copied()
            .unwrap_or(Level::Nothing)
    }

    fn mark(self) -> char {
        match self {
            Level::Debug => '.',
            Level::Verbose => '-',
            Level::Notice => '*',
            Level::Warning | Level::Nothing => '#',
        }
    }
}

/// Longest line, in bytes; the rest is cut.
const MAX_LINE: usize = 1024;

/// Where lines go.
#[derive(Debug)]
pub struct Log {
    threshold: Level,
    file: Option<(PathBuf, Option<File>)>,
    pid: u32,
    role: char,
}

impl Log {
    /// A log to standard output.
    pub fn stdout(threshold: Level) -> Log {
        Log { threshold, file: None, pid: std::process::id(), role: 'M' }
    }

    /// Sends what follows to the end of a file; an empty path means standard output.
    pub fn set_file(&mut self, path: &str) -> io::Result<()> {
        if path.is_empty() {
            self.file = None;
            return Ok(());
        }
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        self.file = Some((PathBuf::from(path), Some(file)));
        Ok(())
    }

    /// Lines below `threshold` are dropped from now on.
    pub fn set_threshold(&mut self, threshold: Level) {
        self.threshold = threshold;
    }

    /// Would a line of this level be written?
    pub fn enabled(&self, level: Level) -> bool {
        level >= self.threshold
    }

    /// Writes a line. A log that cannot be written must not stop the server: failures are ignored.
    pub fn write(&mut self, level: Level, text: &str) {
        if !self.enabled(level) {
            return;
        }
        let now = jiff::ZonedDateTime::now();
        let mut end = text.len().min(MAX_LINE);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let line = format!(
            "{}:{} {}.{:03} {} {}\n",
            self.pid,
            self.role,
            now.strftime("%d %b %Y %H:%M:%S"),
            now.millisecond(),
            level.mark(),
            &text[..end]
        );
        let _ = match &mut self.file {
            None => io::stdout().lock().write_all(line.as_bytes()),
            Some((path, file)) => {
                // A rotated file (moved away) is opened anew, as Redis does by opening it for each line.
                if file.is_none() || !path.exists() {
                    *file = OpenOptions::new().append(true).create(true).open(path).ok();
                }
                file.as_mut().map_or(Ok(()), |f| f.write_all(line.as_bytes()))
            }
        };
    }

    /// A line that an operator wants to know.
    pub fn notice(&mut self, text: impl AsRef<str>) {
        self.write(Level::Notice, text.as_ref());
    }

    /// A line that an operator must know.
    pub fn warning(&mut self, text: impl AsRef<str>) {
        self.write(Level::Warning, text.as_ref());
    }

    /// A line for those who look closely.
    pub fn verbose(&mut self, text: impl AsRef<str>) {
        self.write(Level::Verbose, text.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_redis_shape_and_respect_the_threshold() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = Log::stdout(Level::Notice);
        log.set_file(path.to_str().unwrap()).unwrap();
        log.verbose("unseen");
        log.notice("hello");
        log.warning("x".repeat(2000));
        std::fs::rename(&path, dir.path().join("old")).unwrap();
        log.warning("after rotation");
        let old = std::fs::read_to_string(dir.path().join("old")).unwrap();
        let lines: Vec<&str> = old.lines().collect();
        assert_eq!(lines.len(), 2);
        // `PID:M 30 Nov 2026 13:00:00.000 * hello`
        let parts: Vec<&str> = lines[0].split(' ').collect();
        assert_eq!(parts[0], format!("{}:M", std::process::id()));
        assert_eq!((parts[1].len(), parts[2].len(), parts[3].len(), parts[4].len()), (2, 3, 4, 12));
        assert_eq!(parts[5..], ["*", "hello"]);
        assert!(lines[1].ends_with(&format!("# {}", "x".repeat(1024))));
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("# after rotation\n"));
    }
}
