//! A model that plays a file, for tests, demonstrations and bug reports.
//!
//! The file is TOML, one `[[reply]]` for each call of the model:
//!
//! ```toml
//! [[reply]]
//! expect = "42"        # what the newest message must contain, or the call fails
//! reasoning = "Hm."    # thoughts, before the text
//! text = "Let me see.\n"
//! chunk = 1            # characters in a piece; without it each text comes whole
//! call = { language = "python", code = "print(1)" }    # or `calls = [{ … }, { … }]`
//! finish = "length"    # "stop" (the default), "length", "filtered", or "never": it hangs
//! usage = { input = 10, output = 5 }
//! note = "slow today" # a note for the person, after the reply
//!
//! [[reply]]
//! text = "I was about to"
//! fail = "rate limit"  # the call fails with this message, after the text if there is any
//! ```
//!
//! Before the replies may stand what kind of model it plays: `small = true`, `images = true`,
//! `context = 8000`.
//!
//! A call may also be given in its raw form: `{ name = "execute", arguments = "{ broken" }`. A
//! script is played exactly, whether tools were offered or not. The file is checked as a whole when
//! it is opened: an unknown field or an empty reply is an error then, not later.

use crate::{ReplyPiece, Request, Tools, position::position, sink::Sink};
use interpreter_core::{
    Finish, Message, Reply, ToolCall, Untrusted, Usage, message::EXECUTE, unquoted::unquoted,
};
use serde::Deserialize;
use serde_json::json;
use std::{
    io::Read,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// The largest script that is read.
const SCRIPT_BYTES: u64 = 16 << 20;

/// Why a scripted model cannot be opened, or cannot go on.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "`number` counts replies from 1, as in the file")]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script cannot be read")]
    Unreadable { source: std::io::Error },

    /// The file is too long to be a script.
    #[error("the script `{}` is larger than {SCRIPT_BYTES} bytes", path.display())]
    TooLarge { path: PathBuf },

    /// The file is not what a script looks like.
    #[error(
        "the script `{}` is not valid: line {line}, column {column}: {message}", path.display()
    )]
    Invalid { path: PathBuf, line: usize, column: usize, message: String },

    /// A reply makes no sense.
    #[error("reply {number} of the script `{}` {problem}", path.display())]
    BadReply { path: PathBuf, number: usize, problem: &'static str },

    /// All replies have been played.
    #[error("the script `{}` has {replies} replies, and one more was asked for", path.display())]
    Ended { path: PathBuf, replies: usize },

    /// The conversation went another way than the script.
    #[error(
        "reply {number} of the script `{}` expects {expected:?} in the newest message, which is: {}",
        path.display(), found.for_terminal_line(400)
    )]
    Unexpected { path: PathBuf, number: usize, expected: String, found: Untrusted },

    /// The script says that the call fails.
    #[error("{message}")]
    Failed { message: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    small: bool,
    #[serde(default)]
    images: bool,
    context: Option<u64>,
    reply: Vec<Line>,
}

/// One reply as the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    expect: Option<String>,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    text: String,
    chunk: Option<NonZeroUsize>,
    call: Option<Call>,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default)]
    finish: Ending,
    fail: Option<String>,
    usage: Option<Tokens>,
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    language: Option<String>,
    code: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ending {
    #[default]
    Stop,
    Length,
    Filtered,
    Never,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    input: u64,
    output: u64,
}

/// A script that is being played.
#[derive(Debug)]
pub(crate) struct Script {
    path: PathBuf,
    pub(crate) small: bool,
    pub(crate) images: bool,
    pub(crate) context: Option<u64>,
    lines: Vec<Line>,
    next: AtomicUsize,
}

impl Script {
    /// Reads a script. `path` is for messages, which never quote the file: whoever sees them may not
    /// read it.
    pub(crate) fn load(path: &Path, file: impl Read) -> Result<Self, ScriptError> {
        let unreadable = |source| ScriptError::Unreadable { source };
        let mut bytes = Vec::new();
        file.take(SCRIPT_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let path = path.to_owned();
        if bytes.len() as u64 > SCRIPT_BYTES {
            return Err(ScriptError::TooLarge { path });
        }
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(unreadable(std::io::Error::other("it is not UTF-8 text")));
        };
        let file = match toml::from_str::<File>(&text) {
            Ok(file) => file,
            Err(error) => {
                let (line, column) = position(&text, error.span().map_or(0, |span| span.start));
                let message = unquoted(error.message());
                return Err(ScriptError::Invalid { path, line, column, message });
            }
        };
        for (at, line) in file.reply.iter().enumerate() {
            if let Some(problem) = line.problem() {
                return Err(ScriptError::BadReply { path, number: at + 1, problem });
            }
        }
        let File { small, images, context, reply: lines } = file;
        Ok(Self { path, small, images, context, lines, next: AtomicUsize::new(0) })
    }

