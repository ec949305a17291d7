//! Cells run again, to rebuild the memory of interpreters.
//!
//! # Threat
//! Code that was approved once, under other rules, for another moment: before outside text was read,
//! before a rule was tightened. And code that comes from a file, which may not be what it was.
//!
//! # Mechanism
//! Each cell is judged by the rules of now, as any proposal is, and a deny stays one. The person sees
//! all of them, with what they would do, and answers once; nobody cannot say yes, and no mode, rule
//! or standing answer does. Each run has a proposal, an answer and a permit of its own, which
//! `deciding.rs` makes. Code whose record is not the code that ran, because a secret was taken out,
//! is left out.
//!
//! # Order
//! Judged, asked, interpreters made fresh, and then one cell after another until one fails that did
//! not fail before. The conversation stays as it is: it has the results already.

use super::{
    approval::Approval,
    cells::{CellEnd, PastCell},
    effect::Effect,
    event::{Answer, Event},
    questions::Subject,
    state::{Phase, Run, State, Work},
    wishes::{Rebuilding, Replay, ReplayCell, ReplayQuestion},
    words,
};
use crate::{
    Again, Body, CellAgain, Continuity, Findings, Grantor, Language, LanguageInfo, Opinion,
    Proposal, QuestionAbout, Ran, landing,
    proposal::unfit,
    record::{CellLeftOut, TurnEnd},
    redact::named,
};
use std::{collections::VecDeque, mem};

/// The most cells that run again at once.
const MOST_AGAIN: usize = 1_000;

impl ReplayCell {
    /// It as the record has it.
    fn recorded(&self) -> CellAgain {
        let Self { proposal, findings, verdict } = self;
        CellAgain {
            proposal: proposal.id.clone(),
            cell: proposal.again_id().to_owned(),
            language: proposal.language.name().into(),
            code: proposal.code().clone(),
            code_hash: proposal.hash().into(),
            risk: findings.risk,
            capabilities: findings.capabilities.clone(),
            decision: verdict.opinion,
            rule: verdict.rule.clone(),
        }
    }
}

impl State {
    /// The person wants cells run again.
    pub(super) fn replay_wanted(&mut self, replay: Replay) {
        let mut cells = VecDeque::new();
        let mut left_out = Vec::new();
        for cell in replay.cells {
            match self.again(&cell) {
                Ok(proposal) => cells.push_back(proposal),
                Err(why) => left_out.push(CellLeftOut { cell: cell.id, why }),
            }
        }
        let wanted = |cell: &Proposal| cell.again.as_ref().map(|again| again.cell.clone());
        let ids = cells.iter().filter_map(wanted).collect();
        self.record(Body::Replay { cells: ids, left_out: left_out.clone() });
        if cells.is_empty() {
            self.note("no cell has to run again");
            return self.rebuilt(TurnEnd::Done);
        }
        if cells.len() > MOST_AGAIN {
            let message = format!("{} cells are too many to run again", cells.len());
            let hint = Some(format!("at most {MOST_AGAIN} run again; start afresh with /new"));
            self.record(Body::Error { message, hint });
            return self.rebuilt(TurnEnd::Refused);
        }
        self.then(Effect::JudgeAll(cells.iter().cloned().collect()));
        self.phase = Phase::Weighing(Rebuilding { cells, left_out });
    }

