//! Interpreters on a fictional machine.

use super::*;
use interpreter_core::Declaration;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

pub(super) const ELF: &[u8] = b"\x7fELF\x02\x01\x01";

/// A home with programs in it.
pub(super) struct Home {
    pub(super) root: PathBuf,
    _folder: TempDir,
}

impl Home {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { root: fs_err::canonicalize(folder.path()).unwrap(), _folder: folder }
    }

    pub(super) fn program(self, path: &str, start: &[u8]) -> Self {
        let this = self.file(path, start);
        let executable = std::fs::Permissions::from_mode(0o755);
        fs_err::set_permissions(this.root.join(path), executable).unwrap();
        this
    }

    pub(super) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        assert!(Path::new(path).is_relative(), "{path}");
        let path = self.root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
        self
    }

    pub(super) fn folder(self, path: &str) -> Self {
        assert!(Path::new(path).is_relative(), "{path}");
        fs_err::create_dir_all(self.root.join(path)).unwrap();
        self
    }

    pub(super) fn link(self, path: &str, to: &str) -> Self {
        symlink(self.root.join(to), self.root.join(path)).unwrap();
        self
    }

    /// Searches these folders, with the system's bash.
    pub(super) fn find(
        &self,
        folders: &[&str],
        work: &str,
        declared: &[(&str, &str)],
    ) -> Interpreters {
        self.find_activated(folders, work, &Activated::default(), declared)
    }

    pub(super) fn find_activated(
        &self,
        folders: &[&str],
        work: &str,
        activated: &Activated,
        declared: &[(&str, &str)],
    ) -> Interpreters {
        let mut path: Vec<_> = folders.iter().map(|folder| self.root.join(folder)).collect();
        path.push(self.root.join("with-bash"));
        fs_err::create_dir_all(path.last().unwrap()).unwrap();
        fs_err::write(path.last().unwrap().join("bash"), ELF).unwrap();
        let bash = path.last().unwrap().join("bash");
        fs_err::set_permissions(bash, std::fs::Permissions::from_mode(0o755)).unwrap();
        let declared: Vec<(&str, Declaration)> =
            declared.iter().map(|(name, text)| (*name, toml::from_str(text).unwrap())).collect();
        let declared = declared.iter().map(|(name, declaration)| (*name, declaration));
        let work = self.root.join(work);
        Interpreters::find(&path, Some(&self.root), &work, activated, declared)
    }
}

pub(super) fn found<'a>(interpreters: &'a Interpreters, name: &str) -> &'a Interpreter {
    let known = interpreters.known.iter().find(|one| one.info.name == name).unwrap();
    known.interpreter.as_ref().unwrap()
}

fn program(interpreters: &Interpreters, name: &str) -> PathBuf {
    found(interpreters, name).program.clone().unwrap()
}

fn hint<'a>(interpreters: &'a Interpreters, name: &str) -> &'a str {
    let known = interpreters.known.iter().find(|one| one.info.name == name).unwrap();
    known.interpreter.as_ref().unwrap_err()
}

#[test]
fn a_shim_leads_to_the_version_that_the_project_names() {
    for (root, language, called, file) in [
        (".pyenv", "python", "python3", ".python-version"),
        (".rbenv", "ruby", "ruby", ".ruby-version"),
    ] {
        let version = |version: &str, rest: &str| format!("{root}/versions/{version}/{rest}");
        let home = Home::new()
            .program(&format!("{root}/shims/{called}"), b"#!/bin/sh\n")
            .program(&version("3.1.7", &format!("bin/{called}")), ELF)
            .program(&version("3.2.1", &format!("bin/{called}")), ELF)
            .folder(&version("3.1.7", "lib"))
            .file(&format!("{root}/version"), "3.1.7\n")
            .file(&format!("project/{file}"), "3.2.1\n")
            .file(&format!("hostile/{file}"), "../../../evil\n");
        let shims = format!("{root}/shims");
        let program_in = |work: &str| program(&home.find(&[&shims], work, &[]), language);
        let expected = |of: &str| home.root.join(version(of, &format!("bin/{called}")));
        assert_eq!(program_in(""), expected("3.1.7"));
        assert_eq!(program_in("project"), expected("3.2.1"));
        assert_eq!(program_in("hostile"), expected("3.1.7"));
        let interpreters = home.find(&[&shims], "", &[]);
        let prefix = home.root.join(version("3.1.7", ""));
        assert!(found(&interpreters, language).reads.contains(&prefix.components().collect()));
    }
}

