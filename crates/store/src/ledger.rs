//! The amounts that were spent today, shared by all sessions of a person.
//!
//! One small file, changed under a lock, so that sessions of several processes count together. A
//! new day begins at midnight where the person is.

use crate::{Folders, StoreError, private};
use interpreter_core::budget::Spent;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read},
    num::NonZeroU32,
    path::PathBuf,
    time::{Duration, SystemTime},
};

const MINUTE: Duration = Duration::from_mins(1);

/// Bytes of the file: enough for many thousand calls a minute.
const MOST: u64 = 1 << 20;

/// The amounts that were spent today.
#[derive(Clone, Debug)]
pub struct Ledger {
    path: PathBuf,
}

/// The content of the file.
#[derive(Default, Serialize, Deserialize)]
struct Page {
    day: String,
    spent: Spent,
    /// When the calls of the last minute were made, in milliseconds since 1970.
    #[serde(default)]
    calls: VecDeque<u64>,
}

impl Ledger {
    /// The ledger of these folders.
    pub fn new(folders: &Folders) -> Self {
        Self { path: folders.ledger_file() }
    }

    /// Adds amounts, and returns what was spent today.
    pub fn add(&self, spent: Spent) -> Result<Spent, StoreError> {
        self.change(|page| {
            page.spent = page.spent.plus(spent);
            page.spent
        })
    }

    /// Amounts that were spent today.
    pub fn today(&self) -> Result<Spent, StoreError> {
        self.add(Spent::default())
    }

    /// Claims one of the `most` calls that a minute may have, or returns how long to wait before
    /// asking again.
    pub fn take_call(&self, most: NonZeroU32) -> Result<Result<(), Duration>, StoreError> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.change(|page| page.take_call(most, now))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Page) -> T) -> Result<T, StoreError> {
        if let Some(folder) = self.path.parent() {
            private::make_folder(folder)?;
        }
        let path = &self.path;
        let locked = path.with_extension("lock");
        private::make_file(&locked)?;
        let failed = |source| StoreError::Keep { path: path.clone(), source };
        let lock = File::open(&locked).map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| failed(io::Error::from(error)))?;
        let mut page: Page = match File::open(path).and_then(whole) {
            // A page that cannot be read was not written by this program: it counts from now on.
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Page::default(),
            Err(error) => return Err(failed(error)),
        };
        let today = jiff::Zoned::now().date().to_string();
        if page.day != today {
            (page.day, page.spent) = (today, Spent::default());
        }
        let result = change(&mut page);
        let bytes = serde_json::to_vec(&page).map_err(|error| failed(error.into()))?;
        private::write_copy(path, &bytes).map_err(failed)?;
        Ok(result)
    }
}

/// The file's content. A longer one was not written by this program, and is cut.
fn whole(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Page {
    fn take_call(&mut self, most: NonZeroU32, now: Duration) -> Result<(), Duration> {
        let made = |at: u64| Duration::from_millis(at);
        // A clock that was set back leaves calls of the future, which count as made now.
        while self.calls.front().is_some_and(|at| now.saturating_sub(made(*at)) >= MINUTE) {
            self.calls.pop_front();
        }
        let most = most.get() as usize;
        while self.calls.len() > most {
            self.calls.pop_front();
        }
        match self.calls.front() {
            Some(first) if self.calls.len() == most => {
                Err(MINUTE.saturating_sub(now.saturating_sub(made(*first))))
            }
            Some(_) | None => {
                self.calls.push_back(u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(root: &tempfile::TempDir) -> Ledger {
        Ledger::new(&Folders::under(root.path()))
    }

    #[test]
    fn sessions_count_together_and_a_new_day_begins_with_nothing() {
        let root = tempfile::tempdir().unwrap();
        let one = Spent { turns: 1, tokens: 10, ..Spent::default() };
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let ledger = ledger(&root);
                std::thread::spawn(move || (0..25).for_each(|_| _ = ledger.add(one).unwrap()))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let ledger = ledger(&root);
        assert_eq!(ledger.add(Spent::default()).unwrap().tokens, 2_000);
        let text = fs_err::read_to_string(&ledger.path).unwrap();
        let today = jiff::Zoned::now().date().to_string();
        fs_err::write(&ledger.path, text.replace(&today, "2001-01-01")).unwrap();
        assert_eq!(ledger.add(one).unwrap(), one);
    }

    #[test]
    fn a_page_that_cannot_be_read_begins_anew() {
        let root = tempfile::tempdir().unwrap();
        let ledger = ledger(&root);
        ledger.add(Spent { tokens: 5, ..Spent::default() }).unwrap();
        fs_err::write(&ledger.path, "{").unwrap();
        assert_eq!(ledger.add(Spent { tokens: 1, ..Spent::default() }).unwrap().tokens, 1);
    }

    #[test]
    fn a_minute_has_so_many_calls_and_no_more() {
        let mut page = Page::default();
        let mut at = |seconds: u64| {
            page.take_call(NonZeroU32::new(2).unwrap(), Duration::from_secs(1_000 + seconds))
        };
        assert_eq!(at(0), Ok(()));
        assert_eq!(at(10), Ok(()));
        assert_eq!(at(20), Err(Duration::from_secs(40)));
        assert_eq!(at(60), Ok(()));
        assert_eq!(at(61), Err(Duration::from_secs(9)));
        assert_eq!(at(500), Ok(()));
    }
}
