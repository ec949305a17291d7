//! How a command starts: in the context of this folder, and with a loop to wait in.

use crate::{
    report::Error,
    terminal::{screen::Screen, theme::themed},
};
use interpreter_agent::{AgentError, Context};
use interpreter_store::{Environment, Overrides};
use std::io::IsTerminal;

/// The context of the folder that the person is in.
pub(crate) fn context(overrides: &Overrides) -> Result<Context, Error> {
    let here = std::env::current_dir().map_err(AgentError::WorkFolder)?;
    let program = std::env::current_exe().map_err(AgentError::Program)?;
    let mut context = Context::open(Environment::read(), &here, program, overrides)?;
    if let Some((columns, rows)) = Screen::stdout(&context.environment).output_room() {
        context.use_window(columns, rows);
    }
    Ok(context)
}

/// The person's screen, as their settings have it.
pub(crate) fn screen(context: &Context) -> Screen {
    themed(Screen::stdout(&context.environment), context)
}

/// Whether a person can be asked: they see the question and can answer it.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
pub(crate) fn at_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Runs a future to its end. One thread is enough: slow work happens in other processes.
pub(crate) fn wait_for<T>(future: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future))
}
