//! Takes over what the original Open Interpreter (0.4.3) left: its profiles become profiles, its
//! conversations become sessions in the record.
//!
//! Every file is read as data, within bounds, and nothing of it is run. Settings without an equal
//! are reported. Nothing that is there already is replaced.

use crate::{AgentError, Context, choose::with_maker};
use interpreter_analyze::assignments;
use interpreter_core::{
    Body, Untrusted,
    import::{Conversation, Found, profile, settings},
};
use interpreter_store::{
    ConfigText, LogEntry, new_session_id, profile_text, regular, write_config,
};
use std::{
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
};

/// Bytes of a profile.
const LONGEST_PROFILE: u64 = 1 << 20;

/// Bytes of a conversation.
const LONGEST_CONVERSATION: u64 = 64 << 20;

/// Files that are looked at in one folder.
const MOST_FILES: usize = 10_000;

/// The fate of one file.
#[derive(Debug)]
pub struct Imported {
    /// The file.
    pub path: PathBuf,
    /// Its form here, or the reason why it has none.
    pub outcome: Result<ImportedAs, String>,
}

/// A file of the original, as it is here.
#[derive(Debug, PartialEq, Eq)]
pub enum ImportedAs {
    /// A profile of this name, and what of it has no equal here.
    Profile {
        /// Its name.
        name: String,
        /// The rest, one line each.
        left: Vec<String>,
    },
    /// A session.
    Session {
        /// Its id.
        id: String,
        /// How many of its messages are not on record.
        left: usize,
        /// Whether it is short enough to go on with.
        can_go_on: bool,
    },
}

impl Context {
    /// The folder where the original keeps everything.
    pub fn folder_of_original(&self) -> Option<PathBuf> {
        let named = self.environment.raw("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = named.or_else(|| Some(self.home.as_ref()?.join(".config")))?;
        Some(config.join("open-interpreter"))
    }

    /// Imports a file, or all profiles and conversations in a folder.
    pub fn import(&self, path: &Path) -> Result<Vec<Imported>, AgentError> {
        let mut all = Vec::new();
        for path in files(path) {
            let outcome = match path.extension().and_then(OsStr::to_str) {
                Some("yaml" | "yml") => self.profile_from(&path, |text| Ok(settings(text))),
                Some("py") => self.profile_from(&path, assignments),
                Some("json") => self.session_from(&path),
                _ => Err("it is neither a profile (.yaml, .py) nor a conversation (.json)".into()),
            };
            all.push(Imported { path, outcome });
        }
        Ok(all)
    }

    fn profile_from(
        &self,
        path: &Path,
        read_settings: impl Fn(&str) -> Result<Found, String>,
    ) -> Result<ImportedAs, String> {
        let text = read(path, LONGEST_PROFILE)?;
        let found = read_settings(&text)?;
        let profile = profile(&found, |name| self.full_model_name(name));
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().replace(' ', "-");
        let at = self.folders.profile_file(&name).map_err(|error| error.to_string())?;
        if at.exists() {
            return Err(format!("there is a profile `{name}` already"));
        }
        let from = Untrusted::new(path.to_string_lossy()).for_terminal_line(200);
        let text = profile_text(&from, &profile.settings);
        write_config(&self.folders, &ConfigText { path: at, text })
            .map_err(|error| crate::chain(&error))?;
        Ok(ImportedAs::Profile { name, left: profile.left })
    }

    /// The name of a model here: its provider may have been left out.
    fn full_model_name(&self, name: &str) -> Option<String> {
        let known = |(provider, _): &(&str, &str)| self.providers.get(provider).is_some();
        match name.split_once('/').filter(known) {
            Some(_) => Some(name.to_owned()),
            None => with_maker(name),
        }
    }

    fn session_from(&self, path: &Path) -> Result<ImportedAs, String> {
        let text = read(path, LONGEST_CONVERSATION)?;
        let conversation = Conversation::parse(&text)?;
        let told = conversation.resumable();
        let can_go_on = told.is_some();
        let Conversation { bodies, left, .. } = conversation;
        if bodies.is_empty() {
            return Err("it is empty".into());
        }
        let from = Untrusted::new(path.to_string_lossy()).for_terminal_line(200);
        let started = Body::SessionStarted {
            version: env!("CARGO_PKG_VERSION").into(),
            model: None,
            confinement: Box::new(self.confinement()),
            opening: Some(0),
            asks: None,
            imported: true,
        };
        let note = Body::Note { text: format!("imported from {from}; nothing of it ran here") };
        let all = [started, note].into_iter().chain(bodies).chain(told);
        let all = all.chain([Body::SessionEnded {}]);
        let all = all.map(|body| self.redactor.body(body));
        let entries: Vec<_> = all.map(LogEntry::now).collect();
        let id = new_session_id();
        let mut log = self.log().map_err(|error| crate::chain(&error))?;
        log.append_all(&id, &entries).map_err(|error| crate::chain(&error))?;
        Ok(ImportedAs::Session { id, left, can_go_on })
    }
}

/// The files of the original at a path: itself, or those in a folder and in its `profiles` and
/// `conversations`, in the order of their names.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let folders = [path.to_owned(), path.join("profiles"), path.join("conversations")];
    let mut files = Vec::new();
    for folder in folders {
        let entries = fs_err::read_dir(folder).into_iter().flatten().flatten().take(MOST_FILES);
        let known = |path: &PathBuf| {
            let ending = path.extension().and_then(OsStr::to_str);
            path.is_file() && matches!(ending, Some("yaml" | "yml" | "py" | "json"))
        };
        let mut inside: Vec<_> = entries.map(|entry| entry.path()).filter(known).collect();
        inside.sort();
        files.extend(inside);
    }
    files
}

fn read(path: &Path, most: u64) -> Result<String, String> {
    let mut text = Vec::new();
    let file = regular::open(path).map_err(|error| error.to_string())?;
    file.take(most + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > most {
        return Err(format!("it is longer than {} MiB", most >> 20));
    }
    String::from_utf8(text).map_err(|_| "it is not UTF-8 text".into())
}
