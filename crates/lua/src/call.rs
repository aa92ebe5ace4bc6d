use crate::host::Host;
use crate::native::{Env, State};
use crate::value::LuaError;
pub(crate) fn call_value(
    _st: &mut State,
    _env: &Env<'_>,
    _host: &mut dyn Host,
    _func: usize,
    _nargs: usize,
    _nres: i32,
) -> Result<(), LuaError> {
    Err(LuaError::Stop)
}
