//! Random programs that rarely fail: every variable keeps its type, so that long stretches really run.

use super::rng::Rng;

const NUMS: &[&str] = &["n1", "n2", "n3", "n4"];
const STRS: &[&str] = &["s1", "s2", "s3"];
const LISTS: &[&str] = &["t1", "t2"];

/// Prelude: variables, an object system, helpers with bounded work.
const PRELUDE: &str = "local n1,n2,n3,n4=1,2.5,-3,10 local s1,s2,s3='abc','x=1, y=2','' local t1,t2,m={3,1,2},{},{a=1,b=2} \
local log={} local function put(...) for i=1,select('#',...) do if #log<60 then log[#log+1]=tostring((select(i,...))) end end end \
local function cut(s) if #s>40 then return s:sub(1,40) end return s end \
local function fin(n) if n~=n or n>1e9 or n<-1e9 then return 0 end return n end \
local Base={} Base.__index=Base function Base.new(v) return setmetatable({v=v},Base) end function Base:get() return self.v end \
function Base:add(k,...) self.v=fin(self.v+k+select('#',...)) return self end Base.__add=function(a,b) return Base.new(fin(a.v+b.v)) end \
Base.__lt=function(a,b) return a.v<b.v end Base.__eq=function(a,b) return a.v==b.v end Base.__tostring=function(o) return 'B'..o.v end \
local Sub=setmetatable({},{__index=Base}) Sub.__index=Sub Sub.__lt=Base.__lt Sub.__eq=Base.__eq Sub.__add=Base.__add Sub.__tostring=function(o) return 'S'..o.v end Sub.__concat=function(a,b) return 'cat' end \
function Sub.new(v) local o=Base.new(v) return setmetatable(o,Sub) end function Sub:get() return Base.get(self)*2 end local o1,o2=Base.new(4),Sub.new(5)";

/// Statements of a program made from a seed.
pub fn statements(seed: u64) -> Vec<String> {
    let mut p = Typed { r: Rng::new(seed ^ 0x5bd1_e995), fresh: 0, functions: Vec::new() };
    let mut out = vec![PRELUDE.to_owned()];
    for _ in 0..p.r.below(12) + 3 {
        out.push(p.statement(0));
    }
    out.push("do return n1,n2,n3,n4,s1,s2,s3,t1,t2,m,o1:get(),o2:get(),log end".to_owned());
    out
}

struct Typed {
    r: Rng,
    fresh: usize,
    functions: Vec<String>,
}

