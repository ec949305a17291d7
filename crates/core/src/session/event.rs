//! Events of a session, and their records.

use super::{
    answers::{GivenAnswer, Posed, QuestionAnswer},
    changes_wish::ChangesWish,
    setup::ModelProfile,
    wishes::{OpenCode, Replay, Rewind},
    words,
};
use crate::{
    Blob, Body, Changes, ChangesState, Denial, Findings, Grant, Grantor, HostContact, HostWanted,
    Image, InputWanted, Invocation, Language, Message, Output, Person, Piped, Prepared, Ran, Reply,
    Rewound, SecretUse, Span, StandingAnswer, Typed, Untrusted, WantedUse,
    budget::Counted,
    egress::Host,
    file_header::FileHeader,
    outline::ApplyOrder,
    packages::{PackageOrder, PackagesDone, PackagesFailed, PackagesFound},
    record::{Decision, SessionHead, TurnEnd},
    standing::Coverage,
    taint::TaintBrought,
};

/// The conversation of an earlier session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The id of that session.
    pub session: String,
    /// Everything that was said in it, without the opening.
    pub messages: Vec<Message>,
    /// The cell before which it is left, if it is not taken to its end.
    pub before: Option<String>,
    /// The last of its records that counts.
    pub at: Option<SessionHead>,
    /// The number of the next run.
    pub(super) next_id: u32,
    /// The number of the next question.
    pub(super) next_question: u32,
    /// Code whose question was still open, see `reopening.rs`.
    pub(super) open: Option<OpenCode>,
    /// Why that is not asked again.
    pub(super) not_asked: Option<String>,
    /// The people of a team whose words are in it.
    pub(super) authors: Vec<Person>,
    /// The outside text and the secrets that it may have.
    pub(super) taint: TaintBrought,
    /// The standing noes of the person that hold at its end.
    pub(super) noes: Vec<StandingAnswer>,
}

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// Words of this person of a team are in the events that follow.
    Spoke(Person),
    /// The person asked the model.
    Asked(String),
    /// The person shows the model a picture, with the next prompt.
    Attached(Attachment),
    /// The person piped data in, with the next prompt.
    Piped(Piped),
    /// The person gives the model a text file, with the next prompt.
    FileAttached(AttachedFile),
    /// The person goes on with an earlier conversation.
    Resumed(Box<Earlier>),
    /// The model is given the header of a file that the next prompt names.
    HeaderGiven(FileHeader),
    /// So much was spent so far.
    Counted(Counted),
    /// The person has the model answer the last prompt again: everything after it is dropped.
    Retried,
    /// The person takes the last prompt back, and with it everything after it.
    Forgotten,
    /// The person handed over code of their own: `interpreter run`.
    Submitted {
        /// The language's name.
        language: Language,
        /// The code.
        code: String,
        /// How it was called, if it came from a command line.
        invocation: Option<Invocation>,
    },
    /// The model's reply is complete, or was cut by an interrupt.
    Replied(Reply),
    /// The model has summed up the oldest part of the conversation, or could not.
    Summarised(Result<Reply, Failure>),
    /// The provider says that the conversation is too long for the model.
    TooLong(Failure),
    /// The model failed.
    Failed(Failure),
    /// The person wants cells run again, to rebuild the memory of interpreters.
    ReplayWanted(Box<Replay>),
    /// The person goes back to before a cell, and has been told what that means.
    RewindWanted(Box<Rewind>),
    /// Kernels and staged files went back to a checkpoint, as far as they could; or why not.
    WentBack(Result<Rewound, Failure>),
    /// Analysis of those cells is done.
    JudgedAll(Vec<Findings>),
    /// Analysis of the proposal at hand is done.
    Judged(Findings),
    /// The requested part of an output, or why it is not available.
    Looked(Result<Untrusted, String>),
    /// Somebody answered a question. It counts if that very question is open, see `questions.rs`.
    QuestionAnswered(Box<QuestionAnswer>),
    /// The person gives an answer that holds for more than one piece of code.
    StandingGiven(Span, Coverage),
    /// The person takes the standing answer of this number back.
    StandingRevoked(u32),
    /// The person takes back that code may reach a host, by its port.
    HostRevoked(Host, u16),
    /// The person with this id may not answer any more.
    RightLost(String),
    /// The person is about to write code in this language.
    Expected(Language),
    /// A kernel is ready, and a sandbox bounds it.
    Prepared(Prepared),
    /// The kernel was gone before the code began.
    NotBegun,
    /// The code printed something.
    Output(Output),
    /// The run has come to this line.
    Line(u32),
    /// The code wants a line from the person.
    InputWanted(InputWanted),
    /// The code has been running for long while a person is there, who is asked whether it may
    /// continue. The clock is the front end's.
    RunsLong {
        /// How long, without the time that questions waited.
        seconds: u64,
        /// How long the person has to answer, in seconds.
        ends_in: u64,
    },
    /// The code wants to reach a host that is not listed.
    HostWanted(HostWanted),
    /// A request of the code is to use a secret, and waits until that is on record.
    SecretWanted(WantedUse),
    /// The run ended.
    Ran(Ran),
    /// The person wants packages installed or removed.
    PackagesOrdered(PackageOrder),
    /// An order for packages comes to this; or why that could not be found out.
    PackagesResolved {
        /// The order.
        order: PackageOrder,
        /// Its plan.
        outcome: Result<Box<PackagesFound>, PackagesFailed>,
    },
    /// Packages were installed or removed; or why not.
    PackagesChanged {
        /// The order.
        order: PackageOrder,
        /// Its outcome.
        outcome: Result<PackagesDone, PackagesFailed>,
    },
    /// A kernel that had nothing to run has ended.
    KernelEnded {
        /// Its language.
        language: Language,
        /// How: `was ended by …`, `exited with …`.
        how: String,
    },
    /// The person wants a fresh kernel for a language, or for all of them.
    Restart(Option<Language>),
    /// The kernels of these languages are fresh.
    Restarted(Vec<Language>),
    /// The person wants to talk to another model from now on, by its name.
    ModelWanted(String),
    /// The model that was wanted can be talked to; or why not.
    ModelFound(Result<Box<NewModel>, Failure>),
    /// A snapshot of the staged changes was taken, for the person to decide on.
    Reviewed(Changes),
    /// The staged changes were applied, discarded, undone or redone.
    Settled(Changes),
    /// The person wants something done with the changes of this session, between two turns.
    ChangesWanted(ChangesWish),
    /// Sandbox, kernel or workspace failed. It matters if the session waits for one of them.
    RunnerFailed(Failure),
    /// Programs that were left running tried this between two runs, or after the last one.
    TriedLate {
        /// The newest run until then.
        after: Option<String>,
        /// Hosts that they tried to reach.
        network: Vec<HostContact>,
        /// Denials by the sandbox.
        denials: Vec<Denial>,
        /// Secrets that they tried to use.
        secrets: Vec<SecretUse>,
    },
    /// The turn has used up its time, this many seconds.
    TimeUp(u64),
    /// The person pressed Ctrl-C.
    Interrupted,
    /// The person wants to leave.
    Quit,
    /// The server ends. Whoever has been asked about code may still answer when it is back.
    ServerEnds,
}

