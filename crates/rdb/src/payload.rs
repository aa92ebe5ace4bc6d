//! What DUMP answers and RESTORE takes: a type, a value, the version and a checksum.

use crate::error::{Error, Kind};
use crate::input::{Reader, Slice};
use crate::object::{Object, read_object};
use crate::{FOREIGN, is_known, types};
use totality_ds::crc::crc64;

/// Bytes of version and checksum.
pub const FOOTER: usize = 10;

/// Appends version and checksum to a type and a value.
pub fn seal(out: &mut Vec<u8>, version: u16) {
    out.extend_from_slice(&version.to_le_bytes());
    let crc = crc64(0, out);
    out.extend_from_slice(&crc.to_le_bytes());
}

/// Checks version and checksum; gives what stands before them, and the version. `strict`: versions that are not known
/// are refused. `check`: the checksum must fit.
pub fn open(payload: &[u8], strict: bool, check: bool) -> Option<(&[u8], u16)> {
    let body = payload.len().checked_sub(FOOTER)?;
    let version = u16::from_le_bytes([payload[body], payload[body + 1]]);
    if version == 0 || (strict && !is_known(version)) {
        return None;
    }
    let crc = u64::from_le_bytes(payload[body + 2..].try_into().ok()?);
    (!check || crc64(0, &payload[..body + 2]) == crc).then_some((&payload[..body], version))
}

/// Reads the value of an opened payload.
///
/// # Errors
/// [`Kind::Unsupported`] for a type whose meaning in a version of others is not known; anything else is bad data.
pub fn read(body: &[u8], version: u16) -> Result<Object, Error> {
    let mut r = Reader::new(Slice::new(body));
    let ty = r.byte()?;
    if !types::is_value(ty, version)
        && (FOREIGN.contains(&version) || !is_known(version))
        && ty >= types::HASH_2
    {
        return Err(Kind::Type(ty).at(1));
    }
    let object = read_object(&mut r, ty, version, &mut |_| true).map_err(|e| match e.kind {
        Kind::Type(_) => Kind::Corrupt("unknown type").at(e.offset),
        _ => e,
    })?;
    if object.is_empty() {
        return Err(r.corrupt("empty value"));
    }
    Ok(object)
}
