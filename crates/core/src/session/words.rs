//! Text about a run or a refusal: for the model, and its ending for everybody. Plain, exact, and
//! marked as data where it is. Unknown facts are not claimed.

use crate::{
    Admission, Denial, Effects, Excerpt, FileChange, HostContact, Message, Proposal, Ran,
    SecretUse, Untrusted,
    packages::{Package, PackageOrder, PackagesDone},
};
use std::fmt::Write;

/// The note that the person pressed Ctrl-C.
pub const INTERRUPTED: &str = "interrupted by you";

/// How many changed files are named to the model.
const NAMED: usize = 20;

/// How many hosts that were not reached.
const NAMED_HOSTS: usize = 10;

/// Characters of the person's own code that a model is shown.
const TYPED: usize = 8_000;

/// How many other denials.
const NAMED_DENIALS: usize = 10;

pub(super) fn ran(
    call: Option<String>,
    ran: &Ran,
    excerpt: &Excerpt,
    cut: Option<&str>,
    notices: &[String],
) -> Message {
    let mut text = String::new();
    for notice in notices {
        // Writing to a string cannot fail.
        _ = writeln!(text, "[{notice}]");
    }
    let printed = Some(excerpt.add_to(&mut text, &ran.proposal));
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if excerpt.is_empty() {
        text.push_str("[no output]\n");
    }
    let mut line = ending(ran);
    if let Some(why) = cut {
        line.push_str("; ");
        line.push_str(why);
    }
    if ran.kernel_ended {
        line.push_str("; variables are lost");
    }
    _ = writeln!(text, "[{line}]");
    if let Some(remark) = &ran.remark {
        _ = writeln!(text, "[{remark}]");
    }
    for line in refused_hosts(&ran.effects.network) {
        _ = writeln!(text, "[{line}]");
    }
    for line in refused_secrets(&ran.effects.secrets) {
        _ = writeln!(text, "[{line}]");
    }
    for line in stopped(&ran.effects.denials) {
        _ = writeln!(text, "[{line}]");
    }
    if !ran.effects.files.is_empty() {
        _ = writeln!(text, "[staged: {}]", files(&ran.effects.files));
    }
    Message::Result { call, text: Untrusted::new(text), images: Vec::new(), printed }
}

/// Puts the person's own code before its result, so that a model knows what was run.
pub(super) fn typed(told: &mut Message, proposal: &Proposal) {
    let Message::Result { text, .. } = told else { return };
    let code = proposal.code().raw();
    let shown: String = code.chars().take(TYPED).collect();
    let cut = if shown.len() < code.len() { "\n[the rest of the code is not shown]" } else { "" };
    let (id, language) = (&proposal.id, proposal.language.name());
    let result = text.raw();
    *text = Untrusted::new(format!(
        "[the user ran this {language} code, as {id}; you did not write it]\n\
         {shown}{cut}\n[it printed:]\n{result}"
    ));
}

/// Advises a small model if Python lacks a package. By itself it would try to install it, again and
/// again; with this advice it does well without.
pub(super) fn advise(told: &mut Message) {
    const MISSING: &str = "ModuleNotFoundError: No module named '";
    let Message::Result { text, .. } = told else { return };
    let missing = text.raw().lines().rev().find_map(|line| line.strip_prefix(MISSING));
    let name = missing.and_then(|rest| rest.split_once('\''));
    let Some((name, _)) = name.filter(|(name, _)| name.chars().all(is_in_a_name)) else { return };
    let name = name.split('.').next().unwrap_or(name);
    let advice = format!(
        "{}[{name} is not there. Write the code again without {name}, with Python's standard \
         library alone.]\n",
        text.raw()
    );
    *text = Untrusted::new(advice);
}

fn is_in_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// The ending of a run, in a few words.
fn ending(ran: &Ran) -> String {
    match (&ran.limit, ran.status) {
        (Some(limit), _) => format!("stopped: reached the limit on {limit}"),
        (None, Some(status)) if ran.signal.is_none() && !ran.kernel_ended => {
            format!("status {status}")
        }
        (None, status) => format!("the interpreter {}", death(status, ran.signal)),
    }
}

/// How a process died.
pub fn death(status: Option<i32>, signal: Option<i32>) -> String {
    match (signal, status) {
        (Some(signal), _) => format!("was ended by {}", signal_words(signal)),
        (None, Some(status)) => format!("exited with status {status}"),
        (None, None) => "ended without a status".into(),
    }
}

