//! Redirections: files and hosts that the shell itself opens.

use super::{command::Input, words};
use crate::{
    analysis::{Analysis, Script},
    literal::Literal,
};
use interpreter_core::{Deed, Risk};
use shuck_ast::{HeredocBody, HeredocBodyPart, Redirect, RedirectKind, RedirectTarget};

/// Notes what redirections do, and gives the input that they make.
pub(super) fn judge(
    redirects: &[Redirect],
    script: &Script,
    analysis: &mut Analysis,
) -> Option<Input> {
    let mut input = None;
    for redirect in redirects {
        match &redirect.target {
            RedirectTarget::Heredoc(heredoc) => {
                input = Some(Input::Text(body(&heredoc.body, &script.text)));
            }
            RedirectTarget::Word(word) => {
                let text = words::text(word, &script.text);
                if redirect.kind == RedirectKind::HereString {
                    input = Some(Input::Text(text));
                } else {
                    let line = script.line(redirect.span.start.line());
                    file(redirect.kind, &text, line, analysis);
                }
            }
        }
    }
    input
}

fn file(kind: RedirectKind, target: &Literal, line: u32, analysis: &mut Analysis) {
    let start = target.start();
    if let Some(address) =
        start.strip_prefix("/dev/tcp/").or_else(|| start.strip_prefix("/dev/udp/"))
    {
        let known = Literal::known(address);
        let host = if target.whole().is_some() { known } else { known.then(Literal::computed()) };
        analysis.note(Deed::Connects, Risk::High, &host, line);
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
        RedirectKind::Output
        | RedirectKind::Clobber
        | RedirectKind::Append
        | RedirectKind::ReadWrite
        | RedirectKind::OutputBoth => analysis.note(Deed::Writes, Risk::Medium, target, line),
        RedirectKind::DupOutput if !is_descriptor => {
            analysis.note(Deed::Writes, Risk::Medium, target, line);
        }
        RedirectKind::Input => analysis.note(Deed::Reads, Risk::Low, target, line),
        RedirectKind::DupOutput
        | RedirectKind::DupInput
        | RedirectKind::HereDoc
        | RedirectKind::HereDocStrip
        | RedirectKind::HereString => {}
    }
}

fn body(body: &HeredocBody, source: &str) -> Literal {
    body.parts.iter().fold(Literal::default(), |text, node| {
        text.then(match &node.kind {
            HeredocBodyPart::Literal(literal) => Literal::known(literal.as_str(source, node.span)),
            HeredocBodyPart::Variable(_)
            | HeredocBodyPart::CommandSubstitution { .. }
            | HeredocBodyPart::ArithmeticExpansion { .. }
            | HeredocBodyPart::Parameter(_) => Literal::computed(),
        })
    })
}
