//! Lua 5.1's patterns: the matcher behind `find`, `match`, `gmatch` and `gsub`.
//!
//! The original recurses once per pattern item; a long pattern overruns its stack. Here the choices still open are
//! kept in a list, so depth costs heap only and is bounded. That makes a match *resumable* too: after a given amount
//! of work [`Matcher::run`] answers [`Outcome::Pause`], and the caller, who holds no borrow of the strings meanwhile,
//! looks at its stop flag and calls again.
//!
//! Errors in a pattern are found only when matching arrives there, as in the original: `find('b', 'a[')` fails to
//! match and raises nothing.

mod search;

pub use search::{Found, Search};
use smallvec::SmallVec;

/// Most captures of a pattern.
pub const MAX_CAPTURES: usize = 32;

/// Bytes of a set from which on reading it counts as steps.
const LONG_SET: usize = 64;

/// Most choices kept open at once. The original would have overrun a stack of 8 MB long before.
const MAX_FRAMES: usize = 200_000;

/// Length of a capture that was opened but not closed.
const UNFINISHED: u32 = u32::MAX;
/// Length of a position capture.
const POSITION: u32 = u32::MAX - 1;
/// Longest subject or pattern; what offsets of 32 bits and the marks above can tell apart.
const MAX_LEN: usize = u32::MAX as usize - 2;

const ESC: u8 = b'%';

/// Message of an error in a pattern, without position.
pub type PatternError = &'static str;

/// How a piece of matching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The pattern matches from the start position up to this offset.
    Match(usize),
    /// It does not match there.
    Fail,
    /// The fuel is used up; call [`Matcher::run`] again to go on.
    Pause,
}

/// What a capture holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captured {
    /// Bytes from the first offset up to the second
    Range(usize, usize),
    /// A position capture, counted from 1
    Position(usize),
}

#[derive(Debug, Clone, Copy)]
struct Capture {
    start: u32,
    len: u32,
}

/// A choice to come back to when what follows fails.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// `*`, `+`: fewer repetitions; `n` are left from `s` on, what follows is at `p`
    Greedy { s: u32, n: u32, p: u32 },
    /// `-`: one repetition more of the item `p..ep`, which ended at `s`
    Lazy { s: u32, p: u32, ep: u32 },
    /// `?`: without the item
    Optional { s: u32, p: u32 },
    /// `(`: forget the capture opened last
    Opened,
    /// `)`: open that capture again
    Closed { level: u32 },
}

/// Where to go on.
#[derive(Debug, Clone, Copy)]
enum State {
    /// Match the pattern from `p` at `s`
    Forward { s: usize, p: usize },
    /// Count repetitions: `n` so far from `s` on, of the item `p..ep`
    Expand { s: usize, n: usize, p: usize, ep: usize },
    /// Inside `%b`: at `s` with `open` brackets to close, the pattern is at `p`
    Balance { s: usize, open: usize, p: usize },
    /// Take back the last choice
    Backtrack,
}

/// What one item of a pattern matches, decoded once for a row of characters.
#[derive(Clone, Copy)]
enum Single {
    Any,
    Byte(u8),
    /// All but this one: `[^x]`
    Not(u8),
    /// A class letter
    Class(u8),
    /// A set, from its `[` to its `]`
    Set {
        p: usize,
        end: usize,
    },
}

/// One match of a pattern: captures, open choices, and where it stands. Reused from one start position to the next.
pub struct Matcher {
    captures: SmallVec<[Capture; 4]>,
    frames: SmallVec<[Frame; 8]>,
    state: State,
    /// Steps until the next [`Outcome::Pause`].
    pub fuel: u32,
}

impl Default for Matcher {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn at(bytes: &[u8], i: usize) -> u8 {
    bytes.get(i).copied().unwrap_or(0)
}

/// The part of a pattern that counts: patterns are C strings and end at a zero byte.
pub fn effective(pattern: &[u8]) -> &[u8] {
    // A short pattern is looked through faster than the library is called.
    let zero =
        if pattern.len() <= 16 { pattern.iter().position(|b| *b == 0) } else { memchr::memchr(0, pattern) };
    match zero {
        Some(end) => &pattern[..end],
        None => pattern,
    }
}

/// True when a pattern (up to its first zero byte) has no special character, so that `find` looks for it as plain
/// text.
pub fn is_plain(pattern: &[u8]) -> bool {
    !effective(pattern)
        .iter()
        .any(|b| matches!(b, b'^' | b'$' | b'*' | b'+' | b'?' | b'.' | b'(' | b'[' | b'%' | b'-'))
}

impl Matcher {
    /// A matcher without fuel; set [`Matcher::fuel`] before running.
    pub fn new() -> Self {
        Matcher { captures: SmallVec::new(), frames: SmallVec::new(), state: State::Backtrack, fuel: 0 }
    }

