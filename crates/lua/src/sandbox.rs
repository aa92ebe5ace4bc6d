//! What scripts find when they begin: the globals, in the order in which Redis makes them, and what the embedder adds.

use crate::heap::Heap;
use crate::native::{Ctx, ErrFunc, NativeKind, State};
use crate::value::{LuaError, TableId, ThreadId, Value};

/// A value that an embedder puts into a table of the sandbox.
#[derive(Debug, Clone)]
enum Item {
    Function(u32),
    Savepoint,
    Number(f64),
    Text(Vec<u8>),
}

/// Describes the globals of a VM.
///
/// The default is Redis's sandbox: its set of libraries, everything read-only, and an error for reading a global that
/// does not exist.
#[derive(Debug, Clone)]
pub struct SandboxBuilder {
    tables: Vec<(String, Vec<(String, Item)>)>,
    globals: Vec<(String, Item)>,
    aliases: Vec<(String, String)>,
    pub(crate) locked: bool,
    pub(crate) seed: u64,
    /// KEYS and ARGV are globals.
    pub(crate) inputs: bool,
    /// All that a library finds while it loads; the same as later when there is none.
    loading: Option<Box<SandboxBuilder>>,
}

impl Default for SandboxBuilder {
    fn default() -> Self {
        SandboxBuilder::new()
    }
}

impl SandboxBuilder {
    /// Redis's sandbox without the `redis` table, which the embedder adds.
    pub fn new() -> SandboxBuilder {
        SandboxBuilder {
            tables: Vec::new(),
            globals: Vec::new(),
            aliases: Vec::new(),
            locked: true,
            seed: 0,
            inputs: true,
            loading: None,
        }
    }

    /// The same libraries with globals that scripts may change, `pcall` as in plain Lua, and nil for globals that do
    /// not exist.
    pub fn unlocked() -> SandboxBuilder {
        SandboxBuilder { locked: false, ..SandboxBuilder::new() }
    }

    /// Seed of the hash that finds equal strings. Give a random one when scripts come from strangers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Without the globals `KEYS` and `ARGV`: for libraries, whose functions get them as arguments.
    #[must_use]
    pub fn without_inputs(mut self) -> Self {
        self.inputs = false;
        self
    }

    /// Adds a global table; what it holds is added after it.
    #[must_use]
    pub fn table(mut self, name: &str) -> Self {
        self.entries(name);
        self
    }

    /// Adds the host function `id` as `table.name`.
    #[must_use]
    pub fn function(mut self, table: &str, name: &str, id: u32) -> Self {
        self.entries(table).push((name.to_owned(), Item::Function(id)));
        self
    }

    /// Adds a protected call as `table.name` whose changes the host takes back when it fails; see
    /// [`crate::Host::begin_scope`].
    #[must_use]
    pub fn savepoint(mut self, table: &str, name: &str) -> Self {
        self.entries(table).push((name.to_owned(), Item::Savepoint));
        self
    }

    /// Adds a number as `table.name`.
    #[must_use]
    pub fn number(mut self, table: &str, name: &str, n: f64) -> Self {
        self.entries(table).push((name.to_owned(), Item::Number(n)));
        self
    }

    /// Adds a string as `table.name`.
    #[must_use]
    pub fn string(mut self, table: &str, name: &str, s: &[u8]) -> Self {
        self.entries(table).push((name.to_owned(), Item::Text(s.to_vec())));
        self
    }

    /// Adds the host function `id` as a global.
    #[must_use]
    pub fn global_function(mut self, name: &str, id: u32) -> Self {
        self.globals.push((name.to_owned(), Item::Function(id)));
        self
    }

    /// Makes the global table `table` known under a second name.
    #[must_use]
    pub fn alias(mut self, name: &str, table: &str) -> Self {
        self.aliases.push((name.to_owned(), table.to_owned()));
        self
    }

    /// While [`crate::Vm::load`] runs a library's code, the globals are the tables of `loading` and nothing else:
    /// what they do not hold is an error to read, in them as well.
    #[must_use]
    pub fn while_loading(mut self, loading: SandboxBuilder) -> Self {
        self.loading = Some(Box::new(loading));
        self
    }

    fn entries(&mut self, table: &str) -> &mut Vec<(String, Item)> {
        let i = match self.tables.iter().position(|(n, _)| n == table) {
            Some(i) => i,
            None => {
                self.tables.push((table.to_owned(), Vec::new()));
                self.tables.len() - 1
            }
        };
        &mut self.tables[i].1
    }

