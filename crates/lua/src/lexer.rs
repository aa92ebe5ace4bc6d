//! The lexer, with Lua 5.1's tokens and error texts.

use crate::buf::Buf;
use crate::value::LuaError;

/// Why a compilation ended.
#[derive(Debug)]
pub(crate) enum Fail {
    /// The message of a syntax error
    Syntax(Vec<u8>),
    /// Stopped or out of a limit
    Halt(LuaError),
}

/// What a compilation asks for on its way.
pub(crate) trait Feed {
    /// Called every few hundred tokens with the size of the code so far.
    fn step(&mut self, code: usize) -> Result<(), LuaError>;

    /// Appends the next piece of the source, when it comes in pieces; false at its end. `levels` C levels are in use.
    fn more(&mut self, _levels: u32, _src: &mut Vec<u8>) -> Result<bool, Fail> {
        Ok(false)
    }
}

/// A source that is there as a whole, and a compilation that nobody interrupts.
pub(crate) struct Whole;

impl Feed for Whole {
    fn step(&mut self, _: usize) -> Result<(), LuaError> {
        Ok(())
    }
}

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
    /// What has come of the source
    src: Buf,
    pos: usize,
    /// No more pieces come
    complete: bool,
    /// C levels in use, the parser's own included
    pub(crate) levels: u32,
    short: &'s [u8],
    /// Text of the token last read, as messages quote it
    buf: Vec<u8>,
    pub(crate) line: u32,
    pub(crate) last_line: u32,
    pub(crate) tok: Tok,
    ahead: Option<Tok>,
    count: u32,
    pub(crate) code_size: usize,
    feed: &'s mut dyn Feed,
}

