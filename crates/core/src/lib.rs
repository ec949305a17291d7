//! Decides. Reads nothing, waits for nothing, performs nothing.
//!
//! The words of the product live here, in the order data moves: a prompt goes to a model, whose
//! [`Reply`] holds [`Proposal`]s; analysis turns each into [`Findings`]; [`policy`] gives a
//! [`Verdict`]; a yes becomes a [`Permit`]; running it gives [`output`] and [`effects`]; and all
//! of it is a [`Record`]. [`session::State::step`] joins them.
//!
//! This crate must not touch disk, network, clock, environment or processes, and has no async.

pub use crate::{
    broker::{Broker, SecretGrant, SecretUse, WantedUse},
    checkpoint::{
        Beside, Checkpoint, FilesCheckpoint, FilesRewound, KernelCheckpoint, KernelRewound,
        MemoryCheckpoint, MemoryRewound, RewindScope, Rewound,
    },
    confinement::{Access, Confinement, Limits, Network, Reached, Workspace},
    declaration::Declaration,
    deed::Deed,
    denial::{Denial, Denials, Denied},
    effects::{
        About, Admission, AppliedHunks, Change, Danger, Effects, FileChange, HostContact, LeftOut,
        Turn,
    },
    findings::{Capability, Confidence, Findings, Merged, Risk},
    image::Image,
    invocation::Invocation,
    language::{Continuity, Language, LanguageInfo, Languages, MissingLanguage},
    message::{Message, ToolCall},
    output::{Excerpt, Printed, Stream},
    permit::{Grantor, Permit},
    pick::{Extent, Pick, ShownChange},
    piped::Piped,
    policy::{ApprovalMode, Opinion, Patterns, Policy, RiskLimit, Rule, Rules, Verdict},
    proposal::{Again, Origin, Proposal},
    put::{FilePut, PutContent},
    question::{CellAgain, CodeKind, CodeQuestion, QuestionAbout, QuestionEnd, RecordedQuestion},
    quorum::{AskedQuorum, People, Person, Quorum},
    record::{Body, Record},
    redact::Redactor,
    reply::{Finish, Reply, Usage},
    run::{
        Blob, Changes, ChangesState, Grant, HostWanted, InputWanted, LongRun, Output, Prepared,
        Ran, Typed,
    },
    sandbox::{Backend, Choice, Kept, Lack, Promise, Sandboxing},
    scanner::Scanner,
    secret::Secret,
    standing::{Coverage, Span, StandingAnswer},
    theme::{Background, Palette, Theme},
    understanding::{Understanding, UnknownName},
    untrusted::Untrusted,
    wire_format::WireFormat,
};

pub mod autorun;
pub mod broker;
pub mod budget;
mod checkpoint;
pub mod confinement;
pub mod context;
pub mod data_file;
pub mod declaration;
pub mod deed;
pub mod denial;
pub mod dotenv;
pub mod effects;
pub mod egress;
pub mod extract;
mod few_shot;
pub mod file_header;
pub mod findings;
pub mod forms;
pub mod hash;
pub mod image;
pub mod import;
pub mod instructions;
mod invocation;
pub mod landing;
pub mod language;
pub mod look;
pub mod message;
pub mod ocsf;
pub mod outline;
pub mod output;
pub mod packages;
pub mod page;
pub mod permit;
pub mod pick;
pub mod piped;
pub mod policy;
pub mod project_code;
pub mod proposal;
pub mod put;
pub mod question;
pub mod quorum;
pub mod record;
pub mod redact;
pub mod reply;
pub mod roster;
mod run;
pub mod sandbox;
mod scanner;
pub mod schema;
pub mod secret;
pub mod sensitive;
pub mod session;
pub mod similar;
pub mod standing;
pub mod surroundings;
pub mod system_users;
pub mod taint;
mod theme;
pub mod understanding;
pub mod unquoted;
pub mod untrusted;
pub mod vault;
mod wire_format;
