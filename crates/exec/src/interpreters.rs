//! Which interpreters this machine has, and what each needs to be seen inside a sandbox.
//!
//! Found by looking, not by running: a version manager's shim is a slow script that may do
//! anything, so the program behind it is worked out from the manager's own files. Interpreters
//! often live inside the home, which is absent in a sandbox: then the interpreter's own
//! installation is shown, read-only, and nothing beside it.

use interpreter_core::{Language, LanguageInfo, Languages};
use interpreter_host::{KernelSpec, drivers};
use std::{
    collections::BTreeMap,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A language that the program knows how to run.
struct Known {
    name: &'static str,
    aliases: &'static [&'static str],
    endings: &'static [&'static str],
    /// Names of the program, best first.
    programs: &'static [&'static str],
    /// Arguments before the driver's path.
    arguments: &'static [&'static str],
    driver_name: &'static str,
    driver: &'static str,
    /// How to get it.
    hint: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        name: "python",
        aliases: &["py", "python3", "ipython"],
        endings: &["py"],
        programs: &["python3", "python"],
        // Isolated: neither the user's site folder nor any PYTHON* variable is obeyed.
        arguments: &["-I"],
        driver_name: "driver.py",
        driver: drivers::PYTHON,
        hint: "install Python 3, for example `apt install python3`",
    },
    Known {
        name: "shell",
        aliases: &["sh", "bash", "zsh"],
        endings: &["sh", "bash"],
        programs: &["bash"],
        arguments: &["--noprofile", "--norc"],
        driver_name: "driver.sh",
        driver: drivers::SHELL,
        hint: "install bash, for example `apt install bash`",
    },
    Known {
        name: "javascript",
        aliases: &["js", "node", "nodejs"],
        endings: &["js", "mjs", "cjs"],
        programs: &["node", "nodejs"],
        arguments: &[],
        driver_name: "driver.js",
        driver: drivers::JAVASCRIPT,
        hint: "install Node.js, for example `apt install nodejs`",
    },
];

/// Where drivers stand inside a sandbox.
const DRIVERS: &str = "/run/interpreter";

/// One language's interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The language.
    pub language: String,
    /// The program, as it is called inside the sandbox too.
    pub program: PathBuf,
    /// What must be seen, read-only, besides the system.
    pub reads: Vec<PathBuf>,
    arguments: Vec<String>,
}

/// The interpreters of this machine, and the languages that have none.
#[derive(Clone, Debug, Default)]
pub struct Interpreters {
    found: BTreeMap<String, Interpreter>,
}

impl Interpreters {
    /// Looks for interpreters in the folders of `path`. `home` and `work_folder` help to tell an
    /// installation from a home.
    pub fn find(path: &[PathBuf], home: Option<&Path>, work_folder: &Path) -> Self {
        let found = KNOWN
            .iter()
            .filter_map(|known| {
                let candidate = known
                    .programs
                    .iter()
                    .flat_map(|name| path.iter().map(move |folder| folder.join(name)))
                    .find_map(|candidate| real_program(&candidate, work_folder))?;
                let (program, reads) = installation(&candidate, home)?;
                let driver = format!("{DRIVERS}/{}", known.driver_name);
                let arguments = known
                    .arguments
                    .iter()
                    .map(|&argument| argument.to_owned())
                    .chain([driver])
                    .collect();
                let language = known.name.to_owned();
                Some((language.clone(), Interpreter { language, program, reads, arguments }))
            })
            .collect();
        Self { found }
    }

    /// The languages that run here.
    pub fn languages(&self) -> Languages {
        let known = KNOWN.iter().filter(|known| self.found.contains_key(known.name));
        Languages::new(known.map(Known::info).collect())
    }

    /// All languages that could run, with their interpreter or how to get one.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, Result<&Interpreter, &'static str>)> {
        KNOWN.iter().map(|known| (known.name, self.found.get(known.name).ok_or(known.hint)))
    }

    /// How to get an interpreter for a language, by any of its names, that has none here.
    pub fn hint(name: &str) -> Option<&'static str> {
        let known = KNOWN.iter().find(|known| {
            known.name == name || known.aliases.contains(&name) || known.endings.contains(&name)
        });
        known.map(|known| known.hint)
    }

    /// The interpreter of a language.
    pub fn get(&self, language: &Language) -> Option<&Interpreter> {
        self.found.get(language.name())
    }

    /// What all of them need to see besides the system.
    pub fn reads(&self) -> impl Iterator<Item = &Path> {
        self.found.values().flat_map(|one| one.reads.iter().map(PathBuf::as_path))
    }

    /// The folders of the programs, for the sandbox's own `PATH`.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.found.values().filter_map(|one| one.program.parent())
    }

    /// The drivers, by their paths inside a sandbox.
    pub(crate) fn drivers() -> impl Iterator<Item = (PathBuf, &'static str)> {
        KNOWN.iter().map(|known| (Path::new(DRIVERS).join(known.driver_name), known.driver))
    }
}

impl Interpreter {
    /// How the host starts it.
    pub(crate) fn spec(&self, environment: &BTreeMap<String, String>, folder: &Path) -> KernelSpec {
        KernelSpec {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            environment: environment.clone(),
            folder: folder.to_owned(),
        }
    }
}

impl Known {
    fn info(&self) -> LanguageInfo {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        LanguageInfo {
            name: self.name.into(),
            aliases: owned(self.aliases),
            endings: owned(self.endings),
        }
    }
}

