//! Which languages run on this machine, by which interpreters, and what each needs to be seen
//! inside a sandbox.
//!
//! Languages are declared: `languages.toml` holds ours, the person's settings may add to them or
//! replace them. Interpreters are found by looking, never by running one. Those that have a
//! driver of ours keep their state between runs; for all others a small driver in bash runs each
//! piece of code as a program of its own.

use self::{
    environments::Environment,
    program::{Found, Search},
    start::Start,
};
use interpreter_core::{
    Continuity, Declaration, Language, LanguageInfo, Languages, MissingLanguage,
    declaration::{Driver, How, Way},
};
use interpreter_host::{KernelInput, KernelSpec};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use self::{
    environments::{Activated, Chosen, Precedence, VirtualEnvironment},
    installer::{PackageTool, PythonHome},
    system::is_system,
};
pub(crate) use self::{homes::Homes, packages::PYTHON_ALONE, system::SYSTEM};

mod environments;
mod homes;
mod installer;
mod jupyter;
mod managers;
mod packages;
mod program;
mod project_code;
mod shipped;
mod start;
mod system;
mod versions;

/// One language's interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The program, with the same path inside the sandbox, or `None` if the language needs none.
    pub program: Option<PathBuf>,
    /// Paths to show, read-only, besides the system.
    pub reads: Vec<PathBuf>,
    /// The virtual environment that it works in.
    pub virtual_environment: Option<VirtualEnvironment>,
    /// The package of the work folder that it loads with the first code.
    own_package: Option<PathBuf>,
    /// A note for the person.
    pub note: Option<String>,
    /// Whether it may be started before code has a permit.
    pub early: Early,
    start: Start,
    /// The command that prints its version, if it differs.
    check: Option<Start>,
    environment: BTreeMap<String, String>,
}

/// Whether an interpreter may be started before any code has a permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Early {
    /// It runs nothing of the project's by being started.
    #[default]
    Fine,
    /// It came with the project.
    WithPermit,
}

/// Who declared a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredBy {
    /// It is in our list.
    Us,
    /// It is in the person's settings.
    Person,
}

/// A language that is known, and what runs it here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The names it goes by, and what its runs leave to the next.
    pub info: LanguageInfo,
    /// Who declared it.
    pub by: DeclaredBy,
    /// Its interpreter, or how to get one.
    pub interpreter: Result<Interpreter, String>,
}

/// The languages that are known, and the interpreters of this machine.
#[derive(Clone, Debug, Default)]
pub struct Interpreters {
    known: Vec<Known>,
    /// The language that a kernel's code is in, where something else runs that by itself.
    written_in: BTreeMap<String, String>,
    /// The installers of packages that stand by themselves.
    uv: Option<Found>,
    /// Where packages of the folder are.
    packages: Option<packages::Packaged>,
}

