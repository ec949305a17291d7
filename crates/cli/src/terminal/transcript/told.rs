//! A whole session, record by record, as `history show` prints it.

use super::{
    super::{
        again, hosts,
        life::time,
        ours::{Ours, count, duration, ours, word},
        packages,
        screen::{Screen, Section},
        syntax::Syntax,
    },
    Ending, denials, files, grantor, late, late_rows, left_out, usage,
};
use interpreter_core::{
    Backend, Body, Changes, Grantor, HostWanted, InputWanted, Invocation, Output, Piped, Record,
    Untrusted, forms, record::Decision, taint::OutsideText,
};
use interpreter_store::local_time;
use std::io;

/// One record of a session, as `history show` prints it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others follow below")]
pub(crate) fn tell(screen: &mut Screen, record: &Record) -> io::Result<()> {
    let time = local_time(&record.time);
    let head = |what: Ours| word(time.get(11..19).unwrap_or_default()) + "  " + what;
    let who = record.who.as_deref().map(word);
    let you = || who.clone().unwrap_or_else(|| ours("you"));
    match &record.body {
        Body::SessionStarted { model, confinement, .. } => {
            screen.say(head(ours("session ") + word(&record.session)))?;
            screen.row(&format!("in {}", confinement.work_folder.display()))?;
            model.iter().try_for_each(|model| screen.row(&format!("with {model}")))
        }
        Body::Prompt { text } => {
            screen.say(head(you()))?;
            screen.quote(Section::Prose, &Untrusted::new(&**text))
        }
        Body::Image { name, image, .. } => {
            screen.say(head(you() + " attached an image"))?;
            screen.row(&format!("{name} ({})", image.words()))
        }
        Body::Piped(Piped { path, bytes, .. }) => {
            screen.say(head(you() + " piped in " + count(*bytes, "byte")))?;
            screen.row(&path.display().to_string())
        }
        Body::File { name, bytes, .. } => {
            screen.say(head(you() + " attached a file"))?;
            screen.row(&format!("{name} ({bytes} bytes)"))
        }
        Body::TriedLate { .. } => tell_effects(screen, &record.body, head),
        Body::InputGiven { text: Some(text) } => {
            let words = if record.who.is_some() { you() + " answers" } else { you() + " answer" };
            screen.say(head(words))?;
            screen.row(text)
        }
        Body::Reply { text, .. } => {
            screen.say(head(ours("model")))?;
            screen.quote(Section::Prose, text)
        }
        Body::Proposal { id, language, code, hash, invocation, again, sealed, .. } => {
            let hash = hash.get(..12).unwrap_or_default();
            let mut words = word(id) + " " + word(language) + " (sha256 " + word(hash) + "…)";
            if let Some(cell) = again {
                words = words + ", which is " + word(cell) + " again";
            }
            screen.say(head(words))?;
            if let Some(Invocation { name, arguments, .. }) = invocation {
                screen.row(&format!("run {} {}", name, arguments.join(" ")))?;
            }
            screen.quote(Section::Code(Syntax::of(language)), code)?;
            tell_seal(screen, sealed.as_deref())
        }
        Body::Summary { text } => {
            screen.say(head(ours("model, summarising the conversation so far")))?;
            screen.quote(Section::Prose, text)
        }
        Body::Request { .. }
        | Body::Conversation { .. }
        | Body::Findings { .. }
        | Body::TurnFinished { .. } => Ok(()),
        body => {
            let by = |what: Ours| match who.clone() {
                Some(who) => head(what + ", by " + who),
                None => head(what),
            };
            tell_happening(screen, body, by)
        }
    }
}

/// Says that code is on record as a whole, although a value in it may be masked here.
fn tell_seal(screen: &mut Screen, sealed: Option<&str>) -> io::Result<()> {
    match sealed {
        Some(_) => screen.say("its secrets are sealed; `history show --unseal` shows them"),
        None => Ok(()),
    }
}

