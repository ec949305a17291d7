//! One session that tries many attacks, a cell each, and what came of each of them.

use super::{Arena, Attack, Control, Evidence, Language, limits::SMALL, outside::Outside, proxy};
use crate::{
    backends::NATIVE,
    scene::{Scene, Seen, Who, cell},
};
use interpreter_core::Backend;
use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

/// Calls a system call by number and tells what it said.
const CALL: &str = r"
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    code = ctypes.get_errno()
    if result != -1 or code not in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT):
        print('ESCAPED', number, result, errno.errorcode.get(code))
print('tried')
";

/// Runs before every program: descriptor 9 is open, on a secret.
const INHERITING: &str = "exec 9<\"$0\"; exec \"$@\"";

/// Makes the program root of namespaces of its own, in which some of the system can be written.
const OWN_NAMESPACES: &str = "mount -t tmpfs none /opt; mount -t tmpfs none /run && \
                              mkdir -p /run/interpreter/set; exec \"$@\"";

/// Where attacks are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On a backend, as somebody.
    On(Backend, Who),
    /// Where nothing stops them.
    Control(Control),
}

impl Place {
    fn who(self) -> Who {
        match self {
            Self::On(_, who) => who,
            Self::Control(Control::Root) => Who::Ourselves,
            Self::Control(
                Control::Bare | Control::OwnNamespaces | Control::Listed | Control::Plain,
            ) => Who::unprivileged(),
        }
    }

    fn backend(self) -> Backend {
        match self {
            Self::On(backend, _) => backend,
            Self::Control(Control::Listed) => NATIVE,
            Self::Control(
                Control::Bare | Control::OwnNamespaces | Control::Root | Control::Plain,
            ) => Backend::NONE,
        }
    }
}

/// The result of an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Whether its code began to run.
    pub(super) ran: bool,
    pub(super) succeeded: bool,
    pub(super) said: String,
}

pub(super) type Outcomes = BTreeMap<&'static str, Outcome>;

