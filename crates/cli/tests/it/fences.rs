//! Each fence by itself: with it the attack fails, and without it the same attack succeeds.

use crate::scene::{Scene, binary};
use interpreter_jail::{JAIL, Plan, Step, encode, landlock_version};
use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Output, Stdio},
};

/// Becomes a jail of these steps and then a shell that does `code`.
fn confined(mut steps: Vec<Step>, code: &str) -> Output {
    steps.push(Step::Execute {
        program: "/bin/sh".into(),
        arguments: ["sh", "-c", code].map(String::from).into(),
    });
    let mut child = Command::new(binary())
        .arg0(JAIL)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&encode(&Plan(steps))).unwrap();
    child.wait_with_output().unwrap()
}

fn landlock(writable: &Path) -> Vec<Step> {
    vec![Step::NoNewPrivileges, Step::Landlock { writable: vec![writable.to_owned()] }]
}

#[test]
fn landlock_alone_keeps_writes_inside() {
    if landlock_version().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let outside = folder.path().join("outside");
    std::fs::write(&outside, "mine").unwrap();
    // Each overwrites, truncates, removes, renames or links around the fence.
    for attack in
        ["echo theirs > {o}", ": > {o}", "rm {o}", "mv {o} {i}/x", "ln {o} {i}/x", "mkdir {o}.d"]
    {
        let code = attack
            .replace("{o}", outside.to_str().unwrap())
            .replace("{i}", inside.to_str().unwrap());
        let refused = confined(landlock(&inside), &code);
        assert!(!refused.status.success(), "{attack} was not refused");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine", "{attack}");
        // Without the fence the same works.
        let done = confined(vec![Step::NoNewPrivileges], &code);
        assert!(done.status.success(), "{attack}: {}", String::from_utf8_lossy(&done.stderr));
        std::fs::remove_dir_all(folder.path().join("outside.d")).unwrap_or_default();
        std::fs::remove_file(inside.join("x")).unwrap_or_default();
        std::fs::write(&outside, "mine").unwrap();
    }
    let inside = format!("echo fine > {}/file", inside.display());
    assert!(confined(landlock(&folder.path().join("inside")), &inside).status.success());
}

#[test]
fn landlock_alone_keeps_signals_inside() {
    if landlock_version().is_none_or(|version| version < 6) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut victim = Command::new("sleep").arg("1000").spawn().unwrap();
    let code = format!("kill -0 {}", victim.id());
    assert!(!confined(landlock(folder.path()), &code).status.success());
    assert!(confined(vec![Step::NoNewPrivileges], &code).status.success());
    victim.kill().unwrap();
    victim.wait().unwrap();
}

/// Four processes, each within the limit of one, that together want more than all may have.
const HOG: &str = "\
import os, time
children = []
for _ in range(4):
    child = os.fork()
    if not child:
        x = bytearray(200 << 20)
        time.sleep(20)
        os._exit(0)
    children.append(child)
statuses = [os.waitpid(child, 0)[1] for child in children]
print('killed' if 9 in statuses else 'all lived')
";

#[test]
fn a_control_group_bounds_all_processes_together() {
    let scene = Scene::new();
    let small = ["run", "--json", "--memory-limit", "256M", "-l", "python", "-c"];
    let enforced = scene.run(&[&small[..], &["1"]].concat()).exits(0);
    let enforced = enforced.of_kind("run_started")[0]["enforced"].to_string();
    if !enforced.contains("a control group") {
        return;
    }
    let seen = scene.run(&[&small[..], &[HOG]].concat());
    let said = seen.of_kind("note").iter().map(|note| note["text"].to_string()).collect::<String>();
    assert_eq!(seen.of_kind("output")[0]["text"], "killed\n");
    assert!(said.contains("together reached the limit on memory (256M"), "{said}");
    // With room for all of them they live.
    let code = HOG.replace("time.sleep(20)", "time.sleep(0)");
    let large = ["run", "--memory-limit", "2G", "-l", "python", "-c", &code];
    scene.run(&large).prints("all lived\n").exits(0);
}
