//! The conversation of an earlier session, to go on with it.
//!
//! Only records whose chain is whole are taken: what a model once said decides what it says next.

use crate::{AgentError, Context, Mode};
use interpreter_core::session::{Approval, Earlier};
use interpreter_store::{Log, SessionFilter, SessionSummary};

/// How many of the newest sessions in this folder are looked at for a chat.
const LOOKED_AT: usize = 1_000;

impl Context {
    /// The conversation of the session whose id is, begins or ends with `id`; without one, of the
    /// newest chat in this folder, of those that were held here.
    pub fn earlier(&self, id: Option<&str>) -> Result<Earlier, AgentError> {
        let refused = |reason: String| AgentError::Resume { reason };
        let log = Log::open_to_read(&self.folders)?;
        let id = match id {
            Some(id) => log.find_session(id)?,
            None => self.newest_chat(&log)?.ok_or_else(|| {
                refused(format!("there is no earlier chat in {}", self.work_folder.display()))
            })?,
        };
        if let Some(fault) = log.verify_session(&id)? {
            return Err(refused(fault.to_string()));
        }
        let records = log.records(&id).map(|record| record.map(|record| record.body));
        let records = records.collect::<Result<Vec<_>, _>>()?;
        let setup = self.setup(self.profile(None, &[]), Approval::AlwaysAsk, Mode::Chat);
        let earlier = Earlier::of(&id, setup, records);
        if earlier.messages.is_empty() {
            return Err(refused(format!("no model took part in session {id}")));
        }
        Ok(earlier)
    }

    fn newest_chat(&self, log: &Log) -> Result<Option<String>, AgentError> {
        let here = SessionFilter { newest: LOOKED_AT, work_folder: Some(self.work_folder.clone()) };
        let is_chat = |one: &SessionSummary| one.first_prompt.is_some() && !one.is_imported;
        Ok(log.sessions(&here)?.into_iter().find(is_chat).map(|one| one.id))
    }
}
