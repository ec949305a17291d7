//! A session in one row of a list: what it is called, and what it is doing. Follows its records.
//!
//! Pure: a fold of records, so that a row is the same for whoever looks, whenever.

use interpreter_core::{
    Body, Grant, Person, Record, RecordedQuestion, Span, StandingAnswer, Untrusted, egress::Host,
};
use interpreter_store::SessionSummary;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a title.
const TITLE: usize = 120;

/// The current work of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Doing {
    /// It waits for a prompt.
    #[default]
    Idle,
    /// The model is asked, or code is judged or prepared.
    Thinking,
    /// It waits for an answer.
    Asking,
    /// Code runs.
    Running,
    /// It is over.
    Ended,
}

/// One row of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) session: String,
    pub(crate) title: String,
    pub(crate) folder: Option<String>,
    pub(crate) model: Option<String>,
    #[serde(rename = "state")]
    pub(crate) doing: Doing,
    /// When it was last heard of.
    pub(crate) time: String,
    /// How many questions are open.
    pub(crate) questions: usize,
    /// The number of its newest record.
    pub(crate) seq: u64,
    /// Why it could not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
}

impl Row {
    /// The row of a session that this server does not run.
    pub(crate) fn of_past(summary: &SessionSummary, questions: usize) -> Self {
        let title = summary.first_prompt.as_ref().or(summary.first_code.as_ref());
        Self {
            session: summary.id.clone(),
            title: title.map(|text| shortened(text)).unwrap_or_default(),
            folder: summary.work_folder.as_ref().map(|path| path.to_string_lossy().into_owned()),
            model: None,
            doing: Doing::Ended,
            time: summary.ended.clone().unwrap_or_else(|| summary.started.clone()),
            questions,
            seq: summary.records,
            failed: None,
        }
    }
}

/// A question that is open, and the yeses that it has of those that it takes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OpenQuestion {
    #[serde(flatten)]
    pub(crate) question: RecordedQuestion,
    /// Who has said yes to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) approved: Vec<Person>,
    /// How many are missing, if it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<u8>,
}

/// A session as its records tell it.
#[derive(Debug, Default)]
pub(crate) struct Portrait {
    row: Row,
    questions: BTreeMap<String, OpenQuestion>,
    standing: Vec<StandingAnswer>,
    hosts: BTreeSet<(Host, u16)>,
    change_set: Option<String>,
    is_in_turn: bool,
    runs: bool,
}

impl OpenQuestion {
    /// One that has no yes yet.
    pub(crate) fn new(question: RecordedQuestion) -> Self {
        Self { question, approved: Vec::new(), missing: None }
    }
}

impl Portrait {
    pub(crate) fn row(&self) -> &Row {
        &self.row
    }

    /// The questions that are open.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &OpenQuestion> {
        self.questions.values()
    }

    /// The standing answers that hold.
    pub(crate) fn standing(&self) -> &[StandingAnswer] {
        &self.standing
    }

    /// The hosts that were granted for more than one run.
    pub(crate) fn granted_hosts(&self) -> &BTreeSet<(Host, u16)> {
        &self.hosts
    }

    /// The id of its change set, if something was ever staged.
    pub(crate) fn change_set(&self) -> Option<&str> {
        self.change_set.as_deref()
    }

    /// Everything of the session has ended: well, or because of this.
    pub(crate) fn end(&mut self, failed: Option<String>) {
        self.row.failed = failed;
        self.row.doing = Doing::Ended;
        self.questions.clear();
        self.row.questions = 0;
    }

    /// Takes in the next record.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most records leave a row as it is")]
    pub(crate) fn take(&mut self, record: &Record) {
        self.row.seq = record.seq;
        self.row.time.clone_from(&record.time);
        match &record.body {
            Body::SessionStarted { model, confinement, .. } => {
                self.row.session.clone_from(&record.session);
                self.row.model.clone_from(model);
                self.row.folder = Some(confinement.work_folder.to_string_lossy().into_owned());
            }
            Body::ModelChanged { model, .. } => self.row.model = Some(model.clone()),
            Body::Prompt { text } => {
                self.is_in_turn = true;
                self.name(text);
            }
            Body::Proposal { code, .. } => {
                self.is_in_turn = true;
                self.name(code.raw());
            }
            Body::Request { .. } | Body::ChangesWanted { .. } | Body::Replay { .. } => {
                self.is_in_turn = true;
            }
            Body::RunStarted { .. } => self.runs = true,
            Body::RunFinished { .. } => self.runs = false,
            Body::Question(question) => {
                let open = OpenQuestion::new(question.clone());
                _ = self.questions.insert(question.id.clone(), open);
            }
            Body::Approval { question, person, missing } => {
                if let Some(open) = self.questions.get_mut(question) {
                    open.approved.push(person.clone());
                    open.missing = Some(*missing);
                }
            }
            Body::ApprovalWithdrawn { question, person } => {
                if let Some(open) = self.questions.get_mut(question) {
                    open.approved.retain(|one| one.id != person.id);
                }
            }
            Body::QuestionClosed { id, .. } => _ = self.questions.remove(id),
            Body::Changes(changes) => self.change_set = Some(changes.id.clone()),
            Body::StandingGiven(answer) => self.standing.push(answer.clone()),
            Body::StandingRevoked { number } => self.standing.retain(|one| one.number != *number),
            Body::HostGranted { host, port, granted: Grant::Session | Grant::Always, .. } => {
                self.hosts.insert((host.clone(), *port));
            }
            Body::HostRevoked { host, port } => _ = self.hosts.remove(&(host.clone(), *port)),
            Body::TurnFinished { .. } => {
                (self.is_in_turn, self.runs) = (false, false);
                self.standing.retain(|one| one.span != Span::Turn);
            }
            _ => {}
        }
        self.row.questions = self.questions.len();
        self.row.doing = match self.row.doing {
            Doing::Ended => Doing::Ended,
            _ if !self.questions.is_empty() => Doing::Asking,
            _ if self.runs => Doing::Running,
            _ if self.is_in_turn => Doing::Thinking,
            _ => Doing::Idle,
        };
    }

    /// The first thing that somebody wanted is the title.
    fn name(&mut self, text: &str) {
        if self.row.title.is_empty() {
            self.row.title = shortened(text);
        }
    }
}

/// The beginning of a text, on one line and without anything that is not visible.
fn shortened(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    Untrusted::new(first).for_terminal_line(TITLE)
}