impl Typed {
    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn num(&mut self, depth: usize) -> String {
        let d = depth + 1;
        if depth > 3 {
            return if self.r.one_in(2) {
                self.r.pick(NUMS).into()
            } else {
                self.r.range(-9, 20).to_string()
            };
        }
        match self.r.below(22) {
            0..=2 => self.r.range(-9, 30).to_string(),
            3 => self.r.pick(&["0.5", "-0.25", "1e3", "2^10", "7/2", "0x1f", "1e-2"]).into(),
            4..=7 => self.r.pick(NUMS).into(),
            8..=11 => {
                let op = self.r.pick(&["+", "-", "*", "/", "%"]);
                format!("({} {op} {})", self.num(d), self.num(d))
            }
            12 => format!("-({})", self.num(d)),
            13 => format!("#{}", if self.r.one_in(2) { self.r.pick(LISTS) } else { self.r.pick(STRS) }),
            14 => {
                let f = self.r.pick(&["math.floor", "math.abs", "math.ceil", "fin"]);
                format!("{f}({})", self.num(d))
            }
            15 => {
                let f = self.r.pick(&["math.max", "math.min"]);
                format!("{f}({},{})", self.num(d), self.num(d))
            }
            16 => format!("({}[{}] or {})", self.r.pick(LISTS), self.num(d), self.num(d)),
            17 => format!("({} and {} or {})", self.cond(d), self.num(d), self.num(d)),
            18 => format!("(tonumber({}) or {})", self.text(d), self.num(d)),
            19 => {
                let o = self.r.pick(&["o1", "o2", "(o1+o2)"]);
                format!("{o}:get()")
            }
            20 => format!("select({},{},{})", self.r.pick(&["'#'", "1", "-1"]), self.num(d), self.num(d)),
            _ => match self.functions.len() {
                0 => "n1".into(),
                n => {
                    let f = self.functions[self.r.below(n)].clone();
                    format!("{f}({},{})", self.num(d), self.num(d))
                }
            },
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let d = depth + 1;
        if depth > 3 {
            return self.r.pick(STRS).into();
        }
        match self.r.below(16) {
            0..=2 => self
                .r
                .pick(&["'abc'", "'12'", "''", "'a,b,c'", "'x y z'", "'0x10'", "([[lo]])", "'\\65\\n'"])
                .into(),
            3..=5 => self.r.pick(STRS).into(),
            6 | 7 => format!(
                "cut({}..{})",
                self.text(d),
                if self.r.one_in(2) { self.text(d) } else { format!("fin({})", self.num(d)) }
            ),
            8 => format!("({}):sub({},{})", self.text(d), self.num(d), self.num(d)),
            9 => {
                let f = self.r.pick(&["upper", "lower", "reverse"]);
                format!("({}):{f}()", self.text(d))
            }
            10 => format!("cut(({}):rep({}))", self.text(d), self.r.below(4)),
            11 => {
                format!("string.format('%d|%5.2f|%s',fin({}),{},{})", self.num(d), self.num(d), self.text(d))
            }
            12 => format!("tostring({})", if self.r.one_in(2) { self.num(d) } else { self.cond(d) }),
            13 => format!("cut(table.concat({},{}))", self.r.pick(LISTS), self.r.pick(&["','", "'-'", "''"])),
            14 => {
                let p = self.r.pick(&["'%w'", "'[a-c]'", "'(.)(.)'", "'%d+'", "'^%s*'", "','"]);
                let by = self.r.pick(&[
                    "'<%0>'",
                    "'%%'",
                    "''",
                    "string.upper",
                    "{a='1',b=false}",
                    "function(x,y) return y and y..x end",
                ]);
                format!("cut((({}):gsub({p},{by})))", self.text(d))
            }
            _ => format!(
                "(({}):match({}) or '')",
                self.text(d),
                self.r.pick(&["'%a+'", "'%d'", "'(%w+)='", "'.-,(.)'", "'b()'"])
            )
            .replace("'b()'", "'b'"),
        }
    }

    fn cond(&mut self, depth: usize) -> String {
        let d = depth + 1;
        match self.r.below(9) {
            0..=2 => {
                format!("{}{}{}", self.num(d), self.r.pick(&["<", "<=", ">", ">=", "==", "~="]), self.num(d))
            }
            3 => format!("{}{}{}", self.text(d), self.r.pick(&["<", "<=", "==", "~=", ">"]), self.text(d)),
            4 if d < 3 => format!("not ({})", self.cond(d)),
            5 if d < 3 => format!("({} {} {})", self.cond(d), self.r.pick(&["and", "or"]), self.cond(d)),
            6 => self.r.pick(&["o1<o2", "o1==o2", "t1==t2", "o1>o2", "s1==s2"]).into(),
            7 => format!("m[{}]==nil", self.text(d)),
            _ => self.r.pick(&["true", "false", "nil"]).into(),
        }
    }

    fn block(&mut self, depth: usize) -> String {
        let kept = self.functions.len();
        let n = self.r.below(3) + 1;
        let text = (0..n).map(|_| self.statement(depth)).collect::<Vec<_>>().join(" ");
        // Functions of an inner block are not seen outside.
        self.functions.truncate(kept);
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        let d = depth + 1;
        if depth > 2 {
            return if self.r.one_in(3) {
                format!("put({})", self.text(2))
            } else {
                format!("{}={}", self.r.pick(NUMS), self.num(1))
            };
        }
        match self.r.below(30) {
            0..=3 => format!("{}={}", self.r.pick(NUMS), self.num(0)),
            4 | 5 => format!("{}={}", self.r.pick(STRS), self.text(0)),
            6 => format!("{},{}={},{}", self.r.pick(NUMS), self.r.pick(NUMS), self.num(1), self.num(1)),
            7 | 8 => format!(
                "if {} then {} elseif {} then {} else {} end",
                self.cond(0),
                self.block(d),
                self.cond(0),
                self.block(d),
                self.block(d)
            ),
            9 => format!(
                "for i={},{},{} do n1=fin(n1+i) {} end",
                self.r.range(-2, 4),
                self.r.range(-2, 6),
                self.r.pick(&["1", "-1", "0.5", "2"]),
                self.block(d)
            ),
            10 => format!(
                "for i,v in ipairs({}) do n2=fin(n2+i*v) if i>5 then break end {} end",
                self.r.pick(LISTS),
                self.block(d)
            ),
            11 => "for k,v in pairs(m) do put(k,v) end for k,v in pairs(t1) do put(k,v) end".into(),
            12 => {
                let w = self.name("w");
                format!(
                    "local {w}=0 while true do {w}={w}+1 if {w}>{} then break end {} end",
                    self.r.below(5),
                    self.block(d)
                )
            }
            13 => {
                let w = self.name("w");
                format!(
                    "local {w}=0 repeat local done={w}>{} {w}={w}+1 {} until done or {}",
                    self.r.below(4),
                    self.block(d),
                    self.cond(1)
                )
            }
            14 | 15 => {
                let f = self.name("f");
                let body = self.block(d.max(2));
                let text = format!(
                    "local function {f}(a,b,...) a,b=fin(a or 0),fin(b or 0) n4=fin(n4+1) {body} if a>3 then return fin({f}(a/2-1,b)) end return fin(a*b+{}) end",
                    self.num(2)
                );
                self.functions.push(f);
                text
            }
            16 => {
                let fs = self.name("fs");
                format!(
                    "do local {fs}={{}} for i=1,3 do local k=i*{} {fs}[i]=function(x) k=fin(k+x) return k,i end end put({fs}[1](1)) put({fs}[1](2),({fs}[2](5))) put({fs}[3]({})) end",
                    self.num(2),
                    self.num(1)
                )
            }
            17 => format!("{}[#{}%12+1]=fin({})", self.r.pick(LISTS), self.r.pick(LISTS), self.num(1)),
            18 => {
                let t = self.r.pick(LISTS);
                format!("if #{t}<12 then table.insert({t},fin({})) end", self.num(1))
            }
            19 => format!("put(table.remove({}))", self.r.pick(LISTS)),
            20 => {
                format!(
                    "m[({}):sub(1,20)]={}",
                    self.text(1),
                    if self.r.one_in(3) { "nil".into() } else { self.num(1) }
                )
            }
            21 => {
                let t = self.r.pick(LISTS);
                format!(
                    "put(pcall(table.sort,{t}{}))",
                    self.r.pick(&["", ",function(a,b) return a>b end", ",function(a,b) return a%3<b%3 end"])
                )
            }
            22 => {
                let c = self.name("c");
                format!(
                    "local {c}=coroutine.wrap(function(a,...) local n=0 while true do n=n+1 a=coroutine.yield(fin(a*n+select('#',...)),n) if n>4 then return 'end' end {} end end) put({c}({},1,2)) put({c}({})) put({c}(3))",
                    self.block(d.max(2)),
                    self.num(1),
                    self.num(1)
                )
            }
            23 => format!(
                "put(pcall(function(a,...) {} if {} then error({}) end return a,... end,{},{}))",
                self.block(d),
                self.cond(1),
                if self.r.one_in(2) { self.text(1) } else { format!("{{v={}}}", self.num(1)) },
                self.num(1),
                self.text(1)
            ),
            24 => format!(
                "put(xpcall(function() {} local x={} return x.y end,function(e) return 'H:'..tostring(e) end))",
                self.block(d),
                self.r.pick(&["nil", "n1", "s1", "t1", "m"])
            ),
            25 => format!(
                "for a,b in ({}):gmatch({}) do put(a,b) end",
                self.text(0),
                self.r.pick(&["'(%w)=(%w)'", "'%a'", "'()(.)'", "'[^,]+'"])
            ),
            26 => format!("{}:add({},{})", self.r.pick(&["o1", "o2"]), self.num(1), self.num(1)),
            27 => "o1=o1+o2 put(tostring(o1),tostring(o2),o1<o2,o2..'x',rawequal(o1,o2))".into(),
            28 => format!(
                "do local {}={} local {}={} {} end",
                self.r.pick(NUMS),
                self.num(1),
                self.r.pick(STRS),
                self.text(1),
                self.block(d)
            ),
            _ => format!(
                "put((function(...) local a,b,c=... return select('#',...),c,b,a end)({},{}))",
                self.num(1),
                self.text(1)
            ),
        }
    }
}
