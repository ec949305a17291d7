//! The binary: arguments, commands, terminal.
//!
//! The only crate that prints. The same file is also the sandbox's builder, its first process, the
//! bridge to Jupyter kernels in it, and what attacks it for `doctor`, under other names: they are
//! settled before anything else.

use std::{path::PathBuf, process::ExitCode};

mod args;
mod commands;
mod exit;
mod options;
mod original;
mod report;
mod start;
mod terminal;

fn main() -> ExitCode {
    // First, and before any thread exists: in a process that we started as a jail this call does
    // not return.
    interpreter_jail::enter_if_asked();
    let mut arguments = std::env::args_os();
    let name = arguments.next().map(PathBuf::from).unwrap_or_default();
    if name.as_os_str() == interpreter_host::HOST {
        return interpreter_host::run();
    }
    if name.ends_with(interpreter_jupyter::JUPYTER) {
        return interpreter_jupyter::run(arguments.map_while(|text| text.into_string().ok()));
    }
    if name.ends_with(interpreter_jail::attack::ATTACK) {
        let arguments = arguments.map_while(|text| text.into_string().ok());
        return interpreter_jail::attack::run(arguments);
    }
    if let Err(failure) = interpreter_jail::harden() {
        return report::show(&failure.into());
    }
    keep_freed_memory();
    std::panic::set_hook(Box::new(report::bug));
    match std::panic::catch_unwind(|| commands::run(std::env::args_os())) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => report::show(&error),
        Err(_) => exit::Exit::Bug.into(),
    }
}

/// Outputs come and go. The C library gives large pieces of memory back to the system at once, and
/// getting them anew takes longer than filling them; but it learns from the first one freed how large
/// pieces are here, and keeps up to twice as much.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(8 << 20)));
}
