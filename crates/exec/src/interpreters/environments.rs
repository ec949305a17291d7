//! Virtual environments of Python: which one a session uses, and what that makes visible.
//!
//! # Threat
//! An environment inside the work folder came with the project, and the project may be a
//! stranger's. Its `bin/python` can be any program, its `pyvenv.cfg` can name any folder, it can
//! be a link to anywhere, and its `site-packages` holds code that runs when Python starts.
//!
//! # Mechanism
//! Nothing of such an environment is started. Its interpreter is one that is known without it:
//! from the system, from `PATH`, or a version that a version manager has installed; the file may
//! choose among them. It starts without any packages, and the driver enters the environment when
//! the first permitted code runs. No path that the project names becomes visible.
//!
//! # Order
//! The environment is found before the sandbox is planned. Only its own folder and the version it
//! was made for are taken from it; both are checked here.
//!
//! # Limits
//! An environment that the person activated is trusted, and so is one outside the work folder. Code
//! of the project's packages runs, inside the sandbox, with the first approved cell, whatever that
//! cell does: `core::project_code` has the question name it.

use super::{
    program::{Found, Search},
    system::{USUAL, is_system},
};
use crate::regular::{self, Links};
use std::path::{Component, Path, PathBuf};

/// Names that an environment in a project has, in the order they are looked for.
const NAMES: [&str; 3] = [".venv", "venv", "env"];

/// Bytes of `pyvenv.cfg` that are read. Real ones have a few hundred.
const LONGEST: u64 = 16 << 10;

/// Most programs that an environment's folder is looked through for.
const MOST_PROGRAMS: usize = 2_000;

/// Where version managers keep interpreters below a home. `*` is the version's own folder.
const INSTALLED: [&str; 10] = [
    ".pyenv/versions/*/bin",
    ".local/share/uv/python/*/bin",
    ".asdf/installs/python/*/bin",
    ".local/share/mise/installs/python/*/bin",
    "miniconda3/bin",
    "miniconda3/envs/*/bin",
    "anaconda3/bin",
    "anaconda3/envs/*/bin",
    "miniforge3/bin",
    "miniforge3/envs/*/bin",
];

/// Which environment the person's shell stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activated {
    /// `VIRTUAL_ENV`.
    pub virtual_environment: Option<PathBuf>,
    /// `CONDA_PREFIX`, unless it is conda's own base, which is often active without being meant.
    pub conda: Option<PathBuf>,
    /// `JUPYTER_DATA_DIR` and `JUPYTER_PATH`.
    pub jupyter: Vec<PathBuf>,
}

/// An environment that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualEnvironment {
    /// Its folder.
    pub folder: PathBuf,
    /// Where its programs stand in the sandbox's `PATH`.
    pub programs: Precedence,
    /// Who chose it.
    pub chosen: Chosen,
}

/// Who chose an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The person: they activated it, or it lies outside the work folder.
    ByPerson,
    /// It came with the project.
    ByProject,
}

/// Whether programs of an environment come before those of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// As if it were activated.
    First,
    /// After them: it came with the project and has a program that is called like one of theirs.
    Last,
}

/// The result of looking for an environment.
#[derive(Debug)]
pub(super) enum Environment {
    None,
    /// This one, with the interpreter it was made for.
    Used(VirtualEnvironment, Found),
    /// There is one that cannot be used, and this is why.
    Unusable(String),
}

/// Whose an environment is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Person,
    Project,
}

/// The environment of a session: the activated one, else the project's.
pub(super) fn choose(search: &Search<'_>, activated: &Activated) -> Environment {
    if let Some(folder) = &activated.virtual_environment
        && let Ok(folder) = fs_err::canonicalize(folder)
        && is_environment(&folder)
    {
        return enter(search, folder, true);
    }
    if activated.conda.is_some() {
        return Environment::None;
    }
    let project = NAMES.iter().map(|name| search.work_folder.join(name));
    let mut found = project.filter(|folder| is_environment(folder));
    let Some(folder) = found.next() else { return Environment::None };
    match fs_err::canonicalize(&folder) {
        // Its target may be anything.
        Ok(real) if real != folder => Environment::Unusable(format!(
            "`{}` is not used: it is a symbolic link; activate the environment if you trust it",
            folder.display()
        )),
        Ok(_) => enter(search, folder, false),
        Err(_) => Environment::None,
    }
}

/// The environment that a program of `PATH` belongs to.
pub(super) fn around(search: &Search<'_>, program: &Path) -> Environment {
    match program.parent().and_then(Path::parent) {
        Some(folder) if is_environment(folder) => enter(search, folder.to_owned(), false),
        Some(_) | None => Environment::None,
    }
}

fn is_environment(folder: &Path) -> bool {
    let config = fs_err::symlink_metadata(folder.join("pyvenv.cfg"));
    config.is_ok_and(|config| config.is_file())
}

