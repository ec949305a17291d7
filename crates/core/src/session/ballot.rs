//! Counts the yeses to a question that takes more than one, or not the author's.
//!
//! # Threat
//! One person who approves alone what several must: with a second login, through another door, by
//! approving code that they prompted or edited; a yes to something else than what runs; a yes of
//! somebody who may not say it any more.
//!
//! # Mechanism
//! A yes counts under the id of its person, once. Whose words the session has is an author. Each yes
//! brings the list of everybody who may answer at that moment, and earlier ones count only if their
//! givers are on it. Whoever loses the right loses the yeses that they gave, even if they get the
//! right back. All yeses are to one question, and its hash covers the code, who must approve and
//! the authors.
//!
//! # Order
//! Each yes is on record before the question goes on or closes.
//!
//! # Limits
//! Somebody who puts a file into the work folder is no author by that. The list of those who may
//! answer is made just before an answer is taken: a right that is lost in between counts that once.
//!
//! Pure.

use super::answers::{AnswerRefused, Voter};
use crate::{AskedQuorum, Body, Person};

/// The yeses to a question so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ballot {
    asked: AskedQuorum,
    approvals: Vec<Person>,
}

/// The yeses to a question with one more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    /// Who gave that one.
    pub(super) by: Person,
    /// All that count, the newest last.
    pub(super) approvals: Vec<Person>,
    /// Those that counted before and do not any more.
    pub(super) withdrawn: Vec<Person>,
    /// How many are still missing.
    pub(super) missing: u8,
}

impl Ballot {
    /// Nobody has said yes yet.
    pub(super) fn new(asked: AskedQuorum) -> Self {
        Self { asked, approvals: Vec::new() }
    }

    /// The yeses with this one; or why it does not count.
    pub(super) fn with(
        &self,
        question: &str,
        voter: Option<&Voter>,
    ) -> Result<Tally, AnswerRefused> {
        let id = || question.to_owned();
        let Some(Voter { person, may_answer }) = voter else {
            return Err(AnswerRefused::NotFitting {
                reason: "this takes several people, and it is not known who you are",
            });
        };
        if !may_answer.contains(&person.id) {
            return Err(AnswerRefused::NotFitting { reason: "you may not answer here any more" });
        }
        if self.asked.quorum.not_author && self.asked.authors.iter().any(|one| one.id == person.id)
        {
            return Err(AnswerRefused::ByAuthor { id: id() });
        }
        let (mut approvals, withdrawn): (Vec<_>, Vec<_>) =
            self.approvals.iter().cloned().partition(|one| may_answer.contains(&one.id));
        if approvals.iter().any(|one| one.id == person.id) {
            return Err(AnswerRefused::Twice { id: id() });
        }
        approvals.push(person.clone());
        let counted = u8::try_from(approvals.len()).unwrap_or(u8::MAX);
        let missing = self.asked.quorum.answers.saturating_sub(counted);
        Ok(Tally { by: person.clone(), approvals, withdrawn, missing })
    }

    /// Takes back the yes of a person, if they gave one.
    pub(super) fn withdraw(&mut self, id: &str) -> Option<Person> {
        let at = self.approvals.iter().position(|one| one.id == id)?;
        Some(self.approvals.remove(at))
    }

    /// Takes it in.
    pub(super) fn take(&mut self, tally: Tally) {
        self.approvals = tally.approvals;
    }
}

impl Tally {
    /// The record of it.
    pub(super) fn bodies(&self, question: &str) -> Vec<Body> {
        let gone = self
            .withdrawn
            .iter()
            .cloned()
            .map(|person| Body::ApprovalWithdrawn { question: question.to_owned(), person });
        let approval = Body::Approval {
            question: question.to_owned(),
            person: self.by.clone(),
            missing: self.missing,
        };
        gone.chain([approval]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quorum;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn person(number: usize) -> Person {
        Person { id: number.to_string(), name: "anna".into() }
    }

    fn voter(number: usize, may: &BTreeSet<usize>) -> Voter {
        Voter { person: person(number), may_answer: may.iter().map(usize::to_string).collect() }
    }

    fn ballot(answers: u8, not_author: bool, authors: &[usize]) -> Ballot {
        let authors = authors.iter().copied().map(person).collect();
        Ballot::new(AskedQuorum { quorum: Quorum { answers, not_author }, authors })
    }

    #[test]
    fn nobody_in_particular_never_counts() {
        let refused = ballot(1, true, &[0]).with("q1", None);
        assert!(matches!(refused, Err(AnswerRefused::NotFitting { .. })), "{refused:?}");
    }

    proptest! {
        /// In any order of yeses and changes of rights, it is decided exactly when enough different
        /// people have said yes who still may answer and are not excluded.
        #[test]
        fn it_is_decided_by_different_people_who_may(
            answers in 1..=crate::quorum::MOST_ANSWERS,
            not_author: bool,
            authors in prop::collection::vec(0..6_usize, 0..3),
            votes in prop::collection::vec((0..6_usize, prop::collection::btree_set(0..6_usize, 0..6)), 0..20),
        ) {
            let mut ballot = ballot(answers, not_author, &authors);
            let mut model = BTreeSet::new();
            for (by, may) in votes {
                let tally = ballot.with("q1", Some(&voter(by, &may)));
                let is_author = not_author && authors.contains(&by);
                if !may.contains(&by) || is_author || model.contains(&by) {
                    prop_assert!(tally.is_err());
                    continue;
                }
                model.retain(|one| may.contains(one));
                model.insert(by);
                let tally = tally.unwrap();
                prop_assert_eq!(tally.missing == 0, model.len() >= usize::from(answers));
                prop_assert_eq!(tally.approvals.len(), model.len());
                if tally.missing == 0 {
                    break;
                }
                ballot.take(tally);
            }
        }
    }
}
