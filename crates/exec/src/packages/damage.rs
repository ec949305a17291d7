//! Files in an environment that belong to no package.
//!
//! Only this program writes an environment, from finished builds that say which files they have. A
//! file that none of them names was put there by something else, or by an installer of an earlier
//! version that had run code of a package. It is found by its name alone; nothing is run or
//! followed.

use super::{
    listed::LIST,
    listing::{Cut, npm_lock_paths, read},
    skeleton,
};
use crate::interpreters::PYTHON_ALONE;
use interpreter_core::packages::PackageKind;
use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

/// The most files that are looked at.
const MOST: usize = 500_000;

/// Bytes of the longest list of a package's files.
const LONGEST: u64 = 32 << 20;

/// The files and folders of an environment that belong to no package, in order.
pub fn damage(kind: PackageKind, folder: &Path) -> Vec<PathBuf> {
    let mut found = match kind {
        PackageKind::Python => of_python(folder),
        PackageKind::Npm => of_npm(folder),
    };
    found.sort();
    found
}

fn of_python(folder: &Path) -> Vec<PathBuf> {
    let Some(site) = skeleton::packages(folder) else { return Vec::new() };
    let listed = listed_files(&site);
    let mut found = Vec::new();
    walk(folder, &mut |path| {
        if !listed.contains(path) && !is_ours(folder, path) && !is_compiled(path, &listed) {
            found.push(path.to_owned());
        }
    });
    found
}

/// The files that packages say they have.
fn listed_files(site: &Path) -> BTreeSet<PathBuf> {
    let entries = fs_err::read_dir(site).into_iter().flatten().flatten();
    let infos = entries.filter(|entry| {
        let is_info = entry.file_name().to_str().is_some_and(|name| name.ends_with(".dist-info"));
        is_info && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    let mut listed = BTreeSet::new();
    for info in infos {
        let text = read(&info.path().join("RECORD"), LONGEST, Cut::Refused).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            listed.extend(resolved(site, &first_field(line)));
        }
    }
    listed
}

/// The first field of a line of comma-separated values.
fn first_field(line: &str) -> String {
    let Some(quoted) = line.strip_prefix('"') else {
        return line.split(',').next().unwrap_or_default().to_owned();
    };
    let mut field = String::new();
    let mut signs = quoted.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign == '"' && signs.next_if_eq(&'"').is_none() {
            break;
        }
        field.push(sign);
    }
    field
}

/// A path by its words alone.
fn resolved(site: &Path, relative: &str) -> Option<PathBuf> {
    let mut path = site.to_owned();
    for part in Path::new(relative).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => path.pop().then_some(())?,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// The files that this program makes itself, and the links to the interpreter.
fn is_ours(folder: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(folder) else { return false };
    let inside = inside.to_string_lossy();
    let alone = inside.strip_prefix(PYTHON_ALONE).and_then(|rest| rest.strip_prefix("/python"));
    let python = inside.strip_prefix("bin/python").or(alone);
    let is_link = fs_err::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    inside == "pyvenv.cfg"
        || inside == LIST
        || (is_link
            && python.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.')))
}

/// Whether it is the compiled form of a file that a package has.
fn is_compiled(path: &Path, listed: &BTreeSet<PathBuf>) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let Some(cache) = path.parent().filter(|one| one.ends_with("__pycache__")) else {
        return false;
    };
    let parts: Vec<_> = name.split('.').collect();
    let [stem @ .., tag, "pyc"] = parts.as_slice() else { return false };
    let source = cache.parent().map(|folder| folder.join(format!("{}.py", stem.join("."))));
    tag.starts_with("cpython-") && source.is_some_and(|source| listed.contains(&source))
}

/// Calls with each file and link, and follows none.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    let mut folders = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => visit(&entry.path()),
                Err(_) => {}
            }
        }
    }
}

/// Of npm, the folders that its list does not name.
fn of_npm(folder: &Path) -> Vec<PathBuf> {
    let listed = npm_lock_paths(folder);
    let mut found = Vec::new();
    let mut places = vec![folder.join("node_modules")];
    while let Some(modules) = places.pop() {
        for entry in fs_err::read_dir(&modules).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == ".package-lock.json" || name == ".bin" {
                continue;
            }
            if name.starts_with('@') && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                places.push(entry.path());
                continue;
            }
            let inside = entry.path();
            let is_listed = inside
                .strip_prefix(folder)
                .is_ok_and(|inside| listed.contains(inside.to_string_lossy().as_ref()));
            if !is_listed {
                found.push(entry.path());
            } else if [inside.clone(), inside.join("node_modules")]
                .iter()
                .all(|one| skeleton::is_real(one))
            {
                places.push(inside.join("node_modules"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    #[test]
    fn a_file_of_no_package_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path();
        let site = folder.join("lib/python3.11/site-packages");
        let record =
            "six.py,sha256=x,1\n\"a,b.py\",,\n../../../bin/six,,\nsix-1.dist-info/RECORD,,\n";
        put(&site.join("six-1.dist-info/RECORD"), record);
        for file in ["six.py", "a,b.py", "__pycache__/six.cpython-311.pyc"] {
            put(&site.join(file), "");
        }
        put(&folder.join("bin/six"), "");
        put(&folder.join("pyvenv.cfg"), "");
        std::os::unix::fs::symlink("/usr/bin/python3", folder.join("bin/python3.11")).unwrap();
        assert_eq!(damage(PackageKind::Python, folder), Vec::<PathBuf>::new());
        let planted = [
            "lib/python3.11/site-packages/__pycache__/zz.cpython-311.pyc",
            "lib/python3.11/site-packages/six.pyc",
            "lib/python3.11/site-packages/zz_other.pth",
            "bin/pip",
        ];
        for file in planted {
            put(&folder.join(file), "");
        }
        let mut expected: Vec<_> = planted.iter().map(|file| folder.join(file)).collect();
        expected.sort();
        assert_eq!(damage(PackageKind::Python, folder), expected);
    }

    #[test]
    fn a_folder_that_npm_does_not_list_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path();
        put(
            &folder.join("node_modules/.package-lock.json"),
            r#"{"packages": {"node_modules/a": {"version": "1"}, "node_modules/@s/b": {"version": "1"}}}"#,
        );
        put(&folder.join("node_modules/a/index.js"), "");
        put(&folder.join("node_modules/@s/b/index.js"), "");
        assert_eq!(damage(PackageKind::Npm, folder), Vec::<PathBuf>::new());
        put(&folder.join("node_modules/@s/evil/index.js"), "");
        put(&folder.join("node_modules/a/node_modules/evil/index.js"), "");
        assert_eq!(damage(PackageKind::Npm, folder).len(), 2);
        // A link leads nowhere, also where a package should be.
        let away = root.path().join("away");
        put(&away.join("node_modules/own/index.js"), "");
        fs_err::remove_dir_all(folder.join("node_modules/a")).unwrap();
        std::os::unix::fs::symlink(&away, folder.join("node_modules/a")).unwrap();
        assert_eq!(damage(PackageKind::Npm, folder).len(), 1);
    }
}
