//! `cjson.decode`: a tokenizer with the forgiveness and the error texts of lua-cjson, and a parser that keeps its open
//! containers in a list instead of recursing.

use crate::buf::Buf;
use crate::lib_cjson::{Config, ITEMS_PER_LOOK, MAX_STACK, config, is_big_integer};
use crate::native::{Ctx, PIECE, append_pieces};
use crate::numparse;
use crate::value::{LuaError, TableId, Value};

const NULL: Value = Value::Light(0);

/// What the tokenizer found.
#[derive(Clone, Copy)]
enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    /// A string: bytes of the input, or of the scratch buffer if it had escapes
    Str {
        from: usize,
        to: usize,
        scratch: bool,
    },
    Number {
        value: f64,
        from: usize,
        to: usize,
    },
    Bool(bool),
    Null,
    Colon,
    Comma,
    End,
    Error(&'static str),
}

impl Token {
    /// What an error message calls it.
    fn name(self) -> &'static str {
        match self {
            Token::ObjectBegin => "T_OBJ_BEGIN",
            Token::ObjectEnd => "T_OBJ_END",
            Token::ArrayBegin => "T_ARR_BEGIN",
            Token::ArrayEnd => "T_ARR_END",
            Token::Str { .. } => "T_STRING",
            Token::Number { .. } => "T_NUMBER",
            Token::Bool(_) => "T_BOOLEAN",
            Token::Null => "T_NULL",
            Token::Colon => "T_COLON",
            Token::Comma => "T_COMMA",
            Token::End => "T_END",
            Token::Error(why) => why,
        }
    }
}

struct Lexer {
    data: Buf,
    at: usize,
    /// Offset of the last token, or of the error in it
    index: usize,
    scratch: Buf,
    decode_invalid: bool,
}

impl Lexer {
    #[inline]
    fn byte(&self, i: usize) -> u8 {
        self.data.get(i).copied().unwrap_or(0)
    }

    fn starts_with(&self, word: &[u8]) -> bool {
        self.data[self.at..].starts_with(word)
    }

    fn error(&mut self, why: &'static str) -> Token {
        self.index = self.at;
        Token::Error(why)
    }

    fn next(&mut self) -> Token {
        while matches!(self.byte(self.at), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.index = self.at;
        let token = match self.byte(self.at) {
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayBegin,
            b']' => Token::ArrayEnd,
            b',' => Token::Comma,
            b':' => Token::Colon,
            0 => return Token::End,
            b'"' => return self.string(),
            b'-' | b'0'..=b'9' => {
                if !self.decode_invalid && self.is_invalid_number() {
                    return self.error("invalid number");
                }
                return self.number();
            }
            b'f' | b'i' | b'I' | b'n' | b'N' | b't' | b'+' => return self.word(),
            _ => return self.error("invalid token"),
        };
        self.at += 1;
        token
    }

    fn word(&mut self) -> Token {
        let (token, len) = if self.starts_with(b"true") {
            (Token::Bool(true), 4)
        } else if self.starts_with(b"false") {
            (Token::Bool(false), 5)
        } else if self.starts_with(b"null") {
            (Token::Null, 4)
        } else if self.decode_invalid && self.is_invalid_number() {
            return self.number();
        } else {
            return self.error("invalid token");
        };
        self.at += len;
        token
    }

    fn number(&mut self) -> Token {
        match numparse::strtod(&self.data[self.at..]) {
            Some((value, used)) => {
                let from = self.at;
                self.at += used;
                Token::Number { value, from, to: self.at }
            }
            None => self.error("invalid number"),
        }
    }

    /// Numbers that C reads but JSON does not know.
    fn is_invalid_number(&self) -> bool {
        let mut p = self.at;
        match self.byte(p) {
            b'+' => return true,
            b'-' => p += 1,
            _ => {}
        }
        if self.byte(p) == b'0' {
            let next = self.byte(p + 1);
            return next | 0x20 == b'x' || next.is_ascii_digit();
        }
        let head = self.data.get(p..p + 3).unwrap_or_default();
        head.eq_ignore_ascii_case(b"inf") || head.eq_ignore_ascii_case(b"nan")
    }

    fn string(&mut self) -> Token {
        self.at += 1;
        let from = self.at;
        // Without escapes the string is a part of the input.
        match memchr::memchr3(b'"', b'\\', 0, &self.data[from..]) {
            Some(n) if self.data[from + n] == b'"' => {
                self.at = from + n + 1;
                return Token::Str { from, to: from + n, scratch: false };
            }
            _ => {}
        }
        self.scratch.clear();
        loop {
            let rest = &self.data[self.at..];
            let n = memchr::memchr3(b'"', b'\\', 0, rest).unwrap_or(rest.len());
            self.scratch.extend_from_slice(&rest[..n]);
            self.at += n;
            match self.byte(self.at) {
                b'"' => {
                    self.at += 1;
                    return Token::Str { from: 0, to: self.scratch.len(), scratch: true };
                }
                b'\\' => {
                    if let Err(why) = self.escape() {
                        return self.error(why);
                    }
                }
                _ => return self.error("unexpected end of string"),
            }
        }
    }

    fn escape(&mut self) -> Result<(), &'static str> {
        let c = match self.byte(self.at + 1) {
            c @ (b'"' | b'\\' | b'/') => c,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 12,
            b'r' => b'\r',
            b'u' => return self.unicode().ok_or("invalid unicode escape code"),
            _ => return Err("invalid escape code"),
        };
        self.scratch.push(c);
        self.at += 2;
        Ok(())
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.data.get(at..at + 4)?;
        let mut n = 0;
        for d in digits {
            n = n << 4 | char::from(*d).to_digit(16)?;
        }
        Some(n)
    }

