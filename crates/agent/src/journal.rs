//! Records: gathered while nothing depends on them, written before anything happens.
//!
//! Entries that follow each other without anything being done in between are one transaction.
//! Large outputs are compressed and hashed on another thread meanwhile; their records keep their
//! places. Whoever is about to do something writes first: [`Journal::write`] returns when
//! everything that was noted is in the record.
//!
//! Must not give a record out before it is written.

use crate::error::chain;
use interpreter_core::{
    Body, Output, Record, Redactor, Untrusted,
    look::Look,
    output::{is_words, kind, words},
};
use interpreter_store::{
    Folders, Log, LogEntry, Outputs, PackedOutput, Restored, Retention, RunningSession, StoreError,
    UnsealedCode,
};
use std::{
    collections::VecDeque,
    fmt::Write,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// Bytes of output that may wait to be written. A smaller amount is still in the processor's cache.
const MUCH: usize = 2 << 20;

/// How long a record that nothing depends on may stay unwritten. The output of a short run is then
/// written together with its end.
const SOON: Duration = Duration::from_millis(1);

/// Outputs that one record names as pruned.
const PRUNED: usize = 1_000;

/// The record of one session.
#[derive(Debug)]
pub(crate) struct Journal {
    session: String,
    folders: Folders,
    log: Log,
    outputs: Arc<Outputs>,
    /// Says that the session runs, until the journal is dropped.
    _running: RunningSession,
    /// Records to write, in order, with the bytes of output in each.
    waiting: VecDeque<(usize, Waiting)>,
    /// Bytes of output among what waits.
    size: usize,
    /// When it must be written at the latest.
    due: Option<Instant>,
    /// The number of the newest record that is written.
    last: u64,
    /// Takes secrets out of everything but output, which comes without them.
    redactor: Arc<Redactor>,
    /// The client whose event is being taken in, if it has a name.
    who: Option<String>,
}

/// Something that is to go on record.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most are the large one, and move once")]
enum Waiting {
    /// It can.
    Ready(LogEntry),
    /// Its output gets a file of its own first, or its code is sealed.
    Keeping(JoinHandle<Result<LogEntry, StoreError>>),
}

impl Journal {
    pub(crate) fn new(
        running: RunningSession,
        folders: &Folders,
        log: Log,
        outputs: Outputs,
        redactor: Arc<Redactor>,
    ) -> Self {
        Self {
            session: running.id().to_owned(),
            folders: folders.clone(),
            log,
            outputs: Arc::new(outputs),
            _running: running,
            waiting: VecDeque::new(),
            size: 0,
            due: None,
            last: 0,
            redactor,
            who: None,
        }
    }

    /// From now on this client causes what is noted.
    pub(crate) fn heard(&mut self, who: Option<String>) {
        self.who = who;
    }

    /// From now on records are redacted with this, which knows more.
    pub(crate) fn redact_with(&mut self, redactor: Arc<Redactor>) {
        self.redactor = redactor;
    }

    /// Notes what happens now, without secrets.
    pub(crate) fn note(&mut self, body: Body) {
        let is_output = matches!(body, Body::Output(_));
        let code = UnsealedCode::of(&body);
        let body = if is_output { body } else { self.redactor.body(body) };
        let unsealed = code.filter(|code| !code.is_in(&body));
        let mut entry = LogEntry::now(body).by(self.who.clone());
        let size = Outputs::size(&entry.body);
        self.size += size;
        self.due.get_or_insert_with(|| Instant::now() + SOON);
        let waiting = if let Some(code) = unsealed {
            let folders = self.folders.clone();
            Waiting::Keeping(tokio::task::spawn_blocking(move || {
                code.seal(&folders, &mut entry.body)?;
                Ok(entry)
            }))
        } else if Outputs::is_large(&entry.body) {
            let outputs = Arc::clone(&self.outputs);
            Waiting::Keeping(tokio::task::spawn_blocking(move || {
                outputs.keep(&mut entry.body)?;
                Ok(entry)
            }))
        } else {
            Waiting::Ready(entry)
        };
        self.waiting.push_back((size, waiting));
    }

    /// Keeps what records that follow name by its hash.
    pub(crate) async fn keep_packed(&mut self, all: Vec<PackedOutput>) -> Result<(), StoreError> {
        if all.is_empty() {
            return Ok(());
        }
        let outputs = Arc::clone(&self.outputs);
        let kept = tokio::task::spawn_blocking(move || {
            all.iter().try_for_each(|packed| outputs.put_packed(packed))
        });
        kept.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// Whether everything that was noted is in the record.
    pub(crate) fn is_written(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The deadline for writing the pending records, if there are any.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether so much waits that it should be written before more is noted.
    pub(crate) fn is_full(&self) -> bool {
        self.size >= MUCH
    }

    /// Writes everything that was noted, all of it or nothing, and gives it out as records.
    pub(crate) async fn write(&mut self) -> Result<Vec<Record>, StoreError> {
        self.write_but(0).await
    }

    /// Writes the oldest of what was noted, so that there is room for more. The rest is hashed
    /// meanwhile, and the program that prints it goes on.
    pub(crate) async fn make_room(&mut self) -> Result<Vec<Record>, StoreError> {
        self.write_but(MUCH / 2).await
    }

    /// Writes from the oldest on, until no more than so many bytes of output wait.
    async fn write_but(&mut self, left: usize) -> Result<Vec<Record>, StoreError> {
        let mut entries = Vec::with_capacity(self.waiting.len());
        while let Some((size, waiting)) =
            self.waiting.pop_front_if(|_| left == 0 || self.size > left)
        {
            self.size -= size;
            entries.push(match waiting {
                Waiting::Ready(entry) => entry,
                Waiting::Keeping(task) => match task.await {
                    Ok(kept) => kept?,
                    // A bug, which must not pass for an output that was kept.
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                },
            });
        }
        if self.waiting.is_empty() {
            self.due = None;
        }
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let pruned = self.outputs.to_be_pruned();
        let told =
            pruned.chunks(PRUNED).map(|hashes| Body::OutputsPruned { hashes: hashes.into() });
        entries.extend(told.map(LogEntry::now));
        let first = self.log.append_all(&self.session, &entries)?;
        self.last = first + entries.len() as u64 - 1;
        self.outputs.prune(&pruned)?;
        let records = entries.into_iter().zip(first..);
        Ok(records.map(|(entry, seq)| entry.into_record(seq, &self.session)).collect())
    }

    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// The number of the newest record that is written.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Removes the oldest sessions, as far as the settings want it. The end of the next session
    /// tries a failure again, and its beginning tells of it.
    pub(crate) fn retain(&mut self, folders: &Folders, retention: Retention) {
        let failed = self.log.retain(folders, retention).err().map(|error| chain(&error));
        // Where nothing can be written, no session begins either.
        _ = Retention::note(folders, failed.as_deref()).is_ok();
    }
}

/// The requested part of a run's output, also of a run in the session that this one goes on from.
/// Everything must be written first.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is not what a run printed")]
pub(crate) fn look(
    folders: &Folders,
    session: &str,
    look: &Look,
) -> Result<Result<Untrusted, String>, StoreError> {
    let (log, outputs) = (Log::open_to_read(folders)?, Outputs::new(folders));
    let mut seen = Seen::new(look);
    let mut current = Some(session.to_owned());
    while let Some(session) = current.filter(|_| !seen.found) {
        for record in log.records(&session) {
            let mut body = record?.body;
            match &body {
                Body::RunStarted { proposal, .. } if *proposal == look.run => seen.found = true,
                Body::Output(Output { proposal, text, kept, mime, .. })
                    if *proposal == look.run =>
                {
                    let count = match kept {
                        Some(kept) if is_words(mime) => kept.characters,
                        Some(_) => kind(mime).chars().count() as u64,
                        None => words(mime, text).chars().count() as u64,
                    };
                    if seen.wants(count) {
                        let restored = outputs.restore(&mut body)?;
                        seen.take(&body, restored);
                    }
                    seen.total += count;
                }
                _ => {}
            }
        }
        current = log.resumed_from(&session)?;
    }
    Ok(seen.told())
}

/// The found part of an output.
struct Seen<'a> {
    look: &'a Look,
    /// Whether the run was found.
    found: bool,
    /// Characters that it has printed so far.
    total: u64,
    text: String,
}

impl<'a> Seen<'a> {
    fn new(look: &'a Look) -> Self {
        Self { look, found: false, total: 0, text: String::new() }
    }

    /// Whether some of the next so many characters are wanted.
    fn wants(&self, count: u64) -> bool {
        self.total < self.look.last && self.total + count >= self.look.first
    }

    fn take(&mut self, body: &Body, restored: Restored) {
        let Body::Output(Output { text, mime, .. }) = body else { return };
        if restored == Restored::Gone {
            self.text.push_str("[… part of it is no longer stored …]");
            return;
        }
        let skipped = (self.look.first - 1).saturating_sub(self.total);
        let wanted = self.look.last - self.total.max(self.look.first - 1);
        let number = |count| usize::try_from(count).unwrap_or(usize::MAX);
        self.text.extend(words(mime, text).chars().skip(number(skipped)).take(number(wanted)));
    }

    fn told(self) -> Result<Untrusted, String> {
        let Look { run, first, last, .. } = self.look;
        if !self.found {
            return Err(format!("this session has no run {run}"));
        }
        if self.total < *first {
            return Err(format!("{run} printed only {} characters", self.total));
        }
        let (last, total, mut text) = (self.total.min(*last), self.total, self.text);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        // Writing to a string cannot fail.
        _ = writeln!(text, "[characters {first} to {last} of {total} printed by {run}]");
        Ok(Untrusted::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::Stream;

    fn running(folders: &Folders) -> RunningSession {
        RunningSession::begin(folders, "s1").unwrap()
    }

    fn output(text: String) -> Body {
        Body::Output(Output::text("p1", Stream::Stdout, text))
    }

    #[tokio::test]
    async fn a_large_output_keeps_its_place_among_small_ones() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        let log = Log::open(&folders).unwrap();
        let mut journal =
            Journal::new(running(&folders), &folders, log, Outputs::new(&folders), Arc::default());
        let large = "x".repeat(1 << 20);
        journal.note(output("one".into()));
        journal.note(output(large.clone()));
        journal.note(output("three".into()));
        assert!(!journal.is_written());
        let records = journal.write().await.unwrap();
        assert!(journal.is_written());
        let texts: Vec<_> = records
            .iter()
            .map(|record| {
                let Body::Output(Output { text, kept, .. }) = &record.body else {
                    panic!("{record:?}")
                };
                (text.raw(), kept.is_some())
            })
            .collect();
        assert_eq!(texts, [("one", false), (large.as_str(), true), ("three", false)]);
        assert_eq!(records.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[tokio::test]
    async fn outputs_that_make_room_are_on_record_before_they_go() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        let log = Log::open(&folders).unwrap();
        let outputs = Outputs::bounded(&folders, 2_000);
        let mut journal = Journal::new(running(&folders), &folders, log, outputs, Arc::default());
        for letter in 'a'..='z' {
            // Some hundred bytes each, once compressed.
            journal.note(output(letter.to_string().repeat(60_000)));
            journal.write().await.unwrap();
        }
        let found = journal.log.verify_outputs(&journal.outputs).unwrap();
        assert!(found.pruned > 0 && found.whole > 0, "{found:?}");
        assert_eq!((found.pruned + found.whole, found.removed.len()), (26, 0), "{found:?}");
    }

    #[tokio::test]
    async fn any_part_of_an_output_can_be_seen() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        let log = Log::open(&folders).unwrap();
        let mut journal =
            Journal::new(running(&folders), &folders, log, Outputs::new(&folders), Arc::default());
        let pieces = ["é".repeat(30_000), "b".repeat(10), "c".repeat(50_000)];
        journal.note(Body::RunStarted {
            proposal: "p1".into(),
            hash: String::new(),
            backend: String::new(),
            enforced: vec![],
            missing: vec![],
        });
        for piece in &pieces {
            journal.note(output(piece.clone()));
        }
        journal.write().await.unwrap();
        let whole: Vec<char> = pieces.concat().chars().collect();
        let see = |run: &str, first, last| {
            look(&folders, "s1", &Look { call: None, run: run.into(), first, last }).unwrap()
        };
        for (first, last) in [(1, 5), (29_999, 30_012), (30_001, 30_010), (80_000, 90_000)] {
            let end = last.min(whole.len());
            let expected: String = whole[first - 1..end].iter().collect();
            let told = see("p1", first as u64, last as u64).unwrap();
            let note = format!("[characters {first} to {end} of 80010 printed by p1]\n");
            assert_eq!(told.raw(), format!("{expected}\n{note}"));
        }
        assert_eq!(see("p1", 80_011, 80_020), Err("p1 printed only 80010 characters".into()));
        assert_eq!(see("p2", 1, 2), Err("this session has no run p2".into()));
    }
}
