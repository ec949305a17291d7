//! Paths that the person grants for a session, as they were typed, and as they are.
//!
//! A grant applies to the target of a path at this moment: links are resolved once, here, and never
//! again. Paths of the kernel, of the system or of this program cannot be granted.

use crate::AgentError;
use interpreter_core::Access;
use interpreter_exec::is_system;
use interpreter_store::{Folders, Overrides};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The grants of the command line. Permission to change a path includes permission to read it.
pub(crate) fn granted(
    overrides: &Overrides,
    folders: &Folders,
    work_folder: &Path,
) -> Result<BTreeMap<PathBuf, Access>, AgentError> {
    let reads = overrides.allow_read.iter().map(|path| (path, Access::Read));
    let writes = overrides.allow_write.iter().map(|path| (path, Access::Write));
    reads
        .chain(writes)
        .map(|(path, access)| {
            let refused = |reason: String| AgentError::Grant { path: path.clone(), reason };
            let real =
                fs_err::canonicalize(path).map_err(|error| refused(missing(&error, access)))?;
            let not_changed =
                (access == Access::Write).then(|| why_not_changed(&real, work_folder)).flatten();
            match not_changed.or_else(|| why_not(&real, folders)) {
                Some(reason) => Err(refused(reason.into())),
                None => Ok((real, access)),
            }
        })
        .collect()
}

/// The folder of a script, or the script alone where that folder is a home or holds one, or where a
/// link of the work folder leads to it: whoever gave the project has chosen that folder, and not
/// the person. `None` if code sees it anyway, or may not.
pub(crate) fn of_script(
    file: &Path,
    folders: &Folders,
    work_folder: &Path,
    home: Option<&Path>,
) -> Option<PathBuf> {
    let named = std::path::absolute(file).ok()?;
    let is_in_project =
        |folder: &Path| fs_err::canonicalize(folder).is_ok_and(|at| at.starts_with(work_folder));
    let leads_out = named.ancestors().skip(1).any(is_in_project);
    let file = fs_err::canonicalize(named).ok()?;
    if file.starts_with(work_folder) || is_system(&file) {
        return None;
    }
    let holds_a_home = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
    let folder = file
        .parent()
        .filter(|folder| !leads_out && !holds_a_home(folder) && why_not(folder, folders).is_none());
    let granted = folder.unwrap_or(&file);
    why_not(granted, folders).is_none().then(|| granted.to_owned())
}

fn missing(error: &std::io::Error, access: Access) -> String {
    match (error.kind(), access) {
        (std::io::ErrorKind::NotFound, Access::Write) => {
            "it does not exist; create it first, or grant the folder that will contain it".into()
        }
        (std::io::ErrorKind::NotFound, Access::Read | Access::Deny) => "it does not exist".into(),
        _ => error.to_string(),
    }
}

fn why_not_changed(path: &Path, work_folder: &Path) -> Option<&'static str> {
    if path.starts_with(work_folder) {
        return Some("it is in the work folder; `--workspace direct` writes there without staging");
    }
    is_system(path).then_some("it belongs to the system, which code cannot change")
}

fn why_not(path: &Path, folders: &Folders) -> Option<&'static str> {
    let kernel = ["/proc", "/sys", "/dev", "/run/interpreter"].map(Path::new);
    if kernel.iter().any(|at| path.starts_with(at)) {
        return Some("it belongs to the kernel or to the sandbox");
    }
    let system = ["/usr", "/etc", "/tmp", "/run", "/var"].map(Path::new);
    if kernel.iter().chain(&system).any(|at| at.starts_with(path)) {
        return Some("it contains the system; grant only the part that you need");
    }
    if folders.everywhere().iter().any(|ours| path.starts_with(ours)) {
        return Some("it belongs to this program and contains your record and settings");
    }
    None
}
