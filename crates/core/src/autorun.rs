//! Files that run by themselves later, each with the reason.
//!
//! Code that cannot leave its sandbox today may leave a file behind that something outside runs
//! tomorrow: a hook, an editor task, a start-up file, a compiled module, instructions for a model. A
//! change to such a file comes first in every list. Files of a version control system are applied
//! only if they are named. The rules are data (`names.rs`); their users decide the consequences.
//!
//! # Mechanism
//! A list of names. `documented.toml` says where the tools themselves write that they read such a
//! file; a test holds the list to it. Names are compared in one spelling (`spelling.rs`), because
//! some file systems take several for the same.
//!
//! # Limits
//! Only names are looked at. A program that a person starts by hand, a module that another one
//! imports, and a file that some tool was told to run by a setting elsewhere, are not found; neither
//! is a bare repository in a folder of another name.

#[cfg(test)]
mod documented;
mod names;
mod rule;
mod spelling;

pub use self::{
    names::rules,
    rule::{Autorun, AutorunForm},
};

use self::spelling::folded;
use std::{
    collections::HashMap,
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
    sync::LazyLock,
};

/// Folders of version control systems. A file of that name can point to such a folder elsewhere.
/// The last is what FAT calls the first.
const REPOSITORIES: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul", "git~1"];

/// Rules for whole names by the last part of their path, so that nearly every name costs one look.
static BY_NAME: LazyLock<HashMap<&'static [u8], Vec<Autorun>>> = LazyLock::new(|| {
    let mut all = HashMap::<_, Vec<_>>::new();
    for one in rules().filter(|one| !is_partial(one)) {
        let name = one.path.rsplit('/').next().unwrap_or(one.path);
        all.entry(name.as_bytes()).or_default().push(one);
    }
    // The longest path says most.
    for rules in all.values_mut() {
        rules.sort_by_key(|one| std::cmp::Reverse(one.path.len()));
    }
    all
});

/// Rules for parts of names.
static BY_PART: LazyLock<Vec<Autorun>> = LazyLock::new(|| rules().filter(is_partial).collect());

/// Names that no rule is as long as are not looked up.
static LONGEST: LazyLock<usize> =
    LazyLock::new(|| BY_NAME.keys().map(|name| name.len()).max().unwrap_or(0));

fn is_partial(one: &Autorun) -> bool {
    matches!(one.form, AutorunForm::Beginning | AutorunForm::Ending)
}

/// Why something at `path` below `work_folder` runs by itself, if it does. A path that ends in `/`
/// is a folder's. The innermost rule that matches is the one to tell. A place that the work folder
/// itself is in does not count: all of the work folder would.
pub fn reason(work_folder: &Path, path: &Path) -> Option<&'static str> {
    let whole = work_folder.join(path);
    let depth = path.components().count();
    let own = folded(whole.file_name()?.as_bytes());
    let is_folder = path.as_os_str().as_bytes().ends_with(b"/");
    let by_part = || {
        let fits = |one: &&Autorun| match one.form {
            AutorunForm::Beginning => own.starts_with(one.path.as_bytes()),
            AutorunForm::Ending => own.ends_with(one.path.as_bytes()),
            AutorunForm::Folder | AutorunForm::File | AutorunForm::Regular => false,
        };
        BY_PART.iter().find(fits).map(|one| one.reason)
    };
    let mut innermost = whole.ancestors().take(depth).enumerate();
    let place_of = |above| match (above, is_folder) {
        (0, false) => Place::File,
        (0, true) => Place::Folder,
        _ => Place::Around,
    };
    innermost.find_map(|(above, place)| matching(place, place_of(above))).or_else(by_part)
}

/// The kind of a part of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Its end, and perhaps a file.
    File,
    /// Its end, and a folder.
    Folder,
    /// A folder that something in it is meant of.
    Around,
}

/// The rule for `place` itself.
fn matching(place: &Path, is: Place) -> Option<&'static str> {
    let name = folded(place.file_name()?.as_bytes());
    if name.len() > *LONGEST {
        return None;
    }
    let candidates = BY_NAME.get(&*name)?;
    let fits = |one: &&Autorun| {
        let is_meant = match one.form {
            AutorunForm::Folder => true,
            AutorunForm::File => is != Place::Around,
            AutorunForm::Regular => is == Place::File,
            AutorunForm::Beginning | AutorunForm::Ending => false,
        };
        is_meant && is_below(place.parent(), one.path)
    };
    candidates.iter().find(fits).map(|one| one.reason)
}

/// The repository of a version control system that `path` is or is in.
pub fn repository(path: &Path) -> Option<&Path> {
    let is_one = |place: &&Path| {
        let name = place.file_name().map(|name| folded(name.as_bytes()));
        name.is_some_and(|name| REPOSITORIES.iter().any(|one| one.as_bytes() == &*name))
    };
    path.ancestors().filter(is_one).last()
}

