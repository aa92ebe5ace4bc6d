//! Every command, in every way in which it names keys and channels, given by users who may not: none passes, from no
//! origin. The cases are in data/acl_cases.txt; a command without one fails the test.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use support::Bench;
use totality_engine::commands::{self, Command};
use totality_engine::spec::{Flags, Group, KeyFlags};
use totality_engine::{ClientId, ConnInfo, Outgoing};

/// What a marked argument needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Read,
    Write,
    Both,
    Either,
    Channel,
    Pattern,
    /// A pattern of SORT that leads to other keys.
    AnyKey,
}

struct Case {
    line: String,
    argv: Vec<String>,
    marks: Vec<(usize, Need)>,
    command: &'static Command,
}

fn parse(line: &str) -> Case {
    let (mut argv, mut marks) = (Vec::new(), Vec::new());
    for word in line.split(' ') {
        let marked = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')?.split_once(':'));
        match marked {
            None if word == "\"\"" => argv.push(String::new()),
            None => argv.push(word.to_owned()),
            Some((mark, word)) => {
                let need = match mark {
                    "r" => Need::Read,
                    "w" => Need::Write,
                    "rw" => Need::Both,
                    "p" => Need::Either,
                    "c" => Need::Channel,
                    "g" => Need::Pattern,
                    "s" => Need::AnyKey,
                    _ => panic!("{line}: {mark}"),
                };
                marks.push((argv.len(), need));
                argv.push(word.to_owned());
            }
        }
    }
    let words: Vec<&[u8]> = argv.iter().map(String::as_bytes).collect();
    let command =
        commands::resolve(&words).unwrap_or_else(|e| panic!("{line}: {}", String::from_utf8_lossy(e.text())));
    Case { line: line.to_owned(), argv, marks, command }
}

fn cases() -> Vec<Case> {
    let text = include_str!("data/acl_cases.txt");
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(parse).collect()
}

/// Rights for what is marked, as it needs, but for the place `without`, where `rest` is all there is.
fn rights(case: &Case, without: Option<usize>, rest: Option<&str>) -> Vec<String> {
    let mut rules = vec!["resetkeys".to_owned(), "resetchannels".to_owned()];
    // A pattern of SORT needs any key to be readable; where it does not lack, it is there.
    let any = case.marks.iter().any(|(at, need)| *need == Need::AnyKey && Some(*at) != without);
    if any && without.is_none() {
        rules.push("%R~*".to_owned());
    }
    for (at, need) in &case.marks {
        let word = &case.argv[*at];
        if Some(*at) == without {
            rules.extend(rest.map(|mark| format!("{mark}{word}")));
            continue;
        }
        match need {
            Need::Read | Need::Either => rules.push(format!("%R~{word}")),
            Need::Write => rules.push(format!("%W~{word}")),
            Need::Both => rules.push(format!("%RW~{word}")),
            Need::Channel | Need::Pattern => rules.push(format!("&{word}")),
            Need::AnyKey => {}
        }
    }
    rules
}

/// One attempt: the rules of a user, and the word that every refusal has.
struct Attempt {
    rules: Vec<String>,
    why: String,
}

fn attempts(case: &Case) -> Vec<Attempt> {
    let name = &case.command.full_name;
    let mut out = Vec::new();
    let mut add = |rules: Vec<String>, why: &str| out.push(Attempt { rules, why: why.to_owned() });
    if !case.command.spec.flags.contains(Flags::NO_AUTH) {
        let why = format!("has no permissions to run the '{name}' command");
        let all = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
        add(all(&["+@all", &format!("-{name}"), "~*", "&*"]), &why);
        add(all(&["+eval", "+fcall", "~*", "&*", &format!("-{name}")]), &why);
    }
    for (at, need) in &case.marks {
        let lacking: &[Option<&str>] = match need {
            Need::Read => &[None, Some("%W~")],
            Need::Write => &[None, Some("%R~")],
            Need::Both => &[None, Some("%R~"), Some("%W~")],
            Need::Either => &[None, Some("~x")],
            Need::Channel => &[None, Some("&x")],
            // A pattern must be allowed itself: one that it is part of is not enough.
            Need::Pattern => &[None, Some("&x"), Some("&?")],
            Need::AnyKey => &[None, Some("%RW~x"), Some("%W~*")],
        };
        let why = match need {
            Need::Channel | Need::Pattern => "No permissions to access a channel",
            Need::AnyKey => "option of SORT denied due to insufficient ACL permissions",
            _ => "No permissions to access a key",
        };
        for rest in lacking {
            let mut rules = rights(case, Some(*at), *rest);
            rules.push("+@all".to_owned());
            add(rules, why);
        }
    }
    out
}

