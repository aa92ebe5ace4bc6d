//! Debian's `lua5.1` as a second oracle: snippets run in one process, each in an environment of its own.

use std::io::{Error, Result, Write};
use std::process::{Command, Stdio};

/// Reads snippets from standard input (a length, a line end, the bytes), runs each and writes its result the same way.
const DRIVER: &str = r#"
local setfenv,loadstring,pcall,type,tostring,read,write = setfenv,loadstring,pcall,type,tostring,io.read,io.write
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
end
"#;

/// Runs whole scripts; the results are raw bytes.
pub fn run_all(scripts: &[String]) -> Result<Vec<Vec<u8>>> {
    let mut child = Command::new("lua5.1")
        .args(["-e", DRIVER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = Vec::new();
    for s in scripts {
        input.extend_from_slice(format!("{}\n{s}", s.len()).as_bytes());
    }
    let mut stdin = child.stdin.take().ok_or_else(|| Error::other("no standard input"))?;
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| Error::other("writer failed"))??;
    let mut rest = output.stdout.as_slice();
    let mut results = Vec::with_capacity(scripts.len());
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let len: usize = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|n| n.parse().ok())
            .ok_or_else(|| Error::other("no length"))?;
        results.push(rest[end + 1..end + 1 + len].to_vec());
        rest = &rest[end + 1 + len..];
    }
    if results.len() != scripts.len() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::other(format!(
            "lua5.1 ran {} of {} scripts: {why}",
            results.len(),
            scripts.len()
        )));
    }
    Ok(results)
}
