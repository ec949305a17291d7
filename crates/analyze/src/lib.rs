//! Turns code into findings, by syntax tree.
