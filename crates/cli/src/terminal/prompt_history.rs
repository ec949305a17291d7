//! The prompts of earlier chats, which the arrow keys bring back.
//!
//! They are kept in a file, so a secret that was typed or pasted is taken out first. Must not write
//! one down.

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
        self.file.save(cleaned(&self.redactor, item))
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
