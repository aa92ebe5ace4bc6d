//! Full syncs over two connections, as Valkey makes them, on the replica's side. The link becomes the one that brings the
//! snapshot; beside it stands the main connection, which first waits for the place in the stream where the snapshot
//! begins, then asks for the stream from there on, and keeps what comes until the snapshot is loaded.

use std::collections::VecDeque;
use std::io;

use totality_engine::state::LogLevel;
use totality_resp::write::command as write_command;

use super::READS;
use super::handshake::{Introduction, VERSION};
use super::link::{CHUNK, Link, Phase};
use crate::listen::reason;
use crate::server::{Server, stop_if_told};
use crate::settings::Class;

/// What comes before all texts about it in the log.
pub(super) fn text(rest: &str) -> String {
    format!("Dual channel replication: {rest}")
}

/// Bytes of the stream that wait until the snapshot is loaded, and then to be executed.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    blocks: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Kept {
    /// Puts bytes behind the others; `bytes` is empty afterwards.
    fn push(&mut self, bytes: &mut Vec<u8>) {
        self.bytes += bytes.len();
        match self.blocks.back_mut() {
            Some(last) if last.len() + bytes.len() <= CHUNK => {
                last.extend_from_slice(bytes);
                bytes.clear();
            }
            _ if bytes.is_empty() => {}
            _ => self.blocks.push_back(std::mem::take(bytes)),
        }
    }

    /// The first of the bytes.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let block = self.blocks.pop_front()?;
        self.bytes -= block.len();
        Some(block)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// True when there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// Where the stream goes on behind the snapshot, and how the primary calls the connection that brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begin {
    pub(super) id: String,
    pub(super) offset: i64,
    /// The database that is selected there; `None` when the stream selects one first.
    pub(super) db: Option<usize>,
    client: u64,
}

/// What comes of a line on the snapshot's connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Send this (it may be nothing).
    Send(&'static [u8]),
    /// The snapshot follows.
    Begins(Begin),
    /// It does not go on; why.
    Failed(String),
}

/// An answer that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    Auth,
    Replconf,
    Ip,
    Offset,
}

/// What is said on the snapshot's connection before the snapshot.
#[derive(Debug)]
pub(super) struct Handshake {
    wants: VecDeque<Wants>,
}

impl Handshake {
    /// Begins: the first thing to send is the second value.
    pub(super) fn begin(me: &Introduction) -> (Handshake, Vec<u8>) {
        let (mut out, mut wants) = (Vec::new(), VecDeque::new());
        if let Some((user, password)) = &me.auth {
            let words: &[&str] =
                if user.is_empty() { &["AUTH", password] } else { &["AUTH", user, password] };
            write_command(&mut out, words);
            wants.push_back(Wants::Auth);
        }
        let port = me.port.to_string();
        let words = ["REPLCONF", "capa", "eof", "rdb-only", "1", "rdb-channel", "1", "listening-port", &port];
        write_command(&mut out, &[&words[..], &["version", VERSION]].concat());
        wants.push_back(Wants::Replconf);
        if !me.ip.is_empty() {
            write_command(&mut out, &["REPLCONF", "ip-address", &me.ip]);
            wants.push_back(Wants::Ip);
        }
        wants.push_back(Wants::Offset);
        (Handshake { wants }, out)
    }

    /// A line of the primary, without its end.
    pub(super) fn line(&mut self, line: &[u8]) -> Step {
        let shown = String::from_utf8_lossy(line);
        let refused = shown.starts_with('-');
        match self.wants.front() {
            Some(Wants::Auth) if refused => Step::Failed(format!("Unable to AUTH to Primary: {shown}")),
            Some(Wants::Replconf) if refused => Step::Failed(format!(
                "Server does not support sync with offset, dual channel sync approach cannot be used: {shown}"
            )),
            Some(Wants::Ip) if refused => {
                Step::Failed(format!("Primary rejected REPLCONF ip-address: {shown}"))
            }
            // Sent to keep the connection alive until the snapshot begins.
            Some(Wants::Offset) if line.is_empty() => Step::Send(b""),
            Some(Wants::Offset) | None => match end_offset(&shown) {
                Some(begin) => Step::Begins(begin),
                None => Step::Failed(format!("Received unexpected $ENDOFF response: {shown}")),
            },
            Some(_) => {
                self.wants.pop_front();
                // Asked for when nothing waits to be answered any more.
                Step::Send(if self.wants.front() == Some(&Wants::Offset) { b"SYNC\r\n" } else { b"" })
            }
        }
    }
}

