//! The amounts that were spent today, shared by all sessions of a person.
//!
//! # Threat
//! Amounts that are forgotten: because two sessions write at once, because a process is killed while
//! a model writes, because the file is damaged, or because the clock, or the zone, is set back and
//! forth.
//!
//! # Mechanism
//! One small file, changed under a lock, so that sessions of several processes count together. A new
//! day begins at midnight where the person is. Each of the last days keeps its amounts: a clock that
//! comes back to a day finds what was spent on it. A call is counted by what it takes at least before
//! it is made, and by what it took after. A file that can't be read is an error, and begins nothing
//! anew.
//!
//! # Limits
//! A person who moves the clock, or removes the file, moves their own limit. Three dates are current
//! somewhere at any time.

use crate::{Folders, StoreError, private, regular};
use interpreter_core::budget::Spent;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read},
    num::NonZeroU32,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

const MINUTE: Duration = Duration::from_mins(1);

/// Bytes of the file: enough for many thousand calls a minute.
const MOST: u64 = 1 << 20;

/// Days that keep their amounts.
const DAYS: usize = 8;

/// The amounts that were spent today.
#[derive(Clone, Debug)]
pub struct Ledger {
    path: PathBuf,
}

/// Amounts that are in the file before they are spent. They stay there unless they are settled.
#[derive(Debug)]
#[must_use = "amounts that are not settled count as spent"]
pub struct Expected {
    date: String,
    spent: Spent,
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    /// The last days, the one that was written last at the end.
    #[serde(default)]
    days: VecDeque<Day>,
    /// When the calls of the last minute were made, in milliseconds since 1970.
    #[serde(default)]
    calls: VecDeque<u64>,
    /// The one day of an early version.
    #[serde(default, rename = "day", skip_serializing)]
    only_date: Option<String>,
    #[serde(default, rename = "spent", skip_serializing)]
    only_spent: Option<Spent>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Day {
    date: String,
    spent: Spent,
}

impl Ledger {
    /// The ledger of these folders.
    pub fn new(folders: &Folders) -> Self {
        Self { path: folders.ledger_file() }
    }

    /// Adds amounts, and returns what was spent today.
    pub fn add(&self, spent: Spent) -> Result<Spent, StoreError> {
        self.settle(None, spent)
    }

    /// Adds amounts that will be spent, in place of those that were expected before.
    pub fn expect(&self, before: Option<Expected>, spent: Spent) -> Result<Expected, StoreError> {
        let date = today();
        self.change(|page| {
            page.take_back(before);
            let amounts = page.of(&date);
            *amounts = amounts.plus(spent);
        })?;
        Ok(Expected { date, spent })
    }

    /// Adds amounts in place of those that were expected, and returns what was spent today.
    pub fn settle(&self, expected: Option<Expected>, spent: Spent) -> Result<Spent, StoreError> {
        let date = today();
        self.change(|page| {
            page.take_back(expected);
            let amounts = page.of(&date);
            *amounts = amounts.plus(spent);
            *amounts
        })
    }

    /// Amounts that were spent today.
    pub fn today(&self) -> Result<Spent, StoreError> {
        self.add(Spent::default())
    }

