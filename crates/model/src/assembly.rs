//! Puts a reply together from the parts in which any provider sends it.
//!
//! Each part is kept for the finished reply and passed on as a [`Piece`] at once. What a provider
//! says about a call's place is only compared with what it said before: nothing is ever allocated
//! by a number that came from outside, and calls and bytes are counted.

use crate::{
    Piece,
    format::{Fault, text_in},
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
    text: String,
    reasoning: String,
    calls: Vec<Call>,
    kept: usize,
    content: Content,
}

/// What the field `content` has been so far.
#[derive(Debug, Default)]
struct Content {
    null: bool,
    text: bool,
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
    pub(crate) fn text(&mut self, text: &str, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.text.push_str(text);
            pieces.push(Piece::Text(text.to_owned()));
        }
        Ok(())
    }

    /// More thoughts.
    pub(crate) fn reasoning(&mut self, text: &str, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.reasoning.push_str(text);
            pieces.push(Piece::Reasoning(text.to_owned()));
        }
        Ok(())
    }

    /// More of a call that is known or, if it is not, of a new one.
    pub(crate) fn call(
        &mut self,
        part: CallPart<'_>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        let index = match self.place(part) {
            Some(index) => index,
            None => self.start_call(part, pieces)?,
        };
        if self.calls[index].given_id.is_empty() && !part.id.is_empty() {
            self.keep(part.id.len())?;
            part.id.clone_into(&mut self.calls[index].given_id);
        }
        if self.calls[index].name.is_empty() && !part.name.is_empty() {
            self.keep(part.name.len())?;
            part.name.clone_into(&mut self.calls[index].name);
        }
        self.arguments(index, part.arguments, pieces)
    }

    /// A call that comes all at once, and is therefore never part of another.
    pub(crate) fn whole_call(
        &mut self,
        part: CallPart<'_>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        let index = self.start_call(part, pieces)?;
        self.arguments(index, part.arguments, pieces)
    }

    /// The field `content` of a message: text, or null where there is none.
    pub(crate) fn content(
        &mut self,
        message: &Value,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        match message.get("content") {
            Some(Value::Null) => self.content.null = true,
            Some(Value::String(_)) => self.content.text = true,
            None | Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            }
        }
        self.text(text_in(message, "content")?, pieces)
    }

    /// Checks that a reply which said that it has no content has something else.
    pub(crate) fn check_content(&self) -> Result<(), Fault> {
        let is_empty = self.text.is_empty() && self.reasoning.is_empty() && self.calls.is_empty();
        if is_empty && self.content.null && !self.content.text {
            return Err(Fault::Malformed("a reply whose content is null"));
        }
        Ok(())
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
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        match self.place(CallPart { index, ..CallPart::default() }) {
            Some(index) => self.arguments(index, arguments, pieces),
            None => Ok(()),
        }
    }

    /// The whole reply.
    pub(crate) fn into_reply(self, finish: Finish, usage: Option<Usage>) -> Reply {
        let calls = self.calls.into_iter().map(|call| ToolCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments.into(),
        });
        Reply {
            text: self.text.into(),
            reasoning: self.reasoning.into(),
            calls: calls.collect(),
            finish,
            usage,
        }
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

    fn start_call(&mut self, part: CallPart<'_>, pieces: &mut Vec<Piece>) -> Result<usize, Fault> {
        let index = self.calls.len();
        if index == CALLS {
            return Err(Fault::Malformed("more than 64 tool calls in one reply"));
        }
        self.keep(part.id.len() + part.name.len())?;
        let id = self.free_id(part.id);
        pieces.push(Piece::CallStarted { index, id: id.clone(), name: part.name.to_owned() });
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

    fn arguments(
        &mut self,
        index: usize,
        text: &str,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.calls[index].arguments.push_str(text);
            pieces.push(Piece::CallArguments { index, text: text.to_owned() });
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
            assembly.call(CallPart { index, id, name, arguments }, &mut Vec::new()).unwrap();
        }
        let reply = assembly.into_reply(Finish::Stop, None);
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
        let mut feed = |number| {
            let part = CallPart { index: Some(number), ..CallPart::default() };
            assembly.call(part, &mut Vec::new())
        };
        assert!((0..64).all(|number| feed(number).is_ok()));
        assert!(matches!(feed(64), Err(Fault::Malformed(_))));

        let mut assembly = Assembly::default();
        let text = "x".repeat(KEPT_BYTES);
        assert!(assembly.text(&text, &mut Vec::new()).is_ok());
        assert!(matches!(assembly.text("x", &mut Vec::new()), Err(Fault::TooLarge { .. })));
    }
}
