//! Redaction of records, messages, events and findings.
//!
//! A record is searched as the JSON that it becomes, so a field that is added later is searched too.

use super::{Redactor, Scope, decided::Decided};
use crate::{
    Body, Coverage, Findings, Message, Opinion, Reply, Rule, StandingAnswer, Untrusted,
    session::Event,
};
use serde_json::Value;
use std::sync::Arc;

/// Replaces a secret where the form of a text is fixed, as in the name of a host.
const PLAIN: &str = "redacted";

impl Redactor {
    /// A record without secrets. Output that comes in pieces goes through
    /// [`super::RedactedOutput`] first.
    #[must_use]
    pub fn body(&self, body: Body) -> Body {
        let decided = Decided::of(&body);
        self.redacted(body, decided)
    }

    /// A record that leaves for somebody else: tokens of a known shape are taken out of code too.
    #[must_use]
    pub fn exported(&self, body: Body) -> Body {
        let decided = Decided::exported(&body);
        self.redacted(body, decided)
    }

    fn redacted(&self, body: Body, decided: Decided) -> Body {
        if self.is_empty() {
            return body;
        }
        let Ok(text) = serde_json::to_string(&body) else { return withheld() };
        if !self.suspects(&text) {
            return body;
        }
        let Ok(value) = serde_json::from_str::<Value>(&text) else { return withheld() };
        let clean =
            each_field(value.clone(), decided, &|text, scope| self.text(text, scope).into_owned());
        if clean == value {
            return body;
        }
        serde_json::from_value(clean).unwrap_or_else(|_| {
            let put = |text: &str, scope| {
                self.replaced(text, scope, |_, text| text.push_str(PLAIN)).into_owned()
            };
            serde_json::from_value(each_field(value, decided, &put))
                .unwrap_or_else(|_| instead_of(body))
        })
    }

    /// A message of the conversation without secrets.
    #[must_use]
    pub fn message(&self, mut message: Message) -> Message {
        if self.is_empty() {
            return message;
        }
        match &mut message {
            Message::System { text } | Message::User { text, .. } => {
                self.clean(text, Scope::All);
            }
            Message::Earlier { text } => *text = self.untrusted(text.clone(), Scope::All),
            Message::Assistant { text, calls } => {
                *text = self.untrusted(text.clone(), Scope::All);
                for call in calls {
                    call.arguments = self.untrusted(call.arguments.clone(), Scope::All);
                }
            }
            Message::Result { text, printed, .. } => {
                let clean = self.untrusted(text.clone(), Scope::All);
                if clean != *text {
                    // It counts in bytes of the text as it was.
                    *printed = None;
                    *text = clean;
                }
            }
        }
        message
    }

    /// A whole conversation without secrets, which is not copied if there are none.
    #[must_use]
    pub fn messages(&self, mut messages: Arc<Vec<Message>>) -> Arc<Vec<Message>> {
        let suspected = |message: &Message| match message {
            Message::System { text } | Message::User { text, .. } => self.suspects(text),
            Message::Earlier { text } | Message::Result { text, .. } => self.suspects(text.raw()),
            Message::Assistant { text, calls } => {
                self.suspects(text.raw())
                    || calls.iter().any(|call| self.suspects(call.arguments.raw()))
            }
        };
        if messages.iter().any(suspected) {
            for message in Arc::make_mut(&mut messages) {
                *message = self.message(message.clone());
            }
        }
        messages
    }

    /// An event without secrets, where something is made of it before it is on record: code that
    /// runs, a question, a list. Everything else is redacted as a record and as a message.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest becomes a record or a message")]
    pub fn event(&self, event: Event) -> Event {
        if self.is_empty() {
            return event;
        }
        match event {
            Event::Replied(reply) => Event::Replied(self.reply(reply, Scope::Known)),
            Event::Summarised(Ok(reply)) => Event::Summarised(Ok(self.reply(reply, Scope::All))),
            Event::InputWanted(mut wanted) => {
                wanted.prompt = self.untrusted(wanted.prompt, Scope::All);
                Event::InputWanted(wanted)
            }
            Event::Reviewed(mut changes) => {
                // A file whose name would change is withheld, so it is not among these.
                for left_out in &mut changes.left_out {
                    self.clean(&mut left_out.path, Scope::Known);
                    self.clean(&mut left_out.why, Scope::Known);
                }
                Event::Reviewed(changes)
            }
            other => other,
        }
    }

    /// A reply without secrets.
    #[must_use]
    pub fn reply(&self, mut reply: Reply, scope: Scope) -> Reply {
        reply.text = self.untrusted(reply.text, scope);
        reply.reasoning = self.untrusted(reply.reasoning, scope);
        for call in &mut reply.calls {
            call.arguments = self.untrusted(call.arguments.clone(), scope);
        }
        reply
    }

    /// Findings as they are drawn: they name the files and hosts of code that is decided on.
    #[must_use]
    pub fn findings(&self, mut findings: Findings) -> Findings {
        let clean = |text: &mut Untrusted| *text = self.untrusted(text.clone(), Scope::Known);
        for one in &mut findings.capabilities {
            clean(&mut one.argument);
            clean(&mut one.reason);
            one.sources.iter_mut().for_each(clean);
        }
        findings
    }
}

/// Changes every text of a record, each field in its own scope.
fn each_field(value: Value, decided: Decided, change: &dyn Fn(&str, Scope) -> String) -> Value {
    let Value::Object(fields) = value else { return value };
    let fields = fields.into_iter().map(|(name, one)| {
        let scope = decided.scope_of(&name);
        (name, each_text(one, &|text| change(text, scope)))
    });
    Value::Object(fields.collect())
}

/// Changes every text in a value, but no name of a field.
fn each_text(value: Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(values) => {
            values.into_iter().map(|one| each_text(one, change)).collect::<Vec<_>>().into()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, one)| (name, each_text(one, change)));
            Value::Object(fields.collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Recorded in place of something that cannot be redacted. A no stays one: it then covers all code.
fn instead_of(body: Body) -> Body {
    if let Body::StandingGiven(no) = body
        && !no.covers.is_yes()
    {
        let covers = Coverage::Denied(Rule::of(Opinion::Deny));
        return Body::StandingGiven(StandingAnswer { covers, ..no });
    }
    withheld()
}

fn withheld() -> Body {
    Body::Note { text: "a record is withheld: it holds a secret and cannot be redacted".into() }
}
