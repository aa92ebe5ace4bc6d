//! The log: one line per event, in the shape that Redis's users and their tools know.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use totality_engine::Config;

use crate::syslog::Syslog;

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

    /// Its name in the formats that name it.
    fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Verbose => "info",
            Level::Notice => "notice",
            Level::Warning | Level::Nothing => "warning",
        }
    }
}

/// How a line is written (`log-format`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Legacy,
    Logfmt,
    Json,
}

/// How the time is written (`log-timestamp-format`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stamp {
    Legacy,
    Iso8601,
    Milliseconds,
}

impl Stamp {
    fn render(self, now: &jiff::ZonedDateTime) -> String {
        let ms = now.millisecond();
        match self {
            Stamp::Legacy => format!("{}.{ms:03}", now.strftime("%d %b %Y %H:%M:%S")),
            Stamp::Iso8601 => {
                format!("{}.{ms:03}{}", now.strftime("%Y-%m-%dT%H:%M:%S"), now.strftime("%:z"))
            }
            Stamp::Milliseconds => now.timestamp().as_millisecond().to_string(),
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
    /// The server is a replica.
    replica: bool,
    format: Format,
    stamp: Stamp,
    syslog: Option<Syslog>,
}

impl Log {
    /// A log to standard output.
    pub fn stdout(threshold: Level) -> Log {
        Log {
            threshold,
            file: None,
            pid: std::process::id(),
            replica: false,
            format: Format::Legacy,
            stamp: Stamp::Legacy,
            syslog: None,
        }
    }

    /// Writes what follows as `log-format` and `log-timestamp-format` say.
    pub fn set_format(&mut self, config: &Config) {
        self.format = [Format::Legacy, Format::Logfmt, Format::Json]
            .get(config.log_format)
            .copied()
            .unwrap_or(Format::Legacy);
        self.stamp = [Stamp::Legacy, Stamp::Iso8601, Stamp::Milliseconds]
            .get(config.log_timestamp_format)
            .copied()
            .unwrap_or(Stamp::Legacy);
    }

    /// Sends what follows to the system's log daemon too. One that is not there now is told of in the log, and tried again.
    pub fn set_syslog(&mut self, ident: &str, facility: &str) {
        let mut syslog = Syslog::new(ident, facility);
        let connected = syslog.connect().map(drop);
        self.syslog = Some(syslog);
        if let Err(e) = connected {
            let why = crate::listen::reason(&e);
            self.warning(format!("syslog-enabled: the system's log at /dev/log cannot be reached: {why}"));
        }
    }

    /// Lines say whether the server is a replica.
    pub fn set_replica(&mut self, replica: bool) {
        self.replica = replica;
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
        let text = &text[..end];
        let line = self.render(level, &now, text);
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
        if let Some(syslog) = &mut self.syslog {
            syslog.send(level, &now, text);
        }
    }

    fn render(&self, level: Level, now: &jiff::ZonedDateTime, text: &str) -> String {
        let (pid, stamp) = (self.pid, self.stamp.render(now));
        let (role, letter) = if self.replica { ("replica", 'S') } else { ("primary", 'M') };
        match self.format {
            Format::Legacy => format!("{pid}:{letter} {stamp} {} {text}\n", level.mark()),
            Format::Logfmt => {
                let text = text.replace(['\n', '\r'], " ").replace('"', "'");
                format!(
                    "pid={pid} role={role} timestamp=\"{stamp}\" level={} message=\"{text}\"\n",
                    level.name()
                )
            }
            Format::Json => format!(
                "{{\"pid\":{pid},\"role\":\"{role}\",\"timestamp\":\"{stamp}\",\"level\":\"{}\",\"message\":{}}}\n",
                level.name(),
                json(text)
            ),
        }
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

/// A text as JSON writes it.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
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

    #[test]
    fn the_formats_are_those_of_valkey() {
        let now: jiff::ZonedDateTime = "2026-11-30T13:00:05.042+02:00[+02:00]".parse().unwrap();
        let mut log = Log::stdout(Level::Debug);
        log.pid = 7;
        let text = "say \"hi\"\tthere\n\u{1}";
        let mut config = Config::default();
        let mut line = |format: &str, stamp: &str, replica| {
            config.set("log-format", &[format.as_bytes()]).unwrap();
            config.set("log-timestamp-format", &[stamp.as_bytes()]).unwrap();
            log.set_format(&config);
            log.set_replica(replica);
            log.render(Level::Verbose, &now, text)
        };
        assert_eq!(
            line("legacy", "legacy", true),
            "7:S 30 Nov 2026 13:00:05.042 - say \"hi\"\tthere\n\u{1}\n"
        );
        assert_eq!(
            line("logfmt", "iso8601", false),
            "pid=7 role=primary timestamp=\"2026-11-30T13:00:05.042+02:00\" level=info message=\"say 'hi'\tthere \u{1}\"\n"
        );
        assert_eq!(
            line("json", "milliseconds", true),
            "{\"pid\":7,\"role\":\"replica\",\"timestamp\":\"1796036405042\",\"level\":\"info\",\"message\":\"say \\\"hi\\\"\\tthere\\n\\u0001\"}\n"
        );
    }
}
