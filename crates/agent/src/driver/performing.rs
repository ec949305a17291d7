//! Performs an effect: passes it to the runner, the model, the front end or another thread.

use super::{Driver, calls::Purpose};
use crate::{journal, network, rules, update::Update};
use interpreter_analyze::{Past, analyze_after};
use interpreter_core::{
    Body, Proposal,
    look::Look,
    session::{ChangesWish, Effect, Event, HostAnswer, Settle},
};
use interpreter_exec::{Command, PutOrder};
use std::sync::{Arc, PoisonError};

/// Bytes of code from which on it is analysed on another thread.
const LONG: usize = 8 << 10;

impl Driver {
    pub(super) async fn perform(&mut self, effect: Effect) {
        match effect {
            // It was recorded, which is all.
            Effect::Note(_) | Effect::End | Effect::Settle(Settle::Later) => {}
            Effect::CallModel { messages, .. } => self.call_model(messages, Purpose::Reply),
            Effect::Summarise { messages } => self.call_model(messages, Purpose::Summary),
            Effect::CancelModel => self.cancel_model().await,
            Effect::Judge(proposal) => self.judge(proposal),
            Effect::JudgeAll(cells) => self.judge_all(cells),
            Effect::AskReplay(question) => self.update(Update::Replay(Box::new(question))).await,
            Effect::Look(look) => self.look(look),
            Effect::Ask(question) => self.update(Update::Ask(Box::new(question))).await,
            Effect::Prepare { language, confinement } => {
                self.runner.tell(Command::Prepare { language, confinement });
            }
            Effect::Run(permit) => {
                self.remember(permit.proposal());
                self.keep_checkpoint(permit.proposal());
                self.runner.tell(Command::Run(Box::new(permit)));
            }
            Effect::ShowLine(line) => self.update(Update::Line(line)).await,
            Effect::AskInput(wanted) => self.update(Update::Input(wanted)).await,
            Effect::AskLongRun(run) => self.update(Update::LongRun(run)).await,
            Effect::AskHost(wanted) => self.update(Update::Host(wanted)).await,
            Effect::AnswerHost(answer) => self.answer_host(answer),
            Effect::CloseHost(host, port) => self.runner.tell(Command::CloseHost(host, port)),
            Effect::AnswerUse { number, goes_out } => {
                self.runner.tell(Command::AnswerUse { number, goes_out });
            }
            Effect::KeepRule(rule) => {
                let text = rules::keep(&self.context.folders, &rule);
                self.journal.note(Body::Note { text });
            }
            Effect::AskPackages(question) => self.update(Update::Packages(question)).await,
            Effect::ResolvePackages(lookup) => {
                let context = Arc::clone(&self.context);
                self.work = Some(tokio::spawn(context.look_up_packages(lookup)));
            }
            Effect::ChangePackages(permit) => {
                let context = Arc::clone(&self.context);
                self.work = Some(tokio::spawn(context.change_packages(permit)));
            }
            // With the work its sandbox ends.
            Effect::CancelPackages => {
                if let Some(work) = self.work.take() {
                    work.abort();
                }
            }
            Effect::GiveInput(typed) => self.runner.tell(Command::Answer(typed)),
            Effect::Interrupt => self.runner.tell(Command::Interrupt),
            Effect::Restart(language) => {
                match &language {
                    Some(language) => self.past.forget(language),
                    None => self.past = Past::default(),
                }
                self.runner.tell(Command::Restart(language));
            }
            Effect::Rewind { number, scope, memory } => self.rewind(number, scope, memory).await,
            Effect::FindModel(name) => {
                let found = self.find_model(&name);
                self.owed.push_back(Event::ModelFound(found));
            }
            Effect::UseModel => self.use_model(),
            Effect::Review => self.runner.tell(Command::Review),
            Effect::AskChanges(changes) => self.update(Update::Review(changes)).await,
            Effect::Settle(Settle::Apply(order)) => self.runner.tell(Command::Apply(order)),
            Effect::Settle(Settle::Discard) => self.runner.tell(Command::Discard(Vec::new())),
            Effect::ChangeSet(ChangesWish::Put(put)) => self.put_file(put.path),
            Effect::ChangeSet(wish) => self.runner.tell(match wish {
                ChangesWish::Apply(picks) => Command::ApplyNow(picks),
                ChangesWish::ApplyShown { number, order } => Command::ApplyShown { number, order },
                ChangesWish::Discard(paths) => Command::Discard(paths),
                ChangesWish::DiscardShown { number, paths } => {
                    Command::DiscardShown { number, paths }
                }
                ChangesWish::Put(_) => return,
                ChangesWish::Undo(reach) => Command::Undo(reach),
                ChangesWish::Redo(reach) => Command::Redo(reach),
            }),
            Effect::FinishTurn(end) => self.update(Update::TurnFinished(end)).await,
        }
    }

