//! The commands of a chat: one table, from which parsing, help, completion, "did you mean" and the
//! page of the reference are made.
//!
//! Pure. Must not perform anything: `act.rs` does.

use interpreter_core::similar::nearest;

/// A command of the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Help,
    Model,
    Models,
    Profile,
    Image,
    Run,
    Changes,
    Diff,
    Apply,
    Discard,
    Undo,
    Redo,
    Output,
    Open,
    Save,
    New,
    Clear,
    Rewind,
    Fork,
    Replay,
    Forget,
    Retry,
    Edit,
    Tokens,
    Context,
    Rules,
    Allow,
    Deny,
    Sandbox,
    Languages,
    Restart,
    Theme,
    Verbose,
    Doctor,
    Quit,
}

/// The values that an argument takes, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    None,
    Commands,
    Models,
    Profiles,
    Files,
    /// Paths with staged changes.
    Staged,
    Languages,
    Switch,
    Themes,
}

/// How many arguments a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arity {
    None,
    Maybe,
    One,
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) verb: Verb,
    pub(super) name: &'static str,
    /// As help shows them; empty if there are none.
    pub(super) arguments: &'static str,
    pub(super) help: &'static str,
    /// Other names, those of the original program among them.
    pub(super) aliases: &'static [&'static str],
    pub(super) arity: Arity,
    pub(super) values: Values,
}

/// Whatever is meant by a word that looks like a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// This command. A name of the original program may bring an argument of its own.
    Known(&'static Row, Option<&'static str>),
    /// A command of the original program that has no counterpart, and what to do instead.
    Instead(&'static str),
    /// None; perhaps this one was meant.
    Unknown(Option<&'static str>),
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.verb == other.verb
    }
}

impl Eq for Row {}

const fn row(
    verb: Verb,
    name: &'static str,
    arguments: (&'static str, Arity, Values),
    help: &'static str,
    aliases: &'static [&'static str],
) -> Row {
    let (arguments, arity, values) = arguments;
    Row { verb, name, arguments, help, aliases, arity, values }
}

const NOTHING: (&str, Arity, Values) = ("", Arity::None, Values::None);
const PATHS: (&str, Arity, Values) = ("[PATH…]", Arity::Maybe, Values::Staged);
const LANGUAGE: (&str, Arity, Values) = ("[LANGUAGE]", Arity::Maybe, Values::Languages);

