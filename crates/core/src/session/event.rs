//! What can happen to a session, and how it stands in the record.

use super::{state::Audience, words};
use crate::{
    Body, Effects, FileChange, Findings, Grantor, Image, LeftOut, Reply, Secret, Stream, Untrusted,
    egress::Host,
    record::{ChangesState, Decision, Kept, TurnEnd},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The person asked the model.
    Asked(String),
    /// The person shows the model a picture, with the next prompt.
    Attached(Attachment),
    /// The person handed over code of their own: `interpreter run`.
    Submitted {
        /// The language's name.
        language: crate::Language,
        /// The code.
        code: String,
    },
    /// The model's reply is complete, or was cut by an interrupt.
    Replied(Reply),
    /// The model has summed up the oldest part of the conversation, or could not.
    Summarised(Result<Reply, Failure>),
    /// The provider says that the conversation is too long for the model.
    TooLong(Failure),
    /// The model, the sandbox or the record failed.
    Failed(Failure),
    /// Analysis of the proposal at hand is done.
    Judged(Findings),
    /// What the model wanted to see, or why there is nothing to see.
    Looked(Result<Untrusted, String>),
    /// The person answered the question, or something answered for them.
    Answered {
        /// The proposal's id.
        proposal: String,
        /// What they said.
        answer: Answer,
        /// Who spoke.
        by: Grantor,
    },
    /// The code printed something.
    Output(Chunk),
    /// The code wants a line from the person.
    InputWanted(InputWanted),
    /// The person typed it.
    InputGiven(Typed),
    /// The code wants to reach a host that is not listed.
    HostWanted(HostWanted),
    /// The person answered whether it may, or there was nobody to ask.
    HostAnswered(HostAnswer),
    /// The run ended.
    Ran(Ran),
    /// A kernel that had nothing to run has ended.
    KernelEnded {
        /// Its language.
        language: crate::Language,
        /// How: `was ended by …`, `exited with …`.
        how: String,
    },
    /// The person wants a fresh kernel for a language, or for all of them.
    Restart(Option<crate::Language>),
    /// The kernels of these languages are fresh.
    Restarted(Vec<crate::Language>),
    /// The person wants to talk to another model from now on, by its name.
    ModelWanted(String),
    /// The model that was wanted can be talked to; or why not.
    ModelFound(Result<Box<NewModel>, Failure>),
    /// The person decided what becomes of the staged changes.
    Decided(Settle),
    /// What they decided was done.
    Settled {
        /// The change set.
        id: String,
        /// Its state now.
        state: ChangesState,
        /// The files it was about.
        files: Vec<FileChange>,
        /// What was left as it is.
        left_out: Vec<LeftOut>,
    },
    /// The person pressed Ctrl-C.
    Interrupted,
    /// The person wants to leave.
    Quit,
}

/// A model that the rest of a session may be had with.
#[derive(Clone, Debug)]
pub struct NewModel {
    /// What the record shows.
    pub name: String,
    /// What the session must know of it.
    pub audience: Audience,
    /// What is said of the change, such as which of the project's instructions it is told.
    pub notes: Vec<String>,
}

/// A picture of the person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// What the person calls it, fit for a terminal.
    pub name: String,
    /// The picture.
    pub image: Image,
    /// Where its bytes are, beside the record.
    pub kept: Kept,
}

/// An answer to the question whether code may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Run it as it stands.
    Run,
    /// Run this instead.
    Edit(String),
    /// Do not run it. With a reason the model goes on; without one the turn is over.
    Reject {
        /// What the model is told.
        reason: Option<String>,
    },
}

/// What code asks the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputWanted {
    /// The proposal that asks.
    pub proposal: String,
    /// What it asks.
    pub prompt: Untrusted,
    /// Whether the answer is to be seen.
    pub echo: Echo,
}

/// Whether what a person types is seen, on the screen and in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// It is.
    Shown,
    /// It is not.
    Hidden,
}

