//! A record, told to a person.

use super::{hosts, style::Style};
use interpreter_core::{
    Backend, Body, Choice, Confinement, Denial, FileChange, Grantor, LeftOut, Network, Record,
    Untrusted, Workspace,
    record::{Decision, TurnEnd},
    session::{self, Kernel},
};
use std::fmt::{Display, Write};

/// How many files are listed by name.
const LISTED: usize = 30;

/// One line for each file, indented.
pub(crate) fn file_lines(files: &[FileChange]) -> String {
    let mut text = String::new();
    for file in files.iter().take(LISTED) {
        let (subject, details) = (file.subject(), file.details());
        let details = if details.is_empty() { details } else { format!(" ({details})") };
        // Writing to a string cannot fail.
        _ = writeln!(text, "  {:<8} {subject}{details}", file.change.word());
    }
    if files.len() > LISTED {
        _ = writeln!(text, "  and {} more", files.len() - LISTED);
    }
    text
}

/// One line for each path that was left as it is, indented.
pub(crate) fn left_out_lines(left_out: &[LeftOut]) -> String {
    let mut text = String::new();
    for one in left_out.iter().take(LISTED) {
        // Writing to a string cannot fail.
        _ = writeln!(text, "  {}", one.line());
    }
    if left_out.len() > LISTED {
        _ = writeln!(text, "  left out {} more", left_out.len() - LISTED);
    }
    text
}

/// One line for each thing that the sandbox stopped and that is not told elsewhere, indented.
pub(crate) fn denial_lines(denials: &[Denial]) -> String {
    let told = denials.iter().filter(|denial| !denial.is_told_elsewhere());
    told.take(LISTED + 1).fold(String::new(), |mut text, denial| {
        // Writing to a string cannot fail.
        _ = writeln!(text, "  {}", denial.line());
        text
    })
}

/// A number of things: `1 file`, `2 files`.
pub(crate) fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    if number == N::from(1) { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// What code runs in, in a few words.
pub(crate) fn within(confinement: &Confinement, style: Style) -> String {
    match confinement.sandbox.backend {
        Choice::Auto | Choice::Only(Backend::Native) => "in a sandbox".into(),
        Choice::Only(Backend::None) => style.red("WITHOUT A SANDBOX"),
        Choice::Only(backend) => format!("in the {backend} sandbox"),
    }
}

/// What is said of a run that begins: nothing, unless it is less confined than usual.
pub(crate) fn header(backend: &str, missing: &[String]) -> Option<String> {
    if backend == Backend::Native.word() {
        None
    } else if backend == Backend::None.word() {
        Some("NO SANDBOX: the code has all your rights".into())
    } else {
        let promises: Vec<_> =
            missing.iter().filter_map(|words| Some(words.split_once(" in full,")?.0)).collect();
        Some(format!("{backend} sandbox; not kept in full: {}", promises.join(", ")))
    }
}

/// What bounds every run, in a few words.
pub(crate) fn bounds(confinement: &Confinement, style: Style) -> String {
    if confinement.sandbox.is_none() {
        return style.red("all your rights, the whole network, files written directly");
    }
    let files = match confinement.workspace {
        Workspace::Stage => "files staged",
        Workspace::Direct => "files written directly",
        Workspace::ReadOnly => "files read-only",
    };
    let network = confinement.network.words();
    let network = match &confinement.network {
        Network::Open(_) => style.red(&network),
        Network::None | Network::Only(_) => network,
    };
    let granted = confinement.granted_words();
    let granted = granted.map_or_else(String::new, |words| format!(", granted {words}"));
    format!("{network}, {files}{granted}")
}

/// How a run ended, in a few words.
pub(crate) fn ending(
    status: Option<i32>,
    signal: Option<i32>,
    limit: Option<&str>,
    kernel_ended: bool,
) -> String {
    let kernel = if kernel_ended { Kernel::Ended } else { Kernel::Lives };
    let mut text = session::ending(status, signal, limit, kernel);
    if kernel_ended {
        text.push_str("; the next run starts afresh");
    }
    text
}

/// What a turn's end means, if it needs saying.
pub(crate) fn turn_end(end: TurnEnd) -> Option<&'static str> {
    match end {
        TurnEnd::Done | TurnEnd::CodeFailed | TurnEnd::CannotConfine | TurnEnd::TooManyCalls => {
            None
        }
        TurnEnd::Refused => Some("Refused; nothing was run."),
        TurnEnd::ModelFailed => Some("The model did not finish its reply."),
        TurnEnd::Interrupted => Some("Interrupted."),
    }
}

