//! Environments that are as they should be, and those that a stranger has made.

use super::{super::tests::*, *};
use crate::interpreters::Interpreter;
use interpreter_core::project_code::ProjectCode;

/// A home with a Python of a manager's, one in `PATH`, and a project in `work`.
fn home() -> Home {
    Home::new()
        .program(".pyenv/versions/3.12.1/bin/python3.12", ELF)
        .folder(".pyenv/versions/3.12.1/lib")
        .program("in-path/bin/python3.11", ELF)
        .folder("in-path/lib")
        .link("in-path/bin/python3", "in-path/bin/python3.11")
        .folder("work")
        .file(".ssh/id", "sk-canary")
}

/// An environment below `work` that says it was made by the Python in `of`.
fn environment(home: Home, at: &str, of: &str, version: &str) -> Home {
    let said = home.root.join(of);
    let short = version.rsplit_once('.').unwrap().0;
    let packages = format!("{at}/lib/python{short}/site-packages");
    home.file(
        &format!("{at}/pyvenv.cfg"),
        format!("home = {}\nVersion = {version}\n", said.display()),
    )
    .folder(&packages)
    .program(&format!("{at}/bin/python3"), ELF)
}

fn python(home: &Home, activated: &Activated) -> Interpreter {
    let path = ["in-path/bin"];
    found(&home.find_activated(&path, "work", activated, &[]), "python").clone()
}

fn nothing() -> Activated {
    Activated::default()
}

#[test]
fn the_projects_environment_is_entered_by_an_interpreter_that_is_known() {
    for (of, version, program, shown) in [
        (".pyenv/versions/3.12.1/bin", "3.12.1", ".pyenv/versions/3.12.1/bin/python3.12", true),
        ("in-path/bin", "3.11.2", "in-path/bin/python3.11", true),
        // Another of the same version.
        (".ssh", "3.11.9", "in-path/bin/python3.11", true),
        ("nowhere/bin", "3.11.9", "in-path/bin/python3.11", true),
    ] {
        let home = environment(home(), "work/.venv", of, version);
        let python = python(&home, &nothing());
        assert_eq!(python.program.clone().unwrap(), home.root.join(program), "{of}");
        let inside = python.virtual_environment.clone().map(|one| one.folder);
        assert_eq!(inside.is_some(), shown);
        assert_eq!(inside, Some(home.root.join("work/.venv")));
        let spec = python.spec(&std::collections::BTreeMap::new(), Path::new("/"));
        assert_eq!(spec.arguments[..3], ["-I", "-B", "-S"]);
        assert!(!spec.program.starts_with(home.root.join("work")));
        let prefix = home.root.join(program).parent().unwrap().parent().unwrap().to_owned();
        assert_eq!(python.reads, [prefix]);
    }
}

#[test]
fn what_a_project_names_does_not_become_visible() {
    let evil = |at: &str| home().program(&format!("{at}/python3.11"), ELF).folder("secrets/lib");
    for at in ["secrets/bin", "work/bin", ".ssh/bin", ".pyenv/versions/3.12.1/../../../secrets/bin"]
    {
        let home = environment(evil("secrets/bin"), "work/.venv", at, "3.11.2");
        let python = python(&home, &nothing());
        assert_eq!(python.program.unwrap(), home.root.join("in-path/bin/python3.11"), "{at}");
        assert_eq!(python.reads, [home.root.join("in-path")]);
    }
}