impl<'s> Lexer<'s> {
    /// A lexer of `src`, or, without it, of the pieces that `feed` gives.
    pub(crate) fn new(
        src: Option<&[u8]>,
        short: &'s [u8],
        levels: u32,
        feed: &'s mut dyn Feed,
    ) -> Result<Lexer<'s>, Fail> {
        let mut lexer = Lexer {
            src: src.unwrap_or_default().to_vec().into(),
            pos: 0,
            complete: src.is_some(),
            levels,
            short,
            buf: Vec::new(),
            line: 1,
            last_line: 1,
            tok: Tok::Eos,
            ahead: None,
            count: 0,
            code_size: 0,
            feed,
        };
        // Lua looks at the first byte before it reads it, so a source that is empty at once is asked for twice.
        if !lexer.complete && !lexer.fill()? {
            lexer.complete = false;
            lexer.fill()?;
        }
        Ok(lexer)
    }

    /// Asks for the next piece; false when there is none.
    #[cold]
    fn fill(&mut self) -> Result<bool, Fail> {
        if !self.complete {
            self.complete = !self.feed.more(self.levels, &mut self.src)?;
        }
        Ok(!self.complete)
    }

    /// Goes past the current byte. The byte after it must be there at once: when Lua asks for a piece can be seen.
    #[inline]
    fn advance(&mut self) -> Result<(), Fail> {
        self.pos += 1;
        if self.pos >= self.src.len() && !self.complete {
            self.fill()?;
        }
        Ok(())
    }

    /// Reads the next token into `tok`.
    pub(crate) fn next(&mut self) -> Result<(), Fail> {
        self.count += 1;
        if self.count & 0xFF == 0 {
            self.feed.step(self.code_size).map_err(Fail::Halt)?;
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
    fn save_next(&mut self) -> Result<(), Fail> {
        if let Some(c) = self.cur() {
            self.buf.push(c);
            self.advance()?;
        }
        Ok(())
    }

    fn newline(&mut self) -> Result<(), Fail> {
        let old = self.cur();
        self.advance()?;
        if let Some(c @ (b'\n' | b'\r')) = self.cur()
            && Some(c) != old
        {
            self.advance()?;
        }
        self.line += 1;
        if self.line >= i32::MAX as u32 {
            return Err(self.syntax_error("chunk has too many lines"));
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Fail> {
        self.count += 1;
        if self.count & 0xFFF == 0 { self.feed.step(self.code_size).map_err(Fail::Halt) } else { Ok(()) }
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
                    self.advance()?;
                    if self.cur() != Some(b'-') {
                        return Ok(Tok::Char(b'-'));
                    }
                    self.advance()?;
                    self.comment()?;
                }
                b'[' => {
                    let sep = self.skip_sep()?;
                    if sep >= 0 {
                        return self.long_string(Some(()), sep as usize).map(Tok::Str);
                    } else if sep == -1 {
                        return Ok(Tok::Char(b'['));
                    }
                    return Err(self.fail("invalid long string delimiter", Near::Buffer));
                }
                b'=' => return self.pair(b'=', Tok::Eq),
                b'<' => return self.pair(b'<', Tok::Le),
                b'>' => return self.pair(b'>', Tok::Ge),
                b'~' => return self.pair(b'~', Tok::Ne),
                b'"' | b'\'' => return self.string(c),
                b'.' => {
                    self.save_next()?;
                    if self.check_next(b".")? {
                        return Ok(if self.check_next(b".")? { Tok::Dots } else { Tok::Concat });
                    }
                    if !self.cur().is_some_and(|c| c.is_ascii_digit()) {
                        return Ok(Tok::Char(b'.'));
                    }
                    return self.numeral();
                }
                b' ' | b'\t' | 0x0B | 0x0C => self.advance()?,
                b'0'..=b'9' => return self.numeral(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => return self.name(),
                _ => {
                    self.advance()?;
                    return Ok(Tok::Char(c));
                }
            }
        }
    }

    fn pair(&mut self, first: u8, double: Tok) -> Result<Tok, Fail> {
        self.advance()?;
        if self.cur() == Some(b'=') {
            self.advance()?;
            Ok(double)
        } else {
            Ok(Tok::Char(first))
        }
    }

    fn name(&mut self) -> Result<Tok, Fail> {
        let start = self.pos;
        while self.cur().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_') {
            self.advance()?;
        }
        let s = &self.src[start..self.pos];
        self.buf.extend_from_slice(s);
        Ok(Tok::reserved(s).unwrap_or_else(|| Tok::Name(String::from_utf8_lossy(s).into())))
    }

    fn comment(&mut self) -> Result<(), Fail> {
        if self.cur() == Some(b'[') {
            let sep = self.skip_sep()?;
            self.buf.clear();
            if sep >= 0 {
                self.long_string(None, sep as usize)?;
                self.buf.clear();
                return Ok(());
            }
        }
        while self.cur().is_some_and(|c| c != b'\n' && c != b'\r') {
            self.advance()?;
        }
        Ok(())
    }

    /// Reads `[`, `=`…; the number of `=` when a second bracket follows, negative otherwise.
    fn skip_sep(&mut self) -> Result<i32, Fail> {
        let bracket = self.cur();
        let mut n = 0;
        self.save_next()?;
        while self.cur() == Some(b'=') {
            self.save_next()?;
            n += 1;
        }
        Ok(if self.cur() == bracket { n } else { -n - 1 })
    }

    /// Body of a long string or (without `keep`) a long comment.
    fn long_string(&mut self, keep: Option<()>, sep: usize) -> Result<Box<[u8]>, Fail> {
        self.save_next()?;
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
                    if self.skip_sep()? == sep as i32 {
                        self.save_next()?;
                    }
                }
                Some(b']') => {
                    if self.skip_sep()? == sep as i32 {
                        self.save_next()?;
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
                    self.advance()?;
                }
            }
        }
        let edge = sep + 2;
        Ok(if keep.is_some() { self.buf[edge..self.buf.len() - edge].into() } else { Box::default() })
    }

    fn string(&mut self, quote: u8) -> Result<Tok, Fail> {
        self.save_next()?;
        loop {
            match self.cur() {
                None => return Err(self.fail("unfinished string", Near::Token(&Tok::Eos))),
                Some(b'\n' | b'\r') => return Err(self.fail("unfinished string", Near::Buffer)),
                Some(b'\\') => self.escape()?,
                Some(c) => {
                    self.buf.push(c);
                    self.advance()?;
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
        self.advance()?;
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
                    self.advance()?;
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
        self.advance()?;
        Ok(())
    }

    /// Takes the current byte when it is in `set`. Lua searches the set as a C string, so a zero byte is in each.
    fn check_next(&mut self, set: &[u8]) -> Result<bool, Fail> {
        let found = self.cur().is_some_and(|c| c == 0 || set.contains(&c));
        if found {
            self.save_next()?;
        }
        Ok(found)
    }

    fn numeral(&mut self) -> Result<Tok, Fail> {
        while self.cur().is_some_and(|c| c.is_ascii_digit() || c == b'.') {
            self.save_next()?;
        }
        if self.check_next(b"Ee")? {
            self.check_next(b"+-")?;
        }
        while self.cur().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_') {
            self.save_next()?;
        }
        match crate::numparse::str_to_number(crate::debuginfo::c_str(&self.buf)) {
            Some(n) => Ok(Tok::Number(n)),
            None => Err(self.fail("malformed number", Near::Buffer)),
        }
    }
}