    /// A script with a call in it plays a model with tools.
    pub(crate) fn tools(&self) -> Tools {
        let any = self.lines.iter().any(|line| line.calls().next().is_some());
        if any { Tools::Offer } else { Tools::None }
    }

    /// Plays the next reply.
    pub(crate) async fn play(
        &self,
        request: &Request,
        sink: &Sink<'_>,
    ) -> Result<Reply, ScriptError> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let ended = || ScriptError::Ended { path: self.path.clone(), replies: self.lines.len() };
        let line = self.lines.get(at).ok_or_else(ended)?;
        if let Some(expected) = &line.expect {
            let found = request.messages.last().map(content).unwrap_or_default();
            if !found.contains(expected) {
                return Err(ScriptError::Unexpected {
                    path: self.path.clone(),
                    number: at + 1,
                    expected: expected.clone(),
                    found: Untrusted::new(found),
                });
            }
        }
        let calls = line.tool_calls(at + 1);
        sink.show(line.pieces(&calls)).await;
        if let Some(note) = &line.note {
            sink.tell(note.clone()).await;
        }
        if let Some(message) = &line.fail {
            return Err(ScriptError::Failed { message: message.clone() });
        }
        let finish = match line.finish {
            Ending::Stop => Finish::Stop,
            Ending::Length => Finish::Length,
            Ending::Filtered => Finish::Filtered,
            Ending::Never => std::future::pending().await,
        };
        Ok(Reply {
            text: line.text.clone().into(),
            reasoning: line.reasoning.clone().into(),
            calls,
            finish,
            usage: line.usage.map(|Tokens { input, output }| Usage {
                input,
                output,
                ..Usage::default()
            }),
        })
    }
}

impl Line {
    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.call.iter().chain(&self.calls)
    }

    fn problem(&self) -> Option<&'static str> {
        let says_nothing = self.text.is_empty()
            && self.reasoning.is_empty()
            && self.calls().next().is_none()
            && self.fail.is_none()
            && self.finish == Ending::Stop;
        if says_nothing {
            return Some("has neither `text`, `call` nor `fail`");
        }
        let whole = |call: &Call| {
            let raw = call.arguments.is_some();
            let (language, code) = (call.language.is_some(), call.code.is_some());
            language == code && raw != code
        };
        (!self.calls().all(whole))
            .then_some("has a call with neither `language` and `code` nor `arguments`")
    }

    fn tool_calls(&self, number: usize) -> Vec<ToolCall> {
        let of = |(at, call): (usize, &Call)| ToolCall {
            id: format!("script_{number}_{}", at + 1),
            name: call.name.clone().unwrap_or_else(|| EXECUTE.to_owned()),
            arguments: call.arguments().into(),
        };
        self.calls().enumerate().map(of).collect()
    }

    fn pieces<'a>(&'a self, calls: &'a [ToolCall]) -> impl Iterator<Item = ReplyPiece> + Send + 'a {
        let parts = |text: &'a str| Parts { rest: text, chunk: self.chunk };
        let reasoning = parts(&self.reasoning).map(|part| ReplyPiece::Reasoning(part.to_owned()));
        let text = parts(&self.text).map(|part| ReplyPiece::Text(part.to_owned()));
        let calls = calls.iter().enumerate().flat_map(move |(index, call)| {
            let started =
                ReplyPiece::CallStarted { index, id: call.id.clone(), name: call.name.clone() };
            let arguments = parts(call.arguments.raw())
                .map(move |part| ReplyPiece::CallArguments { index, text: part.to_owned() });
            std::iter::once(started).chain(arguments)
        });
        reasoning.chain(text).chain(calls)
    }
}

impl Call {
    fn arguments(&self) -> String {
        self.arguments.clone().unwrap_or_else(|| {
            let (language, code) = (json!(self.language), json!(self.code));
            // By hand for the order, which is the one that models write.
            format!(r#"{{"language":{language},"code":{code}}}"#)
        })
    }
}

/// A text in parts of some characters each.
struct Parts<'a> {
    rest: &'a str,
    chunk: Option<NonZeroUsize>,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self
            .chunk
            .and_then(|chunk| self.rest.char_indices().nth(chunk.get()))
            .map_or(self.rest.len(), |(at, _)| at);
        let (part, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(part)
    }
}

/// Everything a message says.
fn content(message: &Message) -> String {
    match message {
        Message::System { text } | Message::User { text, .. } => text.clone(),
        Message::Result { text, .. } | Message::Earlier { text } => text.raw().to_owned(),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| call.arguments.raw());
            std::iter::once(text.raw()).chain(calls).collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests;