    /// Begins a match of the pattern from offset `p` at offset `s` of the subject.
    #[inline]
    pub fn start(&mut self, s: usize, p: usize) {
        self.captures.clear();
        self.frames.clear();
        self.state = State::Forward { s, p };
    }

    /// Number of captures of a successful match, finished or not.
    pub fn captures(&self) -> usize {
        self.captures.len()
    }

    /// Capture `i` (from 0) of a match that covers `whole`. Without captures, number 0 is the whole match.
    ///
    /// # Errors
    /// `invalid capture index` and `unfinished capture`.
    pub fn capture(&self, i: usize, whole: (usize, usize)) -> Result<Captured, PatternError> {
        let Some(c) = self.captures.get(i) else {
            return if i == 0 { Ok(Captured::Range(whole.0, whole.1)) } else { Err("invalid capture index") };
        };
        let start = c.start as usize;
        match c.len {
            UNFINISHED => Err("unfinished capture"),
            POSITION => Ok(Captured::Position(start + 1)),
            len => Ok(Captured::Range(start, start + len as usize)),
        }
    }

    /// Goes on with the match begun by [`Matcher::start`]. Subject and pattern (an [`effective`] one) are the same in
    /// every call of one match.
    ///
    /// # Errors
    /// A malformed pattern, or one with too many open choices.
    pub fn run(&mut self, src: &[u8], pat: &[u8]) -> Result<Outcome, PatternError> {
        if src.len() > MAX_LEN || pat.len() > MAX_LEN {
            return Err("pattern too complex");
        }
        loop {
            let next = match self.state {
                State::Forward { s, p } => self.forward(src, pat, s, p)?,
                State::Expand { s, n, p, ep } => self.expand(src, pat, s, n, p, ep)?,
                State::Balance { s, open, p } => self.balance(src, pat, s, open, p),
                State::Backtrack => self.backtrack(src, pat),
            };
            match next {
                Step::Go => {}
                Step::Done(outcome) => return Ok(outcome),
            }
        }
    }

