//! The folder that an installer works in: made afresh for each order and removed after it.
//!
//! It is all that its sandbox may write. Everything in it may have been put there by code of a
//! package, where an order may build: it is read without following links, and what is taken out of
//! it has a hash that is known.

use super::{
    complaint, found, npm,
    site::{Outcome, PackageSite},
    skeleton,
    tool::{Desk, PATIENCE},
};
use crate::runner::Bench;
use interpreter_core::{Untrusted, packages::PlannedPackage};
use serde_json::json;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Workshop {
    folder: PathBuf,
    /// Where npm's fetched files are between two orders.
    cache: PathBuf,
}

/// The places for one question to a tool.
pub(super) struct DeskPlaces {
    new: PathBuf,
    wanted: PathBuf,
    report: PathBuf,
}

impl DeskPlaces {
    pub(super) fn desk(&self) -> Desk<'_> {
        let Self { new, wanted, report } = self;
        Desk { new, wanted, report, here: &[] }
    }
}

impl Workshop {
    /// Makes it, empty but for what npm has fetched before.
    pub(super) fn open(site: &PackageSite) -> io::Result<Self> {
        let workshop =
            Self { folder: site.workshop.clone(), cache: site.files.with_file_name("npm") };
        // Where an order was stopped, it is still here.
        workshop.keep_fetched();
        skeleton::workshop(&workshop.folder)?;
        if site.tool.python().is_none() && skeleton::is_real(&workshop.cache) {
            fs_err::rename(&workshop.cache, workshop.folder.join(npm::CACHE))?;
        }
        Ok(workshop)
    }

    /// Removes it, and keeps what npm has fetched.
    pub(super) fn close(self) {
        self.keep_fetched();
        // A file that stays goes with the next order.
        _ = skeleton::clear(&self.folder).is_ok();
    }

    /// npm fetches again what is lost here. It believes what it finds by its hash alone.
    fn keep_fetched(&self) {
        let fetched = self.folder.join(npm::CACHE);
        let is_alone = fs_err::symlink_metadata(&self.cache).is_err();
        if skeleton::is_real(&fetched) && is_alone {
            _ = fs_err::rename(&fetched, &self.cache).is_ok();
        }
    }

    /// The environment that is being made.
    pub(super) fn new_folder(&self) -> PathBuf {
        self.folder.join("new")
    }

    /// A place in it.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A desk with these requirements on it.
    pub(super) fn desk_for(&self, wanted: &[String]) -> io::Result<DeskPlaces> {
        let places = DeskPlaces {
            new: self.new_folder(),
            wanted: self.folder.join("wanted.txt"),
            report: self.folder.join("pylock.report.toml"),
        };
        for path in [&places.wanted, &places.report] {
            skeleton::clear(path)?;
        }
        fs_err::write(&places.wanted, wanted.join("\n") + "\n")?;
        Ok(places)
    }

    /// Writes npm's list into the environment, in place of anything that stands there.
    pub(super) fn write_npm(&self, lock: Option<&str>) -> io::Result<()> {
        let new = self.new_folder();
        skeleton::real_folder(&new)?;
        for (name, text) in [
            ("package.json", Some(npm::manifest_of(lock))),
            ("package-lock.json", lock.map(str::to_owned)),
        ] {
            skeleton::clear(&new.join(name))?;
            if let Some(text) = text {
                fs_err::write(new.join(name), text)?;
            }
        }
        Ok(())
    }

    /// Writes what is to be fetched and unpacked.
    fn write_plan(
        &self,
        site: &PackageSite,
        packages: &[(&PlannedPackage, Option<PathBuf>)],
        fetch_only: bool,
    ) -> io::Result<PathBuf> {
        let [major, minor] = site.tool.python().map(|python| python.series).unwrap_or_default();
        let listed = packages.iter().map(|(one, path)| {
            json!({
                "name": one.name,
                "version": one.version,
                "hash": one.hash,
                "url": one.url,
                "file": found::file_name(&one.url).unwrap_or_default(),
                "path": path,
            })
        });
        let plan = json!({
            "packages": listed.collect::<Vec<_>>(),
            "files": self.files(),
            "root": self.new_folder(),
            "final": site.folder,
            "site": format!("lib/python{major}.{minor}/site-packages"),
            "patience": PATIENCE,
            "fetch_only": fetch_only,
        });
        let path = self.folder.join("plan.json");
        skeleton::clear(&path)?;
        fs_err::write(&path, plan.to_string())?;
        Ok(path)
    }

    /// Where fetched files are.
    pub(super) fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    /// Fetches one file by its hash.
    pub(super) async fn fetch(
        &self,
        bench: &mut Bench,
        site: &PackageSite,
        package: &PlannedPackage,
    ) -> Outcome<PathBuf> {
        self.run(bench, site, &[(package, None)], true).await?;
        let name = found::file_name(&package.url).unwrap_or_default();
        Ok(self.files().join(name))
    }

    /// Fetches finished builds, or takes those that are here, and unpacks all of them.
    pub(super) async fn unpack(
        &self,
        bench: &mut Bench,
        site: &PackageSite,
        packages: &[(&PlannedPackage, Option<PathBuf>)],
    ) -> Outcome<()> {
        self.run(bench, site, packages, false).await
    }

    async fn run(
        &self,
        bench: &mut Bench,
        site: &PackageSite,
        packages: &[(&PlannedPackage, Option<PathBuf>)],
        fetch_only: bool,
    ) -> Outcome<()> {
        let failed = |why: String| (why, false);
        let plan = self.write_plan(site, packages, fetch_only);
        let plan = plan.map_err(|error| failed(error.to_string()))?;
        let command = site.tool.unpack(&plan);
        let command = command.ok_or_else(|| failed("there is no Python for it".into()))?;
        let ended = bench.run(command).await.map_err(|error| failed(error.to_string()))?;
        if ended.status == Some(0) {
            return Ok(());
        }
        let words = complaint::read(&ended.said).words;
        Err(failed(Untrusted::new(words).for_terminal_line(300)))
    }
}

/// Copies a folder with everything in it. Links are copied as links.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    skeleton::clear(to)?;
    fs_err::create_dir(to)?;
    fs_err::set_permissions(to, fs_err::symlink_metadata(from)?.permissions())?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (kind, into) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &into)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs_err::read_link(entry.path())?, into)?;
        } else if kind.is_file() {
            fs_err::copy(entry.path(), into)?;
        }
    }
    Ok(())
}
