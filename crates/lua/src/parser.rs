//! The parser: hand-written, one pass, depth bounded at Lua's 200 levels.

use crate::chunk::{CompileLimits, Proto, UpDesc};
use crate::code::{BinOp, Exp, Func, Kind, MULTI, NO_JUMP};
use crate::lexer::{Fail, Feed, Lexer, Tok};
use crate::op::{Instr, Op};
use crate::value::{Limit, LuaError};

const MAX_LEVELS: u32 = 200;
const UNARY_PRIORITY: u8 = 8;

type R<T> = Result<T, Fail>;
/// A binary operator with its left and right priorities.
type Operator = (BinOp, u8, u8);

pub(crate) struct Parser<'s> {
    pub(crate) lex: Lexer<'s>,
    funcs: Vec<Func>,
    max_code: usize,
}

/// Compiles a chunk. `depth` C levels are in use already.
pub(crate) fn parse(
    src: Option<&[u8]>,
    short: &[u8],
    limits: CompileLimits,
    depth: u32,
    feed: &mut dyn Feed,
) -> R<Proto> {
    let mut main = Func::new(0);
    main.p.is_vararg = true;
    let mut p =
        Parser { lex: Lexer::new(src, short, depth, feed)?, funcs: vec![main], max_code: limits.max_code };
    p.lex.next()?;
    p.chunk()?;
    p.check(&Tok::Eos)?;
    p.close_func()
}

fn block_follow(t: &Tok) -> bool {
    matches!(t, Tok::Else | Tok::Elseif | Tok::End | Tok::Until | Tok::Eos)
}

fn bin_op(t: &Tok) -> Option<Operator> {
    Some(match t {
        Tok::Char(b'+') => (BinOp::Add, 6, 6),
        Tok::Char(b'-') => (BinOp::Sub, 6, 6),
        Tok::Char(b'*') => (BinOp::Mul, 7, 7),
        Tok::Char(b'/') => (BinOp::Div, 7, 7),
        Tok::Char(b'%') => (BinOp::Mod, 7, 7),
        Tok::Char(b'^') => (BinOp::Pow, 10, 9),
        Tok::Concat => (BinOp::Concat, 5, 4),
        Tok::Ne => (BinOp::Ne, 3, 3),
        Tok::Eq => (BinOp::Eq, 3, 3),
        Tok::Char(b'<') => (BinOp::Lt, 3, 3),
        Tok::Le => (BinOp::Le, 3, 3),
        Tok::Char(b'>') => (BinOp::Gt, 3, 3),
        Tok::Ge => (BinOp::Ge, 3, 3),
        Tok::And => (BinOp::And, 2, 2),
        Tok::Or => (BinOp::Or, 1, 1),
        _ => return None,
    })
}

/// The innermost function and the lexer, borrowed side by side.
macro_rules! fs {
    ($p:expr) => {{
        let last = $p.funcs.len() - 1;
        (&mut $p.funcs[last], &mut $p.lex)
    }};
}

mod statements;

