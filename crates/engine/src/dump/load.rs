//! Taking in a whole file.
