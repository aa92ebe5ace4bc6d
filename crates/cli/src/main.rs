//! The `totality` command. Each subcommand is a module; this file only chooses.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod check;
mod eval;
mod lua;
mod print;
mod remote;
mod serve;
mod trace;

/// A Redis-compatible data server whose speciality is the Lua script.
#[derive(Parser)]
#[command(name = "totality", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Arguments),
    Eval(eval::Arguments),
    Check(check::Arguments),
    Lua(lua::Arguments),
    Trace(trace::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Lua(arguments) => lua::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
    }
}