    /// A cell as a proposal of its own, or why it cannot be one.
    fn again(&mut self, cell: &PastCell) -> Result<Proposal, String> {
        if cell.end == CellEnd::Stopped {
            return Err("it did not run to its end".into());
        }
        if !cell.is_whole {
            return Err("a secret was taken out of its code".into());
        }
        let languages = &self.setup.languages;
        let language = languages.find(&cell.language);
        let Some(language) = language.filter(|one| one.name() == cell.language) else {
            return Err(format!("{} is not available", cell.language));
        };
        let keeps = |one: &LanguageInfo| one.continuity == Continuity::Kept;
        if !languages.iter().any(|one| one.name == cell.language && keeps(one)) {
            return Err(format!("{} keeps nothing between runs", cell.language));
        }
        if let Some(why) = unfit(cell.code.raw()) {
            return Err(why);
        }
        let id = format!("p{}", self.next_id);
        self.next_id += 1;
        let mut proposal = Proposal::new(id, cell.origin, None, language, cell.code.clone());
        let failed = cell.end == CellEnd::Failed;
        proposal.again = Some(Again { cell: cell.id.clone(), failed });
        Ok(proposal)
    }

    /// All of them were analysed. The rules of now decide, and then the person.
    pub(super) fn weighed(&mut self, wanted: Rebuilding, findings: Vec<Findings>) {
        if self.is_late || findings.len() != wanted.cells.len() {
            return self.rebuilt(TurnEnd::Refused);
        }
        let Rebuilding { cells: proposals, mut left_out } = wanted;
        let within = &self.setup.confinement;
        let findings: Vec<_> =
            findings.into_iter().map(|found| landing::weighed(found, within)).collect();
        let both = proposals.iter().zip(&findings);
        let with_code: Vec<_> =
            both.map(|(one, found)| self.with_project_code(one, found.clone())).collect();
        self.taint.judged_all(&with_code, &self.setup.policy.places);
        // For each of them it counts what those before it would hold, as when they first ran.
        let mut until_then = self.taint.clone();
        let mut cells = Vec::new();
        for (proposal, findings) in proposals.into_iter().zip(findings) {
            let verdict = self.verdict_on(&proposal, &findings, &until_then);
            let findings = self.with_project_code(&proposal, findings);
            self.record(proposal.body());
            self.record_judged(&proposal.id, &findings, &verdict);
            let was = proposal.again.as_ref().map(|again| again.cell.clone()).unwrap_or_default();
            if verdict.opinion == Opinion::Deny {
                let why = format!("refused by {}", verdict.rule);
                self.note(format!("not run again: {was}, {why}"));
                left_out.push(CellLeftOut { cell: was, why });
                continue;
            }
            let drawn = proposal.drawn(&self.setup.redactor);
            if !drawn.is_whole() {
                let why = format!("the value of {} stands in it", named(drawn.masked()));
                self.note(format!("not run again: {was}, {why}"));
                left_out.push(CellLeftOut { cell: was, why });
                continue;
            }
            if !verdict.quorum.is_plain() {
                let why = "it takes the yes of several people, or another's than the author's";
                self.note(format!("not run again: {was}, {why}"));
                left_out.push(CellLeftOut { cell: was, why: why.into() });
                continue;
            }
            until_then.judged(&findings, &self.setup.policy.places);
            until_then.permitted();
            cells.push(ReplayCell { proposal, findings, verdict });
        }
        if cells.is_empty() {
            return self.rebuilt(TurnEnd::Refused);
        }
        let proposals = cells.iter().map(|cell| cell.proposal.clone()).collect();
        if self.setup.approval == Approval::Yes {
            return self.replay_approved(proposals, Grantor::Flag);
        }
        let about = QuestionAbout::Replay {
            cells: cells.iter().map(ReplayCell::recorded).collect(),
            left_out: left_out.clone(),
        };
        let shown = ReplayQuestion { cells, left_out: left_out.clone() };
        let posed = self.pose(about, Subject::Replay, shown);
        self.then(Effect::AskReplay(posed));
        self.phase = Phase::Confirming(Rebuilding { cells: proposals, left_out });
    }

    /// The answer to the one question.
    pub(super) fn replay_answered(&mut self, wanted: Rebuilding, run: bool, by: Grantor) {
        match (run, by) {
            // Only the person says yes; `--yes` has done so before anybody was asked.
            (true, Grantor::Person) => self.replay_approved(wanted.cells, by),
            (true, _) | (false, Grantor::Nobody) => {
                self.note("the cells were not run again: nobody was there to ask");
                self.rebuilt(TurnEnd::Refused);
            }
            (false, _) => {
                self.note("the cells were not run again");
                self.rebuilt(TurnEnd::Refused);
            }
        }
    }

