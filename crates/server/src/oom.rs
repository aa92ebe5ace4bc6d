//! `oom-score-adj`: how willingly the kernel ends this process when memory runs out.

use std::fs;

use totality_engine::Config;

use crate::listen::reason;

/// The kernel's file.
const FILE: &str = "/proc/self/oom_score_adj";

/// The text of CONFIG SET when the score cannot be set.
const FAILED: &str = "Failed to set current oom_score_adj. Check server logs.";

/// What was done to the score.
#[derive(Debug, Default)]
pub struct OomScore {
    /// The score that the process had before it was first set.
    base: Option<i32>,
    /// The server is a replica.
    replica: bool,
}

impl OomScore {
    /// Sets the score to what `config` says, or puts back what was there. What went wrong is given to `log`.
    ///
    /// # Errors
    /// The text for CONFIG SET; the score is as it was.
    pub fn apply(&mut self, config: &Config, log: &mut dyn FnMut(String)) -> Result<(), String> {
        let mode = config.get("oom-score-adj").unwrap_or_default();
        let before = self.base;
        let done = match wanted(&mode, config, self.replica) {
            None => self.base.take().map_or(Ok(()), write),
            Some((relative, score)) => self.base().and_then(|base| {
                write((if relative { base.saturating_add(score) } else { score }).clamp(-1000, 1000))
            }),
        };
        done.map_err(|e| {
            self.base = before;
            log(format!("Unable to set oom_score_adj: {}", reason(&e)));
            FAILED.to_owned()
        })
    }

    /// The server's part changed, perhaps: a replica may have another score.
    pub fn follow(&mut self, replica: bool, config: &Config, log: &mut dyn FnMut(String)) {
        if std::mem::replace(&mut self.replica, replica) != replica {
            // What goes wrong is in the log.
            let _ = self.apply(config, log);
        }
    }

    fn base(&mut self) -> std::io::Result<i32> {
        if let Some(base) = self.base {
            return Ok(base);
        }
        let base = fs::read_to_string(FILE)?.trim().parse().unwrap_or(0);
        self.base = Some(base);
        Ok(base)
    }
}

fn write(score: i32) -> std::io::Result<()> {
    fs::write(FILE, format!("{score}\n"))
}

/// The score for the server's part, and whether it is added to that which the process had; `None`: it is left alone.
fn wanted(mode: &str, config: &Config, replica: bool) -> Option<(bool, i32)> {
    if mode == "no" {
        return None;
    }
    let values = config.get("oom-score-adj-values").unwrap_or_default();
    let score = values.split(' ').nth(usize::from(replica)).and_then(|n| n.parse().ok())?;
    Some((mode != "absolute", score))
}
