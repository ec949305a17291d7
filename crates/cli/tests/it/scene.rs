//! A scene: a home, a work folder, a model's script; and what came of running the program there.

use crate::{
    backends::{DOCKER, FIREJAIL, LANDLOCK, NATIVE, PODMAN},
    engines::{IMAGE, ROOTLESS, is_engine, people},
};
use interpreter_core::Backend;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use std::{
    collections::BTreeMap,
    io::Write,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};
use tempfile::TempDir;

/// The user that tests run the program as, beside their own.
const ORDINARY: u32 = 64_321;

/// Who runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever runs the tests.
    Ourselves,
    /// A user without any rights. Only root can play one.
    Ordinary,
    /// The same, one whom the system knows by name: `scripts/test` makes that account.
    Named(u32),
}

impl Who {
    /// Those that a backend is for, of all that the program can be run as here.
    pub(crate) fn all_for(backend: Backend) -> Vec<Self> {
        match backend {
            NATIVE | LANDLOCK => Self::all(),
            FIREJAIL => Self::named().into_iter().collect(),
            DOCKER | PODMAN => people(backend),
            _ => vec![Self::unprivileged()],
        }
    }

    /// Whether it is root.
    pub(crate) fn is_root(self) -> bool {
        self == Self::Ourselves && rustix::process::geteuid().is_root()
    }

    /// Somebody who is not root.
    pub(crate) fn unprivileged() -> Self {
        if rustix::process::geteuid().is_root() { Self::Ordinary } else { Self::Ourselves }
    }

    pub(crate) fn named() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return Some(Self::Ourselves);
        }
        let (_, user, _) = accounts().into_iter().find(|(name, ..)| name == "interpreter-test")?;
        Some(Self::Named(user))
    }

    /// Accounts with login shells of several kinds, each with its shell: `scripts/test` makes them.
    /// Only root can play them; others play themselves.
    pub(crate) fn with_login_shells() -> Vec<(Self, String)> {
        let us = rustix::process::geteuid();
        let ours = ["", "-none", "-zsh", "-python"].map(|kind| format!("interpreter-test{kind}"));
        let played = |(name, user, shell): (String, u32, String)| {
            if us.is_root() {
                ours.contains(&name).then_some((Self::Named(user), shell))
            } else {
                (user == us.as_raw()).then_some((Self::Ourselves, shell))
            }
        };
        accounts().into_iter().filter_map(played).collect()
    }

    pub(crate) fn user(self) -> Option<u32> {
        match self {
            Self::Ourselves => None,
            Self::Ordinary => Some(ORDINARY),
            Self::Named(user) => Some(user),
        }
    }

    /// Everyone that the program can be run as here.
    pub(crate) fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() {
            vec![Self::Ourselves, Self::Ordinary]
        } else {
            vec![Self::Ourselves]
        }
    }
}

/// The accounts of this machine: their names, users and login shells.
fn accounts() -> Vec<(String, u32, String)> {
    let list = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let account = |line: &str| {
        let fields: Vec<_> = line.split(':').collect();
        Some(((*fields.first()?).into(), fields.get(2)?.parse().ok()?, (*fields.get(6)?).into()))
    };
    list.lines().filter_map(account).collect()
}

/// The binary, where every user can execute it.
pub(crate) fn binary() -> &'static Path {
    static COPY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &COPY.get_or_init(|| open_copy(Path::new(env!("CARGO_BIN_EXE_interpreter")))).1
}

/// A binary with the engine in it: this one, or the released one, which `scripts/test` builds.
fn with_engine() -> &'static Path {
    static COPY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    if cfg!(feature = "embedded") {
        return binary();
    }
    let released = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/interpreter");
    assert!(released.exists(), "this test needs `cargo build --release --bin interpreter` before");
    &COPY.get_or_init(|| open_copy(&released)).1
}

fn open_copy(binary: &Path) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    open_to_all(folder.path());
    let path = folder.path().join("interpreter");
    copy_program(binary, &path, "755");
    (folder, path)
}

/// Copies a program, which can be started at once. Another process writes it: a descriptor of ours
/// would stand open in whatever another test forks meanwhile, and a file that somebody may write to
/// is not executed.
pub(crate) fn copy_program(from: &Path, to: &Path, mode: &str) {
    let mut install = Command::new("install");
    let done = install.arg(format!("--mode={mode}")).arg(from).arg(to).status().unwrap();
    assert!(done.success(), "{} was not copied", from.display());
}

/// Writes a program, which can be started at once: see [`copy_program`].
pub(crate) fn put_program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut install = Command::new("install");
    install.args(["--mode=755", "/dev/stdin"]).arg(path).stdin(Stdio::piped());
    let mut install = install.spawn().unwrap();
    install.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(install.wait().unwrap().success(), "{} was not written", path.display());
}

