//! How a line of the chat could go on: commands with their help, files, models, languages.
//!
//! Called on the keyboard's own thread, at the Tab key. Lists one folder, with a bound; hidden files
//! and those with the name of a secret are not offered.

use super::table::{Named, TABLE, Values, named};
use crate::terminal::repl_editor::Offer;
use interpreter_core::{
    Theme, Untrusted,
    sensitive::{self, SensitiveForm},
};
use std::{
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Entries of a folder that are looked at, and those that are offered.
const LISTED: usize = 2_000;
const OFFERED: usize = 50;

/// The names that can be completed in a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) folder: PathBuf,
    pub(super) models: Vec<String>,
    pub(super) languages: Vec<String>,
    pub(super) profiles: Vec<String>,
    /// Paths with staged changes.
    pub(super) staged: Vec<String>,
}

/// The same, shared with the keyboard's thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Arc<Mutex<Known>>);

impl Shared {
    /// Changes what is known.
    pub(super) fn update(&self, change: impl FnOnce(&mut Known)) {
        // A panic leaves nothing there that matters.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// How the line could go on at the cursor, which is counted in bytes.
    pub(super) fn offers(&self, line: &str, cursor: usize) -> Vec<Offer> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        offers(&known, line.get(..cursor).unwrap_or(line))
    }
}

fn offers(known: &Known, typed: &str) -> Vec<Offer> {
    let start = typed.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &typed[start..];
    let first = typed.split_whitespace().next().unwrap_or_default();
    let mut found = if start == 0 && word.starts_with(['/', '%']) {
        commands(word)
    } else if let Some(path) = word.strip_prefix('@') {
        let all = files(&known.folder, path).into_iter();
        all.map(|name| (format!("@{}", quoted(&name)), None)).collect()
    } else if let Named::Known(row, _) = named(first)
        && start > 0
    {
        values(known, row.values, word)
    } else {
        Vec::new()
    };
    // Names come from files and from the network; only what is plainly visible is offered.
    found.retain(|(value, _)| {
        Untrusted::new(value.as_str()).for_terminal_line(usize::MAX) == *value
    });
    found.truncate(OFFERED);
    let end = typed.len();
    found.into_iter().map(|(value, help)| Offer { value, help, start, end }).collect()
}

type Found = Vec<(String, Option<&'static str>)>;

fn commands(word: &str) -> Found {
    let names = TABLE.iter().flat_map(|row| {
        let all = std::iter::once(&row.name).chain(row.aliases);
        all.map(move |name| ((*name).to_owned(), Some(row.help)))
    });
    names.filter(|(name, _)| name.starts_with(word)).collect()
}

fn values(known: &Known, values: Values, word: &str) -> Found {
    let beginning = |all: &[String]| -> Found {
        let fits = all.iter().filter(|name| name.starts_with(word));
        fits.map(|name| (name.clone(), None)).collect()
    };
    match values {
        Values::None => Vec::new(),
        Values::Commands => commands(word),
        Values::Models => beginning(&known.models),
        Values::Profiles => beginning(&known.profiles),
        Values::Languages => beginning(&known.languages),
        Values::Staged => {
            let fits = known.staged.iter().filter(|name| name.starts_with(word));
            fits.map(|name| (quoted(name), None)).collect()
        }
        Values::Files => files(&known.folder, word).into_iter().map(|name| (name, None)).collect(),
        Values::Switch => beginning(&["on".to_owned(), "off".to_owned()]),
        Values::Themes => beginning(&Theme::ALL.map(|theme| theme.word().to_owned())),
    }
}

/// A name with blanks needs quotes.
fn quoted(name: &str) -> String {
    if name.contains(char::is_whitespace) { format!("\"{name}\"") } else { name.to_owned() }
}

/// The files and folders of the work folder that `typed` is the beginning of.
fn files(folder: &Path, typed: &str) -> Vec<String> {
    let typed = typed.trim_start_matches('"');
    let (inside, name) =
        typed.rsplit_once('/').map_or(("", typed), |(inside, name)| (inside, name));
    let is_plain = |part| matches!(part, Component::Normal(_));
    if !Path::new(inside).components().all(is_plain) {
        return Vec::new();
    }
    let parent = folder.join(inside);
    let Ok(entries) = fs_err::read_dir(&parent) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .take(LISTED)
        .flatten()
        .filter_map(|entry| {
            let file_name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let form = if is_folder { SensitiveForm::Folder } else { SensitiveForm::File };
            let text = file_name.to_str()?;
            let is_hidden = text.starts_with('.')
                || sensitive::named(&parent, file_name.as_bytes(), form).is_some();
            let end = if is_folder { "/" } else { "" };
            let before = if inside.is_empty() { String::new() } else { format!("{inside}/") };
            (!is_hidden && text.starts_with(name)).then(|| format!("{before}{text}{end}"))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(known: &Known, typed: &str) -> Vec<String> {
        offers(known, typed).into_iter().map(|offer| offer.value).collect()
    }

    #[test]
    fn commands_are_completed_with_their_help() {
        let known = Known::default();
        assert_eq!(values(&known, "/mod"), ["/model", "/models"]);
        assert_eq!(values(&known, "%un"), ["%undo"]);
        assert!(offers(&known, "/he")[0].help.is_some());
        assert_eq!(values(&known, "tell me /mod"), Vec::<String>::new());
        assert_eq!(values(&known, "/help /app"), ["/apply"]);
    }

    #[test]
    fn arguments_are_completed_by_what_they_are() {
        let known = Known {
            models: vec!["openai/".into(), "ollama/qwen".into(), "evil\u{1b}[2J".into()],
            staged: vec!["a.csv".into(), "b c.csv".into()],
            languages: vec!["python".into()],
            ..Known::default()
        };
        assert_eq!(values(&known, "/model o"), ["openai/", "ollama/qwen"]);
        assert_eq!(values(&known, "/model e"), Vec::<String>::new());
        assert_eq!(values(&known, "/apply a.csv "), ["a.csv", "\"b c.csv\""]);
        assert_eq!(values(&known, "/run py"), ["python"]);
        assert_eq!(values(&known, "/verbose o"), ["on", "off"]);
        assert_eq!(values(&known, "/theme "), ["auto", "light", "dark", "none"]);
    }

    #[test]
    fn neither_hidden_files_nor_secrets_nor_other_folders_are_offered() {
        let place = tempfile::tempdir().unwrap();
        let put = |name: &str| fs_err::write(place.path().join(name), "").unwrap();
        fs_err::create_dir_all(place.path().join("sub/.ssh")).unwrap();
        for name in ["sales.csv", "sales old.csv", ".env", "id_rsa", ".hidden", "sub/in.txt"] {
            put(name);
        }
        let known = Known { folder: place.path().to_owned(), ..Known::default() };
        assert_eq!(values(&known, "sum @sal"), ["@\"sales old.csv\"", "@sales.csv"]);
        assert_eq!(values(&known, "sum @"), ["@\"sales old.csv\"", "@sales.csv", "@sub/"]);
        assert_eq!(values(&known, "@sub/"), ["@sub/in.txt"]);
        assert_eq!(values(&known, "@../"), Vec::<String>::new());
        assert_eq!(values(&known, "@/etc/"), Vec::<String>::new());
        assert_eq!(values(&known, "me@sal"), Vec::<String>::new());
    }
}
