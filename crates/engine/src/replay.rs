//! Commands of an append-only file, run again.

use crate::client::ClientId;
use crate::commands;
use crate::cx::{Cx, Origin};
use crate::engine::Ticker;
use crate::error::CmdError;
use crate::keyspace::Keyspace;
use crate::reply::{Proto, Reply};
use crate::spec::Group;
use crate::state::ServerState;

type Argv = Vec<Vec<u8>>;

/// Runs commands of a file. While one is there, no key is deleted for its deadline: the file says when one was.
pub struct Replayer {
    client: ClientId,
    db: usize,
    /// Commands since MULTI.
    unit: Option<Vec<Argv>>,
    out: Vec<u8>,
    /// Commands that answered with an error, and the first of these errors.
    pub errors: (u64, Option<String>),
}

impl Replayer {
    /// Begins a file. `client` is one that nobody else uses.
    pub fn begin(ks: &mut Keyspace, client: ClientId) -> Self {
        ks.replaying = true;
        ks.effects.recording = false;
        Replayer { client, db: 0, unit: None, out: Vec::new(), errors: (0, None) }
    }

    /// True inside of MULTI: what was read of it has not been run.
    pub fn in_unit(&self) -> bool {
        self.unit.is_some()
    }

    /// Forgets a unit whose end is missing.
    pub fn drop_unit(&mut self) {
        self.unit = None;
    }

    /// Runs the next command of the file, or keeps it until its unit is complete.
    ///
    /// # Errors
    /// When it is no command.
    pub fn run(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        argv: Argv,
        ticker: &mut dyn Ticker,
    ) -> Result<(), String> {
        let name = argv.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
        match (name.as_slice(), &mut self.unit) {
            (b"multi", unit) => *unit = Some(Vec::new()),
            (b"exec", unit) => {
                for argv in unit.take().unwrap_or_default() {
                    self.execute(ks, sv, &argv, ticker)?;
                }
            }
            (_, Some(unit)) => {
                let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
                commands::resolve(&words).map_err(refused)?;
                unit.push(argv);
            }
            (_, None) => self.execute(ks, sv, &argv, ticker)?,
        }
        Ok(())
    }

    fn execute(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        argv: &[Vec<u8>],
        ticker: &mut dyn Ticker,
    ) -> Result<(), String> {
        let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let command = commands::resolve(&words).map_err(refused)?;
        ks.begin_unit(sv.stamp);
        ks.cur = self.db;
        if command.spec.group == Group::Hash {
            // Fields are as deleted as the file says, like keys.
            ks.now = 0;
        }
        self.out.clear();
        let reply = Reply::resp(&mut self.out, Proto::Resp2);
        let client = self.client;
        let mut cx = Cx { ks, sv, args: &words, reply, client, origin: Origin::Replay, command, ticker };
        if let Err(error) = (command.spec.handler)(&mut cx) {
            cx.reply.error(error.text());
        }
        sv.block_request = None;
        if command.spec.name == "select"
            && let Some(client) = sv.clients.get(self.client)
        {
            self.db = client.db;
        }
        if self.out.first() == Some(&b'-') {
            let end = self.out.len().saturating_sub(2);
            let text = self.out[1..end].to_vec();
            self.note_error(&text);
            if sv.config.propagation_error_behavior == 1 {
                return Err(format!(
                    "This server panicked sending an error to its AOF-loading-client after processing the command '{}': {}",
                    command.full_name,
                    String::from_utf8_lossy(&text)
                ));
            }
        }
        ks.effects.forget();
        Ok(())
    }

    fn note_error(&mut self, text: &[u8]) {
        self.errors.0 += 1;
        self.errors.1.get_or_insert_with(|| String::from_utf8_lossy(text).into_owned());
    }

    /// Ends the file.
    pub fn end(self, ks: &mut Keyspace, sv: &ServerState) -> (u64, Option<String>) {
        ks.replaying = false;
        crate::execute::update_recording(ks, sv);
        ks.begin_unit(sv.stamp);
        self.errors
    }
}

/// What stands in the file is no command.
fn refused(why: CmdError) -> String {
    let text = String::from_utf8_lossy(why.text()).into_owned();
    let text = text.strip_prefix("ERR ").unwrap_or(&text).trim_end();
    format!("Error reading the append only file, error: {text}")
}
