//! An earlier conversation goes on, perhaps at a question that was open.
//!
//! A yes must not run code twice, so a session goes on at its question only once: whoever resumes it
//! holds its lock while it looks whether another session has done so and puts on record that this one
//! does. A session that still runs asks its question itself.

use super::Driver;
use crate::{
    AgentError,
    resume::{CONTINUED, RUNS},
};
use interpreter_core::session::{Earlier, Event};
use interpreter_store::{Log, RunningSession};

impl Driver {
    /// Goes on with an earlier conversation.
    pub(super) async fn resume(&mut self, mut earlier: Box<Earlier>) -> Result<(), AgentError> {
        if earlier.question().is_none() {
            return self.happened(Event::Resumed(earlier)).await;
        }
        let folders = &self.context.folders;
        let claim = match RunningSession::claim(folders, &earlier.session)? {
            Some(claim) if Log::open_to_read(folders)?.is_continued(&earlier.session)? => {
                earlier.refuse_question(CONTINUED);
                Some(claim)
            }
            Some(claim) => Some(claim),
            None => {
                earlier.refuse_question(RUNS);
                None
            }
        };
        self.happened(Event::Resumed(earlier)).await?;
        // From here on it is on record that this session asks it.
        self.write_record().await?;
        drop(claim);
        Ok(())
    }
}
