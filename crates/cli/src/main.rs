//! The binary: arguments, commands, terminal.
//!
//! The only crate that prints. The same file is also the sandbox's builder and its first process,
//! under other names: both are settled before anything else happens.

use std::process::ExitCode;

mod args;
mod commands;
mod exit;
mod report;
mod terminal;

fn main() -> ExitCode {
    // First, and before any thread exists: in a process that we started as a jail this call does
    // not return.
    interpreter_jail::enter_if_asked();
    if std::env::args_os().next().is_some_and(|name| name == interpreter_host::HOST) {
        return interpreter_host::run();
    }
    std::panic::set_hook(Box::new(report::bug));
    match std::panic::catch_unwind(|| commands::run(std::env::args_os())) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => report::show(&error),
        Err(_) => exit::Exit::Bug.into(),
    }
}
