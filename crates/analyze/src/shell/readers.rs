//! Programs that take in the files that they are given, or their names.
//!
//! Their options are read as `getopt` reads them, so that none hides a file: a word is a file unless
//! the table says that it is something else. The strict walk lets these programs pass because
//! everything that they take in is found here.

use crate::{
    analysis::Analysis,
    literal::Literal,
    says::{Says, Site},
};
use interpreter_core::{Deed, Risk};
use serde::Deserialize;

/// Programs that take in files in the same way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reader {
    programs: String,
    /// Options whose value is no file.
    #[serde(default)]
    values: String,
    /// Options whose value is a file.
    #[serde(default)]
    files: String,
    /// Options of which a name and a value follow.
    #[serde(default)]
    pairs: String,
    /// Options of which a name and a file follow.
    #[serde(default)]
    named_files: String,
    /// Options with which a file says what else is read.
    #[serde(default)]
    follows: String,
    /// Options of which one must be given.
    #[serde(default)]
    with: String,
    /// Options of which none may be given.
    #[serde(default)]
    unless: String,
    /// How many words come before the files: a pattern, a script.
    #[serde(default)]
    skip: usize,
    /// Options that stand for those words.
    #[serde(default)]
    instead: String,
    /// Whether words such as `x=1` set a variable.
    #[serde(default)]
    assigns: bool,
    /// Whether its other words are no files.
    #[serde(default)]
    is_optioned: bool,
    /// Options with which it reads the folder that it is in, if no file is given; `always` without.
    #[serde(default)]
    folder: String,
    /// Whether it only tells of names.
    #[serde(default)]
    lists: bool,
    pub(crate) example: String,
}

fn lists(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|one| one == word)
}

/// Whether a list has a short option.
fn has_letter(list: &str, letter: char) -> bool {
    let is_it = |one: &str| one.strip_prefix('-').is_some_and(|rest| rest.chars().eq([letter]));
    list.split_ascii_whitespace().any(is_it)
}

/// The words of a command, told apart.
#[derive(Default)]
struct Divided {
    /// Files, and words that may be.
    files: Vec<Literal>,
    operands: Vec<Literal>,
    is_with: bool,
    is_unless: bool,
    is_instead: bool,
    is_in_folder: bool,
    is_following: bool,
}

impl Reader {
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        self.programs.split_ascii_whitespace()
    }

    /// Notes what a command takes in. Whether it is about the command at all.
    pub(super) fn judge(&self, rest: &[Literal], at: Site, analysis: &mut Analysis) -> bool {
        let mut divided = self.divide(rest);
        if divided.is_unless || (!self.with.is_empty() && !divided.is_with) {
            return false;
        }
        let skipped = if divided.is_instead { 0 } else { self.skip };
        let mut operands = std::mem::take(&mut divided.operands).into_iter();
        // A computed pattern may be an option that names a file.
        divided.files.extend(operands.by_ref().take(skipped).filter(|word| word.whole().is_none()));
        let mut has_file = false;
        for word in operands {
            has_file = true;
            if !self.is_optioned && !(self.assigns && is_assignment(&word)) {
                divided.files.push(word);
            }
        }
        if !has_file && (divided.is_in_folder || self.folder == "always") {
            divided.files.push(Literal::known("."));
        }
        if divided.is_following {
            divided.files.push(Literal::computed());
        }
        let (deed, why) =
            if self.lists { (Deed::Lists, "lists a folder") } else { (Deed::Reads, "reads files") };
        for file in divided.files.iter().filter(|file| !matches!(file.whole(), Some("" | "-"))) {
            analysis.note(Says::new(deed, Risk::Low, why), file, at);
        }
        true
    }

    fn divide(&self, rest: &[Literal]) -> Divided {
        let mut divided = Divided::default();
        let mut all = rest.iter();
        while let Some(word) = all.next() {
            let text = word.start();
            if word.whole() == Some("--") {
                divided.operands.extend(all.cloned());
                break;
            }
            if text.len() < 2 || !text.starts_with('-') {
                divided.operands.push(word.clone());
            } else if word.whole().is_none() {
                // It may hold another option, and the name of a file.
                divided.files.push(Literal::computed());
                self.see(text.split('=').next().unwrap_or(text), &mut divided);
            } else if text.starts_with("--") || self.is_whole_option(text) {
                self.long(text, &mut all, &mut divided);
            } else {
                self.short(text, &mut all, &mut divided);
            }
        }
        divided
    }

    /// Whether an option of one dash is a word, as in `find`.
    fn is_whole_option(&self, text: &str) -> bool {
        text.len() > 2 && (lists(&self.values, text) || lists(&self.files, text))
    }

    fn long<'w>(
        &self,
        text: &str,
        all: &mut impl Iterator<Item = &'w Literal>,
        divided: &mut Divided,
    ) {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        self.see(name, divided);
        let is_file = lists(&self.files, name);
        if lists(&self.pairs, name) || lists(&self.named_files, name) {
            let last = all.by_ref().take(2).last();
            divided.files.extend(last.filter(|_| lists(&self.named_files, name)).cloned());
        } else if let Some(value) = value {
            divided.files.extend(is_file.then(|| Literal::known(value)));
        } else if is_file || lists(&self.values, name) {
            let value = all.next().filter(|value| is_file || value.whole().is_none());
            divided.files.extend(value.cloned());
        }
    }

    fn short<'w>(
        &self,
        text: &str,
        all: &mut impl Iterator<Item = &'w Literal>,
        divided: &mut Divided,
    ) {
        for (at, letter) in text.char_indices().skip(1) {
            self.see(&format!("-{letter}"), divided);
            let is_file = has_letter(&self.files, letter);
            if !is_file && !has_letter(&self.values, letter) {
                continue;
            }
            let attached = &text[at + letter.len_utf8()..];
            if attached.is_empty() {
                let value = all.next().filter(|value| is_file || value.whole().is_none());
                divided.files.extend(value.cloned());
            } else if is_file {
                divided.files.push(Literal::known(attached));
            }
            return;
        }
    }

    /// Notes that an option is given.
    fn see(&self, option: &str, divided: &mut Divided) {
        divided.is_with |= lists(&self.with, option);
        divided.is_unless |= lists(&self.unless, option);
        divided.is_instead |= lists(&self.instead, option);
        divided.is_in_folder |= lists(&self.folder, option);
        divided.is_following |= lists(&self.follows, option);
    }
}

fn is_assignment(word: &Literal) -> bool {
    word.start().split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