impl Interpreters {
    /// Looks for the interpreters of our languages and of those that the person `declared`, in
    /// the folders of `path`. `home` and `work_folder` help to tell an installation from a home;
    /// of the environments of Python, the `activated` one is used, else that of the work folder.
    pub fn find<'a>(
        path: &[PathBuf],
        home: Option<&Path>,
        work_folder: &Path,
        activated: &Activated,
        declared: impl IntoIterator<Item = (&'a str, &'a Declaration)>,
    ) -> Self {
        let homes = &Homes::look();
        let search = Search { path, home, homes, work_folder };
        let kernels = jupyter::kernels(&search, activated);
        let declared: BTreeMap<_, _> = declared.into_iter().collect();
        let shipped = shipped::languages();
        let ours = shipped.iter().map(|(name, one)| match declared.get(name.as_str()) {
            Some(theirs) => (name.as_str(), *theirs, DeclaredBy::Person),
            None => (name.as_str(), one, DeclaredBy::Us),
        });
        let more =
            declared.iter().filter(|(name, _)| shipped.iter().all(|(ours, _)| ours != *name));
        let all: Vec<_> =
            ours.chain(more.map(|(name, one)| (*name, *one, DeclaredBy::Person))).collect();
        let bash = search.find(&["bash".to_owned()], None);
        let uv = search.find(&["uv".to_owned()], None);
        let means = Means { search, activated, kernels: &kernels, bash: bash.as_ref() };
        let mut known: Vec<_> =
            all.into_iter().map(|(name, one, by)| Known::look(name, one, by, &means)).collect();
        give_names_to_the_person(&mut known);
        let written_in = jupyter::add(&mut known, &kernels, work_folder);
        Self { known, written_in, uv, packages: None }
    }

    /// The interpreters of a system that cannot be looked at, such as an image: those that have a
    /// driver of ours, and those that the person `declared`, each found there by its first name.
    pub fn elsewhere<'a>(declared: impl IntoIterator<Item = (&'a str, &'a Declaration)>) -> Self {
        let declared: BTreeMap<_, _> = declared.into_iter().collect();
        let ours = shipped::languages().iter().map(|(name, one)| (name.as_str(), one));
        let ours = ours.filter(|(name, _)| !declared.contains_key(name));
        let ours = ours.filter_map(|(name, one)| Known::elsewhere(name, one, DeclaredBy::Us));
        let theirs = declared
            .iter()
            .filter_map(|(name, one)| Known::elsewhere(name, one, DeclaredBy::Person));
        let mut known: Vec<_> = ours.chain(theirs).collect();
        give_names_to_the_person(&mut known);
        Self { known, ..Self::default() }
    }

    /// The languages that run here, and those that could.
    pub fn languages(&self) -> Languages {
        let here = self.known.iter().filter(|one| one.interpreter.is_ok());
        let missing = self.known.iter().filter_map(|one| {
            let hint = one.interpreter.as_ref().err()?.clone();
            Some(MissingLanguage { info: one.info.clone(), hint })
        });
        Languages::new(here.map(|one| one.info.clone()).collect())
            .with_missing(missing.collect())
            .with_written_in(self.written_in.clone())
    }

    /// All languages that are known.
    pub fn all(&self) -> impl Iterator<Item = &Known> {
        self.known.iter()
    }

    /// How to get an interpreter for one of our languages.
    pub fn hint(name: &str) -> Option<&'static str> {
        let found = shipped::languages().iter().find(|(known, _)| known == name);
        found.and_then(|(_, declaration)| declaration.hint.as_deref())
    }

    /// The interpreter of a language.
    pub fn get(&self, language: &Language) -> Option<&Interpreter> {
        let known = self.known.iter().find(|one| one.info.name == language.name())?;
        known.interpreter.as_ref().ok()
    }

    /// Whether code of a language can be given arguments, and be a script.
    pub fn takes_arguments(&self, language: &Language) -> bool {
        self.get(language).is_some_and(|one| one.start.takes_arguments)
    }

    /// Whether the interpreter of a language may be started before any code has a permit.
    pub fn may_start_early(&self, language: &Language) -> bool {
        self.get(language).is_some_and(|one| one.early == Early::Fine)
    }

    fn found(&self) -> impl Iterator<Item = &Interpreter> {
        self.known.iter().filter_map(|one| one.interpreter.as_ref().ok())
    }

    /// Paths that all of them need besides the system.
    pub fn reads(&self) -> impl Iterator<Item = &Path> {
        self.found().flat_map(|one| one.reads.iter().map(PathBuf::as_path))
    }

    /// The folders of the programs that are in none of the usual ones, for the sandbox's own
    /// `PATH`.
    pub fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let folders = self.found().filter_map(|one| one.program.as_deref()?.parent());
        // One that is found by its name has no folder.
        let folders = folders.filter(|folder| !folder.as_os_str().is_empty());
        let own = folders.filter(|folder| !system::is_usual(folder)).map(Path::to_owned);
        let packaged = self.packages.as_ref().and_then(packages::Packaged::python);
        self.environment_folder(Precedence::First).into_iter().chain(packaged).chain(own)
    }

    /// Folders that come after the usual ones there.
    pub fn last_folders(&self) -> impl Iterator<Item = PathBuf> {
        let packaged = self.packages.iter().flat_map(packages::Packaged::programs);
        self.environment_folder(Precedence::Last).into_iter().chain(packaged)
    }

    /// The virtual environment that Python works in.
    pub fn virtual_environment(&self) -> Option<&VirtualEnvironment> {
        self.found().find_map(|one| one.virtual_environment.as_ref())
    }

    fn environment_folder(&self, precedence: Precedence) -> Option<PathBuf> {
        let environment = self.virtual_environment()?;
        (environment.programs == precedence).then(|| environment.folder.join("bin"))
    }

    /// The drivers, by their paths inside a sandbox.
    pub(crate) fn drivers() -> impl Iterator<Item = (PathBuf, &'static str)> {
        start::drivers()
    }
}

impl Interpreter {
    /// How the host starts it.
    pub(crate) fn spec(&self, environment: &BTreeMap<String, String>, folder: &Path) -> KernelSpec {
        let mut environment = environment.clone();
        environment.extend(self.environment.clone());
        KernelSpec {
            program: self.start.program.clone(),
            arguments: self.start.arguments.clone(),
            environment,
            folder: folder.to_owned(),
            input: KernelInput::Empty,
        }
    }
}

