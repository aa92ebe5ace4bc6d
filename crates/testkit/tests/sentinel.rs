//! Debian's Sentinel watches nodes of ours, and mixed pairs, and fails over when the primary is killed, freezes or is
//! cut off.

use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use totality_testkit::client::Client;
use totality_testkit::replicas::{keys, wait_until};
use totality_testkit::server::{Server, oracle_or_skip, totality_binary};
use totality_testkit::value::Value;
use totality_testkit::{Need, count, skip};

const LONG: Duration = Duration::from_secs(40);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Totality,
    Redis,
}

/// A server with a configuration file, which Sentinel makes it rewrite, on a port that it keeps.
struct Node {
    kind: Kind,
    port: u16,
    host: &'static str,
    dir: tempfile::TempDir,
    child: Option<Child>,
    /// The network namespace that it lives in.
    namespace: Option<String>,
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("an address").port()
}

impl Node {
    fn new(kind: Kind) -> Node {
        Node::at(kind, "127.0.0.1", None)
    }

    fn at(kind: Kind, host: &'static str, namespace: Option<String>) -> Node {
        let dir = tempfile::tempdir().expect("a directory");
        let port = free_port();
        let text = format!(
            "port {port}\nbind {host}\nsave \"\"\nprotected-mode no\ndir {}\nrepl-diskless-sync-delay 0\nrepl-timeout 5\n",
            dir.path().display()
        );
        std::fs::write(dir.path().join("node.conf"), text).expect("a file");
        let mut node = Node { kind, port, host, dir, child: None, namespace };
        node.start();
        node
    }

    fn start(&mut self) {
        let file = self.dir.path().join("node.conf").to_string_lossy().into_owned();
        let program = totality_binary().expect("the program").to_string_lossy().into_owned();
        let mut words: Vec<&str> = match &self.namespace {
            Some(name) => vec!["ip", "netns", "exec", name],
            None => Vec::new(),
        };
        match self.kind {
            Kind::Totality => words.extend([program.as_str(), "serve", &file]),
            Kind::Redis => words.extend(["redis-server", &file]),
        }
        let log = File::options().create(true).append(true).open(self.log_path()).expect("a log");
        let child = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("it starts");
        self.child = Some(child);
        wait_until(
            "the node",
            LONG,
            || self.try_client().is_ok_and(|mut c| c.call(&["PING"]).is_ok()),
            || self.log(),
        );
    }

    fn log_path(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    fn try_client(&self) -> std::io::Result<Client> {
        Client::connect_to(self.host, self.port)
    }

    fn client(&self) -> Client {
        self.try_client().unwrap_or_else(|e| panic!("{e}: {}", self.log()))
    }

    fn signal(&self, name: &str) {
        let pid = self.child.as_ref().expect("it runs").id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().expect("kill").success());
    }

    fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may be stopped or gone.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A primary, its replica and a Sentinel that watches both.
struct Watched {
    nodes: [Node; 2],
    sentinel: Server,
    _dir: tempfile::TempDir,
}

fn line(client: &mut Client, line: &str) -> String {
    match client.line(line).expect("the server answers") {
        Value::Int(n) => n.to_string(),
        other => other.text(),
    }
}

impl Watched {
    fn new(nodes: [Node; 2]) -> Watched {
        let (host, port) = (nodes[0].host, nodes[0].port);
        assert_eq!(line(&mut nodes[1].client(), &format!("REPLICAOF {host} {port}")), "OK");
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("sentinel.conf").to_string_lossy().into_owned();
        let text = format!(
            "sentinel monitor main {host} {port} 1\nsentinel down-after-milliseconds main 1500\n\
             sentinel failover-timeout main 4000\nprotected-mode no\n"
        );
        std::fs::write(&file, text).expect("a file");
        let sentinel =
            Server::start(&["redis-server", &file, "--sentinel"], &[]).expect("the sentinel starts");
        // It asks the nodes every ten seconds otherwise.
        assert_eq!(line(&mut sentinel.client(), "SENTINEL DEBUG INFO-PERIOD 500"), "OK");
        let watched = Watched { nodes, sentinel, _dir: dir };
        watched.knows_the_replica_of(0);
        watched
    }

    /// Waits until Sentinel has seen that the other node follows node `i`, so that it has nothing left to tell it.
    fn knows_the_replica_of(&self, i: usize) {
        let mut look = self.sentinel.client();
        let port = self.nodes[i].port.to_string();
        wait_until(
            "the replica is known",
            LONG,
            || {
                let all = look.call(&["SENTINEL", "REPLICAS", "main"]).expect("SENTINEL").items();
                let text: Vec<String> = all.iter().flat_map(|r| r.items()).map(|v| v.text()).collect();
                let has = |name: &str, value: &str| text.windows(2).any(|w| w[0] == name && w[1] == value);
                has("master-link-status", "ok") && has("flags", "slave") && has("master-port", &port)
            },
            || self.logs(),
        );
    }

    /// A field of what a node says of replication; empty while it cannot be asked: Sentinel ends the connections of a
    /// node whose part it changes.
    fn says(&self, i: usize, field: &str) -> String {
        let text = self.nodes[i]
            .try_client()
            .and_then(|mut client| client.call(&["INFO", "replication"]))
            .map(|t| t.text());
        let find = |text: String| {
            Some(text.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix(':'))?.trim().to_owned())
        };
        text.ok().and_then(find).unwrap_or_default()
    }

    fn logs(&self) -> String {
        format!("{}\n--- 0:\n{}\n--- 1:\n{}", self.sentinel.log(), self.nodes[0].log(), self.nodes[1].log())
    }

