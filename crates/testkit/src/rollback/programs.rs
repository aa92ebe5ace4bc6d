//! Random programs: write commands, savepoints, failures.

use crate::client::Command;
use crate::oracle::groups::{FAMILIES, SHARED};
use crate::oracle::template::{expand, spoil};
use crate::rng::Rng;
use std::sync::LazyLock;
use totality_engine::commands;
use totality_engine::spec::Flags;

/// The keys that programs use most.
pub const KEYS: [&[u8]; 8] = [b"a", b"b", b"c", b"d", b"e", b"{t}x", b"key:1", b"\xff\0k\r\n"];

/// What the comparison with redis-server has no use for, or not often enough.
const MORE: &[&str] = &[
    "FLUSHALL",
    "FLUSHDB",
    "SWAPDB 0 1",
    "SWAPDB $n $n",
    "SELECT (0|1)",
    "MOVE $k (0|1)",
    "RENAME $k $k",
    "RENAMENX $k $k",
    "PERSIST $k",
    "PEXPIREAT $k 4000000000123",
    "EXPIRE $k 1000",
    "DEL $k",
    "HPEXPIRE $k 1000000 FIELDS 1 $e",
    "HEXPIRE $k 1000 FIELDS 2 $e $e",
    "HEXPIREAT $k 4000000000 FIELDS 1 $e",
    "HEXPIREAT $k 4000000000 FIELDS 2 m1 m2",
    "HPEXPIREAT $k 4000000000123 FIELDS 1 $e",
    "HPERSIST $k FIELDS 3 m1 m2 $e",
    "HDEL $k m1 m2 m3",
    "BLMOVE $k $k (LEFT|RIGHT) (LEFT|RIGHT) 0",
    "BLMPOP 0 2 $k $k (LEFT|RIGHT) COUNT 3",
    "BLMOVE $k a (LEFT|RIGHT) RIGHT 0",
    "RPOPLPUSH $k $k",
    "RPOPLPUSH $k a",
    "LMOVE $k $k (LEFT|RIGHT) (LEFT|RIGHT)",
    "BLPOP $k 0",
    "BRPOP $k 0",
    "BRPOPLPUSH $k $k 0",
    "BZMPOP 0 2 $k $k (MIN|MAX) COUNT 3",
    "BZPOPMIN $k 0",
    "BZPOPMAX $k 0",
    "ZREMRANGEBYLEX $k - $lex",
    "ZREMRANGEBYLEX $k - +",
    "ZREMRANGEBYSCORE $k 1 20",
    "PFDEBUG TODENSE $k",
    "PFDEBUG (TODENSE|GETREG) $k",
    "DELIFEQ $k (x|12)",
    "SMOVE $k $k (m1|x|2)",
    "HGETEX $k EX 1000 FIELDS 1 $e",
    "HGETDEL $k FIELDS 2 $e $e",
    "HSETEX $k PX 1000000 FIELDS 2 $e $v $e $v",
    "LTRIM $k 2 -3",
    "LTRIM $k $idx $idx",
    "LREM $k $idx $v",
    "LREM $k -2 x",
    "LSET $k -2 $v",
    "LINSERT $k (BEFORE|AFTER) x $v",
    "RPUSH $k x x $v x $v",
    "SPOP $k 100",
    "SPOP $k 150",
    "SPOP $k",
    "ZREMRANGEBYRANK $k 10 60",
    "ZPOPMAX $k 30",
    "XTRIM $k MAXLEN 5",
    "XTRIM $k MAXLEN $n",
    "XADD $k * f $v",
    "XADD $k MAXLEN 7 * $e $v $e $v",
    "XDEL $k 3-1 5-1 7-1",
    "XDEL $k $id $id",
    "XGROUP CREATE $k $grp 0 MKSTREAM",
    "XGROUP DESTROY $k $grp",
    "XGROUP SETID $k $grp $id",
    "XGROUP CREATECONSUMER $k $grp $who",
    "XGROUP DELCONSUMER $k $grp $who",
    "XREADGROUP GROUP $grp $who COUNT 5 STREAMS $k >",
    "XREADGROUP GROUP $grp $who NOACK COUNT 2 STREAMS $k >",
    "XREADGROUP GROUP $grp $who COUNT 5 STREAMS $k 0",
    "XACK $k $grp 1-1 2-1 3-1 $id",
    "XACK $k g 1-1 2-1 3-1 4-1 5-1 6-1 7-1 8-1 9-1",
    "XACKDEL $k $grp IDS 2 $id $id",
    "XACKDEL $k g (KEEPREF|DELREF|ACKED) IDS 6 1-1 2-1 3-1 4-1 5-1 6-1",
    "XDELEX $k IDS 2 $id $id",
    "XDELEX $k (KEEPREF|DELREF|ACKED) IDS 6 1-1 2-1 3-1 4-1 5-1 6-1",
    "ZMPOP 2 $k $k (MIN|MAX) COUNT 3",
    "XCLAIM $k $grp $who 0 1-1 2-1 3-1",
    "XCLAIM $k $grp $who 0 $id FORCE JUSTID",
    "XAUTOCLAIM $k $grp $who 0 0 COUNT 3",
    "XSETID $k 99-99",
    "APPEND $k $v",
    "SETRANGE $k 15000 $v",
    "SETRANGE $k 30000 $v",
    "SETBIT $k 170000 1",
    "BITFIELD $k SET u8 100000 $i INCRBY i16 160000 $i",
    "PFADD $k {$e}",
    "DELEX $k",
    "DELIFEQ $k $v",
    "MSETEX 2 $k $v $k $v EX 1000",
    "INCREX $k",
    "GEOADD $k 13.3 38.1 $e 15.0 37.5 $e",
    "GEOSEARCHSTORE $k $k FROMLONLAT 14 38 BYRADIUS 500 km",
    "GEORADIUS $k 14 38 500 km STORE $k",
    "GEORADIUSBYMEMBER $k $e 500 km STORE $k",
    "PUBLISH ch $v",
    "SPUBLISH ch $v",
    "GET $k",
    "HGETALL $k",
];

