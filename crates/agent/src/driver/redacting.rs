//! Takes secrets out of events before they are recorded, decided on, shown or sent.

use super::Driver;
use crate::AgentError;
use interpreter_core::{Secret, redact::RedactedOutput, session::Event};
use interpreter_exec::Command;
use std::sync::Arc;

impl Driver {
    /// Takes the secrets out of an event, and takes it in.
    pub(super) async fn happened(&mut self, event: Event) -> Result<(), AgentError> {
        if let Some(secret) = self.state.hidden_text(&event) {
            self.learn("input", secret);
        }
        for event in self.redacted(event) {
            self.take_in(event).await?;
        }
        Ok(())
    }

    /// The event without secrets, behind any output that was held back until now.
    fn redacted(&mut self, event: Event) -> Vec<Event> {
        if let Event::Output(output) = event {
            let ready = self.output.feed(&self.redactor, output);
            return ready.into_iter().map(Event::Output).collect();
        }
        let held = if RedactedOutput::is_ended_by(&event) {
            self.output.finish(&self.redactor)
        } else {
            Vec::new()
        };
        held.into_iter().map(Event::Output).chain([self.redactor.event(event)]).collect()
    }

    /// Looks for this value too from now on.
    fn learn(&mut self, name: &str, secret: &Secret) {
        self.redactor = Arc::new(self.redactor.having_learned(name, secret));
        self.journal.redact_with(Arc::clone(&self.redactor));
        self.runner.tell(Command::MaskWith(Arc::clone(&self.redactor)));
        self.state.redact_with(Arc::clone(&self.redactor));
    }
}