    /// Waits until Sentinel names this node and it takes writes.
    fn promoted(&self, i: usize) {
        let mut look = self.sentinel.client();
        let port = self.nodes[i].port.to_string();
        wait_until(
            "the new primary",
            LONG,
            || {
                let addr =
                    look.call(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"]).expect("SENTINEL").items();
                addr.len() == 2 && addr[1].text() == port
            },
            || self.logs(),
        );
        wait_until("its part", LONG, || self.says(i, "role") == "master", || self.logs());
        assert_eq!(line(&mut self.nodes[i].client(), "SET after failover"), "OK");
    }

    /// Waits until node `i` follows the other, and both hold the same.
    fn follows(&self, i: usize) {
        let port = self.nodes[1 - i].port.to_string();
        wait_until(
            "the old primary as a replica",
            LONG,
            || self.says(i, "master_port") == port && self.says(i, "master_link_status") == "up",
            || self.logs(),
        );
        self.knows_the_replica_of(1 - i);
        let (mut a, mut b) = (self.nodes[i].client(), self.nodes[1 - i].client());
        wait_until("the same data", LONG, || keys(&mut a) == keys(&mut b), || self.logs());
    }
}

/// Something of each kind that has to be there after a failover.
fn fill(watched: &Watched) {
    let mut client = watched.nodes[0].client();
    line(
        &mut client,
        "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function('f', function() return 'yes' end)\"",
    );
    for i in 0..200 {
        line(&mut client, &format!("RPUSH list:{} {i} x", i % 7));
    }
    assert_eq!(line(&mut client, "EVAL \"return redis.call('INCR',KEYS[1])\" 1 token"), "1");
    wait_until("the replica in step", LONG, || line(&mut client, "WAIT 1 1000") == "1", || watched.logs());
}

fn check(watched: &Watched, i: usize) {
    let mut client = watched.nodes[i].client();
    assert_eq!(line(&mut client, "FCALL f 0"), "yes");
    assert_eq!(line(&mut client, "LLEN list:3"), "58");
    // What was acknowledged by the replica goes on: a token that was waited for is not given out again.
    assert_eq!(line(&mut client, "EVAL \"return redis.call('INCR',KEYS[1])\" 1 token"), "2");
}

fn is_ready(test: &str) -> bool {
    oracle_or_skip(test).is_some()
}

#[test]
fn a_killed_primary_is_replaced_and_comes_back_as_a_replica() {
    if !is_ready("Sentinel: kill") {
        return;
    }
    let mut watched = Watched::new([Node::new(Kind::Totality), Node::new(Kind::Totality)]);
    fill(&watched);
    watched.nodes[0].kill();
    watched.promoted(1);
    check(&watched, 1);
    watched.nodes[0].start();
    watched.follows(0);
    // The file says so too: after a restart it is a replica at once.
    let text = std::fs::read_to_string(watched.nodes[0].dir.path().join("node.conf")).expect("the file");
    assert!(text.contains(&format!("replicaof 127.0.0.1 {}", watched.nodes[1].port)), "{text}");
    count("Sentinel: kill", 1);
}

#[test]
fn a_frozen_primary_is_replaced_in_mixed_pairs() {
    if !is_ready("Sentinel: freeze") {
        return;
    }
    for kinds in [[Kind::Redis, Kind::Totality], [Kind::Totality, Kind::Redis]] {
        let watched = Watched::new(kinds.map(Node::new));
        fill(&watched);
        watched.nodes[0].signal("-STOP");
        watched.promoted(1);
        check(&watched, 1);
        watched.nodes[0].signal("-CONT");
        watched.follows(0);
    }
    count("Sentinel: freeze", 2);
}

/// A network namespace with one end of a cable in it.
struct Space(String);

fn ip(words: &[&str]) -> bool {
    Command::new("ip").args(words).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

impl Space {
    fn new() -> Option<Space> {
        let id = std::process::id() % 100_000;
        let (name, here, there) = (format!("totality{id}"), format!("tth{id}"), format!("ttn{id}"));
        if !ip(&["netns", "add", &name]) {
            return None;
        }
        let space = Space(name.clone());
        let made = ip(&["link", "add", &here, "type", "veth", "peer", "name", &there])
            && ip(&["link", "set", &there, "netns", &name])
            && ip(&["addr", "add", "10.213.77.1/30", "dev", &here])
            && ip(&["link", "set", &here, "up"])
            && ip(&["-n", &name, "addr", "add", "10.213.77.2/30", "dev", &there])
            && ip(&["-n", &name, "link", "set", "lo", "up"])
            && ip(&["-n", &name, "link", "set", &there, "up"]);
        made.then_some(space)
    }

    fn cable(&self, up: bool) {
        let there = self.0.replace("totality", "ttn");
        assert!(ip(&["-n", &self.0, "link", "set", &there, if up { "up" } else { "down" }]));
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // The cable goes with it.
        ip(&["netns", "del", &self.0]);
    }
}

#[test]
fn a_primary_that_is_cut_off_is_replaced() {
    if !is_ready("Sentinel: partition") {
        return;
    }
    let Some(space) = Space::new() else {
        skip("Sentinel: partition", "network namespaces cannot be made here", Need::Optional);
        return;
    };
    let cut_off = Node::at(Kind::Totality, "10.213.77.2", Some(space.0.clone()));
    let watched = Watched::new([cut_off, Node::at(Kind::Totality, "10.213.77.1", None)]);
    fill(&watched);
    space.cable(false);
    watched.promoted(1);
    check(&watched, 1);
    space.cable(true);
    watched.follows(0);
    count("Sentinel: partition", 1);
}