/// Large values, one for each type, and small ones.
const VALUES: &[&str] = &[
    "SET $k $v",
    "SET $k 12",
    "SET $k x",
    "HSETEX $k PX 1000000 FIELDS 3 m1 a m2 b m3 c",
    "ZADD $k 1 m1 1 m2 1 m3",
    "SET $k $v EX 1000",
    "SADD $k 1 2 3",
    "SADD $k $e $e x",
    "HSET $k $e $v $e $v x y",
    "RPUSH $k $v $v x",
    "RPUSH $k 1 2 3",
    "ZADD $k 1 $e 2 $e 2 x",
    "XADD $k 1-1 f $v",
    "PFADD $k a b c",
    "PFADD $k d e f",
];

/// Templates of all commands that may write, and of some that do not.
pub static TEMPLATES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let families = FAMILIES.iter().filter(|family| !matches!(family.name, "script" | "multi"));
    let all = families.flat_map(|family| family.commands).chain(SHARED).chain(MORE);
    all.copied().filter(|template| name(template) != "nosuch").collect()
});

/// The templates of commands that may write.
pub static WRITES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let writes = |template: &&&str| {
        commands::lookup(name(template).as_bytes()).is_some_and(|command| {
            let subs = command.spec.subs.iter().any(|sub| sub.flags.contains(Flags::WRITE));
            subs || command.spec.flags.intersects(Flags::WRITE.union(Flags::MAY_REPLICATE))
                || command.spec.name == "select"
        })
    };
    TEMPLATES.iter().filter(writes).copied().collect()
});

/// The name of a template's command, in lower case.
pub fn name(template: &str) -> String {
    template.split([' ', '[']).next().unwrap_or("").to_ascii_lowercase()
}

/// True for commands whose outcome depends on the engine's generator.
fn is_random(command: &Command) -> bool {
    const RANDOM: [&[u8]; 5] = [b"SPOP", b"SRANDMEMBER", b"RANDOMKEY", b"HRANDFIELD", b"ZRANDMEMBER"];
    RANDOM.iter().any(|name| command[0].eq_ignore_ascii_case(name))
}

/// A random command that may write.
pub fn write_command(rng: &mut Rng, deterministic: bool) -> Command {
    loop {
        let mut command = expand(rng.pick(&WRITES), rng);
        spoil(&mut command, rng);
        if !(deterministic && is_random(&command)) {
            return command;
        }
    }
}

/// Commands that make keys of all types and encodings.
pub fn setup(rng: &mut Rng, deterministic: bool) -> Vec<Command> {
    let mut all = Vec::new();
    for key in KEYS {
        match rng.below(10) {
            0 | 1 => {}
            2..=5 => {
                let mut command = expand(rng.pick(VALUES), rng);
                command[1] = key.to_vec();
                all.push(command);
            }
            _ => all.extend(large(key, rng)),
        }
    }
    for _ in 0..rng.below(12) {
        all.push(write_command(rng, deterministic));
    }
    all
}

