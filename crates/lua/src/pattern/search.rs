//! The search for a match: from one start position to the next, with short ways to where one can begin.

use super::{
    CLASSES, Capture, ESC, Matcher, Outcome, PatternError, Single, at, class_end, class_mask, count_run,
    effective, holds, is_plain, single,
};

/// A search for the first match, from one start position to the next. Resumable like [`Matcher`].
pub struct Search {
    matcher: Matcher,
    /// Where the current attempt starts
    start: usize,
    /// Offset of the pattern behind its `^`
    begin: usize,
    anchored: bool,
    /// What every match begins with
    first: First,
    /// The pattern is no more than one item and `+`, perhaps captured, and perhaps a character that ends it
    row: Option<Row>,
    /// The pattern is a text of ordinary characters
    literal: bool,
    running: bool,
    /// Bytes of the pattern that count
    len: usize,
    /// The pattern's name with the caller, who may keep a search for the same pattern.
    pub key: u64,
}

/// Answer of [`Search::run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The match covers these offsets
    At(usize, usize),
    /// There is none
    Nowhere,
    /// The fuel is used up; call again
    Pause,
}

impl Search {
    /// A search from offset `from`; what stands behind a zero byte of the pattern does not count. `anchors` says whether
    /// a leading `^` is an anchor (for `gmatch` it is not).
    pub fn new(pat: &[u8], from: usize, anchors: bool) -> Self {
        let mut search = Search {
            matcher: Matcher::new(),
            start: from,
            begin: 0,
            anchored: false,
            first: First::Unknown,
            row: None,
            literal: false,
            running: false,
            len: 0,
            key: u64::MAX,
        };
        search.prepare(pat, anchors);
        search
    }

    /// Makes it a search for another pattern; [`Search::restart`] must follow.
    pub fn prepare(&mut self, pat: &[u8], anchors: bool) {
        let pat = effective(pat);
        self.anchored = anchors && pat.first() == Some(&b'^');
        self.begin = usize::from(self.anchored);
        (self.first, self.row) =
            if self.anchored { (First::Unknown, None) } else { (first_item(pat, 0), row(pat)) };
        self.len = pat.len();
        // A bracket that closes is ordinary for `find` only.
        self.literal = matches!(self.first, First::Byte(_)) && is_plain(pat) && !pat.contains(&b')');
        self.matcher.start(0, 0);
    }

    /// True when it holds no more memory than any search does.
    pub fn is_small(&self) -> bool {
        !self.matcher.frames.spilled()
    }

    /// The captures of the match found last.
    pub fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// True when the pattern is bound to the start.
    pub fn anchored(&self) -> bool {
        self.anchored
    }

    /// Moves the search on to another offset.
    pub fn restart(&mut self, from: usize) {
        self.start = from;
        self.running = false;
    }

    /// Steps allowed before the next pause.
    pub fn refuel(&mut self, steps: u32) {
        self.matcher.fuel = steps;
    }

    /// Fuel that is left.
    pub fn fuel(&self) -> u32 {
        self.matcher.fuel
    }

    /// Where it has got to.
    #[cfg(test)]
    pub(super) fn at(&self) -> usize {
        self.start
    }

    /// Looks for the first match at or behind the start position.
    ///
    /// # Errors
    /// Those of [`Matcher::run`].
    pub fn run(&mut self, src: &[u8], pat: &[u8]) -> Result<Found, PatternError> {
        let pat = &pat[..self.len];
        loop {
            if !self.running {
                if self.start > src.len() || !self.skip(src) {
                    return Ok(Found::Nowhere);
                }
                if self.matcher.fuel == 0 {
                    return Ok(Found::Pause);
                }
                if self.literal {
                    self.matcher.burn(1 + (pat.len() / 32) as u32);
                    if src[self.start..].starts_with(pat) {
                        return Ok(Found::At(self.start, self.start + pat.len()));
                    }
                    // `skip` found its first character, so the subject goes on.
                    self.start += 1;
                    continue;
                }
                if let Some(row) = self.row {
                    match self.find_row(src, pat, row) {
                        Rows::Ended(found) => return Ok(found),
                        Rows::Next => continue,
                        Rows::Long => {}
                    }
                }
                self.matcher.start(self.start, self.begin);
                self.running = true;
            }
            match self.matcher.run(src, pat)? {
                Outcome::Pause => return Ok(Found::Pause),
                Outcome::Match(end) => {
                    self.running = false;
                    return Ok(Found::At(self.start, end));
                }
                Outcome::Fail => {
                    self.running = false;
                    if self.anchored || self.start >= src.len() {
                        return Ok(Found::Nowhere);
                    }
                    self.start += 1;
                }
            }
        }
    }

