//! Programs that take in the files that they are given, or their names.
//!
//! Their options are read as `getopt` reads them, so that none hides a file: a word is a file
//! unless the table says that it is something else. The strict walk lets these programs pass
//! because everything that they take in is found here.

use super::rules::Reader;
use crate::{
    analysis::Analysis,
    literal::Literal,
    says::{Says, Site},
};
use interpreter_core::{Deed, Risk};

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
    /// Its options, each by itself.
    options: Vec<String>,
}

impl Divided {
    /// Whether one of these options is given.
    fn has(&self, list: &str) -> bool {
        self.options.iter().any(|option| lists(list, option))
    }
}

impl Reader {
    /// Notes what a command takes in. Whether it is about the command at all.
    pub(super) fn judge(&self, rest: &[Literal], at: Site, analysis: &mut Analysis) -> bool {
        let mut divided = self.divide(rest);
        if divided.has(&self.unless) || (!self.with.is_empty() && !divided.has(&self.with)) {
            return false;
        }
        let skipped = if divided.has(&self.instead) { 0 } else { self.skip };
        let mut operands = std::mem::take(&mut divided.operands).into_iter();
        // A computed pattern may be an option that names a file.
        divided.files.extend(operands.by_ref().take(skipped).filter(|word| word.whole().is_none()));
        let mut has_file = false;
        for word in operands {
            has_file = true;
            let is_other = self.is_optioned || (self.assigns && is_assignment(&word));
            divided.files.extend((!is_other).then_some(word));
        }
        if !has_file && (divided.has(&self.folder) || self.folder == "always") {
            divided.files.push(Literal::known("."));
        }
        if divided.has(&self.follows) {
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
                divided.options.push(text.split('=').next().unwrap_or(text).to_owned());
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
        divided.options.push(name.to_owned());
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
            divided.options.push(format!("-{letter}"));
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
}

fn is_assignment(word: &Literal) -> bool {
    word.start().split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
