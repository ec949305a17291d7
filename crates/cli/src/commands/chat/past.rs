//! The record of this session, asked from inside it: output, tokens, standing answers.

use crate::report::Error;
use interpreter_agent::Context;
use interpreter_core::{
    Body, Grant, Output, Record, Span, StandingAnswer, Untrusted, egress::Host,
    output::words as output_words,
};
use interpreter_store::{Log, Outputs, Restored};
use std::collections::BTreeMap;

/// Bytes of an output that are paged.
const PAGED: usize = 64 << 20;

/// Calls `take` with every record of a session.
pub(super) fn each(
    context: &Context,
    session: &str,
    mut take: impl FnMut(Record) -> Result<(), Error>,
) -> Result<(), Error> {
    let log = Log::open_to_read(&context.folders)?;
    for record in log.records(session) {
        take(record?)?;
    }
    Ok(())
}

/// The whole output of a run, or of the last one; or why there is none.
pub(super) fn printed(
    context: &Context,
    session: &str,
    run: Option<&str>,
) -> Result<Result<(String, Untrusted), String>, Error> {
    // A run that is not of this session may be of the one that it goes on from.
    let printed = printed_in(context, session, run)?;
    match (&printed, run) {
        (Err(_), Some(_)) => match Log::open_to_read(&context.folders)?.resumed_from(session)? {
            Some(earlier) => self::printed(context, &earlier, run),
            None => Ok(printed),
        },
        (Ok(_), _) | (_, None) => Ok(printed),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is not what a run printed")]
fn printed_in(
    context: &Context,
    session: &str,
    run: Option<&str>,
) -> Result<Result<(String, Untrusted), String>, Error> {
    let outputs = Outputs::new(&context.folders);
    let mut current = None;
    let mut text = String::new();
    let mut runs = 0_u32;
    each(context, session, |mut record| {
        match &record.body {
            Body::RunStarted { proposal, .. } => {
                runs += 1;
                if run.is_none_or(|run| run == proposal) {
                    current = Some(proposal.clone());
                    text.clear();
                }
            }
            Body::Output(Output { proposal, .. }) if current.as_ref() == Some(proposal) => {
                if text.len() > PAGED {
                    return Ok(());
                }
                let restored = outputs.restore(&mut record.body)?;
                if let Body::Output(Output { text: piece, mime, .. }) = &record.body {
                    match restored {
                        Restored::Gone => text.push_str("[… part of it is no longer stored …]\n"),
                        Restored::Whole => text.push_str(&output_words(mime, piece)),
                    }
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(match (current, run) {
        (Some(run), _) if text.is_empty() => Err(format!("{run} printed nothing.")),
        (Some(run), _) => {
            if text.len() > PAGED {
                text.push_str(
                    "\n[cut here; `interpreter history show --output` prints all of it]\n",
                );
            }
            Ok((run, Untrusted::new(text)))
        }
        (None, Some(run)) if runs > 0 => Err(format!("This session has no run `{run}`.")),
        (None, _) => Err("Nothing has run in this session.".into()),
    })
}

/// The tokens of a session so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) replies: u64,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    /// In US dollars, if every reply has a price.
    pub(super) cost: Option<f64>,
    /// Tokens of the newest request and its reply, and how many the model takes.
    pub(super) newest: Option<(u64, Option<u64>)>,
}

impl Spent {
    fn add(&mut self, body: &Body) {
        let Body::Usage { input, output, cached, cost, context } = body else { return };
        let priced = self.replies == 0 || self.cost.is_some();
        self.replies += 1;
        self.input = self.input.saturating_add(*input);
        self.output = self.output.saturating_add(*output);
        self.cached = self.cached.saturating_add(*cached);
        self.cost = cost.filter(|_| priced).map(|cost| cost + self.cost.unwrap_or(0.0));
        self.newest = Some((input.saturating_add(*output), *context));
    }
}

/// The tokens that a session has spent so far.
pub(super) fn spent(context: &Context, session: &str) -> Result<Spent, Error> {
    let mut spent = Spent::default();
    each(context, session, |record| {
        spent.add(&record.body);
        Ok(())
    })?;
    Ok(spent)
}

/// Everything that holds between two turns without a question.
#[derive(Default)]
pub(super) struct Held {
    /// The standing answers.
    pub(super) standing: Vec<StandingAnswer>,
    /// The hosts that were granted for more than one run.
    pub(super) hosts: BTreeMap<(Host, u16), Grant>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest does not change it")]
pub(super) fn held(context: &Context, session: &str) -> Result<Held, Error> {
    let mut held = Held::default();
    let Held { standing, hosts } = &mut held;
    each(context, session, |record| {
        match record.body {
            Body::StandingGiven(answer) => standing.push(answer),
            Body::StandingRevoked { number } => standing.retain(|one| one.number != number),
            Body::TurnFinished { .. } => standing.retain(|one| one.span != Span::Turn),
            Body::HostGranted {
                host,
                port,
                granted: granted @ (Grant::Session | Grant::Always),
                ..
            } => _ = hosts.insert((host, port), granted),
            Body::HostRevoked { host, port } => _ = hosts.remove(&(host, port)),
            _ => {}
        }
        Ok(())
    })?;
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_known_only_if_every_reply_has_one() {
        let usage = |input, cost| Body::Usage { input, output: 10, cached: 0, cost, context: None };
        let mut spent = Spent::default();
        spent.add(&usage(100, Some(0.5)));
        spent.add(&usage(50, Some(0.25)));
        assert_eq!((spent.replies, spent.input, spent.output), (2, 150, 20));
        assert_eq!((spent.cost, spent.newest), (Some(0.75), Some((60, None))));
        spent.add(&usage(1, None));
        spent.add(&usage(1, Some(1.0)));
        assert_eq!(spent.cost, None);
    }
}
