//! Files that run by themselves later, each with the reason.
//!
//! Code that cannot leave its sandbox today may leave a file behind that something outside runs
//! tomorrow: a hook, an editor task, a start-up file, instructions for a model. A change to such a
//! file comes first in every list. Files of a version control system are applied only if they are
//! named. The rules are data; their users decide the consequences.
//!
//! # Limits
//! Only names are looked at. A program that a person starts by hand, and a file that some tool was
//! told to run by a setting elsewhere, are not found; neither is a bare repository in a folder of
//! another name. Names are compared without regard to ASCII case, because some file systems do so.

use std::{
    collections::HashMap,
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
    sync::LazyLock,
};

/// A name under which something runs by itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Autorun {
    /// The name, or the last parts of the path, in lower case.
    pub path: &'static str,
    /// How much of a name it has to match.
    pub form: AutorunForm,
    /// Who runs it, and when.
    pub reason: &'static str,
}

/// How to match the path of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutorunForm {
    /// A folder, and with it all it holds.
    Folder,
    /// A file, a link, or a folder of exactly that path.
    File,
    /// The end of a file's name.
    Ending,
}

const fn folder(path: &'static str, reason: &'static str) -> Autorun {
    Autorun { path, form: AutorunForm::Folder, reason }
}

const fn file(path: &'static str, reason: &'static str) -> Autorun {
    Autorun { path, form: AutorunForm::File, reason }
}

const fn ending(path: &'static str, reason: &'static str) -> Autorun {
    Autorun { path, form: AutorunForm::Ending, reason }
}

const AGENT: &str = "instructs a coding agent, or grants it permissions";
const BUILD: &str = "runs when the project is built";
const CI: &str = "runs in continuous integration, with its credentials";
const CONTAINER: &str = "runs when the container is built or opened";
const CRON: &str = "runs on a schedule";
const DEBUGGER: &str = "runs when the debugger starts";
const EDITOR: &str = "an editor can run it when the folder is opened";
const ENVIRONMENT: &str = "runs when a shell enters the folder";
const GIT: &str = "git reads it with every command and can run programs from it";
const HOOK: &str = "runs at commits, merges, checkouts and the like";
const INTERPRETER: &str = "settings of this program";
const LOGIN: &str = "runs at login";
const PACKAGES: &str = "sets the source of packages, and can run programs";
const PYTHON: &str = "runs whenever Python starts there";
const REPL: &str = "runs when the interpreter starts";
const SCRIPTS: &str = "its scripts run when packages are installed, or by name";
const SERVICE: &str = "started by the system";
const SHELL: &str = "runs in every new shell";
const TESTS: &str = "runs with the tests";
const TOOL: &str = "runs as code when a tool reads its settings";
const VCS: &str = "the version control system reads it and can run programs from it";
const WINDOWS: &str = "the window system starts the programs in it";

