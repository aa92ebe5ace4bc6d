//! What the seeds ask for and `docs/promises.md` promises: each promise names the tests that hold it, and those that no
//! other test holds are here. They run on Totality and, where it can do it, on `redis-server`.

use std::sync::atomic::{AtomicBool, Ordering};
use totality_testkit::client::Client;
use totality_testkit::server::{Server, oracle_or_skip};
use totality_testkit::sources;
use totality_testkit::value::Value;

/// Totality, and the oracle when it is there.
fn servers(test: &str) -> Vec<Server> {
    let ours = Server::totality(&["--enable-debug-command", "yes"]).expect("totality");
    [Some(ours), oracle_or_skip(test)].into_iter().flatten().collect()
}

fn eval(client: &mut Client, script: &str, words: &[&str]) -> Value {
    let all = [&["EVAL", script][..], words].concat();
    client.call(&all).expect("EVAL")
}

#[test]
fn each_promise_names_tests_that_are_there() {
    let root = sources::root();
    let page = sources::read(&root.join("docs/promises.md"));
    let cases = sources::read(&root.join("tests/clients/seeds.json"));
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| R")).collect();
    assert!(rows.len() > 60, "{} promises", rows.len());
    let mut missing = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, _, tests] = cells[..] else { panic!("{row}") };
        if tests.starts_with("not yet") || tests.starts_with("documentation") {
            continue;
        }
        for test in tests.split("; ") {
            let test = test.trim_matches('`');
            let there = match test.split_once("::") {
                Some(("seeds", name)) => cases.contains(&format!("\"name\": \"{name}\"")),
                Some((place, name)) => {
                    let (krate, file) = place.split_once('/').expect("crate/file");
                    let path = if file.ends_with(".rs") {
                        root.join("crates").join(krate).join(file)
                    } else {
                        root.join("crates").join(krate).join("tests").join(file).with_extension("rs")
                    };
                    path.is_file() && sources::read(&path).contains(&format!("{name}("))
                }
                None => false,
            };
            if !there {
                missing.push(format!("{id}: {test}"));
            }
        }
    }
    assert!(missing.is_empty(), "not there:\n{}", missing.join("\n"));
}

#[test]
fn a_script_is_one_unit_for_all_others() {
    for server in servers("a_script_is_one_unit_for_all_others") {
        server.client().line("MSET a 0 b 0").expect("MSET");
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut client = server.client();
                    let mut seen = 0;
                    while !over.load(Ordering::SeqCst) || seen == 0 {
                        let pair = client.line("MGET a b").expect("MGET");
                        let pair: Vec<String> = pair.items().iter().map(Value::text).collect();
                        assert_eq!(pair[0], pair[1], "between two commands of a script");
                        seen += 1;
                    }
                });
            }
            let mut writer = server.client();
            let script = "redis.call('INCR','a') for i=1,2000 do local x = i * 2 end redis.call('INCR','b')";
            for _ in 0..500 {
                eval(&mut writer, script, &["2", "a", "b"]);
            }
            over.store(true, Ordering::SeqCst);
        });
    }
}

#[test]
fn a_key_that_a_script_saw_does_not_expire_under_it() {
    for server in servers("a_key_that_a_script_saw_does_not_expire_under_it") {
        let mut client = server.client();
        client.line("SET k v PX 30").expect("SET");
        let script = "local a = redis.call('EXISTS',KEYS[1]) local x = 0 \
                      for i=1,2e7 do x = x + i end return {a, redis.call('EXISTS',KEYS[1])}";
        let seen = eval(&mut client, script, &["1", "k"]);
        assert_eq!(seen, Value::Array(vec![Value::Int(1), Value::Int(1)]));
        assert_eq!(client.line("EXISTS k").expect("EXISTS"), Value::Int(0));
    }
}

