//! A record, told to a person.

mod told;

pub(crate) use self::told::tell;

use super::{
    again,
    confined::header,
    hosts, listing,
    ours::{Ours, count, ours, word},
    packages,
    screen::Screen,
};
use interpreter_core::{
    Body, Changes, Denial, FileChange, Grantor, HostContact, LeftOut, SecretUse, extract::STOPPED,
    file_header::FileHeader, record::TurnEnd, session,
};
use std::io;

/// Rows of a list that are shown where the whole of it is on the record.
const LISTED: usize = 30;

/// Lists changed files: folded if they are many, unless the person or another program wants them
/// all.
pub(crate) fn files(screen: &mut Screen, files: &[FileChange]) -> io::Result<()> {
    let listing = if screen.folds() { listing::short(files) } else { listing::whole(files) };
    listing.rows.iter().try_for_each(|row| screen.row(row))
}

/// Lists paths that were left as they are.
pub(crate) fn left_out(screen: &mut Screen, left_out: &[LeftOut]) -> io::Result<()> {
    left_out.iter().try_for_each(|one| screen.row(&one.line()))
}

/// Lists the denials that no other row reports.
pub(crate) fn denials(screen: &mut Screen, denials: &[Denial]) -> io::Result<()> {
    let mut untold = denials.iter().filter(|denial| !denial.is_told_elsewhere());
    let most = if screen.folds() { LISTED + 1 } else { usize::MAX };
    untold.by_ref().take(most).try_for_each(|denial| screen.row_of_words(&denial.line()))?;
    match untold.count() {
        0 => Ok(()),
        more => screen.row(&format!("and {more} more")),
    }
}

/// Shows a record of a session that goes on, in the words that a chat and a plain run share: the
/// bounds of a run, hosts, denials, changes, errors and notes. Other records show nothing.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are not shown")]
pub(super) fn show(screen: &mut Screen, body: &Body, every_host: bool) -> io::Result<()> {
    match body {
        Body::RunStarted { backend, missing, .. } => match header(backend, missing) {
            Some(words) => screen.warn(words),
            None => Ok(()),
        },
        Body::FileHeader(FileHeader { name, form, .. }) => {
            screen.tell(&format!("The model receives the {} of {name}.", form.names()))
        }
        Body::Effects { network, denials: denied, secrets, .. } => {
            if every_host {
                hosts::list(screen, network)?;
            } else {
                hosts::list(screen, &hosts::refused(network))?;
            }
            hosts::uses(screen, secrets)?;
            denials(screen, denied)
        }
        Body::TriedLate { after, network, denials: denied, secrets } => {
            screen.say(late(ours("Programs left running"), after.as_deref()) + ":")?;
            late_rows(screen, network, denied, secrets)
        }
        Body::Changes(Changes { id, state, files: changed, left_out: left }) => {
            let words = count(changed.len(), "file") + " " + state.word();
            screen.say(words + " (set " + word(id) + "):")?;
            files(screen, changed)?;
            left_out(screen, left)
        }
        Body::NotProposed { reason, .. } if reason == STOPPED => {
            screen.say_quietly(ours("Not run: ") + STOPPED + ".")
        }
        Body::NotProposed { reason, .. } => {
            screen.say_quietly("Not run:")?;
            screen.row(reason)
        }
        Body::PackagesGranted { .. }
        | Body::PackagesChanged { .. }
        | Body::PackagesFailed { .. } => packages::show(screen, body),
        Body::StandingGiven(answer) => {
            let (is_yes, number) = (answer.covers.is_yes(), answer.number);
            let back = if is_yes { "/deny " } else { "/allow " };
            screen.say(
                ours("Standing answer ") + number + ". " + back + number + " takes it back.",
            )?;
            screen.row(&answer.words())
        }
        Body::StandingRevoked { number } => {
            screen.say(ours("Standing answer ") + *number + " no longer holds.")
        }
        Body::HostRevoked { host, port } => {
            screen.say(ours("Code can no longer reach this host:"))?;
            screen.row(&host.with_port(*port))
        }
        Body::Restarted { .. } | Body::Rewound { .. } | Body::CameBack(_) => {
            again::show(screen, body)
        }
        Body::Error { message, hint } => screen.error(message, hint.as_deref()),
        Body::Note { text } => screen.tell(text),
        _ => Ok(()),
    }
}

/// Who has tried something that belongs to no run.
fn late(by: Ours, after: Option<&str>) -> Ours {
    match after {
        Some(run) => by + " since " + word(run),
        None => by,
    }
}

fn late_rows(
    screen: &mut Screen,
    network: &[HostContact],
    denied: &[Denial],
    secrets: &[SecretUse],
) -> io::Result<()> {
    hosts::list(screen, network)?;
    hosts::uses(screen, secrets)?;
    denials(screen, denied)
}

/// Whether a record is shown only to those who want to see everything.
pub(super) fn is_behind_the_scenes(body: &Body) -> bool {
    matches!(body, Body::Usage { .. } | Body::Verdict { .. } | Body::Answer { .. })
}

/// How a run ended.
pub(crate) struct Ending<'a> {
    status: Option<i32>,
    signal: Option<i32>,
    limit: Option<&'a str>,
    /// Whether the interpreter is gone; it matters only where there is a next run.
    pub(crate) kernel_ended: bool,
}

