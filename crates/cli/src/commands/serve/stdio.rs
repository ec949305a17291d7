//! `interpreter serve --stdio`: the protocol on standard input and output.

use super::sessions::{hub, until_signalled};
use crate::{exit::Exit, report::Error, terminal::json};
use interpreter_web::serve_stdio;
use std::{io, process::ExitCode};
use tokio::runtime::Handle;

pub(super) async fn serve(steps: Handle) -> Result<ExitCode, Error> {
    let hub = hub(steps)?;
    let served = serve_stdio(&hub, io::stdin(), json::print_lines);
    match until_signalled(&hub, served).await? {
        Some(done) => {
            done?;
            Ok(Exit::Done.into())
        }
        None => Ok(Exit::CodeFailed.into()),
    }
}
