//! How a command starts: in the context of this folder, and with a loop to wait in.

use crate::{
    report::Error,
    terminal::{screen::Screen, theme::themed},
};
use interpreter_agent::{AgentError, Context};
use interpreter_store::{ConfigFiles, Environment, Folders, Overrides, Settings};
use std::{io::IsTerminal, thread::available_parallelism, time::Duration};
use tokio::runtime::{Builder, Handle};

/// The context of the folder that the person is in.
pub(crate) fn context(overrides: &Overrides) -> Result<Context, Error> {
    let here = std::env::current_dir().map_err(AgentError::WorkFolder)?;
    let program = std::env::current_exe().map_err(AgentError::Program)?;
    let mut context = Context::open(Environment::read(), &here, program, overrides)?;
    let mut errors = Screen::stderr(&context.environment);
    for unavailable in &context.unavailable {
        errors.tell(unavailable)?;
    }
    if let Some((columns, rows)) = Screen::stdout(&context.environment).output_room() {
        context.use_window(columns, rows);
    }
    Ok(context)
}

/// The person's screen, as their settings have it.
pub(crate) fn screen(context: &Context) -> Screen {
    themed(Screen::stdout(&context.environment), &context.settings, &context.environment)
}

/// The same for a command that shows the record: it works with settings that cannot be read, in the
/// colours of the environment.
pub(crate) fn screen_for_records(folders: &Folders) -> Screen {
    let environment = Environment::read();
    let screen = Screen::stdout(&environment);
    let here = std::env::current_dir().unwrap_or_default();
    let files = ConfigFiles::read(folders, &here, None).unwrap_or_default();
    match Settings::resolve(&files, &environment, &Overrides::default()) {
        Ok(settings) => themed(screen, &settings, &environment),
        Err(_) => screen,
    }
}

/// Whether a person can be asked: they see the question and can answer it.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
pub(crate) fn at_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// How long the program waits at its end for slow work on other threads.
const LAST_WORK: Duration = Duration::from_secs(3);

/// The fewest and the most threads on which the sessions of a server take their steps.
const STEP_THREADS: (usize, usize) = (2, 8);

/// Serves until it is over. Clients are served on one thread, and sessions take their steps on
/// others: to redact, to record and to send what somebody wrote takes as long as that is.
pub(crate) fn serve_with<T, F: Future<Output = T>>(
    serve: impl FnOnce(Handle) -> F,
) -> Result<T, Error> {
    let (fewest, most) = STEP_THREADS;
    let count = available_parallelism().map_or(fewest, |count| count.get().clamp(fewest, most));
    // They last as long as the server: what one of them started ends with it.
    let steps = Builder::new_multi_thread().worker_threads(count).enable_all().build()?;
    let done = wait_for(serve(steps.handle().clone()));
    steps.shutdown_timeout(LAST_WORK);
    done
}

/// Runs a future to its end. One thread is enough: slow work happens in other processes. Work on
/// another thread that never ends, as on a file system that does not answer, ends with the program.
pub(crate) fn wait_for<T>(future: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(future);
    runtime.shutdown_timeout(LAST_WORK);
    Ok(done)
}
