//! Jupyter kernels that are installed here, found by their kernelspecs.
//!
//! # Threat
//! A kernelspec is a file that names a program, and what runs in a sandbox has its installation
//! shown there. One that came with the project may name anything: a program in a folder that holds
//! secrets, a link that leads there. And a kernel that came with the project is the project's code.
//!
//! # Mechanism
//! Nothing is run to find them. A program is resolved as that of any language is: it must be one,
//! and its own installation becomes visible, read-only, and nothing beside it. A spec that lies in
//! the work folder makes nothing visible that is not so already, and its kernel starts only for
//! code that has a permit.
//!
//! # Order
//! Specs are found before languages, because the person may have a language run by one. Their own
//! languages come last: no built-in or declared language loses its name to a kernel.
//!
//! # Limits
//! Specs in the person's own folders and the system's are believed as far as interpreters in
//! `PATH` are. Python packages of the person alone (`pip install --user`) are not visible inside.

use super::{
    Activated, Interpreter, Known,
    program::{Found, Search},
    start::Start,
    system::is_system,
};
use crate::regular::{self, Links};
use interpreter_core::{
    Continuity, LanguageInfo, declaration::is_language_name, unquoted::unquoted,
};
use interpreter_jupyter::{Interrupt, Launch};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
};

/// Prefix of a kernel's name.
const PREFIX: &str = "jupyter:";

/// Bytes of a spec that are read. Real ones have a few hundred.
const LONGEST: u64 = 64 << 10;

/// Kernels that are looked at in one folder.
const MOST: usize = 100;

/// Environments in a project, as `environments` knows them too.
const IN_PROJECT: [&str; 3] = [".venv", "venv", "env"];

/// A kernel, by its spec.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    name: String,
    display: String,
    /// The language, in lower case.
    language: String,
    found: Result<Ready, String>,
}

#[derive(Clone, Debug)]
struct Ready {
    found: Found,
    launch: Launch,
    whose: Whose,
}

/// Who put a kernel there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Person,
    Project,
}

#[derive(Deserialize)]
struct Spec {
    argv: Vec<String>,
    #[serde(default)]
    display_name: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    interrupt_mode: Interrupt,
}

/// All kernels, by name. Of two with the same name the first one counts.
pub(super) fn kernels(search: &Search<'_>, activated: &Activated) -> Vec<Kernel> {
    let mut kernels: BTreeMap<String, Kernel> = BTreeMap::new();
    for folder in folders(search, activated) {
        let Ok(entries) = fs_err::read_dir(folder.join("kernels")) else { continue };
        for entry in entries.flatten().take(MOST) {
            // Kernel names ignore case.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = name.to_lowercase();
            let file = entry.path().join("kernel.json");
            if is_language_name(&name) && file.exists() && !kernels.contains_key(&name) {
                let kernel = Kernel::read(&name, &entry.path(), &folder, search);
                kernels.insert(name, kernel);
            }
        }
    }
    kernels.into_values().collect()
}

/// The folders of Jupyter's own data, the person's before the system's.
fn folders(search: &Search<'_>, activated: &Activated) -> Vec<PathBuf> {
    let below = |prefix: &Path| prefix.join("share/jupyter");
    let environments = [&activated.virtual_environment, &activated.conda];
    // One that is a link leads to somebody else's folder, and would be shown as the person's.
    let is_in = |path: &PathBuf| {
        fs_err::canonicalize(path).is_ok_and(|real| real.starts_with(search.work_folder))
    };
    let project = IN_PROJECT.map(|name| below(&search.work_folder.join(name)));
    let project = project.into_iter().filter(is_in);
    let python = search.find(&["python3".to_owned(), "python".to_owned()], None);
    let python = python.and_then(|found| Some(below(found.program.parent()?.parent()?)));
    let path = search.path.iter().filter(|folder| folder.ends_with("bin"));
    let mut all = activated.jupyter.clone();
    all.extend(environments.into_iter().flatten().map(|prefix| below(prefix)));
    all.extend(project);
    all.extend(search.home.map(|home| below(&home.join(".local"))));
    all.extend(path.filter_map(|folder| folder.parent()).map(below));
    all.extend(python);
    all.extend(["/usr/local/share/jupyter", "/usr/share/jupyter"].map(PathBuf::from));
    all
}

