//! The bounds of every run: which files, secrets and variables code gets to see.

use super::Context;
use interpreter_core::{
    Access, Confinement,
    confinement::temporary_beside,
    sensitive::{SENSITIVE, SensitiveForm},
};
use interpreter_exec::{egress::trust_variables, is_system};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

impl Context {
    /// The bounds of every run of the session.
    pub fn confinement(&self) -> Confinement {
        Confinement {
            work_folder: self.work_folder.clone(),
            workspace: self.settings.workspace.value,
            files: self.files(),
            granted: self.granted_outside().map(|(path, _)| path.clone()).collect(),
            shown: self.shown(),
            network: self.network.clone(),
            secrets: self.broker.iter().flat_map(|broker| broker.grants().cloned()).collect(),
            limits: self.settings.limits(),
            sandbox: self.settings.sandboxing(),
            environment: self.environment_with_placeholders(),
        }
    }

    /// The environment of the code, with the placeholders of secrets that it can use. They take no
    /// other variable's place.
    fn environment_with_placeholders(&self) -> BTreeMap<String, String> {
        let mut environment = self.code_environment();
        if let Some(broker) = &self.broker {
            for (name, value) in broker.variables().into_iter().chain(trust_variables()) {
                environment.entry(name).or_insert(value);
            }
        }
        environment
    }

    fn files(&self) -> BTreeMap<PathBuf, Access> {
        let reads = self.interpreters.reads().filter(|path| !path.starts_with(&self.work_folder));
        let mut files: BTreeMap<_, _> = reads.map(|path| (path.to_owned(), Access::Read)).collect();
        files.extend(self.packages_shown().map(|path| (path.to_owned(), Access::Read)));
        files.extend(self.granted_outside().map(|(path, access)| (path.clone(), *access)));
        // Those of the work folder are found by the sandbox, at any depth; these also where a part
        // of the home is shown.
        let in_home = self.home.iter().flat_map(|home| {
            let at = SENSITIVE.iter().map(|one| (one.form, home.join(one.path)));
            at.filter(|(form, path)| is_one(*form, path)).map(|(_, path)| path)
        });
        let ours = self.folders.everywhere();
        let shown = self.shown();
        let denied: Vec<_> = in_home
            .filter(|path| !shown.iter().any(|one| one.starts_with(path)))
            .chain(ours)
            // A link is covered where it leads: it may lead to somewhere else that is shown.
            .flat_map(|path| [fs_err::canonicalize(&path).ok(), Some(path)])
            .flatten()
            .filter(|path| self.is_shown(path, &files) && !self.granted.contains_key(path))
            .collect();
        files.extend(denied.into_iter().map(|path| (path, Access::Deny)));
        files
    }

    /// The grants outside the work folder. Inside it, a grant only unhides a file.
    fn granted_outside(&self) -> impl Iterator<Item = (&PathBuf, &Access)> {
        self.granted.iter().filter(|(path, _)| !path.starts_with(&self.work_folder))
    }

    /// Paths that the person allows although their names are those of secrets: in the work folder
    /// by settings, and anywhere by a grant.
    pub(crate) fn shown(&self) -> BTreeSet<PathBuf> {
        let allowed = self.settings.allowed_files.iter();
        let paths = allowed.map(|one| plainly(&self.work_folder.join(&one.value)));
        let in_folder = paths.filter(|path| path.starts_with(&self.work_folder));
        in_folder.chain(self.granted.keys().cloned()).collect()
    }

    /// Whether a path, or a part of it, would be seen inside if it were not denied. Elsewhere it is
    /// absent anyway.
    fn is_shown(&self, path: &Path, files: &BTreeMap<PathBuf, Access>) -> bool {
        path.starts_with(&self.work_folder)
            || self.work_folder.starts_with(path)
            || is_system(path)
            || files.keys().any(|shown| path.starts_with(shown))
    }

    /// The whole environment of the code. Nothing of the person's own gets in but the folders of
    /// their interpreters.
    pub(crate) fn code_environment(&self) -> BTreeMap<String, String> {
        let temporary = temporary_beside(&self.work_folder);
        let home = format!("{temporary}/home");
        let virtual_environment = self.interpreters.virtual_environment();
        let virtual_environment = virtual_environment.and_then(|one| one.folder.to_str());
        let side = |side: Option<usize>| side.map(|side| side.to_string()).unwrap_or_default();
        let columns = side(self.window.map(|(columns, _)| columns));
        let rows = side(self.window.map(|(_, rows)| rows));
        let usual = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].map(PathBuf::from);
        let mut seen = BTreeSet::new();
        let path: Vec<_> = self
            .interpreters
            .folders()
            .chain(usual)
            .chain(self.interpreters.last_folders())
            .filter(|folder| seen.insert(folder.clone()))
            .filter_map(|folder| folder.into_os_string().into_string().ok())
            .collect();
        [
            ("PATH", path.join(":").as_str()),
            ("VIRTUAL_ENV", virtual_environment.unwrap_or_default()),
            ("HOME", home.as_str()),
            ("TMPDIR", temporary),
            ("USER", "user"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("TZ", self.environment.text("TZ").unwrap_or_default()),
            ("MPLBACKEND", "agg"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
            ("COLUMNS", &columns),
            ("LINES", &rows),
            ("POLARS_TABLE_WIDTH", &columns),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .chain(self.network_variables.clone())
        .collect()
    }
}

/// Whether something is there that can be a secret of this form. A folder by the name of a file is
/// none: an environment of Python may be called `.env`.
fn is_one(form: SensitiveForm, path: &Path) -> bool {
    let found = fs_err::symlink_metadata(path);
    found.is_ok_and(|found| form == SensitiveForm::Folder || !found.is_dir())
}

/// A path without `.` and `..`, which are taken as they are written: no link is followed.
pub(crate) fn plainly(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}
