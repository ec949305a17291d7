//! The bridge from its start to its end.
//!
//! Ends as its kernel ends: with its status, or by its signal, so that whoever looks at the bridge
//! sees how the kernel fared.

use crate::{
    bridge::Bridge,
    error::{End, JupyterError},
    launch::Launch,
    raw::Output,
    start::start,
};
use signal_hook::low_level::emulate_default_handler;
use std::{
    error::Error,
    fs::File,
    io::{self, Write},
    os::{
        fd::AsFd,
        unix::{net::UnixStream, process::ExitStatusExt},
    },
    process::{ExitCode, ExitStatus},
};

/// Is the bridge, with the host's socket as standard input and the launch as the one argument.
/// Called first thing by the binary, before any thread exists.
pub fn run(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    match serve(&arguments) {
        End::HungUp => ExitCode::SUCCESS,
        End::Died(status) => leave_as(status),
        End::Broken(error) => {
            let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
            // Nobody may be listening; the exit code says that something went wrong.
            #[expect(clippy::disallowed_methods, reason = "the stream of a process inside")]
            drop(writeln!(io::stderr(), "{error}{cause}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the stream of a process inside, not a person's")]
fn serve(arguments: &[String]) -> End {
    let begin = || -> Result<Bridge, End> {
        let [argument] = arguments else { return Err(JupyterError::Launch.into()) };
        let launch: Launch = serde_json::from_str(argument).map_err(|_| JupyterError::Launch)?;
        let host = io::stdin().as_fd().try_clone_to_owned().map_err(JupyterError::Host)?;
        let output = |fd: io::Result<_>| fd.map(File::from).map_err(JupyterError::Output);
        let mut output = Output {
            stdout: output(io::stdout().as_fd().try_clone_to_owned())?,
            stderr: output(io::stderr().as_fd().try_clone_to_owned())?,
        };
        let host = UnixStream::from(host);
        Bridge::new(start(&launch, &host, &mut output)?, host, output)
    };
    match begin() {
        Ok(mut bridge) => bridge.serve(),
        Err(end) => end,
    }
}

/// Ends this process as another one has ended.
fn leave_as(status: ExitStatus) -> ExitCode {
    if let Some(code) = status.code() {
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    let number = status.signal().unwrap_or_default();
    // Does not return, but for signals that have no name.
    emulate_default_handler(number).unwrap_or_default();
    ExitCode::from(u8::try_from(128 + number).unwrap_or(1))
}
