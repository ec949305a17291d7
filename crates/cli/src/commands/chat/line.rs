//! Parses a line typed in a chat: a command, or text for the model.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Nothing,
    Quit,
    Help,
    /// Attach an image to the next prompt.
    Image(&'a str),
    /// Open a result, or the newest one.
    Open(Option<&'a str>),
    /// End the interpreter of a language, or all of them.
    Restart(Option<&'a str>),
    /// Switch to another model, or show the current one.
    Model(Option<&'a str>),
    /// Looks like a command, but is none.
    Unknown(&'a str),
    /// Text for the model.
    Prompt,
}

impl<'a> Line<'a> {
    /// Reads a line. Commands begin with `/`, some also with `%`. A sentence that begins with a path
    /// is no command.
    pub(super) fn of(typed: &'a str) -> Self {
        let typed = typed.trim();
        let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
        match (word, rest) {
            ("", _) => Self::Nothing,
            ("/quit" | "/exit", None) => Self::Quit,
            ("/help" | "%help", None) => Self::Help,
            ("/image", Some(path)) => Self::Image(path),
            ("/open", name) => Self::Open(name),
            ("/restart", language) => Self::Restart(language),
            ("/model" | "%model", name) => Self::Model(name),
            (command, None) if command.starts_with('/') => Self::Unknown(command),
            _ => Self::Prompt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_words() {
        for (typed, line) in [
            ("  ", Line::Nothing),
            ("/quit", Line::Quit),
            ("%help", Line::Help),
            ("/image  a picture.png ", Line::Image("a picture.png")),
            ("/image", Line::Unknown("/image")),
            ("/open", Line::Open(None)),
            ("/open p3-1", Line::Open(Some("p3-1"))),
            ("/restart", Line::Restart(None)),
            ("/restart python", Line::Restart(Some("python"))),
            ("/model", Line::Model(None)),
            (" %model ", Line::Model(None)),
            ("%model ollama/qwen:7b", Line::Model(Some("ollama/qwen:7b"))),
            ("/model\tscripted:my file.toml", Line::Model(Some("scripted:my file.toml"))),
            ("/models", Line::Unknown("/models")),
            ("/etc/passwd is what?", Line::Prompt),
            ("/quit now", Line::Prompt),
            ("%modelling is fun", Line::Prompt),
            ("what is 5 %model 3", Line::Prompt),
        ] {
            assert_eq!(Line::of(typed), line, "{typed}");
        }
    }
}
