//! Files of the person's own, and files that they take elsewhere: the part that knows the set.
//!
//! # Threat
//! A client with few rights that reads a secret by way of a download, or writes where code may not.
//!
//! # Mechanism
//! A path is judged by the rules that the sandbox has for code: a place of secrets, or one that is
//! denied, is out of reach in both directions, whatever it holds. Files of a repository's
//! own folder are not handed out: its settings may hold a password.

use super::{
    command::{OpenedFile, PutOrder},
    staged::Stage,
};
use crate::{
    ExecError,
    sandbox::{BACK, covered, secrets},
};
use interpreter_core::{
    Access, Confinement, autorun,
    sensitive::{self, SensitiveForm},
};
use interpreter_host::Inward;
use interpreter_workspace::{DiskUsage, Export, ExportOf, ReceivedFile, Set, measure, open_file};
use std::{
    io,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

const DENIED: &str = "the settings deny it";

/// Refuses a path that is out of the reach of code: by its name, or because the sandbox covers it.
/// That takes a search through the work folder, so it is done elsewhere.
pub(super) async fn check_place(confinement: &Confinement, path: &str) -> Result<(), ExecError> {
    if let Some(why) = out_of_reach(confinement, Path::new(path)) {
        return Err(ExecError::OutOfReach { path: path.to_owned(), why });
    }
    let (confinement, whole) = (confinement.clone(), confinement.work_folder.join(path));
    let covered = tokio::task::spawn_blocking(move || {
        let covered = covered(&secrets::cover(&confinement)?);
        Ok::<_, ExecError>(covered.iter().any(|place| whole.starts_with(place)))
    });
    if covered.await.map_err(io::Error::from)?? {
        return Err(ExecError::OutOfReach { path: path.to_owned(), why: DENIED.into() });
    }
    Ok(())
}

/// Why the name of a path is out of reach. Pure.
fn out_of_reach(confinement: &Confinement, path: &Path) -> Option<String> {
    let (root, shown) = (&confinement.work_folder, &confinement.shown);
    let whole = root.join(path);
    let mut at = root.clone();
    for part in path.components() {
        let Component::Normal(name) = part else { return Some("it is no name of a file".into()) };
        let forms = [SensitiveForm::Folder, SensitiveForm::File];
        let named = |form| sensitive::named(&at, name.as_bytes(), form);
        let named = forms.into_iter().find_map(named);
        at.push(name);
        // The person may have shown it, or something in it.
        let is_way = |one: &PathBuf| one.starts_with(&at) && whole.starts_with(one);
        if let Some(sensitive) = named.filter(|_| !shown.iter().any(is_way)) {
            return Some(format!("it is a place of secrets ({})", sensitive.reason));
        }
    }
    // The work folder itself is no narrower entry.
    let mut below = whole.ancestors().take_while(|above| *above != root);
    match below.find_map(|above| confinement.files.get(above)) {
        Some(Access::Deny | Access::Read) => Some(DENIED.into()),
        Some(Access::Write) | None => None,
    }
}

impl Stage {
    /// Refuses a file for which there is no room within the limits of what may be staged.
    pub(super) async fn check_room(&mut self, order: &PutOrder) -> Result<(), ExecError> {
        let limits = order.confinement.limits;
        let new = DiskUsage { bytes: order.file.content.bytes, files: 1 };
        let most = DiskUsage { bytes: limits.staged_bytes, files: limits.staged_files };
        let used = self.elsewhere(move |set| {
            let (grows, base) = set.grows();
            let measured = measure(grows, most.plus(base))?;
            Ok(measured.usage.saturating_sub(base))
        });
        let all = used.await?.unwrap_or_default().plus(new);
        if all.bytes <= most.bytes && all.files <= most.files {
            return Ok(());
        }
        let why = format!("{} bytes may be staged, and {} would be", most.bytes, all.bytes);
        Err(ExecError::OutOfReach { path: order.path.clone(), why })
    }

    /// Begins to stage a file while an overlay is mounted at `work`. Returns the frame by which the
    /// host copies it in.
    pub(super) async fn begin_put(
        &mut self,
        order: PutOrder,
        work: PathBuf,
    ) -> Result<Inward, ExecError> {
        let (order, scratch) = self
            .with_order(order, |set, path, file| {
                set.lay_out_put(path, file)?;
                // If all are killed in the middle, whoever opens the set next takes the rest out.
                Ok(set.begin_discard(Some(&[]))?)
            })
            .await?;
        let paths = vec![order.path.clone()];
        self.putting = Some(order);
        Ok(Inward::Restore { work, lower: BACK.into(), paths, scratch })
    }

    /// Whether the host is copying a file in.
    pub(super) fn is_putting(&self) -> bool {
        self.putting.is_some()
    }

    /// The host is done. Says whether the file is staged as it was sent.
    pub(super) async fn end_put(&mut self, order: PutOrder) -> Result<(PutOrder, bool), ExecError> {
        self.with_order(order, |set, path, file| {
            set.end_discard()?;
            set.clear_back()?;
            Ok(set.has_put(path, file)?)
        })
        .await
    }

    /// Stages a file where nothing is mounted.
    pub(super) async fn put(&mut self, order: PutOrder) -> Result<PutOrder, ExecError> {
        let (order, ()) =
            self.with_order(order, |set, path, file| Ok(set.put(path, file)?)).await?;
        Ok(order)
    }

    async fn with_order<T: Send + 'static>(
        &mut self,
        order: PutOrder,
        work: impl FnOnce(&mut Set, &str, &ReceivedFile) -> Result<T, ExecError> + Send + 'static,
    ) -> Result<(PutOrder, T), ExecError> {
        let done = self.elsewhere(move |set| {
            let done = work(set, &order.path, &order.file)?;
            Ok((order, done))
        });
        done.await?.ok_or(ExecError::NothingStaged)
    }

    /// Opens a file for a person, if code could read it.
    pub(super) async fn open_file(
        &mut self,
        path: String,
        confinement: Confinement,
    ) -> Result<OpenedFile, ExecError> {
        if autorun::repository(Path::new(&path)).is_some() {
            let why = "it belongs to a repository, whose settings may hold a password".into();
            return Err(ExecError::OutOfReach { path, why });
        }
        check_place(&confinement, &path).await?;
        let folder = confinement.work_folder;
        let opened = |(file, bytes)| OpenedFile { file, bytes };
        if self.set().is_some() {
            let found = self.elsewhere(move |set| Ok(open_file(Some(set), &folder, &path)?));
            return Ok(opened(found.await?.ok_or(ExecError::NothingStaged)?));
        }
        let found = tokio::task::spawn_blocking(move || open_file(None, &folder, &path));
        Ok(opened(found.await.map_err(io::Error::from)??))
    }

    /// All files that are staged or were applied, for an archive.
    pub(super) async fn export(&mut self, of: ExportOf) -> Result<Export, ExecError> {
        let export = self.elsewhere(move |set| Ok(set.export(of)?));
        export.await?.ok_or(ExecError::NothingStaged)
    }

    /// The same as a patch.
    pub(super) async fn patch(&mut self, of: ExportOf) -> Result<OpenedFile, ExecError> {
        let patch = self.elsewhere(move |set| Ok(set.patch(of)?));
        let (file, bytes) = patch.await?.ok_or(ExecError::NothingStaged)?;
        Ok(OpenedFile { file, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(confinement: &Confinement, path: &str) -> bool {
        out_of_reach(confinement, Path::new(path)).is_none()
    }

    #[test]
    fn places_of_secrets_and_denied_ones_are_out_of_reach_in_both_directions() {
        let limits = interpreter_core::Limits::default();
        let mut confinement = crate::runner::tests::confinement(limits);
        for path in ["a", "data.csv", "d/e.txt", ".envrc.txt", "env"] {
            assert!(judged(&confinement, path), "{path}");
        }
        for path in [".env", "d/.env", ".env.production", ".ssh/id_rsa", ".ssh", "../a", "/etc/x"] {
            assert!(!judged(&confinement, path), "{path}");
        }
        confinement.shown.insert("/work/.ssh/config".into());
        assert!(judged(&confinement, ".ssh/config"));
        assert!(!judged(&confinement, ".ssh/id_rsa"));
        confinement.files.insert("/work/d".into(), Access::Deny);
        confinement.files.insert("/work/d/open".into(), Access::Write);
        assert!(!judged(&confinement, "d/e.txt") && judged(&confinement, "d/open/e.txt"));
    }
}
