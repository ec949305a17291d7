//! Properties of a sandbox that are no single attack: code that must work inside, cases where
//! nothing may run, secrets that stay hidden, bounded output. The attacks are in
//! [`crate::attacks`].

use crate::scene::{Scene, Who};

#[test]
fn what_is_promised_to_work_works() {
    for who in Who::all() {
        let scene = Scene::of(who).file("here.txt", "visible\n");
        let loopback = "import socket, threading\n\
            server = socket.create_server(('127.0.0.1', 0))\n\
            client = socket.create_connection(server.getsockname())\n\
            inside, _ = server.accept(); client.send(b'hi'); print(inside.recv(2).decode())";
        scene.code("python", loopback).prints("hi\n").exits(0);
        scene.code("shell", "cat here.txt; echo x > /tmp/t && cat /tmp/t").prints("visible\nx\n");
        scene.code("shell", "cd ~ && echo y > f && cat f; hostname").prints("y\nsandbox\n");
        let threads =
            "import threading\nt = threading.Thread(target=print, args=(1,)); t.start(); t.join()";
        scene.code("python", threads).prints("1\n").exits(0);
    }
}

#[test]
fn no_mount_gives_privileges() {
    let code = "grep -v -e nosuid /proc/mounts; echo looked";
    for who in Who::all() {
        Scene::of(who).code("shell", code).prints("looked\n").exits(0);
    }
}

#[test]
fn when_the_session_ends_nothing_is_left() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let mark = format!("86{}", std::process::id());
        let code =
            format!("(setsid sleep {mark} &) ; nohup sleep {mark} >/dev/null 2>&1 & echo left");
        scene.code("shell", &code).prints("left\n").exits(0);
        let running = std::process::Command::new("pgrep").args(["-f", &mark]).output().unwrap();
        let running = String::from_utf8_lossy(&running.stdout).into_owned();
        assert_eq!(running, "", "still running");
    }
}

#[test]
fn where_it_cannot_confine_it_runs_nothing() {
    // In a namespace where no further ones are allowed, the sandbox cannot be built.
    let scene = Scene::of(Who::Ordinary);
    let mut inner = scene.command(&["run", "-l", "shell", "-c", "echo ran"]);
    let program = inner.get_program().to_owned();
    let mut command = std::process::Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "/bin/sh", "-c"])
        .arg("echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"")
        .arg("sh")
        .arg(program)
        .args(["run", "-l", "shell", "-c", "echo ran"])
        .current_dir(scene.work())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if rustix::process::geteuid().is_root() {
        use std::os::unix::process::CommandExt;
        command.uid(64_321).gid(64_321);
    }
    inner.env_clear();
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("can be built here:\n  native: "), "{said}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("ran"));
}

#[test]
fn secrets_stay_covered_however_the_home_is_spelled() {
    for who in Who::all() {
        let scene = Scene::of(who)
            .home_file(".ssh/id_ed25519", "the key\n")
            .home_file("dot/ssh/id", "the other key\n");
        std::os::unix::fs::symlink("dot/ssh", scene.home().join(".gnupg")).unwrap();
        std::os::unix::fs::symlink(scene.home(), scene.work().join("link")).unwrap();
        let code = "cat .ssh/id_ed25519 .gnupg/id dot/ssh/id .local/share/interpreter/record.db \
                    /run/interpreter/lower/.ssh/id_ed25519 2>/dev/null; echo tried";
        let dotted = format!("{}/../home", scene.home().display());
        for home in [scene.home(), scene.work().join("link"), dotted.into()] {
            let mut command = scene.command(&["run", "-l", "shell", "-c", code]);
            let output = command.current_dir(scene.home()).env("HOME", &home).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said, "tried\n", "with HOME={}: {errors}", home.display());
        }
    }
}

#[test]
fn what_is_covered_cannot_be_renamed_from_above() {
    for who in Who::all() {
        let scene = Scene::of(who).home_file(".config/gcloud/token", "the token\n");
        let run = |code: &str| {
            let run = ["run", "--workspace", "direct", "-l", "shell", "-c", code];
            let output = scene.command(&run).current_dir(scene.home()).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        run("mv .config c2; mv .config/gcloud g2");
        assert_eq!(run("cat c2/gcloud/token g2/token .config/gcloud/token; echo tried"), "tried\n");
    }
}

#[test]
fn output_is_bounded_in_every_field() {
    let scene = Scene::new().file(".interpreter/config.toml", "[limits]\noutput = \"1M\"\n");
    let code = "import json, os\nfor n in range(20):\n  line = json.dumps({'kind': 'result', 'mime': 'x' * (1 << 20), 'data': ''}) + '\\n'\n  os.write(40, line.encode())";
    scene.code("python", code);
    let size = std::fs::metadata(scene.data().join("record.db")).unwrap().len();
    assert!(size < 8 << 20, "the record has {size} bytes");
    scene.code("shell", "yes").mentions("limit on output").exits(1);
}

#[test]
fn no_path_is_printed_raw() {
    let scene = Scene::new();
    let folder = scene.work().join("ev\u{1b}]0;PWN\u{7}il\nyes");
    std::fs::create_dir(&folder).unwrap();
    for arguments in
        [&["run", "--explain", "-l", "python", "-c", "1"][..], &["doctor"], &["changes"]]
    {
        let output = scene.command(arguments).current_dir(&folder).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(!said.contains(&0x1b) && !said.contains(&7), "{arguments:?}");
    }
}