/// Reads `$ENDOFF:<offset> <id> <db> <client>`.
fn end_offset(line: &str) -> Option<Begin> {
    let mut words = line.strip_prefix("$ENDOFF:")?.split(' ');
    let offset = words.next()?.parse().ok().filter(|offset| *offset >= 0)?;
    let id = words.next().filter(|id| id.len() == 40)?.to_owned();
    let db: i64 = words.next()?.parse().ok()?;
    let client = words.next()?.parse().ok()?;
    Some(Begin { id, offset, db: usize::try_from(db).ok(), client })
}

/// How far the main connection is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// It waits to hear where the snapshot begins.
    Parked,
    /// It has named the other connection; the stream is to be asked for from here on.
    Named(Begin),
    /// It has asked for the stream.
    Asked,
    /// The stream comes.
    Streams,
}

/// The main connection, while the snapshot is on its way.
pub(super) struct Main {
    pub(super) link: Link,
    pub(super) kept: Kept,
    /// The database that the stream begins in, if it is known.
    db: Option<usize>,
    stage: Stage,
    /// So much is kept that no more is read.
    full: bool,
    /// The snapshot was loaded before the stream came.
    late: bool,
}

impl Main {
    /// The link that was told to bring the snapshot on another connection.
    pub(super) fn new(mut link: Link) -> Main {
        link.phase = Phase::Connecting;
        Main { link, kept: Kept::default(), db: None, stage: Stage::Parked, full: false, late: false }
    }

    /// Seconds since when something should have come and did not.
    fn silent(&self) -> u64 {
        let waits = self.stage == Stage::Streams && !self.full;
        if waits { self.link.active.elapsed().as_secs() } else { 0 }
    }

    /// Names the other connection.
    fn begin(&mut self, begin: Begin) {
        let mut out = Vec::new();
        write_command(&mut out, &["REPLCONF", "set-rdb-client-id", &begin.client.to_string()]);
        self.link.send(&out);
        self.db = begin.db;
        self.stage = Stage::Named(begin);
    }
}

impl Server {
    /// The primary brings the snapshot on another connection: opens it.
    pub(super) fn open_channel(&mut self, main: Link) {
        self.io.log.notice(text("PSYNC is not possible, initialize RDB channel."));
        match self.connect_to_primary() {
            Ok(link) => {
                self.engine.sv.repl.kept = (0, 0);
                self.follower.main = Some(Main::new(main));
                self.follower.link = Some(link);
                self.io.link.ready = true;
            }
            Err(e) => self.link_failed(main, &text(&format!("Unable to connect to Primary: {}", reason(&e)))),
        }
    }

    /// The snapshot begins: the main connection may ask for the stream.
    pub(super) fn snapshot_begins(&mut self, begin: Begin) {
        if let Some(main) = &mut self.follower.main {
            main.begin(begin);
        }
        // It may have something to say at once.
        self.io.link.ready = true;
    }

    /// True when the stream goes on once the snapshot is loaded.
    pub(super) fn stream_comes(&mut self) -> bool {
        let Some(main) = &mut self.follower.main else { return true };
        main.late |= main.stage != Stage::Streams;
        main.stage == Stage::Streams
    }

