//! Union, intersection and difference of sorted sets; plain sets take part with score 1.

use crate::commands::list_util::at_least;
use crate::commands::zset_util::{Scored, Shape, store};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX, WRONG_TYPE};
use crate::keyspace::Keyspace;
use crate::types::{Set, ZSet, ZSetCfg};
use crate::value::Value;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use totality_ds::{Bytes, Item};

/// What is made of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Members of any input.
    Union,
    /// Members of all inputs.
    Inter,
    /// Members of the first input only.
    Diff,
}

#[derive(Debug, Clone, Copy)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn join(self, a: f64, b: f64) -> f64 {
        match self {
            // An infinity and its opposite make 0.
            Aggregate::Sum => Some(a + b).filter(|sum| !sum.is_nan()).unwrap_or(0.0),
            Aggregate::Min if b < a => b,
            Aggregate::Max if b > a => b,
            _ => a,
        }
    }
}

/// What becomes of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// It is the reply.
    Reply,
    /// It goes to the key at argument 1, with this event.
    Store(&'static str),
    /// Only its size is the reply.
    Count,
}

struct Options {
    weights: SmallVec<[f64; 8]>,
    /// The arguments that say them.
    weights_at: Range<usize>,
    aggregate: Aggregate,
    scores: bool,
    limit: usize,
}

enum Members<'k> {
    Sorted(&'k ZSet),
    Plain(&'k Set),
    None,
}

struct Source<'k> {
    members: Members<'k>,
    weight: f64,
}

impl<'k> Source<'k> {
    fn len(&self) -> usize {
        match self.members {
            Members::Sorted(set) => set.len(),
            Members::Plain(set) => set.len(),
            Members::None => 0,
        }
    }

    fn score(&self, member: Item<'_>) -> Option<f64> {
        match self.members {
            Members::Sorted(set) => member.with_bytes(|member| set.score(member)),
            Members::Plain(set) => set.contains_item(member).then_some(1.0),
            Members::None => None,
        }
    }

