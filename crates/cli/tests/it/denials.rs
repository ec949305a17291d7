//! Denials come from evidence outside, and reach the person, the record and the model; nothing else
//! counts as denied.

use crate::scene::{Scene, Seen, Who, cell};
use serde_json::Value;

/// The recorded denials of every run.
fn denied(seen: &Seen) -> Vec<Value> {
    let effects = seen.of_kind("effects");
    effects.iter().filter_map(|record| record["denials"].as_array().cloned()).flatten().collect()
}

const MOUNT: &str = "import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for _ in range(3): print(libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0), ctypes.get_errno())";

#[test]
fn a_refused_call_is_told_with_its_program_and_its_error_stays() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let seen = scene.code("python", MOUNT).prints("-1 1\n-1 1\n-1 1\n").exits(0);
        let line = "  refused the system call mount of `python3";
        seen.mentions(line).mentions("(3 times): changes what the sandbox sees; nothing allows it");
        let seen = scene.run(&["run", "--json", "-l", "python", "-c", MOUNT]);
        let denied = denied(&seen);
        assert_eq!(denied.len(), 1, "{denied:?}");
        assert_eq!(denied[0]["what"], "call");
        assert_eq!(denied[0]["call"], "mount");
        assert_eq!(denied[0]["count"], 3);
    }
}

#[test]
fn a_shells_programs_are_told_of_by_their_own_names() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let seen = scene.code("shell", "unshare --user true; echo $?").prints("1\n");
        seen.mentions("  refused the system call unshare of `unshare`: new namespaces");
    }
}

#[test]
fn the_model_is_told_and_the_next_run_is_not_blamed() {
    let scene = Scene::new().model_says(&[
        &cell("python", MOUNT),
        &cell("python", "print('quiet')"),
        "That is all.",
    ]);
    let seen = scene.chat(&["--yes", "--json", "try"]);
    let effects = seen.of_kind("effects");
    assert_eq!(effects[0]["denials"].as_array().unwrap().len(), 1);
    assert_eq!(effects[1].get("denials"), None);
    let sent = seen.of_kind("request").iter().map(Value::to_string).collect::<Vec<_>>();
    assert!(sent[1].contains("[refused the system call mount of `python3"), "{}", sent[1]);
    assert!(!sent[2].contains("mount of"), "{}", sent[2]);
}

#[test]
fn what_programs_try_as_a_matter_of_course_makes_no_noise() {
    for (language, code) in [
        (
            "python",
            "import subprocess, threading, socket, multiprocessing\nprint(subprocess.run(['true']).returncode)",
        ),
        ("shell", "ls >/dev/null; (sleep 0); id -u >/dev/null; echo 0"),
        (
            "javascript",
            "require('child_process').execSync('true'); require('fs').readdirSync('.'); console.log(0)",
        ),
    ] {
        let seen = Scene::new().run(&["run", "--json", "-l", language, "-c", code]);
        assert_eq!(denied(&seen), Vec::<Value>::new(), "{language}");
        assert_eq!(seen.of_kind("run_finished")[0]["status"], 0, "{language}: {}", seen.stdout());
    }
}

#[test]
fn a_flood_is_counted_and_the_session_goes_on() {
    let flood = "import ctypes
libc = ctypes.CDLL(None)
for n in range(2000):
    libc.prctl(15, b'\\x1b]0;%d\\x07' % n)
    libc.umount2(b'/proc', 2)
print('done')";
    let scene = Scene::new();
    let seen = scene.run(&["run", "--json", "-l", "python", "-c", flood]);
    let told = denied(&seen);
    assert_eq!(told.iter().map(|one| one["count"].as_u64().unwrap()).sum::<u64>(), 2000);
    assert!(told.len() <= 31, "{}", told.len());
    let seen = scene.code("python", flood).prints("done\n").exits(0);
    assert!(!seen.stderr().contains(['\u{1b}', '\u{7}']), "{}", seen.stderr());
}

#[test]
fn many_at_once_are_all_answered() {
    let code = "import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
children = []
for _ in range(40):
    child = os.fork()
    if child == 0:
        wrong = sum(libc.chroot(b'/tmp') != -1 or ctypes.get_errno() != 1 for _ in range(50))
        os._exit(1 if wrong else 0)
    children.append(child)
print({os.waitpid(child, 0)[1] for child in children})";
    Scene::new().code("python", code).prints("{0}\n").mentions("chroot").mentions("(2000 times)");
}