fn signal_words(signal: i32) -> String {
    match named_signal(signal) {
        Some((name, meaning)) => format!("{name} ({meaning})"),
        None => format!("signal {signal}"),
    }
}

/// A signal by its name on Linux, and its usual meaning.
pub fn named_signal(signal: i32) -> Option<(&'static str, &'static str)> {
    Some(match signal {
        1 => ("SIGHUP", "a hang-up"),
        2 => ("SIGINT", "an interrupt"),
        3 => ("SIGQUIT", "a request to quit"),
        4 => ("SIGILL", "a crash in native code: an instruction that this processor lacks"),
        5 => ("SIGTRAP", "a breakpoint, or a check in native code that failed"),
        6 => ("SIGABRT", "it gave up by itself, as native code does when it gets no memory"),
        7 => ("SIGBUS", "a crash in native code: memory that is not there"),
        8 => ("SIGFPE", "a crash in native code: a division by zero, say"),
        9 => ("SIGKILL", "sent by code inside, or by the system for want of memory"),
        11 => ("SIGSEGV", "a crash in native code"),
        13 => ("SIGPIPE", "it wrote to a pipe that nobody reads"),
        14 => ("SIGALRM", "an alarm that it had set"),
        15 => ("SIGTERM", "a request to end"),
        24 => ("SIGXCPU", "its own limit on CPU time"),
        25 => ("SIGXFSZ", "it wrote a larger file than `limits.file_size` allows"),
        31 => ("SIGSYS", "a system call that is refused here"),
        _ => return None,
    })
}

/// Hosts that could not be reached, so that the model does not guess why.
fn refused_hosts(contacts: &[HostContact]) -> Vec<String> {
    let refused = contacts.iter().filter(|contact| contact.why.is_some());
    let mut lines: Vec<_> = refused.clone().take(NAMED_HOSTS).map(HostContact::line).collect();
    let more = refused.count().saturating_sub(NAMED_HOSTS);
    if more > 0 {
        lines.push(format!("and {more} more hosts that were not reached"));
    }
    lines
}

/// Whether a result holds names that code chose, and may have from somebody else: those of files in
/// an archive, say.
pub(super) fn names_things(effects: &Effects) -> bool {
    let Effects { files, network, denials, changes: _, secrets: _ } = effects;
    !(files.is_empty() && refused_hosts(network).is_empty() && stopped(denials).is_empty())
}

/// Secrets that were not put in, so that the model does not guess why.
fn refused_secrets(uses: &[SecretUse]) -> Vec<String> {
    let refused = uses.iter().filter(|one| one.verdict == Admission::Refused);
    refused.take(NAMED_HOSTS).map(SecretUse::line).collect()
}

/// The sandbox's refusals, except hosts and the limit that ended the run, which are listed
/// elsewhere.
fn stopped(denials: &[Denial]) -> Vec<String> {
    let told = denials.iter().filter(|denial| !denial.is_told_elsewhere());
    let mut lines: Vec<_> = told.clone().take(NAMED_DENIALS).map(Denial::line).collect();
    let more = told.count().saturating_sub(NAMED_DENIALS);
    if more > 0 {
        lines.push(format!("and {more} more that the sandbox refused"));
    }
    lines
}

fn files(files: &[FileChange]) -> String {
    let mut names: Vec<_> = files
        .iter()
        .take(NAMED)
        .map(|file| format!("{} {}", file.change.word(), file.subject()))
        .collect();
    if files.len() > NAMED {
        names.push(format!("and {} more", files.len() - NAMED));
    }
    names.join(", ")
}

/// The most packages that are named to the model.
const NAMED_PACKAGES: usize = 20;

/// Packages that were installed, or removed.
pub(super) fn installed(order: &PackageOrder, done: &PackagesDone) -> String {
    let list = |packages: &[Package]| {
        let mut names: Vec<_> =
            packages.iter().take(NAMED_PACKAGES).map(ToString::to_string).collect();
        if packages.len() > NAMED_PACKAGES {
            names.push(format!("{} more", packages.len() - NAMED_PACKAGES));
        }
        names.join(", ")
    };
    match (done.installed.as_slice(), done.removed.as_slice()) {
        ([], []) => format!("{} is installed already", order.words()),
        ([], removed) => format!("removed {}", list(removed)),
        (installed, _) => format!("the user has installed {}", list(installed)),
    }
}

/// Packages that are not there, and will not be.
pub(super) fn not_installed(order: &PackageOrder, why: &str) -> String {
    format!(
        "{} could not be installed: {why}. Do not try to install it again; go on without it, or \
         tell the user",
        order.words()
    )
}

