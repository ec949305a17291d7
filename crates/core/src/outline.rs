//! The part of a long list of changed files that is shown before all of it is applied.
//!
//! # Threat
//! A name that was never drawn, among hundreds that were summed up: a program between tables, a
//! hidden file in a folder of pictures.
//!
//! # Mechanism
//! Up to [`NAMED`] changes are all named. Of more, everything unusual is named, with the reason, and
//! the rest is counted in groups that say all there is to their names but a plain, visible part in
//! the middle: kind of change, folder, ending. A front end shows the outline to its end before it
//! takes the answer for all, and then asks again. The answer names the outline by its hash, and
//! nothing is applied without: `order.rs` decides that. Pure; the same outline is on record with the
//! question, so that the record says what was shown.
//!
//! # Limits
//! Names, modes and kinds decide which change is usual. A file that differs from its neighbours in
//! content only is counted with them; the diff shows it.

pub use self::order::{ApplyOrder, OutlineUnseen, SeenOutline};

use crate::{Change, Danger, FileChange, hash::canonical_sha256, untrusted::is_plain};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod order;

/// Changes up to which every one is named.
pub const NAMED: usize = 50;

/// Files with one ending up to which each is named, among many others.
const RARE: usize = 3;

/// Files up to which a group is not worth a row of its own.
const FEW: usize = 2;

/// The longest plain ending and the longest plain part of a path, in characters.
const ENDING: usize = 12;
const PART: usize = 80;

/// Endings of programs and scripts that a click or a name starts, whatever the mode.
const PROGRAMS: &str = "\
    action app appimage apk application bash bat bin cmd com command cpl csh deb dmg exe fish gadget \
    hta inf ins jar job jse jsp ksh lnk mpkg msc msi msp msix mst pif pkg ps1 psd1 psm1 reg rgs rpm \
    run scf scpt scr sct sh shb shs terminal tool u3p url vb vbe vbs vbscript webloc workflow ws \
    wsf wsh xbap zsh";

/// Why a change is named among many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unusual {
    /// Something runs it, or obeys it, without being asked again.
    RunsLater,
    /// It is a program, by its mode, its content or its name.
    Program,
    /// It is a link.
    Link,
    /// It deletes something.
    Deletion,
    /// Its name is not plain.
    OddName,
    /// It is hidden.
    Hidden,
    /// Few others have its ending.
    RareEnding,
    /// Few others are like it in its folder.
    Alone,
}

impl Unusual {
    /// A heading for the changes that are named for this.
    pub fn heading(self) -> &'static str {
        match self {
            Self::RunsLater => Danger::RunsLater.heading(),
            Self::Program => "programs and scripts",
            Self::Link => "links",
            Self::Deletion => "deletions",
            Self::OddName => "odd names",
            Self::Hidden => "hidden",
            Self::RareEnding => "rare endings",
            Self::Alone => "others by name",
        }
    }
}

/// The changes that are named among many, and how many of the others are like each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The SHA-256 of `named` and `counted`, written like a question whose hash is taken. The
    /// answer for all of the changes names the outline by it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// The changes that are named, in the order of [`Unusual`].
    pub named: Vec<NamedChange>,
    /// The others, in groups.
    pub counted: Vec<CountedChanges>,
}

/// A change that is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedChange {
    /// Its path, as in the list.
    pub path: String,
    /// Why it is named.
    pub why: Unusual,
}

/// Changes that are counted, because they are like each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedChanges {
    /// How many they are.
    pub files: usize,
    /// The kind of change.
    pub change: Change,
    /// The folder that all of them are in, with a slash at its end. Empty for the work folder.
    pub folder: String,
    /// The same for where renamed ones were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Their ending, in small letters, or `None` for names without an ending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
}

impl Outline {
    /// The outline of a list, or `None` if all of it is named.
    pub fn of(files: &[FileChange]) -> Option<Self> {
        Self::of_some(files.iter())
    }