impl Kernel {
    fn read(name: &str, folder: &Path, data: &Path, search: &Search<'_>) -> Self {
        let spec = read_spec(&folder.join("kernel.json"));
        let (display, language) = spec.as_ref().map_or_else(
            |_| Default::default(),
            |spec| (spec.display_name.clone(), spec.language.to_lowercase()),
        );
        let found = spec.and_then(|spec| ready(spec, folder, data, search));
        Self { name: name.into(), display, language, found }
    }

    /// A kernel's language by the name of its spec.
    fn full_name(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    fn interpreter(&self) -> Result<Interpreter, String> {
        let Ready { found, launch, whose } = self.found.as_ref().map_err(Clone::clone)?;
        let start = Start::jupyter(launch);
        Ok(Interpreter {
            program: Some(found.program.clone()),
            reads: found.reads.clone(),
            virtual_environment: None,
            own_package: None,
            note: Some(format!("runs in the Jupyter kernel {}", self.display)),
            early: match whose {
                Whose::Person => super::Early::Fine,
                Whose::Project => super::Early::WithPermit,
            },
            start,
            check: None,
            environment: BTreeMap::new(),
        })
    }
}

/// The interpreter of the kernel of this name; or why there is none.
pub(super) fn interpreter(kernels: &[Kernel], name: &str) -> Result<Interpreter, String> {
    let kernel = kernels.iter().find(|kernel| kernel.name.eq_ignore_ascii_case(name));
    let kernel = kernel.ok_or_else(|| {
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        format!("the Jupyter kernel `{name}` is not installed; installed: {}", names.join(", "))
    })?;
    kernel.interpreter()
}

/// Adds the kernels to what is known. A language that nothing else runs goes by its own name;
/// others by the name of their spec, and it is noted which language they are in.
pub(super) fn add(
    known: &mut Vec<Known>,
    kernels: &[Kernel],
    work_folder: &Path,
) -> BTreeMap<String, String> {
    let shown: Vec<_> = known
        .iter()
        .filter_map(|one| one.interpreter.as_ref().ok())
        .flat_map(|one| one.reads.clone())
        .collect();
    let mut written_in = BTreeMap::new();
    for kernel in kernels {
        let interpreter = kernel.interpreter().and_then(|one| check(one, &shown, work_folder));
        let is_called = |one: &&mut Known| {
            one.info.name == kernel.language || one.info.aliases.contains(&kernel.language)
        };
        let same = known.iter_mut().find(is_called);
        match (same, interpreter) {
            // The only one that runs a language which is known, but not here.
            (Some(one), Ok(interpreter)) if one.interpreter.is_err() => {
                one.interpreter = Ok(interpreter);
                one.info.aliases.push(kernel.full_name());
                one.info.continuity = Continuity::Kept;
            }
            (Some(one), interpreter) => {
                written_in.insert(kernel.full_name(), one.info.name.clone());
                known.push(Known::kernel(kernel.full_name(), vec![], interpreter));
            }
            (None, Ok(interpreter)) if is_language_name(&kernel.language) => {
                let aliases = vec![kernel.full_name()];
                known.push(Known::kernel(kernel.language.clone(), aliases, Ok(interpreter)));
            }
            (None, interpreter) => {
                known.push(Known::kernel(kernel.full_name(), vec![], interpreter));
            }
        }
    }
    written_in
}

/// A kernel from the project makes nothing else visible.
fn check(one: Interpreter, shown: &[PathBuf], work: &Path) -> Result<Interpreter, String> {
    let is_shown = |path: &&PathBuf| {
        path.starts_with(work) || is_system(path) || shown.iter().any(|at| path.starts_with(at))
    };
    match (one.early, one.reads.iter().find(|path| !is_shown(path))) {
        (super::Early::WithPermit, Some(hidden)) => Err(format!(
            "it came with the project and needs {}, which nothing else uses",
            hidden.display()
        )),
        (super::Early::WithPermit | super::Early::Fine, _) => Ok(one),
    }
}

impl Known {
    fn kernel(
        name: String,
        aliases: Vec<String>,
        interpreter: Result<Interpreter, String>,
    ) -> Self {
        let (endings, continuity) = (Vec::new(), Continuity::Kept);
        let info = LanguageInfo { name, aliases, endings, continuity };
        Self { info, by: super::DeclaredBy::Us, interpreter }
    }
}

fn read_spec(file: &Path) -> Result<Spec, String> {
    let failed = |what: &str| format!("{} {what}", file.display());
    let Some(open) = regular::opened(file, Links::Followed) else {
        return Err(failed("is not a file that can be read"));
    };
    let mut text = Vec::new();
    let read = open.take(LONGEST + 1).read_to_end(&mut text);
    match read {
        Err(_) => Err(failed("cannot be read")),
        Ok(_) if text.len() as u64 > LONGEST => Err(failed("is too long to be a kernelspec")),
        Ok(_) => serde_json::from_slice(&text).map_err(|error| {
            failed(&format!("is not a kernelspec: {}", unquoted(&error.to_string())))
        }),
    }
}

/// The interpreter of a spec, if it is usable.
fn ready(spec: Spec, folder: &Path, data: &Path, search: &Search<'_>) -> Result<Ready, String> {
    if !spec.argv.iter().skip(1).any(|word| word.contains("{connection_file}")) {
        return Err("its `argv` has no `{connection_file}`".into());
    }
    let real = |path: &Path| fs_err::canonicalize(path).map_err(|error| error.to_string());
    // Everything that is reached through the work folder is the project's, wherever it leads.
    let through = [folder, data].iter().any(|path| path.starts_with(search.work_folder));
    let (folder, data) = (real(folder)?, real(data)?);
    let is_theirs =
        through || [&folder, &data].iter().any(|path| path.starts_with(search.work_folder));
    let whose = if is_theirs { Whose::Project } else { Whose::Person };
    // Where a kernel is installed, its program is too.
    let prefix = data.ancestors().nth(2).filter(|_| data.ends_with("share/jupyter"));
    let mut found = program(&spec.argv[0], prefix, search)?;
    let mut argv = vec![found.program.to_string_lossy().into_owned()];
    for word in &spec.argv[1..] {
        if word.contains("{resource_dir}") {
            found.reads.extend(resources(&folder, &data)?);
        }
        let prefix = prefix.map(Path::to_string_lossy).unwrap_or_default();
        let word = word.replace("{resource_dir}", &folder.to_string_lossy());
        argv.push(word.replace("{prefix}", &prefix));
    }
    let launch = Launch { argv, environment: spec.env, interrupt: spec.interrupt_mode };
    Ok(Ready { found, launch, whose })
}

/// The program that a spec names: beside the spec, or as any other.
fn program(name: &str, prefix: Option<&Path>, search: &Search<'_>) -> Result<Found, String> {
    let beside = prefix.map(|prefix| prefix.join("bin").join(name));
    let beside = beside.filter(|path| !name.contains('/') && path.is_file());
    let named = beside.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned());
    if name.contains('/') && !name.starts_with('/') {
        return Err(format!("its program `{name}` is neither a name nor an absolute path"));
    }
    let found = search.find(&[named], None);
    found.ok_or_else(|| format!("its program `{name}` does not exist or is not executable"))
}

/// The spec's own folder, if that is what it is: a link may lead anywhere.
fn resources(folder: &Path, data: &Path) -> Result<Option<PathBuf>, String> {
    if !folder.starts_with(data.join("kernels")) {
        return Err(format!("{} is a symbolic link out of {}", folder.display(), data.display()));
    }
    Ok((!is_system(folder)).then(|| folder.to_owned()))
}

#[cfg(test)]
#[path = "jupyter_tests.rs"]
mod tests;
