//! Links on the way to this program's folders and settings.
//!
//! # Threat
//! A person who keeps settings elsewhere, with links to them: code that may change the folder with a
//! link puts its own settings in its place, and the next session believes them.
//!
//! # Mechanism
//! Every link on the way is named, and where a setting itself is a link, also the file that it leads
//! to. Whoever lets code change a folder asks first whether one of them is in it.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// Links that are followed for one path, as many as the kernel follows.
const MOST_LINKS: usize = 40;

/// Entries of the folder of settings that are looked at.
const MOST_ENTRIES: usize = 1_000;

/// The places of all links on the way to `path`, and where it leads.
pub(crate) fn on_the_way(path: &Path) -> (BTreeSet<PathBuf>, PathBuf) {
    let (mut links, mut at) = (BTreeSet::new(), PathBuf::from("/"));
    let mut left: VecDeque<OsString> = parts(path).collect();
    let mut followed = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(part);
        let Ok(target) = std::fs::read_link(&at) else { continue };
        links.insert(at.clone());
        followed += 1;
        if followed > MOST_LINKS {
            break;
        }
        at.pop();
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(part);
        }
    }
    (links, at)
}

/// The same for everything right in a folder that is a link, with what it leads to.
pub(crate) fn of_settings(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let mut all = BTreeSet::new();
    for path in entries.map(|entry| entry.path()).filter(|path| path.is_symlink()) {
        let (links, real) = on_the_way(&path);
        all.extend(links);
        all.insert(real);
    }
    all
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_link_on_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs_err::create_dir_all(root.join("dots/interpreter")).unwrap();
        fs_err::create_dir_all(root.join("real")).unwrap();
        fs_err::write(root.join("real/config.toml"), "").unwrap();
        symlink("dots", root.join("config")).unwrap();
        symlink(root.join("real/config.toml"), root.join("dots/interpreter/config.toml")).unwrap();
        let (links, real) = on_the_way(&root.join("config/interpreter"));
        assert_eq!(links, [root.join("config")].into());
        assert_eq!(real, root.join("dots/interpreter"));
        let settings = of_settings(&root.join("config/interpreter"));
        let expected = ["config", "dots/interpreter/config.toml", "real/config.toml"];
        assert_eq!(settings, expected.map(|path| root.join(path)).into());
        // The control: without links there are none.
        assert_eq!(on_the_way(&root.join("real/x")), (BTreeSet::new(), root.join("real/x")));
        symlink("circle", root.join("circle")).unwrap();
        assert_eq!(on_the_way(&root.join("circle")).0, [root.join("circle")].into());
    }
}
