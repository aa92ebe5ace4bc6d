use crate::native::Ctx;
use crate::value::{LuaError, Value};
pub(crate) fn tostring(_c: &mut Ctx<'_>, _v: Value) -> Result<Value, LuaError> {
    Err(LuaError::Stop)
}