/// Tries attacks, those together that can be.
pub(super) fn tried(place: Place, attacks: &[&'static Attack]) -> Outcomes {
    let mut sessions: BTreeMap<_, Vec<&'static Attack>> = BTreeMap::new();
    for (number, attack) in attacks.iter().enumerate() {
        let alone = attack.arena == Arena::Alone || place == Place::Control(Control::Plain);
        let key = (attack.arena, attack.language, if alone { number } else { 0 });
        sessions.entry(key).or_default().push(attack);
    }
    sessions.into_values().flat_map(|together| session(place, &together)).collect()
}

fn session(place: Place, attacks: &[&'static Attack]) -> Outcomes {
    let arena = attacks[0].arena;
    let scene = Scene::of(place.who());
    let numbered = (0..).zip(attacks);
    let mut outsides: Vec<_> =
        numbered.map(|(number, attack)| Outside::around(&scene, attack, number)).collect();
    let cells = outsides.iter().zip(attacks).map(|(outside, attack)| code(outside, attack));
    let cells: Vec<_> = cells.collect();
    // Inherited descriptors hold the canary of every attack.
    let canaries: Vec<_> = outsides.iter().map(Outside::canary).collect();
    scene.put(&scene.home().join("inherited"), canaries.join("\n").as_bytes());
    let said = match place {
        Place::Control(Control::Plain) => plainly(&scene, attacks[0], &cells[0]),
        Place::On(..) | Place::Control(_) => {
            let ports: Vec<_> = outsides.iter().filter_map(Outside::port).collect();
            chatted(&scene, place, attacks, &cells, &ports)
        }
    };
    if arena == Arena::Staging && place.backend() != Backend::NONE {
        scene.run(&["changes", "apply"]).exits(0);
    }
    let judged = attacks.iter().zip(&mut outsides).zip(said);
    let judged = judged.map(|((attack, outside), Said { text, went_on })| {
        let succeeded = outside.shows(attack.evidence, &text, went_on, &scene.work());
        let ran = text.contains("tried") || matches!(attack.evidence, Evidence::Flood(_));
        (attack.name, Outcome { ran, succeeded, said: text.chars().take(600).collect() })
    });
    judged.collect()
}

/// The output of an attack, and whether its interpreter was still alive afterwards.
struct Said {
    text: String,
    went_on: bool,
}

fn code(outside: &Outside, attack: &Attack) -> String {
    let before = match (attack.language, attack.arena) {
        (Language::Python, Arena::Proxy) => format!("{CALL}{}", proxy::PROXIED),
        (Language::Python, _) => CALL.into(),
        (Language::Shell, _) => "echo tried\n".into(),
        (Language::JavaScript, _) => "console.log('tried')\n".into(),
    };
    let code = outside.spell(attack.code);
    match attack.language {
        Language::Python | Language::JavaScript => format!("{before}{code}"),
        Language::Shell => format!("{before}{{ {code}\n}} 2>/dev/null; true"),
    }
}

/// By the interpreter alone.
fn plainly(scene: &Scene, attack: &Attack, code: &str) -> Vec<Said> {
    let (program, option) = match attack.language {
        Language::Python => ("/usr/bin/python3", "-c"),
        Language::Shell => ("/bin/bash", "-c"),
        Language::JavaScript => ("node", "-e"),
    };
    let mut inner = Command::new(program);
    inner.args([option, code]).current_dir(scene.work()).env("TMPDIR", scene.home());
    let output = inheriting(scene, &inner).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    vec![Said { text, went_on: true }]
}

/// The same command, with a file open that it was not given.
fn inheriting(scene: &Scene, inner: &Command) -> Command {
    let mut command = Command::new("/bin/sh");
    let inherited = scene.home().join("inherited");
    command.arg("-c").arg(INHERITING).arg(inherited).arg(inner.get_program());
    command.args(inner.get_args()).current_dir(scene.work());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    scene.as_its_user(&mut command);
    command
}

/// In a session, a cell each. One that is alone has a variable set before it and looked at after.
fn chatted(
    scene: &Scene,
    place: Place,
    attacks: &[&'static Attack],
    cells: &[String],
    ports: &[&str],
) -> Vec<Said> {
    let Attack { arena, language, .. } = *attacks[0];
    let (name, set, show) = match language {
        Language::Python => ("python", "alive = 'still here'", "print(alive)"),
        Language::Shell => ("shell", "alive='still here'", "echo $alive"),
        Language::JavaScript => ("javascript", "var alive = 'still here'", "console.log(alive)"),
    };
    let codes = [set].into_iter().chain(cells.iter().map(String::as_str)).chain([show]);
    let mut replies: Vec<_> = codes.map(|code| cell(name, code)).collect();
    replies.push("Done.".into());
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let limits = if arena == Arena::Limits { SMALL } else { "" };
    let config = format!("max_calls = 500\n[limits]\nwall = \"60s\"\n{limits}");
    scene.put(&scene.home().join(".config/interpreter/config.toml"), config.as_bytes());
    scene.play(&replies);
    let listed = options(scene, place, arena, ports);
    let options: Vec<_> = listed.iter().map(String::as_str).collect();
    let options = [&["--yes", "--json"], &options[..], &["go"]].concat();
    let seen = start(scene, place, &options);
    let last = seen.printed_by(&format!("p{}", attacks.len() + 2));
    let went_on = last.contains("still here");
    let said = (0..attacks.len()).map(|at| {
        let printed = seen.printed_by(&format!("p{}", at + 2));
        let text = if printed.is_empty() { seen.stderr() } else { printed };
        Said { text, went_on }
    });
    said.collect()
}

fn options(scene: &Scene, place: Place, arena: Arena, ports: &[&str]) -> Vec<String> {
    let mut on = scene.on(place.backend());
    // The last word says how the folder is shown.
    if let (Arena::Staging, Place::On(..), Some(shown)) = (arena, place, on.last_mut()) {
        *shown = "stage";
    }
    let mut options: Vec<_> = on.into_iter().map(str::to_owned).collect();
    let mut list = |host: String| options.extend(["--allow-host".to_owned(), host]);
    if arena == Arena::Proxy {
        list("127.0.0.1:1".into());
        for port in ports {
            list(format!("localhost:{port}"));
        }
    }
    if place == Place::Control(Control::Listed) {
        for port in ports {
            list(format!("127.0.0.1:{port}"));
        }
    }
    options
}

fn start(scene: &Scene, place: Place, options: &[&str]) -> Seen {
    let arguments = scene.chat_arguments(options);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut command = scene.command(&arguments);
    if place == Place::Control(Control::OwnNamespaces) {
        let mut outer = Command::new("unshare");
        outer.args(["--user", "--map-root-user", "--mount", "--uts", "--ipc", "--net", "--pid"]);
        outer.args(["--fork", "--mount-proc", "/bin/sh", "-c", OWN_NAMESPACES, "sh"]);
        outer.arg(command.get_program()).args(command.get_args());
        outer.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command = outer;
    }
    let mut command = inheriting(scene, &command);
    Seen(command.stdin(Stdio::null()).output().unwrap())
}
