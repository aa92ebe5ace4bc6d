//! The loop in small while a long script runs or a data set is loaded: new connections are accepted, other clients'
//! commands are answered (BUSY or LOADING, but for the few that the engine lets through), what waits is written. The
//! script, or the loading, goes on in between.

use std::time::Instant;

use totality_engine::{After, Busy, ClientId, Outgoing};
use totality_resp::{Limits, Parsed};

use crate::clients::{admit, class, log_level, passes};
use crate::conn::{Fate, Read};
use crate::evict;
use crate::io::CHUNK;
use crate::meanwhile::Meanwhile;
use crate::tls;

/// Commands of one client per tick.
const COMMANDS: usize = 64;

impl Meanwhile<'_> {
    /// One small turn of the loop, once the script is past the threshold.
    pub(crate) fn serve_meanwhile(&mut self, busy: &mut Busy<'_>) {
        if !busy.is_slow() {
            return;
        }
        // A poll that fails now fails in the loop as well, which reports it.
        let _ = self.io.wait(Instant::now());
        self.accept(busy);
        let mut keep = Vec::new();
        let mut batch: Vec<usize> = self.io.batch.drain(..).collect();
        batch.append(&mut self.io.ready);
        for key in batch {
            if key == self.turn || !self.serve(key, busy) {
                keep.push(key);
            }
        }
        self.io.ready.extend(keep);
        // What others wrote before the script began is as safe as promised before its replies leave. Before a file is
        // loaded that was seen to.
        if let Some(persist) = &mut self.persist {
            persist.before_replies(busy.state());
            if persist.fatal().is_some() {
                self.deliver(busy);
                return;
            }
        }
        self.deliver(busy);
        let turn = self.turn;
        self.io.flush(Some(turn), |_| {});
        if busy.is_loading() {
            self.during_loading(busy);
        }
    }

    /// Loading may take minutes: connections come and go meanwhile, and the server may be told to end.
    fn during_loading(&mut self, busy: &mut Busy<'_>) {
        let mut kept = Vec::new();
        while let Some(key) = self.io.dead.pop() {
            if key == self.turn {
                kept.push(key);
            } else if let Some(mut conn) = self.io.remove(key) {
                let total = &mut busy.state().process.net;
                *total = (total.0 + conn.net.0, total.1 + conn.net.1);
                evict::forget(busy.state(), &mut conn);
                busy.disconnect(conn.client);
            }
        }
        self.io.dead.append(&mut kept);
        // The loop is to see it as well.
        if self.io.woken && self.ends.wanted().is_some() {
            self.io.log.warning("Received shutdown signal during loading, scheduling shutdown.");
            busy.stop_loading();
        }
    }

    fn accept(&mut self, busy: &mut Busy<'_>) {
        self.io.accept(|io, mut accepted| {
            if !admit(io, &mut accepted, busy.state().acl.default_user().nopass) {
                busy.state().stats.rejected_connections += 1;
                return;
            }
            let client = busy.connect(accepted.info);
            if io.add(accepted.stream, client).is_err() {
                busy.state().clients.remove(client);
            }
        });
    }

    /// Reads from a connection and answers what is complete. False when it must wait for the loop.
    fn serve(&mut self, key: usize, busy: &mut Busy<'_>) -> bool {
        let Some(conn) = self.io.conns.get_mut(key) else { return true };
        if conn.fate != Fate::Open || conn.blocked || conn.postponed || conn.primary {
            return false;
        }
        conn.queued = false;
        let mut input = std::mem::take(&mut conn.input);
        let mut parser = std::mem::take(&mut conn.parser);
        let (client, mut output) = (conn.client, std::mem::take(&mut conn.output));
        let mut ended = false;
        if conn.readable && input.len() < self.io.settings.query_limit {
            ended = matches!(self.io.read(key, &mut input, CHUNK), Read::Eof | Read::Broken);
            // What is said here belongs before the replies.
            if let Some(conn) = self.io.conns.get_mut(key) {
                conn.output = std::mem::take(&mut output);
            }
            tls::greet(self.io, busy.parts(), key);
            if let Some(conn) = self.io.conns.get_mut(key) {
                output = std::mem::take(&mut conn.output);
                if conn.fate != Fate::Open {
                    input.clear();
                }
            }
        }
        let mut used = 0;
        let mut after = After::Continue;
        let mut complete = true;
        for _ in 0..COMMANDS {
            let authenticated = busy.state().clients.get(client).is_some_and(|c| c.authenticated);
            let limits = Limits { max_bulk: self.io.settings.max_bulk, authenticated };
            match parser.parse(&input[used..], &limits) {
                Ok(Parsed::More(_)) => {
                    complete = false;
                    break;
                }
                Ok(Parsed::Empty(n)) => used += n,
                Ok(Parsed::Command(n)) => {
                    let argv: Vec<&[u8]> = parser.args(&input[used..]).collect();
                    after = busy.execute(client, &argv, &mut output, self);
                    if after == After::Postponed {
                        break;
                    }
                    used += n;
                    if after != After::Continue {
                        break;
                    }
                }
                Err(error) => {
                    error.write(&mut output);
                    after = After::Close;
                    break;
                }
            }
        }
        input.drain(..used);
        let Some(conn) = self.io.conns.get_mut(key) else { return true };
        conn.backlog = complete && !input.is_empty();
        (conn.input, conn.parser, conn.output) = (input, parser, output);
        match after {
            After::Close => conn.fate = conn.fate.max(Fate::AfterReplies),
            After::Blocked => conn.blocked = true,
            After::Postponed => (conn.postponed, conn.backlog) = (true, true),
            After::Continue => {}
        }
        if ended {
            conn.fate = conn.fate.max(if conn.pending() > 0 { Fate::AfterReplies } else { Fate::Now });
        }
        let class = busy.state().clients.get(client).map_or(crate::settings::Class::Normal, class);
        let pending = conn.pending();
        if passes(&self.io.settings, class, pending, &mut conn.over_soft_since_ms, self.io.now_ms) {
            conn.fate = Fate::Now;
        }
        let again =
            conn.fate == Fate::Open && (conn.backlog || conn.readable) && !conn.blocked && !conn.postponed;
        self.io.enqueue_write(key);
        if again {
            self.io.enqueue(key);
        }
        true
    }

    /// Carries out what can be carried out now; the rest stays for the loop.
    fn deliver(&mut self, busy: &mut Busy<'_>) {
        let mut later = Vec::new();
        while let Some(outgoing) = busy.next_outgoing() {
            match outgoing {
                Outgoing::Log { level, text } => {
                    self.io.log.write(log_level(level), &String::from_utf8_lossy(&text));
                }
                Outgoing::Reply { client, bytes } => match self.other(client) {
                    Some(key) => {
                        if let Some(conn) = self.io.conns.get_mut(key) {
                            conn.output.extend_from_slice(&bytes);
                        }
                        self.io.enqueue_write(key);
                    }
                    None => later.push(Outgoing::Reply { client, bytes }),
                },
                Outgoing::Kill { client, after_reply } => match self.other(client) {
                    Some(key) => {
                        if let Some(conn) = self.io.conns.get_mut(key) {
                            conn.fate =
                                conn.fate.max(if after_reply { Fate::AfterReplies } else { Fate::Now });
                        }
                        self.io.enqueue_write(key);
                    }
                    None => later.push(Outgoing::Kill { client, after_reply }),
                },
                other => later.push(other),
            }
        }
        busy.state().outgoing.extend(later);
    }

    /// The connection of a client that is not the one whose command runs.
    fn other(&self, client: ClientId) -> Option<usize> {
        self.io.key_of(client).filter(|key| *key != self.turn)
    }
}
