//! Scanners: programs of others that look for danger in code, beside our own analysis.
//!
//! Names and words only. They are run by `exec`, in a sandbox, and their reports are read by
//! `analyze`; a scanner adds findings and raises them, and decides nothing.

use serde::{Deserialize, Serialize};
use std::{fmt, path::Path, str::FromStr};

/// A scanner that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scanner {
    /// Bandit, for Python.
    Bandit,
    /// Semgrep, with local rules.
    Semgrep,
    /// `ShellCheck`, for shells.
    ShellCheck,
}

impl Scanner {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bandit, Self::Semgrep, Self::ShellCheck];

    /// The name in settings, and of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bandit => "bandit",
            Self::Semgrep => "semgrep",
            Self::ShellCheck => "shellcheck",
        }
    }

    /// The name of the file that it is given, if it reads code in this language.
    pub fn file_name(self, language: &str) -> Option<&'static str> {
        match (self, language) {
            (Self::Bandit | Self::Semgrep, "python") => Some("code.py"),
            (Self::ShellCheck | Self::Semgrep, "shell") => Some("code.sh"),
            (Self::Semgrep, "javascript") => Some("code.js"),
            (Self::Semgrep, "typescript") => Some("code.ts"),
            (Self::Bandit | Self::Semgrep | Self::ShellCheck, _) => None,
        }
    }

    /// Its arguments for a file. Whatever a project or a comment says to silence it does not count:
    /// no config file is read, and no comment switches a check off.
    pub fn arguments(self, file: &str, rules: &Path) -> Vec<String> {
        let rules = rules.to_string_lossy();
        let words: &[&str] = match self {
            Self::Bandit => &["--quiet", "--format", "json", "--ignore-nosec", "--exit-zero", file],
            Self::Semgrep => &[
                "scan",
                "--config",
                &rules,
                "--json",
                "--quiet",
                "--metrics=off",
                "--disable-version-check",
                "--disable-nosem",
                "--no-git-ignore",
                "--jobs=1",
                // Nothing is passed over for its size or its time: all of it has one time limit.
                "--max-target-bytes=0",
                "--timeout=0",
                file,
            ],
            Self::ShellCheck => &["--norc", "--format=json1", "--shell=bash", file],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Code without the words by which a comment would silence a scanner. Lines and columns stay.
    pub fn unsilenced(code: &str) -> String {
        // `nosem` begins `nosemgrep` too.
        let pairs = [("shellcheck", "shellchecx"), ("nosec", "nosex"), ("nosem", "nosex")];
        let mut code = code.to_owned();
        for (word, instead) in pairs {
            code = replaced(&code, word, instead);
        }
        code
    }
}

/// A text with another one of the same length instead of a word, however it is written.
fn replaced(code: &str, word: &str, instead: &str) -> String {
    let lower = code.to_ascii_lowercase();
    let mut told = String::with_capacity(code.len());
    let mut from = 0;
    for (at, _) in lower.match_indices(word) {
        told.push_str(&code[from..at]);
        told.push_str(instead);
        from = at + word.len();
    }
    told.push_str(&code[from..]);
    told
}

impl fmt::Display for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scanner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|one| one.name() == text)
            .ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

impl TryFrom<String> for Scanner {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Scanner> for String {
    fn from(scanner: Scanner) -> Self {
        scanner.name().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_comment_silences_a_scanner_and_nothing_moves() {
        let code = "a # NoSec B602\nb # nosemgrep\nc # shellcheck disable=all\nd # nosem: x\n";
        let told = Scanner::unsilenced(code);
        for word in ["nosec", "nosem", "shellcheck"] {
            assert!(!told.to_ascii_lowercase().contains(word), "{told}");
        }
        assert_eq!(told.len(), code.len());
        assert_eq!(Scanner::unsilenced("print('é')"), "print('é')");
    }

    #[test]
    fn a_name_is_read_back() {
        for one in Scanner::ALL {
            assert_eq!(one.name().parse(), Ok(one));
        }
        assert!("pylint".parse::<Scanner>().unwrap_err().contains("bandit, semgrep, shellcheck"));
    }
}
