//! Finds code in what a model wrote.
//!
//! A finished [`Reply`] goes in; [`Proposal`]s come out, and beside them whatever looked like code
//! but is none, each with a reason that the model can act on. [`Fences`] and [`call::CallCode`] show the
//! same code while it is still being written.
//!
//! Models that hand over code in fences do so in many ways. A block that names no language, or
//! names Python and is shell, is taken for what its syntax says it is, if that is beyond doubt and
//! the reply has no other block; JSON in the form of a call is a call, in a fence or without.
//!
//! Never repairs code. A proposal is byte for byte what stood between the fences, its last line's
//! end included, or what the tool call's JSON says. In doubt nothing is proposed: code that was
//! cut off must not run, since its beginning may do something else than the whole.

use self::{
    call::CallError,
    fences::{Ending, FencePiece, Fences},
};
use crate::{
    Finish, Language, Languages, Origin, Proposal, Reply, ToolCall, Untrusted,
    look::{self, Look},
    message::EXECUTE,
};
use std::error::Error;

pub mod call;
pub mod fences;
mod lines;
mod tag;
mod written;

/// The language that code is in by its own syntax, where that is beyond doubt and another one than
/// was said: the first argument is what was said, if anything was.
pub type Syntax = fn(Option<&str>, &str) -> Option<&'static str>;

/// Why nothing runs of a reply that was stopped, for the person who did that.
pub const STOPPED: &str = "you stopped the reply";

/// The contents of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// Proposals, in the order written.
    pub proposals: Vec<Proposal>,
    /// Requests to see more of an output, in the order written.
    pub looks: Vec<Look>,
    /// Blocks that look like code but are not proposed, in the order written.
    pub rejected: Vec<NotProposed>,
    /// Notes for the person about blocks that were reinterpreted.
    pub notes: Vec<String>,
}

/// Something that looked like code, but is no proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotProposed {
    /// The language it named.
    pub language: Option<Untrusted>,
    /// The tool call it came in; such a call still wants an answer.
    pub call: Option<String>,
    /// Why, for the person and for the model. Safe to show.
    pub reason: String,
}

/// The proposals of a reply, named `p{next_id}` and on.
///
/// A reply with tool calls proposes by them alone: fences in its text then only explain. Without
/// any, each fenced block in a known language is a proposal, and without a block each call that is
/// written out as JSON. Nothing of a reply that the person stopped is.
pub fn proposals(reply: &Reply, languages: &Languages, syntax: Syntax, next_id: u32) -> Extraction {
    let candidates: Vec<Candidate> = match reply.calls.split_last() {
        None => in_text(reply, languages, syntax),
        Some((last, others)) => others
            .iter()
            // Whatever cut the reply came after these.
            .map(|call| Candidate::from_call(call, Finish::Stop, languages))
            .chain([Candidate::from_call(last, reply.finish, languages)])
            .collect(),
    };
    let mut found = Extraction::default();
    let mut ids = (u64::from(next_id)..).map(|number| format!("p{number}"));
    for Candidate { language, call, code, note } in candidates {
        let code = match reply.finish {
            Finish::Stop | Finish::Length | Finish::Filtered => code,
            Finish::Interrupted => Err(STOPPED.into()),
        };
        match code {
            Ok(Wanted::Look(look)) => found.looks.push(look),
            Ok(Wanted::Run(known, code)) => {
                found.notes.extend(note);
                let id = ids.next().expect("64 bits are more ids than a session can use");
                found.proposals.push(Proposal::new(id, Origin::Model, call, known, code));
            }
            Err(reason) => found.rejected.push(NotProposed { language, call, reason }),
        }
    }
    found
}

/// Something that looks like code, and whether it can be proposed.
struct Candidate {
    language: Option<Untrusted>,
    call: Option<String>,
    code: Result<Wanted, String>,
    /// A note for the person.
    note: Option<String>,
}

/// A request of a model.
enum Wanted {
    /// Code to be run.
    Run(Language, Untrusted),
    /// To see more of an output.
    Look(Look),
}

impl Candidate {
    fn from_block(block: Block, finish: Finish, languages: &Languages) -> Self {
        let language = block.tag.clone().map(Untrusted::from);
        Self { language, call: None, code: block.judge(finish, languages), note: None }
    }

    /// A call that was written out as text.
    fn from_written((language, code): (String, String), languages: &Languages) -> Self {
        let code = wanted(&language, code, None, languages);
        let note = Some("the reply contains a call as text, which counts as a call".into());
        Self { language: Some(language.into()), call: None, code, note }
    }

    fn from_call(call: &ToolCall, finish: Finish, languages: &Languages) -> Self {
        let (language, code) = match arguments(call, finish) {
            Ok((language, code)) => {
                let wanted = wanted(&language, code, Some(&call.id), languages);
                (Some(language.into()), wanted)
            }
            Err(reason) => (None, Err(reason)),
        };
        Self { language, call: Some(call.id.clone()), code, note: None }
    }
}