    /// `\uXXXX`, or two of them for a character beyond 16 bits.
    fn unicode(&mut self) -> Option<()> {
        let mut code = self.hex4(self.at + 2)?;
        let mut len = 6;
        if code & 0xf800 == 0xd800 {
            if code & 0x400 != 0 || self.byte(self.at + 6) != b'\\' || self.byte(self.at + 7) != b'u' {
                return None;
            }
            let low = self.hex4(self.at + 8)?;
            if low & 0xfc00 != 0xdc00 {
                return None;
            }
            code = ((code & 0x3ff) << 10 | low & 0x3ff) + 0x1_0000;
            len = 12;
        }
        let mut utf8 = [0; 4];
        self.scratch.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut utf8).as_bytes());
        self.at += len;
        Some(())
    }
}

/// A container being filled. Its table is on the stack, below it, for an object, the key of the next value.
#[derive(Clone, Copy)]
enum Open {
    Array { table: TableId, index: i64 },
    Object { table: TableId },
}

struct Parser {
    lexer: Lexer,
    open: Vec<Open>,
    cfg: Config,
    looks: u32,
}

pub(crate) fn decode(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    if ctx.nargs() != 1 {
        return Err(ctx.arg_error(1, "expected 1 argument"));
    }
    let cfg = *config(ctx);
    let s = ctx.check_str(1)?;
    let len = ctx.bytes(s).len();
    if len > 4096 {
        ctx.reserve(len.saturating_mul(3).min(ctx.st.heap.max_string))?;
    }
    let mut data = ctx.take_buf();
    ctx.append(&mut data, s, 0, len)?;
    if len >= 2 && (data[0] == 0 || data[1] == 0) {
        return Err(ctx.error("JSON parser does not support UTF-16 or UTF-32"));
    }
    let lexer = Lexer { data, at: 0, index: 0, scratch: ctx.take_buf(), decode_invalid: cfg.decode_invalid };
    let mut parser = Parser { lexer, open: Vec::new(), cfg, looks: 0 };
    parser.run(ctx)?;
    let lexer = parser.lexer;
    ctx.give_buf(lexer.data);
    ctx.give_buf(lexer.scratch);
    Ok(1)
}

impl Parser {
    #[cold]
    fn expected(&self, ctx: &mut Ctx<'_>, what: &str, token: Token) -> LuaError {
        let at = self.lexer.index.wrapping_add(1) as i32;
        ctx.error(&format!("Expected {what} but found {} at character {at}", token.name()))
    }

    /// Reads one value and what follows it.
    fn run(&mut self, ctx: &mut Ctx<'_>) -> Result<(), LuaError> {
        let token = self.lexer.next();
        self.value(ctx, token)?;
        while let Some(top) = self.open.last().copied() {
            self.looks += 1;
            if self.looks.is_multiple_of(ITEMS_PER_LOOK) {
                ctx.step(ITEMS_PER_LOOK)?;
                ctx.check_len(ITEMS_PER_LOOK as usize * 64)?;
            }
            match top {
                Open::Array { table, index } => self.element(ctx, table, index)?,
                Open::Object { table } => self.field(ctx, table)?,
            }
        }
        match self.lexer.next() {
            Token::End => Ok(()),
            other => Err(self.expected(ctx, "the end", other)),
        }
    }

    /// Stores the element on the stack and begins the next one, or closes the array.
    fn element(&mut self, ctx: &mut Ctx<'_>, table: TableId, index: i64) -> Result<(), LuaError> {
        let v = ctx.pop();
        ctx.raw_seti(table, index, v)?;
        match self.lexer.next() {
            Token::ArrayEnd => {
                self.open.pop();
                Ok(())
            }
            Token::Comma => {
                if let Some(Open::Array { index, .. }) = self.open.last_mut() {
                    *index += 1;
                }
                let token = self.lexer.next();
                self.value(ctx, token)
            }
            other => Err(self.expected(ctx, "comma or array end", other)),
        }
    }

