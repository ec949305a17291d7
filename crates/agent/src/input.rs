//! The standard input of a session's code, and the folder of a script.

use crate::{AgentError, Context, grants};
use interpreter_core::{Access, Piped, session::Event};
use interpreter_exec::{StandardInput, TypedLines};
use interpreter_store::PipedFile;
use std::{io::Read, os::fd::OwnedFd, path::Path, sync::Arc};

impl Context {
    /// Has the first code that runs read what this gives, as it comes. Returns the count of lines
    /// that are typed, where it is a terminal.
    pub fn pass_on(&mut self, source: OwnedFd) -> TypedLines {
        let typed = TypedLines::default();
        self.input = StandardInput::Stream(Arc::new(source), typed.clone());
        typed
    }

    /// Saves data that came with a prompt, and shows it to code. Returns the event that tells the
    /// model, or `None` if there is no data. The file is removed with this context.
    pub fn save_piped(&mut self, source: impl Read) -> Result<Option<Event>, AgentError> {
        let saved = PipedFile::save(&self.folders, &self.work_folder, source)?;
        if saved.bytes == 0 {
            return Ok(None);
        }
        let PipedFile { path, bytes, lines, hash, first, .. } = &saved;
        let piped = Piped::new(path.clone(), *bytes, *lines, hash.clone(), first);
        self.granted.insert(path.clone(), Access::Read);
        self.input = StandardInput::File(path.clone());
        self.piped = Some(saved);
        Ok(Some(Event::Piped(piped)))
    }

    /// Lets code see the folder of a script, for what it imports from there. Where that folder is a
    /// home, or more, the script alone is shown.
    pub fn show_script(&mut self, file: &Path) {
        let (folders, work, home) = (&self.folders, &self.work_folder, self.home.as_deref());
        if let Some(path) = grants::of_script(file, folders, work, home) {
            self.granted.entry(path).or_insert(Access::Read);
        }
    }
}