    /// The same for some changes of a list.
    pub fn of_some<'a>(files: impl Iterator<Item = &'a FileChange> + Clone) -> Option<Self> {
        if files.clone().count() <= NAMED {
            return None;
        }
        let mut endings: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for file in files.clone() {
            *endings.entry(plain_ending(&file.path).flatten()).or_default() += 1;
        }
        let mut named = Vec::new();
        let mut groups: BTreeMap<_, Vec<&FileChange>> = BTreeMap::new();
        for file in files {
            let ending = plain_ending(&file.path).flatten();
            let is_rare = endings.get(&ending).is_none_or(|count| *count <= RARE);
            if let Some(why) = unusual(file).or(is_rare.then_some(Unusual::RareEnding)) {
                named.push(NamedChange { path: file.path.clone(), why });
                continue;
            }
            let from = file.about.from.as_deref().map(group_folder);
            let key = (group_folder(&file.path), file.change, from, ending);
            groups.entry(key).or_default().push(file);
        }
        let mut counted = Vec::new();
        for ((folder, change, from, ending), files) in groups {
            if files.len() <= FEW {
                let one = |file: &&FileChange| NamedChange {
                    path: file.path.clone(),
                    why: Unusual::Alone,
                };
                named.extend(files.iter().map(one));
                continue;
            }
            let (folder, from) = (folder.to_owned(), from.map(str::to_owned));
            counted.push(CountedChanges { files: files.len(), change, folder, from, ending });
        }
        named.sort_by(|one, other| one.why.cmp(&other.why).then_with(|| one.path.cmp(&other.path)));
        let mut outline = Self { hash: String::new(), named, counted };
        outline.hash = canonical_sha256(&outline);
        Some(outline)
    }

    /// How many changes are only counted.
    pub fn count(&self) -> usize {
        self.counted.iter().map(|group| group.files).sum()
    }

    /// It in a line of a record.
    pub fn words(&self) -> String {
        let (named, counted, groups) = (self.named.len(), self.count(), self.counted.len());
        format!("{named} changes by name, {counted} counted in {groups} groups")
    }
}

/// Why a change is to be named, whatever else is in the list.
fn unusual(file: &FileChange) -> Option<Unusual> {
    if file.about.runs_later.is_some() {
        return Some(Unusual::RunsLater);
    }
    if file.change == Change::Deleted {
        return Some(Unusual::Deletion);
    }
    if file.about.executable || holds_program(file) || is_program_by_name(&file.path) {
        return Some(Unusual::Program);
    }
    if file.about.target.is_some() {
        return Some(Unusual::Link);
    }
    if file.paths().any(|path| !is_plain_path(path)) || differs_in_ending(file) {
        return Some(Unusual::OddName);
    }
    // A hidden folder is named by the row of its group.
    file.paths().any(|path| name_of(path).starts_with('.')).then_some(Unusual::Hidden)
}

fn holds_program(file: &FileChange) -> bool {
    let words = ["program", "class", "module", "library"];
    file.about.holds.as_deref().is_some_and(|holds| words.iter().any(|word| holds.ends_with(word)))
}

fn is_program_by_name(path: &str) -> bool {
    let ending = name_of(path).rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| PROGRAMS.split(' ').any(|one| one == ending))
}

/// Whether a renamed file has become one of another kind.
fn differs_in_ending(file: &FileChange) -> bool {
    file.about.from.as_deref().is_some_and(|from| plain_ending(from) != plain_ending(&file.path))
}

/// The last part of a path. That of a folder ends in a slash.
fn name_of(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether every part of a path is drawn as it is, and looks like nothing else.
fn is_plain_path(path: &str) -> bool {
    let is_plain_part = |part: &str| {
        let ends = [part.chars().next(), part.chars().last()];
        !part.is_empty()
            && part.chars().count() <= PART
            && !part.starts_with(['-', '~'])
            && !part.ends_with('.')
            && ends.iter().all(|end| *end != Some(' '))
            && !part.contains("  ")
            && part.chars().all(|c| is_plain(c) && !matches!(c, '\\' | '→' | '⏎' | '…'))
    };
    path.trim_end_matches('/').split('/').all(is_plain_part) && plain_ending(path).is_some()
}

/// The ending of a name, if it has a plain one or none: otherwise the name is odd.
#[expect(clippy::option_option, reason = "a name without an ending is not an odd one")]
fn plain_ending(path: &str) -> Option<Option<String>> {
    if path.ends_with('/') {
        return Some(Some("/".to_owned()));
    }
    let name = name_of(path);
    let name = name.strip_prefix('.').unwrap_or(name);
    let Some((_, ending)) = name.rsplit_once('.') else { return Some(None) };
    let is_plain = !ending.is_empty()
        && ending.len() <= ENDING
        && ending.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '~'));
    is_plain.then(|| Some(ending.to_ascii_lowercase()))
}

/// The folder that names a path in a group, with its slash: the outermost, or the innermost hidden
/// one if there is any.
fn group_folder(path: &str) -> &str {
    let inside = path.trim_end_matches('/');
    let mut folder = inside.find('/').map_or("", |at| &inside[..=at]);
    for (at, _) in inside.match_indices('/') {
        if name_of(&inside[..at]).starts_with('.') {
            folder = &inside[..=at];
        }
    }
    folder
}

#[cfg(test)]
mod tests;
