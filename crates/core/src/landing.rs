//! Changes of files that land without a review, and those that don't.
//!
//! # Threat
//! A change of a file in the work folder is staged and shown before it lands. Where nothing is
//! staged, a low risk would let code of a model change files unseen. Where it is, a file that
//! something runs by itself must not pass for a plain one.
//!
//! # Mechanism
//! Before anything is decided on findings, they are weighed by where the code would run. Without a
//! sandbox, with a workspace that is written directly, or with any folder that code may change, no
//! write counts as less than medium. Elsewhere writing, replacing or deleting a plain text file of
//! the work folder is low: [`is_plain`] knows it by a name that stands in the code whole. Everything
//! that looks at the risk (rules, the automatic mode, standing answers, the question) is given
//! findings that have been weighed.
//!
//! # Limits
//! Names alone are looked at. A link in the work folder can lead to a folder that code may change,
//! and code that changes its folder first means another file: the sandbox bounds where. A staged
//! file that later code of the session runs is judged with that code.

use crate::{
    Access, Capability, Confinement, Deed, Findings, Risk, Workspace, autorun,
    data_file::LOADED,
    sensitive::{self, SensitiveForm},
};
use std::path::Path;

/// Endings of text that people edit, and of data. Whether one of them runs by itself is a matter of
/// its name.
const TEXT: &str = "\
    adoc bib c cc cfg clj cpp cs css csv cxx dart diff ex exs f90 fs geojson go gql graphql h hpp hs \
    htm html ics ini java jl js json jsonl jsx kt less log lua md mjs mm ml ndjson org patch php pl po \
    proto ps1 py pyi r rb rs rst sass scala scss sh sql srt svelte svg swift tex toml ts tsv tsx txt \
    vb vtt vue xml yaml yml zig";

/// Names of text files without an ending.
const NAMES: [&str; 8] =
    ["README", "LICENSE", "CHANGELOG", "AUTHORS", "NOTICE", "NOTES", "TODO", "CONTRIBUTING"];

/// Findings as grave as they are where the code would run.
pub fn weighed(mut findings: Findings, within: &Confinement) -> Findings {
    let gravest = |findings: &Findings| {
        findings.capabilities.iter().map(|one| one.severity).max().unwrap_or(Risk::Low)
    };
    // A risk that no capability explains stays.
    let is_explained = findings.risk == gravest(&findings);
    let unseen = lands_unseen(within);
    for one in &mut findings.capabilities {
        if unseen && one.is_a(Deed::Writes.name()) {
            one.severity = one.severity.max(Risk::Medium);
        } else if !unseen && is_an_edit(one, within) {
            one.severity = Risk::Low;
        }
    }
    let gravest = gravest(&findings);
    findings.risk = if is_explained { gravest } else { findings.risk.max(gravest) };
    findings
}

/// Whether it writes or deletes a plain file of the work folder. A scanner that says the same of it
/// may mean more.
fn is_an_edit(one: &Capability, within: &Confinement) -> bool {
    let edits = [Deed::Writes, Deed::Deletes].into_iter().any(|deed| one.name == deed.name());
    edits && one.sources.is_empty() && is_plain(one.argument.raw(), &within.work_folder)
}

/// Whether a path is that of a text file in the work folder that nothing runs by itself and that
/// holds no secret.
pub fn is_plain(path: &str, work_folder: &Path) -> bool {
    let path = match Path::new(path).strip_prefix(work_folder) {
        Ok(below) => below.to_str().unwrap_or_default(),
        Err(_) => path.strip_prefix("./").unwrap_or(path),
    };
    let is_part = |part: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "._-+ ".contains(c);
        !part.is_empty()
            && !part.starts_with(['.', '-', ' '])
            && !part.ends_with([' ', '.'])
            && part.chars().all(is_letter)
            && !LOADED.iter().any(|folder| folder.eq_ignore_ascii_case(part))
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_text = match ending {
        Some(ending) => TEXT.split(' ').any(|one| one == ending),
        None => NAMES.iter().any(|one| one.eq_ignore_ascii_case(name)),
    };
    let (root, below) = (Path::new("/"), Path::new(path));
    let forms = [SensitiveForm::File, SensitiveForm::Folder];
    is_text
        && path.split('/').all(is_part)
        && autorun::reason(root, below).is_none()
        && !forms.into_iter().any(|form| sensitive::place_of(root, below, form).is_some())
}