/// A value that is not compact, or a long string.
fn large(key: &[u8], rng: &mut Rng) -> Vec<Command> {
    let words = |name: &str| vec![name.as_bytes().to_vec(), key.to_vec()];
    let n = rng.pick(&[20, 130, 200]);
    let one = match rng.below(6) {
        0 => {
            let mut set = words("SET");
            set.push(vec![b'l'; 16 * 1024 + rng.below(3000)]);
            set
        }
        1 => {
            let mut push = words("RPUSH");
            push.extend((0..n).map(|i| match i % 5 {
                0 => b"x".to_vec(),
                _ => format!("{}{i}", "e".repeat(60)).into_bytes(),
            }));
            push
        }
        2 => {
            let mut add = words("SADD");
            add.extend((0..n).map(|i| format!("m{i}").into_bytes()));
            add
        }
        3 => {
            let mut set = words("HSET");
            let long = if n < 130 { 70 } else { 5 };
            set.extend((0..n * 3).flat_map(|i| [format!("m{i}").into_bytes(), vec![b'v'; long]]));
            let mut expire = words("HPEXPIRE");
            expire.extend(["1000000", "FIELDS", "2", "m1", "m3"].map(|word| word.as_bytes().to_vec()));
            return vec![set, expire];
        }
        4 => {
            let mut add = words("ZADD");
            let scores = if rng.one_in(3) { 1 } else { 40 };
            add.extend(
                (0..n).flat_map(|i| [(i % scores).to_string().into_bytes(), format!("m{i}").into_bytes()]),
            );
            add
        }
        _ => {
            let mut all = Vec::new();
            for i in 1..n {
                let mut add = words("XADD");
                add.extend([
                    format!("{}-1", i.min(55) + i / 56).into_bytes(),
                    b"f".to_vec(),
                    i.to_string().into_bytes(),
                ]);
                all.push(add);
            }
            for text in
                ["XGROUP CREATE K g 0", "XGROUP CREATE K h 3", "XREADGROUP GROUP g ann COUNT 9 STREAMS K >"]
            {
                all.push(
                    text.split(' ')
                        .map(|w| if w == "K" { key.to_vec() } else { w.as_bytes().to_vec() })
                        .collect(),
                );
            }
            return all;
        }
    };
    vec![one]
}

/// A step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A command, whose errors the program catches.
    Call(Command),
    /// A savepoint begins.
    Open,
    /// The innermost savepoint ends well.
    Close,
    /// The innermost savepoint, or the program, fails.
    Fail,
}

/// A random program; the savepoints in it are closed, or fail.
pub fn program(rng: &mut Rng, deterministic: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut depth = 0;
    for _ in 0..1 + rng.below(14) {
        match rng.below(8) {
            0 if depth < 3 => {
                depth += 1;
                steps.push(Step::Open);
            }
            1 if depth > 0 => {
                depth -= 1;
                steps.push(if rng.one_in(2) { Step::Close } else { Step::Fail });
            }
            _ => steps.push(Step::Call(write_command(rng, deterministic))),
        }
    }
    steps.extend((0..depth).map(|_| if rng.one_in(2) { Step::Close } else { Step::Fail }));
    steps
}

/// The same program without what failing savepoints take back.
pub fn surviving(steps: &[Step]) -> Vec<Step> {
    let (mut out, mut opened): (Vec<Step>, Vec<usize>) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Call(_) => out.push(step.clone()),
            Step::Open => opened.push(out.len()),
            Step::Close => drop(opened.pop()),
            Step::Fail => out.truncate(opened.pop().unwrap_or(0)),
        }
    }
    out
}

/// The script that runs a program which it gets as arguments.
pub const INTERPRETER: &str = r"
local i = 1
local function run()
  while i <= #ARGV do
    local op = ARGV[i]
    i = i + 1
    if op == 'open' then
      redis.savepoint(run)
    elseif op == 'close' then
      return
    elseif op == 'fail' then
      error('boom')
    else
      local n, argv = tonumber(op), {}
      for j = 1, n do argv[j] = ARGV[i + j - 1] end
      i = i + n
      redis.pcall(unpack(argv))
    end
  end
end
run()
return 'fine'
";

/// The command that runs a program; with `rollback` it is all or nothing.
pub fn script_argv(steps: &[Step], rollback: bool) -> Command {
    let header = if rollback { "--- @rollback on\n" } else { "" };
    let mut argv: Command =
        vec![b"EVAL".to_vec(), [header, INTERPRETER].concat().into_bytes(), b"0".to_vec()];
    for step in steps {
        match step {
            Step::Open => argv.push(b"open".to_vec()),
            Step::Close => argv.push(b"close".to_vec()),
            Step::Fail => argv.push(b"fail".to_vec()),
            Step::Call(command) => {
                argv.push(command.len().to_string().into_bytes());
                argv.extend(command.iter().cloned());
            }
        }
    }
    argv
}
