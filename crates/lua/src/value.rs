//! Values: 16 bytes, `Copy`, handles instead of pointers.

/// A string of the runtime. Bit 31 marks a *long* string (more than [`crate::strings::MAX_INTERNED`] bytes), which is
/// not interned: two equal long strings may have different ids. All others are equal exactly when their ids are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct StrId(pub(crate) u32);

impl StrId {
    pub(crate) const LONG: u32 = 1 << 31;
    /// The id of no string
    pub(crate) const NONE: StrId = StrId(u32::MAX);

    #[inline]
    pub(crate) fn is_long(self) -> bool {
        self.0 & Self::LONG != 0
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        (self.0 & !Self::LONG) as usize
    }
}

/// A table of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct TableId(pub(crate) u32);

impl TableId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn to_u64(self) -> u64 {
        u64::from(self.0)
    }
}

/// A function of the script. Valid only in the VM it came from, and only while the VM keeps it alive: during the run,
/// or for good once it is pinned (see [`crate::Library::pin`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct FuncRef(pub(crate) u32);

impl FuncRef {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function written in Rust without upvalues: its number in the VM's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct NativeId(pub(crate) u32);

/// A coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct ThreadId(pub(crate) u32);

/// A Lua value. Tag and payload take 8 bytes each, at the same offsets in all variants: so the compiler keeps them in
/// two registers.
#[derive(Clone, Copy, Debug, Default)]
#[repr(u64)]
pub(crate) enum Value {
    /// `nil`
    #[default]
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// A number
    Num(f64),
    /// A string
    Str(StrId),
    /// A table
    Table(TableId),
    /// A closure: Lua code or Rust code with upvalues
    Func(FuncRef),
    /// A Rust function without upvalues
    Native(NativeId),
    /// A coroutine
    Thread(ThreadId),
    /// Light userdata; only its identity counts (`cjson.null` is `Light(0)`)
    Light(u32),
    /// Key of a table entry whose key was collected. Never seen by scripts, equal to nothing.
    Dead,
}

impl Value {
    #[inline]
    pub(crate) fn is_nil(self) -> bool {
        matches!(self, Value::Nil)
    }

    /// False for `nil` and `false`.
    #[inline]
    pub(crate) fn truthy(self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    /// Lua's name of the type.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Value::Nil | Value::Dead => "nil",
            Value::Bool(_) => "boolean",
            Value::Num(_) => "number",
            Value::Str(_) => "string",
            Value::Table(_) => "table",
            Value::Func(_) | Value::Native(_) => "function",
            Value::Thread(_) => "thread",
            Value::Light(_) => "userdata",
        }
    }

    /// Equality without metamethods, for everything but long strings (which need their bytes: `Heap::raw_eq`).
    #[inline]
    pub(crate) fn same(self, other: Value) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Num(a), Value::Num(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Table(a), Value::Table(b)) => a == b,
            (Value::Func(a), Value::Func(b)) => a == b,
            (Value::Native(a), Value::Native(b)) => a == b,
            (Value::Thread(a), Value::Thread(b)) => a == b,
            (Value::Light(a), Value::Light(b)) => a == b,
            _ => false,
        }
    }
}

/// Copies a value from one place to another in its two halves: a load of 16 bytes that were just written in halves stalls
/// the processor for longer than the copy takes. The fences keep the compiler from joining the halves. A macro, because
/// the compiler may reorder what goes through reference parameters.
macro_rules! put {
    ($to:expr, $from:expr) => {
        match $from {
            $crate::value::Value::Num(n) => {
                $crate::value::halves();
                $to = $crate::value::Value::Num(n);
            }
            $crate::value::Value::Str(s) => {
                $crate::value::halves();
                $to = $crate::value::Value::Str(s);
            }
            $crate::value::Value::Table(t) => {
                $crate::value::halves();
                $to = $crate::value::Value::Table(t);
            }
            v => $to = v,
        }
    };
}
pub(crate) use put;

#[inline(always)]
pub(crate) fn halves() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

/// Why execution leaves the normal path. Only `Raised` is a Lua error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LuaError {
    /// An error value on its way to the next `pcall`. `handled` is set once the handler of `xpcall` (or the recording
    /// of the position at the bottom of the run) has seen it.
    Raised { value: Value, handled: bool },
    /// The run is stopped (host, interrupt). Runs no more code of the script.
    Stop,
    /// A limit is exceeded. Runs no more code of the script.
    Limit(Limit),
    /// A coroutine yields: unwinds to the `resume` that runs it.
    Yield,
    /// Error in error handling (the handler failed, or recursion went far past its bound): caught by the next pcall.
    ErrErr,
}

impl LuaError {
    #[inline]
    pub(crate) fn raise(value: Value) -> LuaError {
        LuaError::Raised { value, handled: false }
    }
}

/// A limit of the runtime (see [`crate::Limits`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of the heap: strings, tables, closures, stacks.
    Memory,
    /// Length of one string.
    StringLength,
    /// Nested calls of host functions.
    HostCalls,
    /// The budget of steps is used up.
    Steps,
}

impl Limit {
    /// A short text for messages.
    pub fn text(self) -> &'static str {
        match self {
            Limit::Memory => "memory limit exceeded",
            Limit::StringLength => "string length limit exceeded",
            Limit::HostCalls => "too many nested host calls",
            Limit::Steps => "step limit exceeded",
        }
    }
}

/// The integer in `n`, if it is one that fits 32 bits. The addition moves the integer part into the low bits of the
/// mantissa, which is cheaper than a saturating cast with its comparisons.
#[inline]
pub(crate) fn fast_int(n: f64) -> Option<i32> {
    let i = (n + 6_755_399_441_055_744.0).to_bits() as i32;
    if f64::from(i) == n { Some(i) } else { None }
}

/// C's conversion of a double to a 64-bit integer as x86-64 does it: out of range gives the smallest integer.
#[inline]
pub(crate) fn c_i64(n: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&n) { n as i64 } else { i64::MIN }
}