/// A record of something that happened, and not of words or code.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has told the others")]
fn tell_happening(screen: &mut Screen, body: &Body, head: impl Fn(Ours) -> Ours) -> io::Result<()> {
    match body {
        Body::Verdict { proposal, rule, .. } => {
            screen.say(head(word(proposal) + " verdict"))?;
            screen.row(rule)
        }
        Body::Answer { proposal, decision, by, code, reason, sealed, .. } => {
            screen.say(head(word(proposal) + " " + answer(*decision, *by)))?;
            reason.iter().try_for_each(|reason| screen.row(reason))?;
            let section = Section::Code(Syntax::default());
            code.iter().try_for_each(|code| screen.quote(section, code))?;
            tell_seal(screen, sealed.as_deref())
        }
        Body::RunStarted { proposal, backend, .. } if backend == Backend::NONE.word() => {
            screen.warn(head(word(proposal) + " runs WITHOUT A SANDBOX"))
        }
        Body::RunStarted { proposal, backend, .. } => {
            screen.say(head(word(proposal) + " runs in the " + word(backend) + " sandbox"))
        }
        Body::Output(output) => tell_output(screen, output, head),
        Body::InputWanted(InputWanted { proposal, prompt, .. }) => {
            screen.say(head(word(proposal) + " asks"))?;
            screen.quote(Section::Output, prompt)
        }
        Body::LongRun { proposal, seconds, may_continue, by } => {
            screen.say(head(long_run(proposal, *seconds, *may_continue, *by)))
        }
        Body::InputGiven { text: None } => screen.say(head(ours("no input"))),
        Body::HostWanted(HostWanted { .. })
        | Body::HostGranted { .. }
        | Body::HostRefused { .. }
        | Body::HostRevoked { .. }
        | Body::SecretUsed(_) => hosts::tell(screen, body, head),
        Body::Resumed { .. }
        | Body::Restarted { .. }
        | Body::Replay { .. }
        | Body::Rewound { .. }
        | Body::CameBack(_) => again::tell(screen, body, head),
        Body::PackagesWanted { .. }
        | Body::PackagesResolved { .. }
        | Body::PackagesGranted { .. }
        | Body::PackagesRefused { .. }
        | Body::PackagesChanged { .. }
        | Body::PackagesFailed { .. } => packages::tell(screen, body, head),
        Body::Effects { .. } | Body::RunFinished { .. } | Body::Changes(Changes { .. }) => {
            tell_effects(screen, body, head)
        }
        Body::NotProposed { .. } | Body::Error { .. } | Body::Note { .. } => {
            tell_words(screen, body, head)
        }
        Body::OutsideText { source } => {
            screen.say(head(ours("the model is given outside text: ") + outside(*source)))
        }
        Body::Approval { .. }
        | Body::ApprovalWithdrawn { .. }
        | Body::StandingGiven(_)
        | Body::StandingRevoked { .. }
        | Body::ChangesWanted { .. } => tell_steering(screen, body, head),
        Body::Usage { input, output, cached, cost, context } => {
            screen.say(head(usage(*input, *output, *cached, *cost, *context)))
        }
        Body::ModelChanged { model, .. } => {
            screen.say(head(ours("switched model")))?;
            screen.row(model)
        }
        Body::OutputsPruned { .. }
        | Body::RecordAccepted { .. }
        | Body::Anchored { .. }
        | Body::SessionsRemoved { .. } => tell_of_record(screen, body, head),
        Body::TimeUp { seconds } => {
            screen.warn(head(ours("the turn has used up its time, ") + *seconds + " s"))
        }
        Body::SessionEnded {} => screen.say(head(ours("session ended"))),
        _ => Ok(()),
    }
}

/// A record whose words are all that there is to tell.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
fn tell_words(screen: &mut Screen, body: &Body, head: impl Fn(Ours) -> Ours) -> io::Result<()> {
    match body {
        Body::NotProposed { reason, .. } => {
            screen.say(head(ours("not run as code")))?;
            screen.row(reason)
        }
        Body::Error { message, .. } => {
            screen.warn(head(ours("error")))?;
            screen.row(message)
        }
        Body::Note { text } => {
            screen.say(head(ours("note")))?;
            screen.row(text)
        }
        _ => Ok(()),
    }
}

/// A record about the record itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
fn tell_of_record(screen: &mut Screen, body: &Body, head: impl Fn(Ours) -> Ours) -> io::Result<()> {
    match body {
        Body::OutputsPruned { hashes } => {
            screen.say(head(count(hashes.len(), "output") + " removed to make room"))
        }
        Body::RecordAccepted { reason } => {
            screen.say(head(ours("you accepted the loss of records")))?;
            screen.row(reason)
        }
        Body::Anchored { records, .. } => {
            screen.say(head(ours("anchor of ") + count(*records, "record")))
        }
        Body::SessionsRemoved { why, sessions } => {
            let words = count(sessions.len(), "session") + " removed: " + why.words();
            screen.say(head(words))?;
            sessions.iter().try_for_each(|one| screen.row(&one.session))
        }
        _ => Ok(()),
    }
}