    fn weighted(&self, score: f64) -> f64 {
        Some(self.weight * score).filter(|score| !score.is_nan()).unwrap_or(0.0)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = (Item<'k>, f64)> + 'k> {
        match self.members {
            Members::Sorted(set) => set.iter(),
            Members::Plain(set) => Box::new(set.iter().map(|member| (member, 1.0))),
            Members::None => Box::new(std::iter::empty()),
        }
    }

    fn same(&self, other: &Source<'_>) -> bool {
        match (&self.members, &other.members) {
            (Members::Sorted(a), Members::Sorted(b)) => std::ptr::eq(*a, *b),
            (Members::Plain(a), Members::Plain(b)) => std::ptr::eq(*a, *b),
            _ => false,
        }
    }
}

/// ZUNION, ZINTER, ZDIFF, their STORE forms and ZINTERCARD. The number of keys stands at argument `at`.
pub fn run(cx: &mut Cx<'_>, at: usize, op: Op, output: Output) -> Res {
    let numkeys = cx.int(at)?;
    if numkeys < 1 {
        let name = &cx.command.full_name;
        return Err(CmdError::owned(format!("ERR at least 1 input key is needed for '{name}' command")));
    }
    let first = at + 1;
    if numkeys as u64 > (cx.argc() - first) as u64 {
        return Err(SYNTAX);
    }
    let keys = &cx.args[first..first + numkeys as usize];
    for key in keys {
        match cx.ks.read(key) {
            None | Some(Value::ZSet(_) | Value::Set(_)) => {}
            Some(_) => return Err(WRONG_TYPE),
        }
    }
    let options = options(cx, first + keys.len(), keys.len(), op, output)?;
    let mut sources = open(cx.ks, keys, &options.weights);
    if op != Op::Diff {
        sources.sort_by_key(Source::len);
    }
    if output == Output::Count {
        let limit = if options.limit == 0 { usize::MAX } else { options.limit };
        let mut count = 0;
        intersect(&sources, options.aggregate, |_, _| {
            count += 1;
            count < limit
        });
        cx.reply.len(count);
        return Ok(());
    }
    let mut result: Vec<Scored> = Vec::new();
    match op {
        Op::Union => result = union(&sources, options.aggregate),
        Op::Inter => intersect(&sources, options.aggregate, |member, score| {
            result.push((member.to_bytes(), score));
            true
        }),
        Op::Diff => difference(&sources, &mut result),
    }
    drop(sources);
    result.sort_unstable_by(by_score);
    match output {
        Output::Store(event) => {
            let dirty = cx.ks.dirty;
            let cfg = ZSetCfg::of(cx.ks);
            let members = result.iter().map(|(member, score)| (&**member, *score));
            store(cx, cx.args[1], ZSet::from_sorted(members, &cfg), event);
            if cx.ks.dirty != dirty {
                cx.propagate_decimal(options.weights_at.clone());
            }
        }
        _ => {
            let shape = Shape::new(&cx.reply, options.scores);
            cx.reply.array(shape.len(result.len()));
            for (member, score) in &result {
                shape.member(&mut cx.reply, Item::Str(member), *score);
            }
        }
    }
    Ok(())
}

/// Order of members in the result: scores are never NaN, and the two zeros are equal.
fn by_score(a: &Scored, b: &Scored) -> Ordering {
    a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal).then_with(|| a.0.cmp(&b.0))
}

fn options(cx: &Cx<'_>, mut i: usize, numkeys: usize, op: Op, output: Output) -> Res<Options> {
    let mut options = Options {
        weights: SmallVec::from_elem(1.0, numkeys),
        weights_at: 0..0,
        aggregate: Aggregate::Sum,
        scores: false,
        limit: 0,
    };
    let combines = op != Op::Diff && output != Output::Count;
    while i < cx.argc() {
        let left = cx.argc() - i;
        if combines && left > numkeys && cx.is(i, "WEIGHTS") {
            for (weight, arg) in options.weights.iter_mut().zip(&cx.args[i + 1..]) {
                *weight = crate::util::float_arg(arg)
                    .map_err(|_| CmdError::new("ERR weight value is not a float"))?;
            }
            options.weights_at = i + 1..i + 1 + numkeys;
            i += 1 + numkeys;
        } else if combines && left >= 2 && cx.is(i, "AGGREGATE") {
            options.aggregate = match cx.arg(i + 1) {
                arg if arg.eq_ignore_ascii_case(b"sum") => Aggregate::Sum,
                arg if arg.eq_ignore_ascii_case(b"min") => Aggregate::Min,
                arg if arg.eq_ignore_ascii_case(b"max") => Aggregate::Max,
                _ => return Err(SYNTAX),
            };
            i += 2;
        } else if output == Output::Reply && cx.is(i, "WITHSCORES") {
            options.scores = true;
            i += 1;
        } else if output == Output::Count && left >= 2 && cx.is(i, "LIMIT") {
            let error = CmdError::new("ERR LIMIT can't be negative");
            options.limit = at_least(cx.arg(i + 1), 0, error)? as usize;
            i += 2;
        } else {
            return Err(SYNTAX);
        }
    }
    Ok(options)
}

/// The inputs; the keys have just been read, so that what is past its deadline is gone.
fn open<'k>(ks: &'k Keyspace, keys: &[&[u8]], weights: &[f64]) -> SmallVec<[Source<'k>; 8]> {
    let members = |key: &[u8]| match ks.view(key).map(|entry| &entry.value) {
        Some(Value::ZSet(set)) => Members::Sorted(set),
        Some(Value::Set(set)) => Members::Plain(set),
        _ => Members::None,
    };
    keys.iter().zip(weights).map(|(key, weight)| Source { members: members(key), weight: *weight }).collect()
}

/// Gives the members that all sources have, until `f` returns false. The first source is the smallest.
fn intersect<'k>(sources: &[Source<'k>], aggregate: Aggregate, mut f: impl FnMut(Item<'k>, f64) -> bool) {
    let Some((first, others)) = sources.split_first() else { return };
    for (member, own) in first.iter() {
        let mut score = first.weighted(own);
        let in_all = others.iter().all(|other| {
            let value = if other.same(first) { Some(own) } else { other.score(member) };
            if let Some(value) = value {
                score = aggregate.join(score, other.weight * value);
            }
            value.is_some()
        });
        if in_all && !f(member, score) {
            return;
        }
    }
}

fn union(sources: &[Source<'_>], aggregate: Aggregate) -> Vec<Scored> {
    let mut all: HashMap<Bytes, f64> = HashMap::with_capacity(sources.last().map_or(0, Source::len));
    for source in sources {
        for (member, score) in source.iter() {
            let score = source.weighted(score);
            match all.entry(member.to_bytes()) {
                Entry::Vacant(slot) => {
                    slot.insert(score);
                }
                Entry::Occupied(mut slot) => {
                    let joined = aggregate.join(*slot.get(), score);
                    slot.insert(joined);
                }
            }
        }
    }
    all.into_iter().collect()
}

fn difference(sources: &[Source<'_>], result: &mut Vec<Scored>) {
    let Some((first, others)) = sources.split_first() else { return };
    if others.iter().any(|other| other.same(first)) {
        return;
    }
    for (member, score) in first.iter() {
        if others.iter().all(|other| other.score(member).is_none()) {
            result.push((member.to_bytes(), score));
        }
    }
}