    fn answer_host(&mut self, answer: HostAnswer) {
        if let Some(text) = network::keep(&self.context.folders, &answer) {
            self.journal.note(Body::Note { text });
        }
        self.runner.tell(Command::AnswerHost(answer));
    }

    fn put_file(&mut self, path: String) {
        // It was received with the wish.
        let Some(file) = self.received.take() else { return };
        let confinement = self.state.confinement().clone();
        self.runner.tell(Command::Put(Box::new(PutOrder { path, file, confinement })));
    }

    /// Takes what the analysis of a proposal has learned as known, because its code runs.
    fn remember(&mut self, proposal: &Proposal) {
        if proposal.again.is_some() {
            // Many of them were analysed at once, before any of them ran.
            let code = proposal.code().raw();
            let rules = &self.context.added_rules;
            self.past = analyze_after(rules, &self.past, &proposal.language, code).1;
            return;
        }
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, after)) = learned.take_if(|(id, _)| *id == proposal.id) {
            self.past = after;
        }
    }

    /// Analyses cells that would run one after another in fresh kernels, on another thread.
    fn judge_all(&mut self, cells: Vec<Proposal>) {
        let mut past = self.past.clone();
        for cell in &cells {
            past.forget(&cell.language);
        }
        let context = Arc::clone(&self.context);
        let rules = Arc::clone(&context.added_rules);
        let analysed = move || {
            let found = cells.iter().map(|cell| {
                let code = cell.code().raw();
                let (found, after) = analyze_after(&rules, &past, &cell.language, code);
                past = after;
                found
            });
            let found: Vec<_> = found.collect();
            (cells, found)
        };
        self.work = Some(tokio::spawn(async move {
            let analysed = tokio::task::spawn_blocking(analysed).await;
            let (cells, found) =
                analysed.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            let mut all = Vec::new();
            for (cell, found) in cells.iter().zip(found) {
                all.push(context.scanned(&cell.language, cell.code().raw(), found).await);
            }
            Event::JudgedAll(all)
        }));
    }

    /// Analyses a proposal: at once if it is short and no scanner looks at it, on another thread
    /// otherwise.
    fn judge(&mut self, proposal: Proposal) {
        let long = proposal.code().raw().len() > LONG;
        let (past, learned) = (self.past.clone(), Arc::clone(&self.learned));
        let context = Arc::clone(&self.context);
        if let Some(text) = self.missing_scanners.take() {
            self.journal.note(Body::Note { text });
        }
        let scanned = context.is_scanned(&proposal.language);
        let rules = Arc::clone(&context.added_rules);
        let judged = move || {
            let code = proposal.code().raw();
            let (found, after) = analyze_after(&rules, &past, &proposal.language, code);
            let mut learned = learned.lock().unwrap_or_else(PoisonError::into_inner);
            *learned = Some((proposal.id.clone(), after));
            (proposal, found)
        };
        if scanned {
            self.work = Some(tokio::spawn(async move {
                let judged = tokio::task::spawn_blocking(judged).await;
                let (proposal, found) =
                    judged.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
                let code = proposal.code().raw();
                Event::Judged(context.scanned(&proposal.language, code, found).await)
            }));
        } else if long {
            self.work = Some(tokio::task::spawn_blocking(move || Event::Judged(judged().1)));
        } else {
            self.owed.push_back(Event::Judged(judged().1));
        }
    }

    /// Reads what a run printed, on another thread.
    fn look(&mut self, look: Look) {
        let (context, session) = (Arc::clone(&self.context), self.id().to_owned());
        self.work = Some(tokio::task::spawn_blocking(move || {
            let seen = journal::look(&context.folders, &session, &look);
            Event::Looked(seen.unwrap_or_else(|error| Err(crate::error::chain(&error))))
        }));
    }
}
