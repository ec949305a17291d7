//! Rules and standing answers, from inside a chat.

use super::{next::Next, past};
use crate::{
    report::{Error, misuse},
    terminal::{ask::choice, frontend::Frontend, ours::ours, person::Person},
};
use interpreter_agent::Context;
use interpreter_core::{
    ApprovalMode, Coverage, Grant, Rule, Span, egress::authority, findings, session::Event,
    standing::ceiling,
};

/// Lists the rules of the settings and of the project, and the standing answers.
pub(super) fn list(frontend: &mut Frontend, context: &Context) -> Result<Option<Next>, Error> {
    let past::Held { standing, hosts } = past::held(context, &frontend.session.id)?;
    let Some(screen) = frontend.view.screen() else { return Ok(None) };
    let (user, project) = (context.settings.user_rules(), context.settings.project_rules());
    let of = |whose: &str, rules: &[Rule]| -> Vec<String> {
        rules.iter().map(|rule| format!("{whose} {}", rule.words())).collect()
    };
    let mut rows = of("your settings:", &user.0);
    rows.extend(of("the project:", &project.0));
    let settings = &context.settings;
    screen.say(match settings.approval_mode.value {
        ApprovalMode::Ask => ours("A model's code that matches no rule is asked about."),
        ApprovalMode::Auto => {
            let most = settings.approval_limit.value.risk().min(ceiling(&context.confinement()));
            ours("A model's code that matches no rule runs up to risk ") + most.word() + "."
        }
        ApprovalMode::Deny => ours("A model's code that matches no rule is denied."),
    })?;
    rows.iter().try_for_each(|row| screen.row(row))?;
    for answer in &standing {
        let back = if answer.covers.is_yes() { "/deny" } else { "/allow" };
        let (number, words) = (answer.number, answer.words());
        screen
            .row(&format!("standing answer {number}: {words} ({back} {number} takes it back)"))?;
    }
    for (host, port) in hosts.keys() {
        let place = host.with_port(*port);
        screen.row(&format!("granted host: {place} (/deny host {place} takes it back)"))?;
    }
    if standing.iter().any(|answer| answer.covers.is_yes()) {
        let most = ceiling(&context.confinement()).word();
        screen.say(ours("A standing yes holds up to risk ") + most + "; deny always wins.")?;
    }
    Ok(None)
}

/// The standing answer of this number, which must be a yes or a no.
fn revoked(
    frontend: &Frontend,
    context: &Context,
    number: u32,
    is_yes: bool,
) -> Result<Option<Next>, Error> {
    let standing = past::held(context, &frontend.session.id)?.standing;
    match standing.iter().find(|answer| answer.number == number) {
        Some(answer) if answer.covers.is_yes() == is_yes => {
            Ok(Some(Next::Turn(Event::StandingRevoked(number))))
        }
        Some(answer) => {
            let (is, back) = if answer.covers.is_yes() { ("yes", "deny") } else { ("no", "allow") };
            Err(misuse(format!(
                "standing answer {number} is a {is}; `/{back} {number}` takes it back"
            )))
        }
        None => Err(misuse(format!("there is no standing answer {number}; `/rules` lists them"))),
    }
}

/// A host that was granted for more than one run, and is taken back.
fn closed(frontend: &mut Frontend, context: &Context, place: &str) -> Result<Option<Next>, Error> {
    let (host, port) = authority(place, Some(443)).map_err(|error| misuse(error.to_string()))?;
    let shown = host.with_port(port);
    let place = (host, port);
    let Some(granted) = past::held(context, &frontend.session.id)?.hosts.remove(&place) else {
        let hint = "`/rules` lists those that were";
        return Err(misuse(format!("{shown} was not granted in this session; {hint}")));
    };
    if let (Grant::Always, Some(screen)) = (granted, frontend.view.screen()) {
        let command = format!("`interpreter rules remove {shown}` takes it out");
        screen.tell(&format!("It stays in your config file for other sessions; {command}."))?;
    }
    let (host, port) = place;
    Ok(Some(Next::Turn(Event::HostRevoked(host, port))))
}

/// `/allow`: a standing yes for the session, after a second key; or a no that is taken back.
pub(super) async fn allow(
    frontend: &mut Frontend,
    context: &Context,
    what: &str,
) -> Result<Option<Next>, Error> {
    if let Ok(number) = what.parse() {
        return revoked(frontend, context, number, false);
    }
    let Some(covers) = Coverage::yes_to(what, &context.interpreters().languages()) else {
        return Err(misuse(format!(
            "`/allow` takes `all`, a language or the number of a no, and not `{what}`"
        )));
    };
    let (Person::Present(console), Some(screen)) = (&mut frontend.person, frontend.view.screen())
    else {
        return Ok(None);
    };
    screen.row(&format!("{}, for this session, without asking", covers.words()))?;
    let most = ceiling(&context.confinement()).word();
    let question = ours("Allow it, up to risk ") + most + "?";
    let choices = [choice('w', "yes, without asking", true), choice('b', "back", false)];
    match console.asker.choose(screen, &question, &choices).await {
        Ok(true) => Ok(Some(Next::Turn(Event::StandingGiven(Span::Session, covers)))),
        Ok(false) => Ok(None),
        Err(left) => Ok(Next::after(left)),
    }
}

/// `/deny`: a standing no for the session; or a yes that is taken back.
pub(super) fn deny(
    frontend: &mut Frontend,
    context: &Context,
    what: &str,
) -> Result<Option<Next>, Error> {
    if let Ok(number) = what.parse() {
        return revoked(frontend, context, number, true);
    }
    if let Some(place) = what.strip_prefix("host ") {
        return closed(frontend, context, place.trim());
    }
    let named = || {
        Coverage::no_to_finding(what)
            .or_else(|| Coverage::no_to_language(what, &context.interpreters().languages()))
    };
    let line = what.strip_prefix("line ").and_then(Coverage::no_to_line);
    let Some(covers) = line.or_else(named) else {
        return Err(misuse(format!(
            "`/deny` takes a language, a finding ({}), `line PATTERN`, `host HOST[:PORT]` or the \
             number of a yes, and not `{what}`",
            findings::NAMES.join(", ")
        )));
    };
    Ok(Some(Next::Turn(Event::StandingGiven(Span::Session, covers))))
}