fn enter(search: &Search<'_>, folder: PathBuf, is_activated: bool) -> Environment {
    let whose = if folder.starts_with(search.work_folder) { Whose::Project } else { Whose::Person };
    let unusable =
        |why: &str| Environment::Unusable(format!("`{}` is not used: {why}", folder.display()));
    if search.is_shared(&folder) {
        return unusable("its folder contains a home");
    }
    let Some(config) = Config::read(&folder.join("pyvenv.cfg")) else {
        return unusable("its `pyvenv.cfg` cannot be read");
    };
    let Some(version) = config.version else {
        return unusable("its `pyvenv.cfg` does not state its Python version");
    };
    let packages = format!("lib/python{}.{}/site-packages", version[0], version[1]);
    if !folder.join(packages).is_dir() {
        return unusable("it has no `site-packages`");
    }
    let interpreter = match whose {
        Whose::Person => of_person(search, &folder),
        Whose::Project => of_project(search, config.home.as_deref(), version),
    };
    let Some(mut interpreter) = interpreter else {
        let [major, minor] = version;
        return unusable(&format!(
            "it was made for Python {major}.{minor}, which is not installed"
        ));
    };
    let programs = match whose {
        Whose::Person => {
            interpreter.reads.push(folder.clone());
            Precedence::First
        }
        Whose::Project => precedence(&folder.join("bin")),
    };
    let chosen = match whose {
        Whose::Project if !is_activated => Chosen::ByProject,
        Whose::Project | Whose::Person => Chosen::ByPerson,
    };
    Environment::Used(VirtualEnvironment { folder, programs, chosen }, interpreter)
}

/// The interpreter that the environment's own is a link to.
fn of_person(search: &Search<'_>, folder: &Path) -> Option<Found> {
    let own = ["python3", "python"].iter().map(|name| folder.join("bin").join(name));
    let real = own.filter_map(|own| fs_err::canonicalize(own).ok());
    real.filter(|real| !real.starts_with(folder)).find_map(|real| search.program_at(&real))
}

/// The interpreter that the project names, if it is known without the project; else another of
/// the same version.
fn of_project(search: &Search<'_>, home: Option<&Path>, version: [u32; 2]) -> Option<Found> {
    let named = home.and_then(|home| fs_err::canonicalize(home).ok());
    let named = named.filter(|home| is_known(search, home));
    let exact = format!("python{}.{}", version[0], version[1]);
    let programs = [exact.as_str(), "python3", "python"];
    named.iter().chain(search.path).find_map(|folder| {
        programs.iter().find_map(|name| {
            let found = search.program_at(&folder.join(name))?;
            let real = fs_err::canonicalize(&found.program).ok()?;
            let is_outside = !real.starts_with(search.work_folder);
            (is_outside && version_of(&real) == Some(version)).then_some(found)
        })
    })
}

/// Whether this is a folder of interpreters that is known without the project.
fn is_known(search: &Search<'_>, real: &Path) -> bool {
    let managed = search.home.is_some_and(|home| {
        real.strip_prefix(home).is_ok_and(|below| INSTALLED.iter().any(|at| fits(below, at)))
    });
    let shims = || {
        search.path.iter().filter(|folder| folder.ends_with("shims")).any(|shims| {
            let versions = shims.parent().map(|root| root.join("versions"));
            versions.is_some_and(|versions| {
                real.strip_prefix(versions).is_ok_and(|below| fits(below, "*/bin"))
            })
        })
    };
    managed || is_system(real) || shims()
}

/// Whether a path has this form, in which `*` is any one name.
fn fits(path: &Path, form: &str) -> bool {
    let names: Vec<_> = path.components().map(Component::as_os_str).collect();
    let form: Vec<_> = form.split('/').collect();
    names.len() == form.len()
        && names.iter().zip(form).all(|(name, form)| form == "*" || *name == form)
}

/// The version that a program has in its name.
pub(super) fn version_of(program: &Path) -> Option<[u32; 2]> {
    two_numbers(program.file_name()?.to_str()?.strip_prefix("python")?)
}

fn two_numbers(text: &str) -> Option<[u32; 2]> {
    let mut numbers = text.trim().split('.').map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??])
}

/// Whether the project's folder contains a program with the name of a system program, which would
/// be started in its place. Python's own are fine.
fn precedence(bin: &Path) -> Precedence {
    let Ok(entries) = fs_err::read_dir(bin) else { return Precedence::Last };
    for (count, entry) in entries.enumerate() {
        let Ok(entry) = entry else { return Precedence::Last };
        let name = entry.file_name();
        let is_pythons =
            name.to_str().is_some_and(|name| name.starts_with("python") || name.starts_with("pip"));
        let shadows = || USUAL.iter().any(|usual| Path::new(usual).join(&name).exists());
        if count >= MOST_PROGRAMS || (!is_pythons && shadows()) {
            return Precedence::Last;
        }
    }
    Precedence::First
}

/// The relevant lines of `pyvenv.cfg`.
struct Config {
    home: Option<PathBuf>,
    version: Option<[u32; 2]>,
}

impl Config {
    fn read(path: &Path) -> Option<Self> {
        let text = regular::text(path, LONGEST, Links::Followed)?;
        let value = |key: &str| {
            text.lines().find_map(|line| {
                let (name, value) = line.split_once('=')?;
                name.trim().eq_ignore_ascii_case(key).then(|| value.trim())
            })
        };
        let home = value("home").map(PathBuf::from).filter(|home| home.is_absolute());
        let version = value("version").or_else(|| value("version_info")).and_then(two_numbers);
        Some(Self { home, version })
    }
}

#[cfg(test)]
mod tests;
