//! The rules of ACL SETUSER and of ACL files, and what each does to a user.

use super::user::{Hash, KeyPattern, Selector, User, hash};
use crate::commands::{self, TABLE};

/// Why a rule is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleError {
    /// Nobody knows this command or category.
    Unknown,
    /// It is no rule, or its pattern has spaces.
    Syntax,
    /// All keys are allowed already.
    AllKeys,
    /// All channels are allowed already.
    AllChannels,
    /// The password to be removed is not there.
    NoPassword,
    /// A hash is 64 lower-case hexadecimal digits.
    BadHash,
    /// `+command|subcommand|argument`
    FirstArgOfSubcommand,
    /// A number of a database is negative or too large.
    DbOutOfRange,
    /// The same user stands twice in a file.
    Duplicate,
}

impl RuleError {
    /// The text that Redis has for it.
    pub fn text(self) -> &'static str {
        match self {
            RuleError::Unknown => "Unknown command or category name in ACL",
            RuleError::Syntax => "Syntax error",
            RuleError::AllKeys => {
                "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
            }
            RuleError::AllChannels => {
                "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
            }
            RuleError::NoPassword => "The password you are trying to remove from the user does not exist",
            RuleError::BadHash => {
                "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
            }
            RuleError::FirstArgOfSubcommand => "Allowing first-arg of a subcommand is not supported",
            RuleError::DbOutOfRange => "The provided database ID is out of range",
            RuleError::Duplicate => "Duplicate user found. A user can only be defined once in config files",
        }
    }
}

/// True when a name or pattern may stand in a line of rules: no white space, no NUL.
pub fn is_word(text: &[u8]) -> bool {
    !text.iter().any(|b| matches!(b, 0 | b'\t'..=b'\r' | b' '))
}

/// Joins the words of selectors that were given as several arguments.
///
/// # Errors
/// The word that opens a selector which nothing closes.
pub fn merge_selectors<'a>(words: &[&'a [u8]]) -> Result<Vec<Vec<u8>>, &'a [u8]> {
    let mut out: Vec<Vec<u8>> = Vec::with_capacity(words.len());
    let mut open: Option<(&[u8], Vec<u8>)> = None;
    for word in words {
        match &mut open {
            None if word.starts_with(b"(") && !word.ends_with(b")") => open = Some((word, word.to_vec())),
            None => out.push(word.to_vec()),
            Some((_, text)) => {
                text.push(b' ');
                text.extend_from_slice(word);
                if word.ends_with(b")") {
                    out.push(std::mem::take(text));
                    open = None;
                }
            }
        }
    }
    open.map_or(Ok(out), |(word, _)| Err(word))
}

impl User {
    /// Applies one rule. `all_channels` is what `acl-pubsub-default` says.
    ///
    /// # Errors
    /// The rule makes no sense; nothing is changed.
    pub fn apply(&mut self, rule: &[u8], all_channels: bool) -> Result<(), RuleError> {
        match rule.to_ascii_lowercase().as_slice() {
            // Deprecated, without effect.
            b"" | b"sanitize-payload" | b"skip-sanitize-payload" => return Ok(()),
            b"on" => self.enabled = true,
            b"off" => self.enabled = false,
            b"nopass" => {
                self.nopass = true;
                self.passwords.clear();
            }
            b"resetpass" => {
                self.nopass = false;
                self.passwords.clear();
            }
            b"clearselectors" => self.selectors.truncate(1),
            b"reset" => *self = User::new(&std::mem::take(&mut self.name), all_channels),
            _ => return self.apply_other(rule, all_channels),
        }
        Ok(())
    }

    fn apply_other(&mut self, rule: &[u8], all_channels: bool) -> Result<(), RuleError> {
        match rule[0] {
            mark @ (b'>' | b'#' | b'<' | b'!') => {
                let hash =
                    if matches!(mark, b'>' | b'<') { hash(&rule[1..]) } else { parse_hash(&rule[1..])? };
                let at = self.passwords.iter().position(|password| *password == hash);
                match (mark, at) {
                    (b'>' | b'#', None) => self.passwords.push(hash),
                    (b'>' | b'#', Some(_)) => {}
                    (_, Some(at)) => {
                        self.passwords.remove(at);
                        return Ok(());
                    }
                    (_, None) => return Err(RuleError::NoPassword),
                }
                self.nopass = false;
                Ok(())
            }
            b'(' if rule.len() > 1 && rule.ends_with(b")") => {
                let mut selector = Selector::new(all_channels);
                for word in rule[1..rule.len() - 1].split(|b| matches!(b, b'\t'..=b'\r' | b' ')) {
                    if !word.is_empty() {
                        selector.apply(word)?;
                    }
                }
                self.selectors.push(selector);
                Ok(())
            }
            _ => self.root().apply(rule),
        }
    }
}

