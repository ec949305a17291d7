//! Which writes are those of a plain new file in the work folder, and so of low risk.
//!
//! # Threat
//! Code that plants a file which something runs later, and passes for code that saves its results.
//!
//! # Mechanism
//! Only where a rule says that a call saves a file, and only of a name that stands in the code: a
//! relative path without `..`, of plain letters, no part of it hidden, nothing in it of the list of
//! what runs by itself, and with the ending of a kind of data. Everything else keeps the severity
//! of its rule. Where files are not staged, the session raises it again
//! (`interpreter_core::landing`).
//!
//! # Limits
//! Names alone are looked at. Code that changes its folder first, in another language than the
//! shell, writes elsewhere: the sandbox bounds where, and the review names what would run by
//! itself.

use interpreter_core::autorun;
use serde::Deserialize;
use std::path::Path;

/// The kind of file that a call makes, by its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Saves {
    File,
    Folder,
}

/// Endings of files that hold data, and that nothing runs by itself. Code, settings and data that
/// runs code when it is loaded are not among them.
const DATA: &str = "\
    arrow avi avro bib bmp bz2 csv dat db docx dot dta duckdb eps fasta fastq feather flac \
    geojson gexf gif gpkg gpx graphml gz h5 hdf hdf5 htm html ics ipynb jpeg jpg json jsonl kml \
    log mat md mkv mov mp3 mp4 nc ndjson npy npz obj ods odt ogg orc out parquet pdf ply png \
    pptx rst safetensors sav shp sqlite sqlite3 srt stl svg tar tex tgz tif tiff tsv txt vcf vtt \
    wav webm webp xls xlsx xml xz zip zst";

impl Saves {
    /// Whether what is made at `path` is a plain file or folder in the work folder.
    pub(crate) fn is_plain(self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        let path = match self {
            Self::File => path,
            Self::Folder => path.strip_suffix('/').unwrap_or(path),
        };
        let is_part = |part: &str| {
            !part.is_empty() && !part.starts_with(['.', '-', ' ']) && part.chars().all(is_letter)
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_data = || {
            let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
            ending.is_some_and(|ending| DATA.split(' ').any(|one| one == ending))
        };
        let runs = |path: &str| autorun::reason(Path::new("/"), Path::new(path)).is_some();
        path.split('/').all(is_part)
            && match self {
                Self::File => is_data() && !runs(path),
                Self::Folder => !runs(&format!("{path}/")) && !runs(&format!("{path}/x")),
            }
    }
}

/// Whether a character means nothing but itself to every shell and file system. Some letters are
/// another one's small or capital form, which a file system may take for the same.
fn is_letter(c: char) -> bool {
    let others = || c.to_lowercase().chain(c.to_uppercase());
    match c {
        '.' | '-' | '_' | ' ' | '+' | '=' | ',' | '@' | '(' | ')' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        c => c.is_alphanumeric() && !others().any(|other| other.is_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::autorun::{AutorunForm, rules};

    #[test]
    fn results_are_plain_files() {
        for path in [
            "out.csv",
            "./out.csv",
            "figures/age.png",
            "Jahr 2024/Höhe.xlsx",
            "a.b.json",
            "日本.txt",
        ] {
            assert!(Saves::File.is_plain(path), "{path}");
        }
        for path in ["out", "out/", "./figures", "a/b/c", "Ergebnisse"] {
            assert!(Saves::Folder.is_plain(path), "{path}");
        }
    }

    #[test]
    fn nothing_else_is_plain() {
        for path in [
            "",
            ".",
            "/tmp/a.csv",
            "../a.csv",
            "a/../a.csv",
            "~/a.csv",
            "$HOME/a.csv",
            "a*.csv",
            "{a,.envrc}.csv",
            "C:\\a.csv",
            "C:a.csv",
            "a\\b.csv",
            ".hidden.csv",
            "a/.b/c.csv",
            "a//b.csv",
            "a.csv\n",
            "a.csv\0",
            "-a.csv",
            "%TEMP%.csv",
            "file:///a.csv",
            "https://a.b/c.csv",
            "a.py",
            "numpy.so",
            "run.sh",
            "page.js",
            "app.toml",
            "settings.ini",
            "Makefile",
            "run",
            "model.pkl",
            "model.pt",
            "a.PTH",
            "macro.xlsm",
            "package.json",
            "package.j\u{17f}on",
            "\u{212a}.csv",
            "csv",
            ".csv",
            "a.csv/",
            "out.csv ",
        ] {
            assert!(!Saves::File.is_plain(path), "{path:?}");
        }
        for path in ["", "/", "/a", "..", ".git", ".git/hooks", ".vscode", "a/.husky", "*"] {
            assert!(!Saves::Folder.is_plain(path), "{path:?}");
        }
    }

    /// Whatever is put on that list is never plain, wherever it stands.
    #[test]
    fn nothing_that_runs_by_itself_is_plain() {
        for one in rules() {
            let path = match one.form {
                AutorunForm::Folder => format!("{}/x.json", one.path),
                AutorunForm::File | AutorunForm::Regular => one.path.to_owned(),
                AutorunForm::Beginning => format!("{}x", one.path),
                AutorunForm::Ending => format!("x{}", one.path),
            };
            for path in [path.clone(), format!("sub/{path}"), path.to_ascii_uppercase()] {
                assert!(!Saves::File.is_plain(&path), "{path}");
                let is_folder_too = one.form != AutorunForm::Regular;
                assert_eq!(is_folder_too, !Saves::Folder.is_plain(&path), "{path}");
            }
        }
    }
}
