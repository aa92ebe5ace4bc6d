//! Intersection, union and difference of sets.

use super::collection::item;
use crate::cx::Cx;
use crate::error::Res;
use crate::keyspace::Keyspace;
use crate::notify::Event;
use crate::reply::Reply;
use crate::types::{Set, SetCfg};
use crate::value::Collection;
use smallvec::SmallVec;
use totality_ds::Item;

/// What is done with sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Members of all.
    Inter,
    /// Members of any.
    Union,
    /// Members of the first that no other has.
    Diff,
}

type Sets<'a> = SmallVec<[Option<&'a Set>; 8]>;

/// Looks the keys up as reads do; `None` for one that is absent.
fn open<'k>(ks: &'k mut Keyspace, keys: &[&[u8]]) -> Res<Sets<'k>> {
    let mut there: SmallVec<[bool; 8]> = SmallVec::with_capacity(keys.len());
    for key in keys {
        there.push(ks.read_as::<Set>(key)?.is_some());
    }
    let ks = &*ks;
    Ok(keys.iter().zip(there).map(|(key, there)| if there { ks.view_as::<Set>(key) } else { None }).collect())
}

/// Calls `f` with the members of the intersection until it returns false.
fn intersect<'a>(sets: &mut Sets<'a>, mut f: impl FnMut(Item<'a>) -> bool) {
    let mut sets: SmallVec<[&'a Set; 8]> = match sets.iter().copied().collect() {
        Some(sets) => sets,
        None => return,
    };
    // The smallest leads; each of its members must be in all others.
    sets.sort_by_key(|set| set.len());
    let Some((first, others)) = sets.split_first() else { return };
    let others: SmallVec<[&Set; 8]> =
        others.iter().copied().filter(|set| !std::ptr::eq(*set, *first)).collect();
    for member in first.iter() {
        if others.iter().all(|set| set.contains_item(member)) && !f(member) {
            return;
        }
    }
}

/// Writes the intersection of the sets at `keys`.
pub fn reply_inter(cx: &mut Cx<'_>, keys: &[&[u8]]) -> Res {
    let mut sets = open(cx.ks, keys)?;
    match &sets[..] {
        [Some(set)] => all(&mut cx.reply, set),
        _ if sets.iter().any(Option::is_none) => cx.reply.set(0),
        _ => {
            let reply = &mut cx.reply;
            let deferred = reply.set_deferred();
            let mut n = 0;
            intersect(&mut sets, |member| {
                item(reply, member);
                n += 1;
                true
            });
            reply.end(deferred, n);
        }
    }
    Ok(())
}

/// Size of the intersection, counted up to `limit` (0: to the end).
pub fn inter_len(cx: &mut Cx<'_>, keys: &[&[u8]], limit: usize) -> Res<usize> {
    let mut sets = open(cx.ks, keys)?;
    let mut n = 0;
    intersect(&mut sets, |_| {
        n += 1;
        n != limit
    });
    Ok(n)
}

fn inter(cx: &mut Cx<'_>, keys: &[&[u8]], cfg: &SetCfg) -> Res<Set> {
    let mut sets = open(cx.ks, keys)?;
    let smallest = sets.iter().flatten().min_by_key(|set| set.len());
    let mut result = match smallest {
        Some(set) if set.as_intset().is_some() => Set::ints(),
        _ => Set::pack(),
    };
    intersect(&mut sets, |member| {
        result.add_item(member, cfg);
        true
    });
    result.shrink_to_ints(cfg);
    result.shrink_to_fit();
    Ok(result)
}

/// The union or difference. `stored`: the result becomes a value, so its encoding is that which Redis chooses.
fn union_or_diff(cx: &mut Cx<'_>, keys: &[&[u8]], op: Op, stored: bool, cfg: &SetCfg) -> Res<Set> {
    let sets = open(cx.ks, keys)?;
    let all_ints = sets.iter().flatten().all(|set| set.as_intset().is_some());
    let mut result = if stored || all_ints { Set::ints() } else { Set::table(cfg) };
    if op == Op::Union {
        for set in sets.iter().flatten() {
            for member in set.iter() {
                result.add_item(member, cfg);
            }
        }
    } else {
        diff(&sets, &mut result, cfg);
    }
    Ok(result)
}

fn diff(sets: &Sets<'_>, result: &mut Set, cfg: &SetCfg) {
    let Some((Some(first), others)) = sets.split_first() else { return };
    let mut others: SmallVec<[&Set; 8]> = others.iter().flatten().copied().collect();
    if others.iter().any(|set| std::ptr::eq(*set, *first)) {
        return;
    }
    // Either each member of the first is looked up in the others, or the members of all others are removed from a
    // copy of the first; the look-ups stop early, so they count half.
    let look_ups = first.len() * (1 + others.len()) / 2;
    let removals = first.len() + others.iter().map(|set| set.len()).sum::<usize>();
    if look_ups <= removals {
        // The largest finds most.
        others.sort_by_key(|set| std::cmp::Reverse(set.len()));
        for member in first.iter().filter(|member| !others.iter().any(|set| set.contains_item(*member))) {
            result.add_item(member, cfg);
        }
        return;
    }
    for member in first.iter() {
        result.add_item(member, cfg);
    }
    for member in others.iter().flat_map(|set| set.iter()) {
        result.remove_item(member);
        if result.is_empty() {
            return;
        }
    }
}

fn all(reply: &mut Reply<'_>, set: &Set) {
    reply.set(set.len());
    set.iter().for_each(|member| item(reply, member));
}

/// Writes the union or the difference of the sets at `keys`.
pub fn reply_union_or_diff(cx: &mut Cx<'_>, keys: &[&[u8]], op: Op) -> Res {
    if keys.len() == 1 {
        match cx.ks.read_as::<Set>(keys[0])? {
            Some(set) => all(&mut cx.reply, set),
            None => cx.reply.set(0),
        }
        return Ok(());
    }
    let cfg = SetCfg::of(cx.ks);
    let result = union_or_diff(cx, keys, op, false, &cfg)?;
    all(&mut cx.reply, &result);
    Ok(())
}

/// Stores the result at argument 1, of the sets at the arguments from 2 on, and writes its size.
pub fn store(cx: &mut Cx<'_>, op: Op, event: Event) -> Res {
    let cfg = SetCfg::of(cx.ks);
    let (target, keys) = (cx.args[1], &cx.args[2..]);
    let result = match op {
        Op::Inter => inter(cx, keys, &cfg)?,
        _ => union_or_diff(cx, keys, op, true, &cfg)?,
    };
    let len = result.len();
    if len == 0 {
        cx.ks.delete(target);
    } else {
        let mut guard = cx.ks.write(target);
        guard.overwrite(result.into_value());
        guard.changed(event, 1);
    }
    cx.reply.len(len);
    Ok(())
}
