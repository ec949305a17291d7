//! A bridge with a kernel behind it, and what comes back.

use interpreter_host::Claim;
use interpreter_jupyter::{Interrupt, Launch};
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Read, Write},
    os::{
        fd::OwnedFd,
        unix::{
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// How long a test may be without news before it fails. Nothing waits for it to pass.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long until an interrupt that did nothing is sent again.
const SOON: Duration = Duration::from_secs(2);

/// The Python of the environment that `scripts/test` makes.
pub(crate) fn python() -> PathBuf {
    let tools = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/jupyter");
    let python = PathBuf::from(tools).join("bin/python");
    assert!(python.exists(), "{} is not there; `scripts/test` makes it", python.display());
    python
}

/// The kernels that every test about kernels has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Ipykernel,
    /// The same, interrupted by message.
    ByMessage,
    Xeus,
    Bash,
}

impl Kernel {
    /// Those of Python.
    pub(crate) const ALL: [Self; 3] = [Self::Ipykernel, Self::ByMessage, Self::Xeus];

    pub(crate) fn launch(self) -> Launch {
        let module = match self {
            Self::Ipykernel | Self::ByMessage => "ipykernel_launcher",
            Self::Xeus => "xpython_launcher",
            Self::Bash => "bash_kernel",
        };
        let interrupt = match self {
            Self::Ipykernel | Self::Xeus | Self::Bash => Interrupt::Signal,
            Self::ByMessage => Interrupt::Message,
        };
        let python = python().display().to_string();
        let words = [&python, "-m", module, "-f", "{connection_file}"];
        let environment = [("TOLD".to_owned(), "by ${HOME}".to_owned())].into();
        Launch { argv: words.map(str::to_owned).to_vec(), environment, interrupt }
    }
}

/// How a cell, or its kernel, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Finished(i32),
    Exited(i32),
    Killed(i32),
}