#[test]
fn an_environment_that_cannot_be_used_is_named_with_the_reason() {
    let link = home().folder("elsewhere").link("work/.venv", "elsewhere");
    let link = environment(link, "elsewhere", "in-path/bin", "3.11.2");
    let other = environment(home(), "work/venv", "nowhere", "3.9.1");
    let empty = home().file("work/env/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    let silent = home().file("work/env/pyvenv.cfg", "home = /usr/bin\n");
    let binary = home().file("work/env/pyvenv.cfg", b"\xff\xfe");
    for (home, why) in [
        (link, "it is a symbolic link"),
        (other, "it was made for Python 3.9, which is not installed"),
        (empty, "no `site-packages`"),
        (silent, "does not state its Python version"),
        (binary, "cannot be read"),
    ] {
        let python = python(&home, &nothing());
        assert!(python.note.as_deref().unwrap().contains(why), "{:?}", python.note);
        assert_eq!(python.virtual_environment, None);
        assert_eq!(python.program.unwrap(), home.root.join("in-path/bin/python3.11"));
        assert_eq!(python.reads, [home.root.join("in-path")]);
    }
}

#[test]
fn a_file_that_is_a_link_or_a_pipe_makes_no_environment() {
    let home =
        home().folder("work/.venv").link("work/.venv/pyvenv.cfg", ".ssh/id").folder("work/venv");
    let pipe = home.root.join("work/venv/pyvenv.cfg");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let python = python(&home, &nothing());
    assert_eq!((python.virtual_environment, python.note), (None, None));
}

#[test]
fn the_activated_environment_comes_first() {
    let home = environment(home(), "work/.venv", "in-path/bin", "3.11.2");
    let home = environment(home, "mine", "in-path/bin", "3.11.2");
    fs_err::remove_file(home.root.join("mine/bin/python3")).unwrap();
    let home = home.link("mine/bin/python3", ".pyenv/versions/3.12.1/bin/python3.12");
    let virtual_environment = Some(home.root.join("mine"));
    let one = python(&home, &Activated { virtual_environment, ..Activated::default() });
    assert_eq!(one.virtual_environment.unwrap().folder, home.root.join("mine"));
    assert_eq!(one.program.unwrap(), home.root.join(".pyenv/versions/3.12.1/bin/python3.12"));
    assert_eq!(one.reads, [home.root.join(".pyenv/versions/3.12.1"), home.root.join("mine")]);
    // One that is gone says nothing.
    let virtual_environment = Some(home.root.join("gone"));
    let one = python(&home, &Activated { virtual_environment, ..Activated::default() });
    assert_eq!(one.virtual_environment.unwrap().folder, home.root.join("work/.venv"));
}

#[test]
fn an_activated_conda_comes_before_the_projects_environment() {
    let home = environment(home(), "work/.venv", "in-path/bin", "3.11.2")
        .program("miniconda3/envs/mine/bin/python3.10", ELF)
        .link("miniconda3/envs/mine/bin/python3", "miniconda3/envs/mine/bin/python3.10")
        .folder("miniconda3/envs/mine/lib");
    let conda = Some(home.root.join("miniconda3/envs/mine"));
    let python = python(&home, &Activated { conda, ..Activated::default() });
    assert_eq!(python.virtual_environment, None);
    assert_eq!(python.program.unwrap(), home.root.join("miniconda3/envs/mine/bin/python3.10"));
    assert_eq!(python.reads, [home.root.join("miniconda3/envs/mine")]);
}

#[test]
fn nothing_of_the_projects_is_started_though_path_leads_there() {
    let home = environment(home(), "work/own", "nowhere", "3.9.1");
    let interpreters = home.find(&["work/own/bin", "in-path/bin"], "work", &[]);
    let python = found(&interpreters, "python");
    assert_eq!(python.program.clone().unwrap(), home.root.join("in-path/bin/python3.11"));
    assert!(python.note.as_deref().unwrap().contains("3.9"));
    let home = environment(home, "work/own", "nowhere", "3.11.1");
    let interpreters = home.find(&["work/own/bin", "in-path/bin"], "work", &[]);
    let python = found(&interpreters, "python");
    assert_eq!(python.program.clone().unwrap(), home.root.join("in-path/bin/python3.11"));
    assert_eq!(python.virtual_environment.clone().unwrap().folder, home.root.join("work/own"));
}

#[test]
fn a_program_that_the_person_names_is_the_one() {
    let home = environment(home(), "work/.venv", "in-path/bin", "3.11.2");
    let declared = "driver = 'python'\nprograms = ['~/.pyenv/versions/3.12.1/bin/python3.12']";
    let interpreters = home.find(&["in-path/bin"], "work", &[("python", declared)]);
    let python = found(&interpreters, "python");
    assert!(python.program.clone().unwrap().ends_with("python3.12"));
    assert_eq!(python.virtual_environment, None);
}

#[test]
fn a_home_that_is_an_environment_does_not_become_visible() {
    let home = environment(home(), ".", "in-path/bin", "3.11.2");
    let virtual_environment = Some(home.root.clone());
    let python = python(&home, &Activated { virtual_environment, ..Activated::default() });
    assert!(python.note.unwrap().contains("contains a home"));
    assert_eq!(python.reads, [home.root.join("in-path")]);
    let interpreters = home.find(&["bin"], "work", &[]);
    assert_eq!(found(&interpreters, "python").reads, [home.root.join("bin/python3")]);
}

#[test]
fn programs_of_the_project_do_not_stand_before_those_of_the_system() {
    let plain = environment(home(), "work/.venv", "in-path/bin", "3.11.2")
        .program("work/.venv/bin/pip", b"#!/bin/sh\n")
        .program("work/.venv/bin/a-tool-of-its-own", b"#!/bin/sh\n");
    let bin = plain.root.join("work/.venv/bin");
    let interpreters = plain.find(&["in-path/bin"], "work", &[]);
    assert_eq!(interpreters.folders().next(), Some(bin.clone()));
    assert_eq!(interpreters.last_folders().next(), None);
    let hostile = plain.program("work/.venv/bin/ls", b"#!/bin/sh\n");
    let interpreters = hostile.find(&["in-path/bin"], "work", &[]);
    assert!(!interpreters.folders().any(|folder| folder == bin));
    assert_eq!(interpreters.last_folders().next(), Some(bin));
}

#[test]
fn code_that_came_with_the_project_is_named_unless_the_person_chose_it() {
    let home = environment(home(), "work/.venv", "in-path/bin", "3.11.2");
    let work = home.root.join("work");
    let code = |activated: &Activated| {
        let interpreters = home.find_activated(&["in-path/bin"], "work", activated, &[]);
        let python = interpreters.languages().find("python").unwrap();
        interpreters.project_code(&work).of(&python).map(|one| one.folder().to_owned())
    };
    assert_eq!(code(&nothing()).as_deref(), Some(".venv"));
    let own = Activated { virtual_environment: Some(work.join(".venv")), ..nothing() };
    assert_eq!(code(&own), None);
    // An environment elsewhere is the person's.
    let home = environment(self::home(), "elsewhere", "in-path/bin", "3.11.2");
    let activated =
        Activated { virtual_environment: Some(home.root.join("elsewhere")), ..nothing() };
    let interpreters = home.find_activated(&["in-path/bin"], "work", &activated, &[]);
    assert_eq!(interpreters.project_code(&home.root.join("work")), ProjectCode::default());
}
