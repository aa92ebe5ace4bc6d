//! What is said on the link before data flows: who we are, what we understand, and from where we want to go on. No
//! socket here: lines of the primary go in, what is to be sent comes out.

use totality_resp::write::command as write_command;

/// Longest line that a primary may answer with, in bytes.
pub const MAX_LINE: usize = 4096;

/// The version that primaries are told: Valkey chooses the snapshot's form by it, and from 9.0 on that has deadlines of
/// fields, without which a data set that has some could not be sent.
pub(super) const VERSION: &str = "9.0.0";

/// What a replica tells of itself.
#[derive(Debug, Clone, Default)]
pub struct Introduction {
    /// User name and password, when the primary wants one. An empty name is the default user.
    pub auth: Option<(String, String)>,
    /// The port that clients of this server use.
    pub port: u16,
    /// The address that clients of this server use, when it is not the connection's.
    pub ip: String,
    /// The replication id and the first offset that is wanted; `None` for everything.
    pub from: Option<(String, i64)>,
    /// The primary is to hand its part over to us (FAILOVER).
    pub failover: bool,
    /// The data set may come on a connection of its own.
    pub dual: bool,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Ping,
    Auth,
    Port,
    Ip,
    Capabilities,
    Version,
    Psync,
}

/// What comes of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It goes on: send this (it may be nothing).
    Send(Vec<u8>),
    /// The whole data set follows; the offset of the stream behind it. `None`: an old primary that knows neither.
    Full(Option<(String, i64)>),
    /// The stream goes on where it was cut, under this id if the primary names one.
    Continue(Option<String>),
    /// The data set is to be asked for on another connection.
    Dual,
    /// The primary does not know PSYNC: send SYNC.
    Sync(Vec<u8>),
    /// It does not go on now; why.
    Failed(String),
}

/// A handshake in progress.
#[derive(Debug)]
pub struct Handshake {
    me: Introduction,
    stage: Stage,
    /// Remarks for the log.
    pub remarks: Vec<String>,
}

impl Handshake {
    /// Begins: the first thing to send is the second value.
    pub fn begin(me: Introduction) -> (Handshake, Vec<u8>) {
        (Handshake { me, stage: Stage::Ping, remarks: Vec::new() }, command(&["PING"]))
    }

    /// True once the primary was asked for data.
    pub fn asked(&self) -> bool {
        self.stage == Stage::Psync
    }

    /// A line of the primary, without its end.
    pub fn line(&mut self, line: &[u8]) -> Step {
        let text = String::from_utf8_lossy(line).into_owned();
        let refused = text.starts_with('-');
        let stage = self.stage;
        match stage {
            Stage::Ping => self.pong(&text),
            Stage::Auth if refused => Step::Failed(format!("Unable to AUTH to PRIMARY: {text}")),
            Stage::Auth | Stage::Port | Stage::Ip | Stage::Capabilities | Stage::Version => {
                let what = match stage {
                    Stage::Port => "listening-port",
                    Stage::Ip => "ip-address",
                    Stage::Version => "VERSION",
                    _ => "capa",
                };
                if refused && stage != Stage::Auth {
                    let remark =
                        format!("(Non critical) Primary does not understand REPLCONF {what}: {text}");
                    self.remarks.push(remark);
                }
                self.advance();
                if self.stage == Stage::Psync { Step::Send(self.psync()) } else { Step::Send(Vec::new()) }
            }
            // Sent to keep the connection alive while the answer is not ready.
            Stage::Psync if line.is_empty() => Step::Send(Vec::new()),
            Stage::Psync if self.me.dual && text.starts_with("+DUALCHANNELSYNC") => Step::Dual,
            Stage::Psync => answer(&text),
        }
    }

    fn pong(&mut self, text: &str) -> Step {
        let known = ["+", "-NOAUTH", "-NOPERM", "-ERR operation not permitted"];
        if !known.iter().any(|start| text.starts_with(start)) {
            return Step::Failed(format!("Error reply to PING from primary: '{text}'"));
        }
        self.remarks.push("Primary replied to PING, replication can continue...".to_owned());
        let mut out = Vec::new();
        if let Some((user, password)) = &self.me.auth {
            let words: &[&str] =
                if user.is_empty() { &["AUTH", password] } else { &["AUTH", user, password] };
            write_command(&mut out, words);
        }
        write_command(&mut out, &["REPLCONF", "listening-port", &self.me.port.to_string()]);
        if !self.me.ip.is_empty() {
            write_command(&mut out, &["REPLCONF", "ip-address", &self.me.ip]);
        }
        let words: &[&str] = if self.me.dual { &["capa", "dual-channel"] } else { &[] };
        write_command(&mut out, &[&["REPLCONF", "capa", "eof", "capa", "psync2"], words].concat());
        write_command(&mut out, &["REPLCONF", "version", VERSION]);
        self.advance();
        Step::Send(out)
    }

