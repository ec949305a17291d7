//! Where a session stands.

use super::{
    effect::Effect,
    host_grants::HostGrants,
    packages::Afterwards,
    pictures::Pictures,
    questions::Questions,
    setup::Setup,
    wishes::{GoingBack, Rebuilding, RewindStep},
};
use crate::{
    Body, Confinement, Excerpt, Findings, Grantor, Image, Language, Languages, Message, Person,
    Piped, Proposal, Quorum, Redactor,
    budget::Counted,
    context::ContextWindow,
    file_header::FileHeader,
    look::Look,
    packages::{PackageOrder, PackagePlan},
    project_code::ApprovedCode,
    record::TurnEnd,
    standing::StandingAnswers,
    taint::{OutsideText, Taint},
};
use std::{collections::VecDeque, sync::Arc};

/// Where a session stands.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct State {
    pub(super) setup: Setup,
    /// The conversation. Shared with the call of the model that is under way.
    pub(super) messages: Arc<Vec<Message>>,
    /// Whether there was ever a picture in it. A conversation without any is not searched for them.
    pub(super) has_pictures: bool,
    /// How many of the messages the model has been sent.
    pub(super) sent: usize,
    /// How many of the messages are on record, see `replay.rs`.
    pub(super) recorded: usize,
    /// The message after those, if it is the newest reply, which is on record as such.
    pub(super) reply_at: Option<usize>,
    /// How much of what the model takes is used.
    pub(super) window: ContextWindow,
    /// Whether the call at hand was made shorter because the provider asked for that.
    pub(super) squeezed: bool,
    pub(super) phase: Phase,
    pub(super) next_id: u32,
    /// How much was spent so far.
    pub(super) counted: Counted,
    /// Model calls in this turn.
    pub(super) calls: u32,
    /// Results of this turn that a small model was given to try again.
    pub(super) retries: u32,
    /// The end of the turn if the model has nothing to add.
    pub(super) outcome: TurnEnd,
    /// Whether the turn has used up its time, see `time.rs`.
    pub(super) is_late: bool,
    /// Whether something is staged and undecided.
    pub(super) staged: bool,
    /// Packages that were not installed in this session, each with the reason.
    pub(super) not_installed: Vec<(PackageOrder, String)>,
    /// How often the index was asked, unasked, since a person last said yes to packages.
    pub(super) lookups: u32,
    /// How often packages were offered since the last proposal.
    pub(super) offers: u32,
    /// Pictures that go with the next prompt.
    pub(super) attached: Vec<Image>,
    /// Data that goes with the next prompt.
    pub(super) piped: Option<Piped>,
    /// Text files that go with it, as the model is sent them.
    pub(super) files: Vec<String>,
    /// The headers of files that the next prompt names.
    pub(super) headers: Vec<FileHeader>,
    /// Answers that hold for more than one piece of code.
    pub(super) standing: StandingAnswers,
    /// Hosts that were granted for the session.
    pub(super) hosts: HostGrants,
    /// The project's code that a person has approved.
    pub(super) approved_code: ApprovedCode,
    /// Whether outside text was taken in.
    pub(super) taint: Taint,
    /// News for the model, sent with the next result: kernels that are gone, with their variables.
    pub(super) notices: Vec<String>,
    /// Whether the conversation began in an earlier session, and the model does not know.
    pub(super) is_resumed: bool,
    /// How many cells of that session have run again in this one.
    pub(super) rebuilt: u32,
    /// How many cells ran again in this turn.
    pub(super) ran_again: u32,
    /// Remarks that the model gets with the next prompt.
    pub(super) asides: Vec<String>,
    /// The steps that are left of going back.
    pub(super) going_back: Option<GoingBack>,
    /// The people of a team whose words it has, also in what was said in earlier sessions.
    pub(super) authors: Vec<Person>,
    /// The questions to the person.
    pub(super) questions: Questions,
    /// The effects of the step that is being taken. Empty between steps.
    pub(super) effects: Vec<Effect>,
}

#[derive(Debug)]
pub(super) enum Phase {
    Idle,
    Thinking,
    /// The model sums up everything between the opening and `until`.
    Summarising {
        until: usize,
    },
    Looking {
        looks: VecDeque<Look>,
        waiting: VecDeque<Proposal>,
    },
    Judging {
        work: Work,
        /// The person has edited the code. They see it again, with its findings, before it runs.
        edited: bool,
    },
    Asking {
        work: Work,
        /// As in `Judging`.
        edited: bool,
        /// How many granted hosts the question knows of.
        hosts: u64,
    },
    /// It may run, once its kernel is ready and the record says what bounds it.
    Preparing {
        work: Work,
        by: Grantor,
        /// How often a kernel was ready and then gone before the code began.
        lost: u32,
    },
    Running(Run),
    /// The person is asked whether packages may be installed.
    Offering {
        order: PackageOrder,
        /// Everything that would come, once the index was asked.
        plan: Option<Box<PackagePlan>>,
        then: Afterwards,
    },
    /// The index is asked what an order comes to.
    Resolving {
        order: PackageOrder,
        /// Who has said yes already.
        by: Option<Grantor>,
        then: Afterwards,
    },
    Installing {
        order: PackageOrder,
        by: Grantor,
        then: Afterwards,
    },
    Reviewing {
        end: TurnEnd,
        /// Whether only some of the changes are being applied: then the rest is asked about.
        partly: bool,
    },
    /// The changes are being applied, discarded or undone, between two turns.
    Settling,
    Restarting,
    /// Cells that are to run again are being analysed.
    Weighing(Rebuilding),
    /// The person is asked whether they may.
    Confirming(Rebuilding),
    /// Interpreters are started afresh for them.
    Freshening {
        languages: Vec<Language>,
        cells: VecDeque<Proposal>,
        by: Grantor,
    },
    /// Everything goes back to what it was before a cell.
    Rewinding(RewindStep),
    /// Another model is looked for.
    Switching,
    Ended,
}