fn parse_hash(text: &[u8]) -> Result<Hash, RuleError> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let mut hash = Hash::default();
    if text.len() != 2 * hash.len() {
        return Err(RuleError::BadHash);
    }
    for (byte, pair) in hash.iter_mut().zip(text.chunks(2)) {
        let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or(RuleError::BadHash)?;
        *byte = high << 4 | low;
    }
    Ok(hash)
}

impl Selector {
    /// Applies a rule for commands, keys, channels or databases.
    fn apply(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        let lower = rule.to_ascii_lowercase();
        match lower.as_slice() {
            b"allkeys" | b"~*" | b"resetkeys" => {
                self.all_keys = lower != b"resetkeys";
                self.keys.clear();
            }
            b"allchannels" | b"&*" | b"resetchannels" => {
                self.all_channels = lower != b"resetchannels";
                self.channels.clear();
            }
            b"alldbs" => self.dbs = None,
            b"resetdbs" => self.dbs = Some(Vec::new()),
            b"allrun" => self.runs = None,
            b"resetrun" => self.runs = Some(Vec::new()),
            b"allcommands" | b"+@all" => self.set_all(true),
            b"nocommands" | b"-@all" => self.set_all(false),
            _ if lower.starts_with(b"run:") => {
                let glob = &rule[4..];
                if glob.is_empty() || !is_word(glob) {
                    return Err(RuleError::Syntax);
                }
                let runs = self.runs.get_or_insert_default();
                if !runs.iter().any(|known| known == glob) {
                    runs.push(glob.to_vec());
                }
            }
            _ if lower.starts_with(b"db=") => self.dbs = Some(parse_dbs(&rule[3..])?),
            _ => return self.apply_marked(rule),
        }
        Ok(())
    }

    fn apply_marked(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        let rest = rule.get(1..).unwrap_or_default();
        match rule.first() {
            Some(b'~') => self.add_keys(rest, true, true),
            Some(b'%') if self.all_keys => Err(RuleError::AllKeys),
            Some(b'%') => {
                // As in Redis: without `~` the pattern is empty.
                let at = rest.iter().position(|b| *b == b'~').unwrap_or(rest.len());
                let (read, write) = match rest[..at].to_ascii_uppercase().as_slice() {
                    b"R" => (true, false),
                    b"W" => (false, true),
                    b"RW" | b"WR" => (true, true),
                    _ => return Err(RuleError::Syntax),
                };
                self.add_keys(rest.get(at + 1..).unwrap_or_default(), read, write)
            }
            Some(b'&') if self.all_channels => Err(RuleError::AllChannels),
            Some(b'&') if !is_word(rest) => Err(RuleError::Syntax),
            Some(b'&') => {
                if !self.channels.iter().any(|c| c == rest) {
                    self.channels.push(rest.to_vec());
                }
                Ok(())
            }
            Some(mark @ (b'+' | b'-')) => match rest.strip_prefix(b"@") {
                Some(category) => self.set_category(*mark == b'+', category),
                None if *mark == b'+' => self.allow(rest),
                None => {
                    let command = commands::by_full_name(rest).ok_or(RuleError::Unknown)?;
                    self.set_command(command, false);
                    self.note(false, command.full_name.as_bytes());
                    Ok(())
                }
            },
            _ => Err(RuleError::Syntax),
        }
    }

    fn add_keys(&mut self, glob: &[u8], read: bool, write: bool) -> Result<(), RuleError> {
        if self.all_keys {
            return Err(RuleError::AllKeys);
        }
        if !is_word(glob) {
            return Err(RuleError::Syntax);
        }
        match self.keys.iter_mut().find(|key| key.glob == glob) {
            Some(key) => {
                key.read |= read;
                key.write |= write;
            }
            None => self.keys.push(KeyPattern { glob: glob.to_vec(), read, write }),
        }
        Ok(())
    }

    /// `+get`, `+config|get`, `+select|0`.
    fn allow(&mut self, name: &[u8]) -> Result<(), RuleError> {
        let Some(bar) = name.iter().rposition(|b| *b == b'|') else {
            let command = commands::by_full_name(name).ok_or(RuleError::Unknown)?;
            self.set_command(command, true);
            self.note(true, command.full_name.as_bytes());
            return Ok(());
        };
        let command = commands::by_full_name(&name[..bar]).ok_or(RuleError::Unknown)?;
        if usize::from(command.id) >= TABLE.len() {
            return Err(RuleError::FirstArgOfSubcommand);
        }
        let word = &name[bar + 1..];
        if word.is_empty() || !is_word(word) {
            return Err(RuleError::Syntax);
        }
        if command.spec.subs.is_empty() {
            let words = self.first_args.entry(command.id).or_default();
            if !words.iter().any(|w| w.eq_ignore_ascii_case(word)) {
                words.push(word.to_vec());
            }
        } else {
            let sub = commands::by_full_name(name).ok_or(RuleError::Unknown)?;
            self.set_command(sub, true);
        }
        self.note(true, name);
        Ok(())
    }