#[test]
fn errors_in_exec_take_nothing_back_and_watch_stops_it() {
    for server in servers("errors_in_exec_take_nothing_back_and_watch_stops_it") {
        let (mut client, mut other) = (server.client(), server.client());
        for line in ["MULTI", "SET k 1", "LPOP k", "INCR k"] {
            client.line(line).expect(line);
        }
        let replies = client.line("EXEC").expect("EXEC");
        assert_eq!(replies.items().len(), 3);
        assert!(replies.items()[1].is_error());
        assert_eq!(client.line("GET k").expect("GET").text(), "2");
        client.line("WATCH k").expect("WATCH");
        other.line("SET k other").expect("SET");
        for line in ["MULTI", "SET k mine"] {
            client.line(line).expect(line);
        }
        assert!(matches!(client.line("EXEC").expect("EXEC"), Value::Nil));
        assert_eq!(client.line("GET k").expect("GET").text(), "other");
    }
}

#[test]
fn a_script_has_no_way_out_and_no_globals() {
    for server in servers("a_script_has_no_way_out_and_no_globals") {
        let mut client = server.client();
        for name in ["io", "require", "package", "dofile", "loadfile", "debug", "module"] {
            let reply = eval(&mut client, &format!("return type({name})"), &["0"]).text();
            assert!(
                reply.contains(&format!("Script attempted to access nonexistent global variable '{name}'")),
                "{reply}"
            );
        }
        let reply = eval(&mut client, "x = 1", &["0"]).text();
        assert!(reply.contains("Attempt to modify a readonly table"), "{reply}");
        assert_eq!(
            eval(
                &mut client,
                "return {type(redis.call('GET','none')), tonumber(redis.call('GET','none') or 0)}",
                &["0"]
            )
            .items()[0]
                .text(),
            "boolean"
        );
        for command in ["SCRIPT', 'LOAD', 'return 1", "EVAL', 'return 1', '0", "SUBSCRIBE', 'c", "MULTI"] {
            let reply = eval(&mut client, &format!("return redis.call('{command}')"), &["0"]).text();
            assert!(reply.contains("not allowed from script"), "{command}: {reply}");
        }
    }
}

#[test]
fn a_script_writes_to_the_log_of_the_server() {
    for server in servers("a_script_writes_to_the_log_of_the_server") {
        eval(
            &mut server.client(),
            "redis.log(redis.LOG_WARNING, 'look at ' .. ARGV[1])",
            &["0", "this-line"],
        );
        assert!(server.log().contains("look at this-line"), "{}", server.log());
    }
}

#[test]
fn an_unknown_script_in_a_transaction_stops_only_itself() {
    for server in servers("an_unknown_script_in_a_transaction_stops_only_itself") {
        let mut client = server.client();
        for line in ["MULTI", "SET a 1", "EVALSHA ffffffffffffffffffffffffffffffffffffffff 0", "SET b 2"] {
            client.line(line).expect(line);
        }
        let replies = client.line("EXEC").expect("EXEC");
        assert_eq!(replies.items()[1].text(), "NOSCRIPT No matching script. Please use EVAL.");
        assert_eq!(
            client.line("MGET a b").expect("MGET").items().iter().map(Value::text).collect::<String>(),
            "12"
        );
    }
}

#[test]
fn scripts_that_came_by_eval_make_room_and_loaded_ones_stay() {
    let server = Server::totality(&[]).expect("totality");
    let mut client = server.client();
    let loaded = client.call(&["SCRIPT", "LOAD", "return 'loaded'"]).expect("SCRIPT LOAD").text();
    for i in 0..700 {
        eval(&mut client, &format!("return {i}"), &["0"]);
    }
    let info = client.line("INFO stats").expect("INFO").text();
    let evicted =
        info.lines().find_map(|line| line.strip_prefix("evicted_scripts:")).expect("evicted_scripts");
    assert_eq!(evicted.trim(), "200");
    assert_eq!(client.call(&["EVALSHA", &loaded, "0"]).expect("EVALSHA").text(), "loaded");
}