    /// Builds everything in an empty state and makes it permanent.
    pub(crate) fn build(&self, st: &mut State) {
        st.redis_pcall = self.locked;
        let g = st.globals;
        st.set_field(g, "_G", Value::Table(g));
        // Names that Redis refuses leave an empty entry behind, as there: it shapes the order of `pairs(_G)`.
        for name in BASE_ORDER {
            match crate::lib_base::FUNCS.iter().find(|(n, _)| *n == name) {
                Some(f) => st.set_funcs(g, &[*f]),
                None if self.locked => st.set_field(g, name, Value::Nil),
                None => {}
            }
        }
        st.set_text(g, "_VERSION", b"Lua 5.1");
        for name in ["ipairs", "pairs"] {
            if let Some(f) = crate::lib_base::FUNCS.iter().find(|(n, _)| *n == name) {
                st.set_funcs(g, &[*f]);
            }
        }
        if self.locked {
            st.set_field(g, "newproxy", Value::Nil);
        }
        st.new_lib("coroutine", crate::lib_coroutine::FUNCS);
        st.new_lib("table", crate::lib_table::FUNCS);
        crate::lib_string::open(st);
        let math = st.new_lib("math", crate::lib_math::FUNCS);
        crate::lib_math::constants(st, math);
        if self.locked {
            st.set_field(g, "debug", Value::Nil);
        }
        st.new_lib("os", &[("clock", crate::lib_math::clock)]);
        crate::lib_cjson::open(st);
        crate::lib_struct::open(st);
        crate::lib_cmsgpack::open(st);
        crate::lib_bit::open(st);
        self.add_tables(st, g);
        for (name, item) in &self.globals {
            add(st, g, name, item);
        }
        st.global_next = native_named(st, "next");
        st.next_fn = st.add_native(NativeKind::Rust(crate::lib_base::next));
        let id = st.add_native(NativeKind::Rust(crate::lib_base::ipairs_next));
        st.ipairs_fn = id;
        for e in crate::meta::EVENT_NAMES {
            let s = st.heap.intern(e.as_bytes());
            st.heap.strs.table_hash(s);
            st.event_names.push(s);
        }
        st.heap.index_name = st.event_names[crate::meta::Event::Index as usize];
        st.heap.index_hash = st.heap.strs.table_hash(st.heap.index_name);
        for common in
            ["", "err", "ok", "n", "KEYS", "ARGV", "nil", "boolean", "number", "string", "table", "function"]
        {
            st.heap.intern(common.as_bytes());
        }
        if self.locked {
            self.lock(st);
        }
    }

    /// Makes the embedder's tables and adds them to the globals `g`.
    fn add_tables(&self, st: &mut State, g: TableId) -> Vec<TableId> {
        let mut made = Vec::with_capacity(self.tables.len());
        for (name, items) in &self.tables {
            let t = st.heap.add_table(crate::table::Table::new());
            for (field, item) in items {
                add(st, t, field, item);
            }
            st.set_field(g, name, Value::Table(t));
            made.push(t);
        }
        for (name, target) in &self.aliases {
            let k = Value::Str(st.heap.intern(target.as_bytes()));
            let v = st.heap.raw_get(g, k);
            st.set_field(g, name, v);
        }
        made
    }

    fn lock(&self, st: &mut State) {
        let g = st.globals;
        if self.inputs {
            st.set_funcs(g, &[("__redis__err__handler", error_handler)]);
        }
        let meta = st.heap.add_table(crate::table::Table::new());
        st.set_funcs(meta, &[("__index", missing_global)]);
        st.heap.tables[g.index()].set_meta(Some(meta));
        if let Some(loading) = &self.loading {
            let g = st.heap.add_table(crate::table::Table::new());
            for t in loading.add_tables(st, g).into_iter().chain([g]) {
                st.heap.tables[t.index()].set_meta(Some(meta));
            }
            st.load_globals = Some(g);
        }
        for t in &mut st.heap.tables {
            t.readonly = true;
        }
    }
}

/// Lua's own order of the basic functions.
const BASE_ORDER: [&str; 24] = [
    "assert",
    "collectgarbage",
    "dofile",
    "error",
    "gcinfo",
    "getfenv",
    "getmetatable",
    "loadfile",
    "load",
    "loadstring",
    "next",
    "pcall",
    "print",
    "rawequal",
    "rawget",
    "rawset",
    "select",
    "setfenv",
    "setmetatable",
    "tonumber",
    "tostring",
    "type",
    "unpack",
    "xpcall",
];

