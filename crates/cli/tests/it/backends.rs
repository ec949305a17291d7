//! Every backend: what runs on it, what is left of it, and when it may be used. The attacks on each
//! are in [`crate::attacks`].

use crate::{
    engines::people,
    scene::{Scene, Who, cell, without},
    terminal::Terminal,
};
use interpreter_core::{Backend, Promise};
use std::process::Command;

pub(crate) const NATIVE: Backend = Backend::named("native");
pub(crate) const BUBBLEWRAP: Backend = Backend::named("bubblewrap");
pub(crate) const PODMAN: Backend = Backend::named("podman");
pub(crate) const DOCKER: Backend = Backend::named("docker");
pub(crate) const FIREJAIL: Backend = Backend::named("firejail");
pub(crate) const LANDLOCK: Backend = Backend::named("landlock");

/// The promises that SECURITY.md says a backend does not keep in full, by their numbers.
pub(crate) fn lacks(backend: Backend) -> Vec<u8> {
    let security = include_str!("../../../../SECURITY.md");
    let mut rows = security.lines().filter(|line| line.starts_with("| "));
    let head = rows.find(|line| line.contains(" native ")).unwrap();
    let at = head.split('|').position(|cell| cell.trim() == backend.word()).unwrap();
    let numbered = rows.filter_map(|row| {
        let mut cells = row.split('|').map(str::trim);
        let number: u8 = cells.nth(1)?.split('.').next()?.parse().ok()?;
        let kept = row.split('|').nth(at)?.trim().starts_with("yes");
        Some((number, kept))
    });
    numbered.filter(|(_, kept)| !kept).map(|(number, _)| number).collect()
}

pub(crate) fn is_installed(backend: Backend) -> bool {
    let program = match backend {
        BUBBLEWRAP => "/usr/bin/bwrap",
        FIREJAIL => "/usr/bin/firejail",
        LANDLOCK => {
            return interpreter_jail::landlock_version().is_some_and(|version| version >= 6);
        }
        DOCKER | PODMAN => return !people(backend).is_empty(),
        _ => return true,
    };
    std::path::Path::new(program).exists()
}

/// The backends available here, each with a user it is for.
pub(crate) fn present() -> impl Iterator<Item = (Backend, Who)> {
    let all = Backend::ALL.into_iter().filter(|&backend| is_installed(backend));
    all.flat_map(|backend| Who::all_for(backend).into_iter().map(move |who| (backend, who)))
}

#[test]
fn code_runs_on_every_backend() {
    for (backend, who) in present() {
        let scene = Scene::of(who).file("here.txt", "visible\n");
        let python = "import os, subprocess, tempfile, threading\n\
            print(open('here.txt').read(), end='')\n\
            with tempfile.NamedTemporaryFile('w') as f: f.write('x')\n\
            print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout, end='')\n\
            open(os.path.expanduser('~/f'), 'w').write('y')\n\
            t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()";
        let seen = scene.code_on(backend, "python", python).exits(0);
        assert_eq!(seen.stdout(), "visible\nchild\nthread\n", "{backend} as {who:?}");
        let shell = "cat here.txt <(echo sub) | wc -l; cd ~ && pwd > w && test -s w && echo home";
        scene.code_on(backend, "shell", shell).prints("2\nhome\n").exits(0);
        scene.code_on(backend, "javascript", "console.log(6 * 7)").prints("42\n").exits(0);
        // Output for a program to read stays exact.
        scene.code_on(backend, "shell", "exit 3").exits(3);
    }
}

#[test]
fn firejail_starts_whatever_the_login_shell_is() {
    if !is_installed(FIREJAIL) {
        return without("firejail");
    }
    let people = Who::with_login_shells();
    if people.is_empty() {
        return eprintln!("not tried: no accounts; `scripts/test`, run as root, makes them");
    }
    for (who, shell) in people {
        let seen = Scene::of(who).code_on(FIREJAIL, "shell", "echo started");
        assert_eq!(seen.stdout(), "started\n", "with {shell}: {}", seen.stderr());
    }
}

#[test]
fn code_writes_the_folder_and_nothing_beside_it() {
    for (backend, who) in present() {
        if matches!(backend, NATIVE | Backend::NONE) || who.is_root() {
            continue;
        }
        let scene = Scene::of(who).home_file("mine.txt", "mine\n").file("here.txt", "old\n");
        let mine = scene.home().join("mine.txt");
        let attack = "echo new > here.txt; cp here.txt copy; for f in MINE OTHER; do echo theirs > $f; \
                      rm $f; mv copy $f; ln -f here.txt $f; truncate -s 0 $f; done 2>/dev/null; \
                      for how in ln mv cp; do $how MINE stolen 2>/dev/null && cat stolen; done; true";
        let other = scene.home().join("other.txt");
        let attack = attack.replace("MINE", mine.to_str().unwrap());
        let attack = attack.replace("OTHER", other.to_str().unwrap());
        scene.code_on(backend, "shell", &attack).prints("").exits(0);
        assert_eq!(scene.read("here.txt").as_deref(), Some("new\n"), "{backend}");
        assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine\n", "{backend}");
        assert!(!other.exists(), "{backend}");
    }
}