/// Whether some file may be changed without a review.
fn lands_unseen(within: &Confinement) -> bool {
    within.sandbox.is_none()
        || within.workspace == Workspace::Direct
        || within.files.values().any(|access| *access == Access::Write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Capability, Choice, Sandboxing, session::tests::confinement};

    fn risk(deed: Deed, severity: Risk, within: &Confinement) -> Risk {
        let found = Findings::new(vec![Capability::new(deed, "out.csv", 1, severity)]);
        let weighed = weighed(found, within);
        assert_eq!(weighed.risk, weighed.capabilities[0].severity);
        weighed.risk
    }

    fn unreviewed() -> Vec<Confinement> {
        let staged = confinement();
        let choice = Sandboxing { backend: Choice::Only(Backend::NONE), ..Sandboxing::default() };
        vec![
            Confinement { workspace: Workspace::Direct, ..staged.clone() },
            Confinement { sandbox: choice, ..staged.clone() },
            Confinement { files: [("/data".into(), Access::Write)].into(), ..staged },
        ]
    }

    #[test]
    fn a_write_that_lands_unseen_is_never_low() {
        assert_eq!(risk(Deed::Writes, Risk::Low, &confinement()), Risk::Low);
        let read_only = Confinement { workspace: Workspace::ReadOnly, ..confinement() };
        assert_eq!(risk(Deed::Writes, Risk::Low, &read_only), Risk::Low);
        for within in unreviewed() {
            assert_eq!(risk(Deed::Writes, Risk::Low, &within), Risk::Medium);
            assert_eq!(risk(Deed::Reads, Risk::Low, &within), Risk::Low);
        }
    }

    #[test]
    fn a_staged_edit_of_a_plain_text_file_is_low_and_nothing_else_is_lowered() {
        for severity in [Risk::Medium, Risk::Unknown, Risk::High] {
            for deed in [Deed::Writes, Deed::Deletes] {
                assert_eq!(risk(deed, severity, &confinement()), Risk::Low);
                for within in unreviewed() {
                    assert_eq!(risk(deed, severity, &within), severity);
                }
            }
            for deed in [Deed::Starts, Deed::Persists, Deed::Permissions, Deed::Irreversible] {
                assert_eq!(risk(deed, severity, &confinement()), severity, "{deed:?}");
            }
        }
        let unread = Findings { risk: Risk::Unknown, ..Findings::new(vec![]) };
        assert_eq!(weighed(unread, &confinement()).risk, Risk::Unknown);
    }

    #[test]
    fn plain_files_are_known_by_their_names() {
        let folder = confinement().work_folder;
        let own = folder.join("src/a.py");
        for path in ["a.csv", "./src/app.py", "docs/guide.md", "README", own.to_str().unwrap()] {
            assert!(is_plain(path, &folder), "{path}");
        }
        for path in [
            "",
            "data",
            "../a.md",
            "a/../b.md",
            "/etc/x.conf",
            "/a.md",
            "~/a.md",
            "$X.md",
            "*.md",
            ".env",
            ".git/config",
            "sub/.vscode/tasks.json",
            "conftest.py",
            "setup.py",
            "Makefile",
            "package.json",
            "node_modules/a/index.js",
            "venv/lib/python3.11/site-packages/pandas/core.py",
            "id_rsa",
            "a.pyc",
            "lib.so",
            "a.md\n",
            "\u{212a}.md",
        ] {
            assert!(!is_plain(path, &folder), "{path:?}");
        }
    }
}