/// All rules. The most specific comes first where several match.
pub const AUTORUN: &[Autorun] = &[
    // Version control.
    folder(".git/hooks", HOOK),
    folder(".git", GIT),
    file(".gitconfig", GIT),
    file(".gitmodules", GIT),
    file(".gitattributes", GIT),
    folder(".config/git", GIT),
    folder(".githooks", HOOK),
    folder(".husky", HOOK),
    file(".pre-commit-config.yaml", HOOK),
    file(".pre-commit-hooks.yaml", HOOK),
    file("lefthook.yml", HOOK),
    file("lefthook.yaml", HOOK),
    file(".lefthook.yml", HOOK),
    file("lefthook-local.yml", HOOK),
    file(".overcommit.yml", HOOK),
    file("hooks/applypatch-msg", HOOK),
    file("hooks/commit-msg", HOOK),
    file("hooks/fsmonitor-watchman", HOOK),
    file("hooks/post-checkout", HOOK),
    file("hooks/post-commit", HOOK),
    file("hooks/post-merge", HOOK),
    file("hooks/post-receive", HOOK),
    file("hooks/post-rewrite", HOOK),
    file("hooks/post-update", HOOK),
    file("hooks/pre-applypatch", HOOK),
    file("hooks/pre-commit", HOOK),
    file("hooks/pre-merge-commit", HOOK),
    file("hooks/pre-push", HOOK),
    file("hooks/pre-rebase", HOOK),
    file("hooks/pre-receive", HOOK),
    file("hooks/prepare-commit-msg", HOOK),
    file("hooks/reference-transaction", HOOK),
    file("hooks/update", HOOK),
    folder(".hg", VCS),
    file(".hgrc", VCS),
    folder(".svn", VCS),
    folder(".subversion", VCS),
    folder(".jj", VCS),
    folder(".config/jj", VCS),
    folder(".bzr", VCS),
    folder("_darcs", VCS),
    folder(".pijul", VCS),
    // Editors.
    folder(".vscode", EDITOR),
    ending(".code-workspace", EDITOR),
    folder(".idea", EDITOR),
    folder(".run", EDITOR),
    folder(".fleet", EDITOR),
    folder(".zed", EDITOR),
    folder(".vs", EDITOR),
    folder(".nova", EDITOR),
    folder(".helix", EDITOR),
    folder(".config/helix", EDITOR),
    folder(".vim", EDITOR),
    file(".vimrc", EDITOR),
    file("_vimrc", EDITOR),
    file(".gvimrc", EDITOR),
    file(".lvimrc", EDITOR),
    file(".exrc", EDITOR),
    file(".nvimrc", EDITOR),
    file(".nvim.lua", EDITOR),
    folder(".nvim", EDITOR),
    folder(".config/nvim", EDITOR),
    file(".dir-locals.el", EDITOR),
    file(".dir-locals-2.el", EDITOR),
    file(".emacs", EDITOR),
    folder(".emacs.d", EDITOR),
    folder(".config/emacs", EDITOR),
    ending(".sublime-project", EDITOR),
    folder(".config/code/user", EDITOR),
    // Shells, and what they read.
    file(".envrc", ENVIRONMENT),
    file(".direnvrc", ENVIRONMENT),
    folder(".config/direnv", ENVIRONMENT),
    file("mise.toml", ENVIRONMENT),
    file(".mise.toml", ENVIRONMENT),
    file("mise.local.toml", ENVIRONMENT),
    file(".mise.local.toml", ENVIRONMENT),
    folder(".mise", ENVIRONMENT),
    file("mise/config.toml", ENVIRONMENT),
    folder(".config/mise", ENVIRONMENT),
    file(".rtx.toml", ENVIRONMENT),
    file(".tool-versions", ENVIRONMENT),
    file(".autoenv", ENVIRONMENT),
    file(".autoenv.zsh", ENVIRONMENT),
    file("bin/activate", "runs when the environment is activated"),
    file("bin/activate.fish", "runs when the environment is activated"),
    file("bin/activate.csh", "runs when the environment is activated"),
    file(".bashrc", SHELL),
    file(".bash_profile", SHELL),
    file(".bash_login", SHELL),
    file(".bash_logout", SHELL),
    file(".bash_aliases", SHELL),
    file(".profile", SHELL),
    file(".zshrc", SHELL),
    file(".zshenv", SHELL),
    file(".zprofile", SHELL),
    file(".zlogin", SHELL),
    file(".zlogout", SHELL),
    folder(".oh-my-zsh", SHELL),
    file(".kshrc", SHELL),
    file(".mkshrc", SHELL),
    file(".cshrc", SHELL),
    file(".tcshrc", SHELL),
    file(".login", SHELL),
    folder(".config/fish", SHELL),
    folder(".config/nushell", SHELL),
    file(".config/starship.toml", SHELL),
    file(".inputrc", SHELL),
    file(".tmux.conf", SHELL),
    folder(".config/tmux", SHELL),
    file(".screenrc", SHELL),
    folder("etc/profile.d", SHELL),
    file("etc/profile", SHELL),
    file("etc/bash.bashrc", SHELL),
    folder(".local/bin", "shells prefer it to programs of the same name"),
    file(".ssh/rc", LOGIN),
    file(".ssh/config", "ssh can run programs from it"),
    file(".ssh/authorized_keys", "lets others log in"),
    // The system and its sessions.
    file(".pam_environment", LOGIN),
    folder(".config/environment.d", LOGIN),
    folder(".config/systemd", SERVICE),
    folder(".local/share/systemd", SERVICE),
    folder("etc/systemd", SERVICE),
    folder("etc/init.d", SERVICE),
    file("etc/rc.local", SERVICE),
    folder("etc/udev/rules.d", SERVICE),
    file("etc/ld.so.preload", "every program loads it"),
    folder("etc/ld.so.conf.d", "every program loads libraries from there"),
    folder("etc/sudoers.d", "lets programs run as root"),
    file("etc/sudoers", "lets programs run as root"),
    folder("library/launchagents", SERVICE),
    folder("library/launchdaemons", SERVICE),
    folder(".config/autostart", LOGIN),
    folder("etc/xdg/autostart", LOGIN),
    folder(".local/share/applications", WINDOWS),
    folder(".local/share/dbus-1", SERVICE),
    file(".xinitrc", LOGIN),
    file(".xprofile", LOGIN),
    file(".xsession", LOGIN),
    file(".xsessionrc", LOGIN),
    folder(".config/i3", WINDOWS),
    folder(".config/sway", WINDOWS),
    folder(".config/hypr", WINDOWS),
    folder(".config/openbox", WINDOWS),
    file("crontab", CRON),
    file(".crontab", CRON),
    file("etc/anacrontab", CRON),
    folder("etc/cron.d", CRON),
    folder("etc/cron.hourly", CRON),
    folder("etc/cron.daily", CRON),
    folder("etc/cron.weekly", CRON),
    folder("etc/cron.monthly", CRON),
    folder("var/spool/cron", CRON),
    // Continuous integration and delivery.
    folder(".github/workflows", CI),
    folder(".github/actions", CI),
    file(".github/copilot-instructions.md", AGENT),
    folder(".github/instructions", AGENT),
    folder(".github/prompts", AGENT),
    folder(".github/chatmodes", AGENT),
    folder(".github/agents", AGENT),
    folder(".gitea/workflows", CI),
    folder(".forgejo/workflows", CI),
    file("action.yml", CI),
    file("action.yaml", CI),
    file(".gitlab-ci.yml", CI),
    folder(".gitlab", CI),
    folder(".circleci", CI),
    file(".travis.yml", CI),
    file("jenkinsfile", CI),
    file("azure-pipelines.yml", CI),
    folder(".azure-pipelines", CI),
    folder(".azuredevops", CI),
    folder(".buildkite", CI),
    file("bitbucket-pipelines.yml", CI),
    file(".drone.yml", CI),
    file(".woodpecker.yml", CI),
    folder(".woodpecker", CI),
    file("appveyor.yml", CI),
    file(".appveyor.yml", CI),
    file(".cirrus.yml", CI),
    file(".cirrus.star", CI),
    folder(".teamcity", CI),
    folder(".semaphore", CI),
    folder(".tekton", CI),
    file("cloudbuild.yaml", CI),
    file("buildspec.yml", CI),
    file("netlify.toml", CI),
    file("vercel.json", CI),
    file("procfile", "the platform starts the programs in it"),
    file(".readthedocs.yaml", CI),
    // Builds and tasks.
    file("makefile", BUILD),
    file("gnumakefile", BUILD),
    file("bsdmakefile", BUILD),
    ending(".mk", BUILD),
    file("justfile", BUILD),
    file(".justfile", BUILD),
    file("taskfile.yml", BUILD),
    file("taskfile.yaml", BUILD),
    file("rakefile", BUILD),
    file("gemfile", SCRIPTS),
    file("build.rs", BUILD),
    file(".cargo/config.toml", BUILD),
    file(".cargo/config", BUILD),
    file("cmakelists.txt", BUILD),
    file("cmakepresets.json", BUILD),
    ending(".cmake", BUILD),
    file("meson.build", BUILD),
    file("build.bazel", BUILD),
    file("workspace.bazel", BUILD),
    file("module.bazel", BUILD),
    file(".bazelrc", BUILD),
    file("sconstruct", BUILD),
    file("sconscript", BUILD),
    file("wscript", BUILD),
    file("build.gradle", BUILD),
    file("build.gradle.kts", BUILD),
    file("settings.gradle", BUILD),
    file("settings.gradle.kts", BUILD),
    file("init.gradle", BUILD),
    folder("gradle/wrapper", BUILD),
    file("gradlew", BUILD),
    file("gradlew.bat", BUILD),
    file("mvnw", BUILD),
    file("rust-toolchain", BUILD),
    file("rust-toolchain.toml", BUILD),
    file("package.swift", BUILD),
    file("pom.xml", BUILD),
    folder(".mvn", BUILD),
    file("build.xml", BUILD),
    file("build.sbt", BUILD),
    file("build.zig", BUILD),
    file("build.ninja", BUILD),
    file("directory.build.props", BUILD),
    file("directory.build.targets", BUILD),
    ending(".csproj", BUILD),
    ending(".vcxproj", BUILD),
    file("configure.ac", BUILD),
    ending(".m4", BUILD),
    file("flake.nix", BUILD),
    file("shell.nix", BUILD),
    file("default.nix", BUILD),
    file("devbox.json", BUILD),
    file("mix.exs", BUILD),
    file("dune", BUILD),
    file("setup.hs", BUILD),
    // Packages.
    file("package.json", SCRIPTS),
    file("composer.json", SCRIPTS),
    file("deno.json", SCRIPTS),
    file("deno.jsonc", SCRIPTS),
    file("binding.gyp", SCRIPTS),
    file(".npmrc", PACKAGES),
    file(".yarnrc", PACKAGES),
    file(".yarnrc.yml", PACKAGES),
    folder(".yarn/releases", PACKAGES),
    folder(".yarn/plugins", PACKAGES),
    file(".pnpmfile.cjs", PACKAGES),
    file("bunfig.toml", PACKAGES),
    file(".pnp.cjs", PACKAGES),
    file("pip.conf", PACKAGES),
    file(".condarc", PACKAGES),
    folder(".bundle", PACKAGES),
    // Python.
    file("setup.py", BUILD),
    file("setup.cfg", BUILD),
    file("pyproject.toml", BUILD),
    file("sitecustomize.py", PYTHON),
    file("usercustomize.py", PYTHON),
    ending(".pth", PYTHON),
    file("pyvenv.cfg", PYTHON),
    file("conftest.py", TESTS),
    file(".rspec", TESTS),
    file("pytest.ini", TESTS),
    file("tox.ini", TESTS),
    file("noxfile.py", TESTS),
    file("fabfile.py", BUILD),
    file("dodo.py", BUILD),
    // JavaScript tools that take programs for settings.
    ending(".config.js", TOOL),
    ending(".config.cjs", TOOL),
    ending(".config.mjs", TOOL),
    ending(".config.ts", TOOL),
    ending(".config.mts", TOOL),
    ending(".config.cts", TOOL),
    ending(".conf.js", TOOL),
    ending("rc.js", TOOL),
    ending("rc.cjs", TOOL),
    ending("rc.mjs", TOOL),
    file("gruntfile.js", TOOL),
    file("gulpfile.js", TOOL),
    file("jakefile.js", TOOL),
    // Interpreters and debuggers.
    file(".pythonrc", REPL),
    file(".pythonrc.py", REPL),
    file(".pythonstartup", REPL),
    folder(".ipython", REPL),
    folder(".jupyter", REPL),
    file("jupyter_server_config.py", REPL),
    file("jupyter_notebook_config.py", REPL),
    file(".rprofile", REPL),
    file(".rdata", REPL),
    file(".renviron", REPL),
    file(".irbrc", REPL),
    file(".pryrc", REPL),
    file(".ghci", REPL),
    file(".psqlrc", REPL),
    file(".sqliterc", REPL),
    file(".node_repl.js", REPL),
    file(".julia/config/startup.jl", REPL),
    file(".gdbinit", DEBUGGER),
    file(".lldbinit", DEBUGGER),
    // Containers and machines.
    folder(".devcontainer", CONTAINER),
    file(".devcontainer.json", CONTAINER),
    file("devcontainer.json", CONTAINER),
    file("dockerfile", CONTAINER),
    file("containerfile", CONTAINER),
    ending(".dockerfile", CONTAINER),
    file("compose.yml", CONTAINER),
    file("compose.yaml", CONTAINER),
    file("docker-compose.yml", CONTAINER),
    file("docker-compose.yaml", CONTAINER),
    file("vagrantfile", CONTAINER),
    file(".gitpod.yml", CONTAINER),
    file(".replit", CONTAINER),
    folder(".idx", CONTAINER),
    // Instructions to agents, and this program's own settings.
    folder(".interpreter", INTERPRETER),
    folder(".config/interpreter", INTERPRETER),
    file("agents.md", AGENT),
    file("agents.override.md", AGENT),
    file("agent.md", AGENT),
    file("claude.md", AGENT),
    file("claude.local.md", AGENT),
    file("gemini.md", AGENT),
    folder(".claude", AGENT),
    folder(".codex", AGENT),
    folder(".gemini", AGENT),
    folder(".cursor", AGENT),
    file(".cursorrules", AGENT),
    folder(".windsurf", AGENT),
    file(".windsurfrules", AGENT),
    folder(".clinerules", AGENT),
    folder(".roo", AGENT),
    folder(".continue", AGENT),
    folder(".amazonq", AGENT),
    folder(".junie", AGENT),
    folder(".kiro", AGENT),
    file(".goosehints", AGENT),
    file(".aider.conf.yml", AGENT),
    file(".mcp.json", AGENT),
    file("mcp.json", AGENT),
];

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
    use super::*;
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