/// A bench with a user `u`, and a function that calls what it is told to.
struct Stage {
    bench: Bench,
}

const RELAY: &str = "#!lua name=relay\nserver.register_function('relay', function(keys, args) return redis.pcall(unpack(args)) end)";

impl Stage {
    fn new() -> Stage {
        let mut bench = Bench::new();
        assert!(bench.run(&["FUNCTION", "LOAD", RELAY]).starts_with('$'));
        Stage { bench }
    }

    fn user(&mut self, rules: &[String]) -> ClientId {
        let mut argv = vec!["ACL", "SETUSER", "u", "reset", "on", "nopass"];
        argv.extend(rules.iter().map(String::as_str));
        assert_eq!(self.bench.run(&argv), "+OK\r\n", "{rules:?}");
        let client = self.bench.engine.connect(ConnInfo::default());
        assert_eq!(self.bench.run_as(client, &["AUTH", "u", "x"]), "+OK\r\n");
        client
    }

    /// The replies of all origins, each with its name, to a command of a user with these rights.
    fn give_everywhere(&mut self, case: &Case, rules: &[String]) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        let mut give = |stage: &mut Stage, origin, argv: &[&str]| {
            let client = stage.user(rules);
            out.push((origin, stage.bench.run_as(client, argv)));
            stage.bench.engine.disconnect(client);
        };
        let argv: Vec<&str> = case.argv.iter().map(String::as_str).collect();
        give(self, "direct", &argv);
        let in_script =
            |head: &[&'static str]| head.iter().copied().chain(argv.iter().copied()).collect::<Vec<_>>();
        give(self, "script", &in_script(&["EVAL", "return redis.pcall(unpack(ARGV))", "0"]));
        give(self, "function", &in_script(&["FCALL", "relay", "0"]));
        give(self, "explain", &in_script(&["SCRIPT", "EXPLAIN", "return redis.pcall(unpack(ARGV))", "0"]));
        out.push(("MULTI", self.in_multi(&argv, rules)));
        if let Some(answer) = self.in_exec(case, &argv, rules) {
            out.push(("EXEC", answer));
        }
        if let Some(answer) = self.waiting(case, &argv, rules) {
            out.push(("waiting", answer));
        }
        out
    }

    /// Given with the right, which is gone when what it waits for is there; `None` for what does not wait for keys.
    fn waiting(&mut self, case: &Case, argv: &[&str], rules: &[String]) -> Option<String> {
        if !case.command.spec.flags.contains(Flags::BLOCKING) || case.marks.is_empty() {
            return None;
        }
        let client = self.user(&["+@all".to_owned(), "~*".to_owned(), "&*".to_owned()]);
        let waits = self.bench.run_as(client, argv).is_empty();
        let mut change = vec!["ACL", "SETUSER", "u", "reset", "on", "nopass"];
        change.extend(rules.iter().map(String::as_str));
        self.bench.run(&change);
        while self.bench.engine.next_outgoing().is_some() {}
        for (at, _) in case.marks.iter().filter(|_| waits) {
            let key = argv[*at];
            match case.command.spec.group {
                Group::List => self.bench.run(&["RPUSH", key, "x"]),
                Group::SortedSet => self.bench.run(&["ZADD", key, "1", "x"]),
                _ => self.bench.run(&["XADD", key, "*", "f", "v"]),
            };
        }
        let mut answer = String::new();
        while let Some(outgoing) = self.bench.engine.next_outgoing() {
            if let Outgoing::Reply { client: to, bytes } = outgoing
                && to == client
            {
                answer += &String::from_utf8_lossy(&bytes);
            }
        }
        self.bench.run(&["FLUSHALL"]);
        self.bench.engine.disconnect(client);
        waits.then_some(answer)
    }

    /// Queued without the right.
    fn in_multi(&mut self, argv: &[&str], rules: &[String]) -> String {
        let mut rules = rules.to_vec();
        // The command under test may be one of these itself.
        rules.extend(
            ["+multi", "+exec"]
                .map(str::to_owned)
                .into_iter()
                .filter(|rule| rule[1..] != argv[0].to_lowercase()),
        );
        let client = self.user(&rules);
        self.bench.run_as(client, &["MULTI"]);
        let answer = self.bench.run_as(client, argv);
        let exec = self.bench.run_as(client, &["EXEC"]);
        self.bench.engine.disconnect(client);
        if answer == "+QUEUED\r\n" {
            // SORT looks at its patterns when it runs.
            return exec.strip_prefix("*1\r\n").unwrap_or(&exec).to_owned();
        }
        assert!(exec.starts_with('-'), "{argv:?}: {exec}");
        answer
    }