/// What the person typed for the code.
#[derive(Debug)]
pub enum Typed {
    /// A line.
    Line(String),
    /// A line that nobody else may see.
    Hidden(Secret),
    /// That nothing more comes.
    End,
}

/// A host that code wants to reach, and that is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWanted {
    /// The proposal whose run is under way.
    pub proposal: String,
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
}

/// What is said to that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAnswer {
    /// The proposal whose run wanted it.
    pub proposal: String,
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// For how long it is granted; none if it is not.
    pub grant: Option<Grant>,
    /// Who says so.
    pub by: Grantor,
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

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The proposal that printed it.
    pub proposal: String,
    /// Which way it came.
    pub stream: Stream,
    /// The text; what is not UTF-8 is replaced.
    pub text: Untrusted,
    /// Its kind: `text/plain` for streams.
    pub mime: String,
    /// Other forms of a result, by kind.
    pub bundle: BTreeMap<String, Untrusted>,
    /// The name by which a later result replaces this one.
    pub display: Option<String>,
    /// The exact bytes as base64, where they are not UTF-8.
    pub bytes: Option<String>,
}

impl Chunk {
    /// Whether the piece that came right behind it is more of the same text.
    pub fn goes_on_in(&self, more: &Self) -> bool {
        let plain = |chunk: &Self| {
            chunk.stream != Stream::Result && chunk.bundle.is_empty() && chunk.bytes.is_none()
        };
        let same = self.proposal == more.proposal && self.stream == more.stream;
        same && plain(self) && plain(more)
    }

    fn body(&self) -> Body {
        Body::Output {
            proposal: self.proposal.clone(),
            stream: self.stream,
            text: self.text.clone(),
            mime: self.mime.clone(),
            bundle: self.bundle.clone(),
            display: self.display.clone(),
            bytes: self.bytes.clone(),
            kept: None,
        }
    }
}

/// How a run ended, by outside measure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// The proposal.
    pub proposal: String,
    /// The exit status, or the status that the driver claims.
    pub status: Option<i32>,
    /// The signal that ended the kernel.
    pub signal: Option<i32>,
    /// The limit that ended the run.
    pub limit: Option<String>,
    /// Whether the kernel is gone, so that the next run starts afresh.
    pub kernel_ended: bool,
    /// What else there is to know of how it ended, such as what may have been too little.
    pub remark: Option<String>,
    /// Milliseconds it took.
    pub ms: u64,
    /// What it did.
    pub effects: Effects,
}

impl Ran {
    /// Whether the code did what it was meant to, as far as can be told from outside.
    pub fn succeeded(&self) -> bool {
        self.status == Some(0) && self.signal.is_none() && self.limit.is_none()
    }
}

/// What becomes of staged changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settle {
    /// Put them into the person's folder.
    Apply,
    /// Forget them.
    Discard,
    /// Leave them staged, for `interpreter changes`.
    Later,
}

/// What failed outside of the code itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What, on what, why.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// What the turn ends as.
    pub end: TurnEnd,
}