impl<'a> Ending<'a> {
    /// The ending that a record tells of, and the milliseconds of the run.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other record is an ending")]
    pub(crate) fn of(body: &'a Body) -> Option<(Self, u64)> {
        match body {
            Body::RunFinished { status, signal, limit, kernel_ended, ms, .. } => {
                let (status, signal, limit) = (*status, *signal, limit.as_deref());
                Some((Self { status, signal, limit, kernel_ended: *kernel_ended }, *ms))
            }
            _ => None,
        }
    }

    /// Whether it ended well.
    pub(crate) fn is_fine(&self) -> bool {
        self.status == Some(0) && self.signal.is_none() && self.limit.is_none()
    }

    /// Whether it ended by itself, with a status of its own.
    pub(crate) fn has_status(&self) -> bool {
        self.limit.is_none() && self.signal.is_none() && self.status.is_some()
    }

    /// The exit status by which a shell would tell that it failed. A run that was stopped at a limit
    /// has none of its own.
    pub(crate) fn failed_with(&self) -> Option<u8> {
        let status = match (self.limit, self.signal, self.status) {
            (Some(_), _, _) | (None, None, None | Some(0)) => return None,
            (None, Some(signal), _) => signal.checked_add(128)?,
            (None, None, Some(status)) => status,
        };
        u8::try_from(status).ok()
    }

    /// It in a few words of ours. The limit, if one was reached, is not among them.
    pub(crate) fn words(&self) -> Ours {
        let how = match (self.limit, self.signal, self.status) {
            (Some(_), _, _) => ours("stopped at a limit"),
            (None, Some(signal), _) => match session::named_signal(signal) {
                Some((name, meaning)) => {
                    ours("the interpreter was ended by ") + name + " (" + meaning + ")"
                }
                None => ours("the interpreter was ended by signal ") + signal,
            },
            (None, None, Some(status)) if self.kernel_ended => {
                ours("the interpreter exited with status ") + status
            }
            (None, None, Some(status)) => ours("status ") + status,
            (None, None, None) => ours("the interpreter ended without a status"),
        };
        how + if self.kernel_ended { "; the next run starts a new one" } else { "" }
    }

    /// The limit that was reached.
    pub(crate) fn limit(&self) -> Option<String> {
        self.limit.map(|limit| format!("reached the limit on {limit}"))
    }
}

/// A message for the end of a turn, if it needs one.
pub(crate) fn turn_end(end: TurnEnd) -> Option<&'static str> {
    match end {
        // Whatever it was has been told: an answer, a rule, an error. That the time is over the front
        // end tells, which has the clock.
        TurnEnd::Done
        | TurnEnd::CodeFailed
        | TurnEnd::CannotConfine
        | TurnEnd::Refused
        | TurnEnd::TooManyCalls
        | TurnEnd::OverBudget
        | TurnEnd::TimedOut => None,
        TurnEnd::ModelFailed => Some("The model did not finish its reply."),
        TurnEnd::Interrupted => Some("Interrupted."),
    }
}

/// Who decided.
pub(super) fn grantor(by: Grantor) -> &'static str {
    match by {
        Grantor::Person => "you",
        Grantor::Typed => "you (typed)",
        Grantor::Flag => "`--yes`",
        Grantor::Rule => "a rule",
        Grantor::Mode => "the mode `auto`",
        Grantor::Standing => "your standing answer",
        Grantor::Nobody => "default, without a terminal",
    }
}

pub(crate) fn usage(
    input: u64,
    output: u64,
    cached: u64,
    cost: Option<f64>,
    context: Option<u64>,
) -> Ours {
    let mut words = ours(input) + " tokens in";
    if cached > 0 {
        words = words + " (" + cached + " cached)";
    }
    words = words + ", " + output + " out";
    if let Some(cost) = cost {
        words = words + ", " + dollars(cost);
    }
    match context.and_then(|context| fullness(input, output, context)) {
        Some(full) => words + "; " + full,
        None => words,
    }
}

/// An amount of money, to a hundredth of a cent.
pub(super) fn dollars(cost: f64) -> Ours {
    // A cost that is no amount is none; one beyond all bounds is the largest.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let parts = (cost * 10_000.0).round().max(0.0) as u64;
    let fraction = parts % 10_000;
    let zeros = match fraction {
        0..10 => "000",
        10..100 => "00",
        100..1_000 => "0",
        _ => "",
    };
    ours("$") + parts / 10_000 + "." + zeros + fraction
}

/// How full the model's context is.
pub(crate) fn fullness(input: u64, output: u64, context: u64) -> Option<Ours> {
    let percent = input.saturating_add(output).saturating_mul(100).checked_div(context)?;
    Some(ours("context ") + percent + " % full")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_told_to_a_hundredth_of_a_cent() {
        for (cost, words) in [(0.0, "$0.0000"), (0.00123, "$0.0012"), (12.5, "$12.5000")] {
            assert_eq!(dollars(cost).as_str(), words);
        }
        assert_eq!(dollars(f64::NAN).as_str(), "$0.0000");
    }

    #[test]
    fn an_ending_is_in_words_of_ours() {
        let ended =
            |status, signal, limit, kernel_ended| Ending { status, signal, limit, kernel_ended };
        assert_eq!(ended(Some(1), None, None, false).words().as_str(), "status 1");
        assert_eq!(
            ended(Some(3), None, None, true).words().as_str(),
            "the interpreter exited with status 3; the next run starts a new one"
        );
        let limited = ended(None, Some(9), Some("time (5 s)"), true);
        assert!(!limited.is_fine());
        assert_eq!(limited.limit().unwrap(), "reached the limit on time (5 s)");
    }
}
