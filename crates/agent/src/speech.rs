//! A model's streamed reply: split into pieces for display, and kept in case it breaks off.

use crate::Live;
use interpreter_core::{
    Finish, Redactor, Reply, Untrusted,
    extract::{
        call::CallCode,
        fences::{FencePiece as Markdown, Fences},
    },
    redact::{RedactedStream, Scope},
};
use interpreter_model::ReplyPiece;
use std::sync::Arc;

/// A reply that is under way.
#[derive(Default)]
pub(crate) struct Speech {
    fences: Fences,
    call: Option<Call>,
    text: String,
    reasoning: String,
    redactor: Arc<Redactor>,
    /// Text that may still turn out to be a secret.
    held_text: RedactedStream,
    held_reasoning: RedactedStream,
}

/// A call that is being written.
struct Call {
    index: usize,
    code: CallCode,
    /// Text that may still turn out to be a secret.
    held: RedactedStream,
    /// Whether some of its code was shown.
    is_shown: bool,
}

impl Speech {
    /// A reply from which this takes the secrets.
    pub(crate) fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, ..Self::default() }
    }

    /// The display updates for the next piece.
    pub(crate) fn hear(&mut self, piece: ReplyPiece) -> Vec<Live> {
        match piece {
            // Ours, and no part of the reply.
            ReplyPiece::Note(_) | ReplyPiece::Headway(_) | ReplyPiece::Price(_) => vec![],
            ReplyPiece::Text(text) => {
                let text = self.held_text.feed(&self.redactor, Scope::Known, &text);
                self.add_text(&text)
            }
            ReplyPiece::Reasoning(text) => {
                let text = self.held_reasoning.feed(&self.redactor, Scope::Known, &text);
                self.add_reasoning(text)
            }
            ReplyPiece::CallStarted { index, .. } => {
                let shown = self.end_call();
                self.call = Some(Call::new(index));
                shown
            }
            ReplyPiece::CallArguments { index, text } => match &mut self.call {
                Some(call) if call.index == index => {
                    let text = call.held.feed(&self.redactor, Scope::Known, &text);
                    call.hear(&text)
                }
                // Two calls at once: the second is shown when it is asked about.
                Some(_) | None => vec![],
            },
        }
    }

    fn add_text(&mut self, text: &str) -> Vec<Live> {
        self.text.push_str(text);
        self.fences.feed(text).into_iter().map(live).collect()
    }

    fn add_reasoning(&mut self, text: String) -> Vec<Live> {
        self.reasoning.push_str(&text);
        let shown = (!text.is_empty()).then(|| Live::Reasoning(Untrusted::new(text)));
        shown.into_iter().collect()
    }

    fn end_call(&mut self) -> Vec<Live> {
        let Some(mut call) = self.call.take() else { return vec![] };
        let rest = call.held.finish(&self.redactor, Scope::Known);
        let mut shown = call.hear(&rest);
        shown.extend(call.is_shown.then_some(Live::CodeEnds));
        shown
    }

    /// The display updates at the end.
    pub(crate) fn end(&mut self) -> Vec<Live> {
        let rest = self.held_reasoning.finish(&self.redactor, Scope::Known);
        let mut shown = self.add_reasoning(rest);
        let rest = self.held_text.finish(&self.redactor, Scope::Known);
        shown.extend(self.add_text(&rest));
        shown.extend(self.fences.finish().into_iter().map(live));
        shown.extend(self.end_call());
        shown.push(Live::ReplyEnds);
        shown
    }

    /// Whether nothing has come of the reply.
    pub(crate) fn is_silent(&self) -> bool {
        let nothing_held = self.held_text.is_idle() && self.held_reasoning.is_idle();
        self.text.is_empty() && self.reasoning.is_empty() && self.call.is_none() && nothing_held
    }

    /// The part of a reply that broke off, if there is any.
    pub(crate) fn fragment(self) -> Option<Reply> {
        if self.text.is_empty() && self.reasoning.is_empty() {
            return None;
        }
        Some(Reply {
            text: Untrusted::new(self.text),
            reasoning: Untrusted::new(self.reasoning),
            finish: Finish::Interrupted,
            ..Reply::default()
        })
    }
}

impl Call {
    fn new(index: usize) -> Self {
        Self { index, code: CallCode::default(), held: RedactedStream::default(), is_shown: false }
    }

    /// The display updates for the next piece of the arguments.
    fn hear(&mut self, text: &str) -> Vec<Live> {
        let more = self.code.feed(text);
        if more.is_empty() {
            return vec![];
        }
        let begins = !std::mem::replace(&mut self.is_shown, true);
        let begins = begins.then(|| Live::CallBegins(self.code.language().map(Untrusted::new)));
        begins.into_iter().chain([Live::Code(Untrusted::new(more))]).collect()
    }
}

fn live(piece: Markdown) -> Live {
    match piece {
        Markdown::Text(text) => Live::Text(Untrusted::new(text)),
        Markdown::Open { tag } => Live::CodeBegins(tag.map(Untrusted::new)),
        Markdown::Code(code) => Live::Code(Untrusted::new(code)),
        Markdown::Close(_) => Live::CodeEnds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The updates for a call whose arguments come character by character.
    fn shown(arguments: &str) -> Vec<Live> {
        let mut speech = Speech::default();
        let started = ReplyPiece::CallStarted { index: 0, id: "1".into(), name: "execute".into() };
        let mut all = speech.hear(started);
        for c in arguments.chars() {
            let text = c.to_string();
            all.extend(speech.hear(ReplyPiece::CallArguments { index: 0, text }));
        }
        all.extend(speech.end());
        all
    }

    fn code(text: &str) -> impl Iterator<Item = Live> {
        text.chars().map(|c| Live::Code(Untrusted::new(c.to_string())))
    }

    #[test]
    fn the_code_of_a_call_begins_with_its_language() {
        let python = Live::CallBegins(Some(Untrusted::new("python")));
        let both: Vec<_> = [python].into_iter().chain(code("x=1")).collect();
        let ends = [Live::CodeEnds, Live::ReplyEnds];
        let written = r#"{"language": "python", "code": "x=1"}"#;
        assert_eq!(shown(written), [&both[..], &ends].concat());
        let behind: Vec<_> = [Live::CallBegins(None)].into_iter().chain(code("x=1")).collect();
        let written = r#"{"code": "x=1", "language": "python"}"#;
        assert_eq!(shown(written), [&behind[..], &ends].concat());
        assert_eq!(shown(r#"{"language": "python""#), [Live::ReplyEnds]);
    }
}
