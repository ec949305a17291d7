//! Paths that the person grants for a session, as they were typed, and as they are.
//!
//! A grant is for what stands at a path now: links are followed once, here, and never again. What
//! belongs to the kernel, holds the system or is our own cannot be granted.

use crate::AgentError;
use interpreter_core::Access;
use interpreter_exec::is_system;
use interpreter_store::{Folders, Overrides};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What was granted on the command line. Leave to change a path is also leave to see it.
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

fn missing(error: &std::io::Error, access: Access) -> String {
    match (error.kind(), access) {
        (std::io::ErrorKind::NotFound, Access::Write) => {
            "it does not exist; make it first, or name the folder that it is to be in".into()
        }
        (std::io::ErrorKind::NotFound, Access::Read | Access::Deny) => "it does not exist".into(),
        _ => error.to_string(),
    }
}

fn why_not_changed(path: &Path, work_folder: &Path) -> Option<&'static str> {
    if path.starts_with(work_folder) {
        return Some("it is in the work folder; `--workspace direct` writes there without staging");
    }
    is_system(path).then_some("it is the system's, which code cannot change")
}

fn why_not(path: &Path, folders: &Folders) -> Option<&'static str> {
    let kernel = ["/proc", "/sys", "/dev", "/run/interpreter"].map(Path::new);
    if kernel.iter().any(|at| path.starts_with(at)) {
        return Some("it is the kernel's, or the sandbox's own");
    }
    let system = ["/usr", "/etc", "/tmp", "/run", "/var"].map(Path::new);
    if kernel.iter().chain(&system).any(|at| at.starts_with(path)) {
        return Some("it holds the system; name what is needed of it");
    }
    if folders.all().any(|ours| path.starts_with(ours)) {
        return Some("it belongs to this program, and holds your record and settings");
    }
    None
}
