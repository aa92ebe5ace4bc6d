//! The lexer, with Lua 5.1's tokens and error texts.

use crate::value::LuaError;

/// Why a compilation ended.
#[derive(Debug)]
pub(crate) enum Fail {
    /// The message of a syntax error
    Syntax(Vec<u8>),
    /// Stopped or out of a limit
    Halt(LuaError),
}

/// Called every few hundred tokens with the size of the code so far.
pub(crate) type Step<'a> = &'a mut dyn FnMut(usize) -> Result<(), LuaError>;

/// A token. Single characters are `Char`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tok {
    Char(u8),
    And,
    Break,
    Do,
    Else,
    Elseif,
    End,
    False,
    For,
    Function,
    If,
    In,
    Local,
    Nil,
    Not,
    Or,
    Repeat,
    Return,
    Then,
    True,
    Until,
    While,
    Concat,
    Dots,
    Eq,
    Ge,
    Le,
    Ne,
    Number(f64),
    Name(Box<str>),
    Str(Box<[u8]>),
    Eos,
}

impl Tok {
    /// The token as messages name it when its own text is not at hand.
    pub(crate) fn text(&self) -> String {
        match self {
            Tok::Char(c) if c.is_ascii_control() => format!("char({c})"),
            Tok::Char(c) => char::from(*c).to_string(),
            _ => self.keyword().to_owned(),
        }
    }

    fn keyword(&self) -> &'static str {
        match self {
            Tok::And => "and",
            Tok::Break => "break",
            Tok::Do => "do",
            Tok::Else => "else",
            Tok::Elseif => "elseif",
            Tok::End => "end",
            Tok::False => "false",
            Tok::For => "for",
            Tok::Function => "function",
            Tok::If => "if",
            Tok::In => "in",
            Tok::Local => "local",
            Tok::Nil => "nil",
            Tok::Not => "not",
            Tok::Or => "or",
            Tok::Repeat => "repeat",
            Tok::Return => "return",
            Tok::Then => "then",
            Tok::True => "true",
            Tok::Until => "until",
            Tok::While => "while",
            Tok::Concat => "..",
            Tok::Dots => "...",
            Tok::Eq => "==",
            Tok::Ge => ">=",
            Tok::Le => "<=",
            Tok::Ne => "~=",
            Tok::Number(_) => "<number>",
            Tok::Name(_) => "<name>",
            Tok::Str(_) => "<string>",
            Tok::Eos => "<eof>",
            Tok::Char(_) => "",
        }
    }

    fn reserved(s: &[u8]) -> Option<Tok> {
        Some(match s {
            b"and" => Tok::And,
            b"break" => Tok::Break,
            b"do" => Tok::Do,
            b"else" => Tok::Else,
            b"elseif" => Tok::Elseif,
            b"end" => Tok::End,
            b"false" => Tok::False,
            b"for" => Tok::For,
            b"function" => Tok::Function,
            b"if" => Tok::If,
            b"in" => Tok::In,
            b"local" => Tok::Local,
            b"nil" => Tok::Nil,
            b"not" => Tok::Not,
            b"or" => Tok::Or,
            b"repeat" => Tok::Repeat,
            b"return" => Tok::Return,
            b"then" => Tok::Then,
            b"true" => Tok::True,
            b"until" => Tok::Until,
            b"while" => Tok::While,
            _ => return None,
        })
    }
}

/// What follows ` near ` in a message.
#[derive(Clone, Copy)]
enum Near<'a> {
    Nothing,
    /// The text of the token being read
    Buffer,
    Token(&'a Tok),
}

