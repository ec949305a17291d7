//! The conversation and the cells of an earlier session, to go on with it.
//!
//! Only records whose chain is whole are taken: what a model once said decides what it says next,
//! and what ran once may run again.

use crate::{AgentError, Context, Mode};
use interpreter_core::{
    Body, Record,
    session::{Approval, Earlier, PastCell, Rewind},
};
use interpreter_store::{Log, RunningSession, SessionFilter, SessionSummary};

/// How many of the newest sessions in this folder are looked at for a chat.
const LOOKED_AT: usize = 1_000;

/// How many sessions that go on from each other are followed back.
const FOLLOWED: usize = 100;

/// Why the question of a session is not asked again.
pub(crate) const RUNS: &str = "that session still runs and asks its question itself";
pub(crate) const CONTINUED: &str =
    "the question of that session was asked again in another session, and is not asked here";

impl Context {
    /// The conversation of the session whose id is, begins or ends with `id`; without one, of the
    /// newest chat in this folder, of those that were held here. With `before`, as it was before that
    /// cell.
    pub fn earlier(&self, id: Option<&str>, before: Option<&str>) -> Result<Earlier, AgentError> {
        let refused = |reason: String| AgentError::Resume { reason };
        let log = Log::open_to_read(&self.folders)?;
        let id = match id {
            Some(id) => log.find_session(id)?,
            None => self.newest_chat(&log)?.ok_or_else(|| {
                refused(format!("there is no earlier chat in {}", self.work_folder.display()))
            })?,
        };
        let records = whole(&log, &id)?;
        let setup = self.setup(self.profile(None, &[]), Approval::AlwaysAsk, Mode::Chat);
        let before = before.map(PastCell::named);
        let Some(mut earlier) = Earlier::of(&id, setup, &records, before.as_deref()) else {
            let cell = before.unwrap_or_default();
            return Err(refused(format!("session {id} has no code `{cell}`")));
        };
        match (earlier.messages.is_empty(), &before) {
            (true, Some(cell)) => return Err(refused(format!("nothing was said before {cell}"))),
            // Code of the person's own may still wait for a yes.
            (true, None) if earlier.question().is_none() => {
                return Err(refused(format!("no model took part in session {id}")));
            }
            (true, None) | (false, _) => {}
        }
        let seq = earlier.at.take().map(|at| at.seq);
        earlier.at = seq.map(|seq| log.head_at(&id, seq)).transpose()?.flatten();
        // The session that goes on makes sure of it.
        if earlier.question().is_some() {
            if RunningSession::is(&self.folders, &id)? {
                earlier.refuse_question(RUNS);
            } else if log.is_continued(&id)? {
                earlier.refuse_question(CONTINUED);
            }
        }
        Ok(earlier)
    }

    /// The cells that ran in a session, behind those of the sessions that it goes on from.
    pub fn cells(&self, session: &str) -> Result<Vec<PastCell>, AgentError> {
        self.cells_until(session, None)
    }

    /// The cells that ran before an earlier conversation was left.
    pub fn cells_before(&self, earlier: &Earlier) -> Result<Vec<PastCell>, AgentError> {
        self.cells_until(&earlier.session, earlier.before.clone())
    }

    /// The way back to before a cell of a session that runs. `None` if no such cell ran in it.
    pub fn rewind(&self, session: &str, cell: &str) -> Result<Option<Rewind>, AgentError> {
        let log = Log::open_to_read(&self.folders)?;
        let records = whole(&log, session)?;
        let earlier = match resumed_from(&records, session) {
            Some((id, before)) => self.cells_until(&id, before)?,
            None => Vec::new(),
        };
        let setup = self.setup(self.profile(None, &[]), Approval::AlwaysAsk, Mode::Chat);
        Ok(Rewind::to(&PastCell::named(cell), setup, &earlier, &records))
    }

    /// The cells that ran in a session itself.
    pub fn own_cells(&self, session: &str) -> Result<Vec<PastCell>, AgentError> {
        let log = Log::open_to_read(&self.folders)?;
        Ok(PastCell::all(&[], &whole(&log, session)?))
    }

    fn cells_until(&self, id: &str, until: Option<String>) -> Result<Vec<PastCell>, AgentError> {
        let log = Log::open_to_read(&self.folders)?;
        let mut sessions = Vec::new();
        let (mut id, mut until) = (id.to_owned(), until);
        loop {
            let mut records = whole(&log, &id)?;
            if let Some(end) = until.and_then(|cell: String| PastCell::before(&records, &cell)) {
                records.truncate(end.len());
            }
            let from = resumed_from(&records, &id);
            sessions.push(records);
            match from {
                Some((earlier, before)) if sessions.len() < FOLLOWED => {
                    (id, until) = (earlier, before);
                }
                Some(_) | None => break,
            }
        }
        let oldest_first = sessions.iter().rev();
        Ok(oldest_first.fold(Vec::new(), |earlier, records| PastCell::all(&earlier, records)))
    }

    fn newest_chat(&self, log: &Log) -> Result<Option<String>, AgentError> {
        let here = SessionFilter { newest: LOOKED_AT, work_folder: Some(self.work_folder.clone()) };
        let is_chat = |one: &SessionSummary| one.first_prompt.is_some() && !one.is_imported;
        Ok(log.sessions(&here)?.into_iter().find(is_chat).map(|one| one.id))
    }
}

/// The records of a session whose chain is whole, without what was printed.
fn whole(log: &Log, id: &str) -> Result<Vec<Record>, AgentError> {
    if let Some(fault) = log.verify_session(id)? {
        return Err(AgentError::Resume { reason: fault.to_string() });
    }
    let is_printed = |record: &Record| matches!(record.body, Body::Output(_));
    let records = log.records(id).filter(|record| !record.as_ref().is_ok_and(is_printed));
    Ok(records.collect::<Result<_, _>>()?)
}

/// The session that these records go on from, and the cell before which they left it.
fn resumed_from(records: &[Record], session: &str) -> Option<(String, Option<String>)> {
    let from = |record: &Record| {
        let Body::Resumed { from, before, .. } = &record.body else { return None };
        Some((from.clone(), before.clone()))
    };
    // Ids sort by age: nothing goes on from itself, or from a later one.
    records.iter().find_map(from).filter(|(earlier, _)| earlier.as_str() < session)
}
