//! The table library.

use crate::native::{Ctx, NativeFn, PIECE, append_pieces};
use crate::value::{LuaError, TableId, Value};

type R = Result<usize, LuaError>;

/// In the order in which Lua registers them.
pub(crate) const FUNCS: &[(&str, NativeFn)] = &[
    ("concat", concat),
    ("foreach", foreach),
    ("foreachi", foreachi),
    ("getn", getn),
    ("maxn", maxn),
    ("insert", insert),
    ("remove", remove),
    ("setn", setn),
    ("sort", sort),
];

fn foreachi(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let n = c.raw_len(t);
    let f = c.check_function(2)?;
    for i in 1..=n {
        c.step(1)?;
        c.push(f);
        c.push(Value::Num(i as f64));
        let v = c.raw_geti(t, i as i64);
        c.push(v);
        c.call(2, 1)?;
        if !c.peek().is_nil() {
            return Ok(1);
        }
        c.pop();
    }
    Ok(0)
}

fn foreach(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let f = c.check_function(2)?;
    c.push(Value::Nil);
    loop {
        c.step(1)?;
        let key = c.peek();
        let Some((k, v)) = crate::lib_base::next_entry(c.st, c.env, t, key)? else {
            return Ok(0);
        };
        c.pop();
        c.push(k);
        c.push(f);
        c.push(k);
        c.push(v);
        c.call(2, 1)?;
        if !c.peek().is_nil() {
            return Ok(1);
        }
        c.pop();
    }
}

fn maxn(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let mut max = 0.0;
    let tab = &c.st.heap.tables[t.index()];
    if let Some(i) = tab.array.iter().rposition(|v| !v.is_nil()) {
        max = (i + 1) as f64;
    }
    for n in &tab.nodes {
        if let Value::Num(k) = n.key
            && !n.val.is_nil()
            && k > max
        {
            max = k;
        }
    }
    c.push(Value::Num(max));
    Ok(1)
}

fn getn(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let n = c.raw_len(t);
    c.push(Value::Num(n as f64));
    Ok(1)
}

fn setn(c: &mut Ctx<'_>) -> R {
    c.check_table(1)?;
    Err(c.error("'setn' is obsolete"))
}

fn insert(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let mut e = (c.raw_len(t) as i32).wrapping_add(1);
    let (pos, v) = match c.nargs() {
        2 => (e, c.arg(2)),
        3 => {
            let pos = c.check_i32(2)?;
            if pos > e {
                e = pos;
            }
            if c.st.heap.tables[t.index()].readonly && e > pos {
                return Err(c.run_error("Attempt to modify a readonly table"));
            }
            let mut i = e;
            let len = c.st.heap.tables[t.index()].array.len();
            if pos >= 1 && i > pos && (i as usize) <= len {
                // All within the array part: one move.
                let a = &mut c.st.heap.tables[t.index()].array;
                a.copy_within(pos as usize - 1..i as usize - 1, pos as usize);
                i = pos;
            }
            while i > pos {
                c.step(1)?;
                let v = c.raw_geti(t, i64::from(i) - 1);
                c.raw_seti(t, i64::from(i), v)?;
                i -= 1;
            }
            (pos, c.arg(3))
        }
        _ => return Err(c.error("wrong number of arguments to 'insert'")),
    };
    c.raw_seti(t, i64::from(pos), v)?;
    Ok(0)
}

fn remove(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let e = c.raw_len(t) as i32;
    let mut pos = c.opt_i32(2, e)?;
    if !(1 <= pos && pos <= e) {
        return Ok(0);
    }
    let v = c.raw_geti(t, i64::from(pos));
    c.push(v);
    let tab = &mut c.st.heap.tables[t.index()];
    if !tab.readonly && (e as usize) <= tab.array.len() {
        tab.array.copy_within(pos as usize..e as usize, pos as usize - 1);
        tab.array[e as usize - 1] = Value::Nil;
        return Ok(1);
    }
    while pos < e {
        c.step(1)?;
        let v = c.raw_geti(t, i64::from(pos) + 1);
        c.raw_seti(t, i64::from(pos), v)?;
        pos += 1;
    }
    c.raw_seti(t, i64::from(e), Value::Nil)?;
    Ok(1)
}

fn concat(c: &mut Ctx<'_>) -> R {
    let sep = c.opt_str(2)?;
    let t = c.check_table(1)?;
    let mut i = c.opt_i32(3, 1)?;
    let last = if c.is_none_or_nil(4) { c.raw_len(t) as i32 } else { c.check_i32(4)? };
    let mut buf = c.take_buf();
    let r = concat_into(c, t, sep, &mut i, last, &mut buf);
    if let Err(e) = r {
        c.give_buf(buf);
        return Err(e);
    }
    let v = c.new_str_from(&mut buf);
    c.give_buf(buf);
    c.push(v?);
    Ok(1)
}

