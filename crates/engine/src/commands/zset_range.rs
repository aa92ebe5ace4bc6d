//! Ranges of sorted sets: by rank, score or member, for ZRANGE and its relatives, ZRANGESTORE and ZREMRANGE….

use crate::commands::zset_util::{Shape, lex_range, score_range, store};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::Event;
use crate::types::{LexRange, ScoreRange, ZAdd, ZSet, ZSetCfg};
use crate::util::index_range;

/// What the bounds of a range are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Ranks.
    Rank,
    /// Scores.
    Score,
    /// Members.
    Lex,
}

/// What a command fixes; `None` where an option may choose.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// What the bounds are.
    pub by: Option<By>,
    /// From the highest down.
    pub reverse: Option<bool>,
}

enum Bounds<'a> {
    Rank(i64, i64),
    Score(ScoreRange),
    Lex(LexRange<'a>),
}

struct Range<'a> {
    bounds: Bounds<'a>,
    reverse: bool,
    scores: bool,
    offset: i64,
    limit: i64,
}

impl<'a> Range<'a> {
    /// Reads `min max [BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES]` from argument `at` on.
    fn parse(cx: &Cx<'a>, at: usize, form: Form, stored: bool) -> Res<Self> {
        let (mut by, mut reverse) = (form.by, form.reverse);
        let (mut scores, mut offset, mut limit) = (false, 0, -1);
        let mut i = at + 2;
        while i < cx.argc() {
            if !stored && cx.is(i, "WITHSCORES") {
                scores = true;
            } else if cx.is(i, "LIMIT") && i + 2 < cx.argc() {
                offset = cx.int(i + 1)?;
                limit = cx.int(i + 2)?;
                i += 2;
            } else if form.reverse.is_none() && reverse.is_none() && cx.is(i, "REV") {
                reverse = Some(true);
            } else if by.is_none() && cx.is(i, "BYLEX") {
                by = Some(By::Lex);
            } else if by.is_none() && cx.is(i, "BYSCORE") {
                by = Some(By::Score);
            } else {
                return Err(SYNTAX);
            }
            i += 1;
        }
        let (by, reverse) = (by.unwrap_or(By::Rank), reverse.unwrap_or(false));
        if limit != -1 && by == By::Rank {
            return Err(CmdError::new(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
            ));
        }
        if scores && by == By::Lex {
            return Err(CmdError::new(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ));
        }
        let (first, second) = (cx.arg(at), cx.arg(at + 1));
        let (min, max) = if reverse { (second, first) } else { (first, second) };
        let bounds = match by {
            By::Rank => Bounds::Rank(cx.int(at)?, cx.int(at + 1)?),
            By::Score => Bounds::Score(score_range(min, max)?),
            By::Lex => Bounds::Lex(lex_range(min, max)?),
        };
        Ok(Range { bounds, reverse, scores, offset, limit })
    }

    /// The rank of the first member to be given, and how many follow in the range's direction.
    fn resolve(&self, set: &ZSet) -> (usize, usize) {
        let len = set.len();
        let (start, end) = match &self.bounds {
            Bounds::Rank(start, stop) => {
                let Some((start, end)) = index_range(*start, *stop, len) else { return (0, 0) };
                return (if self.reverse { len - 1 - start } else { start }, end - start);
            }
            Bounds::Score(range) => set.score_ranks(range),
            Bounds::Lex(range) => set.lex_ranks(range, self.reverse),
        };
        let n = end - start;
        if self.offset < 0 || self.offset as u64 >= n as u64 {
            return (0, 0);
        }
        let offset = self.offset as usize;
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        (if self.reverse { end - 1 - offset } else { start + offset }, limit.min(n - offset))
    }
}

/// ZRANGE, ZREVRANGE, ZRANGEBYSCORE, ZREVRANGEBYSCORE, ZRANGEBYLEX, ZREVRANGEBYLEX.
pub fn reply(cx: &mut Cx<'_>, form: Form) -> Res {
    let range = Range::parse(cx, 2, form, false)?;
    let Some(set) = cx.ks.read_as::<ZSet>(cx.args[1])? else {
        cx.reply.array(0);
        return Ok(());
    };
    let (start, count) = range.resolve(set);
    let shape = Shape::new(&cx.reply, range.scores);
    cx.reply.array(shape.len(count));
    set.for_ranks(start, count, range.reverse, |member, score| shape.member(&mut cx.reply, member, score));
    Ok(())
}

/// ZRANGESTORE.
pub fn reply_stored(cx: &mut Cx<'_>) -> Res {
    let range = Range::parse(cx, 3, Form { by: None, reverse: None }, true)?;
    let cfg = ZSetCfg::of(cx.ks);
    let mut result = ZSet::default();
    if let Some(set) = cx.ks.read_as::<ZSet>(cx.args[2])? {
        let (start, count) = range.resolve(set);
        // Like Redis, only a range by rank is known to be large before it is walked.
        let hint = if matches!(range.bounds, Bounds::Rank(..)) { count } else { 0 };
        result = ZSet::for_members(hint, 0, &cfg);
        set.for_ranks(start, count, range.reverse, |member, score| {
            member.with_bytes(|member| result.add(member, score, ZAdd::default(), &cfg));
        });
    }
    store(cx, cx.args[1], result, "zrangestore");
    Ok(())
}

/// ZREMRANGEBYRANK, ZREMRANGEBYSCORE, ZREMRANGEBYLEX.
pub fn remove(cx: &mut Cx<'_>, by: By) -> Res {
    let (min, max) = (cx.args[2], cx.args[3]);
    let (bounds, event) = match by {
        By::Rank => (Bounds::Rank(cx.int(2)?, cx.int(3)?), "zremrangebyrank"),
        By::Score => (Bounds::Score(score_range(min, max)?), "zremrangebyscore"),
        By::Lex => (Bounds::Lex(lex_range(min, max)?), "zremrangebylex"),
    };
    let range = Range { bounds, reverse: false, scores: false, offset: 0, limit: -1 };
    let mut guard = cx.ks.write(cx.args[1]);
    let mut removed = 0;
    if let Some(set) = guard.get::<ZSet>()? {
        let (start, count) = range.resolve(set);
        removed = set.remove_ranks(start, start + count, &mut |_, _| ());
    }
    if removed > 0 {
        guard.changed(Event::zset(event), removed as u64);
        guard.delete_if_empty();
    }
    drop(guard);
    cx.reply.len(removed);
    Ok(())
}

/// ZCOUNT and ZLEXCOUNT.
pub fn count(cx: &mut Cx<'_>, by: By) -> Res {
    let (min, max) = (cx.args[2], cx.args[3]);
    let bounds = match by {
        By::Lex => Bounds::Lex(lex_range(min, max)?),
        _ => Bounds::Score(score_range(min, max)?),
    };
    let range = Range { bounds, reverse: false, scores: false, offset: 0, limit: -1 };
    let count = cx.ks.read_as::<ZSet>(cx.args[1])?.map_or(0, |set| range.resolve(set).1);
    cx.reply.len(count);
    Ok(())
}
