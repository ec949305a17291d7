//! Kernelspecs on a fictional machine.

use crate::{Activated, Early, Interpreter, Interpreters};
use interpreter_core::{Continuity, Declaration};
use std::{
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const ELF: &[u8] = b"\x7fELF\x02\x01\x01";

/// A home with a Python in it, a project, and kernelspecs.
struct Machine {
    root: PathBuf,
    _folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::create_dir(root.join("work")).unwrap();
        let machine = Self { root, _folder: folder };
        machine.program("py/bin/python3").program("py/bin/bash").file("py/lib/x", "")
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
        self
    }

    fn program(self, path: &str) -> Self {
        let this = self.file(path, "");
        let path = this.root.join(path);
        fs_err::write(&path, ELF).unwrap();
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        this
    }

    fn link(self, path: &str, to: &str) -> Self {
        let path = self.root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.root.join(to), path).unwrap();
        self
    }

    /// A spec in `folder`, in which `ROOT` stands for the root.
    fn spec(self, folder: &str, name: &str, json: &str) -> Self {
        let json = json.replace("ROOT", self.root.to_str().unwrap());
        self.file(&format!("{folder}/share/jupyter/kernels/{name}/kernel.json"), &json)
    }

    fn find(&self, declared: &[(&str, &str)]) -> Interpreters {
        let declared: Vec<(&str, Declaration)> =
            declared.iter().map(|(name, text)| (*name, toml::from_str(text).unwrap())).collect();
        let declared = declared.iter().map(|(name, declaration)| (*name, declaration));
        let path = [self.root.join("py/bin")];
        let activated = Activated { jupyter: vec![self.root.join("data")], ..Activated::default() };
        let work = self.root.join("work");
        Interpreters::find(&path, Some(&self.root), &work, &activated, declared)
    }
}

fn found<'a>(all: &'a Interpreters, name: &str) -> Result<&'a Interpreter, &'a str> {
    let known = all.all().find(|one| one.info.name == name);
    let known = known.unwrap_or_else(|| panic!("`{name}` is not known"));
    known.interpreter.as_ref().map_err(String::as_str)
}

const PYTHON: &str = r#"{"argv": ["python3", "-m", "k", "-f", "{connection_file}"],
    "language": "python", "display_name": "P"}"#;

#[test]
fn a_kernel_of_a_language_that_runs_anyway_has_the_name_of_its_spec() {
    let all = Machine::new().spec("py", "Python3", PYTHON).find(&[]);
    let kernel = found(&all, "jupyter:python3").unwrap();
    assert!(kernel.program.as_ref().unwrap().ends_with("py/bin/python3"));
    assert_eq!(kernel.early, Early::Fine);
    let table = all.languages();
    assert_eq!(table.find("jupyter:python3").unwrap().written_in(), "python");
    assert_eq!(table.find("python").unwrap().name(), "python");
    assert!(table.offered().all(|info| !info.name.contains("jupyter")));
}

#[test]
fn a_kernel_that_alone_runs_a_language_goes_by_the_languages_name() {
    let spec = |language: &str| PYTHON.replace("\"python\"", &format!("\"{language}\""));
    let all = Machine::new()
        .spec("py", "oct", &spec("Octave"))
        .spec("py", "julia-1.10", &spec("julia"))
        .spec("py", "odd", &spec("not a name"))
        .find(&[]);
    let table = all.languages();
    for (called, name) in [("octave", "octave"), ("jupyter:oct", "octave"), ("jl", "julia")] {
        assert_eq!(table.find(called).unwrap().name(), name);
    }
    assert_eq!(table.of_ending("jl").unwrap().name(), "julia");
    assert_eq!(table.find("jupyter:odd").unwrap().name(), "jupyter:odd");
    let julia: Vec<_> = all.all().filter(|one| one.info.name == "julia").collect();
    assert_eq!((julia.len(), julia[0].info.continuity), (1, Continuity::Kept));
    assert!(table.offered().any(|info| info.name == "octave"));
}

#[test]
fn the_person_can_have_a_language_run_by_a_kernel() {
    let machine = Machine::new().spec("py", "python3", PYTHON);
    let all = machine.find(&[("python", "jupyter = 'python3'"), ("x", "jupyter = 'none'")]);
    let python = found(&all, "python").unwrap();
    assert!(python.note.as_ref().unwrap().contains("Jupyter kernel P"));
    assert_eq!(all.languages().of_ending("py").unwrap().name(), "python");
    assert_eq!(all.languages().find("py").unwrap().name(), "python");
    let why = found(&all, "x").unwrap_err();
    assert!(
        why.contains("the Jupyter kernel `none` is not installed; installed: python3"),
        "{why}"
    );
}

#[test]
fn a_spec_that_is_wrong_is_passed_over_and_says_why() {
    let long = format!("{{\"argv\": [\"{}\"]}}", "x".repeat(100_000));
    for (json, reason) in [
        ("{", "is not a kernelspec"),
        ("{\"argv\": [1]}", "is not a kernelspec"),
        ("{\"argv\": []}", "has no `{connection_file}`"),
        ("{\"argv\": [\"python3\", \"-f\"]}", "has no `{connection_file}`"),
        ("{\"argv\": [\"nowhere\", \"{connection_file}\"]}", "`nowhere` does not exist"),
        ("{\"argv\": [\"bin/x\", \"{connection_file}\"]}", "neither a name nor an absolute path"),
        ("{\"argv\": [\"/etc/passwd\", \"{connection_file}\"]}", "not executable"),
        (&long, "too long"),
    ] {
        let all = Machine::new().spec("py", "bad", json).find(&[]);
        let why = found(&all, "jupyter:bad").unwrap_err();
        assert!(why.contains(reason), "{json}: {why}");
        assert_eq!(all.languages().find("jupyter:bad"), None);
    }
}

