//! Compiled scripts: immutable, shareable between threads and VMs.

use std::sync::Arc;

use crate::op::Instr;

/// A constant of a function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Const {
    Nil,
    Bool(bool),
    Num(f64),
    Str(Box<[u8]>),
}

/// A local variable's life in its function's code.
#[derive(Debug, Clone)]
pub(crate) struct LocVar {
    pub(crate) name: Box<str>,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Where a closure finds an upvalue when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UpDesc {
    /// A register of the enclosing function, or else one of its upvalues
    pub(crate) in_stack: bool,
    pub(crate) index: u8,
}

/// One function.
#[derive(Debug, Default)]
pub(crate) struct Proto {
    pub(crate) code: Vec<Instr>,
    pub(crate) lines: Vec<u32>,
    pub(crate) consts: Vec<Const>,
    pub(crate) protos: Vec<Proto>,
    pub(crate) upvals: Vec<UpDesc>,
    pub(crate) upval_names: Vec<Box<str>>,
    pub(crate) locals: Vec<LocVar>,
    pub(crate) num_params: u8,
    pub(crate) is_vararg: bool,
    /// The old `arg` table is to be made: the function is vararg and does not use `...`
    pub(crate) needs_arg: bool,
    pub(crate) max_stack: u8,
    pub(crate) line: u32,
    pub(crate) last_line: u32,
    /// Number of host call sites with a constant name
    pub(crate) sites: u32,
}

impl Proto {
    fn size(&self) -> usize {
        size_of::<Proto>()
            + self.code.len() * (size_of::<Instr>() + 4)
            + self.consts.iter().map(|c| 24 + if let Const::Str(s) = c { s.len() } else { 0 }).sum::<usize>()
            + self.locals.iter().map(|l| 24 + l.name.len()).sum::<usize>()
            + self.upval_names.iter().map(|n| 18 + n.len()).sum::<usize>()
            + self.protos.iter().map(Proto::size).sum::<usize>()
    }

    fn lines_into(&self, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.lines);
        for p in &self.protos {
            p.lines_into(out);
        }
    }
}

/// A compiled script.
#[derive(Debug)]
pub struct Chunk {
    pub(crate) main: Proto,
    /// As given, with Lua's leading `@` or `=`
    pub(crate) source: Box<str>,
    /// As messages show it
    pub(crate) short: Box<str>,
    /// The same as bytes, which need not be UTF-8: for messages
    pub(crate) short_bytes: Box<[u8]>,
    size: usize,
}

/// A script that does not compile. The text is Lua's own (`user_script:1: '=' expected near 'x'`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    pub(crate) message: Vec<u8>,
}

impl CompileError {
    /// The message, as bytes because it may quote the script.
    pub fn message(&self) -> &[u8] {
        &self.message
    }
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.message))
    }
}

impl std::error::Error for CompileError {}

/// Bounds for compiling.
#[derive(Debug, Clone, Copy)]
pub struct CompileLimits {
    /// Most bytes of source
    pub max_source: usize,
    /// Most bytes of compiled code, roughly
    pub max_code: usize,
}

impl Default for CompileLimits {
    fn default() -> Self {
        CompileLimits { max_source: 512 << 20, max_code: 1 << 30 }
    }
}

impl Chunk {
    /// Compiles `source`. `name` follows Lua's rules: `@user_script` is shown as `user_script`, `=x` as `x`, anything
    /// else as `[string "…"]`.
    ///
    /// # Errors
    /// The text of the first syntax error.
    pub fn compile(source: &[u8], name: &str, limits: CompileLimits) -> Result<Arc<Chunk>, CompileError> {
        Chunk::compile_named(Some(source), name.as_bytes(), limits, 0, &mut crate::lexer::Whole).map_err(
            |e| match e {
                crate::lexer::Fail::Syntax(message) => CompileError { message },
                crate::lexer::Fail::Halt(_) => CompileError { message: b"not enough memory".to_vec() },
            },
        )
    }

    /// As [`Chunk::compile`], beginning at `depth` C levels and asking `feed` as it goes; without `source` also for it.
    pub(crate) fn compile_named(
        source: Option<&[u8]>,
        name: &[u8],
        limits: CompileLimits,
        depth: u32,
        feed: &mut dyn crate::lexer::Feed,
    ) -> Result<Arc<Chunk>, crate::lexer::Fail> {
        let short = short_source(name, ID_SIZE);
        // Messages of the parser have room for more of the name than those of running code.
        let long = short_source(name, PARSER_ID_SIZE);
        if source.is_some_and(|s| s.len() > limits.max_source) {
            return Err(crate::lexer::Fail::Syntax([long.as_slice(), b": chunk too large"].concat()));
        }
        let main = crate::parser::parse(source, &long, limits, depth, feed)?;
        let size = size_of::<Chunk>() + main.size();
        let source = String::from_utf8_lossy(name).into();
        Ok(Arc::new(Chunk {
            main,
            source,
            short: String::from_utf8_lossy(&short).into(),
            short_bytes: short.into(),
            size,
        }))
    }

    /// Bytes that the compiled script takes, for accounting.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes that it takes once it is loaded: the chunk itself, and what a VM makes of it.
    pub(crate) fn cost(&self) -> usize {
        self.size * 2
    }

    /// The chunk's name as messages show it.
    pub fn name(&self) -> &str {
        &self.short
    }

    /// The lines that hold code, ascending: what a coverage report counts.
    pub fn code_lines(&self) -> Vec<u32> {
        let mut lines = Vec::new();
        self.main.lines_into(&mut lines);
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

const ID_SIZE: usize = 60;
const PARSER_ID_SIZE: usize = 80;

/// Lua's short form of a chunk name.
fn short_source(name: &[u8], size: usize) -> Vec<u8> {
    let name = name.split(|b| *b == 0).next().unwrap_or_default();
    match name.first() {
        Some(b'=') => name[1..name.len().min(size)].to_vec(),
        Some(b'@') => {
            let rest = &name[1..];
            let room = size - 8;
            if rest.len() > room { [b"...", &rest[rest.len() - room..]].concat() } else { rest.to_vec() }
        }
        _ => {
            let line = name.split(|b| *b == b'\n' || *b == b'\r').next().unwrap_or_default();
            let cut = line.len().min(size - 17);
            let end: &[u8] = if cut < name.len() { b"...\"]" } else { b"\"]" };
            [b"[string \"", &line[..cut], end].concat()
        }
    }
}