/// Every command, in the order of the help.
#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    row(Verb::Help, "/help", ("[COMMAND]", Arity::Maybe, Values::Commands), "show all commands, or one of them", &["%help"]),
    row(Verb::Quit, "/quit", NOTHING, "quit (also Ctrl-D, exit, quit)", &["/exit"]),
    row(Verb::New, "/new", NOTHING, "start a new conversation with new interpreters", &["/reset", "%reset"]),
    row(Verb::Rewind, "/rewind", ("[CELL]", Arity::Maybe, Values::None), "go back to before a cell: conversation, staged files and variables", &[]),
    row(Verb::Fork, "/fork", ("[CELL]", Arity::Maybe, Values::None), "go on in a new session, from here or from before a cell such as p3", &[]),
    row(Verb::Replay, "/replay", LANGUAGE, "restart interpreters and run the approved cells again", &[]),
    row(Verb::Retry, "/retry", NOTHING, "have the model answer your last prompt again", &[]),
    row(Verb::Forget, "/forget", NOTHING, "remove your last prompt and its replies from the conversation", &["%undo"]),
    row(Verb::Edit, "/edit", ("[TEXT]", Arity::Maybe, Values::None), "write the next prompt in your editor", &[]),
    row(Verb::Image, "/image", ("PATH", Arity::One, Values::Files), "attach an image to your next prompt", &[]),
    row(Verb::Run, "/run", ("LANGUAGE [CODE]", Arity::One, Values::Languages), "run your own code; without CODE, write it in your editor", &[]),
    row(Verb::Output, "/output", ("[RUN]", Arity::Maybe, Values::None), "page through all output of a run, such as p3 (default: the last)", &[]),
    row(Verb::Open, "/open", ("[NAME]", Arity::Maybe, Values::None), "open a picture, table or page in your viewer (default: the newest)", &[]),
    row(Verb::Diff, "/diff", PATHS, "show staged changes line by line", &[]),
    row(Verb::Apply, "/apply", ("[PATH[:HUNKS]…]", Arity::Maybe, Values::Staged), "write staged changes to your folder", &[]),
    row(Verb::Discard, "/discard", PATHS, "drop staged changes", &[]),
    row(Verb::Undo, "/undo", NOTHING, "undo the changes that were applied last", &[]),
    row(Verb::Redo, "/redo", NOTHING, "apply the changes that were undone last", &[]),
    row(Verb::Changes, "/changes", NOTHING, "list the change sets of this folder", &[]),
    row(Verb::Rules, "/rules", NOTHING, "show the rules, your standing answers and the hosts that you allowed", &[]),
    row(Verb::Allow, "/allow", ("all|LANGUAGE|N", Arity::One, Values::Languages), "run such code without asking in this session, or take back a no by its number", &[]),
    row(Verb::Deny, "/deny", ("LANGUAGE|FINDING|line PATTERN|host HOST|N", Arity::One, Values::Languages), "reject such code in this session, or take back a host or a yes by its number", &[]),
    row(Verb::Sandbox, "/sandbox", NOTHING, "show how code is confined", &[]),
    row(Verb::Restart, "/restart", LANGUAGE, "restart one interpreter, or all; variables are lost", &[]),
    row(Verb::Languages, "/languages", NOTHING, "list the available languages", &[]),
    row(Verb::Model, "/model", ("[NAME]", Arity::Maybe, Values::Models), "show the model, or switch and keep the conversation", &["%model"]),
    row(Verb::Models, "/models", ("[PROVIDER]", Arity::Maybe, Values::Models), "list models and providers, or ask a provider for its models", &[]),
    row(Verb::Profile, "/profile", ("[NAME]", Arity::Maybe, Values::Profiles), "list the profiles, or start a new conversation with one", &[]),
    row(Verb::Tokens, "/tokens", NOTHING, "show the tokens and the cost of this session", &["/cost", "%tokens"]),
    row(Verb::Context, "/context", NOTHING, "show how full the model's context is", &[]),
    row(Verb::Save, "/save", ("FILE", Arity::One, Values::Files), "save the session as .md, .ipynb, .py, .sh, .js, .r or .jsonl", &["%markdown", "%jupyter", "%save_message"]),
    row(Verb::Clear, "/clear", NOTHING, "clear the screen; the conversation stays", &[]),
    row(Verb::Theme, "/theme", ("[light|dark|auto|none]", Arity::Maybe, Values::Themes), "show the colours, or choose those for a light or a dark terminal", &[]),
    row(Verb::Verbose, "/verbose", ("[on|off]", Arity::Maybe, Values::Switch), "show everything: fold nothing, and add verdicts, answers and token counts", &["%verbose"]),
    row(Verb::Doctor, "/doctor", NOTHING, "check whether this machine is ready", &["%info"]),
];

/// Arguments that a name of the original program brings with it.
const DEFAULTS: &[(&str, &str)] =
    &[("%markdown", "chat.md"), ("%jupyter", "chat.ipynb"), ("%save_message", "chat.jsonl")];

/// Commands of the original program that have no counterpart.
const INSTEAD: &[(&str, &str)] = &[(
    "%load_message",
    "Saved messages cannot be loaded into a chat. `interpreter history show` shows earlier sessions.",
)];