    /// To the next stage that there is.
    fn advance(&mut self) {
        self.stage = match self.stage {
            Stage::Ping if self.me.auth.is_some() => Stage::Auth,
            Stage::Ping | Stage::Auth => Stage::Port,
            Stage::Port if !self.me.ip.is_empty() => Stage::Ip,
            Stage::Port | Stage::Ip => Stage::Capabilities,
            Stage::Capabilities => Stage::Version,
            Stage::Version | Stage::Psync => Stage::Psync,
        };
    }

    fn psync(&mut self) -> Vec<u8> {
        let (id, offset) = match &self.me.from {
            Some((id, offset)) => {
                self.remarks.push(format!("Trying a partial resynchronization (request {id}:{offset})."));
                (id.as_str(), offset.to_string())
            }
            None => {
                self.remarks.push("Partial resynchronization not possible (no cached primary)".to_owned());
                ("?", "-1".to_owned())
            }
        };
        let mut words = vec!["PSYNC", id, &offset];
        if self.me.failover {
            words.push("FAILOVER");
        }
        command(&words)
    }
}

fn command(words: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    write_command(&mut out, words);
    out
}

/// The answer to PSYNC.
fn answer(text: &str) -> Step {
    let mut words = text.split(' ');
    match words.next() {
        Some("+FULLRESYNC") => {
            let id = words.next().filter(|id| id.len() == 40);
            let offset = words.next().and_then(|n| n.parse().ok());
            match id.zip(offset) {
                Some((id, offset)) => Step::Full(Some((id.to_owned(), offset))),
                None => Step::Failed("Primary replied with wrong +FULLRESYNC syntax.".to_owned()),
            }
        }
        Some("+CONTINUE") => Step::Continue(words.next().filter(|id| id.len() == 40).map(str::to_owned)),
        Some("-NOMASTERLINK" | "-LOADING") => {
            Step::Failed(format!("Primary is currently unable to PSYNC but should be in the future: {text}"))
        }
        // It knows the command and has its reasons: SYNC would fare no better.
        Some("-NOREPLICAS" | "-NOAUTH" | "-NOPERM" | "-BUSY" | "-MASTERDOWN") => {
            Step::Failed(format!("Unexpected reply to PSYNC from primary: {text}"))
        }
        _ => Step::Sync(command(&["SYNC"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(me: Introduction, lines: &[&str]) -> (Vec<String>, Step) {
        let (mut shake, first) = Handshake::begin(me);
        let mut sent = vec![String::from_utf8(first).unwrap()];
        let mut last = Step::Send(Vec::new());
        for line in lines {
            last = shake.line(line.as_bytes());
            if let Step::Send(bytes) = &last
                && !bytes.is_empty()
            {
                sent.push(String::from_utf8(bytes.clone()).unwrap());
            }
        }
        (sent, last)
    }

    #[test]
    fn everything_is_said_in_order() {
        let me = Introduction {
            auth: Some(("u".into(), "p".into())),
            port: 6380,
            ip: "10.0.0.1".into(),
            from: Some(("a".repeat(40), 7)),
            failover: false,
            dual: false,
        };
        let lines =
            ["-NOAUTH x", "+OK", "+OK", "+OK", "+OK", "-ERR Unrecognized REPLCONF option: version", ""];
        let (sent, last) = talk(me, &lines);
        assert_eq!(last, Step::Send(Vec::new()));
        assert_eq!(sent.len(), 3);
        assert!(sent[1].starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n*3\r\n$8\r\nREPLCONF\r\n"));
        assert!(sent[1].contains("ip-address"));
        assert_eq!(sent[2], format!("*3\r\n$5\r\nPSYNC\r\n$40\r\n{}\r\n$1\r\n7\r\n", "a".repeat(40)));
    }

    #[test]
    fn answers_to_psync() {
        let id = "b".repeat(40);
        assert_eq!(answer(&format!("+FULLRESYNC {id} 12")), Step::Full(Some((id.clone(), 12))));
        assert!(matches!(answer("+FULLRESYNC short 12"), Step::Failed(_)));
        assert_eq!(answer("+CONTINUE"), Step::Continue(None));
        assert_eq!(answer(&format!("+CONTINUE {id}")), Step::Continue(Some(id)));
        assert!(matches!(answer("-NOMASTERLINK Can't SYNC"), Step::Failed(_)));
        assert!(matches!(answer("-ERR unknown command"), Step::Sync(_)));
    }

    #[test]
    fn a_password_that_is_refused_ends_it() {
        let me = Introduction { auth: Some((String::new(), "p".into())), ..Introduction::default() };
        let (_, last) = talk(me, &["-NOAUTH x", "-WRONGPASS y"]);
        assert_eq!(last, Step::Failed("Unable to AUTH to PRIMARY: -WRONGPASS y".into()));
        let (_, last) = talk(Introduction::default(), &["-LOADING x"]);
        assert!(matches!(last, Step::Failed(_)));
    }
}
