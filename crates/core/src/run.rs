//! The words of a run: what stands ready, what it prints and asks, how it ended.
//!
//! The runner says them, the session takes them in as events, and the record keeps them: one type
//! for each, so that nothing is translated on the way.

use crate::{Effects, FileChange, Language, LeftOut, Secret, Stream, Untrusted, egress::Host};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A kernel that is ready to run code, and the sandbox that bounds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The language of the kernel.
    pub language: Language,
    /// The name of the sandbox.
    pub backend: String,
    /// The promises that are enforced.
    pub enforced: Vec<String>,
    /// The promises that are not, each with the reason.
    pub missing: Vec<String>,
}

/// A piece of output. `bytes` has the exact bytes, as base64, where they are not valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The proposal that printed it.
    pub proposal: String,
    /// Which way it came.
    pub stream: Stream,
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: Untrusted,
    /// Its kind: `text/plain` for streams.
    pub mime: String,
    /// Other forms of a result, by kind; pictures and the like as base64.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub bundle: BTreeMap<String, Untrusted>,
    /// The name by which a later result replaces this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub display: Option<String>,
    /// The exact bytes as base64, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<String>,
    /// Where the whole of it is, if it is too large for the record. The record then holds none of
    /// the above but its kind; whoever reads it back gets all of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kept: Option<Blob>,
}

impl Output {
    /// A piece of plain text.
    pub fn text(proposal: impl Into<String>, stream: Stream, text: impl Into<String>) -> Self {
        Self {
            proposal: proposal.into(),
            stream,
            text: Untrusted::new(text),
            mime: "text/plain".into(),
            bundle: BTreeMap::new(),
            display: None,
            bytes: None,
            kept: None,
        }
    }

    /// Whether the piece that came right behind it is more of the same text.
    pub fn goes_on_in(&self, more: &Self) -> bool {
        let plain = |one: &Self| {
            one.stream != Stream::Result && one.bundle.is_empty() && one.bytes.is_none()
        };
        let same = self.proposal == more.proposal && self.stream == more.stream;
        same && plain(self) && plain(more)
    }
}

/// Bytes that have a file of their own beside the record, named by their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// The SHA-256 of the bytes, in hexadecimal.
    pub hash: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The number of characters of the text.
    pub characters: u64,
}

/// A question of the code to the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputWanted {
    /// The proposal that asks.
    pub proposal: String,
    /// The words of the question.
    pub prompt: Untrusted,
    /// Whether the answer is hidden, on the screen and in the record.
    pub secret: bool,
}

/// Code that has been running for long, which the person may end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongRun {
    /// The proposal that runs.
    pub proposal: String,
    /// How long it has been running, without the time that questions waited.
    pub seconds: u64,
    /// After how many more seconds it ends if there's no answer.
    pub ends_in: u64,
}

/// The person's answer to the code.
#[derive(Debug)]
pub enum Typed {
    /// A line.
    Line(String),
    /// A line that nobody else may see.
    Hidden(Secret),
    /// The end of input.
    End,
}

/// A host that code wants to reach, and that is not listed or not its to reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostWanted {
    /// The proposal whose run is under way.
    pub proposal: String,
    /// The host, by name or address.
    pub host: Host,
    /// The port on it.
    pub port: u16,
    /// Whether it is listed, but not named by the findings of code that nobody was asked about.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub listed: bool,
}

/// For how long a host is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// For the run that is under way.
    Once,
    /// Until the session ends.
    Session,
    /// For good: it is written into the person's config file.
    Always,
}

/// How a run ended, by outside measure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// The proposal that ran.
    pub proposal: String,
    /// The exit status, or the status that the driver claims.
    pub status: Option<i32>,
    /// The signal that ended the kernel.
    pub signal: Option<i32>,
    /// The limit that ended the run.
    pub limit: Option<String>,
    /// Whether the kernel is gone, so that the next run starts afresh.
    pub kernel_ended: bool,
    /// A remark on how it ended, such as a limit that may have been too low.
    pub remark: Option<String>,
    /// Milliseconds from start to end.
    pub ms: u64,
    /// Its effects on files and hosts.
    pub effects: Effects,
}

impl Ran {
    /// Whether the code did what it was meant to, as far as can be told from outside.
    pub fn succeeded(&self) -> bool {
        self.status == Some(0) && self.signal.is_none() && self.limit.is_none()
    }
}

/// A change set, and the state that it is in now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The id of the change set.
    pub id: String,
    /// Its state.
    pub state: ChangesState,
    /// The files that it is about.
    pub files: Vec<FileChange>,
    /// Changes that were withheld, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// The state of a change set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangesState {
    /// Waiting for a decision, apart from the person's files.
    Staged,
    /// In the person's files.
    Applied,
    /// Forgotten.
    Discarded,
    /// Taken out of the person's files again.
    Undone,
}

impl ChangesState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Applied => "applied",
            Self::Discarded => "discarded",
            Self::Undone => "undone",
        }
    }
}