/// Looks a word up that begins with `/` or `%`.
pub(super) fn named(word: &str) -> Named {
    let is_it = |row: &&Row| row.name == word || row.aliases.contains(&word);
    if let Some(row) = TABLE.iter().find(is_it) {
        let brings = DEFAULTS.iter().find(|(name, _)| *name == word);
        return Named::Known(row, brings.map(|(_, argument)| *argument));
    }
    if let Some((_, words)) = INSTEAD.iter().find(|(name, _)| *name == word) {
        return Named::Instead(words);
    }
    let all = TABLE.iter().flat_map(|row| row.aliases.iter().chain([&row.name]));
    // The sign is not part of the word that was mistyped.
    let bare = word.trim_start_matches(['/', '%']);
    let near = nearest(bare, all.clone().map(|name| name.trim_start_matches(['/', '%'])));
    let meant = near.and_then(|near| {
        let mut same = all.clone().filter(|name| name.trim_start_matches(['/', '%']) == near);
        let first = word.chars().next();
        same.clone().find(|name| name.chars().next() == first).or_else(|| same.next())
    });
    Named::Unknown(meant.copied())
}

/// The row of a command that is named with or without its sign.
pub(super) fn of_name(name: &str) -> Option<&'static Row> {
    let known = |word: &str| match named(word) {
        Named::Known(row, _) => Some(row),
        Named::Instead(_) | Named::Unknown(_) => None,
    };
    known(name).or_else(|| known(&format!("/{name}")))
}

impl Row {
    /// The command as it is typed.
    pub(super) fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments).trim_end().to_owned()
    }
}

/// The table of the reference, as Markdown.
#[cfg(test)]
fn page_rows() -> String {
    let rows = TABLE.iter().map(|row| {
        let usage = row.usage().replace('|', "\\|");
        let aliases: Vec<_> = row.aliases.iter().map(|name| format!("`{name}`")).collect();
        format!("| `{usage}` | {} | {} |\n", row.help, aliases.join(" "))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_name_stands_for_two_commands() {
        let mut seen = HashSet::new();
        for name in TABLE.iter().flat_map(|row| row.aliases.iter().chain([&row.name])) {
            assert!(seen.insert(name), "{name}");
            assert!(matches!(named(name), Named::Known(..)), "{name}");
        }
        assert!(DEFAULTS.iter().all(|(name, _)| seen.contains(name)));
        assert!(INSTEAD.iter().all(|(name, _)| !seen.contains(name)));
    }

    #[test]
    fn help_is_one_short_line() {
        for row in TABLE {
            assert!(row.help.len() <= 80 && !row.help.ends_with('.'), "{}", row.help);
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        for (word, meant) in [
            ("/modle", Some("/model")),
            ("/aply", Some("/apply")),
            ("%udno", Some("%undo")),
            ("%hlep", Some("%help")),
            ("/tmp", None),
            ("%pip", None),
        ] {
            assert_eq!(named(word), Named::Unknown(meant), "{word}");
        }
    }

    /// A chat does nothing that other clients cannot do.
    #[test]
    fn the_protocol_offers_every_command() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/protocol.md");
        let page = fs_err::read_to_string(page).unwrap();
        let (_, table) = page.split_once("## A chat in verbs").unwrap();
        let (table, _) = table.split_once("\n## ").unwrap();
        let offered: Vec<_> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| `/")?.split_once("` | "))
            .map(|(name, by)| (format!("/{name}"), by))
            .collect();
        let names: Vec<_> = offered.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, TABLE.iter().map(|row| row.name).collect::<Vec<_>>());
        for (name, by) in offered {
            let verb = by.trim_start_matches('`').split('`').next().unwrap();
            let is_verb = interpreter_web::protocol::VERBS.contains(&verb);
            assert!(is_verb || by.starts_with("the client's own"), "{name}: {by}");
        }
    }

    #[test]
    fn the_reference_has_this_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/chat.md");
        let page = fs_err::read_to_string(page).unwrap();
        let rows = page_rows();
        assert!(page.contains(&rows), "docs/reference/chat.md must have these rows:\n{rows}");
    }
}