/// Whether `parent` ends with all parts of `path` but the last.
fn is_below(parent: Option<&Path>, path: &str) -> bool {
    let mut wanted = path.rsplit('/').skip(1);
    let mut there = parent.into_iter().flat_map(Path::components).rev();
    wanted.all(|part| match there.next() {
        Some(Component::Normal(name)) => &*folded(name.as_bytes()) == part.as_bytes(),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        rule::{AGENT, HOOK, SERVICE},
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
            "__pycache__/helper.cpython-311.pyc",
            "helper.pyc",
            "numpy/core.cpython-312-x86_64-linux-gnu.so",
            "build/addon.node",
            "Cargo.toml",
            "mypy.ini",
            ".pylintrc",
            ".flake8",
            ".pdbrc",
            "ansible.cfg",
            ".rubocop.yml",
            ".eslintrc.json",
            ".eslintrc.yaml",
            ".babelrc",
            ".mocharc.yml",
            ".prettierrc",
            ".user.ini",
            "www/.htaccess",
            ".forward",
            ".procmailrc",
            "main.tf",
            "Tiltfile",
            "Guardfile",
            "Podfile",
            "fastlane/Fastfile",
            "WORKSPACE",
            "src/BUILD",
            "MODULE.bazel",
            "pnpm-workspace.yaml",
            "lerna.json",
            "requirements.txt",
            "dev-requirements.txt",
            "docker-compose.override.yml",
            "docker-compose.prod.yml",
            "Dockerfile.dev",
            ".wezterm.lua",
            ".config/kitty/kitty.conf",
            ".config/awesome/rc.lua",
            ".config/mpv/scripts/x.lua",
            "units/x.service",
            "x.desktop",
            "tool-gdb.py",
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
            "build/",
            "build/out.txt",
            "workspace/",
            "targets/x.csv",
            "src/module.py",
            "plot.png",
            "requirements.md",
            "so",
            "a.so.txt",
            "notes.tfx",
            ".hidden",
        ] {
            assert_eq!(why(path), None, "{path}");
        }
    }

    #[test]
    fn a_name_that_a_file_system_takes_for_a_known_one_is_known() {
        for path in [
            ".BASHRC",
            ".bashrc.",
            "deep/.bashrc ",
            ".bashrc::$DATA",
            ".ba\u{17f}hrc",
            ".b\u{200d}ashrc",
            "ma\u{212a}efile",
            ".git./hooks/x",
            ".g\u{200c}it/config",
            "GIT~1/config",
            ".VSCODE /tasks.json",
            ".Con\u{fb01}g/fish/x.fish",
            "__PYCACHE__./x",
            "x.PYC.",
        ] {
            assert!(why(path).is_some(), "{path:?}");
        }
        for path in [".g\u{200c}it/config", ".git . /x", "git~1/x", ".GIT::$INDEX_ALLOCATION/x"] {
            assert!(repository(Path::new(path)).is_some(), "{path:?}");
        }
        assert_eq!(repository(Path::new("git~2/x")), None);
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
        for one in rules() {
            assert_eq!(one.path, one.path.to_ascii_lowercase(), "names are compared so");
            assert!(!one.path.starts_with('/') && !one.path.ends_with('/'), "{}", one.path);
            assert!(one.reason.len() <= 72 && !one.reason.ends_with('.'), "{}", one.reason);
        }
    }

    proptest! {
        #[test]
        fn how_a_name_is_spelled_makes_no_difference(
            one in prop::sample::select(rules().collect::<Vec<_>>()),
            capitals in any::<u64>(), end in "[. ]{0,3}",
        ) {
            let path = match one.form {
                AutorunForm::Folder => format!("{}{end}/inside", one.path),
                AutorunForm::File | AutorunForm::Regular => format!("{}{end}", one.path),
                AutorunForm::Beginning => format!("{}x", one.path),
                AutorunForm::Ending => format!("x{}{end}", one.path),
            };
            let spelled: String = path.chars().enumerate().map(|(at, c)| match c {
                's' if capitals >> (at % 64) & 3 == 3 => '\u{17f}',
                c if capitals >> (at % 64) & 1 == 1 => c.to_ascii_uppercase(),
                c => c,
            }).collect();
            prop_assert!(why(&spelled).is_some(), "{:?}", spelled);
        }

        #[test]
        fn where_a_file_stands_makes_no_difference(
            above in "[a-z]{1,8}(/[a-z]{1,8}){0,4}", one in prop::sample::select(rules().collect::<Vec<_>>()),
        ) {
            let path = match one.form {
                AutorunForm::Folder => format!("{above}/{}/inside", one.path),
                AutorunForm::File | AutorunForm::Regular => format!("{above}/{}", one.path),
                AutorunForm::Beginning => format!("{above}/{}x", one.path),
                AutorunForm::Ending => format!("{above}/x{}", one.path),
            };
            prop_assert!(why(&path).is_some(), "{}", path);
        }
    }
}