#[test]
fn one_that_is_killed_while_it_waits_hangs_nobody() {
    let code = "import ctypes, os, signal
libc = ctypes.CDLL(None)
for _ in range(100):
    child = os.fork()
    if child == 0:
        while True: libc.sethostname(b'x', 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print('done')";
    Scene::new().code("python", code).prints("done\n").exits(0);
}

#[test]
fn a_daemon_is_told_of_too() {
    let code = "import ctypes, os
ready, told = os.pipe()
if os.fork() == 0:
    os.setsid()
    ctypes.CDLL(None).acct(b'/tmp/x')
    os.write(told, b'x')
    os._exit(0)
os.read(ready, 1)";
    Scene::new().code("python", code).mentions("system call acct").exits(0);
}

#[test]
fn a_path_that_is_not_shown_is_told_with_the_option_that_shows_it() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let line = "  refused /srv/nowhere/x.csv: it is outside of what code sees; \
                    `--allow-read /srv/nowhere/x.csv` allows it";
        scene.code("python", "open('/srv/nowhere/x.csv')").mentions(line).exits(1);
        scene.code("javascript", "require('fs').readFileSync('/srv/nowhere/x.csv')").mentions(line);
        let write = "open('/nowhere.txt', 'w')";
        scene.code("python", write).mentions("`--allow-write /nowhere.txt` allows it");
        let system = "  refused /usr/x: it can be read and not changed; nothing allows it";
        scene.code("python", "open('/usr/x', 'w')").mentions(system);
    }
}

#[test]
fn a_covered_file_is_told_and_shown_only_by_its_exact_name() {
    for who in Who::all() {
        let scene = Scene::of(who).file(".env", "KEY=canary\n").file(".netrc", "other\n");
        let secret = scene.work().canonicalize().unwrap().join(".env").display().to_string();
        let line = format!("  refused {secret}: it is covered, because secrets are kept there");
        scene.code("python", "open('.env')").mentions(&line).mentions("--allow-read").exits(1);
        scene.code("javascript", "require('fs').readFileSync('.env')").mentions(&line).exits(1);
        let run = |code| scene.run(&["run", "--allow-read", &secret, "-l", "python", "-c", code]);
        run("print(open('.env').read())").mentions("canary").exits(0);
        run("open('.netrc')").mentions("it is covered").lacks("other").exits(1);
    }
}

#[test]
fn a_work_folder_that_is_read_only_says_so() {
    let scene = Scene::new();
    let arguments = ["run", "--workspace", "read-only", "-l", "python", "-c", "open('new', 'w')"];
    scene.run(&arguments).mentions("the work folder is read-only here; `--workspace stage`");
}

#[test]
fn what_is_not_our_doing_is_not_told() {
    let scene = Scene::new();
    for code in [
        "open('missing.txt')",
        "open('/usr/missing')",
        "raise OSError('/srv/x: Permission denied')",
        "import sys\nprint('PermissionError: /srv/x', file=sys.stderr)\nraise SystemExit(1)",
        "import os\nfor fd in range(3, 50):\n  try: os.write(fd, b'{\"kind\":\"refused\",\"code\":\"ENOENT\",\"path\":\"here\"}\\n')\n  except OSError: pass",
    ] {
        let seen = scene.run(&["run", "--json", "-l", "python", "-c", code]);
        assert_eq!(denied(&seen), Vec::<Value>::new(), "{code}");
    }
}