    /// Claims one of the `most` calls that a minute may have, or returns how long to wait before
    /// asking again.
    pub fn take_call(&self, most: NonZeroU32) -> Result<Result<(), Duration>, StoreError> {
        let now = since_1970();
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
        let mut page: Page = match regular::open(path).and_then(whole) {
            Ok(bytes) => Page::read(&bytes).ok_or_else(|| failed(damaged()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Page::default(),
            Err(error) => return Err(failed(error)),
        };
        let result = change(&mut page);
        let bytes = serde_json::to_vec(&page).map_err(|error| failed(error.into()))?;
        // The disk has it before a call is made: after a power failure it would be empty.
        private::write(path, &bytes).map_err(failed)?;
        Ok(result)
    }
}

/// The calls of one process, where the file can't be used.
#[derive(Debug, Default)]
pub struct CallsOfAMinute(Mutex<Page>);

impl CallsOfAMinute {
    /// The same as [`Ledger::take_call`].
    pub fn take(&self, most: NonZeroU32) -> Result<(), Duration> {
        // A poisoned lock is harmless: every change is one step.
        let mut page = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        page.take_call(most, since_1970())
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn damaged() -> io::Error {
    let why = "it is damaged; remove it to count today's amounts from now on";
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The date where the person is.
fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

/// The file's content. A longer one was not written by this program, and is cut.
fn whole(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Page {
    /// Reads it. `None` for one that this program has not written.
    fn read(bytes: &[u8]) -> Option<Self> {
        // A list would be read as one, without anything in it.
        let mut page: Self = serde_json::from_slice(bytes).ok().filter(|_| bytes[0] == b'{')?;
        if let (Some(date), Some(spent)) = (page.only_date.take(), page.only_spent.take()) {
            page.days.push_front(Day { date, spent });
        }
        Some(page)
    }

    /// The amounts of a day, which is then the newest.
    fn of(&mut self, date: &str) -> &mut Spent {
        let known = self.days.iter().position(|day| day.date == date);
        let day = known.and_then(|place| self.days.remove(place));
        let day = day.unwrap_or_else(|| Day { date: date.into(), spent: Spent::default() });
        while self.days.len() >= DAYS {
            self.days.pop_front();
        }
        self.days.push_back(day);
        let newest = self.days.len() - 1;
        &mut self.days[newest].spent
    }

    /// Takes amounts back that were expected, from the day for which they were.
    fn take_back(&mut self, expected: Option<Expected>) {
        let Some(Expected { date, spent }) = expected else { return };
        if let Some(day) = self.days.iter_mut().find(|day| day.date == date) {
            day.spent = day.spent.minus(spent);
        }
    }

    fn take_call(&mut self, most: NonZeroU32, now: Duration) -> Result<(), Duration> {
        let made = |at: u64| Duration::from_millis(at);
        // A clock that was set back leaves calls of the future: they count as made now.
        let latest = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        for at in &mut self.calls {
            *at = latest.min(*at);
        }
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
        fs_err::write(&ledger.path, text.replace(&today(), "2001-01-01")).unwrap();
        assert_eq!(ledger.add(one).unwrap(), one);
    }

    #[test]
    fn a_page_that_cannot_be_read_is_an_error_and_stays() {
        let root = tempfile::tempdir().unwrap();
        let ledger = ledger(&root);
        let five = Spent { tokens: 5, ..Spent::default() };
        ledger.add(five).unwrap();
        let right = fs_err::read_to_string(&ledger.path).unwrap();
        for wrong in [
            "",
            "{",
            "null",
            "[]",
            "\0\0\0\0",
            &right.replace(":5,", ":-5,"),
            &right.replace(":5,", ":5.5,"),
            &right.replace(":5,", ":1e400,"),
            &right.replace(":5,", ":18446744073709551616,"),
            &right.replace("tokens", "token"),
            &right.replacen('{', r#"{"days":[],"#, 1),
            &format!("{right}{}", " ".repeat(2 << 20)).replacen(' ', "x", 1),
        ] {
            fs_err::write(&ledger.path, wrong).unwrap();
            let error = ledger.add(five).unwrap_err();
            assert!(error.to_string().contains("spent.json"), "{error}");
            assert!(ledger.take_call(NonZeroU32::MAX).is_err(), "{wrong}");
            assert_eq!(fs_err::read_to_string(&ledger.path).unwrap(), wrong);
        }
        // The controls: as it was, and as an early version wrote it.
        fs_err::write(&ledger.path, right).unwrap();
        assert_eq!(ledger.add(five).unwrap().tokens, 10);
        let early = format!(r#"{{"day":"{}","spent":{{"tokens":7}},"calls":[]}}"#, today());
        fs_err::write(&ledger.path, early).unwrap();
        assert_eq!(ledger.add(five).unwrap().tokens, 12);
        assert_eq!(ledger.add(five).unwrap().tokens, 17);
    }

    #[test]
    fn nothing_but_a_regular_file_is_read() {
        let root = tempfile::tempdir().unwrap();
        let ledger = ledger(&root);
        ledger.today().unwrap();
        fs_err::remove_file(&ledger.path).unwrap();
        let (at, mode) = (rustix::fs::CWD, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(at, &ledger.path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(ledger.today().is_err());
    }

    #[test]
    fn amounts_grow_to_the_largest_number_and_no_further() {
        let root = tempfile::tempdir().unwrap();
        let ledger = ledger(&root);
        let most = Spent {
            turns: u64::MAX,
            tokens: u64::MAX,
            nano_dollars: u64::MAX,
            milliseconds: u64::MAX,
        };
        assert_eq!(ledger.add(most).unwrap(), most);
        assert_eq!(ledger.add(most).unwrap(), most);
        assert_eq!(ledger.today().unwrap(), most);
    }

    #[test]
    fn a_clock_that_goes_back_and_forth_finds_the_amounts_of_each_day() {
        let mut page = Page::default();
        let mut spend = |date: &str, tokens| {
            let amounts = page.of(date);
            *amounts = amounts.plus(Spent { tokens, ..Spent::default() });
            amounts.tokens
        };
        assert_eq!(spend("2026-03-28", 5), 5);
        // A machine whose clock is set only after its start, and one at the edge of the zones.
        for (date, tokens, sum) in [
            ("1970-01-01", 1, 1),
            ("2026-03-28", 5, 10),
            ("2026-03-29", 7, 7),
            ("2026-03-28", 0, 10),
            ("2026-03-29", 1, 8),
            ("2026-03-28", 1, 11),
            ("2099-12-31", 3, 3),
            ("2026-03-28", 1, 12),
        ] {
            assert_eq!(spend(date, tokens), sum, "{date}");
        }
        // Only days that are long gone are forgotten.
        for day in 1..=30 {
            assert_eq!(spend(&format!("2026-04-{day:02}"), 1), 1);
        }
        assert_eq!(spend("2026-04-29", 0), 1);
        assert_eq!(spend("2026-03-28", 0), 0);
        assert_eq!(page.days.len(), DAYS);
    }

    #[test]
    fn what_a_call_was_expected_to_take_stays_unless_it_is_settled() {
        let root = tempfile::tempdir().unwrap();
        let ledger = ledger(&root);
        let tokens = |tokens| Spent { tokens, ..Spent::default() };
        ledger.add(tokens(100)).unwrap();
        let first = ledger.expect(None, tokens(10)).unwrap();
        // Another process sees it at once.
        assert_eq!(ledger.today().unwrap(), tokens(110));
        let grown = ledger.expect(Some(first), tokens(30)).unwrap();
        assert_eq!(ledger.today().unwrap(), tokens(130));
        assert_eq!(ledger.settle(Some(grown), tokens(25)).unwrap(), tokens(125));
        // A process that is killed settles nothing.
        _ = ledger.expect(None, tokens(1_000)).unwrap();
        assert_eq!(ledger.today().unwrap(), tokens(1_125));
        // Over midnight: each day keeps its own.
        let late = Expected { date: "2001-01-01".into(), spent: tokens(500) };
        assert_eq!(ledger.settle(Some(late), tokens(5)).unwrap(), tokens(1_130));
        let all = ledger.expect(None, tokens(7)).unwrap();
        let text = fs_err::read_to_string(&ledger.path).unwrap();
        fs_err::write(&ledger.path, text.replace(&today(), "2001-01-01")).unwrap();
        let all = Expected { date: "2001-01-01".into(), ..all };
        assert_eq!(ledger.settle(Some(all), tokens(6)).unwrap(), tokens(6));
        let text = fs_err::read_to_string(&ledger.path).unwrap();
        assert!(text.contains(r#""tokens":1130"#), "{text}");
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

    #[test]
    fn a_clock_that_is_set_back_leaves_nobody_waiting_for_it() {
        let mut page = Page::default();
        let mut at = |seconds: u64| {
            page.take_call(NonZeroU32::new(2).unwrap(), Duration::from_secs(seconds))
        };
        // Years ahead, then as it should be.
        assert_eq!((at(4_000_000_000), at(4_000_000_001)), (Ok(()), Ok(())));
        assert_eq!(at(1_000), Err(MINUTE));
        assert_eq!(at(1_059), Err(Duration::from_secs(1)));
        assert_eq!(at(1_060), Ok(()));
        // A damaged number of the same file.
        page.calls = [u64::MAX, u64::MAX].into();
        let most = NonZeroU32::new(2).unwrap();
        assert_eq!(page.take_call(most, Duration::from_secs(2_000)), Err(MINUTE));
        assert_eq!(page.take_call(most, Duration::from_secs(2_060)), Ok(()));
    }
}