/// A model that the rest of a session may be had with.
#[derive(Clone, Debug)]
pub struct NewModel {
    /// The name in the record.
    pub name: String,
    /// The properties of the model.
    pub profile: ModelProfile,
    /// Notes on the change, such as which project instructions it gets.
    pub notes: Vec<String>,
}

/// A picture of the person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The person's name for it, fit for a terminal.
    pub name: String,
    /// The picture.
    pub image: Image,
    /// Where its bytes are, beside the record.
    pub kept: Blob,
}

/// A text file of the person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    /// The person's name for it, fit for a terminal.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its text, or as much of it as is sent, with a note on what was cut.
    pub text: Untrusted,
}

/// An answer to the question whether code may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Run it as it stands.
    Run,
    /// Run it as it stands, and from now on other code like it without a question.
    Standing(Span, Coverage),
    /// Run this instead.
    Edit(String),
    /// Do not run it. With a reason the model goes on; without one the turn is over.
    Reject {
        /// The reason for the model.
        reason: Option<String>,
    },
}

/// The answer to the question whether packages may be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackagesAnswer {
    /// Install them, and run what wanted them.
    Install,
    /// Do not.
    No,
}

/// The answer to that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAnswer {
    /// The proposal whose run wanted it.
    pub proposal: String,
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// The duration of the grant, or `None` if it is refused.
    pub grant: Option<Grant>,
    /// Who says so.
    pub by: Grantor,
}