/// Everything that came of a cell. Output is what had been written when its end was claimed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) results: Vec<(BTreeMap<String, String>, Option<String>)>,
    pub(crate) asked: Vec<(String, bool)>,
    pub(crate) raised: Vec<String>,
    pub(crate) completions: Option<(usize, usize, Vec<String>)>,
    pub(crate) end: Option<End>,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert_eq!(self.stdout, text, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn complains(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn results(self, text: &str) -> Self {
        let texts: Vec<_> = self.results.iter().map(|(bundle, _)| &bundle["text/plain"]).collect();
        assert_eq!(texts, [text], "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn ends(self, end: End) -> Self {
        assert_eq!(self.end, Some(end), "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.stderr, "");
        self.ends(End::Finished(0))
    }
}

/// The bytes read from a pipe, as they come.
type Collected = Arc<Mutex<Vec<u8>>>;

pub(crate) struct Scene {
    bridge: Child,
    host: BufReader<UnixStream>,
    stdout: Pipe,
    stderr: Pipe,
    /// Answers to the code's questions; afterwards the end of input.
    pub(crate) answers: VecDeque<Option<String>>,
    pub(crate) folder: TempDir,
}

struct Pipe {
    collected: Collected,
    reader: Option<thread::JoinHandle<()>>,
    /// Another writing end, to mark where output stands.
    mark: std::io::PipeWriter,
}

/// Bytes that no program prints.
const MARK: &[u8] = b"\0\x01mark\x02\0";

impl Pipe {
    fn new() -> (Self, std::io::PipeWriter) {
        let (mut read, write) = std::io::pipe().unwrap();
        let collected = Collected::default();
        let shared = Arc::clone(&collected);
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = read.read(&mut piece) {
                shared.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        let mark = write.try_clone().unwrap();
        (Self { collected, reader: Some(reader), mark }, write)
    }

    /// All that was written until now: what stands before a mark that is written now.
    fn take(&mut self) -> String {
        self.mark.write_all(MARK).unwrap();
        loop {
            let mut collected = self.collected.lock().unwrap();
            if let Some(at) = collected.windows(MARK.len()).position(|part| part == MARK) {
                let text = String::from_utf8(collected[..at].to_vec()).unwrap();
                collected.drain(..at + MARK.len());
                return text;
            }
            drop(collected);
            thread::yield_now();
        }
    }
}

impl Scene {
    /// A bridge whose kernel is ready.
    pub(crate) fn of(kernel: Kernel) -> Self {
        let mut scene = Self::starting(&kernel.launch());
        let claim = scene.claim();
        assert!(matches!(claim, Some(Claim::Ready { .. })), "{claim:?} {}", scene.stderr.take());
        scene
    }

    /// A bridge that has just been started.
    pub(crate) fn starting(launch: &Launch) -> Self {
        // Short, because the paths of sockets have to be.
        let folder = tempfile::Builder::new().prefix("b").rand_bytes(4).tempdir_in("/tmp").unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(PATIENCE)).unwrap();
        let (stdout, stdout_end) = Pipe::new();
        let (stderr, stderr_end) = Pipe::new();
        let bridge = Command::new(env!("CARGO_BIN_EXE_interpreter-jupyter"))
            .arg(launch.argument())
            .env_clear()
            .envs([("HOME", folder.path()), ("TMPDIR", folder.path())])
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "dumb")
            .current_dir(folder.path())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(stdout_end)
            .stderr(stderr_end)
            .process_group(0)
            .spawn()
            .unwrap();
        let (host, answers) = (BufReader::new(ours), VecDeque::new());
        Self { bridge, host, stdout, stderr, answers, folder }
    }

    /// The next claim, or `None` if the bridge has hung up.
    #[track_caller]
    pub(crate) fn claim(&mut self) -> Option<Claim> {
        let mut line = Vec::new();
        self.host.read_until(b'\n', &mut line).expect("nothing came for two minutes");
        let line = line.strip_suffix(b"\n")?;
        Some(Claim::parse(line).unwrap_or_else(|error| panic!("{error}: {line:?}")))
    }

    pub(crate) fn send(&mut self, head: &str, body: &str) {
        let message = format!("{head}\n{body}");
        self.host.get_mut().write_all(message.as_bytes()).unwrap();
    }

    pub(crate) fn execute(&mut self, code: &str) {
        self.send(&code.len().to_string(), code);
    }

    /// Runs a cell to its end.
    #[track_caller]
    pub(crate) fn run(&mut self, code: &str) -> Outcome {
        self.execute(code);
        self.outcome()
    }

    /// Everything until a cell, or the bridge, has ended.
    #[track_caller]
    pub(crate) fn outcome(&mut self) -> Outcome {
        let mut outcome = Outcome::default();
        while outcome.end.is_none() {
            self.collect(&mut outcome);
        }
        outcome
    }

    /// Asks how code could go on where a `|` stands in it.
    #[track_caller]
    pub(crate) fn complete(&mut self, code: &str) -> (usize, usize, Vec<String>) {
        let cursor = code.find('|').unwrap();
        let code = code.replacen('|', "", 1);
        self.send(&format!("?{} {cursor}", code.len()), &code);
        let mut outcome = Outcome::default();
        while outcome.completions.is_none() {
            self.collect(&mut outcome);
        }
        outcome.completions.unwrap()
    }

    /// Runs a cell and interrupts it when it has printed `line`.
    #[track_caller]
    pub(crate) fn interrupt(&mut self, code: &str, line: &str) -> Outcome {
        self.execute(code);
        let until = Instant::now() + PATIENCE;
        while !String::from_utf8_lossy(&self.stdout.collected.lock().unwrap()).contains(line) {
            assert!(Instant::now() < until, "`{line}` was not printed");
            thread::yield_now();
        }
        self.signal();
        let mut outcome = Outcome::default();
        while outcome.end.is_none() {
            // It may be lost, and then the outside sends it again.
            while !self.has_claim_within(SOON) {
                self.signal();
            }
            self.collect(&mut outcome);
        }
        outcome
    }

    /// Whether there is a claim, or the end, before the time is over.
    fn has_claim_within(&mut self, time: Duration) -> bool {
        self.host.get_ref().set_read_timeout(Some(time)).unwrap();
        let came = self.host.fill_buf().is_ok();
        self.host.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
        came
    }

    /// Does what the host does to interrupt.
    pub(crate) fn signal(&self) {
        kill_process_group(Pid::from_child(&self.bridge), Signal::INT).unwrap();
    }

    /// Adds the next claim to an outcome.
    #[track_caller]
    pub(crate) fn collect(&mut self, outcome: &mut Outcome) {
        match self.claim() {
            Some(Claim::Result { bundle, display }) => outcome.results.push((bundle, display)),
            Some(Claim::Asks { prompt, secret }) => {
                outcome.asked.push((prompt, secret));
                match self.answers.pop_front().flatten() {
                    Some(text) => self.send(&format!("+{}", text.len()), &text),
                    None => self.send("-1", ""),
                }
            }
            Some(Claim::Raised { name, message }) => {
                outcome.raised.push(format!("{name}: {message}"));
            }
            Some(Claim::Completions { start, end, matches }) => {
                outcome.completions = Some((start, end, matches));
            }
            Some(Claim::Finished { status }) => {
                self.take_output(outcome);
                outcome.end = Some(End::Finished(status));
            }
            Some(
                other @ (Claim::Ready { .. }
                | Claim::Line { .. }
                | Claim::Refused { .. }
                | Claim::Checkpointed { .. }
                | Claim::NotCheckpointed { .. }),
            ) => {
                panic!("{other:?}")
            }
            None => {
                let status = self.bridge.wait().unwrap();
                self.take_output(outcome);
                let code = status.code().map(End::Exited);
                outcome.end = Some(code.unwrap_or_else(|| End::Killed(status.signal().unwrap())));
            }
        }
    }

    fn take_output(&mut self, outcome: &mut Outcome) {
        outcome.stdout += &self.stdout.take();
        outcome.stderr += &self.stderr.take();
    }

    /// The bridge's own temporary folders that are left.
    pub(crate) fn left(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let ours = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('j');
        entries.filter(|entry| ours(&entry.file_name())).count()
    }

    /// Hangs up and waits for the bridge.
    pub(crate) fn hang_up(&mut self) -> std::process::ExitStatus {
        self.host.get_mut().shutdown(std::net::Shutdown::Both).unwrap();
        self.bridge.wait().unwrap()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Whatever is left of it, as the host does.
        _ = kill_process_group(Pid::from_child(&self.bridge), Signal::KILL);
        _ = self.bridge.wait();
        drop((self.stdout.reader.take(), self.stderr.reader.take()));
    }
}
