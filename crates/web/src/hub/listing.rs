//! The list of sessions: those that run, then those on record.

use super::{
    SessionHub,
    held::HeldSession,
    opening::unknown,
    reading::on_record,
    row::{OpenQuestion, Row},
    waking::{waiting, waiting_of},
};
use crate::protocol::{ErrorCode, ProtocolError};
use interpreter_core::RecordedQuestion;
use interpreter_store::{SessionFilter, SessionSummary};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Sessions of one list, unless the request names a number, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;

/// The number of sessions in a list, given the number asked for.
pub(crate) fn rows_of(limit: Option<usize>) -> usize {
    limit.unwrap_or(USUAL).clamp(1, MOST)
}

/// Records that a search looks through for each session of its list.
const HITS: usize = 10;

/// A session on record, and the question that it ended with.
type PastSession = (SessionSummary, Option<RecordedQuestion>);

/// Questions of a session, each with its name.
fn named(session: &str, questions: impl IntoIterator<Item = OpenQuestion>) -> Vec<Value> {
    let named = |question| {
        let mut entry = serde_json::to_value(&question).unwrap_or_default();
        entry["session"] = session.into();
        entry
    };
    questions.into_iter().map(named).collect()
}

fn open_questions(held: &HeldSession) -> Vec<Value> {
    named(&held.id, held.questions())
}

/// The row of a session on record, and its question.
fn past_row((summary, question): PastSession) -> (Row, Vec<Value>) {
    let row = Row::of_past(&summary, usize::from(question.is_some()));
    (row, named(&summary.id, question.map(OpenQuestion::new)))
}

impl SessionHub {
    /// The list, newest first, and every open question.
    pub(super) async fn list(
        &self,
        search: Option<String>,
        limit: Option<usize>,
        before: Option<String>,
    ) -> Result<Value, ProtocolError> {
        let limit = rows_of(limit);
        let running = self.shared.running();
        let mut questions: Vec<_> = running.iter().flat_map(|held| open_questions(held)).collect();
        let mut rows = Vec::new();
        if search.is_none() && before.is_none() {
            rows.extend(running.iter().rev().map(|held| json!(held.row())));
        }
        let here: HashSet<String> = running.into_iter().map(|held| held.id.clone()).collect();
        match search {
            Some(words) => rows.extend(self.found(&words, limit, before).await?),
            None => {
                for (row, open) in
                    self.earlier(&here, limit, before).await?.into_iter().map(past_row)
                {
                    rows.push(json!(row));
                    questions.extend(open);
                }
            }
        }
        rows.truncate(limit.max(here.len()));
        Ok(json!({ "sessions": rows, "questions": questions }))
    }

    /// One session, and its open questions.
    pub(crate) async fn list_one(&self, id: &str) -> Result<Value, ProtocolError> {
        let held = self.shared.find(id);
        if let Some(held) = held.as_ref().filter(|held| !held.has_ended()) {
            return Ok(json!({ "sessions": [held.row()], "questions": open_questions(held) }));
        }
        let wanted = id.to_owned();
        let past = on_record(&self.shared.folders, move |log, folders| {
            let Some(summary) = log.session(&wanted)? else { return Ok(None) };
            Ok(Some((summary, waiting(log, folders, &wanted)?)))
        });
        let (mut row, questions) = past_row(past.await?.ok_or_else(|| unknown(id))?);
        if let Some(held) = held {
            // It knows more than the record says at a glance.
            row = Row { questions: row.questions, ..held.row() };
        }
        Ok(json!({ "sessions": [row], "questions": questions }))
    }

    /// Sessions on record that do not run here.
    async fn earlier(
        &self,
        here: &HashSet<String>,
        limit: usize,
        before: Option<String>,
    ) -> Result<Vec<PastSession>, ProtocolError> {
        let filter = SessionFilter { newest: limit + here.len(), work_folder: None };
        let here = here.clone();
        on_record(&self.shared.folders, move |log, folders| {
            let found = match before {
                Some(before) => log.sessions_before(&filter, &before)?,
                None => log.sessions(&filter)?,
            };
            let past = found.into_iter().filter(|one| !here.contains(&one.id)).take(limit);
            let past: Vec<_> = past.collect();
            let open = waiting_of(log, folders, &past)?;
            Ok(past.into_iter().zip(open).collect())
        })
        .await
    }

    /// Sessions in which something was said, run or printed.
    async fn found(
        &self,
        words: &str,
        limit: usize,
        before: Option<String>,
    ) -> Result<Vec<Value>, ProtocolError> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if !words.iter().any(|word| word.chars().any(char::is_alphanumeric)) {
            let text = "list: there is no word to search for";
            return Err(ProtocolError::new(ErrorCode::Malformed, text));
        }
        let found = on_record(&self.shared.folders, move |log, folders| {
            let mut seen = HashSet::new();
            let mut found = Vec::new();
            for hit in log.search(folders, &words, limit * HITS, |_| {})? {
                let id = hit.record.session.clone();
                let is_older = before.as_ref().is_none_or(|before| id < *before);
                if !is_older || found.len() >= limit || !seen.insert(id.clone()) {
                    continue;
                }
                if let Some(summary) = log.session(&id)? {
                    found.push((summary, hit.excerpt));
                }
            }
            Ok(found)
        });
        let row = |(summary, excerpt): (SessionSummary, _)| {
            let held = self.shared.find(&summary.id).map(|held| held.row());
            let mut row = json!(held.unwrap_or_else(|| Row::of_past(&summary, 0)));
            row["excerpt"] = json!(excerpt);
            row
        };
        Ok(found.await?.into_iter().map(row).collect())
    }
}
