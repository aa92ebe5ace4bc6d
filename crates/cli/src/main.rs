//! The `totality` command.

fn main() {}