impl Interpreter {
    /// The version that its own files tell. Nothing is run for it.
    pub fn version(&self) -> Option<String> {
        versions::told(self.program.as_deref()?)
    }

    /// How the host starts it to learn its version. The folder holds nothing of the project's.
    pub(crate) fn check_spec(&self, environment: &BTreeMap<String, String>) -> KernelSpec {
        let start = self.check.as_ref().unwrap_or(&self.start);
        let spec = self.spec(environment, Path::new("/"));
        KernelSpec { program: start.program.clone(), arguments: start.arguments.clone(), ..spec }
    }
}

impl Known {
    fn look(name: &str, declaration: &Declaration, by: DeclaredBy, means: &Means<'_>) -> Self {
        let Declaration { aliases, endings, ways, environment, reads, hint } = declaration;
        let found = ways.iter().find_map(|way| Some((way, Runs::find(way, means)?)));
        let how = found.as_ref().map_or(&ways[0].how, |(way, _)| &way.how);
        let continuity = match how {
            How::Driver(_) | How::Jupyter(_) => Continuity::Kept,
            How::Once(_) | How::Show(_) => Continuity::Fresh,
        };
        let (mut aliases, mut endings) = (aliases.clone(), endings.clone());
        // Who only says that a kernel runs it means the same language.
        if matches!(how, How::Jupyter(_)) && aliases.is_empty() && endings.is_empty() {
            let ours = shipped::languages().iter().find(|(ours, _)| ours == name);
            if let Some((_, ours)) = ours {
                (aliases, endings) = (ours.aliases.clone(), ours.endings.clone());
            }
        }
        let info = LanguageInfo { name: name.into(), aliases, endings, continuity };
        let interpreter = match found {
            Some((
                _,
                Runs {
                    program,
                    mut seen,
                    start,
                    check,
                    virtual_environment,
                    own_package,
                    note,
                    early,
                },
            )) => {
                seen.extend(reads.iter().filter_map(|path| means.search.existing(path)));
                let environment = environment.clone();
                let reads = seen;
                Ok(Interpreter {
                    program,
                    reads,
                    virtual_environment,
                    own_package,
                    note,
                    early,
                    start,
                    check,
                    environment,
                })
            }
            None if means.bash.is_none() => {
                Err("install bash, for example with `apt install bash`".into())
            }
            None => Err(hint.clone().unwrap_or_else(|| no_hint(name, ways, means.kernels))),
        };
        Self { info, by, interpreter }
    }
}

impl Known {
    /// A language in a system that cannot be looked at, if there is a chance that it runs there.
    fn elsewhere(name: &str, declaration: &Declaration, by: DeclaredBy) -> Option<Self> {
        let Declaration { aliases, endings, ways, environment, .. } = declaration;
        let way = ways.first()?;
        let program = PathBuf::from(way.programs.first()?);
        let (start, continuity) = match (&way.how, by) {
            (How::Driver(driver), _) if way.packages.is_empty() => {
                (Start::driver(*driver, program.clone()), Continuity::Kept)
            }
            (How::Once(once), DeclaredBy::Person) => {
                (Start::once(once, &program, "bash".into()), Continuity::Fresh)
            }
            (How::Driver(_) | How::Once(_) | How::Jupyter(_) | How::Show(_), _) => return None,
        };
        let (aliases, endings) = (aliases.clone(), endings.clone());
        let info = LanguageInfo { name: name.into(), aliases, endings, continuity };
        let interpreter = Interpreter {
            program: Some(program),
            reads: vec![],
            virtual_environment: None,
            own_package: None,
            note: None,
            early: Early::Fine,
            start,
            check: None,
            environment: environment.clone(),
        };
        Some(Self { info, by, interpreter: Ok(interpreter) })
    }
}

/// Everything that an interpreter is looked for with.
#[derive(Clone, Copy)]
struct Means<'a> {
    search: Search<'a>,
    activated: &'a Activated,
    kernels: &'a [jupyter::Kernel],
    /// Starts every language that runs once.
    bash: Option<&'a Found>,
}

/// A way that works here.
struct Runs {
    program: Option<PathBuf>,
    seen: Vec<PathBuf>,
    start: Start,
    check: Option<Start>,
    virtual_environment: Option<VirtualEnvironment>,
    own_package: Option<PathBuf>,
    note: Option<String>,
    early: Early,
}

