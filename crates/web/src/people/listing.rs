//! The sessions of others in a person's list.

use super::team::{TeamHub, person};
use crate::{Caller, hub::listing::rows_of, protocol::ProtocolError};
use serde_json::Value;

impl TeamHub {
    /// Puts the sessions that are shared with a caller, and their questions, before their own: those
    /// that run, and as many others as leave half of the list to the caller's.
    pub(super) async fn add_shared(
        &self,
        caller: &Caller,
        limit: Option<usize>,
        listed: &mut Value,
    ) -> Result<(), ProtocolError> {
        let reached: Vec<_> = {
            let shares = self.team.shares();
            let ways = shares.reached(person(caller));
            ways.map(|(session, way)| (session.to_owned(), way)).collect()
        };
        let most = rows_of(limit);
        let mut past = 0;
        if reached.is_empty() {
            return Ok(());
        }
        let names = self.names().await?;
        let (mut rows, mut questions) = (Vec::new(), Vec::new());
        // The newest first, as everywhere: ids are in the order of time.
        for (session, way) in reached.into_iter().rev() {
            let Ok(hub) = self.team.hub(&way.owner) else { continue };
            let is_past = hub.shared.find(&session).is_none_or(|held| held.has_ended());
            if is_past && past >= most / 2 {
                continue;
            }
            // Its owner has deleted it, or their record cannot be read: that is theirs to see to.
            let Ok(mut one) = hub.list_one(&session).await else { continue };
            past += usize::from(is_past);
            let mut row = one["sessions"][0].take();
            row["owner"] = names.get(&way.owner).cloned().into();
            row["shared"] = way.kind.word().into();
            rows.push(row);
            if let Value::Array(open) = one["questions"].take() {
                questions.extend(open);
            }
        }
        let running = self.own(caller)?.shared.running().len();
        let most = most.max(rows.len() + running);
        for (name, mut first) in [("sessions", rows), ("questions", questions)] {
            if let Some(own) = listed[name].as_array_mut() {
                first.append(own);
                *own = first;
            }
        }
        if let Some(rows) = listed["sessions"].as_array_mut() {
            rows.truncate(most);
        }
        Ok(())
    }
}
