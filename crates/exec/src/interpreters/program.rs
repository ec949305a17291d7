//! Finds a program, and what must be seen for it to work.
//!
//! Found by looking, not by running: a version manager's shim is a slow script that may do
//! anything, so the program behind it is worked out from the manager's own files. Interpreters
//! often live inside a home, which is absent in a sandbox: then the interpreter's own installation is
//! shown, read-only, and nothing beside it. That holds for every home of the machine.

use super::{
    homes::Homes,
    managers::{self, Behind},
    system::is_system,
};
use crate::regular::{self, Links};
use interpreter_core::declaration::Least;
use std::{
    fs::Metadata,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// How a program that is no script begins.
const ELF: [u8; 4] = *b"\x7fELF";

/// Bytes of a header that says a version.
const LONGEST_HEADER: u64 = 1 << 20;

/// Where programs are looked for.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) path: &'a [PathBuf],
    pub(super) home: Option<&'a Path>,
    /// Everybody's homes, that one perhaps not among them.
    pub(super) homes: &'a Homes,
    pub(super) work_folder: &'a Path,
}

/// How a program was asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    ByName,
    ByPath,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path, inside a sandbox too.
    pub(super) program: PathBuf,
    /// Paths that it needs besides the system.
    pub(super) reads: Vec<PathBuf>,
}

impl Search<'_> {
    /// The first of these programs that is there and new enough.
    pub(super) fn find(&self, programs: &[String], least: Option<&Least>) -> Option<Found> {
        let mut candidates = programs.iter().flat_map(|name| self.candidates(name));
        candidates.find_map(|(candidate, named)| {
            let real = self.real_program(&candidate, named)?;
            least.is_none_or(|least| is_new_enough(&real, least)).then_some(())?;
            self.installation(&real)
        })
    }

    /// The program at a path, if it is one.
    pub(super) fn program_at(&self, path: &Path) -> Option<Found> {
        self.installation(&self.real_program(path, Named::ByName)?)
    }

    /// The folder of one of these packages of Node.js, in the work folder or where everybody's are.
    pub(super) fn package(&self, program: &Path, packages: &[String]) -> Option<PathBuf> {
        let prefix = program.parent().and_then(Path::parent).map(|prefix| prefix.join("lib"));
        let shared = ["/usr/local/lib", "/usr/lib"].map(PathBuf::from);
        let folders = [self.work_folder.to_owned()].into_iter().chain(prefix).chain(shared);
        let folders = folders.map(|folder| folder.join("node_modules"));
        let mut folders = folders.chain(["/usr/share/nodejs".into()]);
        folders.find_map(|folder| {
            let mut at = packages.iter().map(|package| folder.join(package));
            at.find(|at| at.join("package.json").is_file())
        })
    }

    /// Whether a folder is somebody's home, or holds one, or is where a home keeps everything.
    pub(super) fn is_shared(&self, folder: &Path) -> bool {
        folder.parent().is_none()
            || self
                .home
                .is_some_and(|home| home.starts_with(folder) || folder == home.join(".local"))
            || self.homes.are_shown_by(folder)
    }

    /// The path of something else that must be seen, if it is there.
    pub(super) fn existing(&self, path: &str) -> Option<PathBuf> {
        fs_err::canonicalize(self.expanded(path)?).ok().filter(|path| !is_system(path))
    }

    /// Where a program of this name could be.
    fn candidates(&self, name: &str) -> Vec<(PathBuf, Named)> {
        if name.contains('/') {
            return self.expanded(name).map(|path| (path, Named::ByPath)).into_iter().collect();
        }
        self.path.iter().map(|folder| (folder.join(name), Named::ByName)).collect()
    }

    /// A path in which `~/` stands for the home.
    fn expanded(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(below) => Some(self.home?.join(below)),
            None => Some(path.into()),
        }
    }

    /// The program behind `candidate`, if it is one.
    fn real_program(&self, candidate: &Path, named: Named) -> Option<PathBuf> {
        let metadata = fs_err::metadata(candidate).ok().filter(is_executable)?;
        match managers::behind(candidate, &metadata, self.home, self.work_folder) {
            Behind::Program(program) => Some(program).filter(|it| starts_as(it) == Some(ELF)),
            Behind::Unknown => None,
            Behind::Itself => match starts_as(candidate)? {
                ELF => Some(candidate.to_owned()),
                // A script of the system needs nothing that is not seen. Of others nobody knows
                // but who wrote down the path of just this one.
                [b'#', b'!', ..] => {
                    (named == Named::ByPath || is_system(candidate)).then(|| candidate.to_owned())
                }
                _ => None,
            },
        }
    }

    /// How a program is called inside, and what must be seen for it to work.
    fn installation(&self, candidate: &Path) -> Option<Found> {
        let real = fs_err::canonicalize(candidate).ok()?;
        if is_system(candidate) && is_system(&real) {
            // By its own name, since some programs do what they are called.
            return Some(Found { program: candidate.to_owned(), reads: vec![] });
        }
        let mut reads = Vec::new();
        let mut program = real.clone();
        // A virtual environment's interpreter is a link that must be called by its own path.
        if let Some(environment) = candidate.parent().and_then(Path::parent)
            && environment.join("pyvenv.cfg").is_file()
            && let Ok(environment) = fs_err::canonicalize(environment)
            && !self.is_shared(&environment)
        {
            program = environment.join("bin").join(candidate.file_name()?);
            reads.push(environment);
        }
        reads.push(self.prefix(&real));
        reads.retain(|path| !is_system(path));
        Some(Found { program, reads })
    }

    /// The folder that holds the installation of `program`, or the program alone if the folder is
    /// somebody's home or something like it.
    fn prefix(&self, program: &Path) -> PathBuf {
        let prefix = program.parent().and_then(|bin| {
            (bin.file_name()? == "bin")
                .then(|| bin.parent())?
                .filter(|prefix| prefix.join("lib").is_dir() && !self.is_shared(prefix))
        });
        prefix.unwrap_or(program).to_owned()
    }
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

fn starts_as(path: &Path) -> Option<[u8; 4]> {
    regular::beginning(path, 4)?.try_into().ok()
}

/// Whether the installation says that it is at least this version. In doubt it is not.
fn is_new_enough(program: &Path, least: &Least) -> bool {
    let version = || {
        let program = fs_err::canonicalize(program).ok()?;
        let header = program.parent()?.parent()?.join(&least.header);
        let text = regular::text(&header, LONGEST_HEADER, Links::Followed)?;
        let number = |ending: &str| {
            text.lines().find_map(|line| {
                let mut words = line.split_whitespace();
                let defined = words.next()? == "#define" && words.next()?.ends_with(ending);
                defined.then(|| words.next()?.parse::<u32>().ok())?
            })
        };
        Some([number("_MAJOR_VERSION")?, number("_MINOR_VERSION")?])
    };
    version().is_some_and(|version| version >= least.version)
}