/// The decision on staged changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settle {
    /// Put what was picked, or all of them, into the person's folder. If some were picked, the
    /// person decides on the rest anew.
    Apply(ApplyOrder),
    /// Forget them.
    Discard,
    /// Leave them staged, for `interpreter changes`.
    Later,
}

/// A failure outside the code itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What, on what, why.
    pub message: String,
    /// A hint.
    pub hint: Option<String>,
    /// The end of the turn.
    pub end: TurnEnd,
}

impl Event {
    /// The record of it, whatever the session is at.
    pub(super) fn bodies(&self) -> Vec<Body> {
        match self {
            Self::Asked(text) => vec![Body::Prompt { text: text.clone() }],
            Self::Attached(Attachment { name, image, kept }) => {
                vec![Body::Image { name: name.clone(), image: image.clone(), kept: kept.clone() }]
            }
            Self::Piped(piped) => vec![Body::Piped(piped.clone())],
            Self::FileAttached(AttachedFile { name, bytes, text }) => {
                vec![Body::File { name: name.clone(), bytes: *bytes, text: text.clone() }]
            }
            Self::Counted(_) => Vec::new(),
            Self::HeaderGiven(header) => vec![Body::FileHeader(header.clone())],
            Self::ChangesWanted(wish) => vec![wish.body()],
            Self::Replied(reply) => {
                let (text, reasoning) = (reply.text.clone(), reply.reasoning.clone());
                let (calls, finish) = (reply.calls.clone(), reply.finish);
                reply.with_usage(Body::Reply { text, reasoning, calls, finish })
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
            Self::Output(output) => vec![Body::Output(output.clone())],
            Self::InputWanted(wanted) => vec![Body::InputWanted(wanted.clone())],
            Self::HostWanted(wanted) => vec![Body::HostWanted(wanted.clone())],
            Self::SecretWanted(wanted) => vec![Body::SecretUsed(wanted.clone())],
            Self::Ran(ran) => ran.bodies(),
            Self::PackagesResolved { order, outcome } => vec![resolved(order, outcome)],
            Self::PackagesChanged { order, outcome } => vec![packages(order, outcome)],
            Self::Settled(changes) => vec![Body::Changes(changes.clone())],
            Self::TriedLate { after, network, denials, secrets } => {
                vec![late(after.clone(), (network, denials, secrets))]
            }
            Self::KernelEnded { language, how } => {
                vec![Body::Note { text: words::kernel_ended(language.name(), how) }]
            }
            Self::Restart(language) => vec![Body::Note {
                text: match language {
                    Some(language) => format!("restarting {language}"),
                    None => "restarting every interpreter".into(),
                },
            }],
            Self::Interrupted => vec![Body::Note { text: words::INTERRUPTED.into() }],
            // The step that follows records these in full: the author, the proposal, the findings
            // with the proposal's id, what the model is sent, what was settled, the new model, the
            // standing answer with its number, the end. That of an answer is in `State::bodies`.
            Self::QuestionAnswered(_)
            | Self::Spoke(_)
            | Self::Submitted { .. }
            | Self::Resumed(_)
            | Self::Retried
            | Self::Forgotten
            | Self::StandingGiven(..)
            | Self::StandingRevoked(_)
            | Self::HostRevoked(..)
            | Self::RightLost(_)
            | Self::Expected(_)
            | Self::Prepared(_)
            | Self::NotBegun
            | Self::Line(_)
            | Self::Reviewed(_)
            | Self::RunnerFailed(_)
            | Self::ModelWanted(_)
            | Self::ModelFound(Ok(_))
            | Self::TooLong(_)
            | Self::Judged(_)
            | Self::ReplayWanted(_)
            | Self::RewindWanted(_)
            | Self::WentBack(_)
            | Self::JudgedAll(_)
            | Self::Restarted(_)
            | Self::Looked(_)
            | Self::PackagesOrdered(_)
            | Self::RunsLong { .. }
            | Self::TimeUp(_)
            | Self::Quit
            | Self::ServerEnds => vec![],
        }
    }
}

impl<T> Posed<T> {
    /// The person's answer to it.
    pub fn answer(&self, answer: GivenAnswer) -> Event {
        self.answer_by(answer, Grantor::Person)
    }

