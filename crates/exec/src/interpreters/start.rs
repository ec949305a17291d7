//! How a kernel is started: which driver, with which arguments.

use interpreter_core::declaration::{Driver, Once};
use interpreter_host::drivers;
use std::path::{Path, PathBuf};

/// Where drivers stand inside a sandbox.
const DRIVERS: &str = "/run/interpreter";

const ONCE: &str = "once.sh";

/// Neither the person's start-up files nor the system's are obeyed.
const BASH: [&str; 2] = ["--noprofile", "--norc"];

/// A program and what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
}

/// The drivers, by their paths inside a sandbox.
pub(super) fn drivers() -> impl Iterator<Item = (PathBuf, &'static str)> {
    let own = [Driver::Python, Driver::Shell, Driver::JavaScript].map(file);
    let parts = drivers::PYTHON_PARTS.iter().copied();
    let all = own.into_iter().chain(parts).chain([(ONCE, drivers::ONCE)]);
    all.map(|(name, text)| (Path::new(DRIVERS).join(name), text))
}

fn file(driver: Driver) -> (&'static str, &'static str) {
    match driver {
        Driver::Python => ("driver.py", drivers::PYTHON),
        Driver::Shell => ("driver.sh", drivers::SHELL),
        Driver::JavaScript => ("driver.js", drivers::JAVASCRIPT),
    }
}

impl Start {
    pub(super) fn driver(driver: Driver, program: PathBuf) -> Self {
        let options: &[&str] = match driver {
            // Isolated: neither the user's site folder nor any PYTHON* variable is obeyed.
            Driver::Python => &["-I"],
            Driver::Shell => &BASH,
            Driver::JavaScript => &[],
        };
        Self { program, arguments: words(options, file(driver).0) }
    }

    pub(super) fn once(once: &Once, program: &Path, bash: PathBuf) -> Self {
        let Once { file, name, compile, run } = once;
        // A path that is no text cannot be typed either.
        let program = program.to_string_lossy();
        let fill = |words: &[String]| -> Vec<String> {
            words.iter().map(|word| word.replace("{program}", &program)).collect()
        };
        let (patterns, otherwise) =
            name.as_ref().map_or((&[][..], ""), |name| (&name.find, name.otherwise.as_str()));
        let mut arguments = words(&BASH, ONCE);
        arguments.extend(["run".into(), file.clone(), otherwise.into()]);
        arguments.push(patterns.len().to_string());
        arguments.extend_from_slice(patterns);
        arguments.push(compile.len().to_string());
        arguments.extend(fill(compile));
        arguments.extend(fill(run));
        Self { program: bash, arguments }
    }

    pub(super) fn show(kind: &str, bash: PathBuf) -> Self {
        let mut arguments = words(&BASH, ONCE);
        arguments.extend(["show".into(), kind.into()]);
        Self { program: bash, arguments }
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
        let text = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let once = Once {
            file: "main.c".into(),
            name: None,
            compile: text(&["{program}", "-o{folder}/x", "{file}"]),
            run: text(&["{folder}/x", "$(a)"]),
        };
        let start = Start::once(&once, Path::new("/usr/bin/gcc"), "/bin/bash".into());
        assert_eq!(start.program, Path::new("/bin/bash"));
        assert_eq!(
            start.arguments.join("|"),
            "--noprofile|--norc|/run/interpreter/once.sh|run|main.c||0|3|/usr/bin/gcc|-o{folder}/x|\
             {file}|{folder}/x|$(a)"
        );
    }
}
