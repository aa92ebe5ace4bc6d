use crate::value::LuaError;
/// Why a compilation ended.
#[derive(Debug)]
pub(crate) enum Fail {
    Syntax(Vec<u8>),
    Halt(LuaError),
}
/// Called now and then.
pub(crate) type Step<'a> = &'a mut dyn FnMut(usize) -> Result<(), LuaError>;
