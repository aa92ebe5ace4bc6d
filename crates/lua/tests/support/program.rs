//! Random programs for the differential tests.

use super::random::{number, string, string_call};
use super::rng::Rng;

/// A small program: its statements, one by one, so that a failing one can be shortened.
pub struct Program {
    r: Rng,
    functions: usize,
    loops: usize,
    /// Inside a block or a function
    nested: bool,
}

const VARS: &[&str] = &["a", "b", "c", "d", "t", "u"];
const FIELDS: &[&str] = &["x", "y", "z", "n", "name"];

impl Program {
    /// Statements of a program made from a seed.
    pub fn statements(seed: u64) -> Vec<String> {
        let mut p = Program { r: Rng::new(seed), functions: 0, loops: 0, nested: false };
        let mut out = vec!["local a,b,c,d,t,u=1,'x',nil,2.5,{},{3,1,2}".to_owned()];
        for _ in 0..p.r.below(9) + 2 {
            p.nested = false;
            out.push(p.statement(0));
        }
        out.push("do return a,b,c,d,t,u end".to_owned());
        out
    }

    fn var(&mut self) -> &'static str {
        self.r.pick(VARS)
    }

    fn place(&mut self, depth: usize) -> String {
        match self.r.below(8) {
            0 | 1 => format!("{}.{}", if self.r.one_in(4) { self.var() } else { "t" }, self.r.pick(FIELDS)),
            2 => format!("{}[{}]", if self.r.one_in(4) { self.var() } else { "t" }, self.key(depth)),
            3 => format!("u[{}]", self.r.range(-1, 8)),
            _ => self.var().into(),
        }
    }

    /// An expression that is never a table, so that it may be a key.
    fn key(&mut self, depth: usize) -> String {
        match self.r.below(6) {
            0 => format!("'{}'", self.r.pick(FIELDS)),
            1 | 2 => self.r.range(-2, 12).to_string(),
            3 => (self.r.pick(&["true", "0.5", "'1'", "2^53", "-0", "1e3"])).into(),
            4 => format!("tostring({})=='1'", self.expr(depth + 1)),
            _ => "#u".into(),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        if depth > 3 {
            return match self.r.below(4) {
                0 => self.r.range(-3, 9).to_string(),
                1 => format!("'{}'", self.r.pick(FIELDS)),
                _ => self.var().into(),
            };
        }
        let d = depth + 1;
        match self.r.below(30) {
            0..=3 => self.r.range(-5, 20).to_string(),
            4 => number(&mut self.r),
            5 => string(&mut self.r),
            6..=9 => self.var().into(),
            10 | 11 => self.place(d),
            12..=15 => {
                let op = self.r.pick(&["+", "-", "*", "/", "%", "^"]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            16 => {
                let op = self.r.pick(&["==", "~=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            17 | 18 => {
                let op = self.r.pick(&["and", "or"]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            // Cut, because in a loop such a string would double each time round.
            19 if self.nested => format!("string.sub(tostring({})..{},1,30)", self.var(), self.expr(d)),
            20 if self.nested => format!("string.sub({} .. {},1,30)", self.expr(d), self.expr(d)),
            19 => format!("(tostring({})..{})", self.var(), self.expr(d)),
            20 => format!("({} .. {})", self.expr(d), self.expr(d)),
            21 => format!("{}{}", self.r.pick(&["not ", "-", "#"]), self.expr(d)),
            22 => {
                let items: Vec<String> = (0..self.r.below(4)).map(|_| self.expr(d)).collect();
                format!("{{{}}}", items.join(","))
            }
            23 => format!("{{{}={},[{}]={}}}", self.r.pick(FIELDS), self.expr(d), self.key(d), self.expr(d)),
            24 => {
                let f = self.r.pick(&[
                    "type",
                    "tostring",
                    "tonumber",
                    "math.floor",
                    "string.len",
                    "string.upper",
                    "unpack",
                    "next",
                    "math.abs",
                ]);
                format!("{f}({})", if f == "tostring" { self.var().into() } else { self.expr(d) })
            }
            25 => format!("string.{}", &call_text(&mut self.r)),
            26 => format!(
                "(function(...) local a,b=... return {} end)({},{})",
                self.expr(d),
                self.expr(d),
                self.expr(d)
            ),
            27 if self.functions > 0 => {
                let n = self.r.below(self.functions);
                format!("f{n}({},{})", self.expr(d), self.expr(d))
            }
            28 => {
                format!("select({},{},{})", self.r.pick(&["'#'", "1", "-1", "2"]), self.expr(d), self.expr(d))
            }
            _ => format!("pcall(function() return {} end)", self.expr(d)),
        }
    }

    fn block(&mut self, depth: usize) -> String {
        let n = self.r.below(3) + 1;
        self.nested = true;
        (0..n).map(|_| self.statement(depth)).collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self, depth: usize) -> String {
        let d = depth + 1;
        if depth > 3 {
            return format!("{}={}", self.var(), self.expr(2));
        }
        match self.r.below(24) {
            0..=5 => format!("{}={}", self.place(1), self.expr(0)),
            6 => format!("{},{}={},{}", self.place(1), self.place(1), self.expr(1), self.expr(1)),
            7 | 8 => format!("if {} then {} else {} end", self.expr(1), self.block(d), self.block(d)),
            9 => format!("for i={},{} do {} end", self.r.range(-2, 3), self.r.range(-2, 6), self.block(d)),
            10 => {
                let step = self.r.pick(&["1", "-1", "0.5", "2", "-2"]);
                format!(
                    "for i={},{},{step} do a=i {} end",
                    self.r.range(-2, 6),
                    self.r.range(-2, 6),
                    self.block(d)
                )
            }
            11 => "for k,v in pairs(t) do b=tostring(k)..'|'..type(v) end".into(),
            12 => format!("for k,v in ipairs(u) do {} if k>5 then break end end", self.block(d)),
            13 => {
                self.loops += 1;
                let n = self.loops;
                format!("local w{n}=0 while w{n}<{} do w{n}=w{n}+1 {} end", self.r.below(5), self.block(d))
            }
            14 => {
                self.loops += 1;
                let n = self.loops;
                format!("local w{n}=0 repeat w{n}=w{n}+1 {} until w{n}>3 or {}", self.block(d), self.expr(2))
            }
            15 if depth == 0 => {
                let n = self.functions;
                let text = format!(
                    "local function f{n}(a,...) local b=... {} do return {},{} end end",
                    self.block(2),
                    self.expr(1),
                    self.expr(2)
                );
                self.functions += 1;
                text
            }
            16 => {
                let t = self.r.pick(&["u", "t"]);
                format!("if #{t}<20 then table.insert({t},{}) end", self.expr(1))
            }
            17 => format!("c=table.remove({})", self.r.pick(&["u", "t"])),
            18 => format!("{}=select('#',pcall(function() {} end))", self.var(), self.block(d)),
            19 => format!("c,d=pcall(function() {} error({}) end)", self.block(d), self.expr(1)),
            20 => {
                self.nested = true;
                let event = self.r.pick(&[
                    "__index",
                    "__newindex",
                    "__add",
                    "__concat",
                    "__call",
                    "__lt",
                    "__le",
                    "__eq",
                    "__unm",
                    "__len",
                    "__tostring",
                    "__mod",
                ]);
                format!("setmetatable(t,{{{event}=function(x,y) return {} end}})", self.expr(2))
            }
            21 => format!(
                "c=coroutine.wrap(function(...) local x=coroutine.yield({}) do return x,{} end end) d=c({}) d=c({})",
                self.expr(2),
                self.expr(2),
                self.expr(2),
                self.expr(2)
            ),
            22 => "if #u<20 then pcall(table.sort,u) end".into(),
            _ => format!("do local {}={} {} end", self.var(), self.expr(1), self.block(d)),
        }
    }
}

/// A call of a string function without its library's name.
fn call_text(r: &mut Rng) -> String {
    loop {
        let text = string_call(r);
        if let Some(text) = text.strip_prefix("return string.") {
            return text.to_owned();
        }
    }
}