#[test]
fn the_read_only_forms_refuse_to_write() {
    for server in servers("the_read_only_forms_refuse_to_write") {
        let mut client = server.client();
        let write = "return redis.call('SET',KEYS[1],'v')";
        let sha = client.call(&["SCRIPT", "LOAD", write]).expect("SCRIPT LOAD").text();
        for words in [["EVAL_RO", write], ["EVALSHA_RO", &sha]] {
            let reply = client.call(&[&words[..], &["1", "k"]].concat()).expect("a reply").text();
            assert!(
                reply.starts_with("ERR Write commands are not allowed from read-only scripts"),
                "{reply}"
            );
        }
        assert_eq!(client.line("EXISTS k").expect("EXISTS"), Value::Int(0));
        let read =
            client.call(&["EVAL_RO", "return redis.call('EXISTS',KEYS[1])", "1", "k"]).expect("a reply");
        assert_eq!(read, Value::Int(0));
    }
}

#[test]
fn memory_is_judged_at_the_first_write_or_before_the_run() {
    for server in servers("memory_is_judged_at_the_first_write_or_before_the_run") {
        let mut client = server.client();
        client.line("RPUSH list a").expect("RPUSH");
        client.line("CONFIG SET maxmemory-policy noeviction").expect("CONFIG");
        client.line("CONFIG SET maxmemory 1").expect("CONFIG");
        let refused = |reply: String| assert!(reply.starts_with("OOM "), "{reply}");
        refused(eval(&mut client, "return redis.call('SET',KEYS[1],'v')", &["1", "k"]).text());
        let caught = "local r = redis.pcall('SET',KEYS[1],'v') return r.err";
        refused(eval(&mut client, caught, &["1", "k"]).text());
        // What frees memory may run first, and then the rest runs too.
        let frees = "redis.call('LREM','list',0,'none') return redis.call('SET',KEYS[1],'v')";
        assert_eq!(eval(&mut client, frees, &["1", "k"]).text(), "OK");
        refused(eval(&mut client, "#!lua\nreturn 1", &["0"]).text());
        for flags in ["no-writes", "allow-oom"] {
            assert_eq!(
                eval(&mut client, &format!("#!lua flags={flags}\nreturn 1"), &["0"]),
                Value::Int(1),
                "{flags}"
            );
        }
    }
}

#[test]
fn scripts_are_in_the_slow_log_and_in_the_statistics() {
    for server in servers("scripts_are_in_the_slow_log_and_in_the_statistics") {
        let mut client = server.client();
        client.line("CONFIG SET slowlog-log-slower-than 0").expect("CONFIG");
        client
            .call(&[
                "FUNCTION",
                "LOAD",
                "#!lua name=l\nredis.register_function('f', function() return 1 end)",
            ])
            .expect("FUNCTION LOAD");
        let sha = client.call(&["SCRIPT", "LOAD", "return 1"]).expect("SCRIPT LOAD").text();
        for words in [&["EVAL", "return 1", "0"][..], &["EVALSHA", &sha, "0"], &["FCALL", "f", "0"]] {
            client.call(words).expect("a reply");
        }
        let log = format!(
            "{:?}",
            client
                .line("SLOWLOG GET 100")
                .expect("SLOWLOG")
                .items()
                .iter()
                .map(|entry| entry.items()[3].items().iter().map(Value::text).collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
        );
        let stats = client.line("INFO commandstats").expect("INFO").text();
        for (line, name) in [
            ("EVAL return 1 0".to_owned(), "eval"),
            (format!("EVALSHA {sha} 0"), "evalsha"),
            ("FCALL f 0".to_owned(), "fcall"),
        ] {
            assert!(log.contains(&line), "{line} is not in {log}");
            assert!(stats.contains(&format!("cmdstat_{name}:calls=1,")), "{name} is not in {stats}");
        }
    }
}

#[test]
fn scripts_reach_other_servers_by_their_effects() {
    let server = Server::totality(&["--appendonly", "yes", "--appendfsync", "always"]).expect("totality");
    let mut client = server.client();
    let script = "local t = redis.call('TIME') redis.call('SET',KEYS[1],t[1] .. math.random()) return 1";
    assert_eq!(eval(&mut client, script, &["1", "k"]), Value::Int(1));
    let value = client.line("GET k").expect("GET").text();
    let log = std::fs::read(server.dir().join("appendonlydir/appendonly.aof.1.incr.aof")).expect("the log");
    let text = String::from_utf8_lossy(&log);
    assert!(text.contains(&value) && !text.contains("EVAL") && !text.contains("math.random"), "{text}");
}
