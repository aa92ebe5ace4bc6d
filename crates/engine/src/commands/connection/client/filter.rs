//! Filters of CLIENT LIST and CLIENT KILL.

use crate::client::{Client, ClientId};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};

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

/// What a client must be like. `None` does not matter.
#[derive(Default)]
pub(super) struct Filter {
    ids: Option<Vec<u64>>,
    kind: Option<Kind>,
    user: Option<Vec<u8>>,
    addr: Option<Vec<u8>>,
    laddr: Option<Vec<u8>>,
    name: Option<Vec<u8>>,
    max_age: Option<i64>,
    pub(super) skip_me: Option<bool>,
}

impl Filter {
    /// A client at this address.
    pub(super) fn address(addr: &[u8]) -> Self {
        Filter { addr: Some(addr.to_vec()), ..Filter::default() }
    }

    /// Reads `option value` pairs from argument `i` on.
    pub(super) fn parse(cx: &Cx<'_>, mut i: usize) -> Res<Filter> {
        let mut filter = Filter::default();
        while i < cx.argc() {
            if cx.is(i, "ID") && i + 1 < cx.argc() {
                let mut ids = Vec::new();
                i += 1;
                while i < cx.argc() {
                    match crate::util::parse_i64(cx.args[i]) {
                        Some(id) if id > 0 => ids.push(id as u64),
                        Some(_) => return Err(CmdError::new("ERR client-id should be greater than 0")),
                        None if ids.is_empty() => return Err(CmdError::new("ERR client-id should be greater than 0")),
                        None => break,
                    }
                    i += 1;
                }
                filter.ids = Some(ids);
                continue;
            }
            let Some(value) = cx.args.get(i + 1).copied() else { return Err(SYNTAX) };
            if cx.is(i, "TYPE") {
                filter.kind = Some(parse_kind(value)?);
            } else if cx.is(i, "ADDR") {
                filter.addr = Some(value.to_vec());
            } else if cx.is(i, "LADDR") {
                filter.laddr = Some(value.to_vec());
            } else if cx.is(i, "NAME") {
                filter.name = Some(value.to_vec());
            } else if cx.is(i, "USER") {
                if cx.sv.acl.user(value).is_none() {
                    return Err(CmdError::owned([b"ERR No such user '", value, b"'"].concat()));
                }
                filter.user = Some(value.to_vec());
            } else if cx.is(i, "MAXAGE") {
                let age = cx.int(i + 1)?;
                if age <= 0 {
                    return Err(CmdError::new("ERR maxage should be greater than 0"));
                }
                filter.max_age = Some(age);
            } else if cx.is(i, "SKIPME") {
                filter.skip_me = Some(match value {
                    v if v.eq_ignore_ascii_case(b"yes") => true,
                    v if v.eq_ignore_ascii_case(b"no") => false,
                    _ => return Err(SYNTAX),
                });
            } else {
                return Err(SYNTAX);
            }
            i += 2;
        }
        Ok(filter)
    }

    pub(super) fn matches(&self, client: &Client, me: ClientId, now_ms: i64) -> bool {
        let text = |want: &Option<Vec<u8>>, have: &[u8]| want.as_ref().is_none_or(|w| w == have);
        self.ids.as_ref().is_none_or(|ids| ids.contains(&client.id.id))
            && self.kind.is_none_or(|kind| kind == kind_of(client))
            && text(&self.addr, client.conn.addr.as_bytes())
            && text(&self.laddr, client.conn.laddr.as_bytes())
            && text(&self.name, &client.name)
            && text(&self.user, &client.user.name)
            && self.max_age.is_none_or(|age| (now_ms - client.since_ms) / 1000 >= age)
            && !(self.skip_me == Some(true) && client.id == me)
    }
}