impl Event {
    /// What the record says of it.
    pub fn bodies(&self) -> Vec<Body> {
        match self {
            Self::Asked(text) => vec![Body::Prompt { text: text.clone() }],
            Self::Attached(Attachment { name, image, kept }) => {
                vec![Body::Image { name: name.clone(), image: image.clone(), kept: kept.clone() }]
            }
            Self::Replied(reply) => {
                let (text, reasoning) = (reply.text.clone(), reply.reasoning.clone());
                reply.with_usage(Body::Reply { text, reasoning, finish: reply.finish })
            }
            Self::Summarised(Ok(reply)) => {
                reply.with_usage(Body::Summary { text: reply.text.clone() })
            }
            Self::Summarised(Err(failure)) => {
                vec![Body::Note { text: format!("no summary: {}", failure.message) }]
            }
            Self::Failed(failure) | Self::ModelFound(Err(failure)) => {
                vec![Body::Error { message: failure.message.clone(), hint: failure.hint.clone() }]
            }
            Self::Answered { proposal, answer, by } => vec![answer.body(proposal, *by)],
            Self::Output(chunk) => vec![chunk.body()],
            Self::InputWanted(wanted) => vec![Body::InputWanted {
                proposal: wanted.proposal.clone(),
                prompt: wanted.prompt.clone(),
                secret: wanted.echo == Echo::Hidden,
            }],
            Self::InputGiven(typed) => vec![Body::InputGiven {
                text: match typed {
                    Typed::Line(line) => Some(line.clone()),
                    Typed::Hidden(_) => Some("[secret]".into()),
                    Typed::End => None,
                },
            }],
            Self::HostWanted(HostWanted { proposal, host, port }) => vec![Body::HostWanted {
                proposal: proposal.clone(),
                host: host.to_string(),
                port: *port,
            }],
            Self::HostAnswered(HostAnswer { proposal, host, port, grant, by }) => {
                let proposal = proposal.clone();
                let (host, port, by) = (host.to_string(), *port, *by);
                vec![match grant {
                    Some(grant) => Body::HostGranted { proposal, host, port, granted: *grant, by },
                    None => Body::HostRefused { proposal, host, port, by },
                }]
            }
            Self::Ran(ran) => ran.bodies(),
            Self::Settled { id, state, files, left_out } => vec![Body::Changes {
                id: id.clone(),
                state: *state,
                files: files.clone(),
                left_out: left_out.clone(),
            }],
            Self::KernelEnded { language, how } => {
                vec![Body::Note { text: words::kernel_ended(language.name(), how) }]
            }
            Self::Restart(language) => vec![Body::Note {
                text: match language {
                    Some(language) => format!("restart of {language} asked for by you"),
                    None => "restart of everything asked for by you".into(),
                },
            }],
            Self::Restarted(languages) => vec![Body::Note { text: words::restarted(languages) }],
            Self::Interrupted => vec![Body::Note { text: "interrupted by you".into() }],
            // The step that follows says these in full: the proposal, the findings with the
            // proposal's id, what the model is sent, what was settled, the new model, the end.
            Self::Submitted { .. }
            | Self::ModelWanted(_)
            | Self::ModelFound(Ok(_))
            | Self::TooLong(_)
            | Self::Judged(_)
            | Self::Looked(_)
            | Self::Decided(_)
            | Self::Quit => vec![],
        }
    }
}

impl Answer {
    fn body(&self, proposal: &str, by: Grantor) -> Body {
        let (decision, code, reason) = match self {
            Self::Run => (Decision::Run, None, None),
            Self::Edit(code) => (Decision::Edit, Some(code), None),
            Self::Reject { reason } => (Decision::Reject, None, reason.clone()),
        };
        Body::Answer {
            proposal: proposal.into(),
            decision,
            by,
            hash: code.map(|code| crate::hash::sha256(code.as_bytes())),
            code: code.map(Untrusted::new),
            reason,
        }
    }
}

impl Ran {
    fn bodies(&self) -> Vec<Body> {
        let mut bodies = vec![
            Body::Effects {
                proposal: self.proposal.clone(),
                files: self.effects.files.clone(),
                network: self.effects.network.clone(),
                denials: self.effects.denials.clone(),
            },
            Body::RunFinished {
                proposal: self.proposal.clone(),
                status: self.status,
                signal: self.signal,
                limit: self.limit.clone(),
                kernel_ended: self.kernel_ended,
                ms: self.ms,
            },
        ];
        bodies.extend(self.remark.clone().map(|text| Body::Note { text }));
        if let Some(id) = &self.effects.changes {
            bodies.push(Body::Changes {
                id: id.clone(),
                state: ChangesState::Staged,
                files: self.effects.files.clone(),
                left_out: vec![],
            });
        }
        bodies
    }
}
