//! Which parts of a record somebody decides on, or say what was done: code, names of files, hosts and
//! packages.
//!
//! Those are on record as they were drawn and done, so that a record can be compared with what
//! happened: only known values are masked in them. Everything else is searched for tokens of a known
//! shape too. A new kind of record must say here which of its fields are which.

use super::Scope;
use crate::{Body, QuestionAbout};

/// The fields of a record that are decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    Everything,
    Fields(&'static [&'static str]),
}

impl Decided {
    /// How a field is searched.
    pub(super) fn scope_of(self, field: &str) -> Scope {
        match self {
            Self::Everything => Scope::Known,
            Self::Fields(fields) if fields.contains(&field) => Scope::Known,
            Self::Fields(_) => Scope::All,
        }
    }

    /// Those of a record that nobody decides on any more: no code is.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are as in the record")]
    pub(super) fn exported(body: &Body) -> Self {
        match body {
            Body::Proposal { .. } | Body::Answer { .. } => Self::Fields(&[]),
            Body::Question(asked) if matches!(asked.about, QuestionAbout::Code(_)) => {
                Self::Fields(&[])
            }
            other => Self::of(other),
        }
    }

    /// Those of a record.
    pub(super) fn of(body: &Body) -> Self {
        match body {
            Body::Question(_)
            | Body::StandingGiven(_)
            | Body::HostWanted(_)
            | Body::HostGranted { .. }
            | Body::HostRevoked { .. }
            | Body::HostRefused { .. }
            | Body::PackagesWanted { .. }
            | Body::PackagesGranted { .. }
            | Body::PackagesResolved { .. }
            | Body::ChangesWanted { .. }
            | Body::Changes(_) => Self::Everything,
            Body::SessionStarted { .. } => Self::Fields(&["confinement"]),
            Body::Effects { .. } => Self::Fields(&["files", "network", "denials"]),
            Body::TriedLate { .. } => Self::Fields(&["network", "denials"]),
            Body::Proposal { .. } => Self::Fields(&["code", "invocation"]),
            Body::Answer { .. } => Self::Fields(&["code"]),
            Body::Findings { .. } => Self::Fields(&["capabilities"]),
            Body::Verdict { .. } => Self::Fields(&["rule"]),
            Body::SecretUsed(_) => Self::Fields(&["host"]),
            Body::PackagesChanged { .. } => Self::Fields(&["installed", "removed", "network"]),
            Body::PackagesFailed { .. } => Self::Fields(&["names", "network"]),
            Body::Resumed { .. }
            | Body::ModelChanged { .. }
            | Body::Prompt { .. }
            | Body::Image { .. }
            | Body::Piped(_)
            | Body::File { .. }
            | Body::FileHeader(_)
            | Body::Request { .. }
            | Body::Reply { .. }
            | Body::Conversation { .. }
            | Body::Summary { .. }
            | Body::Usage { .. }
            | Body::Replay { .. }
            | Body::Restarted { .. }
            | Body::Rewound { .. }
            | Body::CameBack(_)
            | Body::NotProposed { .. }
            | Body::OutsideText { .. }
            | Body::QuestionClosed { .. }
            | Body::Author { .. }
            | Body::Approval { .. }
            | Body::ApprovalWithdrawn { .. }
            | Body::StandingRevoked { .. }
            | Body::RunStarted { .. }
            | Body::Output(_)
            | Body::InputWanted(_)
            | Body::LongRun { .. }
            | Body::CompletionWanted { .. }
            | Body::StartedAhead { .. }
            | Body::DiffShown { .. }
            | Body::InputGiven { .. }
            | Body::PackagesRefused { .. }
            | Body::RunFinished { .. }
            | Body::TimeUp { .. }
            | Body::TurnFinished { .. }
            | Body::Error { .. }
            | Body::Note { .. }
            | Body::OutputsPruned { .. }
            | Body::RecordAccepted { .. }
            | Body::Anchored { .. }
            | Body::SessionsRemoved { .. }
            | Body::SessionEnded {} => Self::Fields(&[]),
        }
    }
}