/// A record of something that the person wants from now on, or approves.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
fn tell_steering(screen: &mut Screen, body: &Body, head: impl Fn(Ours) -> Ours) -> io::Result<()> {
    match body {
        Body::Approval { question, missing, .. } => {
            let words = ours("question ") + word(question) + " approved";
            screen.say(head(match missing {
                0 => words,
                missing => words + ", " + u64::from(*missing) + " more needed",
            }))
        }
        Body::ApprovalWithdrawn { question, person } => {
            let words = ours("question ") + word(question) + ": the approval of ";
            screen.say(head(words + word(&person.name) + " no longer counts"))
        }
        Body::StandingGiven(answer) => {
            screen.say(head(ours("standing answer ") + answer.number))?;
            screen.row(&answer.words())
        }
        Body::StandingRevoked { number } => {
            screen.say(head(ours("standing answer ") + *number + " taken back"))
        }
        Body::ChangesWanted { wish, paths, .. } => {
            screen.say(head(ours("you asked to ") + word(wish) + " changes"))?;
            paths.iter().try_for_each(|path| screen.row(path))
        }
        _ => Ok(()),
    }
}

/// Something that a run printed or showed.
fn tell_output(
    screen: &mut Screen,
    output: &Output,
    head: impl Fn(Ours) -> Ours,
) -> io::Result<()> {
    let what = word(&output.proposal) + " " + output.stream.word();
    if let (Some(kept), true) = (&output.kept, output.text.raw().is_empty()) {
        return screen.say(head(what + ": " + count(kept.bytes, "byte") + " no longer stored"));
    }
    screen.say(head(what))?;
    if let Some(text) = forms::legible(&output.mime, &output.text) {
        screen.quote(Section::Printed, &text)?;
    }
    other_forms(screen, output)
}

/// Lists the forms of a result that are more than text.
fn other_forms(screen: &mut Screen, output: &Output) -> io::Result<()> {
    if !forms::has_forms(output) {
        return Ok(());
    }
    let all = std::iter::once(&output.mime).chain(output.bundle.keys());
    let rich: Vec<_> = all.map(String::as_str).filter(|mime| *mime != "text/plain").collect();
    screen.row(&format!("as {}: `--save FOLDER` writes files", rich.join(", ")))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
fn tell_effects(screen: &mut Screen, body: &Body, head: impl Fn(Ours) -> Ours) -> io::Result<()> {
    match body {
        Body::Effects { proposal, files: changed, network, denials: denied, .. } => {
            if !changed.is_empty() {
                screen.say(head(word(proposal) + " staged"))?;
                files(screen, changed)?;
            }
            if !network.is_empty() {
                screen.say(head(word(proposal) + " network"))?;
                hosts::list(screen, network)?;
            }
            if denied.iter().any(|denial| !denial.is_told_elsewhere()) {
                screen.say(head(word(proposal) + " refused"))?;
                denials(screen, denied)?;
            }
            Ok(())
        }
        Body::TriedLate { after, network, denials: denied, secrets } => {
            screen.say(head(late(ours("programs left running"), after.as_deref())))?;
            late_rows(screen, network, denied, secrets)
        }
        Body::RunFinished { proposal, .. } => {
            let Some((ending, ms)) = Ending::of(body) else { return Ok(()) };
            screen.say(head(word(proposal) + " " + ending.words() + ", " + duration(ms)))?;
            ending.limit().iter().try_for_each(|limit| screen.row(limit))
        }
        Body::Changes(Changes { id, state, files: changed, left_out: left }) => {
            let words = ours("changes ") + word(id) + " " + state.word();
            screen.say(head(words + ", " + count(changed.len(), "file")))?;
            files(screen, changed)?;
            left_out(screen, left)
        }
        _ => Ok(()),
    }
}

/// An answer to a question, and who gave it.
fn answer(decision: Decision, by: Grantor) -> Ours {
    let decision = match decision {
        Decision::Run => "approved",
        Decision::Edit => "edited",
        Decision::Reject => "rejected",
    };
    ours(decision) + " by " + grantor(by)
}

/// How outside text came in.
fn outside(source: OutsideText) -> &'static str {
    match source {
        OutsideText::Piped => "piped data",
        OutsideText::File => "a file",
        OutsideText::Output => "output of code that has read something",
        OutsideText::Network => "output of code that has reached a host",
        OutsideText::Earlier => "an earlier session",
    }
}

/// How it was settled whether code that had been running for long may continue.
fn long_run(proposal: &str, seconds: u64, may_continue: bool, by: Grantor) -> Ours {
    let ran = word(proposal) + " had been running for " + time(seconds);
    ran + match (may_continue, by) {
        (true, _) => ": it may continue",
        (false, Grantor::Nobody) => " and was stopped: no one answered",
        (false, _) => " and was stopped",
    }
}
