//! The folder that an installer works in: made afresh for each sandbox and removed after it.
//!
//! It is all that a sandbox may write. Everything in it may have been put there by code of a
//! package, where an order may build: so it is written before its sandbox is up and read after
//! everything in that has ended, without following links, and what is taken out of it is a copy.
//! Everything that one sandbox left in it is gone before the next is up.

use super::{
    found, npm,
    site::PackageSite,
    skeleton,
    space::PackageSpace,
    tool::{Desk, PATIENCE, PackageSources},
};
use interpreter_core::packages::PlannedPackage;
use serde_json::json;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Workshop {
    folder: PathBuf,
    /// A folder beside it, which no sandbox sees, for what was made in it.
    made: PathBuf,
}

/// The places for one question to a tool.
pub(super) struct DeskPlaces {
    new: PathBuf,
    wanted: PathBuf,
    bound: PathBuf,
    report: PathBuf,
    requirers: PathBuf,
}

impl DeskPlaces {
    pub(super) fn desk<'a>(&'a self, here: &'a [PathBuf], sources: PackageSources) -> Desk<'a> {
        let Self { new, wanted, bound, report, requirers } = self;
        Desk { new, wanted, report, here, requirers, bound, sources }
    }
}

impl Workshop {
    /// Makes it, empty.
    pub(super) fn open(site: &PackageSite) -> io::Result<Self> {
        let made = site.workshop.with_file_name("made");
        let workshop = Self { folder: site.workshop.clone(), made };
        // An earlier version kept what npm had fetched, with what scripts had written there.
        skeleton::clear(&site.workshop.with_file_name("npm"))?;
        skeleton::clear(&workshop.made)?;
        workshop.renew()?;
        Ok(workshop)
    }

    /// Makes it again, empty, for the next sandbox.
    pub(super) fn renew(&self) -> io::Result<()> {
        skeleton::workshop(&self.folder)
    }

    /// Removes it.
    pub(super) fn close(self) {
        for folder in [&self.folder, &self.made] {
            // A file that stays goes with the next order.
            _ = skeleton::clear(folder).is_ok();
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes the new environment out of reach of every sandbox that comes.
    pub(super) fn take_out(&self) -> io::Result<PathBuf> {
        skeleton::clear(&self.made)?;
        fs_err::rename(self.new_folder(), &self.made)?;
        Ok(self.made.clone())
    }

    /// Where npm has its cache.
    pub(super) fn cache(&self) -> PathBuf {
        self.folder.join(npm::CACHE)
    }

    /// The environment that is being made.
    pub(super) fn new_folder(&self) -> PathBuf {
        self.folder.join("new")
    }

    /// A place in it.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A desk with these requirements on it, and versions that packages must have if they come.
    pub(super) fn desk_for(&self, wanted: &[String], bound: &[String]) -> io::Result<DeskPlaces> {
        let places = DeskPlaces {
            new: self.new_folder(),
            wanted: self.folder.join("wanted.txt"),
            bound: self.folder.join("bound.txt"),
            report: self.folder.join("pylock.report.toml"),
            requirers: self.folder.join("requirers.txt"),
        };
        for (path, lines) in [(&places.wanted, wanted), (&places.bound, bound)] {
            skeleton::write_new(path, (lines.join("\n") + "\n").as_bytes())?;
        }
        Ok(places)
    }

    /// Writes what is to be fetched and unpacked.
    pub(super) fn write_plan(
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
            "room": PackageSpace::below(&self.folder, &site.confinement.limits).told(),
        });
        let path = self.folder.join("plan.json");
        skeleton::write_new(&path, plan.to_string().as_bytes())?;
        Ok(path)
    }

    /// Where fetched files are.
    pub(super) fn files(&self) -> PathBuf {
        self.folder.join("files")
    }
}

/// Writes npm's list into an environment, in place of anything that stands there.
pub(super) fn write_npm(new: &Path, lock: Option<&str>) -> io::Result<()> {
    skeleton::real_folder(new)?;
    skeleton::write_new(&new.join("package.json"), npm::manifest_of(lock).as_bytes())?;
    let path = new.join("package-lock.json");
    match lock {
        Some(text) => skeleton::write_new(&path, text.as_bytes()),
        None => skeleton::clear(&path),
    }
}