#[test]
fn rustup_leads_to_the_default_toolchain() {
    let home = Home::new()
        .program(".cargo/bin/rustup", ELF)
        .link(".cargo/bin/rustc", ".cargo/bin/rustup")
        .program(".rustup/toolchains/nightly-x/bin/rustc", ELF)
        .folder(".rustup/toolchains/nightly-x/lib")
        .program(".rustup/toolchains/stable-x/bin/rustc", ELF)
        .folder(".rustup/toolchains/stable-x/lib")
        .file(".rustup/settings.toml", "version = '12'\ndefault_toolchain = 'stable-x'\n");
    let rust = |home: &Home| found(&home.find(&[".cargo/bin"], "", &[]), "rust").clone();
    let toolchain = home.root.join(".rustup/toolchains/stable-x");
    assert_eq!(rust(&home).program.unwrap(), toolchain.join("bin/rustc"));
    assert!(rust(&home).reads.contains(&toolchain));
    let home = home.file(".rustup/settings.toml", "default_toolchain = '../../evil'\n");
    assert!(rust(&home).program.unwrap().ends_with(".rustup/toolchains/nightly-x/bin/rustc"));
}

#[test]
fn juliaup_leads_to_the_version_of_its_channel() {
    let home = Home::new()
        .program(".juliaup/bin/julialauncher", ELF)
        .link(".juliaup/bin/julia", ".juliaup/bin/julialauncher")
        .program(".julia/juliaup/julia-1.10/bin/julia", ELF)
        .file(
            ".julia/juliaup/juliaup.json",
            r#"{"Default":"release","InstalledChannels":{"release":{"Version":"1.10"}},
                "InstalledVersions":{"1.10":{"Path":"./julia-1.10"}},"Settings":{}}"#,
        );
    let interpreters = home.find(&[".juliaup/bin"], "", &[]);
    let expected = home.root.join(".julia/juliaup/julia-1.10/bin/julia");
    assert_eq!(program(&interpreters, "julia"), expected);
}

#[test]
fn a_manager_that_is_not_understood_is_passed_over() {
    let home = Home::new()
        .program("mise/mise", ELF)
        .folder("one")
        .link("one/ruby", "mise/mise")
        .program("two/ruby", ELF);
    let interpreters = home.find(&["one", "two"], "", &[]);
    assert_eq!(program(&interpreters, "ruby"), home.root.join("two/ruby"));
}

#[test]
fn a_virtual_environment_in_path_is_entered_by_the_interpreter_behind_it() {
    let home = Home::new()
        .program("base/bin/python3.11", ELF)
        .folder("base/lib")
        .file("venv/pyvenv.cfg", "home = x\nversion_info = 3.11.2.final.0\n")
        .folder("venv/lib/python3.11/site-packages")
        .folder("venv/bin")
        .link("venv/bin/python3", "base/bin/python3.11");
    let interpreters = home.find(&["venv/bin"], "work", &[]);
    let python = found(&interpreters, "python");
    assert_eq!(python.program.clone().unwrap(), home.root.join("base/bin/python3.11"));
    assert_eq!(python.virtual_environment.clone().unwrap().folder, home.root.join("venv"));
    assert_eq!(python.reads, [home.root.join("base"), home.root.join("venv")]);
}

#[test]
fn a_program_in_the_home_shows_itself_and_nothing_beside_it() {
    let home = Home::new().program("bin/node", ELF).folder("lib");
    let interpreters = home.find(&["bin"], "", &[]);
    assert_eq!(found(&interpreters, "javascript").reads, [home.root.join("bin/node")]);
}

#[test]
fn a_version_that_is_too_old_or_unknown_does_not_count() {
    let header =
        |minor: u32| format!("#define NODE_MAJOR_VERSION 22\n#define NODE_MINOR_VERSION {minor}\n");
    let home = Home::new().program("n/bin/node", ELF).folder("n/lib");
    assert!(hint(&home.find(&["n/bin"], "", &[]), "typescript").contains("22.13"));
    let home = home.file("n/include/node/node_version.h", header(12));
    assert!(hint(&home.find(&["n/bin"], "", &[]), "typescript").contains("22.13"));
    let home = home.file("n/include/node/node_version.h", header(13));
    let interpreters = home.find(&["n/bin"], "", &[]);
    assert_eq!(program(&interpreters, "typescript"), home.root.join("n/bin/node"));
}

