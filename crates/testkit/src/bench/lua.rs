//! The Lua runtime beside `lua5.1` and `redis-server`, by CPU time of the same text in the same run.

use crate::server::Server;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Measurements of each runtime, alternating; the median counts.
const ROUNDS: usize = 3;
/// Runs of a program in one measurement: CPU time is counted in steps of 10 ms.
const REPEAT: usize = 5;

/// Programs that use nothing but Lua, so that all three run them. Each returns something that depends on its work.
pub const PROGRAMS: &[(&str, &str)] = &[
    ("1e7 adds", "local s=0 for i=1,1e7 do s=s+i end return s"),
    ("fib(27)", "local function f(n) if n<2 then return n end return f(n-1)+f(n-2) end return f(27)"),
    (
        "field updates",
        "local t={a=1,b=2,c=3} for i=1,1500000 do t.a=t.b+i t.b=t.c t.c=t.a%1000 end return t.a",
    ),
    ("array", "local t={} for i=1,1000000 do t[i]=i end local s=0 for i=1,#t do s=s+t[i] end return s"),
    (
        "string keys",
        "local t={} for i=1,200000 do t['key:'..(i%5000)]=i end local n=0 for k in pairs(t) do n=n+#k end return n",
    ),
    (
        "JSON recursion",
        "local function enc(v) if type(v)=='table' then local o={} if #v>0 then for i=1,#v do o[i]=enc(v[i]) end return '['..table.concat(o,',')..']' end for k,x in pairs(v) do o[#o+1]='\"'..k..'\":'..enc(x) end return '{'..table.concat(o,',')..'}' elseif type(v)=='string' then return '\"'..v:gsub('[\"\\\\]','\\\\%0')..'\"' end return tostring(v) end local n=0 for i=1,6000 do n=n+#enc({a={1,2,3,{x='y',z={true,false}}},name='hello world',i=i}) end return n",
    ),
    (
        "sort",
        "local x=42 local t={} for i=1,100000 do x=(x*16807)%2147483647 t[i]=x end table.sort(t) return t[1]",
    ),
    (
        "sort by function",
        "local x=42 local t={} for i=1,40000 do x=(x*16807)%2147483647 t[i]=x end table.sort(t,function(a,b) return a>b end) return t[1]",
    ),
    (
        "concat",
        "local n=0 for j=1,200 do local t={} for i=1,1000 do t[i]=i..':' end n=n+#table.concat(t) end return n",
    ),
    (
        "append",
        "local s='' for i=1,8000 do s=s..'x' end local n=0 for i=1,300000 do n=n+#('a'..i..'b') end return n+#s",
    ),
    ("format", "local n=0 for i=1,150000 do n=n+#string.format('%d:%s:%5.2f',i,'abc',i/3) end return n"),
    (
        "gsub and match",
        "local n=0 for i=1,30000 do local s=string.gsub('hello world from lua','(%w+)','<%1>') n=n+#s if string.match('key='..i..';','(%w+)=(%d+);') then n=n+1 end end return n",
    ),
    (
        "find and sub",
        "local n=0 local s=string.rep('abc,',50)..'end' for i=1,12000 do local p=1 while true do local a=string.find(s,',',p,true) if not a then break end n=n+#string.sub(s,p,a-1) p=a+1 end end return n",
    ),
    ("closures", "local n=0 for i=1,700000 do local f=function(x) return x+i end n=n+f(1) end return n"),
    (
        "methods",
        "local C={} C.__index=C function C.new(v) return setmetatable({v=v},C) end function C:add(x) self.v=self.v+x return self end local o=C.new(0) for i=1,1500000 do o:add(i) end return o.v",
    ),
];

/// CPU seconds of one run of each program on a server.
fn on_server(server: &Server, source: &str) -> io::Result<(f64, String)> {
    let mut client = server.client();
    client.set_timeout(None)?;
    let before = server.cpu()?;
    let mut reply = client.call(&["EVAL", source, "0"])?;
    for _ in 1..REPEAT {
        reply = client.call(&["EVAL", source, "0"])?;
    }
    let after = server.cpu()?;
    if reply.is_error() {
        return Err(io::Error::other(reply.text()));
    }
    Ok(((after.user - before.user) / REPEAT as f64, crate::print::reply(&reply)))
}

/// CPU seconds of one run on `lua5.1`, as it counts them itself.
fn on_lua51(source: &str) -> io::Result<f64> {
    let mut child = Command::new("lua5.1").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let program = format!(
        "local function main() {source} end local t=os.clock() for i=1,{REPEAT} do main() end io.write(string.format('%.4f', (os.clock()-t)/{REPEAT}))"
    );
    if let Some(mut input) = child.stdin.take() {
        input.write_all(program.as_bytes())?;
    }
    let out = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&out.stdout);
    text.trim().parse().map_err(|_| io::Error::other(format!("lua5.1 said {text:?}")))
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Prints the table; ratios are our time divided by theirs.
pub fn table(wanted: &[String]) -> io::Result<()> {
    let ours = Server::totality(&["--busy-reply-threshold", "60000"])?;
    let theirs = Server::redis(&["--busy-reply-threshold", "60000"])?;
    println!("CPU ms of one run, median of {ROUNDS} alternating rounds; ratios = ours / theirs\n");
    println!("| program | totality | lua5.1 | redis-server | / lua5.1 | / redis-server |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, source) in PROGRAMS {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        match program(source, &ours, &theirs) {
            Ok([a, l, b]) => {
                let ms = [a, l, b].map(|s| s * 1e3);
                let (rl, rb) = (a / l.max(1e-4), a / b.max(1e-4));
                println!("| {name} | {:.0} | {:.0} | {:.0} | {rl:.2} | {rb:.2} |", ms[0], ms[1], ms[2]);
            }
            Err(why) => println!("| {name} | {why} | | | | |"),
        }
    }
    println!(
        "\nscripts that call the server (empty call, GET, the limiters): `cargo xtask bench script seed`"
    );
    Ok(())
}

fn program(source: &str, ours: &Server, theirs: &Server) -> io::Result<[f64; 3]> {
    let mut samples = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let (a, said) = on_server(ours, source)?;
        let l = on_lua51(source)?;
        let (b, their) = on_server(theirs, source)?;
        if said != their {
            return Err(io::Error::other(format!("WRONG ANSWER {said}, redis-server says {their}")));
        }
        samples[0].push(a);
        samples[1].push(l);
        samples[2].push(b);
    }
    Ok(samples.map(median))
}
