//! The configuration file and the command line: redis.conf's grammar.

use std::io::Read;
use std::path::{Path, PathBuf};

use totality_engine::Config;
use totality_resp::{quote, split_args};

/// Files that include each other are followed so deep.
const MAX_DEPTH: usize = 16;
/// Largest configuration file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Parameters of several words: a single argument for one of them is split at blanks.
const MULTI_WORD: [&str; 5] = ["save", "client-output-buffer-limit", "bind", "replicaof", "slaveof"];

/// Why a configuration cannot be used. `Display` gives the message in full, several lines of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// A line is wrong.
    Line {
        /// Its number, from 1. The command line's options count as lines after the file's.
        number: usize,
        /// The line.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// A file cannot be read.
    Open {
        /// Its path as it was given.
        path: String,
        /// What the system says.
        reason: String,
    },
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConfigError::Line { number, text, reason } => write!(
                f,
                "\n*** FATAL CONFIG FILE ERROR (Totality {}) ***\n\
                 Reading the configuration file, at line {number}\n>>> '{text}'\n{reason}",
                env!("CARGO_PKG_VERSION")
            ),
            ConfigError::Open { path, reason } => {
                write!(f, "Fatal error, can't open config file '{path}': {reason}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// What the command line of `serve` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The configuration file.
    pub file: Option<PathBuf>,
    /// More configuration comes from standard input.
    pub stdin: bool,
    /// The `--name value …` options as lines of a configuration file.
    pub options: String,
}

impl CommandLine {
    /// Reads `[FILE] [-] [--name value …]`, as redis-server does: an option takes everything up to the next word with
    /// `--`, but always at least one word, which may itself begin with `--`.
    pub fn parse(args: &[String]) -> CommandLine {
        let mut line = CommandLine::default();
        let mut rest = args;
        if let Some((first, tail)) = args.split_first()
            && !first.starts_with('-')
        {
            line.file = Some(PathBuf::from(first));
            rest = tail;
        }
        let mut complete = true;
        for (i, word) in rest.iter().enumerate() {
            let last = i + 1 == rest.len();
            if word == "-" && (i == 0 || last) {
                line.stdin = true;
            } else if let Some(name) = word.strip_prefix("--").filter(|_| complete) {
                if !line.options.is_empty() {
                    line.options.push('\n');
                }
                line.options.push_str(name);
                line.options.push(' ');
                // `--name` alone needs a value; `"--name value"` in one word has it.
                complete = split_args(name.as_bytes()).is_ok_and(|words| words.len() > 1);
                let next_is_option = rest.get(i + 1).is_none_or(|next| next.starts_with("--"));
                // A `--save` without value, as generated command lines have it, means no save points.
                if name.eq_ignore_ascii_case("save") && next_is_option {
                    line.options.push_str("\"\"");
                    complete = true;
                }
            } else {
                let mut quoted = Vec::new();
                quote(&mut quoted, word.as_bytes());
                line.options.push_str(&String::from_utf8_lossy(&quoted));
                line.options.push(' ');
                complete = true;
            }
        }
        line
    }

    /// Applies the file, then standard input, then the options to `config`. Later lines win.
    ///
    /// # Errors
    /// A file that cannot be read, or the first line that is wrong.
    pub fn load(&self, config: &mut Config) -> Result<(), ConfigError> {
        let mut text = Vec::new();
        if let Some(file) = &self.file {
            text = read_file(file)?;
        }
        if self.stdin {
            let more = std::io::stdin().lock().take(MAX_BYTES).read_to_end(&mut text);
            more.map_err(|e| open_error("-", &e))?;
        }
        text.push(b'\n');
        text.extend_from_slice(self.options.as_bytes());
        Loader { config, save: None }.lines(&text, 0)
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, ConfigError> {
    let mut text = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|f| f.take(MAX_BYTES).read_to_end(&mut text));
    read.map_err(|e| open_error(&path.display().to_string(), &e))?;
    Ok(text)
}

fn open_error(path: &str, e: &std::io::Error) -> ConfigError {
    ConfigError::Open { path: path.to_owned(), reason: crate::listen::reason(e) }
}

struct Loader<'a> {
    config: &'a mut Config,
    /// Words of the `save` lines so far: each adds to those before it, the first replaces the default.
    save: Option<Vec<Vec<u8>>>,
}

impl Loader<'_> {
    fn lines(&mut self, text: &[u8], depth: usize) -> Result<(), ConfigError> {
        for (i, line) in text.split(|c| *c == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let wrong = |reason: String| ConfigError::Line {
                number: i + 1,
                text: String::from_utf8_lossy(line).into_owned(),
                reason,
            };
            let words =
                split_args(line).map_err(|_| wrong("Unbalanced quotes in configuration line".to_owned()))?;
            let Some((name, args)) = words.split_first() else { continue };
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            match (name.as_str(), args) {
                ("include", [pattern]) => {
                    if depth >= MAX_DEPTH {
                        return Err(wrong("Too many nested includes".to_owned()));
                    }
                    self.include(&String::from_utf8_lossy(pattern), depth)?;
                }
                _ => self.directive(&name, args).map_err(wrong)?,
            }
        }
        Ok(())
    }

    /// A pattern may match nothing; a plain path must exist.
    fn include(&mut self, pattern: &str, depth: usize) -> Result<(), ConfigError> {
        if !pattern.contains(['*', '?', '[']) {
            let text = read_file(Path::new(pattern))?;
            return self.lines(&text, depth + 1);
        }
        let paths = glob::glob(pattern)
            .map_err(|e| ConfigError::Open { path: pattern.to_owned(), reason: e.to_string() })?;
        for path in paths.flatten() {
            let text = read_file(&path)?;
            self.lines(&text, depth + 1)?;
        }
        Ok(())
    }

    fn directive(&mut self, name: &str, args: &[Vec<u8>]) -> Result<(), String> {
        if name == "sentinel" {
            return Err("sentinel directive while not in sentinel mode".to_owned());
        }
        let split;
        let mut args = args;
        if MULTI_WORD.contains(&name)
            && let [one] = args
            && !one.is_empty()
        {
            split = split_args(one).map_err(|_| "Unbalanced quotes in configuration line".to_owned())?;
            args = &split;
        }
        if name == "save" {
            let save = self.save.get_or_insert_default();
            if args.iter().any(Vec::is_empty) {
                save.clear();
            } else {
                save.extend_from_slice(args);
            }
            let none = [&b""[..]];
            let words: Vec<&[u8]> = save.iter().map(Vec::as_slice).collect();
            return self.config.set(name, if words.is_empty() { &none } else { &words });
        }
        let words: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        self.config.set(name, &words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str]) -> CommandLine {
        CommandLine::parse(&args.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>())
    }

    fn load(args: &[&str]) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        options(args).load(&mut config).map(|()| config)
    }

    #[test]
    fn the_command_line_reads_as_redis_reads_it() {
        for (args, want) in [
            (&["--port", "7000"][..], "port \"7000\" "),
            (&["--port 7000", "--timeout", "5"], "port 7000 \ntimeout \"5\" "),
            (&["--save", "--port", "1"], "save \"\"\nport \"1\" "),
            (&["--save"], "save \"\""),
            (&["--save", "900", "1", "60", "2"], "save \"900\" \"1\" \"60\" \"2\" "),
            (&["--requirepass", "--secret"], "requirepass \"--secret\" "),
        ] {
            assert_eq!(options(args).options, want, "{args:?}");
        }
        assert_eq!(options(&["a.conf", "--port", "1"]).file, Some(PathBuf::from("a.conf")));
        assert!(options(&["a.conf", "--port", "1", "-"]).stdin);
        assert!(options(&["-", "--port", "1"]).stdin);
    }

    #[test]
    fn options_reach_the_configuration() {
        let config = load(&["--port", "7000", "--bind", "127.0.0.1 ::1", "--save", "900 1"]).unwrap();
        assert_eq!((config.port, config.bind.len()), (7000, 2));
        assert_eq!(config.get("save").as_deref(), Some("900 1"));
        assert_eq!(load(&["--save", ""]).unwrap().get("save").as_deref(), Some(""));
    }

    #[test]
    fn files_include_others_and_repeated_save_lines_add_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("one.inc"), "timeout 7\n").unwrap();
        std::fs::write(path("two.inc"), "maxclients 99\n").unwrap();
        let glob = path("*.inc").display().to_string();
        let nothing = path("*.none").display().to_string();
        let main = format!(
            "# a comment\n\n  save 900 1\nsave 300 10\r\nrequirepass \"a b\\x41\"\ninclude {glob}\ninclude {nothing}\n"
        );
        std::fs::write(path("main.conf"), main).unwrap();
        let file = path("main.conf").display().to_string();
        let config = load(&[&file, "--timeout", "8"]).unwrap();
        assert_eq!(config.get("save").as_deref(), Some("900 1 300 10"));
        assert_eq!((config.timeout, config.maxclients), (8, 99));
        assert_eq!(config.requirepass, "a bA");
    }

    #[test]
    fn errors_name_the_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("c").display().to_string();
        std::fs::write(&file, "port 7000\n\n no-such-thing 1\n").unwrap();
        let text = load(&[&file]).unwrap_err().to_string();
        assert!(text.starts_with("\n*** FATAL CONFIG FILE ERROR (Totality "), "{text}");
        let want = "\nReading the configuration file, at line 3\n>>> 'no-such-thing 1'\n\
                    Bad directive or wrong number of arguments";
        assert!(text.ends_with(want), "{text}");
        std::fs::write(&file, "sentinel monitor a 127.0.0.1 1 2\n").unwrap();
        let text = load(&[&file]).unwrap_err().to_string();
        assert!(text.ends_with("\nsentinel directive while not in sentinel mode"), "{text}");
        std::fs::write(&file, "requirepass \"a\n").unwrap();
        assert!(load(&[&file]).unwrap_err().to_string().ends_with("Unbalanced quotes in configuration line"));
        std::fs::write(&file, format!("include {file}\n")).unwrap();
        assert!(load(&[&file]).unwrap_err().to_string().ends_with("Too many nested includes"));
        let missing = format!("{file}.missing");
        let want = format!("Fatal error, can't open config file '{missing}': No such file or directory");
        assert_eq!(load(&[&missing]).unwrap_err().to_string(), want);
    }
}
