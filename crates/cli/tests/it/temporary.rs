//! `/tmp` and `/var/tmp` as work folders: code sees the person's folder at its path, staged as any
//! other, and has a temporary folder of its own elsewhere.
//!
//! The folders are the test's own, mounted there where nobody else sees them.

use crate::{
    backends::{FIREJAIL, LANDLOCK, present},
    engines::is_engine,
    scene::{Scene, Seen, Who, binary, copy_program},
};
use interpreter_core::Backend;
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Shows what there is, writes there, and uses a temporary file and the home.
const CODE: &str = r#"
cat hello.txt
pwd
echo made > made.txt
python3 -c 'import tempfile; f = tempfile.NamedTemporaryFile(); print(f.name)' | grep -c "^$TMPDIR/"
echo kept > ~/kept && cat ~/kept
case "$TMPDIR" in "$PWD"|"$PWD"/*) echo "temporary files are in the work folder";; esac
ls
"#;

/// A folder of the test's own that stands at `at`, and somebody who works there.
struct There {
    at: &'static str,
    scene: Scene,
    /// Elsewhere than `at`.
    aside: TempDir,
}

impl There {
    fn of(at: &'static str, who: Who) -> Self {
        // Not in /var, from where firejail lets nothing be started.
        let elsewhere = if at == "/tmp" { "/srv" } else { "/tmp" };
        let aside = tempfile::tempdir_in(elsewhere).unwrap();
        let open = |path: &Path, bits| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
        };
        open(aside.path(), 0o755);
        let program = aside.path().join("interpreter");
        copy_program(binary(), &program, "755");
        let there = Self { at, scene: Scene::of(who), aside };
        for folder in [there.home(), there.work()] {
            std::fs::create_dir(&folder).unwrap();
            there.scene.give(&folder);
        }
        open(&there.work(), 0o1777);
        there.scene.put(&there.work().join("hello.txt"), b"hello\n");
        there
    }

    fn home(&self) -> PathBuf {
        self.aside.path().join("home")
    }

    fn work(&self) -> PathBuf {
        self.aside.path().join("work")
    }

    /// Runs the program in the folder `below` of it.
    fn run(&self, below: &str, arguments: &[&str]) -> Seen {
        let script = "mount --bind \"$1\" \"$2\"; cd \"$2/$3\"; shift 3; exec \"$@\"";
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-ec", script, "sh"])
            .arg(self.work())
            .args([self.at, below]);
        if let Some(user) = self.scene.user() {
            let ids = ["reuid", "regid"].map(|word| format!("--{word}={user}"));
            command.arg("setpriv").args(ids).arg("--clear-groups");
        }
        command.arg(self.aside.path().join("interpreter")).args(arguments).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.home());
        Seen(command.output().unwrap())
    }

    /// The names in the person's folder.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.work()).unwrap().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn each_is_shown_at_its_path_and_temporary_files_are_elsewhere() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("not tried: only root can put another folder at /tmp");
    }
    for at in ["/tmp", "/var/tmp", "/var/tmp/project"] {
        // An engine does not see the folder that is put there.
        let shown = |backend: Backend| backend != Backend::NONE && !is_engine(backend);
        for (backend, who) in present().filter(|(backend, _)| shown(*backend)) {
            for mode in ["stage", "direct", "read-only"] {
                each(at, backend, who, mode);
            }
        }
    }
}

fn each(at: &'static str, backend: Backend, who: Who, mode: &str) {
    // Root's code is another user there, whose writes cannot become root's.
    if backend == LANDLOCK && who.is_root() && mode != "read-only" {
        return;
    }
    let (mounted, below) =
        if at == "/var/tmp/project" { ("/var/tmp", "project") } else { (at, "") };
    let there = There::of(mounted, who);
    let work = there.work().join(below);
    if !below.is_empty() {
        there.scene.put(&work.join("hello.txt"), b"hello\n");
        std::fs::set_permissions(&work, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut options = there.scene.on(backend);
    if let Some(place) = options.iter().position(|word| *word == "--workspace") {
        options.truncate(place);
    }
    let all = [&["run", "--workspace", mode], &options[..], &["-l", "shell", "-c", CODE]].concat();
    let words = format!("{at} {backend} {who:?} {mode}");
    let seen = there.run(below, &all);
    // These two cannot cover our own folder there in a folder that code may change, and say so.
    let uncovered = at == "/var/tmp" && mode == "direct";
    if uncovered && matches!(backend, LANDLOCK | FIREJAIL) {
        seen.mentions("cannot cover").mentions("--workspace read-only").exits(4);
        return;
    }
    let said = seen.stdout();
    let (first, rest) = said.split_once('\n').unwrap_or_default();
    assert_eq!(first, "hello", "{words}: {}", seen.stderr());
    // Where code works in a copy that cannot be mounted, that has another path.
    let moved = mode == "stage" && matches!(backend, LANDLOCK | FIREJAIL);
    let (path, rest) = rest.split_once('\n').unwrap_or_default();
    assert!(moved || path == at, "{words}: {path}");
    assert!(rest.starts_with("1\nkept\n"), "{words}: {rest} {}", seen.stderr());
    assert!(!rest.contains("temporary files are in"), "{words}");
    let written = work.join("made.txt");
    assert_eq!(written.exists(), mode == "direct", "{words}");
    if mode == "stage" {
        there.run(below, &["changes", "apply"]).exits(0);
        assert_eq!(std::fs::read_to_string(&written).unwrap(), "made\n", "{words}");
    }
    let expected: &[&str] = match (below.is_empty(), mode) {
        (true, "read-only") => &["hello.txt"],
        (true, _) => &["hello.txt", "made.txt"],
        (false, _) => &["hello.txt", "project"],
    };
    let own = |name: &&String| !name.starts_with("interpreter-");
    let names = there.names();
    assert_eq!(names.iter().filter(own).collect::<Vec<_>>(), expected, "{words}");
}
