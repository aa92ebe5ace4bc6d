//! What `cargo xtask bench` measures.

use crate::client::Client;
use crate::words;
use std::io;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name, for the table and for choosing it.
    pub name: &'static str,
    /// Commands in one batch of a connection.
    pub pipeline: usize,
    /// Commands before it.
    pub setup: &'static [&'static str],
    /// A command that is sent often before it, so that random keys are there.
    pub fill: Option<&'static str>,
    script: Option<&'static str>,
    words: &'static str,
}

const fn plain(name: &'static str, pipeline: usize, words: &'static str) -> Row {
    Row { name, pipeline, setup: &[], fill: None, script: None, words }
}

const fn script(name: &'static str, source: &'static str, words: &'static str) -> Row {
    Row { name, pipeline: 16, setup: &[], fill: None, script: Some(source), words }
}

macro_rules! seed {
    ($name:literal, $words:literal) => {
        script(
            concat!("seed ", $name),
            include_str!(concat!("../../../../scripts/seed/", $name, ".lua")),
            $words,
        )
    };
}

impl Row {
    /// The command to load with; a script is loaded first and called by its SHA.
    pub fn command(&self, client: &mut Client) -> io::Result<Vec<Vec<u8>>> {
        let mut command = Vec::new();
        if let Some(source) = self.script {
            let sha = client.call(&["SCRIPT", "LOAD", source])?;
            if sha.is_error() {
                return Err(io::Error::other(sha.text()));
            }
            command = vec![b"EVALSHA".to_vec(), sha.text().into_bytes()];
        }
        command.extend(words::split(self.words).ok_or_else(|| io::Error::other("unbalanced quotes"))?);
        Ok(command)
    }
}

const MANY: &[&str] =
    &["MSET m1 aaaaaaaaaaaaaaaa m2 b m3 c m4 d m5 e m6 f m7 g m8 h m9 i m10 jjjjjjjjjjjjjjjj"];
const LIST: &[&str] = &["EVAL \"for i=1,100 do redis.call('RPUSH',KEYS[1],'element:'..i) end\" 1 hundred"];
const HASH: &[&str] = &["EVAL \"for i=1,100 do redis.call('HSET',KEYS[1],'field:'..i,i) end\" 1 hundred"];
const MILLION: &[&str] =
    &["EVAL \"for i=0,999999 do redis.call('ZADD',KEYS[1],i*7919%1000003,'member:'..i) end\" 1 million"];
const KEYS: Option<&str> = Some("SET key:__rand_int__ xxxxxxxxxxxxxxxx");
const CALLS: &str = "for i=1,100 do redis.call('INCRBY',KEYS[1],i) end return 1";
const LOOP: &str = "local s=0 for i=1,1000 do s=s+i%7 end return s";
const JSON: &str = "local t=cjson.decode(ARGV[1]) t.n=t.n+1 return cjson.encode(t)";

/// All rows.
pub fn all() -> Vec<Row> {
    vec![
        Row { fill: KEYS, ..plain("GET", 1, "GET key:__rand_int__") },
        Row { fill: KEYS, ..plain("GET", 16, "GET key:__rand_int__") },
        plain("SET", 1, "SET key:__rand_int__ xxxxxxxxxxxxxxxx"),
        plain("SET", 16, "SET key:__rand_int__ xxxxxxxxxxxxxxxx"),
        Row { setup: MANY, ..plain("MGET 10", 16, "MGET m1 m2 m3 m4 m5 m6 m7 m8 m9 m10") },
        plain("INCR", 1, "INCR ctr:__rand_int__"),
        plain("INCR", 16, "INCR ctr:__rand_int__"),
        plain("HSET", 16, "HSET h:__rand_int__ field value"),
        Row { setup: &["HSET h a 1 b 2 c 3"], ..plain("HGET", 16, "HGET h b") },
        plain("LPUSH", 16, "LPUSH list x"),
        plain("LPOP", 16, "LPOP list"),
        plain("SADD", 16, "SADD set member:__rand_int__"),
        plain("ZADD", 16, "ZADD zset __rand_int__ member:__rand_int__"),
        Row {
            setup: MILLION,
            ..plain("ZADD into a million", 16, "ZADD million __rand_int__ member:__rand_int__")
        },
        Row { setup: LIST, ..plain("LRANGE 100", 16, "LRANGE hundred 0 -1") },
        Row { setup: HASH, ..plain("HGETALL 100", 16, "HGETALL hundred") },
        plain("XADD", 16, "XADD stream MAXLEN ~ 10000 * field value"),
        script("script return 1", "return 1", "1 k"),
        Row { fill: KEYS, ..script("script GET", "return redis.call('GET',KEYS[1])", "1 key:__rand_int__") },
        script("script 100 INCRBY", CALLS, "1 ctr:__rand_int__"),
        script("script loop 1000", LOOP, "0"),
        script(
            "script cjson",
            JSON,
            r#"0 '{"n":1,"a":[1,2,3,4],"s":"hello world","o":{"x":true,"y":null}}'"#,
        ),
        seed!("fixed-window-validated", "1 v:__rand_int__ 1000 60"),
        seed!("counter-with-ttl", "1 c:__rand_int__ 60"),
        seed!("fixed-window", "1 f:__rand_int__ 60 100"),
        seed!("sliding-window-seconds", "1 w:__rand_int__ 1000000__rand_int__ 60 100"),
        seed!("sliding-window", "1 s:__rand_int__ 1000000 60000 100 m:__rand_int__ 60"),
        seed!("acquire-lock", "1 lock:__rand_int__ token 30000"),
        seed!("unlock", "1 lock:__rand_int__ token"),
        Row { setup: &["SET stock 1000000000"], ..seed!("deduct-stock", "1 stock 1") },
        Row { setup: &["SET p 1000000000", "SET t 1000000000"], ..seed!("deduct-two-stocks", "2 p t 1") },
        Row { setup: &["SET stock 1000000000"], ..seed!("reserve", "2 stock taken 1") },
        seed!("total-and-journal", "2 total:__rand_int__ log:__rand_int__ 12.5 1700000000 order-17"),
        seed!("set-and-get", "1 e:__rand_int__ value"),
        seed!("decrease-balance", "1 b:__rand_int__ 30"),
        seed!("pcall-error", "0"),
    ]
}
