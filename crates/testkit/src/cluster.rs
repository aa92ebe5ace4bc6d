//! A cluster of six nodes of `redis-server` on the loopback address.

use crate::client::Client;
use crate::server::Server;
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

/// Six nodes: three primaries with a replica each. They end with it.
#[derive(Debug)]
pub struct Six {
    nodes: Vec<Option<Server>>,
}

fn free_port() -> String {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port().to_string()
}

impl Six {
    /// Starts them.
    ///
    /// # Panics
    /// When `redis-server` or `redis-cli` is missing or the cluster does not come up within 40 s.
    pub fn start() -> Six {
        let node = || {
            let bus = free_port();
            let extra = [
                "--cluster-enabled",
                "yes",
                "--cluster-config-file",
                "nodes.conf",
                "--cluster-node-timeout",
                "1000",
                "--cluster-port",
                &bus,
                "--cluster-replica-validity-factor",
                "0",
                "--repl-diskless-sync-delay",
                "0",
            ];
            Some(Server::redis(&extra).unwrap())
        };
        let six = Six { nodes: (0..6).map(|_| node()).collect() };
        let addresses: Vec<String> = six.ports().iter().map(|p| format!("127.0.0.1:{p}")).collect();
        let mut create = vec!["--cluster", "create"];
        create.extend(addresses.iter().map(String::as_str));
        create.extend(["--cluster-replicas", "1", "--cluster-yes"]);
        six.cli(&create);
        six.wait("the replicas are in step", || {
            six.ports().iter().all(|p| {
                let mut c = Client::connect(*p).unwrap();
                let info = c.call(&["INFO", "replication"]).unwrap().text();
                let state = c.call(&["CLUSTER", "INFO"]).unwrap().text();
                let whole = info.contains("master_link_status:up") || info.contains("connected_slaves:1");
                whole && state.contains("cluster_state:ok")
            })
        });
        six
    }

    /// Waits until something holds.
    ///
    /// # Panics
    /// After 40 s.
    pub fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < Duration::from_secs(40), "{what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs `redis-cli` and gives what it printed.
    ///
    /// # Panics
    /// When it fails.
    pub fn cli(&self, args: &[&str]) -> String {
        let out = Command::new("redis-cli").args(args).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success(), "redis-cli {args:?}: {text}{}", String::from_utf8_lossy(&out.stderr));
        text
    }

    /// The ports of those that live.
    pub fn ports(&self) -> Vec<u16> {
        self.nodes.iter().flatten().map(Server::port).collect()
    }

    /// Their URLs.
    pub fn urls(&self) -> Vec<String> {
        self.ports().iter().map(|p| format!("redis://127.0.0.1:{p}/")).collect()
    }

    /// Port and id of the primary that serves a slot, and those of another primary.
    ///
    /// # Panics
    /// When there is none.
    pub fn owners(&self, slot: u16) -> [(u16, String); 2] {
        let mut found = [None, None];
        let mut c = Client::connect(self.ports()[0]).unwrap();
        for line in c.call(&["CLUSTER", "NODES"]).unwrap().text().lines() {
            let w: Vec<&str> = line.split(' ').collect();
            if !w[2].contains("master") || w[2].contains("fail") || w.len() < 9 {
                continue;
            }
            let port = w[1].split('@').next().unwrap().rsplit(':').next().unwrap().parse().unwrap();
            let serves = w[8..].iter().any(|r| {
                let (a, b) = r.split_once('-').unwrap_or((r, r));
                a.parse().is_ok_and(|a: u16| a <= slot) && b.parse().is_ok_and(|b: u16| slot <= b)
            });
            found[usize::from(!serves)] = Some((port, w[0].to_string()));
        }
        found.map(|f| f.expect("a primary"))
    }

    /// Kills a node at once.
    pub fn kill(&mut self, port: u16) {
        for node in &mut self.nodes {
            if node.as_ref().is_some_and(|n| n.port() == port) {
                *node = None;
            }
        }
    }
}
