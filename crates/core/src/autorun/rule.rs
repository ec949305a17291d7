//! A rule about the names of files that run by themselves, and the reasons that rules give.

use self::AutorunForm::{Beginning, Ending, File, Folder, Regular};

/// A name under which something runs by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Autorun {
    /// The name, or the last parts of the path, in lower case.
    pub path: &'static str,
    /// How much of a name it has to match.
    pub form: AutorunForm,
    /// Who runs it, and when.
    pub reason: &'static str,
}

/// How to match the path of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutorunForm {
    /// A folder, and with it all it holds.
    Folder,
    /// A file, a link, or a folder of exactly that path.
    File,
    /// The same, but not a folder: many folders have that name, and it means nothing there.
    Regular,
    /// The beginning of a file's name.
    Beginning,
    /// The end of a file's name.
    Ending,
}

/// Rules of one form that share a reason.
pub(super) struct Names {
    pub(super) form: AutorunForm,
    pub(super) reason: &'static str,
    pub(super) paths: &'static [&'static str],
}

pub(super) const fn folders(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Folder, reason, paths }
}

pub(super) const fn files(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: File, reason, paths }
}

pub(super) const fn regular(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Regular, reason, paths }
}

pub(super) const fn beginnings(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Beginning, reason, paths }
}

pub(super) const fn endings(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Ending, reason, paths }
}

pub(super) const ACTIVATED: &str = "runs when the environment is activated";
pub(super) const AGENT: &str = "instructs a coding agent, or grants it permissions";
pub(super) const BUILD: &str = "runs when the project is built";
pub(super) const CI: &str = "runs in continuous integration, with its credentials";
pub(super) const COMMANDS: &str = "a program runs commands or plugins from it";
pub(super) const COMPILED: &str = "compiled code, which is used in place of its source";
pub(super) const CONTAINER: &str = "runs when the container is built or opened";
pub(super) const CRON: &str = "runs on a schedule";
pub(super) const DEBUGGER: &str = "runs when the debugger starts";
pub(super) const EDITOR: &str = "an editor can run it when the folder is opened";
pub(super) const ENVIRONMENT: &str = "runs when a shell enters the folder";
pub(super) const GIT: &str = "git reads it with every command and can run programs from it";
pub(super) const HOOK: &str = "runs at commits, merges, checkouts and the like";
pub(super) const INFRASTRUCTURE: &str = "runs when infrastructure is planned or deployed";
pub(super) const INTERPRETER: &str = "settings of this program";
pub(super) const LETS_IN: &str = "lets others log in";
pub(super) const LOADED: &str = "every program loads libraries from there";
pub(super) const LOGIN: &str = "runs at login";
pub(super) const MAIL: &str = "a mail program runs commands from it";
pub(super) const NATIVE: &str = "native code, which runs when a program loads it";
pub(super) const PACKAGES: &str = "sets the source of packages, and can run programs";
pub(super) const PLATFORM: &str = "the platform starts the programs in it";
pub(super) const PLUGINS: &str = "names plugins, which a tool runs as code";
pub(super) const PREFERRED: &str = "shells prefer it to programs of the same name";
pub(super) const PYTHON: &str = "runs whenever Python starts there";
pub(super) const REPL: &str = "runs when the interpreter starts";
pub(super) const ROOT: &str = "lets programs run as root";
pub(super) const SCRIPTS: &str = "its scripts run when packages are installed, or by name";
pub(super) const SERVICE: &str = "started by the system";
pub(super) const SHELL: &str = "runs in every new shell";
pub(super) const TESTS: &str = "runs with the tests";
pub(super) const TOOL: &str = "runs as code when a tool reads its settings";
pub(super) const VCS: &str = "the version control system reads it and can run programs from it";
pub(super) const WEB: &str = "the web server obeys it with every request";
pub(super) const WINDOWS: &str = "the window system or a terminal starts the programs in it";
