//! CLIENT KILL, PAUSE, REPLY, UNBLOCK.

use super::filter::Filter;
use crate::client::{ClientId, ReplyMode};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::state::Pause;

pub(super) fn kill(cx: &mut Cx<'_>) -> Res {
    let old_form = cx.argc() == 3;
    let filter = if old_form {
        Filter::address(cx.args[2])
    } else {
        let mut filter = Filter::parse(cx, 2)?;
        filter.skip_me.get_or_insert(true);
        filter
    };
    let me = cx.client;
    let victims: Vec<ClientId> =
        cx.sv.clients.iter().filter(|c| filter.matches(c, cx.ks, me)).map(|c| c.id).collect();
    for victim in &victims {
        crate::acl::kill_client(cx.sv, *victim, Some(me));
    }
    if !old_form {
        cx.reply.len(victims.len());
    } else if victims.is_empty() {
        return Err(CmdError::new("ERR No such client"));
    } else {
        cx.reply.ok();
    }
    Ok(())
}

pub(super) fn pause(cx: &mut Cx<'_>) -> Res {
    let all = match cx.args.get(3) {
        None => true,
        Some(_) if cx.argc() > 4 => return Err(SYNTAX),
        Some(mode) if mode.eq_ignore_ascii_case(b"all") => true,
        Some(mode) if mode.eq_ignore_ascii_case(b"write") => false,
        Some(_) => return Err(CmdError::new("ERR CLIENT PAUSE mode must be WRITE or ALL")),
    };
    let timeout = crate::util::parse_i64(cx.args[2])
        .ok_or(CmdError::new("ERR timeout is not an integer or out of range"))?;
    if timeout < 0 {
        return Err(CmdError::new("ERR timeout is negative"));
    }
    let until = cx.ks.now.saturating_add(timeout);
    // A pause is only ever made longer and stricter.
    let pause = cx.sv.pause.get_or_insert(Pause { until, all });
    pause.until = pause.until.max(until);
    pause.all |= all;
    cx.ks.paused = true;
    cx.reply.ok();
    Ok(())
}

pub(super) fn unpause(cx: &mut Cx<'_>) -> Res {
    crate::execute::unpause(cx.ks, cx.sv);
    cx.reply.ok();
    Ok(())
}

pub(super) fn reply(cx: &mut Cx<'_>) -> Res {
    let mode = match cx.args[2] {
        word if word.eq_ignore_ascii_case(b"on") => ReplyMode::On,
        word if word.eq_ignore_ascii_case(b"off") => ReplyMode::Off,
        word if word.eq_ignore_ascii_case(b"skip") => ReplyMode::SkipNext,
        _ => return Err(SYNTAX),
    };
    let client = cx.me()?;
    // SKIP changes nothing for a client that gets no replies anyway.
    if !(mode == ReplyMode::SkipNext && client.reply_mode == ReplyMode::Off) {
        client.reply_mode = mode;
    }
    cx.reply.ok();
    Ok(())
}

pub(super) fn unblock(cx: &mut Cx<'_>) -> Res {
    let with_error = match cx.args.get(3) {
        None => false,
        Some(_) if cx.argc() > 4 => return Err(SYNTAX),
        Some(word) if word.eq_ignore_ascii_case(b"timeout") => false,
        Some(word) if word.eq_ignore_ascii_case(b"error") => true,
        Some(_) => return Err(CmdError::new("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")),
    };
    let number = cx.int(2)?;
    let target = cx.sv.clients.by_number(number.max(0) as u64).filter(|c| c.blocked).map(|c| c.id);
    let done = target.is_some_and(|target| crate::blocked::unblock(cx.ks, cx.sv, target, with_error));
    cx.reply.int(i64::from(done));
    Ok(())
}
