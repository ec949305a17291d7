//! The setup of a server: with it every hub begins.
//!
//! Plain values. Must not know a session.

use interpreter_store::Overrides;
use std::path::PathBuf;
use tokio::runtime::Handle;

/// Sessions at once.
pub(crate) const MOST_SESSIONS: usize = 256;

/// The setup of a server.
#[derive(Clone, Debug)]
pub struct HubSetup {
    /// The folder of a session that names none.
    pub work_folder: PathBuf,
    /// Our own binary.
    pub program: PathBuf,
    /// Settings of the command line. A request cannot change them, but for model and profile.
    pub overrides: Overrides,
    /// Where sessions take their steps, if that is not where clients are served.
    pub steps: Option<Handle>,
}