fn add(st: &mut State, t: TableId, name: &str, item: &Item) {
    let v = match item {
        Item::Function(id) => Value::Native(st.add_native(NativeKind::Host(*id))),
        Item::Savepoint => Value::Native(st.add_native(NativeKind::Rust(crate::lib_base::savepoint))),
        Item::Number(n) => Value::Num(*n),
        Item::Text(s) => Value::Str(st.heap.intern(s)),
    };
    st.set_field(t, name, v);
}

fn native_named(st: &mut State, name: &str) -> crate::value::NativeId {
    let k = Value::Str(st.heap.intern(name.as_bytes()));
    let g = st.globals;
    match st.heap.raw_get(g, k) {
        Value::Native(id) => id,
        _ => crate::value::NativeId(u32::MAX),
    }
}

/// `__index` of the globals in Redis's sandbox.
fn missing_global(c: &mut Ctx<'_>) -> Result<usize, LuaError> {
    if c.nargs() != 2 {
        return Err(c.error("Wrong number of arguments to luaProtectedTableError"));
    }
    if !matches!(c.arg(2), Value::Str(_) | Value::Num(_)) {
        return Err(c.error("Second argument to luaProtectedTableError must be a string or number"));
    }
    let s = c.check_str(2)?;
    let mut msg = b"Script attempted to access nonexistent global variable '".to_vec();
    msg.extend_from_slice(crate::debuginfo::c_str(c.bytes(s)));
    msg.push(b'\'');
    Err(c.error_bytes(&msg))
}

/// Redis's own error handler, which scripts can see as a global.
fn error_handler(c: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let err = c.arg(1);
    let t = match err {
        Value::Table(t) => t,
        _ => {
            let s = c.tostring(err)?;
            let mut text = b"ERR ".to_vec();
            if let Value::Str(s) = s {
                text.extend_from_slice(c.bytes(s));
            }
            let t = c.new_table(0, 1)?;
            c.push(Value::Table(t));
            let k = Value::Str(c.st.heap.intern(b"err"));
            let v = c.new_str(&text)?;
            c.raw_set(t, k, v)?;
            t
        }
    };
    if let Some((source, line)) = crate::debuginfo::raise_position(c.st, c.env.protos, 1) {
        let k = Value::Str(c.st.heap.intern(b"source"));
        let v = c.new_str(source.as_bytes())?;
        c.raw_set(t, k, v)?;
        let k = Value::Str(c.st.heap.intern(b"line"));
        c.raw_set(t, k, Value::Num(line as f64))?;
    }
    c.push(Value::Table(t));
    Ok(1)
}

impl State {
    /// A state without globals.
    pub(crate) fn empty(heap: Heap, max_frames: usize, max_host_depth: u32) -> State {
        let mut heap = heap;
        let globals = heap.add_table(crate::table::Table::new());
        // Coroutine 0 is the main one; its parts are in the state while it runs.
        heap.threads.push(None);
        State {
            heap,
            stack: vec![Value::Nil; 1024],
            top: 0,
            frames: Vec::with_capacity(16),
            open: Vec::new(),
            current: ThreadId(0),
            c_calls: 0,
            base_c_calls: 0,
            err_func: ErrFunc::Root,
            globals,
            load_globals: None,
            natives: Vec::new(),
            max_frames,
            host_depth: 0,
            max_host_depth,
            instrument: crate::instrument::Instrument::default(),
            steps: 0,
            last_line: (0, 0),
            last_pc: 0,
            raised_at: None,
            rand: crate::lib_math::RAND_START,
            bufs: Vec::new(),
            search: None,
            reply: None,
            cjson: crate::lib_cjson::Settings::default(),
            event_names: Vec::new(),
            pins: Vec::new(),
            saved_handlers: Vec::new(),
            inputs: [None, None],
            base_protos: 0,
            base_bytes: 0,
            code_at: crate::vm::CODE_SOFT,
            goes_on: false,
            gc_work: 0,
            gc_params: [200, 200],
            redis_pcall: false,
            next_fn: crate::value::NativeId(u32::MAX),
            global_next: crate::value::NativeId(u32::MAX),
            ipairs_fn: crate::value::NativeId(u32::MAX),
            gmatch_fn: crate::value::NativeId(u32::MAX),
            overflowing: false,
            loaded: Vec::new(),
        }
    }

    fn set_text(&mut self, t: TableId, name: &str, s: &[u8]) {
        let v = Value::Str(self.heap.intern(s));
        self.set_field(t, name, v);
    }

    /// True for a function written in Lua.
    pub(crate) fn is_lua(&self, v: Value) -> bool {
        match v {
            Value::Func(f) => matches!(self.heap.closures[f.index()].code, crate::heap::Code::Lua(_)),
            _ => false,
        }
    }
}
