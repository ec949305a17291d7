//! Parses a line typed in a chat: a command, code of one's own, or text for the model.

use super::table::{Arity, Named, Row, named};

/// A line, as it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Nothing,
    /// A command, with everything behind its name.
    Command(&'static Row, Option<&'a str>),
    /// A command without its argument, or with one that it does not take.
    Misused(&'static Row),
    /// A line for the shell.
    Shell(&'a str),
    /// A line for Python that installs packages, as in a notebook.
    Packages(&'a str),
    /// A command of the original program, and what to do instead.
    Instead(&'static str),
    /// Looks like a command, but is none; perhaps this one was meant.
    Unknown(&'a str, Option<&'static str>),
    /// Text for the model.
    Prompt,
}

impl<'a> Line<'a> {
    /// Reads a line. Commands begin with `/` or `%`, code for the shell with `!`. A sentence that
    /// begins with a path is no command.
    pub(super) fn of(typed: &'a str) -> Self {
        let typed = typed.trim();
        let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
        if let Some(code) = typed.strip_prefix("%%").or_else(|| typed.strip_prefix('!')) {
            return match code.trim() {
                "" => Self::Unknown(typed, None),
                code => Self::Shell(code),
            };
        }
        match (word, rest) {
            ("", _) => return Self::Nothing,
            ("exit" | "quit" | "exit()" | "quit()", None) => return Self::of("/quit"),
            ("%pip" | "%conda" | "%uv", Some(_)) => return Self::Packages(typed),
            _ if !word.starts_with(['/', '%']) => return Self::Prompt,
            _ => {}
        }
        match (named(word), rest) {
            (Named::Known(row, brings), rest) => match (row.arity, rest.or(brings)) {
                (Arity::None, Some(_)) | (Arity::One, None) => Self::Misused(row),
                (_, argument) => Self::Command(row, argument),
            },
            (Named::Instead(words), _) => Self::Instead(words),
            // A path may begin a sentence; a slip of the finger before an argument must not be sent.
            (Named::Unknown(None), Some(_)) => Self::Prompt,
            (Named::Unknown(near), _) if !word[1..].contains('/') => Self::Unknown(word, near),
            (Named::Unknown(_), Some(_)) => Self::Prompt,
            (Named::Unknown(_), None) => Self::Unknown(word, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::table::of_name, *};

    #[test]
    fn commands_are_told_from_words() {
        let command = |name: &str, rest| Line::Command(of_name(name).unwrap(), rest);
        for (typed, line) in [
            ("  ", Line::Nothing),
            ("/quit", command("quit", None)),
            ("exit", command("quit", None)),
            (" quit ", command("quit", None)),
            ("quit smoking: write a plan", Line::Prompt),
            ("%help", command("help", None)),
            ("/image  a picture.png ", command("image", Some("a picture.png"))),
            ("/image", Line::Misused(of_name("image").unwrap())),
            ("/open", command("open", None)),
            ("/open p3-1", command("open", Some("p3-1"))),
            ("/restart", command("restart", None)),
            ("/restart python", command("restart", Some("python"))),
            (" %model ", command("model", None)),
            ("/model\tscripted:my file.toml", command("model", Some("scripted:my file.toml"))),
            ("%undo", command("forget", None)),
            ("%reset", command("new", None)),
            ("%markdown", command("save", Some("chat.md"))),
            ("%jupyter report.ipynb", command("save", Some("report.ipynb"))),
            ("/apply a.csv b.csv", command("apply", Some("a.csv b.csv"))),
            ("/cost", command("tokens", None)),
            ("/quit now", Line::Misused(of_name("quit").unwrap())),
            ("/modles", Line::Unknown("/modles", Some("/models"))),
            ("/aply a.csv", Line::Unknown("/aply", Some("/apply"))),
            ("/nothing-like-it", Line::Unknown("/nothing-like-it", None)),
            ("%frobnicate", Line::Unknown("%frobnicate", None)),
            ("/etc/passwd", Line::Unknown("/etc/passwd", None)),
            ("/etc/passwd is what?", Line::Prompt),
            ("/tmp is full, why?", Line::Prompt),
            ("%modelling is fun", Line::Prompt),
            ("what is 5 %model 3", Line::Prompt),
            ("!ls -l", Line::Shell("ls -l")),
            ("%% ls", Line::Shell("ls")),
            ("!", Line::Unknown("!", None)),
            ("%pip install pandas", Line::Packages("%pip install pandas")),
        ] {
            assert_eq!(Line::of(typed), line, "{typed}");
        }
        assert!(matches!(Line::of("%load_message x.json"), Line::Instead(_)));
    }
}