/// One record of a session, as `history show` prints it.
pub(crate) fn tell(record: &Record) -> String {
    let time = record.time.get(11..19).unwrap_or(&record.time);
    let head = |what: &str| format!("{time}  {what}\n");
    match &record.body {
        Body::SessionStarted { model, confinement, .. } => head(&format!(
            "session {} in {}{}",
            record.session,
            Untrusted::new(confinement.work_folder.display().to_string()).for_terminal_line(200),
            model.as_ref().map_or_else(String::new, |model| format!(
                " with {}",
                Untrusted::new(&**model).for_terminal_line(80)
            )),
        )),
        Body::Prompt { text } => head("you") + &indented(&Untrusted::new(&**text)),
        Body::Image { name, image, .. } => {
            let name = Untrusted::new(&**name).for_terminal_line(200);
            head(&format!("you show {name} ({})", image.words()))
        }
        Body::Reply { text, .. } => head("model") + &indented(text),
        Body::Proposal { id, language, code, hash, .. } => {
            let hash = hash.get(..12).unwrap_or(hash);
            head(&format!("{id} {language} (sha256 {hash}…)")) + &indented(code)
        }
        Body::Verdict { proposal, rule, .. } => head(&format!("{proposal} {rule}")),
        Body::Answer { proposal, decision, by, code, reason, .. } => {
            head(&format!("{proposal} {}", answer(*decision, *by, reason.as_deref())))
                + &code.as_ref().map(indented).unwrap_or_default()
        }
        Body::RunStarted { proposal, backend, .. } => {
            if backend == Backend::None.word() {
                head(&format!("{proposal} runs WITHOUT A SANDBOX"))
            } else {
                head(&format!("{proposal} runs in the {backend} sandbox"))
            }
        }
        Body::Output { proposal, stream, text, kept: Some(kept), .. } if text.raw().is_empty() => {
            let size = count(kept.bytes, "byte");
            head(&format!("{proposal} {}: {size} that are not kept any more", stream.word()))
        }
        Body::Output { proposal, stream, text, .. } => {
            head(&format!("{proposal} {}", stream.word())) + &indented(text)
        }
        Body::InputWanted { proposal, prompt, .. } => {
            head(&format!("{proposal} asks: {}", prompt.for_terminal_line(400)))
        }
        Body::InputGiven { text } => {
            let text = text.as_deref().unwrap_or("[no input]");
            head(&format!("you answer: {}", Untrusted::new(text).for_terminal_line(400)))
        }
        Body::HostWanted { .. } | Body::HostGranted { .. } | Body::HostRefused { .. } => {
            head(&hosts::tell(&record.body).unwrap_or_default())
        }
        Body::Effects { proposal, files, network, denials } => {
            section(&head(&format!("{proposal} staged")), &file_lines(files))
                + &section(&head(&format!("{proposal} network")), &hosts::lines(network))
                + &section(&head(&format!("{proposal} refused")), &denial_lines(denials))
        }
        Body::RunFinished { proposal, status, signal, limit, kernel_ended, ms } => {
            let how = ending(*status, *signal, limit.as_deref(), *kernel_ended);
            head(&format!("{proposal} {how}, {ms} ms"))
        }
        Body::Changes { id, state, files, left_out } => {
            let files = count(files.len(), "file");
            head(&format!("changes {id} {}, {files}", state.word())) + &left_out_lines(left_out)
        }
        Body::NotProposed { reason, .. } => head(&format!("not code to run: {reason}")),
        Body::Error { message, .. } => {
            head(&format!("error: {}", Untrusted::new(&**message).for_terminal_line(400)))
        }
        Body::Note { text } => head(&Untrusted::new(&**text).for_terminal_line(400)),
        Body::Usage { input, output, cached, cost, context } => {
            head(&usage(*input, *output, *cached, *cost, *context))
        }
        Body::ModelChanged { model } => {
            let model = Untrusted::new(&**model).for_terminal_line(80);
            head(&format!("from here on with {model}"))
        }
        Body::Summary { text } => head("model, summing up what was said before") + &indented(text),
        Body::SessionEnded {} => head("session ended"),
        Body::Request { .. } | Body::Findings { .. } | Body::TurnFinished { .. } => String::new(),
    }
}

/// What was said to a question, and by whom.
fn answer(decision: Decision, by: Grantor, reason: Option<&str>) -> String {
    let decision = match decision {
        Decision::Run => "run",
        Decision::Edit => "run, edited",
        Decision::Reject => "rejected",
    };
    let reason = reason.map_or_else(String::new, |reason| {
        format!(": {}", Untrusted::new(reason).for_terminal_line(200))
    });
    let by = format!("{by:?}").to_lowercase();
    format!("{decision} by {by}{reason}")
}

fn usage(input: u64, output: u64, cached: u64, cost: Option<f64>, context: Option<u64>) -> String {
    let cached = if cached == 0 { String::new() } else { format!(" ({cached} cached)") };
    let cost = cost.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
    let full = context.and_then(|context| fullness(input, output, context));
    let full = full.map(|words| format!("; {words}")).unwrap_or_default();
    format!("{input} tokens in{cached}, {output} out{cost}{full}")
}

/// How full the model's context is.
pub(crate) fn fullness(input: u64, output: u64, context: u64) -> Option<String> {
    let percent = input.saturating_add(output).saturating_mul(100).checked_div(context)?;
    Some(format!("context {percent} % full"))
}

/// A head with lines under it, if there are any.
fn section(head: &str, lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!("{head}{lines}") }
}

fn indented(text: &Untrusted) -> String {
    text.for_terminal().lines().fold(String::new(), |mut all, line| {
        // Writing to a string cannot fail.
        _ = writeln!(all, "    {line}");
        all
    })
}
