//! The code generator: expressions that are not yet in a register, jump lists, constants. One pass, as in Lua 5.1,
//! because registers, lines and names in error messages follow from it.

use std::collections::HashMap;

use crate::chunk::{Const, LocVar, Proto, UpDesc};
use crate::lexer::{Fail, Lexer};
use crate::op::{Instr, Op};

pub(crate) const NO_JUMP: i32 = -1;
const NO_REG: u8 = 255;
const MAX_STACK: usize = 250;
const MAX_RK: u32 = 255;
const FIELDS_PER_FLUSH: usize = 50;
/// Open results or arguments
pub(crate) const MULTI: i32 = -1;

/// Kind of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Void,
    Nil,
    True,
    False,
    /// Constant number `info`
    K,
    Num(f64),
    /// Register
    Local,
    Upval,
    /// Constant with the name
    Global,
    /// Table register, and key as [`Rk`] in `aux`
    Indexed,
    /// Jump instruction
    Jmp,
    /// Instruction whose target register is open
    Reloc,
    /// Register
    NonReloc,
    /// Call instruction
    Call,
    /// Vararg instruction
    Vararg,
}

/// A register, or constant + 256.
pub(crate) type Rk = u32;

fn is_k(rk: Rk) -> bool {
    rk >= 256
}

/// An expression: its value and the jumps that leave it as true (`t`) or false (`f`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exp {
    pub(crate) k: Kind,
    pub(crate) info: u32,
    pub(crate) aux: Rk,
    pub(crate) t: i32,
    pub(crate) f: i32,
}

impl Exp {
    pub(crate) fn new(k: Kind, info: u32) -> Exp {
        Exp { k, info, aux: 0, t: NO_JUMP, f: NO_JUMP }
    }

    fn has_jumps(&self) -> bool {
        self.t != self.f
    }

    fn numeral(&self) -> Option<f64> {
        match self.k {
            Kind::Num(n) if self.t == NO_JUMP && self.f == NO_JUMP => Some(n),
            _ => None,
        }
    }

    /// True when evaluating it may give any number of values.
    pub(crate) fn is_multi(&self) -> bool {
        matches!(self.k, Kind::Call | Kind::Vararg)
    }

    /// True for a constant string.
    pub(crate) fn is_const_str(&self) -> bool {
        self.k == Kind::K && !self.has_jumps()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    Concat,
    Ne,
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

/// A block: its loop's breaks, and whether it has captured locals.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) breaks: i32,
    pub(crate) nactvar: usize,
    pub(crate) upval: bool,
    pub(crate) is_loop: bool,
}

/// Key of a constant while compiling.
#[derive(PartialEq, Eq, Hash)]
enum ConstKey {
    Nil,
    Bool(bool),
    Num(u64),
    Str(Box<[u8]>),
}

/// A function being compiled.
pub(crate) struct Func {
    pub(crate) p: Proto,
    consts: HashMap<ConstKey, u32>,
    pub(crate) blocks: Vec<Block>,
    last_target: i32,
    /// Jumps to the next instruction
    jpc: i32,
    pub(crate) free_reg: usize,
    /// Active locals: index into `p.locals`
    pub(crate) actvar: Vec<u32>,
    /// Locals declared but not yet active
    pub(crate) pending: Vec<u32>,
}

type R<T> = Result<T, Fail>;

impl Func {
    pub(crate) fn new(line: u32) -> Func {
        let p = Proto { line, max_stack: 2, ..Proto::default() };
        Func {
            p,
            consts: HashMap::new(),
            blocks: Vec::new(),
            last_target: -1,
            jpc: NO_JUMP,
            free_reg: 0,
            actvar: Vec::new(),
            pending: Vec::new(),
        }
    }

    pub(crate) fn pc(&self) -> usize {
        self.p.code.len()
    }

    fn ins(&mut self, e: &Exp) -> &mut Instr {
        &mut self.p.code[e.info as usize]
    }

    // Locals

    pub(crate) fn declare(&mut self, name: Box<str>) {
        self.p.locals.push(LocVar { name, start: 0, end: 0 });
        self.pending.push(self.p.locals.len() as u32 - 1);
    }

