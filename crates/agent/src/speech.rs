//! A model's streamed reply: split into pieces for display, and kept in case it breaks off.

use crate::Live;
use interpreter_core::{
    Finish, Reply, Untrusted,
    extract::{
        call::CallCode,
        fences::{FencePiece as Markdown, Fences},
    },
};
use interpreter_model::ReplyPiece;

/// A reply that is under way.
#[derive(Default)]
pub(crate) struct Speech {
    fences: Fences,
    call: Option<(usize, CallCode)>,
    text: String,
    reasoning: String,
}

impl Speech {
    /// The display updates for the next piece.
    pub(crate) fn hear(&mut self, piece: ReplyPiece) -> Vec<Live> {
        match piece {
            // Ours: the one is on record, the other passes.
            ReplyPiece::Note(_) | ReplyPiece::Headway(_) => vec![],
            ReplyPiece::Text(text) => {
                self.text.push_str(&text);
                self.fences.feed(&text).into_iter().map(live).collect()
            }
            ReplyPiece::Reasoning(text) => {
                self.reasoning.push_str(&text);
                vec![Live::Reasoning(Untrusted::new(text))]
            }
            ReplyPiece::CallStarted { index, .. } => {
                let mut shown = self.end_call();
                self.call = Some((index, CallCode::default()));
                shown.push(Live::CodeBegins(None));
                shown
            }
            ReplyPiece::CallArguments { index, text } => match &mut self.call {
                Some((current, code)) if *current == index => {
                    let more = code.feed(&text);
                    if more.is_empty() { vec![] } else { vec![Live::Code(Untrusted::new(more))] }
                }
                // Two calls at once: the second is shown when it is asked about.
                Some(_) | None => vec![],
            },
        }
    }

    fn end_call(&mut self) -> Vec<Live> {
        self.call.take().map(|_| Live::CodeEnds).into_iter().collect()
    }

    /// The display updates at the end.
    pub(crate) fn end(&mut self) -> Vec<Live> {
        let mut shown: Vec<_> = self.fences.finish().into_iter().map(live).collect();
        shown.extend(self.end_call());
        shown.push(Live::ReplyEnds);
        shown
    }

    /// Whether nothing has come of the reply.
    pub(crate) fn is_silent(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.call.is_none()
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

fn live(piece: Markdown) -> Live {
    match piece {
        Markdown::Text(text) => Live::Text(Untrusted::new(text)),
        Markdown::Open { tag } => Live::CodeBegins(tag.map(Untrusted::new)),
        Markdown::Code(code) => Live::Code(Untrusted::new(code)),
        Markdown::Close(_) => Live::CodeEnds,
    }
}
