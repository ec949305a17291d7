//! Files that hold data and nothing else, which somebody may apply who may not say yes to code.
//!
//! # Threat
//! A person who may apply changes, and not answer questions, applies a file that a program of
//! somebody else's runs later: source code, a build file, settings.
//!
//! # Mechanism
//! The question is turned round: the list is one of endings that hold data. Everything else takes
//! the right to answer, and so does a name that something runs or reads by itself.
//!
//! # Limits
//! Names alone are looked at. A program may take its orders from a data file.

use crate::{
    autorun,
    effects::{Change, FileChange},
};
use std::path::Path;

/// Endings of data.
const ENDINGS: &str = "\
    avif bmp csv flac geojson gif jpeg jpg json jsonl md mp3 mp4 ndjson ogg parquet pdf png psv \
    tif tiff tsv txt wav webm webp xlsx";

/// Folders whose files programs load.
pub(crate) const LOADED: [&str; 4] =
    ["node_modules", "site-packages", "dist-packages", "__pycache__"];

/// Why it takes the right to answer to change a file of this name.
const NOT_DATA: &str = "is not a data file";

/// Why it takes more than the right to change files to change this one below a work folder, in
/// words that follow on its name. `None` if it holds data alone, by its name.
pub fn more_than_data(work_folder: &Path, path: &str) -> Option<&'static str> {
    if let Some(why) = autorun::reason(work_folder, Path::new(path)) {
        return Some(why);
    }
    let is_hidden = |part: &str| part.starts_with('.') && part != ".";
    let is_loaded = |part: &str| LOADED.iter().any(|folder| folder.eq_ignore_ascii_case(part));
    if path.split('/').any(|part| is_hidden(part) || is_loaded(part)) {
        return Some(NOT_DATA);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_data = ending.is_some_and(|ending| ENDINGS.split(' ').any(|one| one == ending));
    (!is_data).then_some(NOT_DATA)
}

impl FileChange {
    /// Why it takes more than the right to change files to apply this, in words that follow on its
    /// name.
    pub fn takes_an_answer(&self) -> Option<&str> {
        if let Some(why) = &self.about.runs_later {
            return Some(why);
        }
        if self.about.executable || self.about.target.is_some() {
            return Some("is a program or a link");
        }
        // The list has marked what runs by itself where the work folder is.
        let root = Path::new("/");
        if self.path.ends_with('/') {
            let is_new = self.change == Change::Created;
            return (!is_new).then_some("is a folder, whatever is in it");
        }
        self.paths().find_map(|path| more_than_data(root, path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::{About, Turn};

    fn change(path: &str) -> FileChange {
        FileChange { path: path.into(), change: Change::Created, about: About::default() }
    }

    #[test]
    fn data_is_applied_and_nothing_else() {
        for path in ["a.csv", "deep/er/b.PNG", "näme.txt", "notes.md", "x.tar.json", "new/"] {
            assert_eq!(change(path).takes_an_answer(), None, "{path}");
        }
        for path in [
            "a.py",
            "a.sh",
            "a.svg",
            "a.html",
            "a.yaml",
            "a.toml",
            "README",
            "csv",
            "a.csv.py",
            ".hidden.csv",
            ".config/a.json",
            "node_modules/a/data.json",
            "requirements.txt",
            "package.json",
            "CMakeLists.txt",
            "AGENTS.md",
        ] {
            assert!(change(path).takes_an_answer().is_some(), "{path}");
        }
    }

    #[test]
    fn its_kind_and_its_old_name_count_too() {
        let renamed = |path: &str, from: &str| {
            let about = About { from: Some(from.into()), ..About::default() };
            FileChange { change: Change::Renamed, about, ..change(path) }
        };
        assert_eq!(renamed("b.csv", "a.csv").takes_an_answer(), None);
        assert!(renamed("b.csv", "a.py").takes_an_answer().is_some());
        assert!(renamed("b/", "a/").takes_an_answer().is_some());
        let program = About { executable: true, ..About::default() };
        assert!(FileChange { about: program, ..change("a.csv") }.takes_an_answer().is_some());
        let link =
            About { target: Some(Turn { from: None, to: Some("b".into()) }), ..About::default() };
        assert!(FileChange { about: link, ..change("a.csv") }.takes_an_answer().is_some());
    }
}