    /// Does what the main connection has to do.
    pub(super) fn tend_main(&mut self) -> Result<(), String> {
        let Some(mut main) = self.follower.main.take() else { return Ok(()) };
        let done = self.advance_main(&mut main);
        self.engine.sv.stats.from_primary += std::mem::take(&mut main.link.received);
        self.note_kept(main.kept.len());
        self.follower.main = Some(main);
        done
    }

    /// Tells how much is kept.
    pub(crate) fn note_kept(&mut self, bytes: usize) {
        let kept = &mut self.engine.sv.repl.kept;
        kept.0 = bytes as u64;
        kept.1 = kept.1.max(kept.0);
    }

    fn advance_main(&mut self, main: &mut Main) -> Result<(), String> {
        let broken = |e: io::Error| text(&format!("I/O error on the link to PRIMARY: {}", reason(&e)));
        let limit = self.keep_limit();
        let mut more = true;
        for _ in 0..READS {
            let full = main.stage == Stage::Streams && limit > 0 && main.kept.len() as u64 > limit;
            if full && !main.full {
                self.io.log.notice(text(&format!(
                    "Replication buffer limit reached ({limit} bytes), stopping buffering. Further accumulation will occur on primary side."
                )));
            }
            main.full = full;
            if full || !more {
                more = false;
                break;
            }
            more = main.link.fill().map_err(broken)?;
            self.use_main(main)?;
        }
        main.link.flush().map_err(broken)?;
        // More came than one turn takes.
        self.io.link.ready |= more;
        if main.link.ended {
            return Err(text("Provisional primary closed connection"));
        }
        Ok(())
    }

    /// Bytes of the stream that are kept at most; 0: as many as come.
    fn keep_limit(&self) -> u64 {
        match self.engine.sv.config.replica_full_sync_buffer_limit {
            0 => self.io.settings.output[Class::Replica as usize].hard,
            limit => limit,
        }
    }

    /// Uses what came on the main connection.
    fn use_main(&mut self, main: &mut Main) -> Result<(), String> {
        while main.stage != Stage::Streams {
            let Some(line) = main.link.line()? else { return Ok(()) };
            if line.is_empty() {
                continue;
            }
            let shown = String::from_utf8_lossy(&line).into_owned();
            match std::mem::replace(&mut main.stage, Stage::Asked) {
                Stage::Named(begin) if line[0] == b'+' => self.ask_for_stream(main, &begin),
                Stage::Asked if shown.starts_with("+CONTINUE") => {
                    main.stage = Stage::Streams;
                    let rest = if main.late { "." } else { ", RDB load in background." };
                    self.io.log.notice(text(&format!(
                        "PRIMARY <-> REPLICA sync: Primary accepted a Partial Resynchronization{rest}"
                    )));
                    if main.late {
                        let told = text("Psync established after rdb load");
                        self.engine.sv.log(LogLevel::Debug, told);
                    }
                    self.io.link.ready = true;
                }
                stage => {
                    let what = match stage {
                        Stage::Named(_) => "Primary does not understand REPLCONF identify",
                        _ => "Aborting dual channel sync. Main channel psync result",
                    };
                    return Err(text(&format!("{what}: {shown}")));
                }
            }
        }
        main.kept.push(&mut main.link.input);
        Ok(())
    }

    fn ask_for_stream(&mut self, main: &mut Main, begin: &Begin) {
        stop_if_told(&self.engine.sv);
        let next = (begin.offset.saturating_add(1)).to_string();
        self.io.log.notice(text(&format!(
            "Trying a partial resynchronization using main channel (request {}:{next}).",
            begin.id
        )));
        let mut out = Vec::new();
        write_command(&mut out, &["PSYNC", &begin.id, &next]);
        main.link.send(&out);
    }