#[test]
fn a_package_of_the_project_may_be_what_is_needed() {
    let home = Home::new().program("n/bin/node", ELF).folder("n/lib").folder("work");
    let other = home.find(&["n/bin"], "work", &[]);
    let home = home.file("work/node_modules/sucrase/package.json", "{}");
    let interpreters = home.find(&["n/bin"], "work", &[]);
    assert_eq!(program(&interpreters, "typescript"), home.root.join("n/bin/node"));
    // Unless everybody has one.
    if let Some(known) = other.known.iter().find(|one| one.info.name == "typescript") {
        let everywhere = ["/usr/share/nodejs/typescript", "/usr/lib/node_modules/typescript"];
        let is_everywhere = everywhere.iter().any(|folder| Path::new(folder).exists());
        assert!(is_everywhere || known.interpreter.is_err());
    }
}

#[test]
fn interpreters_of_javascript_are_told_apart_by_name() {
    for (name, option) in
        [("node", None), ("deno", Some("--allow-all")), ("bun", Some("--config=/dev/null"))]
    {
        let home = Home::new().program(&format!("bin/{name}"), ELF);
        let interpreters = home.find(&["bin"], "", &[]);
        let spec = found(&interpreters, "javascript").spec(&BTreeMap::new(), Path::new("/"));
        assert_eq!(option.is_none(), spec.arguments.len() == 1, "{name}");
        assert!(
            option.is_none_or(|option| spec.arguments.iter().any(|one| one == option)),
            "{name}"
        );
        if name != "node" {
            let spec = found(&interpreters, "typescript").spec(&BTreeMap::new(), Path::new("/"));
            assert_eq!(spec.arguments.last().unwrap(), "typescript");
        }
    }
}

#[test]
fn a_language_of_the_persons_own_is_found_by_name_or_path() {
    let home =
        Home::new().program("bin/zig", ELF).program("tools/x", b"#!/bin/sh\n").folder("data");
    let interpreters = home.find(
        &["bin"],
        "",
        &[
            ("zig", "programs = ['zig']\nreads = ['~/data', '~/nowhere']\nenvironment = {A = 'b'}"),
            ("exact", "programs = ['~/tools/x']"),
            ("none", "programs = ['nowhere', '/no/where']"),
            ("told", "programs = ['nowhere']\nhint = 'ask Ann'"),
        ],
    );
    let zig = found(&interpreters, "zig");
    assert_eq!(zig.program.clone().unwrap(), home.root.join("bin/zig"));
    assert!(zig.reads.contains(&home.root.join("data")));
    let spec = zig.spec(&[("A".to_owned(), "a".to_owned())].into(), Path::new("/"));
    assert_eq!(spec.environment["A"], "b");
    assert_eq!(program(&interpreters, "exact"), home.root.join("tools/x"));
    assert_eq!(
        hint(&interpreters, "none"),
        "install `nowhere` or `/no/where`, required by `[language.none]` in your config file"
    );
    assert_eq!(hint(&interpreters, "told"), "ask Ann");
}

#[test]
fn what_the_person_declares_has_the_name() {
    let home = Home::new().program("bin/zsh", ELF).program("bin/ruby", ELF).program("bin/x", ELF);
    let interpreters = home.find(
        &["bin"],
        "",
        &[("zsh", "programs = ['zsh']\nendings = ['bash']"), ("ruby", "programs = ['x']")],
    );
    let table = interpreters.languages();
    assert_eq!(table.find("zsh").unwrap().name(), "zsh");
    assert_eq!(table.of_ending("bash").unwrap().name(), "zsh");
    assert_eq!(table.find("sh").unwrap().name(), "shell");
    assert_eq!(program(&interpreters, "ruby"), home.root.join("bin/x"));
    assert_eq!(table.find("rb"), None);
    let names: Vec<_> = interpreters.all().map(|one| one.info.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "ruby").count(), 1);
    assert_eq!(names.last(), Some(&"zsh"));
}

#[test]
fn what_is_missing_has_a_hint_and_what_is_shown_needs_nothing() {
    let home = Home::new();
    let interpreters = home.find(&[], "", &[]);
    let table = interpreters.languages();
    assert_eq!(table.names().collect::<Vec<_>>(), ["shell", "html"]);
    assert!(table.hint("rb").unwrap().contains("apt install ruby"));
    let continuity: Vec<_> = table.iter().map(|info| info.continuity).collect();
    assert_eq!(continuity, [Continuity::Kept, Continuity::Fresh]);
    let nothing = Interpreters::find(&[], None, Path::new("/"), &Activated::default(), []);
    assert!(hint(&nothing, "html").contains("install bash"));
}
