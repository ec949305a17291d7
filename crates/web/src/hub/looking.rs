//! Looks at the server: settings, machine, record, models. Changes nothing.
//!
//! Slow work goes to a thread for that. Examinations of the machine and of the whole record are made
//! one at a time: whoever comes meanwhile is refused and not queued. Everything that is listed has a
//! bound, and no setting is shown with a secret.

use super::{
    SessionHub,
    opening::{context, unknown},
    reading::{elsewhere, failed, on_record},
    weights::follow_downloads,
};
use crate::{
    Caller,
    protocol::{ErrorCode, LookAt, LookWish, ProtocolError},
};
use interpreter_agent::{AgentError, Context, doctor::examine, embedded, models};
use interpreter_store::{
    Anchor, AnchorCheck, KeptOutputs, Log, Outputs, RecordState, SettingRow, StoreError,
    Verification,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{runtime::Handle, sync::OwnedMutexGuard, time::timeout};

/// An examination of the machine that takes longer is given up.
const LONGEST_EXAMINATION: Duration = Duration::from_mins(2);

/// Faults of the record that are listed, of each kind.
const MOST_FAULTS: usize = 100;

/// Records of one page, unless the request names a number, and at most.
const USUAL: usize = 200;
const MOST: usize = 500;

/// Bytes after which a page ends, and records that a search looks through for one.
const MOST_BYTES: usize = 512 << 10;
const MOST_SEARCHED: usize = 20_000;

/// The longest text that is searched for, in bytes.
const LONGEST_SEARCH: usize = 200;

impl SessionHub {
    /// The view that somebody wants, who has the right.
    pub(super) async fn look(
        &self,
        caller: &Caller,
        wish: LookWish,
    ) -> Result<Value, ProtocolError> {
        let LookWish { at, session, after, limit, search, anchor } = wish;
        match (at, session) {
            (LookAt::Settings, _) => self.settings().await,
            (LookAt::Doctor, _) => self.doctor().await,
            (LookAt::Models, _) => self.models().await,
            (LookAt::Me, _) => Ok(json!({ "me": caller.told() })),
            (LookAt::Record, None) => self.whole_record(anchor).await,
            (LookAt::Record, Some(session)) => self.records(&session, after, limit, search).await,
        }
    }

    /// The context of the server's own folder.
    async fn own_context(&self) -> Result<Context, ProtocolError> {
        let shared = Arc::clone(&self.shared);
        elsewhere(move || {
            let setup = &shared.setup;
            context(&shared, &setup.work_folder, &setup.overrides).map_err(|error| failed(&error))
        })
        .await
    }

    /// Takes the place of whoever examines something.
    pub(super) fn examine_alone(&self) -> Result<OwnedMutexGuard<()>, ProtocolError> {
        Arc::clone(&self.shared.examining).try_lock_owned().map_err(|_| {
            ProtocolError::new(ErrorCode::Busy, "an examination is under way")
                .hint("ask again when it is done")
        })
    }

    /// The settings of the server's folder, with their origins.
    async fn settings(&self) -> Result<Value, ProtocolError> {
        let context = self.own_context().await?;
        let rows: Vec<_> = context.settings.rows().iter().map(SettingRow::json).collect();
        Ok(json!({ "settings": rows }))
    }

    /// Examines the machine. It goes on to its end if the client leaves, so that everything which
    /// was built is removed again.
    async fn doctor(&self) -> Result<Value, ProtocolError> {
        let alone = self.examine_alone()?;
        let context = self.own_context().await?;
        elsewhere(move || {
            let examined = timeout(LONGEST_EXAMINATION, examine(&context));
            let report = Handle::current().block_on(examined);
            drop(alone);
            let Ok(report) = report else {
                let text = "the examination took too long";
                return Err(ProtocolError::new(ErrorCode::Failed, text));
            };
            Ok(json!({ "doctor": {
                "ready": report.is_ready(), "verdict": report.verdict(),
                "problems": report.problems(), "rows": report.rows(), "report": report,
            } }))
        })
        .await
    }

    /// The models that can be used, as far as this machine tells, with the embedded ones and the
    /// parts of them that are here.
    async fn models(&self) -> Result<Value, ProtocolError> {
        let context = self.own_context().await?;
        let mut all = self.models_of(&context).await?;
        follow_downloads(&self.shared);
        let shared = Arc::clone(&self.shared);
        let weights = elsewhere(move || Ok(embedded::rows(&shared.folders))).await?;
        all["embedded"] = json!({ "engine": embedded::ENGINE, "models": weights });
        Ok(all)
    }

    async fn models_of(&self, context: &Context) -> Result<Value, ProtocolError> {
        let failed = |error: AgentError| failed(&error);
        let mut all = Vec::new();
        for place in models::list(context).await.map_err(failed)? {
            let usual = models::usual(context, &place.name).map_err(failed)?;
            let served = place.found.iter().flat_map(|found| found.models.iter().flatten());
            let names: Vec<String> = usual.iter().chain(served).cloned().collect();
            let mut row = json!({
                "name": place.name, "title": place.title, "local": place.local,
                "ready": place.is_ready(), "models": names,
            });
            if let Some(missing) = place.missing() {
                row["missing"] = missing.into();
            }
            all.push(row);
        }
        // By its name in the record, which leads to no file.
        let current = context.talks_to().ok();
        Ok(
            json!({ "models": all, "current": current, "offered": context.offers().map_err(failed)? }),
        )
    }

    /// Whether the record is whole, and whether an anchor holds.
    async fn whole_record(&self, anchor: Option<String>) -> Result<Value, ProtocolError> {
        let anchor = anchor.map(|line| line.parse::<Anchor>()).transpose();
        let anchor = anchor
            .map_err(|error| ProtocolError { code: ErrorCode::Malformed, ..failed(&error) })?;
        let alone = self.examine_alone()?;
        on_record(&self.shared.folders, move |log, folders| {
            let verification = log.verify()?;
            let outputs = log.verify_outputs(&Outputs::new(folders))?;
            let check = anchor.map(|anchor| log.check_anchor(&anchor)).transpose()?;
            drop(alone);
            Ok(json!({ "record": told(&verification, &outputs, check.as_ref()) }))
        })
        .await
    }

    /// Records of a session as they are kept, a page at a time.
    async fn records(
        &self,
        id: &str,
        after: Option<u64>,
        limit: Option<usize>,
        search: Option<String>,
    ) -> Result<Value, ProtocolError> {
        if search.as_ref().is_some_and(|words| words.len() > LONGEST_SEARCH) {
            let text = format!("look: `search` is longer than {LONGEST_SEARCH} bytes");
            return Err(ProtocolError::new(ErrorCode::Malformed, text));
        }
        if let Some(held) = self.shared.find(id)
            && !held.has_ended()
        {
            held.session.written().await;
        }
        let session = id.to_owned();
        let found = on_record(&self.shared.folders, move |log, _| {
            let Some(summary) = log.session(&session)? else { return Ok(None) };
            let after = after.unwrap_or_default();
            let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
            let page = KeptPage::read(log, &session, after, limit, search.as_deref())?;
            let mut told = json!({
                "session": session, "of": summary.records, "after": page.last,
                "more": page.has_more, "records": page.records,
            });
            // Once is enough for all pages.
            if after == 0 {
                let broken = log.verify_session(&session)?;
                told["whole"] = broken.is_none().into();
                told["broken"] = json!(broken.map(|broken| broken.to_string()));
            }
            Ok(Some(told))
        });
        found.await?.ok_or_else(|| unknown(id))
    }
}

/// Records of a session as they are kept: a large output is named by its hash.
struct KeptPage {
    records: Vec<Value>,
    /// The number of the last one that was looked at.
    last: u64,
    /// Whether others follow.
    has_more: bool,
}

impl KeptPage {
    fn read(
        log: &Log,
        session: &str,
        after: u64,
        limit: usize,
        search: Option<&str>,
    ) -> Result<Self, StoreError> {
        let words = search.map(str::to_lowercase);
        let mut page = Self { records: Vec::new(), last: after, has_more: false };
        let (mut bytes, mut passed) = (0, 0);
        for record in log.records_after(session, after) {
            if page.records.len() >= limit || bytes > MOST_BYTES || passed >= MOST_SEARCHED {
                page.has_more = true;
                break;
            }
            let record = record?;
            let line = serde_json::to_string(&record)
                .map_err(|source| StoreError::Unwritable { source })?;
            page.last = record.seq;
            passed += 1;
            if words.as_ref().is_none_or(|words| line.to_lowercase().contains(words)) {
                bytes += line.len();
                page.records.push(json!(record));
            }
        }
        Ok(page)
    }
}

/// The outcome of an examination of the record.
fn told(found: &Verification, outputs: &KeptOutputs, check: Option<&AnchorCheck>) -> Value {
    let place = |(session, seq): &(String, u64)| json!({ "session": session, "seq": seq });
    let places =
        |all: &[(String, u64)]| -> Vec<Value> { all.iter().take(MOST_FAULTS).map(place).collect() };
    let breaks: Vec<_> = found
        .breaks
        .iter()
        .take(MOST_FAULTS)
        .map(|one| json!({ "session": one.session, "seq": one.seq, "why": one.reason.to_string() }))
        .collect();
    let accepted: Vec<_> = found
        .accepted
        .iter()
        .take(MOST_FAULTS)
        .map(|(session, why)| json!({ "session": session, "why": why }))
        .collect();
    let state = Some(&found.state).filter(|state| **state != RecordState::Whole);
    let is_whole = found.is_whole() && outputs.altered.is_empty() && outputs.removed.is_empty();
    let holds = check.is_none_or(|check| check.faults.is_empty());
    let anchor = check.map(|check| {
        let faults = check.faults.iter().take(MOST_FAULTS).map(ToString::to_string);
        json!({
            "holds": check.faults.is_empty(), "records": check.records,
            "sessions": check.sessions, "removed": check.removed,
            "faults": faults.collect::<Vec<_>>(),
        })
    });
    json!({
        "whole": is_whole && holds,
        "records": found.records,
        "sessions": found.sessions,
        "breaks": breaks,
        "accepted": accepted,
        "removed": found.removed,
        "missing": found.missing.map(|missing| missing.to_string()),
        "state": state.map(ToString::to_string).or_else(|| found.foreign.clone()),
        "outputs": {
            "whole": outputs.whole, "pruned": outputs.pruned,
            "altered": places(&outputs.altered), "removed": places(&outputs.removed),
        },
        "anchor": anchor,
    })
}
