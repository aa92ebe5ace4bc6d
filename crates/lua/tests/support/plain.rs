//! Debian's `lua5.1` as a second oracle: snippets run in one process, each in an environment of its own.

use std::io::{BufRead, BufReader, Error, Result, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Reads snippets from standard input (a length, a line end, the bytes), runs each and writes its result the same way.
const DRIVER: &str = r#"
local setfenv,loadstring,pcall,type,tostring,read,write,flush = setfenv,loadstring,pcall,type,tostring,io.read,io.write,io.flush
local names={'assert','collectgarbage','coroutine','error','gcinfo','getmetatable','ipairs','load','loadstring','math',
  'next','pairs','pcall','rawequal','rawget','rawset','select','setmetatable','string','table','tonumber','tostring','type',
  'unpack','xpcall','_VERSION'}
local real=_G
local function environment()
  local env={}
  for _,n in ipairs(names) do env[n]=real[n] end
  env._G=env
  return env
end
-- The libraries are everybody's, and copies would have an order of their own: whoever changes one is the last here.
local exit,pairs=os.exit,pairs
local kept={}
for _,lib in ipairs({string,math,table,coroutine,getmetatable('')}) do
  kept[lib]={}
  for k,v in pairs(lib) do kept[lib][k]=v end
end
local function changed()
  for lib,was in pairs(kept) do
    for k,v in pairs(lib) do if was[k]~=v then return true end end
    for k,v in pairs(was) do if lib[k]~=v then return true end end
  end
end
while true do
  local n=read('*l')
  if not n then break end
  local script=read(tonumber(n)) or ''
  local f,e=loadstring(script,'@user_script')
  local out
  if not f then out='LOADERR:'..e else
    setfenv(f,environment())
    local ok,r=pcall(f)
    out=(ok and '' or '-')..tostring(r)
  end
  write(#out,'\n',out)
  flush()
  if changed() then exit() end
end
"#;

/// A running `lua5.1`; killed on drop.
struct Lua {
    child: Child,
    results: Receiver<Vec<u8>>,
}

impl Lua {
    fn start(scripts: &[String]) -> Result<Lua> {
        let mut child = Command::new("lua5.1")
            .args(["-e", DRIVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = Vec::new();
        for s in scripts {
            input.extend_from_slice(format!("{}\n{s}", s.len()).as_bytes());
        }
        let mut stdin = child.stdin.take().ok_or_else(|| Error::other("no standard input"))?;
        // Fails when the process is killed, which is how a snippet that takes too long ends.
        std::thread::spawn(move || stdin.write_all(&input));
        let stdout = child.stdout.take().ok_or_else(|| Error::other("no standard output"))?;
        let (send, results) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(stdout);
            while let Some(result) = read_result(&mut out) {
                if send.send(result).is_err() {
                    break;
                }
            }
        });
        Ok(Lua { child, results })
    }
}

impl Drop for Lua {
    fn drop(&mut self) {
        // Nothing is left to do when these fail.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_result(out: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    out.read_line(&mut line).ok()?;
    let mut bytes = vec![0; line.trim_end().parse().ok()?];
    out.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// Runs whole scripts; the results are raw bytes. `None` for a script that takes longer than `limit` or that the
/// process does not survive; the next one is run by a new process.
pub fn run_all(scripts: &[String], limit: Duration) -> Result<Vec<Option<Vec<u8>>>> {
    let mut results: Vec<Option<Vec<u8>>> = Vec::with_capacity(scripts.len());
    while results.len() < scripts.len() {
        let lua = Lua::start(&scripts[results.len()..])?;
        while results.len() < scripts.len() {
            match lua.results.recv_timeout(limit) {
                Ok(result) => results.push(Some(result)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    results.push(None);
                    break;
                }
            }
        }
    }
    Ok(results)
}