impl Parser<'_> {
    fn enter(&mut self) -> R<()> {
        self.lex.levels += 1;
        if self.lex.levels > MAX_LEVELS {
            return Err(self.lex.plain_error("chunk has too many syntax levels"));
        }
        if self.lex.code_size > self.max_code {
            return Err(Fail::Halt(LuaError::Limit(Limit::Memory)));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.lex.levels -= 1;
    }

    // Tokens

    fn test_next(&mut self, t: &Tok) -> R<bool> {
        if self.lex.tok == *t {
            self.lex.next()?;
            return Ok(true);
        }
        Ok(false)
    }

    fn expected(&self, t: &Tok) -> Fail {
        self.lex.syntax_error(&format!("'{}' expected", t.text()))
    }

    fn check(&self, t: &Tok) -> R<()> {
        if self.lex.tok == *t { Ok(()) } else { Err(self.expected(t)) }
    }

    fn check_next(&mut self, t: &Tok) -> R<()> {
        self.check(t)?;
        self.lex.next()
    }

    fn check_match(&mut self, what: &Tok, who: &Tok, line: u32) -> R<()> {
        if self.test_next(what)? {
            return Ok(());
        }
        if line == self.lex.line {
            return Err(self.expected(what));
        }
        let msg = format!("'{}' expected (to close '{}' at line {line})", what.text(), who.text());
        Err(self.lex.syntax_error(&msg))
    }

    fn check_name(&mut self) -> R<Box<str>> {
        match &mut self.lex.tok {
            Tok::Name(n) => {
                let n = std::mem::take(n);
                self.lex.next()?;
                Ok(n)
            }
            _ => Err(self.lex.syntax_error("'<name>' expected")),
        }
    }

    // Variables

    fn new_local(&mut self, name: Box<str>) -> R<()> {
        let (f, lex) = fs!(self);
        f.check_limit(f.actvar.len() + f.pending.len() + 1, 200, "local variables", lex)?;
        lex.code_size += 32 + name.len();
        f.declare(name);
        Ok(())
    }

    fn string_exp(&mut self, s: &[u8]) -> R<Exp> {
        let (f, lex) = fs!(self);
        let k = f.string_k(s, lex)?;
        Ok(Exp::new(Kind::K, k))
    }

    fn single_var(&mut self) -> R<Exp> {
        let name = self.check_name()?;
        let level = self.funcs.len() - 1;
        match self.find_var(level, &name, true)? {
            Some(e) => Ok(e),
            None => {
                let (f, lex) = fs!(self);
                let k = f.string_k(name.as_bytes(), lex)?;
                Ok(Exp::new(Kind::Global, k))
            }
        }
    }

    /// Depth: nested functions, which the syntax levels bound.
    fn find_var(&mut self, level: usize, name: &str, base: bool) -> R<Option<Exp>> {
        if let Some(reg) = self.funcs[level].find_local(name) {
            if !base {
                self.funcs[level].mark_upval(reg);
            }
            return Ok(Some(Exp::new(Kind::Local, reg as u32)));
        }
        if level == 0 {
            return Ok(None);
        }
        let Some(outer) = self.find_var(level - 1, name, false)? else {
            return Ok(None);
        };
        let desc = UpDesc { in_stack: outer.k == Kind::Local, index: outer.info as u8 };
        let i = self.funcs[level].upvalue(desc, name, &self.lex)?;
        Ok(Some(Exp::new(Kind::Upval, i)))
    }

    fn adjust_assign(&mut self, nvars: usize, nexps: usize, e: &mut Exp) -> R<()> {
        let (f, lex) = fs!(self);
        let mut extra = nvars as i32 - nexps as i32;
        if e.is_multi() {
            extra = (extra + 1).max(0);
            f.set_returns(e, extra, lex)?;
            if extra > 1 {
                f.reserve(extra as usize - 1, lex)?;
            }
            return Ok(());
        }
        if e.k != Kind::Void {
            f.in_next_reg(e, lex)?;
        }
        if extra > 0 {
            let reg = f.free_reg;
            f.reserve(extra as usize, lex)?;
            f.nil(reg, extra as usize, lex)?;
        }
        Ok(())
    }

    // Functions

    fn close_func(&mut self) -> R<Proto> {
        let (f, lex) = fs!(self);
        f.remove_vars(0);
        f.ret(0, 0, lex)?;
        match self.funcs.pop() {
            Some(f) => Ok(f.p),
            None => Err(self.lex.plain_error("no function")),
        }
    }

    fn body(&mut self, is_method: bool, line: u32) -> R<Exp> {
        self.funcs.push(Func::new(line));
        self.check_next(&Tok::Char(b'('))?;
        if is_method {
            self.new_local("self".into())?;
            let (f, _) = fs!(self);
            f.activate(1);
        }
        self.parameters()?;
        self.check_next(&Tok::Char(b')'))?;
        self.chunk()?;
        let (f, lex) = fs!(self);
        f.p.last_line = lex.line;
        self.check_match(&Tok::End, &Tok::Function, line)?;
        let p = self.close_func()?;
        let (f, lex) = fs!(self);
        lex.code_size += size_of::<Proto>();
        f.p.protos.push(p);
        let n = f.p.protos.len() as u32 - 1;
        let pc = f.emit(Instr::ad(Op::Closure, 0, n), lex)?;
        Ok(Exp::new(Kind::Reloc, pc as u32))
    }

    fn parameters(&mut self) -> R<()> {
        let mut n = 0;
        let mut vararg = false;
        if self.lex.tok != Tok::Char(b')') {
            loop {
                match self.lex.tok {
                    Tok::Name(_) => {
                        let name = self.check_name()?;
                        self.new_local(name)?;
                    }
                    Tok::Dots => {
                        self.lex.next()?;
                        self.new_local("arg".into())?;
                        vararg = true;
                    }
                    _ => return Err(self.lex.syntax_error("<name> or '...' expected")),
                }
                n += 1;
                if vararg || !self.test_next(&Tok::Char(b','))? {
                    break;
                }
            }
        }
        let (f, lex) = fs!(self);
        f.activate(n);
        f.p.is_vararg = vararg;
        f.p.needs_arg = vararg;
        f.p.num_params = (f.actvar.len() - usize::from(vararg)) as u8;
        let locals = f.actvar.len();
        f.reserve(locals, lex)
    }

    // Expressions

    /// A list of expressions, all but the last in registers. Returns their number, the last, and whether the first is
    /// a constant string.
    fn exp_list(&mut self) -> R<(usize, Exp, bool)> {
        let mut e = self.expr()?;
        let named = e.is_const_str();
        let mut n = 1;
        while self.test_next(&Tok::Char(b','))? {
            let (f, lex) = fs!(self);
            f.in_next_reg(&mut e, lex)?;
            e = self.expr()?;
            n += 1;
        }
        Ok((n, e, named))
    }

    fn field(&mut self, e: &mut Exp) -> R<()> {
        let (f, lex) = fs!(self);
        f.in_any_reg(e, lex)?;
        self.lex.next()?;
        let name = self.check_name()?;
        let mut key = self.string_exp(name.as_bytes())?;
        let (f, lex) = fs!(self);
        f.indexed(e, &mut key, lex)
    }

    fn index(&mut self) -> R<Exp> {
        self.lex.next()?;
        let mut e = self.expr()?;
        let (f, lex) = fs!(self);
        f.value_of(&mut e, lex)?;
        self.check_next(&Tok::Char(b']'))?;
        Ok(e)
    }

    fn constructor(&mut self) -> R<Exp> {
        let line = self.lex.line;
        let (f, lex) = fs!(self);
        let pc = f.emit(Instr::abc(Op::NewTable, 0, 0, 0), lex)?;
        let mut t = Exp::new(Kind::Reloc, pc as u32);
        f.in_next_reg(&mut t, lex)?;
        let mut v = Exp::new(Kind::Void, 0);
        let (mut na, mut nh, mut to_store) = (0usize, 0usize, 0usize);
        self.check_next(&Tok::Char(b'{'))?;
        loop {
            if self.lex.tok == Tok::Char(b'}') {
                break;
            }
            if v.k != Kind::Void {
                let (f, lex) = fs!(self);
                f.in_next_reg(&mut v, lex)?;
                v.k = Kind::Void;
                if Func::flush_due(to_store) {
                    f.set_list(t.info, na, to_store, lex)?;
                    to_store = 0;
                }
            }
            let record = match self.lex.tok {
                Tok::Name(_) => *self.lex.lookahead()? == Tok::Char(b'='),
                Tok::Char(b'[') => true,
                _ => false,
            };
            if record {
                self.record(t.info)?;
                nh += 1;
            } else {
                v = self.expr()?;
                na += 1;
                to_store += 1;
            }
            if !self.test_next(&Tok::Char(b','))? && !self.test_next(&Tok::Char(b';'))? {
                break;
            }
        }
        self.check_match(&Tok::Char(b'}'), &Tok::Char(b'{'), line)?;
        let (f, lex) = fs!(self);
        if to_store > 0 {
            if v.is_multi() {
                f.set_returns(&v, MULTI, lex)?;
                f.set_list(t.info, na, 0, lex)?;
                na -= 1;
            } else {
                if v.k != Kind::Void {
                    f.in_next_reg(&mut v, lex)?;
                }
                f.set_list(t.info, na, to_store, lex)?;
            }
        }
        let i = &mut f.p.code[pc];
        i.b = int_to_fb(na);
        i.c = int_to_fb(nh);
        Ok(t)
    }

    fn record(&mut self, table: u32) -> R<()> {
        let reg = self.funcs[self.funcs.len() - 1].free_reg;
        let mut key = if matches!(self.lex.tok, Tok::Name(_)) {
            let name = self.check_name()?;
            self.string_exp(name.as_bytes())?
        } else {
            self.index()?
        };
        self.check_next(&Tok::Char(b'='))?;
        let (f, lex) = fs!(self);
        let rk = f.rk_of(&mut key, lex)?;
        let mut val = self.expr()?;
        let (f, lex) = fs!(self);
        let rv = f.rk_of(&mut val, lex)?;
        f.set_table(table, rk, rv, lex)?;
        f.free_reg = reg;
        Ok(())
    }

    fn call_args(&mut self, func: &mut Exp) -> R<()> {
        let line = self.lex.line;
        let mut named = false;
        let mut args = match &mut self.lex.tok {
            Tok::Char(b'(') => {
                if line != self.lex.last_line {
                    return Err(self.lex.syntax_error("ambiguous syntax (function call x new statement)"));
                }
                self.lex.next()?;
                let args = if self.lex.tok == Tok::Char(b')') {
                    Exp::new(Kind::Void, 0)
                } else {
                    let (_, e, first) = self.exp_list()?;
                    named = first;
                    let (f, lex) = fs!(self);
                    f.set_returns(&e, MULTI, lex)?;
                    e
                };
                self.check_match(&Tok::Char(b')'), &Tok::Char(b'('), line)?;
                args
            }
            Tok::Char(b'{') => self.constructor()?,
            Tok::Str(s) => {
                let s = std::mem::take(s);
                let e = self.string_exp(&s)?;
                self.lex.next()?;
                named = true;
                e
            }
            _ => return Err(self.lex.syntax_error("function arguments expected")),
        };
        let (f, lex) = fs!(self);
        let base = func.info as usize;
        let nparams = if args.is_multi() {
            MULTI
        } else {
            if args.k != Kind::Void {
                f.in_next_reg(&mut args, lex)?;
            }
            (f.free_reg - (base + 1)) as i32
        };
        let site = if named {
            f.p.sites += 1;
            f.p.sites
        } else {
            0
        };
        let i = Instr { op: Op::Call, a: base as u8, b: (nparams + 1) as u8, c: 2, d: site };
        func.info = f.emit(i, lex)? as u32;
        func.k = Kind::Call;
        func.t = NO_JUMP;
        func.f = NO_JUMP;
        f.fix_line(line);
        f.free_reg = base + 1;
        Ok(())
    }

    fn prefix_exp(&mut self) -> R<Exp> {
        match self.lex.tok {
            Tok::Char(b'(') => {
                let line = self.lex.line;
                self.lex.next()?;
                let mut e = self.expr()?;
                self.check_match(&Tok::Char(b')'), &Tok::Char(b'('), line)?;
                let (f, lex) = fs!(self);
                f.discharge_vars(&mut e, lex)?;
                Ok(e)
            }
            Tok::Name(_) => self.single_var(),
            _ => Err(self.lex.syntax_error("unexpected symbol")),
        }
    }

    fn primary_exp(&mut self) -> R<Exp> {
        let mut e = self.prefix_exp()?;
        loop {
            match self.lex.tok {
                Tok::Char(b'.') => self.field(&mut e)?,
                Tok::Char(b'[') => {
                    let (f, lex) = fs!(self);
                    f.in_any_reg(&mut e, lex)?;
                    let mut key = self.index()?;
                    let (f, lex) = fs!(self);
                    f.indexed(&mut e, &mut key, lex)?;
                }
                Tok::Char(b':') => {
                    self.lex.next()?;
                    let name = self.check_name()?;
                    let (f, lex) = fs!(self);
                    let key = f.string_k(name.as_bytes(), lex)?;
                    f.self_call(&mut e, key, lex)?;
                    self.call_args(&mut e)?;
                }
                Tok::Char(b'(') | Tok::Str(_) | Tok::Char(b'{') => {
                    let (f, lex) = fs!(self);
                    f.in_next_reg(&mut e, lex)?;
                    self.call_args(&mut e)?;
                }
                _ => return Ok(e),
            }
        }
    }

    fn simple_exp(&mut self) -> R<Exp> {
        let e = match &mut self.lex.tok {
            Tok::Number(n) => Exp::new(Kind::Num(*n), 0),
            Tok::Str(s) => {
                let s = std::mem::take(s);
                self.string_exp(&s)?
            }
            Tok::Nil => Exp::new(Kind::Nil, 0),
            Tok::True => Exp::new(Kind::True, 0),
            Tok::False => Exp::new(Kind::False, 0),
            Tok::Dots => {
                let (f, lex) = fs!(self);
                if !f.p.is_vararg {
                    return Err(lex.syntax_error("cannot use '...' outside a vararg function"));
                }
                f.p.needs_arg = false;
                let pc = f.emit(Instr::abc(Op::Vararg, 0, 1, 0), lex)?;
                Exp::new(Kind::Vararg, pc as u32)
            }
            Tok::Char(b'{') => return self.constructor(),
            Tok::Function => {
                self.lex.next()?;
                let line = self.lex.line;
                return self.body(false, line);
            }
            _ => return self.primary_exp(),
        };
        self.lex.next()?;
        Ok(e)
    }

    fn expr(&mut self) -> R<Exp> {
        self.sub_expr(0).map(|(e, _)| e)
    }

    fn sub_expr(&mut self, limit: u8) -> R<(Exp, Option<Operator>)> {
        self.enter()?;
        let unary = match self.lex.tok {
            Tok::Not | Tok::Char(b'-' | b'#') => Some(self.lex.tok.clone()),
            _ => None,
        };
        let mut e = match unary {
            Some(t) => {
                self.lex.next()?;
                let (mut e, _) = self.sub_expr(UNARY_PRIORITY)?;
                let (f, lex) = fs!(self);
                match t {
                    Tok::Not => f.not(&mut e, lex)?,
                    Tok::Char(b'-') => f.minus(&mut e, lex)?,
                    _ => f.unary(Op::Len, &mut e, lex)?,
                }
                e
            }
            None => self.simple_exp()?,
        };
        let mut op = bin_op(&self.lex.tok);
        while let Some((o, left, right)) = op {
            if left <= limit {
                break;
            }
            self.lex.next()?;
            let (f, lex) = fs!(self);
            f.infix(o, &mut e, lex)?;
            let (mut e2, next) = self.sub_expr(right)?;
            let (f, lex) = fs!(self);
            f.postfix(o, &mut e, &mut e2, lex)?;
            op = next;
        }
        self.leave();
        Ok((e, op))
    }
}

/// Sizes in a constructor, as Lua rounds them: mantissa of 3 bits, exponent of 5.
fn int_to_fb(n: usize) -> u8 {
    let mut x = n;
    let mut e = 0;
    while x >= 16 {
        x = (x + 1) >> 1;
        e += 1;
    }
    if x < 8 { x as u8 } else { ((e + 1) << 3) as u8 | (x - 8) as u8 }
}

/// The inverse of the rounding.
pub(crate) fn fb_to_int(x: u8) -> usize {
    let e = x >> 3;
    if e == 0 { x as usize } else { ((x & 7) as usize + 8) << (e - 1) }
}