/// The program behind `candidate`, if it is one: not a script, or one whose program is known.
fn real_program(candidate: &Path, work_folder: &Path) -> Option<PathBuf> {
    let metadata = fs_err::metadata(candidate).ok()?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return None;
    }
    if is_elf(candidate) {
        return Some(candidate.to_owned());
    }
    behind_pyenv(candidate, work_folder).filter(|program| is_elf(program))
}

fn is_elf(path: &Path) -> bool {
    let mut start = [0; 4];
    fs_err::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == *b"\x7fELF"
}

/// pyenv's choice: the nearest `.python-version` above the work folder, else the global one.
fn behind_pyenv(shim: &Path, work_folder: &Path) -> Option<PathBuf> {
    let shims = shim.parent()?;
    let root = shims.parent()?;
    if shims.file_name()? != "shims" || !root.join("versions").is_dir() {
        return None;
    }
    let local = work_folder.ancestors().map(|folder| folder.join(".python-version"));
    local.chain([root.join("version")]).find_map(|file| {
        let text = fs_err::read_to_string(file).ok()?;
        let version = text.lines().next()?.trim();
        // A file in a project chooses among installed versions; it cannot point elsewhere.
        let plain = !version.is_empty() && !version.contains('/') && version != "..";
        let program = root.join("versions").join(version).join("bin").join(shim.file_name()?);
        (plain && program.is_file()).then_some(program)
    })
}

/// How a program is called inside, and what must be seen for it to work.
fn installation(candidate: &Path, home: Option<&Path>) -> Option<(PathBuf, Vec<PathBuf>)> {
    let real = fs_err::canonicalize(candidate).ok()?;
    let mut reads = Vec::new();
    let mut program = real.clone();
    // A virtual environment's interpreter is a link that must be called by its own path.
    if let Some(environment) = candidate.parent().and_then(Path::parent)
        && environment.join("pyvenv.cfg").is_file()
        && let Ok(environment) = fs_err::canonicalize(environment)
    {
        program = environment.join("bin").join(candidate.file_name()?);
        reads.push(environment);
    }
    reads.push(prefix(&real, home));
    reads.retain(|path| !is_system(path));
    Some((program, reads))
}

/// The folder that holds the installation of `program`, or the program alone if the folder is
/// somebody's home or something like it.
fn prefix(program: &Path, home: Option<&Path>) -> PathBuf {
    let prefix = program.parent().and_then(|bin| {
        (bin.file_name()? == "bin").then(|| bin.parent())?.filter(|prefix| {
            let shared =
                home.is_some_and(|home| home.starts_with(prefix) || *prefix == home.join(".local"));
            prefix.join("lib").is_dir() && !shared && prefix.parent().is_some()
        })
    });
    prefix.unwrap_or(program).to_owned()
}

/// Folders that every sandbox shows read-only.
pub(crate) const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store"];

/// Whether a path belongs to the system, which every sandbox shows read-only.
pub fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn program(path: &Path, start: &[u8]) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, start).unwrap();
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    const ELF: &[u8] = b"\x7fELF\x02\x01\x01";

    #[test]
    fn a_pyenv_shim_leads_to_the_version_that_the_project_names() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs_err::canonicalize(folder.path()).unwrap();
        let root = home.join(".pyenv");
        program(&root.join("shims/python3"), b"#!/bin/sh\n");
        for version in ["3.11.7", "3.12.1"] {
            program(&root.join("versions").join(version).join("bin/python3"), ELF);
            fs_err::create_dir_all(root.join("versions").join(version).join("lib")).unwrap();
        }
        fs_err::write(root.join("version"), "3.11.7\n").unwrap();
        let find = |work: &Path| Interpreters::find(&[root.join("shims")], Some(&home), work);

        let python = find(&home).found["python"].clone();
        assert_eq!(python.program, root.join("versions/3.11.7/bin/python3"));
        assert_eq!(python.reads, [root.join("versions/3.11.7")]);

        let project = home.join("project");
        fs_err::create_dir_all(&project).unwrap();
        fs_err::write(project.join(".python-version"), "3.12.1\n").unwrap();
        let python = find(&project).found["python"].clone();
        assert_eq!(python.program, root.join("versions/3.12.1/bin/python3"));

        fs_err::write(project.join(".python-version"), "../../../evil\n").unwrap();
        let python = find(&project).found["python"].clone();
        assert_eq!(python.program, root.join("versions/3.11.7/bin/python3"));
    }

    #[test]
    fn a_virtual_environment_is_called_by_its_own_path() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs_err::canonicalize(folder.path()).unwrap();
        program(&home.join("base/bin/python3.11"), ELF);
        fs_err::create_dir_all(home.join("base/lib")).unwrap();
        fs_err::create_dir_all(home.join("venv/bin")).unwrap();
        fs_err::write(home.join("venv/pyvenv.cfg"), "home = x\n").unwrap();
        symlink(home.join("base/bin/python3.11"), home.join("venv/bin/python3")).unwrap();
        let found = Interpreters::find(&[home.join("venv/bin")], Some(&home), &home);
        let python = &found.found["python"];
        assert_eq!(python.program, home.join("venv/bin/python3"));
        assert_eq!(python.reads, [home.join("venv"), home.join("base")]);
    }

    #[test]
    fn a_program_in_the_home_shows_itself_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs_err::canonicalize(folder.path()).unwrap();
        program(&home.join("bin/node"), ELF);
        fs_err::create_dir_all(home.join("lib")).unwrap();
        let found = Interpreters::find(&[home.join("bin")], Some(&home), &home);
        assert_eq!(found.found["javascript"].reads, [home.join("bin/node")]);
    }
}
