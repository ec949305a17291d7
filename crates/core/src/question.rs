//! Questions to a person, as they stand in the record: everything that is needed to show one and to
//! decide on it.
//!
//! # Threat
//! An answer that was meant for something else: for code as it was before an edit, for another
//! host, for a question that somebody else has answered meanwhile.
//!
//! # Mechanism
//! Each question has an id within its session, and a hash over all that it shows. An answer names
//! both, so it decides on exactly what was shown. The hash is that of the question as it is on
//! record, without secrets, so whoever reads the record can compute it again.
//!
//! Plain values. `session/questions.rs` decides which question is open.

use crate::{
    AskedQuorum, Capability, Coverage, FileChange, Grant, InputWanted, Invocation, LeftOut,
    LongRun, Opinion, Risk, Untrusted,
    egress::Host,
    hash::canonical_sha256,
    outline::Outline,
    packages::{PackageList, PackageOrder},
    record::CellLeftOut,
};
use serde::{Deserialize, Serialize};

/// A question as it stands in the record, before it is put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedQuestion {
    /// Its id within the session: `q3`.
    pub id: String,
    /// The hash of what it is about, see [`QuestionAbout::hash`].
    pub hash: String,
    /// Its subject.
    #[serde(flatten)]
    pub about: QuestionAbout,
}

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum QuestionAbout {
    /// Whether code may run.
    Code(Box<CodeQuestion>),
    /// A line that code wants from the person.
    Input(InputWanted),
    /// Whether code that has been running for long may continue.
    LongRun(LongRun),
    /// Whether code may reach a host.
    Host {
        /// The proposal whose run wants it.
        proposal: String,
        /// The host.
        host: Host,
        /// The port.
        port: u16,
        /// Whether it is listed, but not named by the findings of code that nobody was asked about.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        listed: bool,
        /// The spans that are offered.
        grants: Vec<Grant>,
    },
    /// Whether packages may be installed.
    Packages {
        /// The proposal that wants them.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        proposal: Option<String>,
        /// The packages.
        #[serde(flatten)]
        order: PackageOrder,
        /// Everything that would come and go. Without it the index was not asked yet: the answer is
        /// about asking it, and with `build` about running code of the packages.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        list: Option<PackageList>,
        /// Whether code that failed without them runs again with them.
        runs_again: bool,
        /// Who must approve, if one yes is not enough or not everybody's counts.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        quorum: Option<AskedQuorum>,
    },
    /// Whether cells may run again.
    Replay {
        /// Those that would run, in order.
        cells: Vec<CellAgain>,
        /// Those that would not, and why.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        left_out: Vec<CellLeftOut>,
    },
    /// Whether staged changes are kept.
    Changes {
        /// The id of the change set.
        changes: String,
        /// The files that it is about.
        files: Vec<FileChange>,
        /// Changes that are withheld, and why.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        left_out: Vec<LeftOut>,
        /// The names that are shown before all of them are applied, and how the others are counted.
        /// `None` for a few, which are all named.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        outline: Option<Outline>,
    },
}

/// The question whether code may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeQuestion {
    /// The proposal.
    pub proposal: String,
    /// Its language.
    pub language: String,
    /// The code, as it would run but for the values in `masked`.
    pub code: Untrusted,
    /// The names of known values that are masked in it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub masked: Vec<String>,
    /// The SHA-256 of the code that would run.
    pub code_hash: String,
    /// How it was called, if it came from a command line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub invocation: Option<Invocation>,
    /// The gravest finding.
    pub risk: Risk,
    /// The findings.
    pub capabilities: Vec<Capability>,
    /// The verdict of the rules.
    pub decision: Opinion,
    /// The rule that decided so.
    pub rule: String,
    /// Whether a yes may hold for more than this code.
    pub may_stand: bool,
    /// Whether a yes to this kind of code may become a rule.
    pub may_last: bool,
    /// The code that a yes to its kind covers, if a yes may hold for more than this code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code_kind: Option<CodeKind>,
    /// The rule that a yes for good becomes, in words, if it may become one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lasting_rule: Option<Untrusted>,
    /// The bounds of the run, in short lines.
    pub confinement: Vec<String>,
    /// Whether the person has edited the code.
    pub edited: bool,
    /// Who must approve, if one yes is not enough or not everybody's counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quorum: Option<AskedQuorum>,
}

/// A kind of code, as far as a yes to it covers other code: of the same language, with no finding
/// and no program besides these. The arguments of findings may be others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeKind {
    /// The names of the findings.
    pub does: Vec<String>,
    /// The programs that it starts.
    pub starts: Vec<Untrusted>,
    /// All of it in words.
    pub words: Untrusted,
}

/// A cell that would run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellAgain {
    /// The proposal by which it would.
    pub proposal: String,
    /// The cell that it was.
    pub cell: String,
    /// Its language.
    pub language: String,
    /// The code.
    pub code: Untrusted,
    /// The SHA-256 of the code that would run.
    pub code_hash: String,
    /// The gravest finding.
    pub risk: Risk,
    /// The findings.
    pub capabilities: Vec<Capability>,
    /// The verdict of the rules of now.
    pub decision: Opinion,
    /// The rule that decided so.
    pub rule: String,
}