    /// Queued with the right that is gone when EXEC comes; `None` for what is not queued.
    fn in_exec(&mut self, case: &Case, argv: &[&str], rules: &[String]) -> Option<String> {
        if case.command.spec.flags.intersects(Flags::NO_MULTI.union(Flags::IMMEDIATE)) {
            return None;
        }
        let client = self.user(&["+@all".to_owned(), "~*".to_owned(), "&*".to_owned()]);
        self.bench.run_as(client, &["MULTI"]);
        let queued = self.bench.run_as(client, argv);
        if queued != "+QUEUED\r\n" {
            return Some(queued);
        }
        let mut change = vec!["ACL", "SETUSER", "u", "reset", "on", "nopass"];
        change.extend(rules.iter().map(String::as_str));
        change.push("+exec");
        self.bench.run(&change);
        let exec = self.bench.run_as(client, &["EXEC"]);
        self.bench.engine.disconnect(client);
        Some(exec.strip_prefix("*1\r\n").unwrap_or(&exec).to_owned())
    }
}

/// True when a reply says that the user may not.
fn is_refusal(origin: &str, command: &Command, answer: &str, why: &str) -> bool {
    let from_script = matches!(origin, "script" | "function");
    let (relay, way) = (command.full_name.as_str(), origin);
    if matches!((relay, way), ("eval", "script") | ("fcall", "function")) && answer.starts_with("-NOPERM") {
        // The relay itself is refused.
        return answer.contains(why);
    }
    let flags = command.spec.flags;
    if from_script && flags.contains(Flags::NOSCRIPT) {
        return answer == "-ERR This Redis command is not allowed from script\r\n";
    }
    if origin == "explain" {
        // Who may not call EVAL may not try it either.
        return answer.starts_with("-NOPERM")
            || answer.contains("ACL failure in script: ") && answer.contains(why)
            || why.contains("SORT") && answer.contains(why)
            || flags.contains(Flags::NOSCRIPT) && answer.contains("command is not allowed from script")
            || answer.contains(" is not allowed in a rollback scope");
    }
    if from_script {
        return answer.starts_with("-ERR ACL failure in script: ") && answer.contains(why)
            || answer.starts_with("-ERR ") && why.contains("SORT") && answer.contains(why);
    }
    match origin {
        // EXEC of a user who may not EXEC, or MULTI without the right, are refused as direct commands are.
        "EXEC" if why.contains("SORT") => answer.starts_with("-ERR") && answer.contains(why),
        "EXEC" => answer.starts_with("-NOPERM ACLs rules changed between the moment"),
        "MULTI" if flags.contains(Flags::NO_MULTI) && !answer.contains("NOPERM") => {
            answer.contains("not allowed inside a transaction")
        }
        _ if command.full_name == "exec" => answer.contains("has no permissions to run the 'exec' command"),
        _ => {
            answer.starts_with(if why.contains("SORT") { "-ERR" } else { "-NOPERM" }) && answer.contains(why)
        }
    }
}

