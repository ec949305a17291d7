//! A language as it is declared: in the list that we ship, or in a person's settings.
//!
//! Both have the same keys, so that an entry can be copied from one to the other. Everything is
//! checked while it is read, so that an error names line and column. Must not look for programs:
//! which of them exist is not known here.

use self::keys::Keys;
use serde::Deserialize;
use std::collections::BTreeMap;

pub use self::keys::is_language_name;

mod keys;

/// How one language is called, what runs it, and what that needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Keys")]
pub struct Declaration {
    /// Other names, as models write them after a fence.
    pub aliases: Vec<String>,
    /// File endings, without the dot.
    pub endings: Vec<String>,
    /// Ways to run it, best first. At least one.
    pub ways: Vec<Way>,
    /// Variables that its programs see besides those of every run.
    pub environment: BTreeMap<String, String>,
    /// Paths that must be seen, read-only: absolute, or below the home with `~/`.
    pub reads: Vec<String>,
    /// How to get what runs it.
    pub hint: Option<String>,
}

/// One way to run a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Names of the program, best first; or paths, absolute or with `~/`. Empty if none is needed.
    pub programs: Vec<String>,
    /// The version that the program's installation must state.
    pub least: Option<Least>,
    /// Packages of Node.js, of which one must be there: in the work folder or for everybody.
    pub packages: Vec<String>,
    /// How it runs code.
    pub how: How,
}

/// How it runs code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// A driver of ours runs in the interpreter and keeps its state.
    Driver(Driver),
    /// Each piece of code is a file and a program of its own.
    Once(Once),
    /// The Jupyter kernel of this name runs it and keeps its state.
    Jupyter(String),
    /// The code itself is a result of this kind, such as `text/html`.
    Show(String),
}

/// The drivers there are, by the interpreter that they run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Driver {
    /// Python 3.8 or later.
    Python,
    /// bash 4.2 or later, zsh 5.2 or later, or any other program that reads a POSIX shell's language.
    Shell,
    /// Node 18 or later, Deno 2 or Bun 1.
    JavaScript,
    /// The same, with something that knows types.
    TypeScript,
}

/// Commands for code in a file. In their words `{program}` stands for the program, `{folder}` for
/// the private folder that the code is in, `{file}` for its path and `{name}` for [`Once::name`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Once {
    /// The name of the file. It may hold `{name}`.
    pub file: String,
    /// How to find `{name}` in the code.
    pub name: Option<Name>,
    /// Command to run first; may be empty.
    pub compile: Vec<String>,
    /// The command that runs the code.
    pub run: Vec<String>,
    /// The command that prints the version. Only `{program}` is filled in.
    pub version: Vec<String>,
}

/// Something that is read from the code, such as the name of its class.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// Extended regular expressions, tried in turn; the last group is the name.
    pub find: Vec<String>,
    /// The name if none of them is found.
    pub otherwise: String,
}

/// The least version of a program, found without running it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Least {
    /// A C header of the installation, relative to the folder above the program's, that defines
    /// `…_MAJOR_VERSION` and `…_MINOR_VERSION`.
    pub header: String,
    /// Major and minor version.
    pub version: [u32; 2],
}

#[cfg(test)]
mod tests;
