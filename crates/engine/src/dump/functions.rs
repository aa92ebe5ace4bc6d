//! Libraries of functions as bytes.

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::script::{self, Libraries};
use totality_rdb::{Reader, Slice, Writer, file, payload};

/// What FUNCTION DUMP answers.
pub fn dump_functions(libraries: &Libraries, version: u16, compress: bool) -> Vec<u8> {
    let mut w = Writer::new(compress);
    libraries.iter().for_each(|library| file::function(&mut w, &library.code));
    payload::seal(&mut w.out, version);
    w.out
}

/// How libraries meet those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// They take the place of all.
    Flush,
    /// None may be there.
    Append,
    /// They take the place of those with the same name.
    Replace,
}

/// FUNCTION RESTORE: all libraries of a payload, or none.
///
/// # Errors
/// In Redis's words, what is wrong with the payload or with a library.
pub fn restore_functions(cx: &mut Cx<'_>, bytes: &[u8], join: Join) -> Res {
    let strict = cx.sv.config.rdb_version_check == 0;
    let (body, _) = payload::open(bytes, strict, !cx.sv.skip_checksum)
        .ok_or(CmdError::new("ERR DUMP payload version or checksum are wrong"))?;
    let mut r = Reader::new(Slice::new(body));
    let mut loaded = Libraries::default();
    while r.offset() < body.len() as u64 {
        match r.byte() {
            Ok(file::OP_FUNCTION2) => {}
            Ok(file::OP_FUNCTION_EARLY) => {
                return Err(CmdError::new("ERR Pre-GA function format not supported"));
            }
            _ => return Err(CmdError::new("ERR given type is not a function")),
        }
        let code = r.blob().map_err(|_| CmdError::new("ERR Failed loading library payload"))?;
        let library = script::build_library(cx, &code)?;
        loaded.join(library, false)?;
    }
    match join {
        Join::Flush => cx.sv.scripts.libraries = loaded,
        _ => cx.sv.scripts.libraries.join_all(loaded, join == Join::Replace)?,
    }
    Ok(())
}