    #[inline]
    fn push(&mut self, frame: Frame) -> Result<(), PatternError> {
        if self.frames.len() >= MAX_FRAMES {
            return Err("pattern too complex");
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Uses up fuel; false when there was none left.
    #[inline]
    fn burn(&mut self, steps: u32) -> bool {
        if self.fuel == 0 {
            return false;
        }
        self.fuel = self.fuel.saturating_sub(steps);
        true
    }

    /// Uses up fuel for an item that is long to read.
    #[inline]
    fn weigh(&mut self, len: usize) {
        if len > LONG_SET {
            self.fuel = self.fuel.saturating_sub((len / 8) as u32);
        }
    }

    fn forward(&mut self, src: &[u8], pat: &[u8], mut s: usize, mut p: usize) -> Result<Step, PatternError> {
        loop {
            if !self.burn(1) {
                self.state = State::Forward { s, p };
                return Ok(Step::Done(Outcome::Pause));
            }
            if p >= pat.len() {
                return Ok(Step::Done(Outcome::Match(s)));
            }
            match pat[p] {
                b'(' => {
                    let position = at(pat, p + 1) == b')';
                    self.open_capture(s, if position { POSITION } else { UNFINISHED })?;
                    p += if position { 2 } else { 1 };
                    continue;
                }
                b')' => {
                    self.close_capture(s)?;
                    p += 1;
                    continue;
                }
                b'$' if p + 1 == pat.len() => {
                    return Ok(if s == src.len() { Step::Done(Outcome::Match(s)) } else { self.fail() });
                }
                ESC => match at(pat, p + 1) {
                    b'b' => return self.begin_balance(src, pat, s, p + 2),
                    b'f' => {
                        let (end, matches) = frontier(src, pat, s, p + 2)?;
                        self.weigh(end - p);
                        if !matches {
                            return Ok(self.fail());
                        }
                        p = end;
                        continue;
                    }
                    digit @ b'0'..=b'9' => match self.back_reference(src, s, digit)? {
                        Some(end) => {
                            s = end;
                            p += 2;
                            continue;
                        }
                        None => return Ok(self.fail()),
                    },
                    _ => {}
                },
                _ => {}
            }
            let ep = class_end(pat, p)?;
            self.weigh(ep - p);
            match at(pat, ep) {
                b'?' => {
                    if matches_one(src, pat, s, p, ep) {
                        self.push(Frame::Optional { s: s as u32, p: ep as u32 + 1 })?;
                        s += 1;
                    }
                    p = ep + 1;
                }
                c @ (b'*' | b'+') => {
                    if c == b'+' {
                        if !matches_one(src, pat, s, p, ep) {
                            return Ok(self.fail());
                        }
                        s += 1;
                    }
                    let Some(n) = self.count(src, pat, s, 0, p, ep) else {
                        return Ok(Step::Done(Outcome::Pause));
                    };
                    if n > 0 && ep + 1 < pat.len() {
                        self.push(Frame::Greedy { s: s as u32, n: n as u32, p: ep as u32 + 1 })?;
                    }
                    s += n;
                    p = ep + 1;
                }
                b'-' => {
                    self.push(Frame::Lazy { s: s as u32, p: p as u32, ep: ep as u32 })?;
                    p = ep + 1;
                }
                _ => {
                    if !matches_one(src, pat, s, p, ep) {
                        return Ok(self.fail());
                    }
                    s += 1;
                    p = ep;
                }
            }
        }
    }

    #[inline]
    fn fail(&mut self) -> Step {
        self.state = State::Backtrack;
        Step::Go
    }

    fn open_capture(&mut self, s: usize, len: u32) -> Result<(), PatternError> {
        if self.captures.len() >= MAX_CAPTURES {
            return Err("too many captures");
        }
        self.push(Frame::Opened)?;
        self.captures.push(Capture { start: s as u32, len });
        Ok(())
    }

    fn close_capture(&mut self, s: usize) -> Result<(), PatternError> {
        let level =
            self.captures.iter().rposition(|c| c.len == UNFINISHED).ok_or("invalid pattern capture")?;
        self.push(Frame::Closed { level: level as u32 })?;
        let c = &mut self.captures[level];
        c.len = s as u32 - c.start;
        Ok(())
    }

    fn back_reference(&mut self, src: &[u8], s: usize, digit: u8) -> Result<Option<usize>, PatternError> {
        let i = usize::from(digit).wrapping_sub(usize::from(b'1'));
        let Some(Capture { start, len }) = self.captures.get(i).copied().filter(|c| c.len != UNFINISHED)
        else {
            return Err("invalid capture index");
        };
        if len == POSITION {
            return Ok(None);
        }
        let (start, len) = (start as usize, len as usize);
        self.burn((len / 32).min(u32::MAX as usize) as u32);
        Ok((src.len() - s >= len && src[start..start + len] == src[s..s + len]).then_some(s + len))
    }

    /// Goes on counting the repetitions of an item after a pause.
    fn expand(
        &mut self,
        src: &[u8],
        pat: &[u8],
        s: usize,
        n: usize,
        p: usize,
        ep: usize,
    ) -> Result<Step, PatternError> {
        let Some(n) = self.count(src, pat, s, n, p, ep) else {
            return Ok(Step::Done(Outcome::Pause));
        };
        if n > 0 {
            self.push(Frame::Greedy { s: s as u32, n: n as u32, p: ep as u32 + 1 })?;
        }
        self.state = State::Forward { s: s + n, p: ep + 1 };
        Ok(Step::Go)
    }

    /// Counts how often an item matches in a row from `s` on, `n` times of which are known. `None` when the fuel is used
    /// up before the end.
    #[inline]
    fn count(&mut self, src: &[u8], pat: &[u8], s: usize, n: usize, p: usize, ep: usize) -> Option<usize> {
        let room = src.len() - s - n;
        let budget = room.min(self.fuel as usize * 4);
        let run = count_run(&src[s + n..s + n + budget], pat, single(pat, p, ep));
        let n = n + run;
        self.fuel = self.fuel.saturating_sub((run / 4) as u32 + 1);
        self.weigh(ep - p);
        if run == budget && budget < room {
            self.fuel = 0;
            self.state = State::Expand { s, n, p, ep };
            return None;
        }
        Some(n)
    }

    fn begin_balance(&mut self, src: &[u8], pat: &[u8], s: usize, p: usize) -> Result<Step, PatternError> {
        if p + 1 >= pat.len() {
            return Err("unbalanced pattern");
        }
        // The original reads the zero byte behind the subject here; a zero byte in a pattern ends it, so the two
        // never match.
        if s >= src.len() || src[s] != pat[p] {
            return Ok(self.fail());
        }
        self.state = State::Balance { s: s + 1, open: 1, p };
        Ok(Step::Go)
    }

    fn balance(&mut self, src: &[u8], pat: &[u8], s: usize, mut open: usize, p: usize) -> Step {
        let (begin, end) = (pat[p], pat[p + 1]);
        let budget = (src.len() - s).min(self.fuel as usize);
        for (i, b) in src[s..s + budget].iter().enumerate() {
            if *b == end {
                open -= 1;
                if open == 0 {
                    self.burn(i as u32 + 1);
                    self.state = State::Forward { s: s + i + 1, p: p + 2 };
                    return Step::Go;
                }
            } else if *b == begin {
                open += 1;
            }
        }
        if s + budget == src.len() {
            self.burn(budget as u32);
            return self.fail();
        }
        self.fuel = 0;
        self.state = State::Balance { s: s + budget, open, p };
        Step::Done(Outcome::Pause)
    }

    fn backtrack(&mut self, src: &[u8], pat: &[u8]) -> Step {
        'choices: loop {
            // Closing a capture that is not open is an error, which must be found.
            let captures_open = self.captures.iter().any(|c| c.len == UNFINISHED);
            if !self.burn(1) {
                return Step::Done(Outcome::Pause);
            }
            let Some(top) = self.frames.last_mut() else {
                return Step::Done(Outcome::Fail);
            };
            match top {
                Frame::Greedy { s, n, p } => {
                    *n -= 1;
                    if let Some(c) = must_follow(pat, *p as usize, captures_open) {
                        // Fewer repetitions at once, down to where it can go on; a part of them only, for the pauses.
                        const PART: u32 = 64;
                        let least = n.saturating_sub(PART);
                        while *n > least && src.get((*s + *n) as usize) != Some(&c) {
                            *n -= 1;
                        }
                    }
                    let (at_s, at_p, last) = (*s + *n, *p as usize, *n == 0);
                    if last {
                        self.frames.pop();
                    }
                    self.state = State::Forward { s: at_s as usize, p: at_p };
                    return Step::Go;
                }
                Frame::Lazy { s, p, ep } => {
                    let follows = must_follow(pat, *ep as usize + 1, captures_open);
                    let item = single(pat, *p as usize, *ep as usize);
                    // More repetitions at once, up to where it can go on.
                    let len = (*ep - *p) as usize;
                    let tries = if len > LONG_SET { 1 } else { 64 };
                    self.fuel = self.fuel.saturating_sub(if len > LONG_SET { (len / 8) as u32 } else { 0 });
                    for _ in 0..tries {
                        if !src.get(*s as usize).is_some_and(|c| holds(item, *c, pat)) {
                            self.frames.pop();
                            continue 'choices;
                        }
                        *s += 1;
                        if follows.is_none_or(|c| src.get(*s as usize) == Some(&c)) {
                            self.state = State::Forward { s: *s as usize, p: *ep as usize + 1 };
                            return Step::Go;
                        }
                    }
                }
                Frame::Optional { s, p } => {
                    self.state = State::Forward { s: *s as usize, p: *p as usize };
                    self.frames.pop();
                    return Step::Go;
                }
                Frame::Opened => {
                    self.captures.pop();
                    self.frames.pop();
                }
                Frame::Closed { level } => {
                    self.captures[*level as usize].len = UNFINISHED;
                    self.frames.pop();
                }
            }
        }
    }
}

enum Step {
    Go,
    Done(Outcome),
}

/// Offset behind the single-character item that begins at `p`.
#[inline]
fn class_end(pat: &[u8], p: usize) -> Result<usize, PatternError> {
    match pat[p] {
        ESC => {
            if p + 1 >= pat.len() {
                return Err("malformed pattern (ends with '%')");
            }
            Ok(p + 2)
        }
        b'[' => set_end(pat, p),
        _ => Ok(p + 1),
    }
}

fn set_end(pat: &[u8], p: usize) -> Result<usize, PatternError> {
    let mut p = p + 1;
    if at(pat, p) == b'^' {
        p += 1;
    }
    loop {
        // The first character is taken before `]` is looked for, so `[]]` is a set.
        if p >= pat.len() {
            return Err("malformed pattern (missing ']')");
        }
        let c = pat[p];
        p += 1;
        if c == ESC && p < pat.len() {
            p += 1;
        }
        if at(pat, p) == b']' {
            return Ok(p + 1);
        }
    }
}

/// `%f[set]`: the set does not hold the character before and holds the one here, where a zero byte stands for both
/// ends of the subject. Gives the offset behind the set, and whether it matches.
fn frontier(src: &[u8], pat: &[u8], s: usize, p: usize) -> Result<(usize, bool), PatternError> {
    if at(pat, p) != b'[' {
        return Err("missing '[' after '%f' in pattern");
    }
    let ep = set_end(pat, p)?;
    let before = if s == 0 { 0 } else { src[s - 1] };
    let here = at(src, s);
    Ok((ep, !in_set(before, pat, p, ep - 1) && in_set(here, pat, p, ep - 1)))
}

#[inline]
fn single(pat: &[u8], p: usize, ep: usize) -> Single {
    match pat[p] {
        b'.' => Single::Any,
        ESC => Single::Class(pat[p + 1]),
        b'[' => set(pat, p, ep - 1),
        b => Single::Byte(b),
    }
}

/// A set from its `[` to its `]`. The commonest, `[^x]`, need not be read for every character.
#[inline]
fn set(pat: &[u8], p: usize, end: usize) -> Single {
    match pat.get(p + 1..end) {
        Some([b'^', b]) if *b != ESC => Single::Not(*b),
        _ => Single::Set { p, end },
    }
}

/// The one character that a match of the pattern from `p` on must begin with, if that is easy to say. `closes`: a
/// capture may be closed there.
#[inline]
fn must_follow(pat: &[u8], p: usize, closes: bool) -> Option<u8> {
    let p = if closes && at(pat, p) == b')' { p + 1 } else { p };
    let c = *pat.get(p)?;
    let plain = !matches!(c, b'(' | b')' | b'.' | b'[' | b'$' | ESC);
    (plain && !matches!(at(pat, p + 1), b'?' | b'*' | b'-')).then_some(c)
}

#[inline]
fn matches_one(src: &[u8], pat: &[u8], s: usize, p: usize, ep: usize) -> bool {
    src.get(s).is_some_and(|c| holds(single(pat, p, ep), *c, pat))
}

/// Whether an item matches a character.
#[inline]
fn holds(item: Single, c: u8, pat: &[u8]) -> bool {
    match item {
        Single::Any => true,
        Single::Byte(b) => b == c,
        Single::Not(b) => b != c,
        Single::Class(class) => in_class(c, class),
        Single::Set { p, end } => in_set(c, pat, p, end),
    }
}

/// How many characters in a row match an item.
fn count_run(src: &[u8], pat: &[u8], item: Single) -> usize {
    let run = match item {
        Single::Any => None,
        Single::Byte(b) => src.iter().position(|c| *c != b),
        Single::Not(b) => src.iter().position(|c| *c == b),
        Single::Class(class) => match class_mask(class) {
            Some((mask, want)) => src.iter().position(|c| (CLASSES[usize::from(*c)] & mask != 0) != want),
            None => src.iter().position(|c| *c != class),
        },
        Single::Set { p, end } => {
            // Reading a set costs as much as it is long; for a long run it is cheaper to decode it once.
            const SHORT: usize = 16;
            let head = if end - p > LONG_SET { 0 } else { src.len().min(SHORT) };
            match src[..head].iter().position(|c| !in_set(*c, pat, p, end)) {
                Some(n) => Some(n),
                None if src.len() == head => None,
                None => {
                    let table = set_table(pat, p, end);
                    src[head..].iter().position(|c| !table[usize::from(*c)]).map(|n| n + head)
                }
            }
        }
    };
    run.unwrap_or(src.len())
}

/// True when the set between `p` (its `[`) and `end` (its `]`) holds `c`.
fn in_set(c: u8, pat: &[u8], mut p: usize, end: usize) -> bool {
    let mut found = true;
    if pat[p + 1] == b'^' {
        found = false;
        p += 1;
    }
    loop {
        p += 1;
        if p >= end {
            return !found;
        }
        if pat[p] == ESC {
            p += 1;
            if in_class(c, at(pat, p)) {
                return found;
            }
        } else if at(pat, p + 1) == b'-' && p + 2 < end {
            p += 2;
            if pat[p - 2] <= c && c <= pat[p] {
                return found;
            }
        } else if pat[p] == c {
            return found;
        }
    }
}

/// What a set holds, read once: to ask [`in_set`] for each character would read a long one 256 times.
fn set_table(pat: &[u8], mut p: usize, end: usize) -> [bool; 256] {
    let mut holds = [false; 256];
    let mut classes = [false; 256];
    let found = pat[p + 1] != b'^';
    p += usize::from(!found);
    loop {
        p += 1;
        if p >= end {
            break;
        }
        if pat[p] == ESC {
            p += 1;
            let class = at(pat, p);
            if !std::mem::replace(&mut classes[usize::from(class)], true) {
                (0..=255u8).filter(|c| in_class(*c, class)).for_each(|c| holds[usize::from(c)] = true);
            }
        } else if at(pat, p + 1) == b'-' && p + 2 < end {
            p += 2;
            (pat[p - 2]..=pat[p]).for_each(|c| holds[usize::from(c)] = true);
        } else {
            holds[usize::from(pat[p])] = true;
        }
    }
    holds.map(|held| held == found)
}

const ALPHA: u16 = 1;
const CNTRL: u16 = 2;
const DIGIT: u16 = 4;
const LOWER: u16 = 8;
const PUNCT: u16 = 16;
const SPACE: u16 = 32;
const UPPER: u16 = 64;
const HEX: u16 = 128;
const ZERO: u16 = 256;

/// The C locale's classes of each byte.
static CLASSES: [u16; 256] = classes();

const fn classes() -> [u16; 256] {
    let mut table = [0u16; 256];
    let mut i = 0;
    while i < 256 {
        let c = i as u8;
        let mut m = 0;
        if c.is_ascii_alphabetic() {
            m |= ALPHA;
        }
        if c.is_ascii_control() {
            m |= CNTRL;
        }
        if c.is_ascii_digit() {
            m |= DIGIT;
        }
        if c.is_ascii_lowercase() {
            m |= LOWER;
        }
        if c.is_ascii_punctuation() {
            m |= PUNCT;
        }
        if c == b' ' || (c >= 9 && c <= 13) {
            m |= SPACE;
        }
        if c.is_ascii_uppercase() {
            m |= UPPER;
        }
        if c.is_ascii_hexdigit() {
            m |= HEX;
        }
        if c == 0 {
            m |= ZERO;
        }
        table[i] = m;
        i += 1;
    }
    table
}

/// Classes that a letter behind `%` stands for, and whether a character must be in them (a capital letter negates).
/// `None`: the character itself.
#[inline]
fn class_mask(class: u8) -> Option<(u16, bool)> {
    let mask = match class.to_ascii_lowercase() {
        b'a' => ALPHA,
        b'c' => CNTRL,
        b'd' => DIGIT,
        b'l' => LOWER,
        b'p' => PUNCT,
        b's' => SPACE,
        b'u' => UPPER,
        b'w' => ALPHA | DIGIT,
        b'x' => HEX,
        b'z' => ZERO,
        _ => return None,
    };
    Some((mask, class.is_ascii_lowercase()))
}

#[inline]
fn in_class(c: u8, class: u8) -> bool {
    match class_mask(class) {
        Some((mask, want)) => (CLASSES[usize::from(c)] & mask != 0) == want,
        None => c == class,
    }
}

/// Offset of `needle` in `haystack` at or behind `from`, looked for in pieces: `Err(next)` asks to be called again
/// from `next` after a look at the stop flag.
///
/// # Errors
/// The offset to go on from.
pub fn find_plain(haystack: &[u8], needle: &[u8], from: usize) -> Result<Option<usize>, usize> {
    const PIECE: usize = 64 * 1024;
    let Some(rest) = haystack.len().checked_sub(from).filter(|rest| *rest >= needle.len()) else {
        return Ok(None);
    };
    match needle {
        [] => return Ok(Some(from)),
        [one] if rest <= PIECE => return Ok(memchr::memchr(*one, &haystack[from..]).map(|n| n + from)),
        _ => {}
    }
    // A piece is at least twice as long as the needle, so the work stays linear.
    let window = PIECE.max(needle.len().saturating_mul(2)).min(rest);
    let piece = &haystack[from..from + window];
    let hit = if window <= 256 { short_find(piece, needle) } else { memchr::memmem::find(piece, needle) };
    match hit {
        Some(n) => Ok(Some(from + n)),
        None if window == rest => Ok(None),
        None => Err(from + window - needle.len() + 1),
    }
}

/// Plain search without set-up cost.
fn short_find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let last = haystack.len() - needle.len();
    let mut from = 0;
    while from <= last {
        let n = from + memchr::memchr(needle[0], &haystack[from..=last])?;
        if haystack[n..n + needle.len()] == *needle {
            return Some(n);
        }
        from = n + 1;
    }
    None
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
