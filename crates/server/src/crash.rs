//! `crash-log-enabled`: when a check of the server's own fails, the log gets a report before the thread ends.

use std::backtrace::Backtrace;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use totality_engine::Config;

/// What the hook goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    enabled: bool,
    /// `debug-context`
    context: String,
    /// Where the log is; `None`: standard output.
    file: Option<PathBuf>,
}

/// The hook's settings; they follow CONFIG SET.
#[derive(Debug, Clone)]
pub struct Reports(Arc<Mutex<State>>);

impl Reports {
    /// Has failed checks of this process reported. Once per process: the hook stays.
    pub fn install(config: &Config) -> Reports {
        let reports = Reports(Arc::new(Mutex::new(State::of(config))));
        let theirs = reports.clone();
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            theirs.write(info);
            before(info);
        }));
        reports
    }

    /// Takes over changed parameters.
    pub fn follow(&self, config: &Config) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::of(config);
    }

    fn write(&self, info: &PanicHookInfo<'_>) {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !state.enabled {
            return;
        }
        let text = report(&state.context, &info.to_string(), &Backtrace::force_capture().to_string());
        // A log that cannot be written must not hide the fault itself, which goes to standard error anyway.
        let _ = match &state.file {
            None => io::stdout().lock().write_all(text.as_bytes()),
            Some(path) => {
                let file = OpenOptions::new().append(true).create(true).open(path);
                file.and_then(|mut file| file.write_all(text.as_bytes()))
            }
        };
    }
}

impl State {
    fn of(config: &Config) -> State {
        State {
            enabled: config.crash_log_enabled,
            context: config.get("debug-context").unwrap_or_default(),
            // `dir` may change the working directory later.
            file: match config.logfile.as_str() {
                "" => None,
                path => Some(std::path::absolute(path).unwrap_or_else(|_| path.into())),
            },
        }
    }
}

fn report(context: &str, what: &str, trace: &str) -> String {
    let context = if context.is_empty() { String::new() } else { format!("Debug context: {context}\n") };
    let thread = std::thread::current();
    format!(
        "\n\n=== TOTALITY BUG REPORT START: Cut & paste starting from here ===\n\
         Totality {} ended by a failed check in thread '{}', process {}\n{what}\n{context}\n\
         ------ STACK TRACE ------\n{trace}\n\
         === TOTALITY BUG REPORT END. Make sure to include from START to END. ===\n\n",
        env!("CARGO_PKG_VERSION"),
        thread.name().unwrap_or("?"),
        std::process::id()
    )
}
