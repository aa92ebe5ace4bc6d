//! Filters of CLIENT LIST and CLIENT KILL.

use crate::client::{Client, ClientId};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::keyspace::Keyspace;

/// Kinds of clients that CLIENT LIST TYPE and CLIENT KILL TYPE tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Replica,
    Pubsub,
    Primary,
}

pub(super) fn kind_of(client: &Client) -> Kind {
    if client.replica {
        Kind::Replica
    } else if client.primary {
        Kind::Primary
    } else if client.subscribed() > 0 {
        Kind::Pubsub
    } else {
        Kind::Normal
    }
}

fn parse_kind(name: &[u8]) -> Res<Kind> {
    let kinds = [
        (&b"normal"[..], Kind::Normal),
        (b"replica", Kind::Replica),
        (b"slave", Kind::Replica),
        (b"pubsub", Kind::Pubsub),
        (b"master", Kind::Primary),
        (b"primary", Kind::Primary),
    ];
    kinds
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, kind)| *kind)
        .ok_or_else(|| CmdError::owned([b"ERR Unknown client type '", name, b"'"].concat()))
}

/// One condition on clients. Texts and numbers must be equal.
enum Is {
    Ids(Vec<u64>),
    Kind(Kind),
    User(Vec<u8>),
    Addr(Vec<u8>),
    Laddr(Vec<u8>),
    Ip(Vec<u8>),
    Name(Vec<u8>),
    LibName(Vec<u8>),
    LibVer(Vec<u8>),
    Db(usize),
    /// Letters of CLIENT LIST's `flags`, all of them.
    Flags(Vec<u8>),
    /// Letters of CLIENT LIST's `capa`, all of them.
    Capa(Vec<u8>),
    MaxAge(i64),
    Idle(i64),
}

/// What clients must be like, and what they may not be like.
#[derive(Default)]
pub(super) struct Filter {
    /// The condition, and false where it may not hold. Of several of a kind the last counts.
    conditions: Vec<(Is, bool)>,
    pub(super) skip_me: Option<bool>,
}

/// Letters of flags that exist.
const FLAGS: &[u8] = b"OSMPxbtRBdcuAUreTIiEN";

impl Filter {
    /// A client at this address.
    pub(super) fn address(addr: &[u8]) -> Self {
        Filter { conditions: vec![(Is::Addr(addr.to_vec()), true)], ..Filter::default() }
    }

    /// Reads `option value` pairs from argument `i` on.
    pub(super) fn parse(cx: &Cx<'_>, mut i: usize) -> Res<Filter> {
        let mut filter = Filter::default();
        while i < cx.argc() {
            let word = cx.args[i].to_ascii_lowercase();
            let (word, positive) = match word.strip_prefix(b"not-") {
                Some(rest) => (rest.to_vec(), false),
                None => (word, true),
            };
            i += 1;
            if word == b"id" {
                let before = i;
                while let Some(id) = cx.args.get(i).and_then(|arg| crate::util::parse_i64(arg)) {
                    if id < 1 {
                        return Err(CmdError::new("ERR client-id should be greater than 0"));
                    }
                    i += 1;
                }
                filter.add_ids(&cx.args[before..i], positive);
                continue;
            }
            let Some(value) = cx.args.get(i).copied() else { return Err(SYNTAX) };
            i += 1;
            if word == b"skipme" && positive {
                filter.skip_me = Some(yes_no(value)?);
                continue;
            }
            let condition = condition(cx, &word, value, positive)?;
            filter.conditions.retain(|(old, sign)| {
                *sign != positive || std::mem::discriminant(old) != std::mem::discriminant(&condition)
            });
            filter.conditions.push((condition, positive));
        }
        Ok(filter)
    }

    fn add_ids(&mut self, args: &[&[u8]], positive: bool) {
        let more = args.iter().filter_map(|arg| crate::util::parse_i64(arg)).map(|id| id as u64);
        let old = self.conditions.iter_mut().find_map(|(is, sign)| match is {
            Is::Ids(ids) if *sign == positive => Some(ids),
            _ => None,
        });
        match old {
            Some(ids) => ids.extend(more),
            None => self.conditions.push((Is::Ids(more.collect()), positive)),
        }
    }

    pub(super) fn matches(&self, client: &Client, ks: &Keyspace, me: ClientId) -> bool {
        self.conditions.iter().all(|(is, positive)| holds(is, client, ks) == *positive)
            && !(self.skip_me == Some(true) && client.id == me)
    }
}

