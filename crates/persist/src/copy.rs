//! A copy of the data set in memory: a snapshot that goes to nobody's disk. It is made in the same small steps, so that
//! clients are served meanwhile.

use crate::load::read_snapshot;
use crate::persist::Persist;
use std::time::{Duration, Instant};
use totality_engine::dump::load::{LoadOptions, Purpose, begin_snapshot};
use totality_engine::engine::{Engine, NoTicker};
use totality_engine::keyspace::Keyspace;
use totality_rdb::Streamed;
use totality_rdb::file::FileReader;

/// Time that one step takes.
const STEP: Duration = Duration::from_micros(1500);

/// A copy in the making, and one that is complete.
#[derive(Default)]
pub(crate) struct Copying {
    bytes: Vec<u8>,
    on: bool,
    done: Option<Vec<u8>>,
}

impl Copying {
    /// A copy is in the making.
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Goes on with it for a while, or to its end.
    pub(crate) fn step(&mut self, ks: &mut Keyspace, to_the_end: bool) {
        if !self.on {
            return;
        }
        let began = Instant::now();
        loop {
            let ended = ks.snapshot_step(&mut || !to_the_end && began.elapsed() >= STEP);
            self.bytes.append(&mut ks.take_snapshot_bytes());
            if ended {
                ks.drop_snapshot();
                // No checksum.
                self.bytes.extend_from_slice(&[0; 8]);
                self.on = false;
                self.done = Some(std::mem::take(&mut self.bytes));
                return;
            }
            if !to_the_end && began.elapsed() >= STEP {
                return;
            }
        }
    }
}

impl Persist {
    /// Begins to copy the data set as it is now, in the format of a snapshot. [`Persist::turn`] goes on with it, and
    /// [`Persist::take_copy`] gives it. False while another snapshot or copy is in the making.
    pub fn begin_copy(&mut self, engine: &mut Engine) -> bool {
        if self.is_writing() || engine.ks.has_snapshot() || self.copying.on {
            return false;
        }
        begin_snapshot(&mut engine.ks, &engine.sv, Purpose::File);
        self.copying = Copying { bytes: Vec::new(), on: true, done: None };
        true
    }

    /// The copy, once it is complete.
    pub fn take_copy(&mut self) -> Option<Vec<u8>> {
        self.copying.done.take()
    }
}

/// Loads a copy into an engine that is empty.
///
/// # Errors
/// What is wrong with it.
pub fn load_copy(engine: &mut Engine, copy: &[u8]) -> Result<(), String> {
    let Engine { ks, sv } = engine;
    ks.begin_unit(sv.stamp);
    let mut file = FileReader::open(Streamed::new(copy, false), false, false).map_err(|e| e.to_string())?;
    let options = LoadOptions::default();
    read_snapshot(ks, sv, &mut file, options, &mut NoTicker).map_err(|why| why.text)?;
    ks.dirty = 0;
    Ok(())
}