impl Runs {
    fn new(program: Option<PathBuf>, seen: Vec<PathBuf>, start: Start) -> Self {
        let (check, virtual_environment, own_package, note, early) = Default::default();
        Self { program, seen, start, check, virtual_environment, own_package, note, early }
    }

    fn find(way: &Way, means: &Means<'_>) -> Option<Self> {
        let Means { search, activated, kernels, bash } = *means;
        let find = || search.find(&way.programs, way.least.as_ref());
        Some(match &way.how {
            How::Driver(Driver::Python) => Self::python(way, &search, activated)?,
            How::Driver(driver) => {
                let Found { program, reads } = find()?;
                let package = search.package(&program, &way.packages);
                (way.packages.is_empty() || package.is_some()).then_some(())?;
                let start = Start::driver(*driver, program.clone());
                let own_package = package.filter(|at| at.starts_with(search.work_folder));
                Self { own_package, ..Self::new(Some(program), reads, start) }
            }
            How::Once(once) => {
                let Found { program, mut reads } = find()?;
                let bash = bash?;
                reads.extend(bash.reads.iter().cloned());
                let start = Start::once(once, &program, bash.program.clone());
                let check = Some(Start::version(once, &program, bash.program.clone()));
                Self { check, ..Self::new(Some(program), reads, start) }
            }
            How::Jupyter(name) => {
                let Interpreter { program, reads, start, note, early, .. } =
                    jupyter::interpreter(kernels, name).ok()?;
                Self { note, early, ..Self::new(program, reads, start) }
            }
            How::Show(kind) => {
                let Found { program, reads } = bash?.clone();
                Self::new(None, reads, Start::show(kind, program))
            }
        })
    }

    /// Python, in an environment if there is one and nobody has said which program it shall be.
    fn python(way: &Way, search: &Search<'_>, activated: &Activated) -> Option<Self> {
        let is_open = way.programs.iter().all(|program| !program.contains('/'));
        let mut note = None;
        if is_open {
            match environments::choose(search, activated) {
                Environment::Used(folder, found) => return Some(Self::inside(folder, found)),
                Environment::Unusable(why) => note = Some(why),
                Environment::None => {}
            }
        }
        let conda = activated.conda.iter().map(|conda| conda.join("bin"));
        let mut path: Vec<_> = conda.chain(search.path.iter().cloned()).collect();
        loop {
            let Found { program, reads } =
                Search { path: &path, ..*search }.find(&way.programs, way.least.as_ref())?;
            match environments::around(search, &program) {
                Environment::Used(folder, found) => return Some(Self::inside(folder, found)),
                // Nothing of the project's starts by itself.
                Environment::Unusable(why)
                    if is_open && program.starts_with(search.work_folder) =>
                {
                    note = Some(why);
                    path.retain(|folder| !program.starts_with(folder));
                }
                Environment::Unusable(_) | Environment::None => {
                    let start = Start::driver(Driver::Python, program.clone());
                    return Some(Self { note, ..Self::new(Some(program), reads, start) });
                }
            }
        }
    }

    fn inside(environment: VirtualEnvironment, Found { program, reads }: Found) -> Self {
        let start = Start::in_environment(program.clone(), &environment.folder);
        let virtual_environment = Some(environment);
        Self { virtual_environment, ..Self::new(Some(program), reads, start) }
    }
}

/// A default hint for a declared language without one.
fn no_hint(name: &str, ways: &[Way], kernels: &[jupyter::Kernel]) -> String {
    if let [Way { how: How::Jupyter(kernel), .. }] = ways {
        let why = jupyter::interpreter(kernels, kernel).err().unwrap_or_default();
        return format!("`[language.{name}]` in your config file: {why}");
    }
    let programs: Vec<_> = ways.iter().flat_map(|way| &way.programs).map(String::as_str).collect();
    format!(
        "install `{}`, required by `[language.{name}]` in your config file",
        programs.join("` or `")
    )
}

/// A built-in language loses the names that the person gave to another.
fn give_names_to_the_person(known: &mut [Known]) {
    let theirs = known.iter().filter(|one| one.by == DeclaredBy::Person);
    let (mut names, mut endings) = (Vec::new(), Vec::new());
    for one in theirs {
        names.push(one.info.name.clone());
        names.extend(one.info.aliases.iter().cloned());
        endings.extend(one.info.endings.iter().cloned());
    }
    for one in known.iter_mut().filter(|one| one.by == DeclaredBy::Us) {
        one.info.aliases.retain(|alias| !names.contains(alias));
        one.info.endings.retain(|ending| !endings.contains(ending));
    }
}

#[cfg(test)]
mod tests;
