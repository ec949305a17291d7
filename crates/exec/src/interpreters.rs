//! Which languages run on this machine, by which interpreters, and what each needs to be seen
//! inside a sandbox.
//!
//! Languages are declared: `languages.toml` holds ours, the person's settings may add to them or
//! replace them. Interpreters are found by looking, never by running one. Those that have a
//! driver of ours keep their state between runs; for all others a small driver in bash runs each
//! piece of code as a program of its own.

use self::{
    program::{Found, Search},
    start::Start,
};
use interpreter_core::{
    Continuity, Declaration, Language, LanguageInfo, Languages, MissingLanguage,
    declaration::{How, Way},
};
use interpreter_host::KernelSpec;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub(crate) use self::system::SYSTEM;
pub use self::system::is_system;

mod managers;
mod program;
mod shipped;
mod start;
mod system;

/// One language's interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The program, as it is called inside the sandbox too; none if the language needs none.
    pub program: Option<PathBuf>,
    /// What must be seen, read-only, besides the system.
    pub reads: Vec<PathBuf>,
    start: Start,
    environment: BTreeMap<String, String>,
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
}

impl Interpreters {
    /// Looks for the interpreters of our languages and of those that the person `declared`, in
    /// the folders of `path`. `home` and `work_folder` help to tell an installation from a home.
    pub fn find<'a>(
        path: &[PathBuf],
        home: Option<&Path>,
        work_folder: &Path,
        declared: impl IntoIterator<Item = (&'a str, &'a Declaration)>,
    ) -> Self {
        let search = Search { path, home, work_folder };
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
        // Every language that runs once is started by it.
        let bash = search.find(&["bash".to_owned()], None);
        let mut known: Vec<_> = all
            .into_iter()
            .map(|(name, one, by)| Known::look(name, one, by, &search, bash.as_ref()))
            .collect();
        give_names_to_the_person(&mut known);
        Self { known }
    }

    /// The languages that run here, and those that could.
    pub fn languages(&self) -> Languages {
        let here = self.known.iter().filter(|one| one.interpreter.is_ok());
        let missing = self.known.iter().filter_map(|one| {
            let hint = one.interpreter.as_ref().err()?.clone();
            Some(MissingLanguage { info: one.info.clone(), hint })
        });
        Languages::new(here.map(|one| one.info.clone()).collect()).with_missing(missing.collect())
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

    fn found(&self) -> impl Iterator<Item = &Interpreter> {
        self.known.iter().filter_map(|one| one.interpreter.as_ref().ok())
    }

    /// What all of them need to see besides the system.
    pub fn reads(&self) -> impl Iterator<Item = &Path> {
        self.found().flat_map(|one| one.reads.iter().map(PathBuf::as_path))
    }

    /// The folders of the programs that are in none of the usual ones, for the sandbox's own
    /// `PATH`.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        let folders = self.found().filter_map(|one| one.program.as_deref()?.parent());
        folders.filter(|folder| !system::USUAL.iter().any(|usual| Path::new(usual) == *folder))
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
        }
    }
}

impl Known {
    fn look(
        name: &str,
        declaration: &Declaration,
        by: DeclaredBy,
        search: &Search<'_>,
        bash: Option<&Found>,
    ) -> Self {
        let Declaration { aliases, endings, ways, environment, reads, hint } = declaration;
        let found = ways.iter().find_map(|way| Some((way, Runs::find(way, search, bash)?)));
        let how = found.as_ref().map_or(&ways[0].how, |(way, _)| &way.how);
        let continuity = match how {
            How::Driver(_) => Continuity::Kept,
            How::Once(_) | How::Show(_) => Continuity::Fresh,
        };
        let info = LanguageInfo {
            name: name.into(),
            aliases: aliases.clone(),
            endings: endings.clone(),
            continuity,
        };
        let interpreter = match found {
            Some((_, Runs { program, mut seen, start })) => {
                seen.extend(reads.iter().filter_map(|path| search.existing(path)));
                let environment = environment.clone();
                Ok(Interpreter { program, reads: seen, start, environment })
            }
            None if bash.is_none() => {
                Err("install bash, which starts it, for example `apt install bash`".into())
            }
            None => Err(hint.clone().unwrap_or_else(|| no_hint(name, ways))),
        };
        Self { info, by, interpreter }
    }
}

/// A way that works here.
struct Runs {
    program: Option<PathBuf>,
    seen: Vec<PathBuf>,
    start: Start,
}

impl Runs {
    fn find(way: &Way, search: &Search<'_>, bash: Option<&Found>) -> Option<Self> {
        let find = || search.find(&way.programs, way.least.as_ref());
        Some(match &way.how {
            How::Driver(driver) => {
                let Found { program, reads } = find()?;
                let start = Start::driver(*driver, program.clone());
                Self { program: Some(program), seen: reads, start }
            }
            How::Once(once) => {
                let Found { program, mut reads } = find()?;
                let bash = bash?;
                reads.extend(bash.reads.iter().cloned());
                let start = Start::once(once, &program, bash.program.clone());
                Self { program: Some(program), seen: reads, start }
            }
            How::Show(kind) => {
                let Found { program, reads } = bash?.clone();
                Self { program: None, seen: reads, start: Start::show(kind, program) }
            }
        })
    }
}

/// What to do about a language of the person's own that says nothing about it.
fn no_hint(name: &str, ways: &[Way]) -> String {
    let programs: Vec<_> = ways.iter().flat_map(|way| &way.programs).map(String::as_str).collect();
    format!(
        "install `{}`, which `[language.{name}]` in your config file names",
        programs.join("` or `")
    )
}

/// What a language of the person's own is called, none of ours is called any more.
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
