//! CLIENT TRACKING, CACHING, TRACKINGINFO, GETREDIR.

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::tracking::{self, ClientTracking};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

pub(super) fn tracking(cx: &mut Cx<'_>) -> Res {
    let mut options = ClientTracking::default();
    let mut prefixes: Vec<&[u8]> = Vec::new();
    let mut i = 3;
    while i < cx.argc() {
        let value = cx.args.get(i + 1).copied();
        match value {
            Some(_) if cx.is(i, "redirect") => {
                if options.redirect.is_some() {
                    return Err(CmdError::new("ERR A client can only redirect to a single other client"));
                }
                i += 1;
                let number = cx.int(i)?;
                let target = cx.sv.clients.by_number(u64::try_from(number).unwrap_or(0));
                let missing = CmdError::new("ERR The client ID you want redirect to does not exist");
                options.redirect = Some(target.ok_or(missing)?.id);
            }
            Some(prefix) if cx.is(i, "prefix") => {
                i += 1;
                prefixes.push(prefix);
            }
            _ if cx.is(i, "bcast") => options.bcast = true,
            _ if cx.is(i, "optin") => options.optin = true,
            _ if cx.is(i, "optout") => options.optout = true,
            _ if cx.is(i, "noloop") => options.noloop = true,
            _ => return Err(SYNTAX),
        }
        i += 1;
    }
    if cx.is(2, "on") {
        check(cx.me()?.tracking.as_deref(), &options, &prefixes)?;
        options.prefixes = prefixes.into_iter().map(Arc::from).collect();
        tracking::enable(cx.ks, cx.sv, cx.client, options);
    } else if cx.is(2, "off") {
        tracking::disable(cx.ks, cx.sv, cx.client);
    } else {
        return Err(SYNTAX);
    }
    cx.reply.ok();
    Ok(())
}

/// Refuses options that contradict each other or what the client chose before.
fn check(before: Option<&ClientTracking>, options: &ClientTracking, prefixes: &[&[u8]]) -> Res {
    if !options.bcast && !prefixes.is_empty() {
        return Err(CmdError::new("ERR PREFIX option requires BCAST mode to be enabled"));
    }
    if before.is_some_and(|before| before.bcast != options.bcast) {
        return Err(CmdError::new(
            "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.",
        ));
    }
    if options.bcast && (options.optin || options.optout) {
        return Err(CmdError::new("ERR OPTIN and OPTOUT are not compatible with BCAST"));
    }
    if options.optin && options.optout {
        return Err(CmdError::new("ERR You can't specify both OPTIN mode and OPTOUT mode"));
    }
    if before.is_some_and(|b| (options.optin && b.optout) || (options.optout && b.optin)) {
        return Err(CmdError::new(
            "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.",
        ));
    }
    let none = BTreeSet::new();
    collisions(before.map_or(&none, |before| &before.prefixes), prefixes)
}

/// Refuses prefixes one of which begins with another: a key would be told twice.
fn collisions(before: &BTreeSet<Arc<[u8]>>, prefixes: &[&[u8]]) -> Res {
    let overlap = |a: &[u8], b: &[u8]| a.starts_with(b) || b.starts_with(a);
    let mut sorted = prefixes.to_vec();
    sorted.sort_unstable();
    // Looked for pair by pair only where there is one to be found.
    let among_themselves = sorted.windows(2).any(|pair| pair[1].starts_with(pair[0]));
    for (i, prefix) in prefixes.iter().enumerate() {
        // None of those that are there begins with another: the neighbours tell.
        let after = before.range::<[u8], _>((Bound::Included(*prefix), Bound::Unbounded)).next();
        let earlier = before.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(*prefix))).next_back();
        if let Some(old) = earlier.into_iter().chain(after).find(|old| overlap(old, prefix)) {
            return Err(colliding(prefix, "an existing prefix", old));
        }
        if among_themselves && let Some(other) = prefixes[i + 1..].iter().find(|other| overlap(prefix, other)) {
            return Err(colliding(prefix, "another provided prefix", other));
        }
    }
    Ok(())
}

fn colliding(prefix: &[u8], with: &str, other: &[u8]) -> CmdError {
    CmdError::owned(
        [
            b"ERR Prefix '",
            prefix,
            b"' overlaps with ",
            with.as_bytes(),
            b" '",
            other,
            b"'. Prefixes for a single client must not overlap.",
        ]
        .concat(),
    )
}

pub(super) fn caching(cx: &mut Cx<'_>) -> Res {
    let (yes, no) = (cx.is(2, "yes"), cx.is(2, "no"));
    let Some(tracking) = &mut cx.me()?.tracking else {
        return Err(CmdError::new(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled",
        ));
    };
    if yes && !tracking.optin {
        return Err(CmdError::new("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."));
    }
    if no && !tracking.optout {
        return Err(CmdError::new("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."));
    }
    if !yes && !no {
        return Err(SYNTAX);
    }
    tracking.caching = true;
    cx.reply.ok();
    Ok(())
}

pub(super) fn get_redir(cx: &mut Cx<'_>) -> Res {
    let redirect = redirection(cx.me()?.tracking.as_deref());
    cx.reply.int(redirect);
    Ok(())
}

/// The number of the client to which messages are redirected; 0 for none, -1 for a client that does not track.
pub(super) fn redirection(tracking: Option<&ClientTracking>) -> i64 {
    tracking.map_or(-1, |tracking| tracking.redirect.map_or(0, |to| to.id as i64))
}

pub(super) fn tracking_info(cx: &mut Cx<'_>) -> Res {
    let tracking = cx.me()?.tracking.clone();
    let t = tracking.as_deref();
    let is = |f: fn(&ClientTracking) -> bool| t.is_some_and(f);
    let flags = [
        (t.is_some(), "on"),
        (t.is_none(), "off"),
        (is(|t| t.bcast), "bcast"),
        (is(|t| t.optin), "optin"),
        (is(|t| t.optin && t.caching), "caching-yes"),
        (is(|t| t.optout), "optout"),
        (is(|t| t.optout && t.caching), "caching-no"),
        (is(|t| t.noloop), "noloop"),
        (is(|t| t.broken), "broken_redirect"),
    ];
    cx.reply.map(3);
    cx.reply.bulk(b"flags");
    cx.reply.set(flags.iter().filter(|(on, _)| *on).count());
    flags.iter().filter(|(on, _)| *on).for_each(|(_, name)| cx.reply.bulk(name.as_bytes()));
    cx.reply.bulk(b"redirect");
    cx.reply.int(redirection(t));
    cx.reply.bulk(b"prefixes");
    let prefixes = t.map(|t| &t.prefixes);
    cx.reply.array(prefixes.map_or(0, BTreeSet::len));
    prefixes.into_iter().flatten().for_each(|prefix| cx.reply.bulk(prefix));
    Ok(())
}