    /// The search for a row of one kind of characters, piece by piece.
    #[inline]
    fn find_row(&mut self, src: &[u8], pat: &[u8], row: Row) -> Rows {
        const PIECE: usize = 4096;
        let rest = &src[self.start..];
        let piece = &rest[..rest.len().min(PIECE)];
        let last = piece.len() == rest.len();
        let begin = match row.item {
            // `skip` was there.
            Single::Any | Single::Byte(_) | Single::Class(_) => Some(0),
            item => piece.iter().position(|c| holds(item, *c, pat)),
        };
        let n = begin.map_or(0, |begin| count_run(&piece[begin..], pat, row.item));
        let Some(begin) = begin.filter(|_| n > 0) else {
            self.start += piece.len();
            self.matcher.fuel = 0;
            return Rows::Ended(if last { Found::Nowhere } else { Found::Pause });
        };
        self.start += begin;
        if begin + n == piece.len() && !last {
            return Rows::Long;
        }
        self.matcher.burn(((begin + n) / 4) as u32);
        let mut end = self.start + n;
        if let Some(until) = row.until {
            if src.get(end) != Some(&until) {
                // The row has no such character in it, so no other start in it does better.
                self.start = end;
                return Rows::Next;
            }
            end += 1;
        }
        if row.captured {
            self.matcher.captures.clear();
            self.matcher.captures.push(Capture { start: self.start as u32, len: n as u32 });
        }
        Rows::Ended(Found::At(self.start, end))
    }

    /// Jumps to the next position where a match can begin; false when there is none. Attempts that would fail at
    /// their first byte are left out, which never hides an error: those are found behind the first item only. Long
    /// stretches are taken piece by piece, so that a pause can come in between.
    fn skip(&mut self, src: &[u8]) -> bool {
        const PIECE: usize = 64 * 1024;
        let piece = &src[self.start..src.len().min(self.start + PIECE)];
        let next = match self.first {
            First::Unknown => return true,
            First::Byte(first) if piece.first() == Some(&first) => return true,
            First::Byte(first) => memchr::memchr(first, piece),
            First::Class(mask, want) => {
                piece.iter().position(|c| (CLASSES[usize::from(*c)] & mask != 0) == want)
            }
        };
        match next {
            Some(n) => {
                self.start += n;
                true
            }
            None if self.start + piece.len() == src.len() => false,
            None => {
                self.start += piece.len();
                self.matcher.fuel = 0;
                true
            }
        }
    }
}

/// A pattern of one item and `+`, as `%w+`, `([^,]+)` or `([^,]+),`: what most scripts split texts with.
#[derive(Clone, Copy)]
struct Row {
    item: Single,
    captured: bool,
    /// The ordinary character that must follow, which the item does not match.
    until: Option<u8>,
}

/// What a search for a row came to.
enum Rows {
    /// To this.
    Ended(Found),
    /// What was looked at is no match: it goes on behind.
    Next,
    /// The row goes on behind the piece: the matcher finds its end.
    Long,
}

/// What [`Row`] a pattern is.
fn row(pat: &[u8]) -> Option<Row> {
    // A long set takes long to read, which must be counted as steps.
    if pat.len() > 64 {
        return None;
    }
    let captured = pat.first() == Some(&b'(');
    let (p, rest): (usize, &[u8]) = if captured { (1, b"+)") } else { (0, b"+") };
    match *pat.get(p)? {
        b'(' | b')' | b'$' => return None,
        ESC if matches!(pat.get(p + 1)?, b'b' | b'f' | b'0'..=b'9') => return None,
        _ => {}
    }
    let ep = class_end(pat, p).ok()?;
    let item = single(pat, p, ep);
    let until = match pat.get(ep..)?.strip_prefix(rest)? {
        [] => None,
        &[c] if (c.is_ascii_alphanumeric() || b" ,;:/|=&#\t\r\n".contains(&c)) && !holds(item, c, pat) => {
            Some(c)
        }
        _ => return None,
    };
    // The others are found by their first character.
    let known = match item {
        Single::Any | Single::Not(_) | Single::Set { .. } => true,
        Single::Byte(_) | Single::Class(_) => !matches!(first_item(pat, 0), First::Unknown),
    };
    known.then_some(Row { item, captured, until })
}

/// What a pattern's match must begin with.
#[derive(Clone, Copy)]
enum First {
    Unknown,
    Byte(u8),
    /// A character in (or not in) some classes
    Class(u16, bool),
}

/// What a pattern's match must begin with, if its first item is one character of a fixed kind.
fn first_item(pat: &[u8], mut p: usize) -> First {
    // Few captures only: too many are an error that must be found.
    for _ in 0..4 {
        if at(pat, p) == b'(' && at(pat, p + 1) != b')' {
            p += 1;
        }
    }
    let Some(&c) = pat.get(p) else { return First::Unknown };
    let (first, end) = match c {
        // `^` is an ordinary character here, but rare enough.
        b'(' | b')' | b'.' | b'[' | b'$' | b'^' => return First::Unknown,
        ESC => match (class_mask(at(pat, p + 1)), at(pat, p + 1)) {
            (Some((mask, want)), _) => (First::Class(mask, want), p + 2),
            (None, c) if c.is_ascii_punctuation() => (First::Byte(c), p + 2),
            _ => return First::Unknown,
        },
        c => (First::Byte(c), p + 1),
    };
    match at(pat, end) {
        b'?' | b'*' | b'-' => First::Unknown,
        _ => first,
    }
}
