//! Checking files without loading them.
