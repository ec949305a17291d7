//! Files that run by themselves later, each with the reason.
//!
//! Code that cannot leave its sandbox today may leave a file behind that something outside runs
//! tomorrow: a hook, an editor task, a start-up file, instructions for a model. A change to such a
//! file comes first in every list. Files of a version control system are applied only if they are
//! named. The rules are data (`names.rs`); their users decide the consequences.
//!
//! # Limits
//! Only names are looked at. A program that a person starts by hand, and a file that some tool was
//! told to run by a setting elsewhere, are not found; neither is a bare repository in a folder of
//! another name. Names are compared without regard to ASCII case, because some file systems do so.

mod names;

pub use self::names::{AUTORUN, Autorun, AutorunForm};

use std::{
    collections::HashMap,
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
    sync::LazyLock,
};

/// Folders of version control systems. A file of that name can point to such a folder elsewhere.
const REPOSITORIES: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul"];

/// By the last part of their path, so that nearly every name costs one look.
static BY_NAME: LazyLock<HashMap<&'static [u8], Vec<&'static Autorun>>> = LazyLock::new(|| {
    let mut all = HashMap::<_, Vec<_>>::new();
    for one in AUTORUN.iter().filter(|one| one.form != AutorunForm::Ending) {
        let name = one.path.rsplit('/').next().unwrap_or(one.path);
        all.entry(name.as_bytes()).or_default().push(one);
    }
    // The longest path says most.
    for rules in all.values_mut() {
        rules.sort_by_key(|one| std::cmp::Reverse(one.path.len()));
    }
    all
});

/// Names that no rule is as long as are not looked up.
static LONGEST: LazyLock<usize> =
    LazyLock::new(|| BY_NAME.keys().map(|name| name.len()).max().unwrap_or(0));

/// Why something at `path` below `work_folder` runs by itself, if it does. The innermost rule that
/// matches is the one to tell. A place that the work folder itself is in does not count: all of the
/// work folder would.
pub fn reason(work_folder: &Path, path: &Path) -> Option<&'static str> {
    let whole = work_folder.join(path);
    let depth = path.components().count();
    let own = whole.file_name()?.as_bytes().to_ascii_lowercase();
    let by_ending = || {
        let mut endings = AUTORUN.iter().filter(|one| one.form == AutorunForm::Ending);
        endings.find(|one| own.ends_with(one.path.as_bytes())).map(|one| one.reason)
    };
    let mut innermost = whole.ancestors().take(depth).enumerate();
    innermost.find_map(|(above, place)| matching(place, above > 0)).or_else(by_ending)
}

/// The rule for `place` itself; `holds` says that something in it is meant.
fn matching(place: &Path, holds: bool) -> Option<&'static str> {
    let name = place.file_name()?.as_bytes();
    if name.len() > *LONGEST {
        return None;
    }
    let candidates = BY_NAME.get(&*name.to_ascii_lowercase())?;
    let fits = |one: &&&Autorun| {
        (one.form == AutorunForm::Folder || !holds) && is_below(place.parent(), one.path)
    };
    candidates.iter().find(fits).map(|one| one.reason)
}

/// The repository of a version control system that `path` is or is in.
pub fn repository(path: &Path) -> Option<&Path> {
    let is_one = |place: &&Path| {
        let name = place.file_name().map(|name| name.as_bytes().to_ascii_lowercase());
        name.is_some_and(|name| REPOSITORIES.iter().any(|one| one.as_bytes() == name))
    };
    path.ancestors().filter(is_one).last()
}

