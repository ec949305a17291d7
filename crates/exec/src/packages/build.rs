//! Makes a finished build of a source, which runs its code.
//!
//! # Threat
//! Code that runs while something is built leaves programs behind, which wait for the next build,
//! and writes wherever it can.
//!
//! # Mechanism
//! Each build has a sandbox and a workshop that nothing has had before. In it the source is
//! fetched, by its hash, before anything of it runs. Its result is read after everything inside has
//! ended: one file, named for the package, of which a copy is kept.

use super::{
    found::{file_name, is_file_of},
    look::Look,
    site::{Outcome, Used},
    skeleton,
    space::PackageSpace,
};
use interpreter_core::packages::PlannedPackage;
use std::{io, path::Path, path::PathBuf};

impl Look<'_> {
    /// Builds a source and keeps the file.
    pub(super) async fn build(
        &self,
        used: &mut Used,
        source: &PlannedPackage,
    ) -> Outcome<PlannedPackage> {
        let failed = |why: String| (format!("{source} cannot be built: {why}"), false);
        let own = |error: io::Error| failed(error.to_string());
        let (site, workshop) = (self.site, self.workshop);
        workshop.renew().map_err(own)?;
        let plan = workshop.write_plan(site, &[(source, None)], true).map_err(own)?;
        let fetched = workshop.files().join(file_name(&source.url).unwrap_or_default());
        let into = workshop.place("built");
        let commands = site.tool.unpack(&plan).zip(site.tool.build(&fetched, &into));
        let (fetch, build) = commands.ok_or_else(|| failed("there is no tool for it".into()))?;
        let mut step = site.bench(workshop, &site.confinement, &source.to_string()).await?;
        let done = match step.succeed(fetch).await {
            Ok(()) => step.succeed(build).await.map_err(|(why, _)| failed(why)),
            Err(why) => Err(why),
        };
        used.close(step).await;
        done?;
        let made = made(&into, source).map_err(failed)?;
        let mut room = PackageSpace::below(&site.files, &site.confinement.limits);
        let hash = self.store.take_built(&made, &mut room).map_err(own)?;
        Ok(PlannedPackage { hash, url: String::new(), ..source.clone() })
    }
}

/// The one file that a build has left.
fn made(folder: &Path, source: &PlannedPackage) -> Result<PathBuf, String> {
    const NOTHING: &str = "its build left no package";
    if !skeleton::is_real(folder) {
        return Err(NOTHING.into());
    }
    let entries = fs_err::read_dir(folder).map_err(|error| error.to_string())?;
    let builds = entries.flatten().map(|entry| entry.path());
    let mut builds = builds.filter(|path| path.extension().is_some_and(|ending| ending == "whl"));
    let made = builds.next().ok_or(NOTHING)?;
    let name = made.to_str().and_then(file_name).unwrap_or_default();
    if builds.next().is_some() || !is_file_of(&name, &source.name, &source.version) {
        return Err("its build left another package".into());
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::packages::PackageKind;

    #[test]
    fn a_build_may_leave_one_file_by_its_own_name() {
        let root = tempfile::tempdir().unwrap();
        let source = |version: &str| {
            let (hash, url) = ("x".to_owned(), String::new());
            PlannedPackage::new(PackageKind::Python, "Tiny_Thing", version, hash, url).unwrap()
        };
        assert!(made(root.path(), &source("1.0")).is_err());
        let file = root.path().join("tiny_thing-1.0-py3-none-any.whl");
        fs_err::write(&file, "").unwrap();
        assert_eq!(made(root.path(), &source("1.0")), Ok(file));
        assert!(made(root.path(), &source("2.0")).is_err());
        let link = root.path().join("link");
        std::os::unix::fs::symlink(root.path(), &link).unwrap();
        assert!(made(&link, &source("1.0")).is_err());
        fs_err::write(root.path().join("other-1.0-py3-none-any.whl"), "").unwrap();
        assert!(made(root.path(), &source("1.0")).is_err());
    }
}