    /// Stores the field whose key and value are on the stack and begins the next one, or closes the object.
    fn field(&mut self, ctx: &mut Ctx<'_>, table: TableId) -> Result<(), LuaError> {
        let v = ctx.pop();
        let k = ctx.pop();
        ctx.raw_set(table, k, v)?;
        match self.lexer.next() {
            Token::ObjectEnd => {
                self.open.pop();
                Ok(())
            }
            Token::Comma => {
                let token = self.lexer.next();
                self.key(ctx, token)
            }
            other => Err(self.expected(ctx, "comma or object end", other)),
        }
    }

    /// Reads a key, the colon and the beginning of the value.
    fn key(&mut self, ctx: &mut Ctx<'_>, token: Token) -> Result<(), LuaError> {
        let Token::Str { from, to, scratch } = token else {
            return Err(self.expected(ctx, "object key string", token));
        };
        self.push_string(ctx, from, to, scratch)?;
        match self.lexer.next() {
            Token::Colon => {}
            other => return Err(self.expected(ctx, "colon", other)),
        }
        let token = self.lexer.next();
        self.value(ctx, token)
    }

    fn push_string(&self, ctx: &mut Ctx<'_>, from: usize, to: usize, scratch: bool) -> Result<(), LuaError> {
        let source = if scratch { &self.lexer.scratch } else { &self.lexer.data };
        let text = &source[from..to];
        if text.len() <= PIECE {
            return ctx.push_str(text);
        }
        ctx.check_len(text.len())?;
        let mut buf = Buf::with_capacity(text.len());
        append_pieces(text, &mut buf, &mut ctx.parts().1)?;
        let v = ctx.new_str_from(&mut buf)?;
        ctx.push(v);
        Ok(())
    }

    /// Pushes the value that begins with a token. One that begins a container which is not empty goes on with its
    /// first item; the depth of that is one, since a container in a container returns to the loop of [`Parser::run`].
    fn value(&mut self, ctx: &mut Ctx<'_>, token: Token) -> Result<(), LuaError> {
        let mut token = token;
        loop {
            match token {
                Token::Str { from, to, scratch } => return self.push_string(ctx, from, to, scratch),
                Token::Number { value, from, to } => return self.number(ctx, value, from, to),
                Token::Bool(b) => ctx.push(Value::Bool(b)),
                Token::Null => ctx.push(NULL),
                Token::ArrayBegin => {
                    let table = self.descend(ctx, 2)?;
                    if self.cfg.array_mt {
                        let meta = ctx.st.cjson.array_mt();
                        ctx.st.heap.tables[table.index()].set_meta(meta);
                    }
                    token = self.lexer.next();
                    if !matches!(token, Token::ArrayEnd) {
                        self.open.push(Open::Array { table, index: 1 });
                        continue;
                    }
                }
                Token::ObjectBegin => {
                    let table = self.descend(ctx, 3)?;
                    token = self.lexer.next();
                    if !matches!(token, Token::ObjectEnd) {
                        self.open.push(Open::Object { table });
                        // The key, the colon, and then its value in this loop.
                        token = self.first_key(ctx, token)?;
                        continue;
                    }
                }
                other => return Err(self.expected(ctx, "value", other)),
            }
            return Ok(());
        }
    }

    fn first_key(&mut self, ctx: &mut Ctx<'_>, token: Token) -> Result<Token, LuaError> {
        let Token::Str { from, to, scratch } = token else {
            return Err(self.expected(ctx, "object key string", token));
        };
        self.push_string(ctx, from, to, scratch)?;
        match self.lexer.next() {
            Token::Colon => Ok(self.lexer.next()),
            other => Err(self.expected(ctx, "colon", other)),
        }
    }

    /// Begins a container: checks the depth and pushes a table.
    fn descend(&mut self, ctx: &mut Ctx<'_>, slots: usize) -> Result<TableId, LuaError> {
        let depth = self.open.len() + 1;
        let used = ctx.nargs() + ctx.pushed();
        if depth > self.cfg.decode_max_depth as usize || used + slots > MAX_STACK {
            let at = self.lexer.at as i32;
            return Err(
                ctx.error(&format!("Found too many nested data structures ({depth}) at character {at}"))
            );
        }
        let table = ctx.new_table(0, 0)?;
        ctx.push(Value::Table(table));
        Ok(table)
    }

    fn number(&self, ctx: &mut Ctx<'_>, value: f64, from: usize, to: usize) -> Result<(), LuaError> {
        let text = &self.lexer.data[from..to];
        if self.cfg.big_decode && is_big_integer(text) {
            return ctx.push_str(text);
        }
        ctx.push(Value::Num(value));
        Ok(())
    }
}