#[test]
fn a_read_only_folder_stays_as_it_is_and_secrets_in_it_are_not_read() {
    for (backend, who) in present() {
        if matches!(backend, NATIVE | Backend::NONE) {
            continue;
        }
        let scene = Scene::of(who).file("here.txt", "old\n").file(".env", "KEY=canary\n");
        let code = "cat here.txt; ls -A | grep -q here && echo listed; cat .env; echo x > new; \
                    echo x > here.txt; rm here.txt; true";
        let mut on = scene.on(backend);
        *on.last_mut().unwrap() = "read-only";
        let seen = scene.run(&[&["run"], &on[..], &["-l", "shell", "-c", code]].concat());
        let seen = seen.lacks("canary");
        assert_eq!(seen.stdout(), "old\nlisted\n", "{backend}");
        assert_eq!(scene.read("here.txt").as_deref(), Some("old\n"), "{backend}");
        assert_eq!(scene.read("new"), None, "{backend}");
    }
}

fn number(backend: Backend) -> usize {
    Backend::ALL.iter().position(|one| *one == backend).unwrap()
}

fn running(mark: &str) -> String {
    let found = Command::new("pgrep").args(["-f", mark]).output().unwrap();
    String::from_utf8_lossy(&found.stdout).into_owned()
}

#[test]
fn nothing_is_left_running_on_any_backend() {
    for (backend, who) in present() {
        let scene = Scene::of(who);
        let mark = format!("87{}{}", std::process::id(), number(backend));
        let code =
            format!("(setsid sleep {mark} &) ; nohup sleep {mark} >/dev/null 2>&1 & echo left");
        scene.code_on(backend, "shell", &code).prints("left\n").exits(0);
        assert_eq!(running(&mark), "", "still running on {backend}");
        assert!(!scene.data().join("sandboxes").exists_with_entries(), "{backend}");
    }
}

trait Entries {
    fn exists_with_entries(&self) -> bool;
}

impl Entries for std::path::PathBuf {
    fn exists_with_entries(&self) -> bool {
        std::fs::read_dir(self).is_ok_and(|mut entries| entries.next().is_some())
    }
}

#[test]
fn code_that_kills_the_host_takes_everything_with_it() {
    for (backend, who) in present() {
        let scene = Scene::of(who);
        let mark = format!("88{}{}", std::process::id(), number(backend));
        // A stopped host follows no request any more.
        for signal in ["KILL", "STOP"] {
            let code = format!(
                "(setsid sleep {mark} &); kill -{signal} $PPID; kill -{signal} -1; sleep {mark}"
            );
            let code = match backend {
                // There it would reach everything of this user's.
                Backend::NONE => code.replace(&format!("kill -{signal} -1; "), ""),
                _ => code,
            };
            let run = [&["run", "--time-limit", "2s"], &scene.on(backend)[..]].concat();
            scene.run(&[&run[..], &["-l", "shell", "-c", &code]].concat());
            assert_eq!(running(&mark), "", "still running on {backend} after {signal}");
        }
    }
}

#[test]
fn a_weaker_sandbox_is_refused_unless_its_lacks_are_named() {
    let scene = Scene::of(Who::unprivileged());
    let run = |backend: Backend, more: &[&str]| {
        let all = [&["run", "--sandbox", backend.word(), "--workspace", "read-only"], more];
        scene.run(&[&all.concat()[..], &["-l", "shell", "-c", "echo ran"]].concat())
    };
    for backend in [LANDLOCK, BUBBLEWRAP] {
        let seen =
            run(backend, &[]).lacks("ran\n").mentions("keeps less than is promised").exits(4);
        assert!(seen.stderr().contains("--allow-missing network,"), "{}", seen.stderr());
        let some = run(backend, &["--allow-missing", "limits"]);
        some.lacks("ran\n").lacks("limits: ").exits(4);
    }
    if is_installed(BUBBLEWRAP) {
        let all = ["--allow-missing", "network,limits"];
        run(BUBBLEWRAP, &all).prints("ran\n").exits(0);
    }
    // A promise is let go of by its name, and there is no word for all of them.
    scene.run(&["run", "--allow-missing", "all", "-l", "shell", "-c", "1"]).exits(2);
}

#[test]
fn no_sandbox_must_be_asked_for_by_the_person() {
    let none = "[sandbox]\nbackend = \"none\"\n";
    let own = "workspace = \"direct\"\n[sandbox]\nbackend = \"none\"\n";
    // Not by a project.
    let project = Scene::new().file(".interpreter/config.toml", none);
    project.code("shell", "echo ran").lacks("ran\n").mentions("only tighten").exits(2);
    // Not by the environment.
    let named = Scene::new().variable("INTERPRETER_SANDBOX", "none");
    let seen = named.run(&["run", "--json", "-l", "shell", "-c", "echo ran"]).exits(0);
    assert_eq!(seen.of_kind("run_started")[0]["backend"], "native");
    // By their own file, and then it says so.
    let asked = Scene::new().home_file(".config/interpreter/config.toml", own);
    asked.code("shell", "echo ran").prints("ran\n").mentions("NO SANDBOX").exits(0);
    // Nothing is staged there, and that is not passed over.
    let typed = Scene::new();
    let run = ["run", "--sandbox", "none", "-l", "shell", "-c", "echo ran"];
    typed.run(&run).lacks("ran\n").mentions("--workspace direct").exits(4);
}

