//! The seeds' scripts through the client libraries that people use. `cargo xtask test` lays them under the build
//! directory; one that could not be had is skipped, loudly.

mod common;

use common::{Call, cases, matches, scripts};
use std::path::PathBuf;
use std::process::Command;
use totality_testkit::server::Server;
use totality_testkit::value::Value;
use totality_testkit::{Need, count, print, skip, sources};

/// Where the libraries lie.
fn libraries() -> PathBuf {
    let default = || {
        let test = std::env::current_exe().unwrap_or_default();
        test.ancestors().nth(3).map(|target| target.join("clients")).unwrap_or_default()
    };
    std::env::var_os("TOTALITY_CLIENTS").map(PathBuf::from).unwrap_or_else(default)
}

fn outside(label: &str, program: &str, script: &str, library: &str, variable: &str, path: &str) {
    outside_with(&[], label, program, script, library, variable, path);
}

fn outside_with(
    options: &[&str],
    label: &str,
    program: &str,
    script: &str,
    library: &str,
    variable: &str,
    path: &str,
) {
    let dir = libraries();
    if !dir.join(library).is_dir() {
        return skip(label, "the library is not installed (cargo xtask test does it)", Need::Optional);
    }
    let server = Server::totality(options).unwrap();
    let out = Command::new(program)
        .arg(sources::root().join("tests/clients").join(script))
        .arg(server.port().to_string())
        .env(variable, dir.join(path))
        .output();
    match out {
        Err(e) => skip(label, &format!("{program}: {e}"), Need::Optional),
        Ok(out) => {
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            let n = text.trim().strip_prefix("ok ").and_then(|n| n.parse().ok());
            assert!(out.status.success() && n.is_some(), "{text}{}", String::from_utf8_lossy(&out.stderr));
            count(label, n.unwrap_or(0));
        }
    }
}

#[test]
fn redis_py() {
    outside("redis-py", "python3", "redis_py.py", "python/redis", "PYTHONPATH", "python");
}

#[test]
fn ioredis() {
    outside("ioredis", "node", "ioredis.js", "node/node_modules/ioredis", "NODE_PATH", "node/node_modules");
}

#[test]
fn clusters() {
    let options = ["--cluster-enabled", "yes"];
    outside_with(
        &options,
        "redis-py cluster",
        "python3",
        "cluster_py.py",
        "python/redis",
        "PYTHONPATH",
        "python",
    );
    outside_with(
        &options,
        "ioredis and node-redis cluster",
        "node",
        "cluster_node.js",
        "node/node_modules/ioredis",
        "NODE_PATH",
        "node/node_modules",
    );
}

#[test]
fn node_redis() {
    outside(
        "node-redis",
        "node",
        "node_redis.js",
        "node/node_modules/redis",
        "NODE_PATH",
        "node/node_modules",
    );
}

/// What is built on ioredis, node-redis or a client of its own: the script prints how many checks held.
fn node(label: &str, script: &str, library: &str) {
    let library = format!("node/node_modules/{library}");
    outside(label, "node", script, &library, "NODE_PATH", "node/node_modules");
}

/// What is built on redis-py.
fn python(label: &str, script: &str, library: &str) {
    outside(label, "python3", script, &format!("python/{library}"), "PYTHONPATH", "python");
}

#[test]
fn bullmq() {
    node("BullMQ", "bullmq.js", "bullmq");
}

#[test]
fn queues_of_node() {
    node("Bull, Bee-Queue", "queues.js", "bee-queue");
}

#[test]
fn locks_limiters_and_sessions_of_node() {
    node("redlock, redis-semaphore, rate-limiter-flexible, connect-redis", "limiters.js", "redlock");
}

#[test]
fn celery() {
    python("Celery, Kombu", "celery_app.py", "celery");
}

#[test]
fn rq() {
    python("RQ", "rq_jobs.py", "rq");
}

#[test]
fn queues_of_python() {
    python("Dramatiq, arq, Huey", "workers.py", "dramatiq");
}

#[test]
fn locks_limiters_and_sessions_of_python() {
    python("redis-py's locks, limits, pottery, Flask-Session", "locks.py", "pottery");
}

fn from_redis_rs(reply: redis::Value) -> Value {
    match reply {
        redis::Value::Nil => Value::Nil,
        redis::Value::Int(n) => Value::Int(n),
        redis::Value::BulkString(b) => Value::Bulk(b),
        redis::Value::SimpleString(s) => Value::Status(s.into_bytes()),
        redis::Value::Okay => Value::Status(b"OK".to_vec()),
        redis::Value::Double(d) => Value::Double(d.to_string().into_bytes()),
        redis::Value::Array(v) => Value::Array(v.into_iter().map(from_redis_rs).collect()),
        other => Value::Error(format!("unexpected {other:?}").into_bytes()),
    }
}

#[test]
fn redis_rs() {
    let server = Server::totality(&[]).unwrap();
    let scripts = scripts();
    for query in ["", "?protocol=resp3"] {
        let url = format!("redis://127.0.0.1:{}/{query}", server.port());
        let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        for case in cases() {
            let _: () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
            for step in case.steps {
                let reply: redis::RedisResult<redis::Value> = match &step.call {
                    Call::Command(words) => {
                        let mut command = redis::cmd(&words[0]);
                        for word in &words[1..] {
                            command.arg(word);
                        }
                        command.query(&mut connection)
                    }
                    Call::Script(name, keys, args) => {
                        let script = redis::Script::new(&scripts[name]);
                        let mut call = script.prepare_invoke();
                        for key in keys {
                            call.key(key);
                        }
                        for arg in args {
                            call.arg(arg);
                        }
                        call.invoke(&mut connection)
                    }
                };
                let got = match reply {
                    Ok(value) => from_redis_rs(value),
                    Err(e) => {
                        // redis-rs takes the error apart: `ERR` becomes a kind, other codes stay.
                        let code = e.code().unwrap_or("ERR");
                        Value::Error(format!("{code} {}", e.detail().unwrap_or_default()).into_bytes())
                    }
                };
                let bare = match &got {
                    // An error without a code: the library takes its first word for one.
                    Value::Error(e) => Value::Error(e.strip_prefix(b"ERR ").unwrap_or(e).to_vec()),
                    other => other.clone(),
                };
                let ok = matches(&step.want, &got) || matches(&step.want, &bare);
                assert!(ok, "{}: wanted {}, got {}", case.name, step.want, print::reply(&got));
            }
        }
    }
}