fn concat_into(
    c: &mut Ctx<'_>,
    t: TableId,
    sep: Option<crate::value::StrId>,
    i: &mut i32,
    last: i32,
    buf: &mut Vec<u8>,
) -> Result<(), LuaError> {
    let (mut bad, mut too_long) = (None, 0);
    let room = c.st.heap.max_string.min(c.st.heap.mem.hard.saturating_sub(c.st.heap.used()));
    {
        let (heap, mut steps) = c.parts();
        let sep: &[u8] = sep.map_or(b"", |s| heap.strs.get(s));
        let tab = heap.table(t);
        while *i <= last {
            match tab.get_int(i64::from(*i)) {
                Value::Str(s) => {
                    let bytes = heap.strs.get(s);
                    if bytes.len() <= PIECE {
                        buf.extend_from_slice(bytes);
                    } else if buf.len() + bytes.len() > room {
                        too_long = buf.len() + bytes.len();
                        break;
                    } else {
                        append_pieces(bytes, buf, &mut steps)?;
                    }
                }
                Value::Num(n) => crate::numfmt::number_to_string(n, buf),
                v => {
                    bad = Some(v.type_name());
                    break;
                }
            }
            if *i < last {
                buf.extend_from_slice(sep);
            }
            if buf.len() > room {
                break;
            }
            steps.step(1 + (buf.len() >> 12) as u32 / 16)?;
            let Some(next) = i.checked_add(1) else { break };
            *i = next;
        }
    }
    c.check_len(buf.len().max(too_long))?;
    if let Some(t) = bad {
        return Err(c.error(&format!("invalid value ({t}) at index {i} in table for 'concat'")));
    }
    Ok(())
}

// Sorting: Lua 5.1's own quicksort, whose order of equal elements scripts can see.

fn sort(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let n = c.raw_len(t);
    if !c.is_none_or_nil(2) {
        c.check_function(2)?;
    }
    let cmp = c.arg(2);
    if c.st.heap.tables[t.index()].readonly && n > 1 {
        return Err(c.run_error("Attempt to modify a readonly table"));
    }
    Sort { t, cmp }.aux(c, 1, n as i64)?;
    Ok(0)
}

struct Sort {
    t: TableId,
    cmp: Value,
}

impl Sort {
    #[inline]
    fn get(&self, c: &Ctx<'_>, i: i64) -> Value {
        c.st.heap.tables[self.t.index()].get_int(i)
    }

    #[inline]
    fn put(&self, c: &mut Ctx<'_>, i: i64, v: Value) -> Result<(), LuaError> {
        let tab = &mut c.st.heap.tables[self.t.index()];
        if let Some(s) = tab.array.get_mut((i as usize).wrapping_sub(1)) {
            *s = v;
            return Ok(());
        }
        c.raw_seti(self.t, i, v)
    }

    #[inline]
    fn less(&self, c: &mut Ctx<'_>, a: Value, b: Value) -> Result<bool, LuaError> {
        if self.cmp.is_nil() {
            if let (Value::Num(x), Value::Num(y)) = (a, b) {
                return Ok(x < y);
            }
            return c.less_than(a, b);
        }
        c.push(self.cmp);
        c.push(a);
        c.push(b);
        c.call(2, 1)?;
        Ok(c.pop().truthy())
    }

    /// Exchanges the elements `a` (at `i`) and `b` (at `j`) if `a` is less.
    #[inline]
    fn order(&self, c: &mut Ctx<'_>, a: Value, b: Value, i: i64, j: i64) -> Result<bool, LuaError> {
        // The comparison may take them out of the table: keep them on the stack.
        c.push(a);
        c.push(b);
        let less = self.less(c, a, b)?;
        c.pop();
        c.pop();
        if less {
            self.put(c, j, a)?;
            self.put(c, i, b)?;
        }
        Ok(less)
    }

    /// Sorts `lo..=up`: recurses into the smaller half, so the depth is logarithmic.
    fn aux(&self, c: &mut Ctx<'_>, lo: i64, up: i64) -> Result<(), LuaError> {
        let (mut lo, mut up) = (lo, up);
        while lo < up {
            let (a, b) = (self.get(c, lo), self.get(c, up));
            self.order(c, b, a, up, lo)?;
            if up - lo == 1 {
                break;
            }
            let mid = (lo + up) / 2;
            let (m, l) = (self.get(c, mid), self.get(c, lo));
            if !self.order(c, m, l, mid, lo)? {
                let u = self.get(c, up);
                self.order(c, u, m, up, mid)?;
            }
            if up - lo == 2 {
                break;
            }
            let pivot = self.get(c, mid);
            let next_to_last = self.get(c, up - 1);
            self.put(c, mid, next_to_last)?;
            self.put(c, up - 1, pivot)?;
            // The pivot is in the table, but a comparison may take it out: keep it on the stack.
            c.push(pivot);
            let i = self.partition(c, lo, up, pivot)?;
            c.pop();
            if i - lo < up - i {
                self.aux(c, lo, i - 1)?;
                lo = i + 1;
            } else {
                self.aux(c, i + 1, up)?;
                up = i - 1;
            }
        }
        Ok(())
    }

    fn partition(&self, c: &mut Ctx<'_>, lo: i64, up: i64, pivot: Value) -> Result<i64, LuaError> {
        let mut i = lo;
        let mut j = up - 1;
        loop {
            c.step(1)?;
            let mut a;
            loop {
                i += 1;
                a = self.get(c, i);
                if !self.less(c, a, pivot)? {
                    break;
                }
                if i > up {
                    return Err(c.error("invalid order function for sorting"));
                }
            }
            c.push(a);
            let mut b;
            loop {
                j -= 1;
                b = self.get(c, j);
                if !self.less(c, pivot, b)? {
                    break;
                }
                if j < lo {
                    return Err(c.error("invalid order function for sorting"));
                }
            }
            c.pop();
            if j < i {
                break;
            }
            // The elements as they were read, though the comparison may have changed the table since.
            self.put(c, i, b)?;
            self.put(c, j, a)?;
        }
        let (x, y) = (self.get(c, up - 1), self.get(c, i));
        self.put(c, up - 1, y)?;
        self.put(c, i, x)?;
        Ok(i)
    }
}