#[test]
fn a_folder_where_a_file_should_be_is_no_spec() {
    let machine = Machine::new().file("py/share/jupyter/kernels/bad/kernel.json/x", "");
    assert!(found(&machine.find(&[]), "jupyter:bad").unwrap_err().contains("is not a file"));
}

#[test]
fn nobodys_secrets_become_visible() {
    let secret = r#"{"argv": ["ROOT/.ssh/bin/key", "{connection_file}"], "language": "s"}"#;
    let machine = Machine::new().program(".ssh/bin/key").file(".ssh/id", "");
    let secret = secret.replace("ROOT", machine.root.to_str().unwrap());
    let machine = machine.file("data/kernels/s/kernel.json", &secret);
    let all = machine.find(&[]);
    // The program itself, and not the folder around it.
    let shown = all.reads().filter(|path| path.starts_with(machine.root.join(".ssh")));
    assert_eq!(shown.collect::<Vec<_>>(), [machine.root.join(".ssh/bin/key")]);
}

#[test]
fn a_projects_spec_shows_nothing_new_and_waits_for_a_permit() {
    let other = r#"{"argv": ["ROOT/other/bin/tool", "{connection_file}"], "language": "o"}"#;
    let python = r#"{"argv": ["ROOT/py/bin/python3", "{connection_file}"], "language": "p"}"#;
    let own = r#"{"argv": ["tool", "{connection_file}"], "language": "w"}"#;
    let machine = Machine::new()
        .program("other/bin/tool")
        .file("other/lib/secret", "")
        .program("work/.venv/bin/tool")
        .spec("work/.venv", "other", other)
        .spec("work/.venv", "python", python)
        .spec("work/.venv", "own", own);
    let all = machine.find(&[]);
    let why = found(&all, "jupyter:other").unwrap_err();
    assert!(why.contains("came with the project and needs"), "{why}");
    assert!(all.reads().all(|path| !path.starts_with(machine.root.join("other"))));
    for name in ["p", "w"] {
        assert_eq!(found(&all, name).unwrap().early, Early::WithPermit);
        let language = all.languages().find(name).unwrap();
        assert!(!all.may_start_early(&language));
    }
    // Outside of the project the same spec is believed.
    let all = machine.spec("py", "theirs", other).find(&[]);
    assert!(all.reads().any(|path| path == Path::new("/") || path.ends_with("other")));
}

/// An environment of the project that is a link leads to a folder of somebody else's: neither it
/// nor what its specs name is shown, whichever part of the way is the link.
#[test]
fn what_is_reached_through_the_project_is_the_projects() {
    let other = r#"{"argv": ["ROOT/other/bin/tool", "{connection_file}"], "language": "o"}"#;
    for (link, to) in [
        ("work/.venv", "v"),
        ("work/venv/share", "v/share"),
        ("work/env/share/jupyter/kernels", "v/share/jupyter/kernels"),
        ("work/env/share/jupyter/kernels/other", "v/share/jupyter/kernels/other"),
    ] {
        let machine = Machine::new()
            .program("other/bin/tool")
            .file("other/lib/secret", "")
            .spec("v", "other", other)
            .link(link, to);
        let all = machine.find(&[]);
        let shows = |all: &Interpreters| {
            all.reads().any(|path| path.starts_with(machine.root.join("other")))
        };
        assert!(!shows(&all), "{link}");
        let known = all.all().find(|one| one.info.name == "jupyter:other");
        assert!(known.is_none_or(|one| one.interpreter.is_err()), "{link}");
    }
}

#[test]
fn a_spec_that_is_a_link_out_shows_no_folder() {
    let with = r#"{"argv": ["python3", "{resource_dir}/x", "{connection_file}"], "language": "l"}"#;
    let machine = Machine::new()
        .file("secrets/kernel.json", with)
        .link("data/kernels/l", "secrets")
        .spec("py", "fine", &with.replace("\"l\"", "\"f\""));
    let all = machine.find(&[]);
    let why = found(&all, "jupyter:l").unwrap_err();
    assert!(why.contains("is a symbolic link out of"), "{why}");
    assert!(all.reads().all(|path| !path.ends_with("secrets")));
    assert!(all.reads().any(|path| path.ends_with("py/share/jupyter/kernels/fine")));
}

#[test]
fn one_that_is_interrupted_by_message_says_so() {
    let json = PYTHON.replace(
        "\"display_name\"",
        "\"interrupt_mode\": \"message\", \"env\": {\"A\": \"b\"}, \"display_name\"",
    );
    let all = Machine::new().spec("py", "m", &json).find(&[]);
    let spec = found(&all, "jupyter:m").unwrap().spec(&[].into(), Path::new("/"));
    assert_eq!(spec.program, Path::new("/bin/sh"));
    assert_eq!(spec.arguments[2], "/run/interpreter/interpreter-jupyter");
    let launch = spec.arguments.last().unwrap();
    for part in [r#""interrupt":"message""#, r#""A":"b""#, r#""{connection_file}""#] {
        assert!(launch.contains(part), "{launch}");
    }
}
