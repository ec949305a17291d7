//! The cells of a session: from its records to the code that ran, in order, and what became of it.
//!
//! Pure. A cell that ran is one of the session's own; a cell that only ran again, to rebuild the
//! memory of an interpreter, is not listed twice. Must not run anything: `replaying.rs` asks first.

use super::words::INTERRUPTED;
use crate::{
    Body, FileChange, KernelRewound, MemoryRewound, Origin, Record, Rewound, Untrusted,
    hash::sha256,
};
use std::collections::{HashMap, HashSet};

/// A cell that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCell {
    /// Its id: `p3`.
    pub id: String,
    /// Who wrote it.
    pub origin: Origin,
    /// The name of its language.
    pub language: String,
    /// The code, as it is on record.
    pub code: Untrusted,
    /// Whether that is the code that ran. A secret in it is not on record.
    pub is_whole: bool,
    /// When it ran, as RFC 3339 in UTC.
    pub time: String,
    /// How it ended.
    pub end: CellEnd,
    /// Whether its variables are still there.
    pub memory: CellMemory,
    /// Files that were not staged before it.
    pub files: Vec<FileChange>,
}

/// How a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellEnd {
    /// Well.
    Done,
    /// With an error of its own.
    Failed,
    /// It was interrupted or reached a limit, or its interpreter ended.
    Stopped,
}

/// Whether the variables of a cell are still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMemory {
    /// They are there.
    Kept,
    /// They went with their interpreter.
    Lost,
    /// The person restarted the interpreter to be rid of them.
    Cleared,
}

impl PastCell {
    /// The cells that records of a session tell of, behind those of the session that it goes on
    /// from. Those before which the person went back do not count.
    pub fn all(earlier: &[Self], records: &[Record]) -> Vec<Self> {
        let mut fold = Fold { cells: earlier.to_vec(), ..Fold::default() };
        for cell in &mut fold.cells {
            cell.lose();
        }
        let mut moments = Moments::of(records);
        for (at, Record { body, time, .. }) in records.iter().enumerate() {
            moments.pass(at, &fold.cells);
            let Body::Rewound { to, .. } = body else {
                fold.take(body, time);
                continue;
            };
            let cell = fold.cells[earlier.len()..].iter().position(|cell| cell.id == *to);
            if let (Some(cell), Some(then)) = (cell, moments.before(to)) {
                fold.cells.truncate(earlier.len() + cell);
                for (cell, then) in fold.cells.iter_mut().zip(then) {
                    cell.memory = *then;
                }
            }
        }
        fold.cells
    }

    /// The records of a session that come before one of its cells. `None` if it has none of that id.
    pub fn before<'a>(records: &'a [Record], cell: &str) -> Option<&'a [Record]> {
        before(records, cell).map(|end| &records[..end])
    }

    /// The id of a cell that a person names by its id or its number.
    pub fn named(text: &str) -> String {
        let is_number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        if is_number { format!("p{text}") } else { text.to_owned() }
    }

    fn lose(&mut self) {
        if self.memory == CellMemory::Kept {
            self.memory = CellMemory::Lost;
        }
    }
}

/// How many of the records come before a cell, so that they tell of the conversation without it.
/// With the first code that a prompt led to, the prompt itself is left out.
pub(super) fn before(records: &[Record], cell: &str) -> Option<usize> {
    let is_it = |body: &Body| matches!(body, Body::Proposal { id, .. } if id == cell);
    let at = records.iter().position(|record| is_it(&record.body))?;
    Some(before_proposal(records, at))
}

/// The same for the cell that is proposed in a record.
pub(super) fn before_proposal(records: &[Record], at: usize) -> usize {
    let Body::Proposal { origin: Origin::Model, .. } = &records[at].body else { return at };
    let is_reply = |record: &Record| matches!(record.body, Body::Reply { .. });
    let Some(reply) = records[..at].iter().rposition(is_reply) else { return at };
    let is_code = |record: &Record| matches!(record.body, Body::Proposal { .. });
    if records[reply..at].iter().any(is_code) {
        return at;
    }
    let is_prompt = |record: &Record| matches!(record.body, Body::Prompt { .. });
    let prompt = records[..reply].iter().rposition(is_prompt);
    prompt.filter(|prompt| !records[*prompt..reply].iter().any(is_reply)).unwrap_or(reply)
}

/// The moments to which somebody goes back, and the memory of the cells at each of them: noted as
/// the records pass by, because to work out the past anew each time is work without end.
struct Moments<'a> {
    /// How many records come before each cell that somebody goes back to.
    ends: HashMap<&'a str, usize>,
    memory: HashMap<usize, Vec<CellMemory>>,
    wanted: HashSet<usize>,
}

impl<'a> Moments<'a> {
    fn of(records: &'a [Record]) -> Self {
        let targets: HashSet<_> = records
            .iter()
            .filter_map(|record| {
                let Body::Rewound { to, .. } = &record.body else { return None };
                Some(to.as_str())
            })
            .collect();
        let mut ends = HashMap::new();
        for (at, record) in records.iter().enumerate() {
            let Body::Proposal { id, .. } = &record.body else { continue };
            // The first of an id counts.
            if targets.contains(id.as_str()) && !ends.contains_key(id.as_str()) {
                ends.insert(id.as_str(), before_proposal(records, at));
            }
        }
        let wanted = ends.values().copied().collect();
        Self { ends, memory: HashMap::new(), wanted }
    }