/// The proposal at hand and those of the same reply that wait behind it.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) current: Proposal,
    pub(super) waiting: VecDeque<Proposal>,
    /// Who must approve whatever follows from the current proposal, by the rules about it.
    pub(super) quorum: Quorum,
    /// Whether a rule asks about it, or the person wants to be asked: then a setting that answers in
    /// advance is not heard about what follows from it either.
    pub(super) must_ask: bool,
    /// The findings of the analysis on the current proposal.
    pub(super) findings: Findings,
}

impl Work {
    /// Work that nobody has judged.
    pub(super) fn new(current: Proposal, waiting: VecDeque<Proposal>) -> Self {
        let (quorum, findings) = (Quorum::default(), Findings::new(Vec::new()));
        Self { current, waiting, quorum, must_ask: false, findings }
    }
}

/// The code that runs, and the output so far.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) work: Work,
    pub(super) by: Grantor,
    pub(super) lost: u32,
    pub(super) interrupted: bool,
    /// Whether that is so because no one said that it may continue.
    pub(super) unanswered: bool,
    pub(super) excerpt: Excerpt,
    pub(super) pictures: Pictures,
}

impl Run {
    pub(super) fn new(work: Work, by: Grantor, lost: u32) -> Self {
        let (excerpt, pictures) = (Excerpt::default(), Pictures::default());
        let (interrupted, unanswered) = (false, false);
        Self { work, by, lost, interrupted, unanswered, excerpt, pictures }
    }
}

impl State {
    /// A session in which nothing has been said.
    pub fn new(setup: Setup) -> Self {
        let messages = Arc::new(setup.profile.opening.clone());
        Self {
            has_pictures: false,
            window: setup.profile.window.clone(),
            setup,
            recorded: messages.len(),
            messages,
            sent: 0,
            reply_at: None,
            squeezed: false,
            phase: Phase::Idle,
            next_id: 1,
            counted: Counted::default(),
            calls: 0,
            retries: 0,
            outcome: TurnEnd::Done,
            is_late: false,
            staged: false,
            not_installed: Vec::new(),
            offers: 0,
            lookups: 0,
            attached: Vec::new(),
            piped: None,
            files: Vec::new(),
            headers: Vec::new(),
            standing: StandingAnswers::default(),
            hosts: HostGrants::default(),
            approved_code: ApprovedCode::default(),
            taint: Taint::default(),
            notices: Vec::new(),
            is_resumed: false,
            rebuilt: 0,
            ran_again: 0,
            asides: Vec::new(),
            going_back: None,
            authors: Vec::new(),
            questions: Questions::default(),
            effects: Vec::new(),
        }
    }

    /// The conversation so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Adds to the conversation, without secrets. A call that is over holds it no more, so nothing is
    /// copied.
    pub(super) fn say(&mut self, message: Message) {
        let message = self.setup.redactor.message(message);
        self.has_pictures |= message.has_images();
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// From now on the conversation is redacted with this, which knows more.
    pub fn redact_with(&mut self, redactor: Arc<Redactor>) {
        self.setup.redactor = redactor;
    }

    /// Adds an effect to the step that is being taken.
    pub(super) fn then(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Puts something on record.
    pub(super) fn record(&mut self, body: Body) {
        self.then(Effect::Note(body));
    }

    /// Puts a remark on record.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.record(Body::Note { text: text.into() });
    }

    /// The model is given text that somebody else may have written.
    pub(super) fn take_in(&mut self, source: OutsideText) {
        if self.setup.has_model && self.taint.take() {
            self.record(Body::OutsideText { source });
        }
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Whether staged changes are being decided on.
    pub fn is_reviewing(&self) -> bool {
        matches!(self.phase, Phase::Reviewing { .. })
    }

    /// Whether the session is over.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    /// The languages that run here.
    pub fn languages(&self) -> &Languages {
        &self.setup.languages
    }

    /// The confinement of every run.
    pub fn confinement(&self) -> &Confinement {
        &self.setup.confinement
    }
}
