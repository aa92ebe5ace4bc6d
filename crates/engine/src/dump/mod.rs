//! Values and data sets as bytes: what DUMP, snapshots and the append-only file's base have in common.
//!
//! The format itself is in `totality-rdb`; here is what engine's values look like in it ([`encode`]) and what values
//! become of what was read ([`decode`]).

pub mod commands;
mod decode;
mod encode;
mod functions;
pub mod load;
mod piece;

pub use decode::into_value;
use decode::into_value_pausing;
pub use encode::{portable_version, value_version, write_key_head, write_piece, write_value};
pub use functions::{Join, dump_functions, restore_functions};
pub use piece::{Place, is_large, piece_of};

use crate::keyspace::Keyspace;
use crate::value::Value;
use totality_rdb::{Writer, payload};

/// What DUMP answers for a value. `version` is the one that values are written in where it can hold them.
pub fn dump(value: &Value, version: u16, compress: bool) -> Vec<u8> {
    let version = value_version(value, version);
    let mut w = Writer::new(compress);
    w.byte(encode::value_type(value, version));
    write_value(&mut w, value, version);
    payload::seal(&mut w.out, version);
    w.out
}

/// Why RESTORE refuses a payload.
#[derive(Debug)]
pub enum Refused {
    /// Version or checksum.
    Sealed,
    /// A type of a foreign version.
    Foreign(u8),
    /// Anything in it.
    Bad(String),
}

/// The value of a payload that DUMP gave. `strict`: versions that are not known are refused. `check`: the checksum must
/// fit.
///
/// # Errors
/// What is wrong with it.
pub fn restore(payload: &[u8], strict: bool, check: bool, ks: &Keyspace) -> Result<Value, Refused> {
    let (body, version) = payload::open(payload, strict, check).ok_or(Refused::Sealed)?;
    let object = payload::read(body, version).map_err(|e| match e.kind {
        totality_rdb::Kind::Type(ty) => Refused::Foreign(ty),
        _ => Refused::Bad(e.to_string()),
    })?;
    into_value(object, ks).map_err(|why| Refused::Bad(why.to_owned()))
}