    /// So many records have passed.
    fn pass(&mut self, at: usize, cells: &[PastCell]) {
        if self.wanted.contains(&at) {
            self.memory.insert(at, cells.iter().map(|cell| cell.memory).collect());
        }
    }

    /// The memory of the cells before this one.
    fn before(&self, cell: &str) -> Option<&[CellMemory]> {
        self.memory.get(self.ends.get(cell)?).map(Vec::as_slice)
    }
}

/// The cells so far, and what is known of those to come.
#[derive(Default)]
struct Fold {
    cells: Vec<PastCell>,
    proposed: HashMap<String, Proposed>,
    /// Whether the person interrupted what runs.
    interrupted: bool,
    /// The files that are staged.
    listed: Vec<FileChange>,
    /// Languages whose interpreter was started afresh for the cells that run again now.
    fresh: HashSet<String>,
}

struct Proposed {
    origin: Origin,
    language: String,
    code: Untrusted,
    again: Option<String>,
}

impl Fold {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest is not about cells")]
    fn take(&mut self, body: &Body, time: &str) {
        match body {
            Body::Proposal { id, origin, language, code, again, .. } => {
                let (code, again) = (code.clone(), again.clone());
                let proposed =
                    Proposed { origin: *origin, language: language.clone(), code, again };
                self.proposed.insert(id.clone(), proposed);
            }
            Body::Answer { proposal, code: Some(code), .. } => {
                if let Some(proposed) = self.proposed.get_mut(proposal) {
                    proposed.code = code.clone();
                }
            }
            Body::RunStarted { proposal, hash, .. } => self.started(proposal, hash, time),
            Body::CameBack(Rewound { kernels, .. }) => {
                for KernelRewound { language, memory } in kernels {
                    if !matches!(memory, MemoryRewound::Restored { .. }) {
                        self.lose(language.name());
                    }
                }
            }
            Body::Replay { .. } => self.fresh.clear(),
            Body::Note { text } if text == INTERRUPTED => self.interrupted = true,
            Body::LongRun { may_continue: false, .. } => self.interrupted = true,
            Body::Effects { proposal, files, .. } => {
                let new: Vec<_> =
                    files.iter().filter(|file| !self.listed.contains(file)).cloned().collect();
                if let Some(cell) = self.cell(proposal) {
                    cell.files = new;
                }
                self.listed.clone_from(files);
            }
            Body::RunFinished { proposal, status, signal, limit, kernel_ended, .. } => {
                let stopped = signal.is_some() || limit.is_some() || *kernel_ended;
                let end = match status {
                    _ if stopped || self.interrupted => CellEnd::Stopped,
                    Some(0) => CellEnd::Done,
                    Some(_) | None => CellEnd::Failed,
                };
                self.finished(proposal, end, *kernel_ended);
            }
            Body::Restarted { languages } => {
                let cells = self.cells.iter_mut();
                for cell in cells.filter(|cell| languages.contains(&cell.language)) {
                    cell.memory = CellMemory::Cleared;
                }
            }
            _ => {}
        }
    }

    /// The cell of this proposal; that which runs again, if it does.
    fn cell(&mut self, proposal: &str) -> Option<&mut PastCell> {
        let again = self.proposed.get(proposal).and_then(|one| one.again.as_deref());
        let id = again.unwrap_or(proposal);
        self.cells.iter_mut().rev().find(|cell| cell.id == id)
    }

    fn started(&mut self, id: &str, hash: &str, time: &str) {
        self.interrupted = false;
        let Some(proposed) = self.proposed.get(id) else { return };
        if proposed.again.is_some() {
            let language = proposed.language.clone();
            if self.fresh.insert(language.clone()) {
                self.lose(&language);
            }
            return;
        }
        // Code that waited for a package begins twice.
        if self.cells.last().is_some_and(|cell| cell.id == id) {
            return;
        }
        let Proposed { origin, language, code, .. } = proposed;
        self.cells.push(PastCell {
            id: id.to_owned(),
            origin: *origin,
            language: language.clone(),
            is_whole: sha256(code.raw().as_bytes()) == hash,
            code: code.clone(),
            time: time.to_owned(),
            end: CellEnd::Stopped,
            memory: CellMemory::Kept,
            files: Vec::new(),
        });
    }

    fn finished(&mut self, proposal: &str, end: CellEnd, kernel_ended: bool) {
        let again = self.proposed.get(proposal).is_some_and(|one| one.again.is_some());
        let Some(cell) = self.cell(proposal) else { return };
        if again {
            cell.memory = CellMemory::Kept;
        } else {
            cell.end = end;
        }
        let language = cell.language.clone();
        if kernel_ended {
            self.lose(&language);
        }
    }

    /// The interpreter of a language is gone.
    fn lose(&mut self, language: &str) {
        let cells = self.cells.iter_mut();
        cells.filter(|cell| cell.language == language).for_each(PastCell::lose);
    }
}
