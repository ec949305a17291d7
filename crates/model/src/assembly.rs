//! Puts a reply together from the parts in which any provider sends it.
//!
//! Each part is kept for the finished reply and passed on as a [`ReplyPiece`] at once. The place of a
//! call is only compared with earlier ones: nothing is ever allocated by a number from outside, and
//! calls and bytes are counted.

use crate::{
    ReplyPiece,
    fault::{Fault, text_in},
};
use interpreter_core::{Finish, Reply, ToolCall, Usage};
use serde_json::Value;

/// The most bytes of prose, thoughts and arguments that are kept: some forty times what today's
/// largest models can write at once.
const KEPT_BYTES: usize = 16 << 20;

/// The most tool calls in one reply.
const CALLS: usize = 64;

/// A reply that is still coming.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    /// Pieces that nobody has taken yet.
    pub(crate) pieces: Vec<ReplyPiece>,
    /// How the reply ends, once the provider has said so.
    pub(crate) finish: Option<Finish>,
    /// The provider's count of tokens.
    pub(crate) usage: Option<Usage>,
    /// Whether the provider has marked the end of the stream.
    pub(crate) done: bool,
    text: String,
    reasoning: String,
    calls: Vec<Call>,
    kept: usize,
    content: Content,
    /// Whether text of the current part has come, and reasoning.
    begun: Begun,
}

/// The form of the field `content` so far.
#[derive(Debug, Default)]
struct Content {
    null: bool,
    text: bool,
}

#[derive(Debug, Default)]
struct Begun {
    text: bool,
    reasoning: bool,
}

#[derive(Debug)]
struct Call {
    /// The provider's number for it.
    index: Option<u64>,
    /// The provider's id, by which later parts may name it; empty until it is given.
    given_id: String,
    id: String,
    name: String,
    arguments: String,
}

/// A part of a tool call, as far as the provider filled it in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallPart<'a> {
    /// The call's number.
    pub(crate) index: Option<u64>,
    /// Its id, or nothing.
    pub(crate) id: &'a str,
    /// The tool's name, or nothing.
    pub(crate) name: &'a str,
    /// More of the arguments.
    pub(crate) arguments: &'a str,
}

