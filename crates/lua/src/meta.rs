use crate::host::Host;
use crate::native::{Env, State};
use crate::value::{LuaError, Value};
pub(crate) fn index(
    _st: &mut State,
    _env: &Env<'_>,
    _host: &mut dyn Host,
    _t: Value,
    _k: Value,
) -> Result<Value, LuaError> {
    Err(LuaError::Stop)
}
pub(crate) fn less_than(
    _st: &mut State,
    _env: &Env<'_>,
    _host: &mut dyn Host,
    _a: Value,
    _b: Value,
) -> Result<bool, LuaError> {
    Err(LuaError::Stop)
}
