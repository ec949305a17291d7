//! Answers on their way to a question, and why one does not count.
//!
//! Plain values, in the words of whoever answers. `questions.rs` has what they mean.

use crate::{Grant, Grantor, Person, Pick, QuestionEnd, Secret, Span, outline::OutlineUnseen};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;

/// An answer as a front end gives it.
#[derive(Debug, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
pub enum GivenAnswer {
    /// Run the code as it stands, or the cells again.
    Run,
    /// Run this instead of the code. It is judged and asked about anew.
    Edit {
        /// The code.
        code: String,
    },
    /// Do not run it. With a reason the model goes on; without one the turn is over.
    Reject {
        /// The reason for the model.
        #[serde(default)]
        reason: Option<String>,
    },
    /// Run the code, and from now on other code without a question.
    Stand {
        /// For how long.
        span: Span,
        /// Which other code.
        covers: Covered,
    },
    /// Give the code this line.
    Give {
        /// The line.
        #[serde(deserialize_with = "secret")]
        text: Secret,
    },
    /// Give the code the end of input.
    End,
    /// Let the code reach the host.
    Allow {
        /// For how long.
        #[serde(rename = "for")]
        span: Grant,
    },
    /// Do not let it; do not install the packages.
    Refuse,
    /// Install the packages.
    Install,
    /// Put the changes into the person's folder, or those that are picked.
    Apply {
        /// The picks; all without any.
        #[serde(default)]
        picks: Option<Vec<Pick>>,
        /// The hash of the outline that was shown. Many changes are not applied without.
        #[serde(default)]
        seen: Option<String>,
    },
    /// Forget the changes.
    Discard,
    /// Decide on the changes later.
    Later,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    String::deserialize(deserializer).map(Secret::new)
}

/// The code that an answer covers besides the code that was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covered {
    /// All code.
    All,
    /// Code like that which was asked about.
    Kind,
}

/// An answer on its way to the question that it names.
#[derive(Debug)]
pub struct QuestionAnswer {
    /// The id of the question.
    pub question: String,
    /// Its hash.
    pub hash: String,
    /// The answer.
    pub answer: GivenAnswer,
    /// Whether the person gave it.
    pub by: Grantor,
    /// The name of the client that sent it, if it has one.
    pub who: Option<String>,
    /// The person who gave it, where people are known.
    pub voter: Option<Voter>,
}

/// A person who answers, at the moment when they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voter {
    /// Who it is.
    pub person: Person,
    /// The ids of everybody who may answer in this session now.
    pub may_answer: BTreeSet<String>,
}

/// The outcome of an answer that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTaken {
    /// The question is decided.
    Decides,
    /// It is one of several yeses, and the question stays open.
    Waits {
        /// How many are still missing.
        missing: u8,
    },
}

/// Why an answer does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerRefused {
    /// The question is no longer open.
    #[error("question {id} is not open any more: {}{}", why.words(), by_whom(by.as_deref()))]
    Closed {
        /// The id.
        id: String,
        /// Why it is not.
        why: QuestionEnd,
        /// The name of the client that answered it, if that has one.
        by: Option<String>,
    },
    /// There is no such question.
    #[error("there is no question {id}{}", others(open))]
    Unknown {
        /// The id.
        id: String,
        /// The questions that are open.
        open: Vec<String>,
    },
    /// The question shows something else than the answer was given to.
    #[error("the hash is not that of question {id}, so the answer was given to something else")]
    AnotherHash {
        /// The id.
        id: String,
    },
    /// A yes of somebody who wrote the code, or had it written.
    #[error("question {id} takes a yes from somebody else: the code is yours")]
    ByAuthor {
        /// The id.
        id: String,
    },
    /// Another yes of the same person.
    #[error("you have said yes to question {id} already; it takes another person's")]
    Twice {
        /// The id.
        id: String,
    },
    /// It would apply many changes whose outline it does not name.
    #[error(transparent)]
    OutlineUnseen(#[from] OutlineUnseen),
    /// It is no answer to that question.
    #[error("{reason}")]
    NotFitting {
        /// Why not.
        reason: &'static str,
    },
    /// The session is over.
    #[error("the session is over")]
    SessionOver,
}

fn by_whom(by: Option<&str>) -> String {
    by.map(|by| format!(", by {by}")).unwrap_or_default()
}

fn others(open: &[String]) -> String {
    match open {
        [] => "; none is open".into(),
        open => format!("; open: {}", open.join(", ")),
    }
}

/// A question that is put, with the id and the hash that its answer names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posed<T> {
    /// Its id.
    pub id: String,
    /// Its hash.
    pub hash: String,
    /// Its subject.
    pub about: T,
}

impl GivenAnswer {
    /// Whether it lets something happen. Nobody cannot say such a thing.
    pub(super) fn is_yes(&self) -> bool {
        match self {
            Self::Run
            | Self::Edit { .. }
            | Self::Stand { .. }
            | Self::Give { .. }
            | Self::Allow { .. }
            | Self::Install
            | Self::Apply { .. }
            | Self::Discard => true,
            Self::Reject { .. } | Self::End | Self::Refuse | Self::Later => false,
        }
    }
}
