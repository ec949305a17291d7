//! The files of the page, which are part of the program.
//!
//! They are the same for everybody and contain nothing personal, so they need no login.

use interpreter_core::hash::sha256;
use std::collections::BTreeMap;

/// Name and content, as built.
const BUILT: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The page itself.
const INDEX: &str = "index.html";

/// A file of the page.
#[derive(Debug)]
pub(super) struct PageFile {
    pub(super) bytes: &'static [u8],
    pub(super) kind: &'static str,
    /// Its version, in quotes.
    pub(super) tag: String,
}

/// All of them, by name.
#[derive(Debug)]
pub(super) struct PageFiles {
    index: PageFile,
    others: BTreeMap<&'static str, PageFile>,
}

impl PageFiles {
    pub(super) fn new() -> Self {
        let mut others = BTreeMap::new();
        let mut index = PageFile::new(INDEX, b"");
        for (name, bytes) in BUILT {
            match (*name, kind(name)) {
                (INDEX, _) => index = PageFile::new(name, bytes),
                (_, Some(_)) => _ = others.insert(*name, PageFile::new(name, bytes)),
                // Whatever no browser needs is not served.
                (_, None) => {}
            }
        }
        Self { index, others }
    }

    pub(super) fn index(&self) -> &PageFile {
        &self.index
    }

    pub(super) fn find(&self, name: &str) -> Option<&PageFile> {
        self.others.get(name)
    }
}

impl PageFile {
    fn new(name: &str, bytes: &'static [u8]) -> Self {
        let kind = kind(name).unwrap_or("application/octet-stream");
        Self { bytes, kind, tag: format!("\"{}\"", &sha256(bytes)[..32]) }
    }
}

/// The type of a file, by the ending of its name.
fn kind(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_nothing_but_files_of_known_types() {
        let files = PageFiles::new();
        assert!(files.index().bytes.starts_with(b"<!doctype html>"));
        assert!(files.find(INDEX).is_none() && files.find("").is_none());
        for (name, file) in &files.others {
            assert_eq!(kind(name), Some(file.kind));
        }
        assert_eq!(kind("app.js.map"), None);
        assert_eq!(kind("app"), None);
    }

    /// The program is built from these very files.
    #[test]
    fn there_is_nothing_personal_in_them() {
        for (name, bytes) in BUILT {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains("/home/") && !text.contains("sourceMappingURL"), "{name}");
        }
    }
}
