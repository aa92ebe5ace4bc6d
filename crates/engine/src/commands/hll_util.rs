//! What the HyperLogLog commands share: telling a HyperLogLog from other strings, and changing it in its key.

use crate::error::{CmdError, Res};
use crate::keyspace::{Keyspace, WriteGuard};
use crate::value::{StrRef, Value};
use totality_ds::hll::{self, Corrupted};

const NOT_HLL: CmdError = CmdError::new("WRONGTYPE Key is not a valid HyperLogLog string value.");
/// The registers make no sense.
pub const CORRUPTED: CmdError = CmdError::new("INVALIDOBJ Corrupted HLL object detected");

/// For `?`: the error of damaged registers.
pub fn corrupted(_: Corrupted) -> CmdError {
    CORRUPTED
}

/// The HyperLogLog at `key`.
pub fn read<'k>(ks: &'k mut Keyspace, key: &[u8]) -> Res<Option<StrRef<'k>>> {
    let value = ks.read_str(key)?;
    match &value {
        Some(bytes) if !hll::is_valid(bytes) => Err(NOT_HLL),
        _ => Ok(value),
    }
}

/// True when the guard's key holds a HyperLogLog, false when it is absent.
pub fn check(guard: &WriteGuard<'_>) -> Res<bool> {
    match guard.value() {
        None => Ok(false),
        Some(value) if hll::is_valid(&value.as_str()?) => Ok(true),
        Some(_) => Err(NOT_HLL),
    }
}

/// Changes the HyperLogLog at the guard's key, an empty one where there is none.
pub fn edit<R>(guard: &mut WriteGuard<'_>, f: impl FnOnce(&mut Vec<u8>) -> R) -> Res<R> {
    if !guard.exists() {
        guard.set(Value::raw(hll::new()));
    }
    guard.edit(|bytes| bytes.whole(f))
}