/// Whether `parent` ends with all parts of `path` but the last.
fn is_below(parent: Option<&Path>, path: &str) -> bool {
    let mut wanted = path.rsplit('/').skip(1);
    let mut there = parent.into_iter().flat_map(Path::components).rev();
    wanted.all(|part| match there.next() {
        Some(Component::Normal(name)) => name.as_bytes().eq_ignore_ascii_case(part.as_bytes()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        names::{AGENT, HOOK, SERVICE},
        *,
    };
    use proptest::prelude::*;

    fn why(path: &str) -> Option<&'static str> {
        reason(Path::new("/home/person/project"), Path::new(path))
    }

    #[test]
    fn what_runs_by_itself_is_known_at_any_depth() {
        for path in [
            ".git/hooks/pre-commit",
            ".git/config",
            "sub/.git/config",
            ".GIT/hooks/post-checkout",
            ".vscode/tasks.json",
            ".idea/runConfigurations/x.xml",
            "deep/down/.envrc",
            ".bashrc",
            ".config/fish/conf.d/x.fish",
            ".config/systemd/user/x.service",
            ".config/autostart/x.desktop",
            "etc/cron.d/x",
            ".github/workflows/ci.yml",
            ".github/copilot-instructions.md",
            "Makefile",
            "rules.mk",
            "Justfile",
            "package.json",
            "tests/conftest.py",
            "lib/site-packages/x.pth",
            "setup.py",
            "build.rs",
            "AGENTS.md",
            "CLAUDE.md",
            ".interpreter/config.toml",
            ".devcontainer/devcontainer.json",
            "vite.config.ts",
            ".eslintrc.cjs",
            "repo.bare/hooks/pre-receive",
        ] {
            assert!(why(path).is_some(), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        for path in [
            "main.rs",
            "src/build.rs.txt",
            "git/hooks/x",
            "hooks/index.ts",
            "workflows/ci.yml",
            "config",
            "README.md",
            "notes/agents.txt",
            "config.js",
            "a.pth.bak",
            "fish/config.fish",
        ] {
            assert_eq!(why(path), None, "{path}");
        }
    }

    #[test]
    fn the_place_of_the_work_folder_counts_and_does_not_swallow_it() {
        let of = |work: &str, path: &str| reason(Path::new(work), Path::new(path));
        assert_eq!(of("/repo/.git", "hooks/pre-push"), Some(HOOK));
        assert_eq!(of("/home/p/.config", "systemd/user/x.timer"), Some(SERVICE));
        // A checkout that a tool keeps in a folder of its own is a project like any other.
        assert_eq!(of("/home/p/.claude/worktrees/x", "src/main.rs"), None);
        assert_eq!(of("/home/p/.cursor/worktrees/x", "AGENTS.md"), Some(AGENT));
    }

    #[test]
    fn repositories_are_known_by_their_outermost_folder() {
        let of = |path: &'static str| repository(Path::new(path)).and_then(Path::to_str);
        assert_eq!(of("a/.git/modules/b/.git/config"), Some("a/.git"));
        assert_eq!(of(".git"), Some(".git"));
        assert_eq!(of("sub/.Hg/hgrc"), Some("sub/.Hg"));
        assert_eq!(of(".gitignore"), None);
        assert_eq!(of("git/config"), None);
    }

    #[test]
    fn every_rule_is_written_as_it_is_compared() {
        for one in AUTORUN {
            assert_eq!(one.path, one.path.to_ascii_lowercase(), "names are compared so");
            assert!(!one.path.starts_with('/') && !one.path.ends_with('/'), "{}", one.path);
            assert!(one.reason.len() <= 72 && !one.reason.ends_with('.'), "{}", one.reason);
        }
    }

    proptest! {
        #[test]
        fn where_a_file_stands_makes_no_difference(
            above in "[a-z]{1,8}(/[a-z]{1,8}){0,4}", at in 0..AUTORUN.len(),
        ) {
            let one = &AUTORUN[at];
            let path = match one.form {
                AutorunForm::Folder => format!("{above}/{}/inside", one.path),
                AutorunForm::File => format!("{above}/{}", one.path),
                AutorunForm::Ending => format!("{above}/x{}", one.path),
            };
            prop_assert!(why(&path).is_some(), "{}", path);
        }
    }
}