pub(crate) struct Lexer<'s> {
    src: &'s [u8],
    pos: usize,
    short: &'s [u8],
    /// Text of the token last read, as messages quote it
    buf: Vec<u8>,
    pub(crate) line: u32,
    pub(crate) last_line: u32,
    pub(crate) tok: Tok,
    ahead: Option<Tok>,
    count: u32,
    pub(crate) code_size: usize,
    step: Step<'s>,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(src: &'s [u8], short: &'s [u8], step: Step<'s>) -> Lexer<'s> {
        Lexer {
            src,
            pos: 0,
            short,
            buf: Vec::new(),
            line: 1,
            last_line: 1,
            tok: Tok::Eos,
            ahead: None,
            count: 0,
            code_size: 0,
            step,
        }
    }

    /// Reads the next token into `tok`.
    pub(crate) fn next(&mut self) -> Result<(), Fail> {
        self.count += 1;
        if self.count & 0xFF == 0 {
            (self.step)(self.code_size).map_err(Fail::Halt)?;
        }
        self.last_line = self.line;
        self.tok = match self.ahead.take() {
            Some(t) => t,
            None => self.lex()?,
        };
        Ok(())
    }

    /// The token after the current one.
    pub(crate) fn lookahead(&mut self) -> Result<&Tok, Fail> {
        let t = self.lex()?;
        Ok(self.ahead.insert(t))
    }

    #[cold]
    fn fail(&self, msg: &str, near: Near<'_>) -> Fail {
        let mut out = self.short.to_vec();
        out.extend_from_slice(format!(":{}: {msg}", self.line).as_bytes());
        let text;
        let quoted: &[u8] = match near {
            // Lua's own token number of a zero byte is 0, which it takes for "no token".
            Near::Nothing | Near::Token(Tok::Char(0)) => return Fail::Syntax(out),
            Near::Buffer => crate::debuginfo::c_str(&self.buf),
            Near::Token(Tok::Char(c)) if !c.is_ascii_control() => std::slice::from_ref(c),
            Near::Token(t) => {
                text = t.text();
                text.as_bytes()
            }
        };
        out.extend_from_slice(b" near '");
        out.extend_from_slice(quoted);
        out.push(b'\'');
        Fail::Syntax(out)
    }

    /// An error that quotes the current token.
    #[cold]
    pub(crate) fn syntax_error(&self, msg: &str) -> Fail {
        match &self.tok {
            Tok::Name(_) | Tok::Str(_) | Tok::Number(_) => self.fail(msg, Near::Buffer),
            t => self.fail(msg, Near::Token(t)),
        }
    }

    /// An error that quotes nothing.
    #[cold]
    pub(crate) fn plain_error(&self, msg: &str) -> Fail {
        self.fail(msg, Near::Nothing)
    }

    #[inline]
    fn cur(&self) -> Option<u8> {
        self.src.get(self.pos).copied()
    }

    #[inline]
    fn save_next(&mut self) {
        if let Some(c) = self.cur() {
            self.buf.push(c);
            self.pos += 1;
        }
    }

    fn newline(&mut self) -> Result<(), Fail> {
        let old = self.cur();
        self.pos += 1;
        if let Some(c @ (b'\n' | b'\r')) = self.cur()
            && Some(c) != old
        {
            self.pos += 1;
        }
        self.line += 1;
        if self.line >= i32::MAX as u32 {
            return Err(self.syntax_error("chunk has too many lines"));
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Fail> {
        self.count += 1;
        if self.count & 0xFFF == 0 { (self.step)(self.code_size).map_err(Fail::Halt) } else { Ok(()) }
    }

    fn lex(&mut self) -> Result<Tok, Fail> {
        self.buf.clear();
        loop {
            let Some(c) = self.cur() else {
                return Ok(Tok::Eos);
            };
            match c {
                b'\n' | b'\r' => {
                    self.newline()?;
                    self.tick()?;
                }
                b'-' => {
                    self.pos += 1;
                    if self.cur() != Some(b'-') {
                        return Ok(Tok::Char(b'-'));
                    }
                    self.pos += 1;
                    self.comment()?;
                }
                b'[' => {
                    let sep = self.skip_sep();
                    if sep >= 0 {
                        return self.long_string(Some(()), sep as usize).map(Tok::Str);
                    } else if sep == -1 {
                        return Ok(Tok::Char(b'['));
                    }
                    return Err(self.fail("invalid long string delimiter", Near::Buffer));
                }
                b'=' => return Ok(self.pair(b'=', Tok::Eq)),
                b'<' => return Ok(self.pair(b'<', Tok::Le)),
                b'>' => return Ok(self.pair(b'>', Tok::Ge)),
                b'~' => return Ok(self.pair(b'~', Tok::Ne)),
                b'"' | b'\'' => return self.string(c),
                b'.' => {
                    self.save_next();
                    if self.cur() == Some(b'.') {
                        self.save_next();
                        if self.cur() == Some(b'.') {
                            self.save_next();
                            return Ok(Tok::Dots);
                        }
                        return Ok(Tok::Concat);
                    }
                    if !self.cur().is_some_and(|c| c.is_ascii_digit()) {
                        return Ok(Tok::Char(b'.'));
                    }
                    return self.numeral();
                }
                b' ' | b'\t' | 0x0B | 0x0C => self.pos += 1,
                b'0'..=b'9' => return self.numeral(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => return Ok(self.name()),
                _ => {
                    self.pos += 1;
                    return Ok(Tok::Char(c));
                }
            }
        }
    }

    fn pair(&mut self, first: u8, double: Tok) -> Tok {
        self.pos += 1;
        if self.cur() == Some(b'=') {
            self.pos += 1;
            double
        } else {
            Tok::Char(first)
        }
    }

    fn name(&mut self) -> Tok {
        let start = self.pos;
        while self.cur().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_') {
            self.pos += 1;
        }
        let s = &self.src[start..self.pos];
        self.buf.extend_from_slice(s);
        Tok::reserved(s).unwrap_or_else(|| Tok::Name(String::from_utf8_lossy(s).into()))
    }

    fn comment(&mut self) -> Result<(), Fail> {
        if self.cur() == Some(b'[') {
            let sep = self.skip_sep();
            self.buf.clear();
            if sep >= 0 {
                self.long_string(None, sep as usize)?;
                self.buf.clear();
                return Ok(());
            }
        }
        while self.cur().is_some_and(|c| c != b'\n' && c != b'\r') {
            self.pos += 1;
        }
        Ok(())
    }

    /// Reads `[`, `=`…; the number of `=` when a second bracket follows, negative otherwise.
    fn skip_sep(&mut self) -> i32 {
        let bracket = self.cur();
        let mut n = 0;
        self.save_next();
        while self.cur() == Some(b'=') {
            self.save_next();
            n += 1;
        }
        if self.cur() == bracket { n } else { -n - 1 }
    }

    /// Body of a long string or (without `keep`) a long comment.
    fn long_string(&mut self, keep: Option<()>, sep: usize) -> Result<Box<[u8]>, Fail> {
        self.save_next();
        if matches!(self.cur(), Some(b'\n' | b'\r')) {
            self.newline()?;
        }
        loop {
            self.tick()?;
            match self.cur() {
                None => {
                    let what =
                        if keep.is_some() { "unfinished long string" } else { "unfinished long comment" };
                    return Err(self.fail(what, Near::Token(&Tok::Eos)));
                }
                Some(b'[') => {
                    if self.skip_sep() == sep as i32 {
                        self.save_next();
                    }
                }
                Some(b']') => {
                    if self.skip_sep() == sep as i32 {
                        self.save_next();
                        break;
                    }
                }
                Some(b'\n' | b'\r') => {
                    self.buf.push(b'\n');
                    self.newline()?;
                    if keep.is_none() {
                        self.buf.clear();
                    }
                }
                Some(c) => {
                    if keep.is_some() {
                        self.buf.push(c);
                    }
                    self.pos += 1;
                }
            }
        }
        let edge = sep + 2;
        Ok(if keep.is_some() { self.buf[edge..self.buf.len() - edge].into() } else { Box::default() })
    }

    fn string(&mut self, quote: u8) -> Result<Tok, Fail> {
        self.save_next();
        loop {
            match self.cur() {
                None => return Err(self.fail("unfinished string", Near::Token(&Tok::Eos))),
                Some(b'\n' | b'\r') => return Err(self.fail("unfinished string", Near::Buffer)),
                Some(b'\\') => self.escape()?,
                Some(c) => {
                    self.buf.push(c);
                    self.pos += 1;
                    if c == quote {
                        break;
                    }
                    self.tick()?;
                }
            }
        }
        Ok(Tok::Str(self.buf[1..self.buf.len() - 1].into()))
    }

    fn escape(&mut self) -> Result<(), Fail> {
        self.pos += 1;
        let c = match self.cur() {
            None => return Ok(()),
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(b'\n' | b'\r') => {
                self.buf.push(b'\n');
                return self.newline();
            }
            Some(d) if d.is_ascii_digit() => {
                let mut c = 0u32;
                for _ in 0..3 {
                    match self.cur() {
                        Some(d) if d.is_ascii_digit() => c = c * 10 + u32::from(d - b'0'),
                        _ => break,
                    }
                    self.pos += 1;
                }
                let Ok(c) = u8::try_from(c) else {
                    return Err(self.fail("escape sequence too large", Near::Buffer));
                };
                self.buf.push(c);
                return Ok(());
            }
            Some(c) => c,
        };
        self.buf.push(c);
        self.pos += 1;
        Ok(())
    }

    fn numeral(&mut self) -> Result<Tok, Fail> {
        while self.cur().is_some_and(|c| c.is_ascii_digit() || c == b'.') {
            self.save_next();
        }
        if matches!(self.cur(), Some(b'e' | b'E')) {
            self.save_next();
            if matches!(self.cur(), Some(b'+' | b'-')) {
                self.save_next();
            }
        }
        while self.cur().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_') {
            self.save_next();
        }
        match crate::numparse::str_to_number(&self.buf) {
            Some(n) => Ok(Tok::Number(n)),
            None => Err(self.fail("malformed number", Near::Buffer)),
        }
    }
}
