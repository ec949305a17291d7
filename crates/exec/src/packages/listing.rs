//! The packages that are installed in a folder, read from what installers leave there.
//!
//! The files are a package's own and may say anything: names and versions are read as strictly as
//! those of an order, links are not followed, and no file is read without end.

use super::{
    npm::{NpmLock, name_in},
    skeleton,
};
use interpreter_core::{
    hash::sha256,
    packages::{Package, PackageKind, Requirement},
};
use rustix::fs::{Mode, OFlags, open};
use std::{collections::BTreeSet, fs::File, io::Read, path::Path};

/// The most packages that are listed.
const MOST: usize = 5_000;

/// Bytes of the largest file that is read.
const LARGEST: u64 = 32 << 20;

/// Bytes of a package's description that are looked through for its name.
const HEAD: u64 = 64 << 10;

/// The packages of a kind in their folder, by name.
pub fn installed(kind: PackageKind, folder: &Path) -> Vec<Package> {
    let mut found = match kind {
        PackageKind::Python => of_python(folder),
        PackageKind::Npm => of_npm(folder),
    };
    found.sort();
    found.dedup();
    found
}

fn of_python(folder: &Path) -> Vec<Package> {
    let Some(packages) = skeleton::packages(folder) else { return Vec::new() };
    let Ok(entries) = fs_err::read_dir(packages) else { return Vec::new() };
    let infos = entries.flatten().filter(|entry| {
        let is_info = entry.file_name().to_str().is_some_and(|name| name.ends_with(".dist-info"));
        is_info && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    infos.take(MOST).filter_map(|entry| read_info(&entry.path())).collect()
}

fn read_info(info: &Path) -> Option<Package> {
    let head = read(&info.join("METADATA"), HEAD, Cut::Allowed)?;
    let head = String::from_utf8_lossy(&head).into_owned();
    let field = |name: &str| {
        let mut lines = head.lines().take_while(|line| !line.is_empty());
        lines.find_map(|line| line.strip_prefix(name)).map(str::trim)
    };
    let files = read(&info.join("RECORD"), LARGEST, Cut::Refused)?;
    package(PackageKind::Python, field("Name:")?, field("Version:")?, sha256(&files))
}

fn lock_of(folder: &Path) -> Option<NpmLock> {
    let modules = folder.join("node_modules");
    fs_err::symlink_metadata(&modules).ok().filter(std::fs::Metadata::is_dir)?;
    let text = read(&modules.join(".package-lock.json"), LARGEST, Cut::Refused)?;
    serde_json::from_slice(&text).ok()
}

/// The folders of packages that npm has installed, below the folder.
pub(super) fn npm_lock_paths(folder: &Path) -> BTreeSet<String> {
    lock_of(folder).map(|lock| lock.packages.into_keys().collect()).unwrap_or_default()
}

/// npm's own list, where an earlier version has left it.
pub(super) fn npm_lock_text(folder: &Path) -> Option<String> {
    String::from_utf8(read(&folder.join("package-lock.json"), LARGEST, Cut::Refused)?).ok()
}

fn of_npm(folder: &Path) -> Vec<Package> {
    let Some(lock) = lock_of(folder) else { return Vec::new() };
    let all = lock.packages.iter().take(MOST);
    all.filter_map(|(path, one)| {
        let name = if one.name.is_empty() { name_in(path)? } else { &one.name };
        package(PackageKind::Npm, name, &one.version, one.integrity.clone())
    })
    .collect()
}

/// A package, if its name and version are ones that an order could have.
fn package(kind: PackageKind, name: &str, version: &str, hash: String) -> Option<Package> {
    let read = Requirement::parse(kind, name).ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || ".+!-_".contains(c);
    let fits = !version.is_empty() && version.len() <= 64 && version.chars().all(plain);
    let hash_fits = hash.len() <= 256 && hash.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    (fits && hash_fits && read.name() == read.text()).then(|| Package {
        kind,
        name: name.to_owned(),
        version: version.to_owned(),
        hash,
    })
}

/// Whether the beginning of a file is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Allowed,
    Refused,
}

/// The bytes of a file that is one, and no link to one.
pub(super) fn read(path: &Path, most: u64, cut: Cut) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty()).ok()?);
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (cut == Cut::Allowed || bytes.len() as u64 <= most).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn put(path: &Path, text: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    #[test]
    fn packages_of_python_are_listed_by_name_version_and_hash() {
        let root = tempfile::tempdir().unwrap();
        let site = root.path().join("lib/python3.11/site-packages");
        let info = |name: &str, text: &str| {
            put(&site.join(format!("{name}.dist-info/METADATA")), text);
            put(&site.join(format!("{name}.dist-info/RECORD")), "x,sha256=y,1\n");
        };
        info("six-1.16.0", "Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\n\nName: evil\n");
        info("a-1", "Name: \u{1b}[2J\nVersion: 1\n");
        info("b-1", "Name: b\nVersion: 1 ; rm\n");
        info("c-1", "Name: --index-url=x\nVersion: 1\n");
        put(&root.path().join("secret"), "Name: secret\nVersion: 1\n");
        let linked = site.join("d-1.dist-info");
        fs_err::create_dir(&linked).unwrap();
        symlink(root.path().join("secret"), linked.join("METADATA")).unwrap();
        put(&linked.join("RECORD"), "");
        let found = installed(PackageKind::Python, root.path());
        let told: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["six 1.16.0"]);
        assert_eq!(found[0].hash, sha256(b"x,sha256=y,1\n"));
    }

    #[test]
    fn packages_of_npm_are_listed_at_every_depth() {
        let root = tempfile::tempdir().unwrap();
        put(
            &root.path().join("node_modules/.package-lock.json"),
            r#"{"packages": {
                "node_modules/a": {"version": "1.0.0", "integrity": "sha512-x"},
                "node_modules/a/node_modules/@s/b": {"version": "2.0.0"},
                "node_modules/-g": {"version": "1"}
            }}"#,
        );
        let found = installed(PackageKind::Npm, root.path());
        let told: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["@s/b 2.0.0", "a 1.0.0"]);
    }

    #[test]
    fn an_empty_folder_has_none() {
        let root = tempfile::tempdir().unwrap();
        assert!(installed(PackageKind::Python, root.path()).is_empty());
        assert!(installed(PackageKind::Npm, &root.path().join("nothing")).is_empty());
    }
}