fn open_to_all(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Where the program is run.
pub(crate) struct Scene {
    program: &'static Path,
    who: Who,
    root: TempDir,
    environment: BTreeMap<String, String>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::of(Who::Ourselves)
    }

    pub(crate) fn of(who: Who) -> Self {
        let root = tempfile::tempdir().unwrap();
        open_to_all(root.path());
        let mut environment = BTreeMap::new();
        // The system's own interpreters, so that every user has the same.
        environment.insert("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        environment.insert("TERM".to_owned(), "xterm".to_owned());
        environment.insert("CANARY_KEY".to_owned(), "sk-canary-in-the-environment".to_owned());
        let scene = Self { program: binary(), who, root, environment };
        for folder in [scene.home(), scene.work()] {
            std::fs::create_dir(&folder).unwrap();
            scene.give(&folder);
        }
        let home = scene.home();
        scene.variable("HOME", home.to_str().unwrap())
    }

    /// The same, with a program that has the engine for models in it.
    pub(crate) fn with_engine(self) -> Self {
        Self { program: with_engine(), ..self }
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home().join(".local/share/interpreter")
    }

    pub(crate) fn give(&self, path: &Path) {
        if let Some(user) = self.who.user() {
            std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
        }
    }

    /// Writes a file into the work folder.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.put(&self.work().join(name), content.as_ref());
        self
    }

    /// Writes a file into the home.
    pub(crate) fn home_file(self, name: &str, content: &str) -> Self {
        self.put(&self.home().join(name), content.as_bytes());
        self
    }

    /// The person's own limits, as lines of TOML.
    pub(crate) fn limits(self, lines: &str) -> Self {
        self.home_file(".config/interpreter/config.toml", &format!("[limits]\n{lines}"))
    }

    pub(crate) fn put(&self, path: &Path, content: &[u8]) {
        let mut made = path.parent().unwrap();
        let mut missing = vec![];
        while !made.exists() {
            missing.push(made);
            made = made.parent().unwrap();
        }
        for folder in missing.into_iter().rev() {
            match std::fs::create_dir(folder) {
                // Another test may need the same one at the same time.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
                made => made.unwrap(),
            }
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
            self.give(folder);
        }
        std::fs::write(path, content).unwrap();
        self.give(path);
    }

    /// A model that plays these replies, as TOML.
    pub(crate) fn script(self, toml: &str) -> Self {
        let path = self.root.path().join("script.toml");
        std::fs::write(&path, toml).unwrap();
        open_to_all(&path);
        self
    }

    /// A model that writes these replies, each as Markdown.
    pub(crate) fn model_says(self, replies: &[&str]) -> Self {
        self.play(replies);
        self
    }

    /// Has the model write these replies.
    pub(crate) fn play(&self, replies: &[&str]) {
        let quoted = |text: &&str| format!("[[reply]]\ntext = {}\n", toml_string(text));
        let toml: String = replies.iter().map(quoted).collect();
        let path = self.root.path().join("script.toml");
        std::fs::write(&path, toml).unwrap();
        open_to_all(&path);
    }

    /// The program with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(arguments).current_dir(self.work()).env_clear().envs(&self.environment);
        self.as_its_user(&mut command);
        command
    }

    /// The number of whoever runs the program, if that is not us.
    pub(crate) fn user(&self) -> Option<u32> {
        self.who.user()
    }

    /// Has a command run as whoever runs the program.
    pub(crate) fn as_its_user<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(user) = self.who.user() {
            command.uid(user).gid(user);
        }
        command
    }

    /// The arguments of a chat with the scripted model.
    pub(crate) fn chat_arguments(&self, more: &[&str]) -> Vec<String> {
        let script = format!("scripted:{}", self.root.path().join("script.toml").display());
        ["--model".to_owned(), script].into_iter().chain(more.iter().map(|&a| a.into())).collect()
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Seen {
        self.run_with_input(arguments, b"")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Seen {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may end without having read everything.
        _ = child.stdin.take().unwrap().write_all(input);
        Seen(child.wait_with_output().unwrap())
    }

    /// Runs code.
    pub(crate) fn code(&self, language: &str, code: &str) -> Seen {
        self.run(&["run", "-l", language, "-c", code])
    }

    /// Arguments for a backend. They accept its gaps, and show the folder directly where changes
    /// cannot be staged, or read-only where code is another user.
    pub(crate) fn on(&self, backend: Backend) -> Vec<&'static str> {
        if backend == NATIVE {
            return vec![];
        }
        let all =
            "network,reading,writing,processes,environment,privileges,calls,terminal,ending,limits";
        let other_user = (backend == LANDLOCK || is_engine(backend)) && self.who.is_root();
        let workspace = if other_user { "read-only" } else { "direct" };
        let mut options = vec!["--sandbox", backend.word(), "--allow-missing", all];
        if is_engine(backend) {
            options.extend(["--sandbox-image", IMAGE]);
        }
        if backend == PODMAN && self.who.user().is_some() {
            let store = format!(
                "[storage]\ndriver = \"overlay\"\ngraphroot = \"{ROOTLESS}\"\nrunroot = \"{ROOTLESS}/run\"\n"
            );
            let at = self.home().join(".config/containers/storage.conf");
            self.put(&at, store.as_bytes());
        }
        options.extend(["--workspace", workspace]);
        options
    }

    /// Runs code on a backend.
    pub(crate) fn code_on(&self, backend: Backend, language: &str, code: &str) -> Seen {
        let run = [&["run", "--time-limit", "60s"], &self.on(backend)[..]].concat();
        self.run(&[&run[..], &["-l", language, "-c", code]].concat())
    }

    /// Has one turn of a chat with the scripted model, and answers yes beforehand.
    pub(crate) fn chat(&self, more: &[&str]) -> Seen {
        let arguments = self.chat_arguments(more);
        self.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The processes of this scene's sandboxes that do not end, as they were started. A process that
    /// was killed takes a moment to be gone.
    pub(crate) fn left_running(&self) -> Vec<String> {
        let mut left = Vec::new();
        for (process, words) in self.running() {
            let Ok(descriptor) = pidfd_open(process, PidfdFlags::empty()) else { continue };
            let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
            let moment = Timespec { tv_sec: 5, tv_nsec: 0 };
            if poll(&mut polled, Some(&moment)).unwrap() == 0 {
                left.push(words);
            }
        }
        left
    }

    /// The processes of this scene's sandboxes, as they were started. A sandbox has the work folder
    /// as a mount of its own, and nothing else has.
    pub(crate) fn running(&self) -> Vec<(Pid, String)> {
        let work = format!(" {} ", self.work().display());
        let inside = |folder: &Path| {
            let mounts = std::fs::read_to_string(folder.join("mountinfo"));
            mounts.is_ok_and(|mounts| mounts.contains(&work))
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        entries
            .filter(|folder| folder.join("mountinfo").exists() && inside(folder))
            .filter_map(|folder| {
                let process = folder.file_name()?.to_str()?.parse().ok()?;
                let words = std::fs::read(folder.join("cmdline")).unwrap_or_default();
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                Some((Pid::from_raw(process)?, words))
            })
            .collect()
    }

    /// The content of a file in the work folder, if it exists.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }
}

/// Says that a tool is not here, so that what needs it is not tried. That fails where every tool is
/// promised: `scripts/test` installs them all.
#[track_caller]
#[expect(clippy::print_stderr, reason = "who runs the tests should know")]
pub(crate) fn without(tool: &str) {
    let promised = std::env::var_os("INTERPRETER_ALL_TOOLS").is_some_and(|set| !set.is_empty());
    assert!(!promised, "{tool} is not here, and INTERPRETER_ALL_TOOLS promises that it is");
    eprintln!("not tried: {tool} is not here; `scripts/test` installs it");
}

/// A fenced block, as a model writes it.
pub(crate) fn cell(language: &str, code: &str) -> String {
    format!("```{language}\n{code}\n```\n")
}

fn toml_string(text: &str) -> String {
    // JSON's strings are TOML's basic strings, but for a lone DEL, which no test has.
    serde_json::to_string(text).unwrap()
}

/// The result of a command.
pub(crate) struct Seen(pub(crate) Output);

impl Seen {
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Everything that was printed is this.
    #[track_caller]
    pub(crate) fn prints(self, expected: &str) -> Self {
        assert_eq!(self.stdout(), expected, "stderr: {}", self.stderr());
        self
    }

    #[track_caller]
    pub(crate) fn mentions(self, part: &str) -> Self {
        let all = format!("{}{}", self.stdout(), self.stderr());
        assert!(all.contains(part), "`{part}` is not in:\n{all}");
        self
    }

    #[track_caller]
    pub(crate) fn lacks(self, part: &str) -> Self {
        let all = format!("{}{}", self.stdout(), self.stderr());
        assert!(!all.contains(part), "`{part}` is in:\n{all}");
        self
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        let (out, err) = (self.stdout(), self.stderr());
        assert_eq!(self.0.status.code(), Some(code), "stdout: {out}\nstderr: {err}");
        self
    }

    /// The records that were printed.
    #[track_caller]
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        self.stdout()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// The output of a proposal's run, all streams together.
    pub(crate) fn printed_by(&self, proposal: &str) -> String {
        let printed = self.of_kind("output").into_iter().filter(|r| r["proposal"] == proposal);
        printed.map(|record| record["text"].as_str().unwrap().to_owned()).collect()
    }

    /// The records of one kind.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<serde_json::Value> {
        self.records().into_iter().filter(|record| record["kind"] == kind).collect()
    }
}
