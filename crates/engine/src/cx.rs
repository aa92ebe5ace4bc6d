//! What a command handler gets.

use crate::blocked::Request;
use crate::client::{Client, ClientId};
use crate::commands::Command;
use crate::engine::Ticker;
use crate::error::{CmdError, Res, SYNTAX};
use crate::keyspace::Keyspace;
use crate::propagate::Targets;
use crate::reply::Reply;
use crate::state::ServerState;
use crate::value::Type;

/// Who makes the execute gate run a command, and so what it may skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A client, over the network or embedded.
    Client,
    /// A command of MULTI that EXEC runs.
    Exec,
    /// `redis.call` or `redis.pcall`.
    Script,
    /// Replay of an append-only file or of a primary's stream.
    Replay,
}

/// Context of one command.
pub struct Cx<'a> {
    /// The data set.
    pub ks: &'a mut Keyspace,
    /// Everything else that the engine holds.
    pub sv: &'a mut ServerState,
    /// The arguments, the command's name first.
    pub args: &'a [&'a [u8]],
    /// Where the answer goes.
    pub reply: Reply<'a>,
    /// The client on whose behalf it runs.
    pub client: ClientId,
    /// Who called.
    pub origin: Origin,
    /// The command itself.
    pub command: &'static Command,
    /// For commands that run long.
    pub ticker: &'a mut dyn Ticker,
}

impl<'a> Cx<'a> {
    /// Argument `i`; the gate has checked the arity, so a handler may index what its arity promises.
    #[inline]
    pub fn arg(&self, i: usize) -> &'a [u8] {
        self.args[i]
    }

    /// Number of arguments, the name included.
    #[inline]
    pub fn argc(&self) -> usize {
        self.args.len()
    }

    /// Argument `i` as an integer, or `ERR value is not an integer or out of range`.
    #[inline]
    pub fn int(&self, i: usize) -> Res<i64> {
        crate::util::int_arg(self.args[i])
    }

    /// Argument `i` as a double, or `ERR value is not a valid float`.
    pub fn float(&self, i: usize) -> Res<f64> {
        crate::util::float_arg(self.args[i])
    }

    /// True when argument `i` is the option `word`, whatever its case.
    #[inline]
    pub fn is(&self, i: usize, word: &str) -> bool {
        self.args.get(i).is_some_and(|arg| arg.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Argument `i`, or a syntax error when there is none.
    pub fn need(&self, i: usize) -> Res<&'a [u8]> {
        self.args.get(i).copied().ok_or(SYNTAX)
    }

    /// The client on whose behalf the command runs.
    pub fn me(&mut self) -> Res<&mut Client> {
        self.sv.clients.get_mut(self.client).ok_or(CmdError::new("ERR client is gone"))
    }

    /// True when the command may let its client wait. In MULTI and in scripts it must answer at once, as if the time
    /// were over.
    pub fn may_block(&self) -> bool {
        self.origin == Origin::Client && !self.ks.obeys
    }

    /// Lets the client wait until one of `keys` holds a value of type `kind`; then the command runs again from the
    /// start. `deadline` is in milliseconds since the Unix epoch, 0 for none. The handler writes no reply and returns.
    pub fn block(&mut self, keys: &[&[u8]], kind: Type, deadline: i64) {
        let keys = keys.iter().map(|key| Box::from(*key)).collect();
        self.sv.block_request =
            Some(Request { keys, kind, deadline, on_deletion: false, replace: Vec::new() });
    }

    /// Makes replicas and the append-only file see `argv` in place of the command as it was sent. May be called more
    /// than once: all are replayed, in order.
    pub fn propagate_as(&mut self, argv: &[&[u8]]) {
        self.ks.effects.rewritten = true;
        let db = self.ks.cur;
        self.ks.effects.command(db, argv);
    }

    /// Makes replicas and the append-only file see the numbers at the positions `at` in decimal digits, where the client
    /// wrote them in hexadecimal ones: not every server reads those. For commands that changed something.
    pub fn propagate_decimal(&mut self, at: impl Iterator<Item = usize>) {
        if !self.ks.effects.recording {
            return;
        }
        let read = |i: usize| crate::util::float_arg(self.args[i]).ok();
        let hex = at.filter(|i| self.args.get(*i).is_some_and(|arg| crate::util::is_hex(arg)));
        let decimal: Vec<_> =
            hex.filter_map(|i| Some((i, totality_ds::num::F64Text::new(read(i)?)))).collect();
        if decimal.is_empty() {
            return;
        }
        let mut argv = self.args.to_vec();
        for (i, text) in &decimal {
            argv[*i] = text;
        }
        self.propagate_as(&argv);
    }

    /// Sends the command to replicas as it is, and keeps it from the append-only file: it changes no data.
    pub fn propagate_to_replicas(&mut self) {
        self.ks.effects.rewritten = true;
        let to = Targets { log: false, ..self.ks.effects.targets };
        // Without replicas it costs nothing.
        if to.replicas && self.sv.repl.collects() {
            let (db, args) = (self.ks.cur, self.args);
            self.ks.effects.command_to(db, args, to);
        }
    }

    /// Keeps the command from replicas and the append-only file.
    pub fn propagate_nothing(&mut self) {
        self.ks.effects.rewritten = true;
    }
}