    fn replay_approved(&mut self, cells: VecDeque<Proposal>, by: Grantor) {
        let mut languages: Vec<Language> = Vec::new();
        for cell in &cells {
            self.record(Answer::Run.body(&cell.id, by));
            self.approve_project_code(cell, by);
            // Where the person goes back they are fresh already.
            if self.going_back.is_none() && !languages.contains(&cell.language) {
                languages.push(cell.language.clone());
            }
        }
        self.freshen(languages, cells, by);
    }

    /// Starts the next interpreter afresh, and when all are, the first cell.
    pub(super) fn freshen(
        &mut self,
        mut languages: Vec<Language>,
        mut cells: VecDeque<Proposal>,
        by: Grantor,
    ) {
        if let Some(language) = languages.pop() {
            self.then(Effect::Restart(Some(language)));
            self.phase = Phase::Freshening { languages, cells, by };
            return;
        }
        match cells.pop_front() {
            Some(current) => self.prepare(Work::new(current, cells), by, 0),
            None => self.rebuilt(TurnEnd::Done),
        }
    }

    /// A cell has run again.
    pub(super) fn ran_again(&mut self, run: Run, ran: &Ran) {
        let Run { work, interrupted, by, .. } = run;
        let Work { current, mut waiting, .. } = work;
        let Some(again) = &current.again else { return };
        self.staged |= ran.effects.changes.is_some();
        self.ran_again += 1;
        let left = waiting.len();
        let stopped_like_then = again.failed && !ran.kernel_ended && ran.limit.is_none();
        if interrupted {
            self.note(words::stopped_again(&again.cell, "was interrupted", left));
            return self.rebuilt(TurnEnd::Interrupted);
        }
        if !ran.succeeded() && !stopped_like_then {
            self.note(words::stopped_again(&again.cell, "failed", left));
            return self.rebuilt(TurnEnd::CodeFailed);
        }
        if let Some(current) = waiting.pop_front() {
            return self.prepare(Work::new(current, waiting), by, 0);
        }
        let count = self.ran_again;
        let cells = if count == 1 { "cell" } else { "cells" };
        self.note(format!("{count} {cells} ran again"));
        self.rebuilt(TurnEnd::Done);
    }

    /// The interpreters are rebuilt, as far as they could be.
    pub(super) fn rebuilt(&mut self, end: TurnEnd) {
        match self.going_back {
            Some(_) => self.rebuilt_after_rewind(end),
            None => self.end_turn(end),
        }
    }

    /// Has the model know that cells ran again: with the next prompt of a session that goes on from
    /// another, and otherwise with the next result.
    pub(super) fn tell_rebuilt(&mut self) {
        match mem::take(&mut self.ran_again) {
            0 => {}
            count if self.is_resumed => self.rebuilt = count,
            count => self.notice(words::ran_again(count)),
        }
    }

    /// Events that have to do with cells that run again.
    pub(super) fn replaying(&mut self, phase: Phase, event: Event) {
        match (phase, event) {
            (Phase::Idle, Event::ReplayWanted(replay)) => self.replay_wanted(*replay),
            (Phase::Weighing(wanted), Event::JudgedAll(findings)) => self.weighed(wanted, findings),
            (Phase::Freshening { languages, cells, by }, Event::Restarted(_)) => {
                self.freshen(languages, cells, by);
            }
            (
                Phase::Weighing(_) | Phase::Confirming(_) | Phase::Freshening { .. },
                Event::Interrupted,
            ) => {
                self.note("the cells were not run again");
                self.rebuilt(TurnEnd::Interrupted);
            }
            (phase, _) => self.phase = phase,
        }
    }
}
