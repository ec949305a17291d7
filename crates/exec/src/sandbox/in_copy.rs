//! How a sandbox without an overlay shows a work folder whose changes are kept apart: code works in
//! a copy that the change set has taken.
//!
//! Hidden files of the work folder are not in the copy, so nothing there has to be covered again.

use interpreter_core::{Access, Confinement, Workspace};
use interpreter_host::KernelSpec;
use interpreter_workspace::COPY;
use std::path::{Path, PathBuf};

/// The copy in the folder of a change set, if code is to work in one.
pub(super) fn copy_of(confinement: &Confinement, stage: Option<&Path>) -> Option<PathBuf> {
    let stage = stage.filter(|_| confinement.workspace == Workspace::Stage)?;
    Some(stage.join(COPY))
}

/// The confinement without what is covered in the work folder, for sandboxes that show the copy in
/// its place.
pub(super) fn uncovered(confinement: &Confinement) -> Confinement {
    let mut uncovered = confinement.clone();
    let work = &confinement.work_folder;
    uncovered.files.retain(|path, access| *access != Access::Deny || !path.starts_with(work));
    uncovered
}

/// The confinement with the copy itself as the work folder, for sandboxes that show everything where
/// it is. Without a copy, what would be staged is read-only.
pub(super) fn as_work_folder(confinement: &Confinement, copy: Option<&Path>) -> Confinement {
    match copy {
        Some(copy) => Confinement {
            work_folder: copy.to_owned(),
            workspace: Workspace::Direct,
            ..confinement.clone()
        },
        None if confinement.workspace == Workspace::Stage => {
            Confinement { workspace: Workspace::ReadOnly, ..confinement.clone() }
        }
        None => confinement.clone(),
    }
}

/// Hidden paths of the work folder, which are not copied.
pub(crate) fn covered(confinement: &Confinement) -> Vec<PathBuf> {
    let denied = confinement.files.iter().filter(|(_, access)| **access == Access::Deny);
    let work = &confinement.work_folder;
    denied.map(|(path, _)| path).filter(|path| path.starts_with(work)).cloned().collect()
}

/// It in words, for the record.
pub(super) fn words(moved: Option<&Moved>) -> String {
    let how = "changes kept apart, in a copy of the work folder";
    match moved {
        Some(moved) => format!("{how}, which code sees at {}", moved.to.display()),
        None => how.into(),
    }
}

/// A work folder that code sees elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
}

impl Moved {
    /// A kernel as started there: paths of the work folder become paths of the copy.
    pub(super) fn settle(&self, spec: KernelSpec) -> KernelSpec {
        let KernelSpec { program, arguments, mut environment, folder, input } = spec;
        for value in environment.values_mut() {
            let parts: Vec<_> = value.split(':').map(|part| self.text(part)).collect();
            *value = parts.join(":");
        }
        KernelSpec {
            program: self.path(&program),
            arguments: arguments.iter().map(|argument| self.text(argument)).collect(),
            environment,
            folder: self.path(&folder),
            input,
        }
    }

    fn text(&self, text: &str) -> String {
        match Path::new(text).strip_prefix(&self.from) {
            Ok(_) => self.path(Path::new(text)).to_string_lossy().into_owned(),
            Err(_) => text.to_owned(),
        }
    }

    /// A path as code sees it.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.from) {
            Ok(below) if below.as_os_str().is_empty() => self.to.clone(),
            Ok(below) => self.to.join(below),
            Err(_) => path.to_owned(),
        }
    }
}
