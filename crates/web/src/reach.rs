//! The sessions that a client can reach: those of one person, or also those shared by others.
//!
//! Whoever serves a client asks here before each thing that it gives out, so a share that was taken
//! back gives nothing more.

use crate::{
    Caller, SessionHub,
    protocol::{ProtocolError, Verb},
};
use serde_json::Value;
use std::{future::Future, sync::Arc};

/// The sessions of a server, as far as a caller reaches them.
pub(crate) trait Reach: Clone + Send + Sync + 'static {
    /// Performs a verb for a caller.
    fn perform_verb(
        &self,
        caller: &Caller,
        verb: Verb,
    ) -> impl Future<Output = Result<Value, ProtocolError>> + Send;

    /// The hub in which this session is, if it is anywhere and the caller may watch it.
    fn hub_of(&self, caller: &Caller, session: &str) -> Option<SessionHub>;

    /// The hubs in which there are sessions that the caller may watch.
    fn hubs(&self, caller: &Caller) -> Vec<SessionHub>;

    /// Waits until somebody wants the server to end.
    fn wanted_to_end(&self) -> impl Future<Output = ()> + Send;

    /// Ends every session in order.
    fn shut(&self) -> impl Future<Output = ()> + Send;

    /// Waits until nothing is under way, unless it is a question.
    fn quiet(&self) -> impl Future<Output = ()> + Send;
}

/// One person's sessions: whoever may call reaches them all.
impl Reach for SessionHub {
    async fn perform_verb(&self, caller: &Caller, verb: Verb) -> Result<Value, ProtocolError> {
        Self::perform_verb(self, caller, verb).await
    }

    fn hub_of(&self, _caller: &Caller, _session: &str) -> Option<SessionHub> {
        Some(self.clone())
    }

    fn hubs(&self, _caller: &Caller) -> Vec<SessionHub> {
        vec![self.clone()]
    }

    async fn wanted_to_end(&self) {
        Self::wanted_to_end(self).await;
    }

    async fn shut(&self) {
        Self::shut(self).await;
    }

    async fn quiet(&self) {
        Self::quiet(self).await;
    }
}

impl SessionHub {
    /// Whether both are the same sessions.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}