/// The language and the code of a call, or what is wrong with it.
fn arguments(call: &ToolCall, finish: Finish) -> Result<(String, String), String> {
    if call.name != EXECUTE {
        let name = Untrusted::new(call.name.as_str()).for_terminal_line(NAME_SHOWN);
        return Err(format!("unknown tool `{name}`; the only tool is `{EXECUTE}`"));
    }
    call::parse(call.arguments.raw()).map_err(|error| match finish {
        Finish::Stop => with_cause(&error),
        Finish::Length | Finish::Filtered | Finish::Interrupted => {
            "the reply was cut off before the call ended".into()
        }
    })
}

struct Block {
    tag: Option<String>,
    code: String,
    ending: Ending,
}

impl Block {
    /// The call in it, if it is in no language that runs and is the JSON of a call.
    fn written(&self, languages: &Languages) -> Option<(String, String)> {
        let runs = self.tag.as_deref().is_some_and(|tag| languages.find(tag).is_some());
        if runs { None } else { written::whole(&self.code) }
    }

    /// Reinterprets it by its syntax. Returns a note for the person if the language differs from
    /// the named one.
    fn reread(&mut self, languages: &Languages, syntax: Syntax) -> Option<String> {
        let said = match &self.tag {
            Some(tag) => Some(languages.find(tag)?),
            None => None,
        };
        let found = syntax(said.as_ref().map(Language::written_in), &self.code)?;
        let language = languages.find(found)?;
        self.tag = Some(language.name().to_owned());
        Some(match said {
            Some(said) => format!("the block is marked as {said}, but is {language}"),
            None => format!("the block names no language; it is {language}"),
        })
    }

    fn judge(self, finish: Finish, languages: &Languages) -> Result<Wanted, String> {
        let Some(tag) = self.tag else {
            return Err("the block names no language after its opening fence".into());
        };
        let wanted = wanted(&tag, self.code, None, languages)?;
        match (self.ending, finish) {
            (Ending::Fenced, _) | (Ending::EndOfReply, Finish::Stop) => {}
            (Ending::EndOfReply, Finish::Length | Finish::Filtered | Finish::Interrupted) => {
                return Err("the reply was cut off before the block ended".into());
            }
            (Ending::EndOfItem, _) => {
                return Err("a line of the block is indented less than its list item, which ends \
                            the block; write it outside the list"
                    .into());
            }
        }
        Ok(wanted)
    }
}

/// The contents of a reply without calls.
fn in_text(reply: &Reply, languages: &Languages, syntax: Syntax) -> Vec<Candidate> {
    let text = reply.text.raw();
    let mut blocks = blocks(text);
    if blocks.is_empty() {
        let calls = written::all(text).into_iter();
        return calls.map(|call| Candidate::from_written(call, languages)).collect();
    }
    let note = match blocks.as_mut_slice() {
        [only] => only.reread(languages, syntax),
        _ => None,
    };
    let of = |block: Block| match block.written(languages) {
        Some(call) => Candidate::from_written(call, languages),
        None => Candidate::from_block(block, reply.finish, languages),
    };
    let mut candidates: Vec<_> = blocks.into_iter().map(of).collect();
    if let ([only], Some(note)) = (candidates.as_mut_slice(), note) {
        only.note = Some(note);
    }
    candidates
}

/// All fenced blocks of a text.
fn blocks(text: &str) -> Vec<Block> {
    let mut fences = Fences::default();
    let mut pieces = fences.feed(text);
    pieces.extend(fences.finish());
    let mut blocks = Vec::new();
    for piece in pieces {
        match (piece, blocks.last_mut()) {
            (FencePiece::Open { tag }, _) => {
                blocks.push(Block { tag, code: String::new(), ending: Ending::EndOfReply });
            }
            (FencePiece::Code(code), Some(block)) => block.code.push_str(&code),
            (FencePiece::Close(ending), Some(block)) => block.ending = ending,
            (FencePiece::Text(_) | FencePiece::Code(_) | FencePiece::Close(_), _) => {}
        }
    }
    blocks
}

/// How many characters of a name that a model made up are shown.
const NAME_SHOWN: usize = 40;

fn known(name: &str, languages: &Languages) -> Result<Language, String> {
    languages.find(name).ok_or_else(|| {
        let shown = Untrusted::new(name).for_terminal_line(NAME_SHOWN);
        if let Some(hint) = languages.hint(name) {
            return format!("no interpreter for `{shown}` is installed: {hint}");
        }
        let names: Vec<_> = languages.offered().map(|info| info.name.as_str()).collect();
        let names = names.join(", ");
        format!("unknown language `{shown}`; available: {names}")
    })
}

/// The request of a model that wrote `code` in the language `name`.
fn wanted(
    name: &str,
    code: String,
    call: Option<&str>,
    languages: &Languages,
) -> Result<Wanted, String> {
    if name == look::LANGUAGE && languages.find(name).is_none() {
        return look::parse(&code, call).map(Wanted::Look);
    }
    let language = known(name, languages)?;
    if code.trim().is_empty() {
        return Err("it contains no code".into());
    }
    Ok(Wanted::Run(language, code.into()))
}

/// An error and what caused it, on one line.
fn with_cause(error: &CallError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