    /// Makes the first `n` declared locals active.
    pub(crate) fn activate(&mut self, n: usize) {
        let pc = self.pc() as u32;
        for i in self.pending.drain(..n) {
            self.p.locals[i as usize].start = pc;
            self.actvar.push(i);
        }
    }

    pub(crate) fn remove_vars(&mut self, to: usize) {
        let pc = self.pc() as u32;
        for i in self.actvar.drain(to..) {
            self.p.locals[i as usize].end = pc;
        }
    }

    pub(crate) fn find_local(&self, name: &str) -> Option<usize> {
        self.actvar.iter().rposition(|i| &*self.p.locals[*i as usize].name == name)
    }

    pub(crate) fn mark_upval(&mut self, reg: usize) {
        if let Some(b) = self.blocks.iter_mut().rev().find(|b| b.nactvar <= reg) {
            b.upval = true;
        }
    }

    pub(crate) fn upvalue(&mut self, desc: UpDesc, name: &str, lex: &Lexer<'_>) -> R<u32> {
        if let Some(i) = self.p.upvals.iter().position(|u| *u == desc) {
            return Ok(i as u32);
        }
        self.check_limit(self.p.upvals.len() + 1, 60, "upvalues", lex)?;
        self.p.upvals.push(desc);
        self.p.upval_names.push(name.into());
        Ok(self.p.upvals.len() as u32 - 1)
    }

    pub(crate) fn check_limit(&self, n: usize, limit: usize, what: &str, lex: &Lexer<'_>) -> R<()> {
        if n <= limit {
            return Ok(());
        }
        let msg = if self.p.line == 0 {
            format!("main function has more than {limit} {what}")
        } else {
            format!("function at line {} has more than {limit} {what}", self.p.line)
        };
        Err(lex.plain_error(&msg))
    }

    // Blocks

    pub(crate) fn enter_block(&mut self, is_loop: bool) {
        self.blocks.push(Block { breaks: NO_JUMP, nactvar: self.actvar.len(), upval: false, is_loop });
    }

    pub(crate) fn leave_block(&mut self, lex: &mut Lexer<'_>) -> R<()> {
        let Some(b) = self.blocks.pop() else { return Ok(()) };
        self.remove_vars(b.nactvar);
        if b.upval {
            self.emit(Instr::abc(Op::Close, b.nactvar as u8, 0, 0), lex)?;
        }
        self.free_reg = self.actvar.len();
        self.patch_to_here(b.breaks);
        Ok(())
    }

    // Instructions

    pub(crate) fn emit(&mut self, i: Instr, lex: &mut Lexer<'_>) -> R<usize> {
        let pc = self.pc();
        let jpc = std::mem::replace(&mut self.jpc, NO_JUMP);
        self.patch_aux(jpc, pc, NO_REG, pc);
        if pc >= (1 << 26) {
            return Err(lex.syntax_error("code size overflow"));
        }
        lex.code_size += size_of::<Instr>() + 4;
        self.p.code.push(i);
        self.p.lines.push(lex.last_line);
        Ok(pc)
    }

    pub(crate) fn fix_line(&mut self, line: u32) {
        if let Some(l) = self.p.lines.last_mut() {
            *l = line;
        }
    }

