//! The command line. Parsing touches neither disk nor environment.

use crate::{
    commands::{
        audit, changes, completions, config, doctor, history, import, languages, man, model,
        packages, rules, run, secret, serve, trust,
    },
    options::SessionArgs,
};
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Run model-written code on your computer: sandboxed, and only with your approval
///
/// Describe a task, and a model writes code for it. You see the code and its effects, and if you
/// approve, it runs in a sandbox. Changed files are staged for your review. Everything is logged in
/// a tamper-evident record.
#[derive(Debug, Parser)]
#[command(
    name = "interpreter",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Use only local models: an installed embedded model, or the first local server that responds
    #[arg(long, conflicts_with = "model")]
    pub(crate) local: bool,
    /// Print only the answer, on standard output; everything else goes to standard error
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print a JSON answer that fits the JSON Schema in this file; implies --quiet
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Continue an earlier chat: the newest in this folder, or the session with this id
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, group = "earlier")]
    #[expect(clippy::option_option, reason = "the option may come without an id")]
    pub(crate) resume: Option<Option<String>>,
    /// Continue the newest chat in this folder, like `--resume` without an id
    #[arg(long, group = "earlier")]
    pub(crate) r#continue: bool,
    /// Start a new chat from the conversation of an earlier one, which stays as it is
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, group = "earlier")]
    #[expect(clippy::option_option, reason = "the option may come without an id")]
    pub(crate) fork: Option<Option<String>>,
    /// Leave out this cell of the earlier chat, such as p3, and everything after it
    #[arg(long, value_name = "CELL", requires = "earlier")]
    pub(crate) before: Option<String>,
    /// Run the approved cells of the earlier chat again, after one question, to restore variables
    #[arg(long, requires = "earlier")]
    pub(crate) replay: bool,
    /// Attach an image (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) image: Vec<PathBuf>,
    /// Prompt for the model [default: ask for it]
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::RunArgs),
    Serve(serve::ServeArgs),
    Changes(changes::ChangesArgs),
    History(history::HistoryArgs),
    Audit(audit::AuditArgs),
    Doctor(doctor::DoctorArgs),
    Languages(languages::LanguagesArgs),
    Model(model::ModelArgs),
    Packages(packages::PackagesArgs),
    Rules(rules::RulesArgs),
    Trust(trust::TrustArgs),
    Secret(secret::SecretArgs),
    Config(config::ConfigArgs),
    Import(import::ImportArgs),
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Man(man::ManArgs),
}

impl Args {
    /// Whether the answer alone is printed, and nobody is asked.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet || self.output_schema.is_some()
    }

    /// The chat to continue or to fork, if any: the newest, or the one with this id.
    #[expect(clippy::option_option, reason = "the option may come without an id")]
    pub(crate) fn earlier(&self) -> Option<Option<&str>> {
        match self.resume.as_ref().or(self.fork.as_ref()) {
            Some(id) => Some(id.as_deref().or(self.id_behind())),
            None => self.r#continue.then_some(None),
        }
    }

    /// The id behind `--resume` or `--fork`, if it was typed with a space. The space cannot always
    /// mean an id, because a prompt may come there too.
    fn id_behind(&self) -> Option<&str> {
        let is_alone = self.resume.as_ref().or(self.fork.as_ref()).is_some_and(Option::is_none);
        let first = self.prompt.first().filter(|_| is_alone)?;
        looks_like_an_id(first).then_some(first)
    }

    /// The prompt that was typed, if any.
    pub(crate) fn prompt(&self) -> Option<String> {
        let words = &self.prompt[usize::from(self.id_behind().is_some())..];
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// Whether a word has the form of a session's id, or of its short form: no word of a prompt has, but
/// perhaps a long number.
fn looks_like_an_id(word: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (8..=32).contains(&word.len())
        && word.bytes().all(is_hex)
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_stand_behind_a_space_and_a_prompt_too() {
        let read = |words: &[&str]| {
            let words = ["interpreter"].iter().chain(words);
            let args = Args::try_parse_from(words).unwrap();
            (args.earlier().map(|id| id.map(str::to_owned)), args.prompt())
        };
        let prompt = |text: &str| Some(text.to_owned());
        let id = |text: &str| Some(Some(text.to_owned()));
        assert_eq!(read(&["--resume", "0193abcd"]), (id("0193abcd"), None));
        assert_eq!(read(&["--fork", "0193abcd", "go", "on"]), (id("0193abcd"), prompt("go on")));
        assert_eq!(read(&["--resume=0193abcd", "12345678"]), (id("0193abcd"), prompt("12345678")));
        for words in ["deadbeef", "go", "2026", "12345678 apples", "0193ABCD", "0193abcg"] {
            assert_eq!(read(&["--resume", words]), (Some(None), prompt(words)), "{words}");
        }
        assert_eq!(read(&["--continue", "0193abcd"]), (Some(None), prompt("0193abcd")));
        assert_eq!(read(&["0193abcd"]), (None, prompt("0193abcd")));
    }
}