#[test]
fn records_say_which_sandbox_it_was_and_what_it_lacks() {
    let run =
        ["run", "--json", "--sandbox", "none", "--workspace", "direct", "-l", "shell", "-c", "id"];
    let seen = Scene::new().run(&run).exits(0);
    let started = &seen.of_kind("run_started")[0];
    assert_eq!(started["backend"], "none");
    assert!(started["missing"][0].as_str().unwrap().starts_with("network in full, because"));
}

#[test]
fn without_a_sandbox_every_screen_says_so() {
    let scene = Scene::new().model_says(&[&cell("shell", "echo ran"), "Done."]);
    let terminal = Terminal::open(&scene, &["--sandbox", "none", "--workspace", "direct"]);
    terminal.shows("Code runs WITHOUT A SANDBOX:").shows("NO SANDBOX >").types("go");
    terminal.shows("risk").shows("WITHOUT A SANDBOX: all your permissions").shows("NO SANDBOX ?");
    terminal.types("y").shows("NO SANDBOX: the code has all your permissions").shows("ran");
}

/// The program where user namespaces are refused.
pub(crate) fn where_namespaces_are_refused(
    scene: &Scene,
    arguments: &[&str],
) -> std::process::Output {
    let inner = scene.command(arguments);
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-user=1000", "--map-group=1000", "--keep-caps", "/bin/sh", "-c"])
        .arg("echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all \"$@\"")
        .arg("sh")
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(scene.work())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    scene.as_its_user(&mut command).output().unwrap()
}

#[test]
fn where_namespaces_are_refused_landlock_serves_if_its_lacks_are_named() {
    if !is_installed(LANDLOCK) {
        return;
    }
    let scene = Scene::of(Who::unprivileged());
    let run = ["run", "--json", "--workspace", "read-only"];
    let code = ["-l", "shell", "-c", "echo ran"];
    let refused = where_namespaces_are_refused(&scene, &[&run[..], &code].concat());
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{said}");
    for part in ["can be built here:\\n  native: ", "\\n  landlock: does not fully keep "] {
        assert!(said.contains(part), "{said}");
    }
    let all = Promise::ALL.map(Promise::word).join(",");
    let allow = ["--allow-missing", &all];
    let served = where_namespaces_are_refused(&scene, &[&run[..], &allow, &code].concat());
    let said = String::from_utf8_lossy(&served.stdout).into_owned();
    assert_eq!(served.status.code(), Some(0), "{said}");
    assert!(said.contains("\"backend\":\"landlock\"") && said.contains("ran\\n"), "{said}");
}

/// Root as in most containers: it can become another user, and make no mounts.
#[test]
fn as_root_in_a_container_landlock_serves_if_its_lacks_are_named() {
    if !is_installed(LANDLOCK) || !rustix::process::geteuid().is_root() {
        return;
    }
    let scene = Scene::new().file("here.txt", "visible\n");
    let all = Promise::ALL.map(Promise::word).join(",");
    let run = |more: &[&str]| {
        let code = ["-l", "shell", "-c", "id -u; cat here.txt /etc/shadow; echo x > new"];
        let arguments = [&["run", "--json"], more, &code].concat();
        let inner = scene.command(&arguments);
        let mut command = Command::new("setpriv");
        command.arg("--bounding-set=-sys_admin,-net_admin").arg(inner.get_program());
        command.args(inner.get_args()).current_dir(scene.work()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (status, said) = run(&["--allow-missing", &all]);
    assert_eq!(status, Some(4), "{said}");
    assert!(said.contains("without the right to make mounts"), "{said}");
    let (_, said) = run(&["--allow-missing", &all, "--workspace", "read-only"]);
    assert!(said.contains("\"backend\":\"landlock\""), "{said}");
    assert!(said.contains("1879048192\\n") && said.contains("visible\\n"), "{said}");
    assert!(!said.contains("root:") && scene.read("new").is_none(), "{said}");
}

#[test]
fn the_steps_of_every_backend_can_be_read() {
    let scene = Scene::of(Who::unprivileged());
    let all = Promise::ALL.map(Promise::word).join(",");
    for backend in [BUBBLEWRAP, LANDLOCK, Backend::NONE] {
        if !is_installed(backend) {
            continue;
        }
        let run = ["run", "--sandbox", backend.word(), "--allow-missing", &all];
        let rest = ["--workspace", "direct", "--explain", "-l", "shell", "-c", "echo ran"];
        let seen = scene.run(&[&run[..], &rest].concat()).exits(0);
        let bare = scene.run(&[&run[..3], &rest].concat());
        if backend != Backend::NONE {
            bare.mentions("hint: `--allow-missing network").exits(4);
        }
        seen.mentions("become ").mentions("not fully kept: network, because").lacks("ran\n");
    }
}
