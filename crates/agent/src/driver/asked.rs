//! Requests of front ends that wait for a reply: turns that begin only if nothing is under way, and
//! looks at what is staged.

use super::Driver;
use crate::{
    AgentError,
    update::{FilesWanted, Looker, NotBegun},
};
use interpreter_core::{
    Body, FilePut,
    session::{ChangesWish, Event},
};
use interpreter_exec::{Command, ExecError, StagedLook};
use interpreter_workspace::ReceivedFile;
use tokio::sync::oneshot;

impl Driver {
    /// Takes events in if the session is idle and they are about how it is now, and says after which
    /// record theirs are. Otherwise nothing of them is taken in or recorded.
    pub(super) async fn begin(
        &mut self,
        events: Vec<Event>,
        who: Option<String>,
        newest: Option<u64>,
        reply: oneshot::Sender<Result<u64, NotBegun>>,
    ) -> Result<(), AgentError> {
        if !self.state.is_idle() {
            // Whoever asked may have left.
            _ = reply.send(Err(NotBegun::Busy)).is_ok();
            return Ok(());
        }
        self.write_record().await?;
        let is_old = |event: &Event| matches!(event, Event::RewindWanted(rewind) if rewind.as_of != self.newest_standing);
        if newest.is_some_and(|newest| newest != self.newest_changes) || events.iter().any(is_old) {
            _ = reply.send(Err(NotBegun::LookAgain)).is_ok();
            return Ok(());
        }
        let after = self.journal.last();
        self.journal.heard(who);
        let taken = self.take_all(events).await;
        self.journal.heard(None);
        taken?;
        _ = reply.send(Ok(after)).is_ok();
        Ok(())
    }

    /// Stages a file if the session is idle. Its bytes wait here until its record is written.
    pub(super) async fn put(
        &mut self,
        path: String,
        file: ReceivedFile,
        who: String,
        reply: oneshot::Sender<Result<u64, NotBegun>>,
    ) -> Result<(), AgentError> {
        let put = FilePut { path, content: file.content.clone() };
        self.received = Some(file);
        let wish = Event::ChangesWanted(ChangesWish::Put(put));
        let begun = self.begin(vec![wish], Some(who), None, reply).await;
        self.received = None;
        begun
    }

    /// Has the runner open files. Nothing is on record of whoever only reads.
    pub(super) fn open_files(&self, wanted: FilesWanted) {
        self.runner.tell(match wanted {
            FilesWanted::One { path, reply } => {
                let confinement = Box::new(self.state.confinement().clone());
                Command::OpenFile { path, confinement, reply }
            }
            FilesWanted::List { of, reply } => Command::Export { of, reply },
            FilesWanted::Patch { of, reply } => Command::Patch { of, reply },
        });
    }

    async fn take_all(&mut self, events: Vec<Event>) -> Result<(), AgentError> {
        for event in events {
            self.asked_for(event).await?;
        }
        Ok(())
    }

    /// Shows what is staged. While the person decides on a snapshot, it is that one. Nothing is on
    /// record of whoever only watches, and no number that others know ends by it.
    pub(super) async fn look_at_changes(
        &mut self,
        id: String,
        by: Looker,
        reply: oneshot::Sender<Result<StagedLook, ExecError>>,
    ) -> Result<(), AgentError> {
        let Looker { who, decides, path } = by;
        let has_name = who.is_some();
        if decides {
            let shown = match &who {
                Some(_) => Body::DiffShown { id },
                None => Body::Note {
                    text: format!("what is staged is listed for a decision (set {id})"),
                },
            };
            self.journal.heard(who);
            self.journal.note(shown);
            self.journal.heard(None);
            self.write_record().await?;
        }
        let anew = decides && !self.state.is_reviewing();
        // A terminal shows the names alone, so no hunk has been seen.
        let decides = decides && has_name;
        self.runner.tell(Command::Look { anew, decides, path, reply });
        Ok(())
    }
}
