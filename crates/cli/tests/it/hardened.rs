//! The program itself while code runs: what others can see of it, and what it hands on.

use crate::scene::{Scene, Who};
use std::{
    io::{BufRead, BufReader},
    os::unix::fs::MetadataExt,
    process::Stdio,
};

#[test]
fn nobody_looks_into_the_program_that_holds_the_keys() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let code = "echo up; sleep 1000";
        let mut child = scene
            .command(&["run", "-l", "shell", "-c", code])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "up\n");
        let ours = std::path::PathBuf::from(format!("/proc/{}", child.id()));
        let limits = std::fs::read_to_string(ours.join("limits")).unwrap();
        let dumps = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
        let dumps: Vec<_> = dumps.split_whitespace().skip(4).take(2).collect();
        assert_eq!(dumps, ["1", "1"]);
        // A process that cannot be dumped belongs to root, whoever runs it.
        assert_eq!(std::fs::metadata(ours.join("environ")).unwrap().uid(), 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// With a limit of 0 the kernel would still start the program that a pattern with a pipe names.
#[test]
fn code_may_dump_one_byte_of_core_which_is_none() {
    let code = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))";
    for who in Who::all() {
        let scene = Scene::of(who);
        scene.code("python", code).prints("(1, 1)\n").exits(0);
        // Other limits come from the sandbox's own plan, so it was asked inside.
        scene.code("python", &code.replace("CORE", "MEMLOCK")).prints("(32768, 32768)\n").exits(0);
    }
}

#[test]
fn loader_variables_do_not_reach_code() {
    let scene = Scene::new()
        .variable("LD_LIBRARY_PATH", "/canary")
        .variable("GLIBC_TUNABLES", "glibc.malloc.check=1");
    let seen = scene.code("shell", "env; cat /proc/1/environ || true");
    seen.lacks("LD_LIBRARY_PATH").lacks("GLIBC_TUNABLES").lacks("/canary").exits(0);
}