    /// Shows the primary that the data set is being loaded.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(super) fn show_life(&mut self, link: &mut Link) -> io::Result<()> {
        // The other connection has nothing more to say; the primary may have closed it.
        let link = match &mut self.follower.main {
            Some(main) => &mut main.link,
            None => link,
        };
        // One byte is sent whole or not at all.
        link.send(b"\n");
        link.flush()
    }

    /// The main connection takes the place of the one that brought the snapshot, with what came on it.
    pub(super) fn change_over(&mut self, mut link: Link) -> Link {
        let Some(mut main) = self.follower.main.take() else { return link };
        // Closing the socket does the same.
        let _ = self.io.registry().deregister(link.stream.source());
        main.kept.push(&mut main.link.input);
        self.follower.kept = main.kept;
        self.note_kept(self.follower.kept.len());
        main.link
    }

    /// The database that the stream on the main connection begins in, if it is known.
    pub(super) fn stream_db(&self) -> Option<usize> {
        self.follower.main.as_ref().and_then(|main| main.db)
    }

    /// The main connection is given up with the other one.
    pub(super) fn abandon_main(&mut self) {
        if let Some(mut main) = self.follower.main.take() {
            let _ = self.io.registry().deregister(main.link.stream.source());
            self.engine.sv.repl.kept.0 = 0;
            self.io.log.notice(text("Aborting dual channel sync"));
        }
    }

    /// True when the primary sends nothing on the main connection any more.
    pub(super) fn main_is_silent(&self, limit: u64) -> bool {
        self.follower.main.as_ref().is_some_and(|main| main.silent() > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_in_order() {
        let (mut kept, mut all) = (Kept::default(), Vec::new());
        for n in [1usize, 100, CHUNK, 5, 0, CHUNK - 5, 7] {
            let mut piece: Vec<u8> = (0..n).map(|i| (i * 31 + n) as u8).collect();
            all.extend_from_slice(&piece);
            kept.push(&mut piece);
            assert!(piece.is_empty());
            assert_eq!(kept.len(), all.len());
        }
        let mut back = Vec::new();
        while let Some(block) = kept.take() {
            assert!(!block.is_empty() && block.len() <= CHUNK);
            back.extend_from_slice(&block);
        }
        assert_eq!(back, all);
        assert!(kept.is_empty());
    }

    #[test]
    fn the_snapshot_is_asked_for_when_all_is_answered() {
        let me = Introduction {
            auth: Some((String::new(), "p".into())),
            port: 7,
            ip: "10.0.0.1".into(),
            ..Introduction::default()
        };
        let (mut shake, first) = Handshake::begin(&me);
        let sent = String::from_utf8(first).unwrap();
        assert!(sent.starts_with("*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n*11\r\n$8\r\nREPLCONF\r\n"), "{sent}");
        assert_eq!(shake.line(b"+OK"), Step::Send(b""));
        assert_eq!(shake.line(b"+OK"), Step::Send(b""));
        assert_eq!(shake.line(b"+OK"), Step::Send(b"SYNC\r\n"));
        assert_eq!(shake.line(b""), Step::Send(b""));
        let id = "c".repeat(40);
        let begin = Begin { id: id.clone(), offset: 12, db: Some(3), client: 9 };
        assert_eq!(shake.line(format!("$ENDOFF:12 {id} 3 9").as_bytes()), Step::Begins(begin));
    }

    #[test]
    fn refusals_end_it() {
        for answer in ["-ERR no", "$ENDOFF:1 short 0 1"] {
            let (mut shake, _) = Handshake::begin(&Introduction::default());
            if !answer.starts_with('-') {
                assert_eq!(shake.line(b"+OK"), Step::Send(b"SYNC\r\n"));
            }
            assert!(matches!(shake.line(answer.as_bytes()), Step::Failed(_)), "{answer}");
        }
        let id = "d".repeat(40);
        assert_eq!(end_offset(&format!("$ENDOFF:5 {id} -1 2")).unwrap().db, None);
        for bad in ["$ENDOFF:-5 ID 0 2", "$ENDOFF:5 ID 0", "$ENDOFF:x ID 0 1", "+OK", "$ENDOFF:5 ID 0 -1"] {
            assert_eq!(end_offset(&bad.replace("ID", &id)), None, "{bad}");
        }
    }
}