impl Assembly {
    /// More prose.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.text.push_str(text);
            self.begun.text = true;
            self.pieces.push(ReplyPiece::Text(text.to_owned()));
        }
        Ok(())
    }

    /// More thoughts.
    pub(crate) fn reasoning(&mut self, text: &str) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.reasoning.push_str(text);
            self.begun.reasoning = true;
            self.pieces.push(ReplyPiece::Reasoning(text.to_owned()));
        }
        Ok(())
    }

    /// The end of a part of the text. Some servers send a part only whole, so it is taken here if
    /// nothing of it came before.
    pub(crate) fn end_text(&mut self, whole: &str) -> Result<(), Fault> {
        let missing = if self.begun.text { Ok(()) } else { self.text(whole) };
        self.begun.text = false;
        missing
    }

    /// The end of a part of the reasoning, likewise.
    pub(crate) fn end_reasoning(&mut self, whole: &str) -> Result<(), Fault> {
        let missing = if self.begun.reasoning { Ok(()) } else { self.reasoning(whole) };
        self.begun.reasoning = false;
        missing
    }

    /// More of a call that is known or, if it is not, of a new one.
    pub(crate) fn call(&mut self, part: CallPart<'_>) -> Result<(), Fault> {
        let index = match self.place(part) {
            Some(index) => index,
            None => self.start_call(part)?,
        };
        if self.calls[index].given_id.is_empty() && !part.id.is_empty() {
            self.keep(part.id.len())?;
            part.id.clone_into(&mut self.calls[index].given_id);
        }
        if self.calls[index].name.is_empty() && !part.name.is_empty() {
            self.keep(part.name.len())?;
            part.name.clone_into(&mut self.calls[index].name);
        }
        self.arguments(index, part.arguments)
    }

    /// A call that comes all at once, and is therefore never part of another.
    pub(crate) fn whole_call(&mut self, part: CallPart<'_>) -> Result<(), Fault> {
        let index = self.start_call(part)?;
        self.arguments(index, part.arguments)
    }

    /// The field `content` of a message: text, or null where there is none.
    pub(crate) fn content(&mut self, message: &Value) -> Result<(), Fault> {
        match message.get("content") {
            Some(Value::Null) => self.content.null = true,
            Some(Value::String(_)) => self.content.text = true,
            None | Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            }
        }
        self.text(text_in(message, "content")?)
    }

    /// Whether a call is known and has arguments already.
    pub(crate) fn has_arguments(&self, index: Option<u64>, id: &str) -> bool {
        let at = self.place(CallPart { index, id, ..CallPart::default() });
        at.is_some_and(|at| !self.calls[at].arguments.is_empty())
    }

    /// More arguments for a call that was started before; for any other, nothing.
    pub(crate) fn continue_call(
        &mut self,
        index: Option<u64>,
        arguments: &str,
    ) -> Result<(), Fault> {
        match self.place(CallPart { index, ..CallPart::default() }) {
            Some(index) => self.arguments(index, arguments),
            None => Ok(()),
        }
    }

    /// Marks the end of the stream. Without a finish reason it is a normal one.
    pub(crate) fn end(&mut self) {
        self.finish.get_or_insert(Finish::Stop);
        self.done = true;
    }

    /// The reply, if it is whole: the provider has said how it ends, and where it said that there is
    /// no content, there is something else.
    pub(crate) fn into_reply(self) -> Result<Reply, Fault> {
        let finish = self.finish.ok_or(Fault::Broken)?;
        let is_empty = self.text.is_empty() && self.reasoning.is_empty() && self.calls.is_empty();
        if is_empty && self.content.null && !self.content.text {
            return Err(Fault::Malformed("a reply whose content is null"));
        }
        let calls = self.calls.into_iter().map(|call| ToolCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments.into(),
        });
        Ok(Reply {
            text: self.text.into(),
            reasoning: self.reasoning.into(),
            calls: calls.collect(),
            finish,
            usage: self.usage,
        })
    }

    /// Which of the calls so far a part belongs to. The newest match counts: some servers give
    /// every call the number 0 and tell them apart by id only, and some give neither and name the
    /// tool where a call begins.
    fn place(&self, part: CallPart<'_>) -> Option<usize> {
        let newest = |matches: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(matches);
        match part.index {
            Some(_) => newest(&|call| call.index == part.index).filter(|&at| {
                let given = &self.calls[at].given_id;
                part.id.is_empty() || given.is_empty() || given == part.id
            }),
            None if !part.id.is_empty() => newest(&|call| call.given_id == part.id),
            None if part.name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        }
    }

    fn start_call(&mut self, part: CallPart<'_>) -> Result<usize, Fault> {
        let index = self.calls.len();
        if index == CALLS {
            return Err(Fault::Malformed("more than 64 tool calls in one reply"));
        }
        self.keep(part.id.len() + part.name.len())?;
        let id = self.free_id(part.id);
        self.pieces.push(ReplyPiece::CallStarted {
            index,
            id: id.clone(),
            name: part.name.to_owned(),
        });
        self.calls.push(Call {
            index: part.index,
            given_id: part.id.to_owned(),
            id,
            name: part.name.to_owned(),
            arguments: String::new(),
        });
        Ok(index)
    }

    /// The id that a call goes by: the provider's, or one of ours where it gave none or gave it
    /// twice. Answers name calls by id, so no two may share one.
    fn free_id(&self, given: &str) -> String {
        let taken = |id: &str| self.calls.iter().any(|call| call.id == id);
        if !given.is_empty() && !taken(given) {
            return given.to_owned();
        }
        let mut number = self.calls.len();
        loop {
            let id = format!("call_{number}");
            if !taken(&id) {
                return id;
            }
            number += 1;
        }
    }

    fn arguments(&mut self, index: usize, text: &str) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.calls[index].arguments.push_str(text);
            self.pieces.push(ReplyPiece::CallArguments { index, text: text.to_owned() });
        }
        Ok(())
    }

    fn keep(&mut self, bytes: usize) -> Result<(), Fault> {
        self.kept += bytes;
        if self.kept > KEPT_BYTES {
            return Err(Fault::TooLarge { limit: KEPT_BYTES, place: "in one reply" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls that come of `(index, id, name, arguments)`, as `id name arguments`.
    fn calls(parts: &[(Option<u64>, &str, &str, &str)]) -> Vec<String> {
        let mut assembly = Assembly::default();
        for &(index, id, name, arguments) in parts {
            assembly.call(CallPart { index, id, name, arguments }).unwrap();
        }
        assembly.end();
        let reply = assembly.into_reply().unwrap();
        let shown = |call: &ToolCall| format!("{} {} {}", call.id, call.name, call.arguments.raw());
        reply.calls.iter().map(shown).collect()
    }

    #[test]
    fn parts_of_two_calls_may_alternate() {
        let parts = [
            (Some(0), "a", "execute", ""),
            (Some(1), "b", "execute", ""),
            (Some(0), "", "", "1"),
            (Some(1), "", "", "2"),
            (Some(0), "", "", "3"),
        ];
        assert_eq!(calls(&parts), ["a execute 13", "b execute 2"]);
    }

    #[test]
    fn calls_without_number_or_id_are_told_apart() {
        assert_eq!(
            calls(&[(None, "a", "x", "1"), (None, "b", "x", "2"), (None, "a", "", "3")]),
            ["a x 13", "b x 2"]
        );
        assert_eq!(
            calls(&[(None, "", "x", "1"), (None, "", "", "2"), (None, "", "x", "3")]),
            ["call_0 x 12", "call_1 x 3"]
        );
        assert_eq!(
            calls(&[(Some(0), "a", "x", "1"), (Some(0), "b", "x", "2")]),
            ["a x 1", "b x 2"]
        );
    }

    #[test]
    fn no_two_calls_share_an_id() {
        let parts =
            [(Some(0), "call_1", "x", ""), (Some(1), "call_1", "x", ""), (Some(2), "", "x", "")];
        assert_eq!(calls(&parts), ["call_1 x ", "call_2 x ", "call_3 x "]);
    }

    #[test]
    fn a_late_name_and_id_are_taken_up() {
        let parts = [(Some(4), "", "", "1"), (Some(4), "a", "x", "2"), (Some(4), "a", "x", "3")];
        assert_eq!(calls(&parts), ["call_0 x 123"]);
    }

    #[test]
    fn a_huge_number_allocates_nothing() {
        assert_eq!(calls(&[(Some(u64::MAX), "a", "x", "")]), ["a x "]);
    }

    #[test]
    fn calls_and_bytes_are_bounded() {
        let mut assembly = Assembly::default();
        let mut feed =
            |number| assembly.call(CallPart { index: Some(number), ..CallPart::default() });
        assert!((0..64).all(|number| feed(number).is_ok()));
        assert!(matches!(feed(64), Err(Fault::Malformed(_))));

        let mut assembly = Assembly::default();
        let text = "x".repeat(KEPT_BYTES);
        assert!(assembly.text(&text).is_ok());
        assert!(matches!(assembly.text("x"), Err(Fault::TooLarge { .. })));
    }
}
