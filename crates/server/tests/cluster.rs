//! Cluster mode: the node's id is kept in its file.

mod common;

use common::serve;

#[test]
fn the_node_keeps_its_id_until_it_is_reset() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nodes.conf").display().to_string();
    let options = ["--cluster-enabled", "yes", "--cluster-config-file", &file];
    let id = |options: &[&str]| {
        let server = serve(options);
        let id = server.client().line("CLUSTER MYID").unwrap().text();
        let slots = server.client().call_raw(&["CLUSTER", "SLOTS"]).unwrap();
        assert!(
            String::from_utf8_lossy(&slots.raw).contains("127.0.0.1"),
            "clients find the node where they came in"
        );
        id
    };
    let first = id(&options);
    assert_eq!(first.len(), 40);
    assert_eq!(id(&options), first);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&first) && text.contains("myself,master - 0 0 0 connected 0-16383\n"), "{text}");
    {
        let server = serve(&options);
        assert_eq!(server.client().line("CLUSTER RESET HARD").unwrap().text(), "OK");
    }
    assert_ne!(id(&options), first);
    std::fs::write(&file, "nonsense\n").unwrap();
    let mut config = totality_engine::Config::default();
    for (name, value) in [("cluster-enabled", "yes"), ("cluster-config-file", file.as_str()), ("port", "0")] {
        config.set(name, &[value.as_bytes()]).unwrap();
    }
    config.unixsocket = dir.path().join("s").display().to_string();
    let error = totality_server::Server::new(config, None).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("corrupted cluster config file"), "{error}");
}