#[test]
fn nobody_does_what_he_may_not() {
    let mut stage = Stage::new();
    let (mut tried, mut waited, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for case in cases() {
        for attempt in attempts(&case) {
            for (origin, answer) in stage.give_everywhere(&case, &attempt.rules) {
                tried += 1;
                if origin == "waiting" {
                    waited.insert(case.command.full_name.clone());
                }
                if !is_refusal(origin, case.command, &answer, &attempt.why) {
                    wrong.push(format!("{} ({origin}; {}): {answer}", case.line, attempt.rules.join(" ")));
                }
            }
            if stage.bench.line("DBSIZE") != ":0\r\n" {
                wrong.push(format!("{} ({}) wrote", case.line, attempt.rules.join(" ")));
                stage.bench.line("FLUSHALL");
            }
        }
    }
    println!("{tried} attempts");
    assert!(wrong.is_empty(), "{} of {tried} are not refused:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 4000, "{tried}");
    assert!(waited.len() >= 8, "{waited:?}");
}

#[test]
fn who_has_just_enough_rights_passes() {
    let mut stage = Stage::new();
    let mut wrong = Vec::new();
    for case in cases() {
        let mut rules = rights(&case, None, None);
        rules.push(format!("+{}", case.command.full_name));
        stage.user(&rules);
        let argv: Vec<&str> =
            ["ACL", "DRYRUN", "u"].into_iter().chain(case.argv.iter().map(String::as_str)).collect();
        let answer = stage.bench.run(&argv);
        if answer != "+OK\r\n" {
            wrong.push(format!("{} ({}): {answer}", case.line, rules.join(" ")));
        }
        for (at, need) in &case.marks {
            // Either right will do, and patterns of the user match names of channels.
            let (rest, more) = match need {
                Need::Either => (Some("%W~"), None),
                Need::Channel => (None, Some("&?h")),
                _ => continue,
            };
            let mut rules = rights(&case, Some(*at), rest);
            rules.extend(more.into_iter().chain(["+@all"]).map(str::to_owned));
            stage.user(&rules);
            if stage.bench.run(&argv) != "+OK\r\n" {
                wrong.push(format!("{} ({})", case.line, rules.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_command_has_its_cases() {
    let mut known: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for case in cases() {
        known.entry(&case.command.full_name).or_default().push(case);
    }
    let mut missing = BTreeSet::new();
    for command in commands::all()
        .iter()
        .filter(|command| command.spec.subs.is_empty() || command.full_name == "command")
    {
        let Some(cases) = known.get(command.full_name.as_str()) else {
            missing.insert(command.full_name.as_str());
            continue;
        };
        let keys = command.spec.keys.iter().filter(|spec| !spec.flags.contains(KeyFlags::NOT_KEY)).count();
        let is_key = |need: &Need| !matches!(need, Need::Channel | Need::Pattern);
        let most = cases.iter().map(|case| case.marks.iter().filter(|(_, need)| is_key(need)).count()).max();
        let own = command.full_name == "debug";
        assert_eq!(
            keys > 0 || own,
            most > Some(0),
            "{}: keys in the table, and in the cases",
            command.full_name
        );
        // Each place that the table has for keys is in one of the cases.
        let distinct: BTreeSet<String> = cases
            .iter()
            .flat_map(|case| {
                case.marks
                    .iter()
                    .filter(|(_, n)| is_key(n))
                    .map(|(at, n)| format!("{} {n:?}", place(case, *at)))
            })
            .collect();
        assert!(
            distinct.len() >= keys,
            "{}: {keys} places of keys, cases for {distinct:?}",
            command.full_name
        );
        let talks = command.spec.group == Group::Pubsub
            && ["publish", "spublish", "subscribe", "psubscribe", "ssubscribe"].contains(&command.spec.name);
        let channels = cases.iter().any(|case| case.marks.iter().any(|(_, need)| !is_key(need)));
        assert_eq!(talks, channels, "{}: channels", command.full_name);
    }
    assert!(missing.is_empty(), "without a case in data/acl_cases.txt: {missing:?}");
    let unknown: Vec<_> =
        known.keys().filter(|name| !commands::all().iter().any(|c| c.full_name == **name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Where a key stands: by its number, or by the word before it.
fn place(case: &Case, at: usize) -> String {
    let before = case.argv[at - 1].to_ascii_uppercase();
    match before.as_str() {
        "STORE" | "STOREDIST" | "KEYS" | "BY" | "GET" | "STREAMS" => before,
        _ => at.to_string(),
    }
}

/// What cannot be decided is refused: numbers of keys that are none, or too large.
#[test]
fn who_hides_his_keys_is_refused() {
    let mut stage = Stage::new();
    let rules = ["+@all", "~a"].map(str::to_owned);
    let keyed = cases().into_iter().filter(|case| {
        case.command.spec.keys.iter().any(|key| matches!(key.find, totality_engine::spec::Find::Count { .. }))
    });
    let mut tried = 0;
    for case in keyed {
        let Some((first, _)) = case.marks.iter().find(|(at, _)| case.argv[at - 1].parse::<u32>().is_ok())
        else {
            continue;
        };
        for number in ["x", "", "-1", "99", "9223372036854775807", "9223372036854775808", "1.0", "0x1", " 1"]
        {
            let mut argv = case.argv.clone();
            argv[first - 1] = number.to_owned();
            let other = Case { line: argv.join(" "), argv, marks: Vec::new(), command: case.command };
            for (origin, answer) in stage.give_everywhere(&other, &rules) {
                tried += 1;
                let refused = answer.contains("No permissions to access a key")
                    || answer.contains("no permission to touch the specified keys")
                    || answer.contains("not allowed from script");
                assert!(refused, "{} ({origin}): {answer}", other.line);
            }
        }
    }
    assert!(tried > 300, "{tried}");
}
