//! The file that keeps a cluster node's id over restarts.

use std::io::ErrorKind;
use std::path::Path;

use totality_engine::Engine;
use totality_engine::cluster::{self, Node};

use crate::acl_file;
use crate::listen::reason;
use crate::log::Log;
use crate::rewrite::replace_file;

/// In cluster mode: reads the node's id from `cluster-config-file`, or makes the file.
///
/// # Errors
/// When the file cannot be read, understood or written: then the server must not start.
pub(crate) fn open(engine: &mut Engine, log: &mut Log) -> Result<(), String> {
    if !engine.sv.config.cluster_enabled {
        return Ok(());
    }
    let path = engine.sv.config.cluster_config_file.clone();
    let text = match acl_file::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(format!("Loading the cluster node config from {path}: {}", reason(&e))),
    };
    if !text.is_empty() {
        engine.sv.cluster.node = Node::parse(&text)
            .map_err(|why| format!("Unrecoverable error: corrupted cluster config file \"{path}\": {why}"))?;
        log.notice(format!("Node configuration loaded, I'm {}", engine.sv.cluster.node.id));
        return Ok(());
    }
    let node = &engine.sv.cluster.node;
    log.notice(format!("No cluster configuration found, I'm {}", node.id));
    let text =
        node.render(&cluster::address(&engine.sv, None), &engine.sv.config.cluster_announce_human_nodename);
    replace_file(Path::new(&path), text.as_bytes())
        .map_err(|e| format!("Could not write the cluster node config {path}: {}", reason(&e)))
}
