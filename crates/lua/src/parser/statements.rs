//! Statements.

use super::{MAX_LEVELS, Parser, R, block_follow};
use crate::code::{Exp, Kind, MULTI, NO_JUMP};
use crate::lexer::{Fail, Tok};
use crate::op::{Instr, Op};
use crate::value::{Limit, LuaError};

impl Parser<'_> {
    pub(super) fn block(&mut self) -> R<()> {
        let (f, _) = fs!(self);
        f.enter_block(false);
        self.chunk()?;
        let (f, lex) = fs!(self);
        f.leave_block(lex)
    }

    pub(super) fn chunk(&mut self) -> R<()> {
        self.enter()?;
        let mut last = false;
        while !last && !block_follow(&self.lex.tok) {
            last = self.statement()?;
            self.test_next(&Tok::Char(b';'))?;
            let (f, _) = fs!(self);
            f.free_reg = f.actvar.len();
            if self.lex.code_size > self.max_code {
                return Err(Fail::Halt(LuaError::Limit(Limit::Memory)));
            }
        }
        self.leave();
        Ok(())
    }

    /// True when the statement must be the last of its block.
    pub(super) fn statement(&mut self) -> R<bool> {
        let line = self.lex.line;
        match self.lex.tok {
            Tok::If => self.if_stat(line)?,
            Tok::While => self.while_stat(line)?,
            Tok::Do => {
                self.lex.next()?;
                self.block()?;
                self.check_match(&Tok::End, &Tok::Do, line)?;
            }
            Tok::For => self.for_stat(line)?,
            Tok::Repeat => self.repeat_stat(line)?,
            Tok::Function => self.func_stat(line)?,
            Tok::Local => {
                self.lex.next()?;
                if self.test_next(&Tok::Function)? {
                    self.local_func()?;
                } else {
                    self.local_stat()?;
                }
            }
            Tok::Return => {
                self.ret_stat()?;
                return Ok(true);
            }
            Tok::Break => {
                self.lex.next()?;
                self.break_stat()?;
                return Ok(true);
            }
            _ => self.expr_stat()?,
        }
        Ok(false)
    }

    fn cond(&mut self) -> R<i32> {
        let mut e = self.expr()?;
        if e.k == Kind::Nil {
            e.k = Kind::False;
        }
        let (f, lex) = fs!(self);
        f.go_if_true(&mut e, lex)?;
        Ok(e.f)
    }

    fn break_stat(&mut self) -> R<()> {
        let (f, lex) = fs!(self);
        let mut upval = false;
        let mut target = None;
        for (i, b) in f.blocks.iter().enumerate().rev() {
            if b.is_loop {
                target = Some(i);
                break;
            }
            upval |= b.upval;
        }
        let Some(i) = target else {
            return Err(lex.syntax_error("no loop to break"));
        };
        if upval {
            let n = f.blocks[i].nactvar as u8;
            f.emit(Instr::abc(Op::Close, n, 0, 0), lex)?;
        }
        let j = f.jump(lex)?;
        let mut list = f.blocks[i].breaks;
        f.concat(&mut list, j);
        f.blocks[i].breaks = list;
        Ok(())
    }

    fn while_stat(&mut self, line: u32) -> R<()> {
        self.lex.next()?;
        let (f, _) = fs!(self);
        let start = f.label();
        let exit = self.cond()?;
        let (f, _) = fs!(self);
        f.enter_block(true);
        self.check_next(&Tok::Do)?;
        self.block()?;
        let (f, lex) = fs!(self);
        let j = f.jump(lex)?;
        f.patch_list(j, start);
        self.check_match(&Tok::End, &Tok::While, line)?;
        let (f, lex) = fs!(self);
        f.leave_block(lex)?;
        f.patch_to_here(exit);
        Ok(())
    }

    fn repeat_stat(&mut self, line: u32) -> R<()> {
        let (f, _) = fs!(self);
        let start = f.label();
        f.enter_block(true);
        f.enter_block(false);
        self.lex.next()?;
        self.chunk()?;
        self.check_match(&Tok::Until, &Tok::Repeat, line)?;
        let exit = self.cond()?;
        let (f, lex) = fs!(self);
        if f.blocks.last().is_some_and(|b| b.upval) {
            self.break_stat()?;
            let (f, lex) = fs!(self);
            f.patch_to_here(exit);
            f.leave_block(lex)?;
            let j = f.jump(lex)?;
            f.patch_list(j, start);
        } else {
            f.leave_block(lex)?;
            f.patch_list(exit, start);
        }
        let (f, lex) = fs!(self);
        f.leave_block(lex)
    }

    fn for_stat(&mut self, line: u32) -> R<()> {
        let (f, _) = fs!(self);
        f.enter_block(true);
        self.lex.next()?;
        let name = self.check_name()?;
        match self.lex.tok {
            Tok::Char(b'=') => self.for_num(name, line)?,
            Tok::Char(b',') | Tok::In => self.for_list(name)?,
            _ => return Err(self.lex.syntax_error("'=' or 'in' expected")),
        }
        self.check_match(&Tok::End, &Tok::For, line)?;
        let (f, lex) = fs!(self);
        f.leave_block(lex)
    }

    fn exp_to_reg(&mut self) -> R<()> {
        let mut e = self.expr()?;
        let (f, lex) = fs!(self);
        f.in_next_reg(&mut e, lex)
    }

    fn for_num(&mut self, name: Box<str>, line: u32) -> R<()> {
        let base = self.funcs[self.funcs.len() - 1].free_reg;
        for hidden in ["(for index)", "(for limit)", "(for step)"] {
            self.new_local(hidden.into())?;
        }
        self.new_local(name)?;
        self.check_next(&Tok::Char(b'='))?;
        self.exp_to_reg()?;
        self.check_next(&Tok::Char(b','))?;
        self.exp_to_reg()?;
        let by_one = !self.test_next(&Tok::Char(b','))?;
        if !by_one {
            self.exp_to_reg()?;
        } else {
            let (f, lex) = fs!(self);
            let mut one = Exp::new(Kind::Num(1.0), 0);
            f.in_next_reg(&mut one, lex)?;
        }
        self.for_body(base, line, 1, Some(by_one))
    }

    fn for_list(&mut self, name: Box<str>) -> R<()> {
        let base = self.funcs[self.funcs.len() - 1].free_reg;
        for hidden in ["(for generator)", "(for state)", "(for control)"] {
            self.new_local(hidden.into())?;
        }
        self.new_local(name)?;
        let mut nvars = 1;
        while self.test_next(&Tok::Char(b','))? {
            let n = self.check_name()?;
            self.new_local(n)?;
            nvars += 1;
        }
        self.check_next(&Tok::In)?;
        let line = self.lex.line;
        let (n, mut e, _) = self.exp_list()?;
        self.adjust_assign(3, n, &mut e)?;
        let (f, lex) = fs!(self);
        f.check_stack(3, lex)?;
        self.for_body(base, line, nvars, None)
    }

    /// `numeric` says of a numeric loop whether its step is 1.
    fn for_body(&mut self, base: usize, line: u32, nvars: usize, numeric: Option<bool>) -> R<()> {
        let (f, _) = fs!(self);
        f.activate(3);
        self.check_next(&Tok::Do)?;
        let (f, lex) = fs!(self);
        let prep = if numeric.is_some() {
            f.emit(Instr::ad(Op::ForPrep, base as u8, NO_JUMP as u32), lex)? as i32
        } else {
            f.jump(lex)?
        };
        f.enter_block(false);
        f.activate(nvars);
        f.reserve(nvars, lex)?;
        self.block()?;
        let (f, lex) = fs!(self);
        f.leave_block(lex)?;
        f.patch_to_here(prep);
        let op = match numeric {
            Some(true) => Op::ForLoop1,
            Some(false) => Op::ForLoop,
            None => Op::TForLoop,
        };
        let i = Instr { op, a: base as u8, b: 0, c: nvars as u8, d: NO_JUMP as u32 };
        let end = f.emit(i, lex)? as i32;
        f.fix_line(line);
        f.patch_list(end, prep + 1);
        Ok(())
    }

    fn test_then_block(&mut self) -> R<i32> {
        self.lex.next()?;
        let exit = self.cond()?;
        self.check_next(&Tok::Then)?;
        self.block()?;
        Ok(exit)
    }

    fn if_stat(&mut self, line: u32) -> R<()> {
        let mut escapes = NO_JUMP;
        let mut flist = self.test_then_block()?;
        while self.lex.tok == Tok::Elseif {
            let (f, lex) = fs!(self);
            let j = f.jump(lex)?;
            f.concat(&mut escapes, j);
            f.patch_to_here(flist);
            flist = self.test_then_block()?;
        }
        if self.lex.tok == Tok::Else {
            let (f, lex) = fs!(self);
            let j = f.jump(lex)?;
            f.concat(&mut escapes, j);
            f.patch_to_here(flist);
            self.lex.next()?;
            self.block()?;
        } else {
            let (f, _) = fs!(self);
            f.concat(&mut escapes, flist);
        }
        let (f, _) = fs!(self);
        f.patch_to_here(escapes);
        self.check_match(&Tok::End, &Tok::If, line)
    }

    fn local_func(&mut self) -> R<()> {
        let name = self.check_name()?;
        self.new_local(name)?;
        let (f, lex) = fs!(self);
        let v = Exp::new(Kind::Local, f.free_reg as u32);
        f.reserve(1, lex)?;
        f.activate(1);
        let line = self.lex.line;
        let mut b = self.body(false, line)?;
        let (f, lex) = fs!(self);
        f.store_var(&v, &mut b, lex)?;
        let pc = f.pc() as u32;
        if let Some(i) = f.actvar.last() {
            f.p.locals[*i as usize].start = pc;
        }
        Ok(())
    }

    fn local_stat(&mut self) -> R<()> {
        let mut nvars = 0;
        loop {
            let name = self.check_name()?;
            self.new_local(name)?;
            nvars += 1;
            if !self.test_next(&Tok::Char(b','))? {
                break;
            }
        }
        let (nexps, mut e) = if self.test_next(&Tok::Char(b'='))? {
            let (n, e, _) = self.exp_list()?;
            (n, e)
        } else {
            (0, Exp::new(Kind::Void, 0))
        };
        if nexps == nvars && !e.is_multi() {
            // Falls out of adjust_assign as well; kept apart only because it is the common case.
            let (f, lex) = fs!(self);
            f.in_next_reg(&mut e, lex)?;
        } else {
            self.adjust_assign(nvars, nexps, &mut e)?;
        }
        let (f, _) = fs!(self);
        f.activate(nvars);
        Ok(())
    }

    fn func_stat(&mut self, line: u32) -> R<()> {
        self.lex.next()?;
        let mut v = self.single_var()?;
        while self.lex.tok == Tok::Char(b'.') {
            self.field(&mut v)?;
        }
        let method = self.lex.tok == Tok::Char(b':');
        if method {
            self.field(&mut v)?;
        }
        let mut b = self.body(method, line)?;
        let (f, lex) = fs!(self);
        f.store_var(&v, &mut b, lex)?;
        f.fix_line(line);
        Ok(())
    }

    fn expr_stat(&mut self) -> R<()> {
        let e = self.primary_exp()?;
        if e.k == Kind::Call {
            let (f, _) = fs!(self);
            f.p.code[e.info as usize].c = 1;
            return Ok(());
        }
        self.assignment(e)
    }

    fn assignment(&mut self, first: Exp) -> R<()> {
        let mut targets = vec![first];
        loop {
            let last = targets[targets.len() - 1];
            if !matches!(last.k, Kind::Local | Kind::Upval | Kind::Global | Kind::Indexed) {
                return Err(self.lex.syntax_error("syntax error"));
            }
            if !self.test_next(&Tok::Char(b','))? {
                break;
            }
            let e = self.primary_exp()?;
            if e.k == Kind::Local {
                self.check_conflict(&mut targets, e.info)?;
            }
            let room = MAX_LEVELS.saturating_sub(self.lex.levels) as usize;
            let (f, lex) = fs!(self);
            f.check_limit(targets.len(), room, "variables in assignment", lex)?;
            targets.push(e);
        }
        self.check_next(&Tok::Char(b'='))?;
        let (nexps, mut e, _) = self.exp_list()?;
        if nexps == targets.len() {
            let (f, lex) = fs!(self);
            f.set_one_ret(&mut e);
            if let Some(v) = targets.pop() {
                f.store_var(&v, &mut e, lex)?;
            }
        } else {
            self.adjust_assign(targets.len(), nexps, &mut e)?;
            let (f, _) = fs!(self);
            f.free_reg -= nexps.saturating_sub(targets.len());
        }
        while let Some(v) = targets.pop() {
            let (f, lex) = fs!(self);
            let mut e = Exp::new(Kind::NonReloc, f.free_reg as u32 - 1);
            f.store_var(&v, &mut e, lex)?;
        }
        Ok(())
    }

    /// A local that is assigned in the same statement as a table it indexes is saved first.
    fn check_conflict(&mut self, targets: &mut [Exp], reg: u32) -> R<()> {
        let (f, lex) = fs!(self);
        let extra = f.free_reg as u32;
        let mut conflict = false;
        for t in targets.iter_mut().filter(|t| t.k == Kind::Indexed) {
            if t.info == reg {
                conflict = true;
                t.info = extra;
            }
            if t.aux == reg {
                conflict = true;
                t.aux = extra;
            }
        }
        if conflict {
            f.emit(Instr::abc(Op::Move, extra as u8, reg as u8, 0), lex)?;
            f.reserve(1, lex)?;
        }
        Ok(())
    }

    fn ret_stat(&mut self) -> R<()> {
        self.lex.next()?;
        if block_follow(&self.lex.tok) || self.lex.tok == Tok::Char(b';') {
            let (f, lex) = fs!(self);
            return f.ret(0, 0, lex);
        }
        let (n, mut e, _) = self.exp_list()?;
        let (f, lex) = fs!(self);
        if e.is_multi() {
            f.set_returns(&e, MULTI, lex)?;
            if e.k == Kind::Call && n == 1 {
                f.p.code[e.info as usize].op = Op::TailCall;
            }
            let first = f.actvar.len();
            return f.ret(first, MULTI, lex);
        }
        if n == 1 {
            let r = f.in_any_reg(&mut e, lex)?;
            return f.ret(r as usize, 1, lex);
        }
        f.in_next_reg(&mut e, lex)?;
        let first = f.actvar.len();
        f.ret(first, n as i32, lex)
    }
}
