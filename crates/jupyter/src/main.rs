//! The bridge by itself, for the tests and for trying a kernel by hand. The product's own binary has
//! this role under another name.

use std::process::ExitCode;

fn main() -> ExitCode {
    interpreter_jupyter::run(std::env::args().skip(1))
}
