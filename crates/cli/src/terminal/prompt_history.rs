//! The prompts of earlier chats, which the arrow keys bring back.
//!
//! They are kept in a file, so a secret that was typed or pasted is taken out first. Must not write
//! one down. Each is in the file as soon as it was typed: however the program ends, it is not lost.

use interpreter_core::{Redactor, redact::Scope};
use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchQuery,
};
use std::{path::PathBuf, sync::Arc};

/// Lines of prompts that are kept.
const KEPT: usize = 10_000;

/// Prompts without secrets.
pub(super) struct PromptHistory {
    file: FileBackedHistory,
    redactor: Arc<Redactor>,
}

impl PromptHistory {
    pub(super) fn open(path: PathBuf, redactor: Arc<Redactor>) -> Result<Self> {
        Ok(Self { file: FileBackedHistory::with_file(KEPT, path)?, redactor })
    }
}

fn cleaned(redactor: &Redactor, mut item: HistoryItem) -> HistoryItem {
    redactor.clean(&mut item.command_line, Scope::All);
    item
}

impl History for PromptHistory {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        let kept = self.file.save(cleaned(&self.redactor, item))?;
        // Where the file cannot be written, the arrow keys have it for this chat.
        _ = self.file.sync().is_ok();
        Ok(kept)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.file.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.file.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.file.search(query)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        let Self { file, redactor } = self;
        file.update(id, &|item| cleaned(redactor, updater(item)))
    }

    fn clear(&mut self) -> Result<()> {
        self.file.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.file.delete(id)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.file.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.file.session()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_in_the_file_while_the_chat_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.txt");
        let mut history = PromptHistory::open(path.clone(), Arc::default()).unwrap();
        for (prompt, kept) in [("first", "first\n"), ("second", "first\nsecond\n")] {
            history.save(HistoryItem::from_command_line(prompt)).unwrap();
            assert_eq!(fs_err::read_to_string(&path).unwrap(), kept);
        }
    }
}
