//! The names of files that run by themselves, and who runs them when.
//!
//! One module for each kind of program that runs them. A name is listed because the program's own
//! documentation says that it reads a file of that name without being told to: `documented.toml`
//! says where, and a test compares the two.

use self::AutorunForm::{Beginning, Ending, File, Folder, Regular};

mod agents;
mod builds;
mod compiled;
mod consoles;
mod containers;
mod delivery;
mod editors;
mod javascript;
mod packages;
mod python;
mod shells;
mod system;
mod versions;

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
struct Names {
    form: AutorunForm,
    reason: &'static str,
    paths: &'static [&'static str],
}

const fn folders(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Folder, reason, paths }
}

const fn files(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: File, reason, paths }
}

const fn regular(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Regular, reason, paths }
}

const fn beginnings(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Beginning, reason, paths }
}

const fn endings(reason: &'static str, paths: &'static [&'static str]) -> Names {
    Names { form: Ending, reason, paths }
}

const ACTIVATED: &str = "runs when the environment is activated";
pub(super) const AGENT: &str = "instructs a coding agent, or grants it permissions";
const BUILD: &str = "runs when the project is built";
const CI: &str = "runs in continuous integration, with its credentials";
const COMMANDS: &str = "a program runs commands or plugins from it";
pub(super) const COMPILED: &str = "compiled code, which is used in place of its source";
const CONTAINER: &str = "runs when the container is built or opened";
const CRON: &str = "runs on a schedule";
const DEBUGGER: &str = "runs when the debugger starts";
const EDITOR: &str = "an editor can run it when the folder is opened";
const ENVIRONMENT: &str = "runs when a shell enters the folder";
const GIT: &str = "git reads it with every command and can run programs from it";
pub(super) const HOOK: &str = "runs at commits, merges, checkouts and the like";
const INFRASTRUCTURE: &str = "runs when infrastructure is planned or deployed";
const INTERPRETER: &str = "settings of this program";
const LETS_IN: &str = "lets others log in";
const LOADED: &str = "every program loads libraries from there";
const LOGIN: &str = "runs at login";
const MAIL: &str = "a mail program runs commands from it";
const NATIVE: &str = "native code, which runs when a program loads it";
const PACKAGES: &str = "sets the source of packages, and can run programs";
const PLATFORM: &str = "the platform starts the programs in it";
const PLUGINS: &str = "names plugins, which a tool runs as code";
const PREFERRED: &str = "shells prefer it to programs of the same name";
const PYTHON: &str = "runs whenever Python starts there";
const REPL: &str = "runs when the interpreter starts";
const ROOT: &str = "lets programs run as root";
const SCRIPTS: &str = "its scripts run when packages are installed, or by name";
pub(super) const SERVICE: &str = "started by the system";
const SHELL: &str = "runs in every new shell";
const TESTS: &str = "runs with the tests";
const TOOL: &str = "runs as code when a tool reads its settings";
const VCS: &str = "the version control system reads it and can run programs from it";
const WEB: &str = "the web server obeys it with every request";
const WINDOWS: &str = "the window system or a terminal starts the programs in it";

const ALL: &[&[Names]] = &[
    versions::NAMES,
    editors::NAMES,
    shells::NAMES,
    system::NAMES,
    delivery::NAMES,
    builds::NAMES,
    packages::NAMES,
    python::NAMES,
    javascript::NAMES,
    consoles::NAMES,
    containers::NAMES,
    compiled::NAMES,
    agents::NAMES,
];

/// All rules.
pub fn rules() -> impl Iterator<Item = Autorun> {
    let each = |names: &'static Names| {
        let Names { form, reason, paths } = names;
        paths.iter().map(|path| Autorun { path, form: *form, reason })
    };
    ALL.iter().copied().flatten().flat_map(each)
}