    fn set_category(&mut self, allow: bool, name: &[u8]) -> Result<(), RuleError> {
        use crate::commands::server::command::{CAT_NAMES, categories};
        let known = CAT_NAMES.iter().find(|(_, word)| word.as_bytes().eq_ignore_ascii_case(name));
        let (cat, _) = known.ok_or(RuleError::Unknown)?;
        self.note(allow, &[b"@", name].concat());
        // A container comes before its subcommands, which have categories of their own.
        for command in commands::all() {
            if categories(command.spec).contains(*cat) {
                self.set_command(command, allow);
            }
        }
        Ok(())
    }
}

/// Numbers with commas between them.
fn parse_dbs(text: &[u8]) -> Result<Vec<u32>, RuleError> {
    let mut dbs = Vec::new();
    for number in text.split(|b| *b == b',') {
        let digits = number.strip_prefix(b"-").unwrap_or(number);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(RuleError::Syntax);
        }
        let db = std::str::from_utf8(number).ok().and_then(|n| n.parse::<i32>().ok());
        dbs.push(db.and_then(|n| u32::try_from(n).ok()).ok_or(RuleError::DbOutOfRange)?);
    }
    dbs.sort_unstable();
    dbs.dedup();
    Ok(dbs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(rules: &str) -> User {
        let mut user = User::new(b"u", false);
        let words: Vec<&[u8]> = rules.split(' ').map(str::as_bytes).collect();
        for rule in merge_selectors(&words).unwrap() {
            user.apply(&rule, false).unwrap();
        }
        user
    }

    fn shown(rules: &str) -> String {
        let mut out = Vec::new();
        user(rules).line(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_shown_makes_the_same_user_again() {
        for rules in [
            "on nopass ~* &* +@all",
            "on >a >b ~x %R~y %W~z +@read -get +config|get +select|0",
            "off +@all -@dangerous +keys -config|set db=1,0",
            "on ~a* (~b* -@all +set) (%RW~c* resetdbs &x +@hash)",
        ] {
            let first = shown(rules);
            assert_eq!(shown(first.strip_prefix("user u ").unwrap()), first, "{rules}");
        }
        assert_eq!(shown("on +get -get"), "user u on resetchannels -@all -get");
        assert_eq!(
            shown("nopass &c +config|get +config +@all -get"),
            "user u off nopass resetchannels &c +@all -get"
        );
    }

    #[test]
    fn wrong_rules_change_nothing() {
        for (rule, error) in [
            ("+nosuch", RuleError::Unknown),
            ("+@nosuch", RuleError::Unknown),
            ("+config|nosuch", RuleError::Unknown),
            ("+config|get|x", RuleError::FirstArgOfSubcommand),
            ("+select|", RuleError::Syntax),
            ("-select|0", RuleError::Unknown),
            ("%X~k", RuleError::Syntax),
            ("%~k", RuleError::Syntax),
            ("~a b", RuleError::Syntax),
            ("x", RuleError::Syntax),
            ("(", RuleError::Syntax),
            ("<p", RuleError::NoPassword),
            ("#12", RuleError::BadHash),
            ("db=", RuleError::Syntax),
            ("db=-1", RuleError::DbOutOfRange),
            ("(+nosuch)", RuleError::Unknown),
        ] {
            let mut u = user("on");
            assert_eq!(u.apply(rule.as_bytes(), false), Err(error), "{rule}");
            let mut line = Vec::new();
            u.line(&mut line);
            assert_eq!(line, shown("on").as_bytes(), "{rule}");
        }
        assert_eq!(user("allkeys").apply(b"~x", false), Err(RuleError::AllKeys));
        assert_eq!(user("allchannels").apply(b"&x", false), Err(RuleError::AllChannels));
        assert_eq!(merge_selectors(&[b"(a", b"b"]), Err(&b"(a"[..]));
    }

    #[test]
    fn passwords() {
        let u = user("on >secret #9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
        assert!(u.accepts(b"secret") && u.accepts(b"test") && !u.accepts(b"other"));
        let u = user("on nopass >secret <secret");
        assert!(!u.accepts(b"secret"));
        assert!(!user("nopass").accepts(b""));
    }
}
