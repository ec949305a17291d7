//! A person at a real pseudo-terminal.

use crate::scene::Scene;
use pty_process::blocking::{Command, Pty};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{PidfdFlags, pidfd_open},
};
use std::{
    io::{Read, Write},
    process::{Child, ExitStatus},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

const FENCE: &str = "```";

/// How long something may take before the test gives up. Nothing is measured by it.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long something that a program has left behind may keep its terminal open.
const LEFT_OPEN: Duration = Duration::from_secs(5);

/// Rows of the window.
const ROWS: u16 = 60;

/// A terminal with the program in it.
pub(crate) struct Terminal {
    child: Mutex<Child>,
    pty: Arc<Pty>,
    screen: Arc<(Mutex<Screen>, Condvar)>,
}

struct Screen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    closed: bool,
}

impl Terminal {
    /// A chat with the scripted model.
    pub(crate) fn open(scene: &Scene, more: &[&str]) -> Self {
        let arguments = scene.chat_arguments(more);
        Self::start(scene, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The program with these arguments.
    pub(crate) fn start(scene: &Scene, arguments: &[&str]) -> Self {
        Self::start_at(scene, arguments, 100)
    }

    /// The same, in a window of the given width.
    pub(crate) fn start_at(scene: &Scene, arguments: &[&str], columns: u16) -> Self {
        Self::answering(scene, arguments, columns, |_| String::new())
    }

    /// The same, in a terminal that answers more than where its cursor is.
    pub(crate) fn answering(
        scene: &Scene,
        arguments: &[&str],
        columns: u16,
        answers: impl Fn(&str) -> String + Send + 'static,
    ) -> Self {
        let program = scene.command(&[]).get_program().to_owned();
        Self::of(scene, Command::new(program).args(arguments), columns, answers)
    }

    /// A shell that does a line; in it `$I` is this program.
    pub(crate) fn shell(scene: &Scene, line: &str) -> Self {
        let program = scene.command(&[]).get_program().to_owned();
        let line = format!("I={}\n{line}", program.display());
        Self::of(scene, Command::new("/bin/sh").args(["-c", &line]), 100, |_| String::new())
    }

    fn of(
        scene: &Scene,
        command: Command,
        columns: u16,
        answers: impl Fn(&str) -> String + Send + 'static,
    ) -> Self {
        let (pty, tty) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(ROWS, columns)).unwrap();
        let template = scene.command(&[]);
        let mut command = command.current_dir(scene.work()).env_clear();
        for (name, value) in template.get_envs() {
            command = command.env(name, value.unwrap());
        }
        if let Some(user) = scene.user() {
            command = command.uid(user).gid(user);
        }
        let child = command.spawn(tty).unwrap();
        let pty = Arc::new(pty);
        let parser = vt100::Parser::new(ROWS, columns, 2_000);
        let screen = Screen { parser, raw: vec![], closed: false };
        let screen = Arc::new((Mutex::new(screen), Condvar::new()));
        let (reader, shared) = (Arc::clone(&pty), Arc::clone(&screen));
        thread::spawn(move || watch(&reader, &shared, answers));
        Self { child: Mutex::new(child), pty, screen }
    }

    /// Makes the window wider or narrower.
    pub(crate) fn resizes(&self, columns: u16) -> &Self {
        self.screen.0.lock().unwrap().parser.screen_mut().set_size(ROWS, columns);
        self.pty.resize(pty_process::Size::new(ROWS, columns)).unwrap();
        self
    }

    /// The rows that are on the screen.
    pub(crate) fn rows(&self) -> Vec<String> {
        let screen = self.screen.0.lock().unwrap();
        let (_, columns) = screen.parser.screen().size();
        screen.parser.screen().rows(0, columns).collect()
    }

    /// The text of a cell on the screen, and its colours.
    pub(crate) fn cell(&self, row: u16, column: u16) -> (String, vt100::Color, vt100::Color) {
        let screen = self.screen.0.lock().unwrap();
        let cell = screen.parser.screen().cell(row, column).unwrap();
        (cell.contents().to_owned(), cell.fgcolor(), cell.bgcolor())
    }

    /// Waits until the program waits for somebody to type.
    #[track_caller]
    pub(crate) fn waits(&self) -> &Self {
        self.wait_for("a line to type in", Screen::is_ready);
        self
    }

    pub(crate) fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child.lock().unwrap())
    }

    /// Whether the terminal echoes and gathers lines, as it does for a shell.
    pub(crate) fn is_as_it_was(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        let modes = tcgetattr(&*self.pty).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Waits until the text is on the screen, or was.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> &Self {
        self.wait_for(text, |screen| screen.has(text));
        self
    }

    /// Waits until the program has written these bytes.
    #[track_caller]
    pub(crate) fn wrote(&self, text: &str) -> &Self {
        let has = |screen: &Screen| String::from_utf8_lossy(&screen.raw).contains(text);
        self.wait_for(text, has);
        self
    }

    #[track_caller]
    fn wait_for(&self, text: &str, holds: impl Fn(&Screen) -> bool) {
        let until = Instant::now() + PATIENCE;
        let (lock, changed) = &*self.screen;
        let mut screen = lock.lock().unwrap();
        while !holds(&screen) {
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !screen.closed,
                "`{text}` did not appear:\n{}",
                screen.text()
            );
            screen = changed.wait_timeout(screen, left).unwrap().0;
        }
    }

    /// Whether the text is on the screen.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.screen.0.lock().unwrap().has(text)
    }

    #[track_caller]
    pub(crate) fn lacks(&self, text: &str) -> &Self {
        let screen = self.screen.0.lock().unwrap();
        assert!(!screen.has(text), "`{text}` is on the screen:\n{}", screen.text());
        self
    }

    /// Types a line once the program waits for one. Earlier output no longer counts.
    #[track_caller]
    pub(crate) fn types(&self, text: &str) -> &Self {
        self.wait_for("a line to type in", Screen::is_ready);
        let answers = self.screen.0.lock().unwrap().is_question();
        self.screen.0.lock().unwrap().forget();
        (&*self.pty).write_all(text.as_bytes()).unwrap();
        // An answer is one key, and comes alone.
        if !(answers && text.chars().count() == 1) {
            (&*self.pty).write_all(b"\r").unwrap();
        }
        self
    }

    /// Types keys, whatever they are, once the program waits for a line.
    #[track_caller]
    pub(crate) fn presses_all(&self, keys: &str) -> &Self {
        self.wait_for("a line to type in", Screen::is_ready);
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Types on, in a line that has been begun.
    pub(crate) fn goes_on(&self, keys: &str) -> &Self {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
        self
    }

    pub(crate) fn presses(&self, key: u8) -> &Self {
        self.screen.0.lock().unwrap().forget();
        (&*self.pty).write_all(&[key]).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn exits(&self, code: i32) {
        let status = self.ended();
        self.is_read_to_its_end();
        assert_eq!(status.code(), Some(code), "{}", self.screen.0.lock().unwrap().text());
    }

    /// Waits until the program has ended, however it did.
    #[track_caller]
    pub(crate) fn ends(&self) {
        self.ended();
        self.is_read_to_its_end();
    }

    #[track_caller]
    fn ended(&self) -> ExitStatus {
        let process = pidfd_open(self.process(), PidfdFlags::empty()).unwrap();
        let mut ends = [PollFd::new(&process, PollFlags::IN)];
        let patience = Timespec::try_from(PATIENCE).unwrap();
        if poll(&mut ends, Some(&patience)).unwrap() == 0 {
            self.child.lock().unwrap().kill().unwrap();
            panic!("it did not end:\n{}", self.screen.0.lock().unwrap().text());
        }
        self.child.lock().unwrap().wait().unwrap()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) -> &Self {
        rustix::process::kill_process(self.process(), signal).unwrap();
        self
    }

    /// Waits until everything that the program has printed is on the screen. Something that it left
    /// behind may keep the terminal open, and is not waited for.
    fn is_read_to_its_end(&self) {
        let (screen, changed) = &*self.screen;
        let is_open = |screen: &mut Screen| !screen.closed;
        let wait = changed.wait_timeout_while(screen.lock().unwrap(), LEFT_OPEN, is_open);
        drop(wait.unwrap());
    }

    pub(crate) fn raw(&self) -> Vec<u8> {
        self.screen.0.lock().unwrap().raw.clone()
    }
}

impl Screen {
    fn text(&self) -> String {
        self.parser.screen().contents()
    }

    fn has(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// Whether the cursor stands behind one of the marks, with nothing typed yet.
    fn is_ready(&self) -> bool {
        let screen = self.parser.screen();
        let (row, _) = screen.cursor_position();
        let (_, columns) = screen.size();
        let line = screen.rows(0, columns).nth(row.into()).unwrap_or_default();
        let line = line.trim_end().replace("NO SANDBOX ", "");
        matches!(line.as_str(), "❚ >" | "❚ ?")
            || line.starts_with("❚ ? (press ") && line.ends_with(')')
    }

    /// Whether a question waits for an answer.
    fn is_question(&self) -> bool {
        let screen = self.parser.screen();
        let (row, _) = screen.cursor_position();
        let (_, columns) = screen.size();
        let line = screen.rows(0, columns).nth(row.into()).unwrap_or_default();
        line.replace("NO SANDBOX ", "").starts_with("❚ ?")
    }

    fn forget(&mut self) {
        let (rows, columns) = self.parser.screen().size();
        self.parser = vt100::Parser::new(rows, columns, 2_000);
    }
}

/// Draws what comes, and answers what a terminal is asked.
fn watch(pty: &Pty, shared: &(Mutex<Screen>, Condvar), answers: impl Fn(&str) -> String) {
    let mut bytes = [0; 4096];
    loop {
        let count = (&*pty).read(&mut bytes).unwrap_or(0);
        let mut screen = shared.0.lock().unwrap();
        screen.raw.extend_from_slice(&bytes[..count]);
        screen.parser.process(&bytes[..count]);
        let asked = bytes[..count].windows(4).any(|part| part == b"\x1b[6n");
        let (row, column) = screen.parser.screen().cursor_position();
        screen.closed = count == 0;
        drop(screen);
        // Questions are answered in their order, and that about the cursor comes last.
        let more = answers(&String::from_utf8_lossy(&bytes[..count]));
        if !more.is_empty() {
            _ = (&*pty).write_all(more.as_bytes());
        }
        if asked {
            _ = write!(&*pty, "\x1b[{};{}R", row + 1, column + 1);
        }
        shared.1.notify_all();
        if count == 0 {
            return;
        }
    }
}

fn python(code: &str) -> String {
    format!("Let me.\n{FENCE}python\n{code}\n{FENCE}\n")
}

#[test]
fn a_chat_asks_runs_and_keeps() {
    let scene = Scene::new()
        .model_says(&[&python("open('out.txt', 'w').write('hi')\nprint(6*7)"), "It is 42."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.shows("Type a prompt");
    terminal.types("compute").shows("print(6*7)").shows("Run it?");
    assert_eq!(scene.read("out.txt"), None);
    terminal
        .types("y")
        .shows("42")
        .shows("created  out.txt")
        .shows("It is 42.")
        .shows("Keep this change");
    terminal.types("s").shows("+hi").shows("Keep this change");
    assert_eq!(scene.read("out.txt"), None);
    terminal.types("a").shows("applied");
    terminal.types("/quit").exits(0);
    assert_eq!(scene.read("out.txt").unwrap(), "hi");
}

/// A slow terminal says what its colour is when a prompt is being typed.
#[test]
fn a_late_answer_of_the_terminal_is_not_typed() {
    let scene = Scene::new().model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.waits().goes_on("one \u{1b}]11;rgb:1c1c/1c1c/1c1c\u{1b}\\two\r").shows("Hello.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("prompt")[0]["text"], "one two");
}

#[test]
fn a_discarded_change_is_gone_and_variables_stay() {
    let scene = Scene::new().file("a.txt", "1").model_says(&[
        &python("x = 5\nopen('a.txt', 'w').write('2'); open('b.txt', 'w').write('3')"),
        "Written.",
        &python("print(x, open('a.txt').read(), __import__('os').path.exists('b.txt'))"),
        "Read.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes"]);
    terminal.types("write").shows("Keep these changes");
    terminal.types("d").shows("discarded");
    terminal.types("read").shows("5 1 False").shows("Read.");
    terminal.types("/quit").exits(0);
    assert_eq!(scene.read("a.txt").unwrap(), "1");
}

#[test]
fn only_what_was_shown_is_applied() {
    // The child waits until it sees that the person is being asked: the model's last reply comes
    // just before that, so it polls a file that only a second cell writes.
    let code = "import os, time\n\
        open('good.txt', 'w').write('harmless')\n\
        if os.fork() == 0:\n\
        \u{20}   while not os.path.exists('/tmp/go'): time.sleep(0.01)\n\
        \u{20}   open('good.txt', 'w').write('EVIL'); open('extra.sh', 'w').write('x')\n\
        \u{20}   open('/tmp/went', 'w').close(); os._exit(0)";
    let wait = "import os, time\nopen('/tmp/go', 'w').close()\n\
        while not os.path.exists('/tmp/went'): time.sleep(0.01)\nprint('went')";
    let scene = Scene::new().model_says(&[&python(code), "Look.", &python(wait), "Now."]);
    let terminal = Terminal::open(&scene, &["--yes"]);
    terminal.types("write").shows("Keep this change");
    terminal.types("l").shows(">");
    terminal.types("go on").shows("went").shows("Keep these changes");
    terminal.types("s").shows("+EVIL").shows("Keep these changes");
    terminal.types("d").shows("discarded");
    terminal.types("/quit").exits(0);
    assert_eq!(scene.read("good.txt"), None);
}

#[test]
fn a_rejection_reaches_the_model_with_its_reason() {
    let scene = Scene::new().script(&format!(
        "[[reply]]\ntext = \"{FENCE}python\\nprint('unwanted')\\n{FENCE}\"\n\
         [[reply]]\nexpect = \"use fewer files\"\ntext = \"As you wish.\"\n"
    ));
    let terminal = Terminal::open(&scene, &["do it"]);
    terminal.shows("Run it?");
    terminal.types("").shows("press y, a, n, w, e, d, q");
    terminal.types("w").shows("Why not?");
    terminal.types("use fewer files").shows("As you wish.").lacks("┆");
    terminal.types("/quit").exits(0);
}

#[test]
fn edited_code_runs_instead_and_both_are_on_record() {
    let scene = Scene::new()
        .variable("EDITOR", "sed -i s/unedited/edited/")
        .model_says(&[&python("print('un' + 'unedited'[2:])"), "Done."]);
    let terminal = Terminal::open(&scene, &["do it"]);
    terminal.shows("Run it?");
    terminal.types("e").shows("'edited'").shows("Run it?").lacks("Done.");
    terminal.types("y").shows("Done.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let (answer, started) = (&seen.of_kind("answer")[0], &seen.of_kind("run_started")[0]);
    assert_eq!(answer["decision"], "edit");
    assert_eq!(answer["hash"], started["hash"]);
    assert_ne!(seen.of_kind("proposal")[0]["hash"], started["hash"]);
}

#[test]
fn code_can_ask_the_person_and_a_password_stays_hidden() {
    let code = "import getpass\nname = input('Name? ')\nword = getpass.getpass('Word? ')\n\
        print('hello', name, len(word))";
    let scene = Scene::new().model_says(&[&python(code), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ Name?");
    terminal.types("Ada").shows("┆ Word?");
    terminal.types("hunter2").shows("hello Ada 7").shows("Done.").lacks("hunter2");
    terminal.types("/quit").exits(0);
    let record = std::fs::read(scene.data().join("record.db-wal")).unwrap();
    assert!(!String::from_utf8_lossy(&record).contains("hunter2"));
}

#[test]
fn an_interrupt_that_comes_as_a_signal_clears_the_line_as_the_key_does() {
    let scene = Scene::new().model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.waits().goes_on("good night").shows("❚ > good night");
    terminal.signal(rustix::process::Signal::INT).waits().types("good morning").shows("Hello.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("prompt")[0]["text"], "good morning");
}

#[test]
fn ctrl_c_interrupts_the_cell_and_the_session_goes_on() {
    let scene = Scene::new().model_says(&[
        &python("x = 7\nprint('looping', flush=True)\nwhile True: pass"),
        &python("print('x is', x)"),
        "Done.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "loop"]);
    terminal.shows("┆ looping");
    terminal.presses(3).shows("Interrupted.");
    terminal.types("go on").shows("x is 7").shows("Done.");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_second_ctrl_c_ends_everything() {
    let code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('deaf', flush=True)\nwhile True: pass";
    let scene = Scene::new().model_says(&[&python(code)]);
    let terminal = Terminal::open(&scene, &["--yes", "loop"]);
    terminal.shows("┆ deaf");
    terminal.presses(3).shows("interrupted by you");
    terminal.presses(3);
    terminal.exits(1);
}

#[test]
fn ctrl_c_stops_a_model_that_does_not_answer_and_keeps_what_it_said() {
    let scene = Scene::new().script("[[reply]]\ntext = \"Thinking about\"\nfinish = \"never\"\n");
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Thinking about");
    terminal.presses(3).shows("Interrupted.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("reply")[0]["text"], "Thinking about");
}

#[test]
fn nothing_foreign_reaches_the_terminal_raw_or_the_first_column() {
    let fake = "\u{1b}]0;owned\u{7}\u{1b}[2J\rRun it?  y run";
    let scene = Scene::new().model_says(&[
        &format!(
            "{fake}\n{}",
            python(&format!("print({fake:?}.replace('?', '!') + ' ' * 300 + 'Run me')"))
        ),
        "Done.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Done.");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains("\u{1b}]0;owned") && !raw.contains("\u{1b}[2J"));
    let contents = terminal.screen.0.lock().unwrap().text();
    let fakes = contents.lines().filter(|line| line.starts_with("Run"));
    assert_eq!(fakes.count(), 0, "{contents}");
    terminal.types("/quit").exits(0);
}