impl CodeKind {
    /// The kind that a standing answer covers, if it covers one.
    pub fn of(covers: &Coverage) -> Option<Self> {
        let Coverage::Kind { does, starts, .. } = covers else { return None };
        Some(Self {
            does: does.iter().cloned().collect(),
            starts: starts.iter().map(Untrusted::new).collect(),
            words: Untrusted::new(covers.words()),
        })
    }
}

/// Why a question is no longer open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionEnd {
    /// It was answered.
    Answered,
    /// Somebody interrupted.
    Interrupted,
    /// The time of the turn was over.
    TimedOut,
    /// The session ended.
    Ended,
    /// The subject of the question is gone: the run is over, or something failed.
    Over,
}

impl QuestionEnd {
    /// It in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Answered => "it was answered",
            Self::Interrupted => "it was interrupted",
            Self::TimedOut => "the time of the turn was over",
            Self::Ended => "the session ended",
            Self::Over => "its run is over",
        }
    }
}

impl QuestionAbout {
    /// The SHA-256, in hexadecimal, of all fields of the question but `kind`, `id` and `hash`, as
    /// JSON without spaces whose names are in alphabetical order.
    pub fn hash(&self) -> String {
        canonical_sha256(self)
    }

    /// The proposal that it has to do with.
    pub fn proposal(&self) -> Option<&str> {
        match self {
            Self::Code(question) => Some(&question.proposal),
            Self::Input(wanted) => Some(&wanted.proposal),
            Self::LongRun(run) => Some(&run.proposal),
            Self::Host { proposal, .. } => Some(proposal),
            Self::Packages { proposal, .. } => proposal.as_deref(),
            Self::Replay { .. } | Self::Changes { .. } => None,
        }
    }

    /// Who must approve, if one yes is not enough or not everybody's counts.
    pub fn quorum(&self) -> Option<&AskedQuorum> {
        match self {
            Self::Code(question) => question.quorum.as_ref(),
            Self::Packages { quorum, .. } => quorum.as_ref(),
            Self::Input(_)
            | Self::LongRun(_)
            | Self::Host { .. }
            | Self::Replay { .. }
            | Self::Changes { .. } => None,
        }
    }

    /// The word for its kind, as in the record.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Code(_) => "code",
            Self::Input(_) => "input",
            Self::LongRun(_) => "long_run",
            Self::Host { .. } => "host",
            Self::Packages { .. } => "packages",
            Self::Replay { .. } => "replay",
            Self::Changes { .. } => "changes",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, hash::sha256};

    fn host() -> QuestionAbout {
        QuestionAbout::Host {
            proposal: "p1".into(),
            host: "files.example.org".parse().unwrap(),
            port: 443,
            listed: false,
            grants: vec![Grant::Once, Grant::Session, Grant::Always],
        }
    }

    #[test]
    fn the_hash_is_that_of_the_documented_text() {
        let text = r#"{"about":"host","grants":["once","session","always"],"host":"files.example.org","port":443,"proposal":"p1"}"#;
        assert_eq!(host().hash(), sha256(text.as_bytes()));
    }

    #[test]
    fn a_question_is_read_back_as_it_was_written() {
        let order = PackageOrder::new(
            crate::packages::PackageChange::Install,
            vec![
                crate::packages::Requirement::parse(crate::packages::PackageKind::Python, "pandas")
                    .unwrap(),
            ],
        )
        .unwrap();
        let prompt = Untrusted::new("Name? ");
        let all = [
            host(),
            QuestionAbout::Input(InputWanted { proposal: "p1".into(), prompt, secret: true }),
            QuestionAbout::LongRun(LongRun { proposal: "p1".into(), seconds: 600, ends_in: 600 }),
            QuestionAbout::Packages {
                proposal: None,
                order,
                list: Some(crate::packages::PackageList::default()),
                runs_again: true,
                quorum: None,
            },
            QuestionAbout::Replay { cells: vec![], left_out: vec![] },
            QuestionAbout::Changes {
                changes: "c1".into(),
                files: vec![],
                left_out: vec![],
                outline: None,
            },
        ];
        for about in all {
            let (id, hash) = ("q1".to_owned(), about.hash());
            let body = Body::Question(RecordedQuestion { id, hash: hash.clone(), about });
            let text = serde_json::to_string(&body).unwrap();
            assert!(text.starts_with(r#"{"kind":"question","id":"q1","hash":""#), "{text}");
            let read: Body = serde_json::from_str(&text).unwrap();
            assert_eq!(read, body);
            // Whoever has the line alone computes the same.
            let mut fields: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&text).unwrap();
            for name in ["kind", "id", "hash"] {
                fields.remove(name);
            }
            assert_eq!(canonical_sha256(&fields), hash);
        }
    }
}