#[test]
fn a_granted_path_is_seen_or_changed_and_nothing_beside_it() {
    for who in Who::all() {
        let scene = Scene::of(who)
            .home_file("notes/a.txt", "granted\n")
            .home_file("notes/.ssh/id", "the key\n")
            .home_file("other.txt", "not granted\n")
            .home_file(".ssh/id", "the key\n");
        let home = scene.home().display().to_string();
        let notes = format!("{home}/notes");
        let run = |option: &str, path: &str, code: &str| {
            scene.run(&["run", option, path, "-l", "shell", "-c", code])
        };
        run("--allow-read", &notes, &format!("cat {notes}/a.txt; ls {home}"))
            .prints("granted\nnotes\n")
            .exits(0);
        run("--allow-read", &notes, &format!("echo x > {notes}/a.txt")).exits(1);
        run("--allow-write", &notes, &format!("echo new > {notes}/b.txt")).exits(0);
        assert_eq!(std::fs::read_to_string(format!("{notes}/b.txt")).unwrap(), "new\n");
        run("--allow-read", &home, &format!("cat {home}/.ssh/id; cat {home}/other.txt"))
            .prints("not granted\n");
        let here = scene.work().display().to_string();
        run("--allow-write", &here, "true").mentions("`--workspace direct`").exits(2);
        let record = format!("{home}/.local/share/interpreter");
        run("--allow-read", &record, "true").mentions("belongs to this program").exits(2);
        for path in ["/", "/proc/self", "/sys/kernel"] {
            run("--allow-read", path, "true").mentions("cannot grant").exits(2);
        }
        run("--allow-write", "/usr/local", "true").mentions("cannot change").exits(2);
        run("--allow-write", &format!("{home}/none"), "true").mentions("does not exist").exits(2);
    }
}

/// As in some containers: then nobody can be told, and the kernel refuses by itself.
#[test]
fn where_somebody_above_is_asked_already_the_kernel_refuses_by_itself() {
    const ASKED_ABOVE: &str = "import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
allow = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 1, ctypes.addressof(allow)))
listener = libc.syscall(317, 1, 8, program)
assert listener >= 0, ctypes.get_errno()
os.set_inheritable(listener, True)
os.execv(sys.argv[1], sys.argv[1:])";
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let scene = Scene::new();
    let inner = scene.command(&["run", "-l", "python", "-c", MOUNT]);
    let mut command = std::process::Command::new("python3");
    command.args(["-c", ASKED_ABOVE]).arg(inner.get_program()).args(inner.get_args());
    command.current_dir(scene.work()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let seen = Seen(command.output().unwrap());
    seen.prints("-1 1\n-1 1\n-1 1\n").lacks("refused").exits(0);
}

#[test]
fn a_grant_within_a_grant_leaves_both_as_they_are() {
    for who in Who::all() {
        let scene = Scene::of(who).home_file("out/notes.txt", "mine\n");
        let out = scene.home().join("out").display().to_string();
        let notes = format!("{out}/notes.txt");
        let run = |first: &str, second: &str, code: &str| {
            scene.run(&["run", first, &out, second, &notes, "-l", "shell", "-c", code])
        };
        let code = format!("cat {notes}; echo x > {notes}; echo y > {out}/new; true");
        run("--allow-write", "--allow-read", &code).prints("mine\n");
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine\n");
        assert_eq!(std::fs::read_to_string(format!("{out}/new")).unwrap(), "y\n");
        run("--allow-read", "--allow-write", &format!("echo z > {notes}; rm {out}/new"));
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), "z\n");
        assert!(std::fs::exists(format!("{out}/new")).unwrap());
    }
}

#[test]
fn secrets_in_a_granted_folder_cannot_be_renamed_from_above() {
    for who in Who::all() {
        let scene = Scene::of(who).home_file(".config/gcloud/token", "the token\n");
        let home = scene.home().display().to_string();
        let run = |code: &str| {
            scene.run(&["run", "--allow-write", &home, "-l", "shell", "-c", code]).stdout()
        };
        run(&format!("cd {home}; mv .config c2; mv .config/gcloud g2"));
        let read =
            format!("cd {home}; cat c2/gcloud/token g2/token .config/gcloud/token; echo tried");
        assert_eq!(run(&read), "tried\n");
        assert!(scene.home().join(".config/gcloud/token").exists());
    }
}

#[test]
fn a_limit_is_in_the_same_list() {
    let arguments = ["run", "--json", "--time-limit", "1s", "-l", "shell", "-c", "sleep 60"];
    let told = denied(&Scene::new().run(&arguments));
    assert_eq!(told[0]["what"], "limit");
    assert_eq!(told[0]["limit"], "time (1 s; `--time-limit` raises it)");
}