    pub(crate) fn nil(&mut self, from: usize, n: usize, lex: &mut Lexer<'_>) -> R<()> {
        if self.pc() as i32 > self.last_target {
            match self.p.code.last_mut() {
                Some(prev) if prev.op == Op::LoadNil => {
                    let (pfrom, pto) = (prev.a as usize, prev.b as usize);
                    if pfrom <= from && from <= pto + 1 {
                        if from + n - 1 > pto {
                            prev.b = (from + n - 1) as u8;
                        }
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        self.emit(Instr::abc(Op::LoadNil, from as u8, (from + n - 1) as u8, 0), lex)?;
        Ok(())
    }

    pub(crate) fn jump(&mut self, lex: &mut Lexer<'_>) -> R<i32> {
        let jpc = std::mem::replace(&mut self.jpc, NO_JUMP);
        let mut j = self.emit(Instr::ad(Op::Jmp, 0, NO_JUMP as u32), lex)? as i32;
        self.concat(&mut j, jpc);
        Ok(j)
    }

    pub(crate) fn ret(&mut self, first: usize, n: i32, lex: &mut Lexer<'_>) -> R<()> {
        self.emit(Instr::abc(Op::Return, first as u8, (n + 1) as u8, 0), lex)?;
        Ok(())
    }

    pub(crate) fn label(&mut self) -> i32 {
        self.last_target = self.pc() as i32;
        self.last_target
    }

    fn get_jump(&self, pc: i32) -> i32 {
        let off = self.p.code[pc as usize].jump();
        if off == NO_JUMP { NO_JUMP } else { pc + 1 + off }
    }

    fn fix_jump(&mut self, pc: i32, dest: i32) {
        self.p.code[pc as usize].d = (dest - (pc + 1)) as u32;
    }

    fn need_value(&self, mut list: i32) -> bool {
        while list != NO_JUMP {
            if self.p.code[list as usize].op != Op::TestSet {
                return true;
            }
            list = self.get_jump(list);
        }
        false
    }

    fn patch_test_reg(&mut self, node: i32, reg: u8) -> bool {
        let i = &mut self.p.code[node as usize];
        if i.op != Op::TestSet {
            return false;
        }
        if reg != NO_REG && reg != i.b {
            i.a = reg;
        } else {
            *i = Instr { op: Op::Test, a: i.b, b: 0, c: i.c, d: i.d };
        }
        true
    }

    fn remove_values(&mut self, mut list: i32) {
        while list != NO_JUMP {
            self.patch_test_reg(list, NO_REG);
            list = self.get_jump(list);
        }
    }

    fn patch_aux(&mut self, mut list: i32, vtarget: usize, reg: u8, dtarget: usize) {
        while list != NO_JUMP {
            let next = self.get_jump(list);
            let target = if self.patch_test_reg(list, reg) { vtarget } else { dtarget };
            self.fix_jump(list, target as i32);
            list = next;
        }
    }

    pub(crate) fn patch_list(&mut self, list: i32, target: i32) {
        if target == self.pc() as i32 {
            self.patch_to_here(list);
        } else {
            self.patch_aux(list, target as usize, NO_REG, target as usize);
        }
    }

    pub(crate) fn patch_to_here(&mut self, list: i32) {
        self.label();
        let mut jpc = self.jpc;
        self.concat(&mut jpc, list);
        self.jpc = jpc;
    }

    pub(crate) fn concat(&mut self, l1: &mut i32, l2: i32) {
        if l2 == NO_JUMP {
            return;
        }
        if *l1 == NO_JUMP {
            *l1 = l2;
            return;
        }
        let mut list = *l1;
        loop {
            let next = self.get_jump(list);
            if next == NO_JUMP {
                break;
            }
            list = next;
        }
        self.fix_jump(list, l2);
    }

    // Registers

    pub(crate) fn check_stack(&mut self, n: usize, lex: &Lexer<'_>) -> R<()> {
        let new = self.free_reg + n;
        if new > self.p.max_stack as usize {
            if new >= MAX_STACK {
                return Err(lex.syntax_error("function or expression too complex"));
            }
            self.p.max_stack = new as u8;
        }
        Ok(())
    }

    pub(crate) fn reserve(&mut self, n: usize, lex: &Lexer<'_>) -> R<()> {
        self.check_stack(n, lex)?;
        self.free_reg += n;
        Ok(())
    }

    fn free_rk(&mut self, rk: Rk) {
        if !is_k(rk) && rk as usize >= self.actvar.len() {
            self.free_reg -= 1;
        }
    }

    fn free_exp(&mut self, e: &Exp) {
        if e.k == Kind::NonReloc {
            self.free_rk(e.info);
        }
    }

    // Constants

    fn add_k(&mut self, key: ConstKey, v: Const, lex: &mut Lexer<'_>) -> R<u32> {
        if let Some(i) = self.consts.get(&key) {
            return Ok(*i);
        }
        let i = self.p.consts.len() as u32;
        if i >= (1 << 18) {
            // Lua raises this one without a position.
            return Err(crate::lexer::Fail::Syntax(b"constant table overflow".to_vec()));
        }
        lex.code_size += 64 + if let Const::Str(s) = &v { s.len() } else { 0 };
        self.p.consts.push(v);
        self.consts.insert(key, i);
        Ok(i)
    }

    pub(crate) fn string_k(&mut self, s: &[u8], lex: &mut Lexer<'_>) -> R<u32> {
        self.add_k(ConstKey::Str(s.into()), Const::Str(s.into()), lex)
    }

    fn number_k(&mut self, n: f64, lex: &mut Lexer<'_>) -> R<u32> {
        // 0 and -0 are one key of a Lua table, so the first of them is used for both.
        let key = if n == 0.0 { 0.0f64 } else { n };
        self.add_k(ConstKey::Num(key.to_bits()), Const::Num(n), lex)
    }

    // Expressions

    pub(crate) fn set_returns(&mut self, e: &Exp, n: i32, lex: &Lexer<'_>) -> R<()> {
        match e.k {
            Kind::Call => self.ins(e).c = (n + 1) as u8,
            Kind::Vararg => {
                let reg = self.free_reg as u8;
                let i = self.ins(e);
                i.b = (n + 1) as u8;
                i.a = reg;
                self.reserve(1, lex)?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn set_one_ret(&mut self, e: &mut Exp) {
        match e.k {
            Kind::Call => {
                e.k = Kind::NonReloc;
                e.info = u32::from(self.ins(e).a);
            }
            Kind::Vararg => {
                self.ins(e).b = 2;
                e.k = Kind::Reloc;
            }
            _ => {}
        }
    }

    pub(crate) fn discharge_vars(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        let i = match e.k {
            Kind::Local => {
                e.k = Kind::NonReloc;
                return Ok(());
            }
            Kind::Upval => Instr::abc(Op::GetUpval, 0, e.info as u8, 0),
            Kind::Global => Instr::ad(Op::GetGlobal, 0, e.info),
            Kind::Indexed => {
                self.free_rk(e.aux);
                self.free_rk(e.info);
                let t = e.info as u8;
                if is_k(e.aux) {
                    let k = e.aux - 256;
                    let op = if self.is_short(k) { Op::GetField } else { Op::GetTableK };
                    Instr { op, a: 0, b: t, c: 0, d: k }
                } else {
                    Instr::abc(Op::GetTable, 0, t, e.aux as u8)
                }
            }
            Kind::Vararg | Kind::Call => {
                self.set_one_ret(e);
                return Ok(());
            }
            _ => return Ok(()),
        };
        e.info = self.emit(i, lex)? as u32;
        e.k = Kind::Reloc;
        Ok(())
    }

    /// True when the constant is a string that is interned.
    fn is_short(&self, k: u32) -> bool {
        matches!(self.p.consts.get(k as usize), Some(Const::Str(s)) if s.len() <= crate::strings::MAX_INTERNED)
    }

    fn discharge_in(&mut self, e: &mut Exp, reg: usize, lex: &mut Lexer<'_>) -> R<()> {
        self.discharge_vars(e, lex)?;
        let r = reg as u8;
        match e.k {
            Kind::Nil => self.nil(reg, 1, lex)?,
            Kind::False | Kind::True => {
                self.emit(Instr::abc(Op::LoadBool, r, u8::from(e.k == Kind::True), 0), lex)?;
            }
            Kind::K => {
                self.emit(Instr::ad(Op::LoadK, r, e.info), lex)?;
            }
            Kind::Num(n) => {
                let k = self.number_k(n, lex)?;
                self.emit(Instr::ad(Op::LoadK, r, k), lex)?;
            }
            Kind::Reloc => self.ins(e).a = r,
            Kind::NonReloc => {
                if reg as u32 != e.info {
                    self.emit(Instr::abc(Op::Move, r, e.info as u8, 0), lex)?;
                }
            }
            _ => return Ok(()),
        }
        e.info = reg as u32;
        e.k = Kind::NonReloc;
        Ok(())
    }

    fn discharge_to_any(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        if e.k != Kind::NonReloc {
            self.reserve(1, lex)?;
            self.discharge_in(e, self.free_reg - 1, lex)?;
        }
        Ok(())
    }

    fn in_reg(&mut self, e: &mut Exp, reg: usize, lex: &mut Lexer<'_>) -> R<()> {
        self.discharge_in(e, reg, lex)?;
        if e.k == Kind::Jmp {
            let mut t = e.t;
            self.concat(&mut t, e.info as i32);
            e.t = t;
        }
        if e.has_jumps() {
            let (mut pf, mut pt) = (NO_JUMP, NO_JUMP);
            if self.need_value(e.t) || self.need_value(e.f) {
                let fj = if e.k == Kind::Jmp { NO_JUMP } else { self.jump(lex)? };
                self.label();
                pf = self.emit(Instr::abc(Op::LoadBool, reg as u8, 0, 1), lex)? as i32;
                self.label();
                pt = self.emit(Instr::abc(Op::LoadBool, reg as u8, 1, 0), lex)? as i32;
                self.patch_to_here(fj);
            }
            let end = self.label() as usize;
            self.patch_aux(e.f, end, reg as u8, pf as usize);
            self.patch_aux(e.t, end, reg as u8, pt as usize);
        }
        e.f = NO_JUMP;
        e.t = NO_JUMP;
        e.info = reg as u32;
        e.k = Kind::NonReloc;
        Ok(())
    }

    pub(crate) fn in_next_reg(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        self.discharge_vars(e, lex)?;
        self.free_exp(e);
        self.reserve(1, lex)?;
        self.in_reg(e, self.free_reg - 1, lex)
    }

    pub(crate) fn in_any_reg(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<u32> {
        self.discharge_vars(e, lex)?;
        if e.k == Kind::NonReloc {
            if !e.has_jumps() {
                return Ok(e.info);
            }
            if e.info as usize >= self.actvar.len() {
                let reg = e.info as usize;
                self.in_reg(e, reg, lex)?;
                return Ok(e.info);
            }
        }
        self.in_next_reg(e, lex)?;
        Ok(e.info)
    }

    pub(crate) fn value_of(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        if e.has_jumps() {
            self.in_any_reg(e, lex)?;
            return Ok(());
        }
        self.discharge_vars(e, lex)
    }

    pub(crate) fn rk_of(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<Rk> {
        self.value_of(e, lex)?;
        match e.k {
            Kind::Num(_) | Kind::True | Kind::False | Kind::Nil if self.p.consts.len() as u32 <= MAX_RK => {
                e.info = match e.k {
                    Kind::Num(n) => self.number_k(n, lex)?,
                    Kind::Nil => self.add_k(ConstKey::Nil, Const::Nil, lex)?,
                    k => self.add_k(ConstKey::Bool(k == Kind::True), Const::Bool(k == Kind::True), lex)?,
                };
                e.k = Kind::K;
                Ok(e.info + 256)
            }
            Kind::K if e.info <= MAX_RK => Ok(e.info + 256),
            _ => self.in_any_reg(e, lex),
        }
    }

    pub(crate) fn store_var(&mut self, var: &Exp, ex: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        match var.k {
            Kind::Local => {
                self.free_exp(ex);
                return self.in_reg(ex, var.info as usize, lex);
            }
            Kind::Upval => {
                let r = self.in_any_reg(ex, lex)?;
                self.emit(Instr::abc(Op::SetUpval, r as u8, var.info as u8, 0), lex)?;
            }
            Kind::Global => {
                let r = self.in_any_reg(ex, lex)?;
                self.emit(Instr::ad(Op::SetGlobal, r as u8, var.info), lex)?;
            }
            Kind::Indexed => {
                let r = self.rk_of(ex, lex)?;
                self.set_table(var.info, var.aux, r, lex)?;
            }
            _ => {}
        }
        self.free_exp(ex);
        Ok(())
    }

    pub(crate) fn set_table(&mut self, t: u32, key: Rk, val: Rk, lex: &mut Lexer<'_>) -> R<()> {
        let a = t as u8;
        let i = match (is_k(key), is_k(val)) {
            (false, false) => Instr::abc(Op::SetTable, a, key as u8, val as u8),
            (false, true) => Instr { op: Op::SetTableRK, a, b: key as u8, c: 0, d: val - 256 },
            (true, false) => Instr { op: Op::SetField, a, b: 0, c: val as u8, d: key - 256 },
            (true, true) => Instr { op: Op::SetFieldK, a, b: 0, c: 0, d: (key - 256) << 16 | (val - 256) },
        };
        self.emit(i, lex)?;
        Ok(())
    }

    pub(crate) fn self_call(&mut self, e: &mut Exp, key: u32, lex: &mut Lexer<'_>) -> R<()> {
        self.in_any_reg(e, lex)?;
        self.free_exp(e);
        let func = self.free_reg;
        self.reserve(2, lex)?;
        self.emit(Instr { op: Op::SelfK, a: func as u8, b: e.info as u8, c: 0, d: key }, lex)?;
        e.info = func as u32;
        e.k = Kind::NonReloc;
        Ok(())
    }

    fn invert_jump(&mut self, e: &Exp) {
        let i = self.ins(e);
        i.c ^= 1;
    }

    fn jump_on_cond(&mut self, e: &mut Exp, cond: bool, lex: &mut Lexer<'_>) -> R<i32> {
        if e.k == Kind::Reloc {
            let i = *self.ins(e);
            if i.op == Op::Not {
                self.p.code.pop();
                self.p.lines.pop();
                return self.cond_jump(Instr::abc(Op::Test, i.b, 0, u8::from(!cond)), lex);
            }
        }
        self.discharge_to_any(e, lex)?;
        self.free_exp(e);
        self.cond_jump(Instr::abc(Op::TestSet, NO_REG, e.info as u8, u8::from(cond)), lex)
    }

    fn cond_jump(&mut self, mut i: Instr, lex: &mut Lexer<'_>) -> R<i32> {
        i.d = NO_JUMP as u32;
        self.emit(i, lex).map(|pc| pc as i32)
    }

    pub(crate) fn go_if_true(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        self.discharge_vars(e, lex)?;
        let pc = match e.k {
            Kind::K | Kind::Num(_) | Kind::True => NO_JUMP,
            Kind::Jmp => {
                self.invert_jump(e);
                e.info as i32
            }
            _ => self.jump_on_cond(e, false, lex)?,
        };
        let mut f = e.f;
        self.concat(&mut f, pc);
        e.f = f;
        self.patch_to_here(e.t);
        e.t = NO_JUMP;
        Ok(())
    }

    fn go_if_false(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        self.discharge_vars(e, lex)?;
        let pc = match e.k {
            Kind::Nil | Kind::False => NO_JUMP,
            Kind::Jmp => e.info as i32,
            _ => self.jump_on_cond(e, true, lex)?,
        };
        let mut t = e.t;
        self.concat(&mut t, pc);
        e.t = t;
        self.patch_to_here(e.f);
        e.f = NO_JUMP;
        Ok(())
    }

    pub(crate) fn not(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        self.discharge_vars(e, lex)?;
        match e.k {
            Kind::Nil | Kind::False => e.k = Kind::True,
            Kind::K | Kind::Num(_) | Kind::True => e.k = Kind::False,
            Kind::Jmp => self.invert_jump(e),
            _ => {
                self.discharge_to_any(e, lex)?;
                self.free_exp(e);
                e.info = self.emit(Instr::abc(Op::Not, 0, e.info as u8, 0), lex)? as u32;
                e.k = Kind::Reloc;
            }
        }
        std::mem::swap(&mut e.f, &mut e.t);
        self.remove_values(e.f);
        self.remove_values(e.t);
        Ok(())
    }

    pub(crate) fn indexed(&mut self, t: &mut Exp, k: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        t.aux = self.rk_of(k, lex)?;
        t.k = Kind::Indexed;
        Ok(())
    }

    pub(crate) fn minus(&mut self, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        if let Some(n) = e.numeral() {
            e.k = Kind::Num(-n);
            return Ok(());
        }
        self.unary(Op::Unm, e, lex)
    }

    pub(crate) fn unary(&mut self, op: Op, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        let r = self.in_any_reg(e, lex)?;
        self.free_exp(e);
        e.info = self.emit(Instr::abc(op, 0, r as u8, 0), lex)? as u32;
        e.k = Kind::Reloc;
        Ok(())
    }

    pub(crate) fn infix(&mut self, op: BinOp, e: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        match op {
            BinOp::And => self.go_if_true(e, lex),
            BinOp::Or => self.go_if_false(e, lex),
            BinOp::Concat => self.in_next_reg(e, lex),
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Pow => {
                if e.numeral().is_none() {
                    self.rk_of(e, lex)?;
                }
                Ok(())
            }
            _ => self.rk_of(e, lex).map(|_| ()),
        }
    }

    pub(crate) fn postfix(&mut self, op: BinOp, e1: &mut Exp, e2: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        match op {
            BinOp::And => {
                self.discharge_vars(e2, lex)?;
                let mut f = e2.f;
                self.concat(&mut f, e1.f);
                e2.f = f;
                *e1 = *e2;
                Ok(())
            }
            BinOp::Or => {
                self.discharge_vars(e2, lex)?;
                let mut t = e2.t;
                self.concat(&mut t, e1.t);
                e2.t = t;
                *e1 = *e2;
                Ok(())
            }
            BinOp::Concat => {
                self.value_of(e2, lex)?;
                if e2.k == Kind::Reloc && self.ins(e2).op == Op::Concat {
                    self.free_exp(e1);
                    self.ins(e2).b = e1.info as u8;
                    e1.k = Kind::Reloc;
                    e1.info = e2.info;
                    return Ok(());
                }
                self.in_next_reg(e2, lex)?;
                self.free_exp(e2);
                self.free_exp(e1);
                let i = Instr::abc(Op::Concat, 0, e1.info as u8, e2.info as u8);
                e1.info = self.emit(i, lex)? as u32;
                e1.k = Kind::Reloc;
                Ok(())
            }
            BinOp::Add => self.arith(Op::Add, e1, e2, lex),
            BinOp::Sub => self.arith(Op::Sub, e1, e2, lex),
            BinOp::Mul => self.arith(Op::Mul, e1, e2, lex),
            BinOp::Div => self.arith(Op::Div, e1, e2, lex),
            BinOp::Mod => self.arith(Op::Mod, e1, e2, lex),
            BinOp::Pow => self.arith(Op::Pow, e1, e2, lex),
            BinOp::Eq => self.compare(Op::Eq, true, false, e1, e2, lex),
            BinOp::Ne => self.compare(Op::Eq, false, false, e1, e2, lex),
            BinOp::Lt => self.compare(Op::Lt, true, false, e1, e2, lex),
            BinOp::Le => self.compare(Op::Le, true, false, e1, e2, lex),
            BinOp::Gt => self.compare(Op::Lt, true, true, e1, e2, lex),
            BinOp::Ge => self.compare(Op::Le, true, true, e1, e2, lex),
        }
    }

    fn arith(&mut self, op: Op, e1: &mut Exp, e2: &mut Exp, lex: &mut Lexer<'_>) -> R<()> {
        if let (Some(a), Some(b)) = (e1.numeral(), e2.numeral())
            && let Some(n) = fold(op, a, b)
        {
            e1.k = Kind::Num(n);
            return Ok(());
        }
        let o2 = self.rk_of(e2, lex)?;
        let o1 = self.rk_of(e1, lex)?;
        if o1 > o2 {
            self.free_exp(e1);
            self.free_exp(e2);
        } else {
            self.free_exp(e2);
            self.free_exp(e1);
        }
        let (rk, kr) = arith_variants(op);
        let o1 = if is_k(o1) && is_k(o2) { self.load_temp(o1, lex)? } else { o1 };
        let i = match (is_k(o1), is_k(o2)) {
            (false, false) => Instr::abc(op, 0, o1 as u8, o2 as u8),
            (false, true) => Instr { op: rk, a: 0, b: o1 as u8, c: 0, d: o2 - 256 },
            _ => Instr { op: kr, a: 0, b: 0, c: o2 as u8, d: o1 - 256 },
        };
        e1.info = self.emit(i, lex)? as u32;
        e1.k = Kind::Reloc;
        Ok(())
    }

    /// Puts a constant into the next free register for the instruction that follows only.
    fn load_temp(&mut self, k: Rk, lex: &mut Lexer<'_>) -> R<Rk> {
        self.check_stack(1, lex)?;
        let r = self.free_reg as u32;
        self.emit(Instr::ad(Op::LoadK, r as u8, k - 256), lex)?;
        Ok(r)
    }

    fn compare(
        &mut self,
        op: Op,
        cond: bool,
        swap: bool,
        e1: &mut Exp,
        e2: &mut Exp,
        lex: &mut Lexer<'_>,
    ) -> R<()> {
        let mut o1 = self.rk_of(e1, lex)?;
        let mut o2 = self.rk_of(e2, lex)?;
        self.free_exp(e2);
        self.free_exp(e1);
        if swap {
            std::mem::swap(&mut o1, &mut o2);
        }
        if is_k(o1) && is_k(o2) {
            o1 = self.load_temp(o1, lex)?;
        }
        let (mut a, mut b) = (o1 as u8, o2 as u8);
        let op = match (op, is_k(o1), is_k(o2)) {
            (_, false, false) => op,
            (Op::Eq, _, true) => {
                b = (o2 - 256) as u8;
                Op::EqK
            }
            (Op::Eq, ..) => {
                a = o2 as u8;
                b = (o1 - 256) as u8;
                Op::EqK
            }
            (Op::Lt, _, true) => {
                b = (o2 - 256) as u8;
                Op::LtRK
            }
            (Op::Lt, ..) => {
                a = (o1 - 256) as u8;
                Op::LtKR
            }
            (_, _, true) => {
                b = (o2 - 256) as u8;
                Op::LeRK
            }
            _ => {
                a = (o1 - 256) as u8;
                Op::LeKR
            }
        };
        e1.info = self.cond_jump(Instr::abc(op, a, b, u8::from(cond)), lex)? as u32;
        e1.k = Kind::Jmp;
        Ok(())
    }

    pub(crate) fn set_list(
        &mut self,
        base: u32,
        nelems: usize,
        to_store: usize,
        lex: &mut Lexer<'_>,
    ) -> R<()> {
        let first = (nelems - 1) / FIELDS_PER_FLUSH * FIELDS_PER_FLUSH;
        self.emit(Instr { op: Op::SetList, a: base as u8, b: to_store as u8, c: 0, d: first as u32 }, lex)?;
        self.free_reg = base as usize + 1;
        Ok(())
    }

    /// True when the values of a constructor that wait in registers must be stored.
    pub(crate) fn flush_due(to_store: usize) -> bool {
        to_store == FIELDS_PER_FLUSH
    }
}

fn arith_variants(op: Op) -> (Op, Op) {
    match op {
        Op::Add => (Op::AddRK, Op::AddKR),
        Op::Sub => (Op::SubRK, Op::SubKR),
        Op::Mul => (Op::MulRK, Op::MulKR),
        Op::Div => (Op::DivRK, Op::DivKR),
        Op::Mod => (Op::ModRK, Op::ModKR),
        _ => (Op::PowRK, Op::PowKR),
    }
}

fn fold(op: Op, a: f64, b: f64) -> Option<f64> {
    let r = match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div if b != 0.0 => a / b,
        Op::Mod if b != 0.0 => crate::meta::lua_mod(a, b),
        Op::Pow => a.powf(b),
        _ => return None,
    };
    if r.is_nan() { None } else { Some(r) }
}
