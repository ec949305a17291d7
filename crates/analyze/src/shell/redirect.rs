//! Redirections: files and hosts that the shell itself opens.

use super::{command::Input, names::Names, site, words};
use crate::{
    analysis::{Analysis, Script},
    literal::Literal,
    saved::Saves,
    says::{Says, Site},
};
use interpreter_core::{Deed, Risk};
use shuck_ast::{HeredocBody, HeredocBodyPart, Redirect, RedirectKind, RedirectTarget};

/// The surroundings of redirections.
pub(super) struct Scene<'a> {
    pub(super) script: &'a Script,
    pub(super) names: &'a Names,
    /// Whether the command prints nothing, so that what is redirected to is emptied.
    pub(super) empties: bool,
}

/// The input that redirections make.
pub(super) fn input(redirects: &[Redirect], source: &str, names: &Names) -> Option<Input> {
    redirects.iter().rev().find_map(|redirect| match &redirect.target {
        RedirectTarget::Heredoc(heredoc) => Some(Input::Text(body(&heredoc.body, source, names))),
        RedirectTarget::Word(word) if redirect.kind == RedirectKind::HereString => {
            Some(Input::Text(words::text(word, source, names)))
        }
        RedirectTarget::Word(_) => None,
    })
}

/// Notes what redirections do, and gives the input that they make.
pub(super) fn judge(
    redirects: &[Redirect],
    scene: &Scene<'_>,
    analysis: &mut Analysis,
) -> Option<Input> {
    let Scene { script, names, empties } = *scene;
    for redirect in redirects {
        if let RedirectTarget::Word(word) = &redirect.target
            && redirect.kind != RedirectKind::HereString
        {
            let text = words::text(word, &script.text, names);
            file(redirect.kind, &text, empties, site(script, redirect.span), analysis);
        }
    }
    input(redirects, &script.text, names)
}

fn file(kind: RedirectKind, target: &Literal, empties: bool, at: Site, analysis: &mut Analysis) {
    let writes = Says::new(Deed::Writes, Risk::Medium, "the shell writes a file");
    let writes = Says { saves: Some(Saves::File), ..writes };
    let start = target.start();
    if let Some(address) =
        start.strip_prefix("/dev/tcp/").or_else(|| start.strip_prefix("/dev/udp/"))
    {
        let known = Literal::known(address);
        let host = if target.whole().is_some() { known } else { known.then(Literal::computed()) };
        analysis.note(Says::new(Deed::Connects, Risk::High, "talks to a host"), &host, at);
        return;
    }
    if matches!(
        target.whole(),
        Some("/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero")
    ) {
        return;
    }
    let is_descriptor = target
        .whole()
        .is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
    match kind {
        RedirectKind::Output | RedirectKind::Clobber if empties => {
            analysis.note(Says::new(Deed::Deletes, Risk::High, "empties a file"), target, at);
        }
        RedirectKind::ReadWrite => {
            analysis.note(writes, target, at);
            analysis.note(Says::new(Deed::Reads, Risk::Low, "reads a file"), target, at);
        }
        RedirectKind::Output
        | RedirectKind::Clobber
        | RedirectKind::Append
        | RedirectKind::OutputBoth => analysis.note(writes, target, at),
        RedirectKind::DupOutput if !is_descriptor => {
            analysis.note(writes, target, at);
        }
        RedirectKind::Input => {
            analysis.note(Says::new(Deed::Reads, Risk::Low, "reads a file"), target, at);
        }
        RedirectKind::DupOutput
        | RedirectKind::DupInput
        | RedirectKind::HereDoc
        | RedirectKind::HereDocStrip
        | RedirectKind::HereString => {}
    }
}

fn body(body: &HeredocBody, source: &str, names: &Names) -> Literal {
    body.parts.iter().fold(Literal::default(), |text, node| {
        text.then(match &node.kind {
            HeredocBodyPart::Literal(literal) => Literal::known(literal.as_str(source, node.span)),
            HeredocBodyPart::Variable(name) => words::held(name.as_str(), names),
            HeredocBodyPart::CommandSubstitution { .. }
            | HeredocBodyPart::ArithmeticExpansion { .. }
            | HeredocBodyPart::Parameter(_) => Literal::computed(),
        })
    })
}