/// The result of a proposal that did not run as code.
pub(super) fn done(told: &str) -> Untrusted {
    Untrusted::new(format!("[{told}]\n"))
}

pub(super) fn rejected(reason: Option<&str>) -> Untrusted {
    Untrusted::new(match reason {
        Some(reason) => format!("[not run: the user rejected it and says: {reason}]\n"),
        None => "[not run: the user rejected it]\n".into(),
    })
}

pub(super) fn denied(rule: &str) -> Untrusted {
    Untrusted::new(format!("[not run: refused by {rule}]\n"))
}

pub(super) fn not_reached() -> Untrusted {
    Untrusted::new("[not run: the code before it was not run or failed]\n")
}

pub(super) fn went_back() -> Untrusted {
    Untrusted::new("[not run: the user went back to before it]\n")
}

pub(super) fn could_not_show(reason: &str) -> Untrusted {
    Untrusted::new(format!("[not shown: {reason}]\n"))
}

pub(super) fn could_not_run(message: &str) -> Untrusted {
    Untrusted::new(format!("[not run: {message}]\n"))
}

pub(super) fn kernel_ended(language: &str, how: &str) -> String {
    format!(
        "the {language} interpreter {how}; its variables are lost, the next run starts a new \
             one"
    )
}

/// Tells the model that its interpreters are not those of the conversation so far.
pub(super) const RESUMED: &str = "[The conversation goes on in a new session: the interpreters are new, their variables \
     and imports are gone, and files are as they are now.]";

/// The same, if cells ran again.
pub(super) fn resumed_and_rebuilt(count: u32) -> String {
    format!(
        "[The conversation goes on in a new session with new interpreters; {} to restore their \
         variables. Files are as they are now.]",
        ran_again(count)
    )
}

/// Tells the model that an interpreter was rebuilt.
pub(super) fn ran_again(count: u32) -> String {
    let (cells, were) = if count == 1 { ("cell", "was") } else { ("cells", "were") };
    format!("{count} earlier {cells} {were} run again")
}

/// Tells the model what did not go back with the conversation.
pub(super) const APPLIED_STAYS: &str = "[The user went back to an earlier point of this \
     conversation. Changes that were applied to their folder since then are still there.]";

pub(super) const FILES_STAY: &str = "[The user went back to an earlier point of this \
     conversation. Staged files could not go back with it: look at them before you rely on them.]";

pub(super) fn memory_lost(languages: &[String]) -> String {
    format!(
        "[The user went back to an earlier point of this conversation. The interpreters of these \
         languages are new, and not all of their variables are there: {}.]",
        languages.join(", ")
    )
}

/// A cell that stopped the others behind it.
pub(super) fn stopped_again(cell: &str, how: &str, left: usize) -> String {
    match left {
        0 => format!("{cell} {how} when it ran again"),
        1 => format!("{cell} {how} when it ran again; 1 cell behind it did not run"),
        left => format!("{cell} {how} when it ran again; {left} cells behind it did not run"),
    }
}

pub(super) const NOT_RESUMED: &str = "this conversation has begun already; nothing is resumed";

pub(super) const APPROVALS_GONE: &str = "this question has been approved in the session before; that \
    no longer counts, so everybody is asked again";

/// Interpreters that the person restarted.
pub fn restarted(languages: &[String]) -> String {
    match languages {
        [] => "there was no interpreter to restart; the next run starts a new one".into(),
        [name] => format!("Restarted {name}. Its variables are gone."),
        names => format!("Restarted {}. Their variables are gone.", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_told_by_its_signal_or_status() {
        let ran = |status, signal, kernel_ended| {
            ending(&Ran { status, signal, kernel_ended, ..Ran::default() })
        };
        assert_eq!(
            ran(None, Some(11), true),
            "the interpreter was ended by SIGSEGV (a crash in native code)"
        );
        assert_eq!(ran(Some(3), None, true), "the interpreter exited with status 3");
        assert_eq!(ran(Some(3), None, false), "status 3");
        assert_eq!(death(None, Some(63)), "was ended by signal 63");
    }

    #[test]
    fn a_limit_says_more_than_the_signal_that_enforced_it() {
        let (signal, limit) = (Some(9), Some("time (5 s)".into()));
        let said = ending(&Ran { signal, limit, kernel_ended: true, ..Ran::default() });
        assert_eq!(said, "stopped: reached the limit on time (5 s)");
    }
}
