//! How a kernel is started: which driver, with which arguments.

use interpreter_core::declaration::{Driver, Once};
use interpreter_host::drivers;
use interpreter_jupyter::{JUPYTER, Launch};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Where drivers stand inside a sandbox.
const DRIVERS: &str = "/run/interpreter";

const ONCE: &str = "once.sh";

/// The bridge to Jupyter kernels wants the control socket as its standard input.
const BRIDGE: &str = "exec \"$0\" \"$@\" <&3 3<&-";

const BARE_BASH: [&str; 2] = ["--noprofile", "--norc"];

/// Isolated, and without any packages: those of an environment are for code that has a permit.
const BARE_PYTHON: [&str; 3] = ["-I", "-B", "-S"];

/// A program and what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// Whether code can be given arguments, and be a script.
    pub(super) takes_arguments: bool,
}

/// The drivers, by their paths inside a sandbox.
pub(super) fn drivers() -> impl Iterator<Item = (PathBuf, &'static str)> {
    let own = [PYTHON, BASH, ZSH, POSIX_SHELL, NODE].map(|own| (own.file, own.text));
    let parts = drivers::PYTHON_PARTS.iter().chain(drivers::JAVASCRIPT_PARTS);
    let parts = parts.chain(drivers::SHELL_PARTS).copied();
    let all = own.into_iter().chain(parts).chain([(ONCE, drivers::ONCE)]);
    all.map(|(name, text)| (Path::new(DRIVERS).join(name), text))
}

/// A driver file, and further arguments for its interpreter.
#[derive(Clone, Copy)]
struct Own {
    file: &'static str,
    text: &'static str,
    options: &'static [&'static str],
}

/// Isolated: ignores the user's site folder and all PYTHON* variables. Imports from the work folder
/// leave no compiled files there.
const PYTHON: Own = Own { file: "driver.py", text: drivers::PYTHON, options: &["-I", "-B"] };

/// Neither the person's start-up files nor the system's are obeyed.
const BASH: Own = Own { file: "driver.sh", text: drivers::SHELL, options: &BARE_BASH };

const ZSH: Own = Own { file: "driver.zsh", text: drivers::ZSH, options: &["-f"] };

const POSIX_SHELL: Own = Own { file: "driver.posix", text: drivers::POSIX_SHELL, options: &[] };

const NODE: Own = Own { file: "driver.cjs", text: drivers::JAVASCRIPT, options: &[] };

/// Nothing that lies in the work folder says how it is started.
const DENO: Own =
    Own { options: &["run", "--allow-all", "--quiet", "--no-config", "--no-lock"], ..NODE };

const BUN: Own = Own { options: &["--config=/dev/null", "--no-env-file"], ..NODE };

/// The driver for a program. The name decides which kind it is.
fn own(driver: Driver, program: &Path) -> Own {
    let name = program.file_name().and_then(OsStr::to_str);
    // As it is called where a package manager has put it.
    match (driver, name.map(|name| name.trim_end_matches(".exe"))) {
        (Driver::Python, _) => PYTHON,
        (Driver::JavaScript | Driver::TypeScript, Some("deno")) => DENO,
        (Driver::JavaScript | Driver::TypeScript, Some("bun")) => BUN,
        (Driver::JavaScript | Driver::TypeScript, _) => NODE,
        (Driver::Shell, Some("bash")) => BASH,
        (Driver::Shell, Some("zsh")) => ZSH,
        (Driver::Shell, _) => POSIX_SHELL,
    }
}

impl Start {
    pub(super) fn driver(driver: Driver, program: PathBuf) -> Self {
        let own = own(driver, &program);
        let mut arguments = words(own.options, own.file);
        if own.file == POSIX_SHELL.file {
            // The shell that takes over when a cell is abandoned.
            arguments.push(program.to_string_lossy().into_owned());
        }
        if driver == Driver::TypeScript {
            arguments.push("typescript".into());
        }
        Self { program, arguments, takes_arguments: true }
    }

