//! The driver for programs that run once, on its own socket.

use super::ONCE;
use crate::Claim;
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    io::{BufRead, BufReader, Read, Write},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, ChildStdout, Command, Stdio},
};
use tempfile::TempDir;

struct Kernel {
    folder: TempDir,
    child: Child,
    control: BufReader<UnixStream>,
    stdout: BufReader<ChildStdout>,
}

impl Kernel {
    /// A driver with these arguments, which runs nothing yet.
    fn start(arguments: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let driver = folder.path().join("once.sh");
        std::fs::File::create(&driver).unwrap().write_all(ONCE.as_bytes()).unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test starts what it tests")]
        let mut command = Command::new("sh");
        // As the jail has it, whatever the tests are started by.
        command.args(["-c", r#"exec env --default-signal=INT "$@" 3<&0 < /dev/null"#, "sh"]);
        command.args(["bash", "--noprofile", "--norc"]).arg(driver).args(arguments);
        command.env("TMPDIR", folder.path()).process_group(0);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut kernel = Self { folder, child, control: BufReader::new(ours), stdout };
        assert!(matches!(kernel.claim(), Claim::Ready { .. }));
        kernel
    }

    /// A driver that gives each cell to `sh`.
    fn shell() -> Self {
        Self::start(&["run", "main.sh", "", "0", "0", "sh", "{file}"])
    }

    fn send(&mut self, code: &[u8]) {
        let mut socket = self.control.get_ref();
        writeln!(socket, "{}", code.len()).unwrap();
        socket.write_all(code).unwrap();
    }

    fn claim(&mut self) -> Claim {
        let mut line = Vec::new();
        self.control.read_until(b'\n', &mut line).unwrap();
        Claim::parse(&line).unwrap()
    }

    fn status(&mut self) -> i32 {
        let claim = self.claim();
        let Claim::Finished { status } = claim else { panic!("{claim:?}") };
        status
    }

    fn run(&mut self, code: &[u8]) -> i32 {
        self.send(code);
        self.status()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    fn interrupt(&self) {
        kill_process_group(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Ends it. Returns the rest of its output, its stderr, and the number of files left in its
    /// folder.
    fn end(mut self) -> (Vec<u8>, String, usize) {
        self.control.get_ref().shutdown(std::net::Shutdown::Both).unwrap();
        let (mut stdout, mut stderr) = (Vec::new(), String::new());
        self.stdout.read_to_end(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        self.child.wait().unwrap();
        let left = std::fs::read_dir(self.folder.path()).unwrap().count() - 1;
        (stdout, stderr, left)
    }
}

#[test]
fn each_cell_is_a_program_with_its_own_status_and_leaves_nothing() {
    let mut kernel = Kernel::shell();
    assert_eq!(kernel.run(b"x=1; echo out; echo err >&2"), 0);
    assert_eq!(kernel.run(b"echo \"[$x]\"; exit 7"), 7);
    assert_eq!(kernel.run(b""), 0);
    assert_eq!(kernel.end(), (b"out\n[]\n".to_vec(), "err\n".into(), 0));
}

#[test]
fn code_is_written_byte_for_byte() {
    let code: Vec<u8> = (0..=255).chain(*b"'\"\\$(touch x)`y`\n<<END\n{file}").collect();
    let mut kernel = Kernel::start(&["run", "code", "", "0", "0", "cat", "{file}"]);
    assert_eq!(kernel.run(&code), 0);
    assert_eq!(kernel.run(b"no newline"), 0);
    assert_eq!(kernel.end().0, [&code[..], b"no newline"].concat());
}

#[test]
fn words_of_a_command_are_passed_as_they_are() {
    let words = ["$(touch x)", "a b", "*", "", "&", "{folder}x", "`y`", "-n"];
    let mut arguments = vec!["run", "f", "", "0", "0", "printf", "%s|"];
    arguments.extend(words);
    let mut kernel = Kernel::start(&arguments);
    assert_eq!(kernel.run(b"code"), 0);
    let printed = String::from_utf8(kernel.end().0).unwrap();
    let seen: Vec<_> = printed.trim_end_matches('|').split('|').collect();
    assert_eq!(seen[..5], words[..5]);
    assert!(seen[5].ends_with('x') && seen[5].contains("/run."), "{printed}");
    assert_eq!(seen[6..], words[6..]);
}

#[test]
fn what_does_not_compile_does_not_run() {
    let check = &["run", "main.sh", "", "0", "3", "sh", "-n", "{file}", "sh", "{file}"];
    let mut kernel = Kernel::start(check);
    assert_eq!(kernel.run(b"echo ran"), 0);
    assert_ne!(kernel.run(b"echo ran\nif"), 0);
    let (stdout, stderr, _) = kernel.end();
    assert_eq!(stdout, b"ran\n");
    assert!(stderr.to_lowercase().contains("syntax error"), "{stderr}");
}

#[test]
fn a_name_is_read_from_the_code() {
    let start = ["run", "{name}.txt", "None", "2", "^name ([a-z]+)", "other ([a-z]+)", "0"];
    let mut kernel = Kernel::start(&[&start[..], &["basename", "{file}"]].concat());
    for (code, name) in [
        ("other b\nname a", "b.txt\n"),
        ("name a\nother b", "a.txt\n"),
        ("nothing", "None.txt\n"),
        ("name ../../x", "None.txt\n"),
    ] {
        assert_eq!(kernel.run(code.as_bytes()), 0);
        assert_eq!(kernel.line(), name, "{code}");
    }
}

#[test]
fn an_interrupt_ends_the_program_and_not_the_driver() {
    let mut kernel = Kernel::shell();
    kernel.send(b"echo on; exec sleep 600");
    assert_eq!(kernel.line(), "on\n");
    kernel.interrupt();
    assert_eq!(kernel.status(), 130);
    // Between cells it is nobody's.
    kernel.interrupt();
    assert_eq!(kernel.run(b"exit 4"), 4);
    // A program that handles it may say its last words.
    kernel.send(b"trap 'echo bye; exit 0' INT; echo on; while :; do sleep 1; done");
    assert_eq!(kernel.line(), "on\n");
    kernel.interrupt();
    assert_eq!(kernel.status(), 130);
    assert_eq!(kernel.end(), (b"bye\n".to_vec(), String::new(), 0));
}

#[test]
fn an_interrupted_compiler_is_followed_by_nothing() {
    let slow = "echo on; exec sleep 600";
    let mut kernel = Kernel::start(&["run", "f", "", "0", "3", "sh", "-c", slow, "echo", "ran"]);
    kernel.send(b"");
    assert_eq!(kernel.line(), "on\n");
    kernel.interrupt();
    assert_eq!(kernel.status(), 130);
    assert_eq!(kernel.end().0, b"");
}

#[test]
fn a_signal_is_named_and_a_high_status_is_not() {
    let mut kernel = Kernel::shell();
    assert_eq!(kernel.run(b"kill -SEGV $$"), 139);
    assert_eq!(kernel.run(b"exit 139"), 139);
    assert_eq!(kernel.run(b"kill -KILL $$"), 137);
    assert_eq!(kernel.end().1, "Segmentation fault\nKilled\n");
}

#[test]
fn a_program_has_no_input_and_no_other_descriptors() {
    let mut kernel = Kernel::shell();
    assert_eq!(kernel.run(b"cat; cd /proc/$$/fd; echo 0 1 2 3 40 41 | xargs -n1 ls 2>&1"), 123);
    let printed = String::from_utf8(kernel.end().0).unwrap();
    // dash keeps its script on 10.
    assert!(printed.starts_with("0\n1\n2\n"), "{printed}");
    assert_eq!(printed.matches("No such file").count(), 3, "{printed}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut kernel = Kernel::start(&["run", "f", "", "0", "0", "no-such-program", "{file}"]);
    assert_eq!(kernel.run(b""), 127);
    let stderr = kernel.end().1;
    assert!(stderr.contains("no-such-program: not found"), "{stderr}");
}

#[test]
fn a_page_is_claimed_as_it_is() {
    let mut kernel = Kernel::start(&["show", "text/html"]);
    let controls: String = (1..32).map(char::from).collect();
    for page in ["<p class=\"x\">\\n é &amp;</p>\n\n", "", "no newline.", &controls] {
        kernel.send(page.as_bytes());
        let Claim::Result { bundle, .. } = kernel.claim() else { panic!("no result") };
        assert_eq!(bundle["text/html"], page);
        assert_eq!(kernel.status(), 0);
    }
}