    /// An answer to it by whoever speaks in the person's place: nobody, or a flag of theirs.
    pub fn answer_by(&self, answer: GivenAnswer, by: Grantor) -> Event {
        let (question, hash) = (self.id.clone(), self.hash.clone());
        let given = QuestionAnswer { question, hash, answer, by, who: None, voter: None };
        Event::QuestionAnswered(Box::new(given))
    }
}

impl Answer {
    pub(super) fn body(&self, proposal: &str, by: Grantor) -> Body {
        let (decision, code, reason) = match self {
            Self::Run | Self::Standing(..) => (Decision::Run, None, None),
            Self::Edit(code) => (Decision::Edit, Some(code), None),
            Self::Reject { reason } => (Decision::Reject, None, reason.clone()),
        };
        Body::Answer {
            proposal: proposal.into(),
            decision,
            by,
            hash: code.map(|code| crate::hash::sha256(code.as_bytes())),
            code: code.map(Untrusted::new),
            sealed: None,
            reason,
        }
    }
}

/// The packages that an order comes to.
fn resolved(order: &PackageOrder, outcome: &Result<Box<PackagesFound>, PackagesFailed>) -> Body {
    match outcome.clone() {
        Ok(found) => {
            let PackagesFound { plan, tool, sandbox, network } = *found;
            let order = order.clone();
            Body::PackagesResolved { order, list: plan.list, tool, sandbox, network }
        }
        Err(failed) => packages(order, &Err(failed)),
    }
}

/// The outcome of an order for packages.
fn packages(order: &PackageOrder, outcome: &Result<PackagesDone, PackagesFailed>) -> Body {
    match outcome.clone() {
        Ok(PackagesDone { installed, removed, tool, sandbox, network, remark }) => {
            Body::PackagesChanged { installed, removed, tool, sandbox, network, remark }
        }
        Err(PackagesFailed { reason, network, .. }) => {
            Body::PackagesFailed { order: order.clone(), reason, network }
        }
    }
}

/// Input that the person gave to code. A secret is not written down.
pub(super) fn given(typed: &Typed) -> Body {
    Body::InputGiven {
        text: match typed {
            Typed::Line(line) => Some(line.clone()),
            Typed::Hidden(_) => Some("[secret]".into()),
            Typed::End => None,
        },
    }
}

impl HostAnswer {
    pub(super) fn body(&self) -> Body {
        let Self { proposal, host, port, grant, by } = self.clone();
        match grant {
            Some(granted) => Body::HostGranted { proposal, host, port, granted, by },
            None => Body::HostRefused { proposal, host, port, by },
        }
    }
}

/// Something that programs which were left running tried.
fn late(after: Option<String>, of: (&[HostContact], &[Denial], &[SecretUse])) -> Body {
    let (network, denials, secrets) = (of.0.to_vec(), of.1.to_vec(), of.2.to_vec());
    Body::TriedLate { after, network, denials, secrets }
}

impl Ran {
    pub(super) fn bodies(&self) -> Vec<Body> {
        let mut bodies = vec![
            Body::Effects {
                proposal: self.proposal.clone(),
                files: self.effects.files.clone(),
                network: self.effects.network.clone(),
                denials: self.effects.denials.clone(),
                secrets: self.effects.secrets.clone(),
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
            bodies.push(Body::Changes(Changes {
                id: id.clone(),
                state: ChangesState::Staged,
                files: self.effects.files.clone(),
                left_out: vec![],
            }));
        }
        bodies
    }
}