    /// Python that enters the environment in `folder` when its first code runs.
    pub(super) fn in_environment(program: PathBuf, folder: &Path) -> Self {
        let mut arguments = words(&BARE_PYTHON, PYTHON.file);
        arguments.push(folder.to_string_lossy().into_owned());
        Self { program, arguments, takes_arguments: true }
    }

    /// The same, with the folder that packages of Python are added from before each cell. `None` if
    /// it is started without our driver.
    pub(super) fn with_packages(mut self, folder: &Path) -> Option<Self> {
        let driver = format!("{DRIVERS}/{}", PYTHON.file);
        let at = self.arguments.iter().position(|argument| *argument == driver)?;
        if self.arguments.len() == at + 1 {
            // No environment.
            self.arguments.push(String::new());
        }
        self.arguments.push(folder.to_string_lossy().into_owned());
        Some(self)
    }

    pub(super) fn once(once: &Once, program: &Path, bash: PathBuf) -> Self {
        let Once { file, name, compile, run, version: _ } = once;
        // A path that is no text cannot be typed either.
        let program = program.to_string_lossy();
        let fill = |words: &[String]| -> Vec<String> {
            words.iter().map(|word| word.replace("{program}", &program)).collect()
        };
        let (patterns, otherwise) =
            name.as_ref().map_or((&[][..], ""), |name| (&name.find, name.otherwise.as_str()));
        let mut arguments = words(&BARE_BASH, ONCE);
        arguments.extend(["run".into(), file.clone(), otherwise.into()]);
        arguments.push(patterns.len().to_string());
        arguments.extend_from_slice(patterns);
        arguments.push(compile.len().to_string());
        arguments.extend(fill(compile));
        arguments.extend(fill(run));
        // Behind anything else they would mean something else.
        let takes_arguments =
            !compile.is_empty() || run.last().is_some_and(|last| last == "{file}");
        Self { program: bash, arguments, takes_arguments }
    }

    /// The command that only prints the version.
    pub(super) fn version(once: &Once, program: &Path, bash: PathBuf) -> Self {
        let program = program.to_string_lossy();
        let mut arguments = words(&BARE_BASH, ONCE);
        arguments.push("version".into());
        arguments.extend(once.version.iter().map(|word| word.replace("{program}", &program)));
        Self { program: bash, arguments, takes_arguments: false }
    }

    /// The bridge to a Jupyter kernel.
    pub(super) fn jupyter(launch: &Launch) -> Self {
        let bridge = format!("{DRIVERS}/{JUPYTER}");
        let arguments = vec!["-c".into(), BRIDGE.into(), bridge, launch.argument()];
        Self { program: "/bin/sh".into(), arguments, takes_arguments: false }
    }

    pub(super) fn show(kind: &str, bash: PathBuf) -> Self {
        let mut arguments = words(&BARE_BASH, ONCE);
        arguments.extend(["show".into(), kind.into()]);
        Self { program: bash, arguments, takes_arguments: false }
    }
}

fn words(options: &[&str], driver: &str) -> Vec<String> {
    let options = options.iter().map(|&option| option.to_owned());
    options.chain([format!("{DRIVERS}/{driver}")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_words_and_only_the_program_is_filled_in_here() {
        let text = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let once = Once {
            file: "main.c".into(),
            name: None,
            compile: text(&["{program}", "-o{folder}/x", "{file}"]),
            run: text(&["{folder}/x", "$(a)"]),
            version: text(&["{program}", "-v"]),
        };
        let version = Start::version(&once, Path::new("/usr/bin/gcc"), "/bin/bash".into());
        assert!(version.arguments.ends_with(&text(&["version", "/usr/bin/gcc", "-v"])));
        let start = Start::once(&once, Path::new("/usr/bin/gcc"), "/bin/bash".into());
        assert_eq!(start.program, Path::new("/bin/bash"));
        assert_eq!(
            start.arguments.join("|"),
            "--noprofile|--norc|/run/interpreter/once.sh|run|main.c||0|3|/usr/bin/gcc|-o{folder}/x|\
             {file}|{folder}/x|$(a)"
        );
    }
}