fn yes_no(value: &[u8]) -> Res<bool> {
    match value {
        v if v.eq_ignore_ascii_case(b"yes") => Ok(true),
        v if v.eq_ignore_ascii_case(b"no") => Ok(false),
        _ => Err(SYNTAX),
    }
}

fn condition(cx: &Cx<'_>, word: &[u8], value: &[u8], positive: bool) -> Res<Is> {
    Ok(match word {
        b"type" => Is::Kind(parse_kind(value)?),
        b"addr" => Is::Addr(value.to_vec()),
        b"laddr" => Is::Laddr(value.to_vec()),
        b"ip" => Is::Ip(value.to_vec()),
        b"name" => Is::Name(value.to_vec()),
        b"lib-name" => Is::LibName(value.to_vec()),
        b"lib-ver" => Is::LibVer(value.to_vec()),
        b"user" if cx.sv.acl.user(value).is_some() => Is::User(value.to_vec()),
        b"user" => return Err(CmdError::owned([b"ERR No such user '", value, b"'"].concat())),
        b"db" => Is::Db(database(cx, value, if positive { "DB" } else { "NOT-DB" })?),
        b"flags" => Is::Flags(letters(value, FLAGS, "flags", "NOT-FLAGS", positive)?),
        b"capa" => Is::Capa(letters(value, b"r", "capa", "NOT-CAPA", positive)?),
        b"maxage" if positive => Is::MaxAge(seconds(value, "maxage")?),
        b"idle" if positive => Is::Idle(seconds(value, "idle")?),
        _ => return Err(SYNTAX),
    })
}

fn database(cx: &Cx<'_>, value: &[u8], name: &str) -> Res<usize> {
    let db = crate::util::int32_arg(value)
        .map_err(|_| CmdError::owned(format!("ERR {name} is not an integer or out of range")))?;
    let last = cx.sv.config.databases as usize - 1;
    usize::try_from(db)
        .ok()
        .filter(|db| *db <= last)
        .ok_or_else(|| CmdError::owned(format!("ERR {name} number should be between 0 and {last}")))
}

fn letters(value: &[u8], known: &[u8], what: &str, not: &str, positive: bool) -> Res<Vec<u8>> {
    if value.iter().all(|letter| known.contains(letter)) {
        return Ok(value.to_vec());
    }
    let place = if positive { "provided" } else { not };
    let mut text = format!("ERR Unknown {what} found in the {place} filter: ").into_bytes();
    text.extend_from_slice(crate::util::until_nul(value));
    Err(CmdError::owned(text))
}

fn seconds(value: &[u8], name: &str) -> Res<i64> {
    let n = crate::util::parse_i64(value)
        .ok_or_else(|| CmdError::owned(format!("ERR {name} is not an integer or out of range")))?;
    if n <= 0 {
        return Err(CmdError::owned(format!("ERR {name} should be greater than 0")));
    }
    Ok(n)
}

fn holds(is: &Is, client: &Client, ks: &Keyspace) -> bool {
    let age = |since: i64| (ks.now - since) / 1000;
    match is {
        Is::Ids(ids) => ids.contains(&client.id.id),
        Is::Kind(kind) => *kind == kind_of(client),
        Is::User(name) => *name == client.user.name,
        Is::Addr(addr) => addr == client.conn.addr.as_bytes(),
        Is::Laddr(addr) => addr == client.conn.laddr.as_bytes(),
        Is::Ip(ip) => ip_of(&client.conn.addr) == Some(ip),
        Is::Name(name) => *name == client.name,
        Is::LibName(name) => *name == client.lib.0,
        Is::LibVer(version) => *version == client.lib.1,
        Is::Db(db) => *db == client.db,
        Is::Flags(letters) => {
            let flags = super::show::flags(client, ks);
            letters.iter().all(|letter| flags.as_bytes().contains(letter))
        }
        Is::Capa(letters) => letters.iter().all(|letter| *letter == b'r' && client.capa_redirect),
        Is::MaxAge(seconds) => age(client.since_ms) >= *seconds,
        Is::Idle(seconds) => age(client.last_ms) >= *seconds,
    }
}

/// The address without its port; none where the port is 0, as that of a unix socket.
fn ip_of(addr: &str) -> Option<&[u8]> {
    let (host, port) = addr.rsplit_once(':')?;
    (!port.starts_with('0')).then(|| host.trim_start_matches('[').trim_end_matches(']').as_bytes())
}
