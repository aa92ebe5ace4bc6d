#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod call;
mod chunk;
mod code;
mod debuginfo;
mod exec;
mod gc;
mod heap;
pub mod host;
pub mod instrument;
mod lexer;
mod lib_base;
mod lib_bit;
mod lib_cjson;
mod lib_cjson_decode;
mod lib_cmsgpack;
mod lib_coroutine;
mod lib_format;
mod lib_math;
mod lib_string;
mod lib_struct;
mod lib_table;
mod meta;
mod native;
pub mod numfmt;
pub mod numparse;
mod op;
mod parser;
pub mod pattern;
mod protos;
pub mod reply;
mod sandbox;
mod strings;
mod table;
mod thread;
mod trace;
mod value;
mod view;
mod vm;

pub use chunk::{Chunk, CompileError, CompileLimits};
pub use host::{Args, Flow, Host, HostFn, Reply, TableRef, Tick, ValueRef};
pub use instrument::Instrument;
pub use native::Interrupt;
pub use sandbox::SandboxBuilder;
pub use value::{FuncRef, Limit};
pub use vm::{Inputs, Limits, RunError, RunOptions, Vm};
