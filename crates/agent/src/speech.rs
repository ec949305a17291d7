//! What a model says, as it comes: turned into pieces for display, and kept in case the reply
//! breaks off.

use crate::Live;
use interpreter_core::{
    Finish, Reply, Untrusted,
    extract::{
        call::CallCode,
        fences::{Fences, Piece as Markdown},
    },
};
use interpreter_model::Piece;

/// A reply that is under way.
#[derive(Default)]
pub(crate) struct Speech {
    fences: Fences,
    call: Option<(usize, CallCode)>,
    text: String,
    reasoning: String,
}

impl Speech {
    /// What to show for the next piece.
    pub(crate) fn hear(&mut self, piece: Piece) -> Vec<Live> {
        match piece {
            // Ours, and on record.
            Piece::Note(_) => vec![],
            Piece::Text(text) => {
                self.text.push_str(&text);
                self.fences.feed(&text).into_iter().map(live).collect()
            }
            Piece::Reasoning(text) => {
                self.reasoning.push_str(&text);
                vec![Live::Reasoning(Untrusted::new(text))]
            }
            Piece::CallStarted { index, .. } => {
                let mut shown = self.end_call();
                self.call = Some((index, CallCode::default()));
                shown.push(Live::CodeBegins(None));
                shown
            }
            Piece::CallArguments { index, text } => match &mut self.call {
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

    /// What to show when nothing more comes.
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

    /// What came of a reply that broke off; none if nothing did.
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
