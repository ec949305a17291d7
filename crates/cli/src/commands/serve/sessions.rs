//! The sessions behind every listener, and the signals that end them.

use crate::{report::Error, terminal::signals::Signals};
use interpreter_agent::AgentError;
use interpreter_store::Overrides;
use interpreter_web::{HubSetup, SessionHub, TeamError, TeamHub};
use tokio::runtime::Handle;

/// The sessions of a server that is started in this folder.
pub(super) fn hub(steps: Handle) -> Result<SessionHub, Error> {
    Ok(SessionHub::new(setup(steps)?)?)
}

/// The same for a team.
pub(super) fn team(steps: Handle) -> Result<TeamHub, Error> {
    TeamHub::new(setup(steps)?).map_err(|TeamError::Store(error)| error.into())
}

fn setup(steps: Handle) -> Result<HubSetup, Error> {
    let work_folder = std::env::current_dir().map_err(AgentError::WorkFolder)?;
    let program = std::env::current_exe().map_err(AgentError::Program)?;
    let overrides = Overrides::default();
    Ok(HubSetup { work_folder, program, overrides, steps: Some(steps) })
}

/// Serves until it is over. The first signal ends every session in order, the second one everything
/// at once.
pub(super) async fn until_signalled<T>(
    hub: &SessionHub,
    served: impl Future<Output = T>,
) -> Result<Option<T>, Error> {
    let mut signals = Signals::new()?;
    tokio::pin!(served);
    tokio::select! {
        done = &mut served => return Ok(Some(done)),
        _ = signals.next() => {}
    }
    let ended = async {
        hub.shut().await;
        served.await
    };
    tokio::select! {
        done = ended => Ok(Some(done)),
        _ = signals.next() => Ok(None),
    }
}
