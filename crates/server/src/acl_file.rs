//! Users that come from the configuration or from the ACL file.

use std::io::{self, Read};
use std::path::Path;

use totality_engine::{Engine, acl};

use crate::listen::reason;

/// Largest ACL file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Gives the engine the users of the configuration, or those of the file that `aclfile` names.
///
/// # Errors
/// What is wrong with them: then the server must not start.
pub(crate) fn load_users(engine: &mut Engine) -> Result<(), String> {
    let config = &engine.sv.config;
    let path = config.aclfile.clone();
    if path.is_empty() {
        let users = acl::configured(config)?;
        users.into_iter().for_each(|user| acl::set_user(&mut engine.sv, user, None));
        return Ok(());
    }
    if !config.users.is_empty() {
        return Err("Users are defined both in the configuration and in an ACL file (aclfile): that is very likely to \
                    lead to errors and security holes. Use one of the two, but not both."
            .to_owned());
    }
    let users = read(&path)
        .map_err(|e| format!("Error loading ACLs, opening file '{path}': {}", reason(&e)))
        .and_then(|text| acl::parse_file(&path, &text, config.acl_all_channels()))
        .map_err(|text| format!("Aborting startup because of ACL errors: {text}"))?;
    acl::replace_all(&mut engine.sv, users, None);
    Ok(())
}

/// Reads an ACL file.
pub(crate) fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    std::fs::File::open(Path::new(path))?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("the file is too large"));
    }
    Ok(text)
}
