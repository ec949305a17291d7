//! The folder that a shell is in, as far as its script tells.

use crate::literal::Literal;
use std::borrow::Cow;

/// The folder that relative names are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Folder {
    /// The work folder.
    #[default]
    Work,
    /// This one, if the `cd` before has succeeded.
    In(String),
    /// Nobody knows.
    Elsewhere,
}

/// How a name is written whose folder nobody knows. Rules by path may fit it, whatever they name.
const UNKNOWN: &str = "$PWD";

impl Folder {
    /// It after `cd` with this word alone.
    pub(crate) fn then(&self, word: &Literal) -> Self {
        match word.whole() {
            Some(text) if !text.is_empty() && !text.starts_with('-') && !is_dynamic(text) => {
                let folder = self.of(word);
                Self::In(folder.start().trim_end_matches('/').to_owned())
            }
            _ => Self::Elsewhere,
        }
    }

    /// A path as it is called from the work folder.
    pub(crate) fn of<'a>(&self, path: &'a Literal) -> Cow<'a, Literal> {
        let base = match self {
            Self::Work => return Cow::Borrowed(path),
            Self::In(folder) => folder,
            Self::Elsewhere => UNKNOWN,
        };
        match path.whole().filter(|text| is_relative(text)) {
            Some(text) if !path.is_remote() => Cow::Owned(Literal::known(format!("{base}/{text}"))),
            _ => Cow::Borrowed(path),
        }
    }
}

fn is_relative(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(['/', '~']) && !path.starts_with("$HOME")
}

/// Whether the shell looks a folder up elsewhere: `~+`, `~ann`.
fn is_dynamic(folder: &str) -> bool {
    folder.strip_prefix('~').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(words: &[&str], path: &str) -> String {
        let folder =
            words.iter().fold(Folder::Work, |folder, word| folder.then(&Literal::known(*word)));
        folder.of(&Literal::known(path)).whole().unwrap().to_owned()
    }

    #[test]
    fn a_name_goes_along_with_its_folder() {
        for (words, path, expected) in [
            (&[][..], "a.csv", "a.csv"),
            (&["data"], "a.csv", "data/a.csv"),
            (&["data/", "x"], "a.csv", "data/x/a.csv"),
            (&["/srv"], "a.csv", "/srv/a.csv"),
            (&["~"], "a.csv", "~/a.csv"),
            (&["data"], "/etc/hosts", "/etc/hosts"),
            (&["data"], "~/x", "~/x"),
            (&["data"], "https://a.example/x", "https://a.example/x"),
            (&["-"], "a.csv", "$PWD/a.csv"),
            (&["~ann"], "a.csv", "$PWD/a.csv"),
            (&["-", "data"], "a.csv", "$PWD/data/a.csv"),
        ] {
            assert_eq!(after(words, path), expected, "{words:?}");
        }
    }
}
