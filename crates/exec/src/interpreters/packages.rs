//! The packages of a folder: where its interpreters find them, and what installs them.
//!
//! Must be added after everything else was found: nothing that a package brought may say which
//! interpreter, which tool or which host is used.

use super::{
    Interpreter, Interpreters,
    installer::{PackageTool, PythonHome},
    program::Found,
    versions,
};
use crate::regular::{self, Links};
use interpreter_core::packages::PackageKind;
use std::path::{Path, PathBuf};

/// Where the packages of a folder are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packaged {
    python: Option<PathBuf>,
    node: Option<PathBuf>,
}

impl Packaged {
    /// Python by its usual names, which finds the packages, and nothing else.
    pub(super) fn python(&self) -> Option<PathBuf> {
        self.python.as_ref().map(|folder| folder.join(PYTHON_ALONE))
    }

    /// The programs of packages. None of them stands in for one of the system.
    pub(super) fn programs(&self) -> impl Iterator<Item = PathBuf> {
        let python = self.python.iter().map(|folder| folder.join("bin"));
        python.chain(self.node.iter().map(|folder| folder.join("node_modules/.bin")))
    }
}

/// The folder of an environment of ours that has Python and no program of a package.
pub(crate) const PYTHON_ALONE: &str = "python";

/// Tells the driver of a shell that packages can be installed for the folder.
const OFFERED: &str = "INTERPRETER_PACKAGES";

/// Where scripts of Node.js are, below the prefix of an installation.
const NPM: [&str; 3] = [
    "lib/node_modules/npm/bin/npm-cli.js",
    "share/nodejs/npm/bin/npm-cli.js",
    "lib/nodejs/npm/bin/npm-cli.js",
];

impl Interpreters {
    /// The same, whose Python and Node.js find the packages below `root`.
    #[must_use]
    pub fn with_packages(mut self, root: &Path) -> Self {
        let python = self.package_folder(PackageKind::Python, root);
        let node = self.package_folder(PackageKind::Npm, root);
        for known in &mut self.known {
            let Ok(interpreter) = &mut known.interpreter else { continue };
            match (known.info.name.as_str(), &python, &node) {
                ("python", Some(folder), _) => {
                    let series = series_of(interpreter).unwrap_or_default();
                    let library = format!("lib/python{}.{}/site-packages", series[0], series[1]);
                    let start = interpreter.start.clone().with_packages(&folder.join(library));
                    interpreter.start = start.unwrap_or_else(|| interpreter.start.clone());
                }
                ("javascript" | "typescript", _, Some(folder)) => {
                    let modules = folder.join("node_modules").to_string_lossy().into_owned();
                    interpreter.environment.entry("NODE_PATH".into()).or_insert(modules);
                }
                // Programs that a shell starts find them too.
                ("shell", _, node) => {
                    if let Some(folder) = node {
                        let modules = folder.join("node_modules").to_string_lossy().into_owned();
                        interpreter.environment.entry("NODE_PATH".into()).or_insert(modules);
                    }
                    interpreter.environment.insert(OFFERED.into(), "1".into());
                }
                _ => {}
            }
        }
        self.packages = Some(Packaged { python, node });
        self
    }

    /// The folder of the packages of a kind below `root`; `None` if nothing here could use them.
    pub fn package_folder(&self, kind: PackageKind, root: &Path) -> Option<PathBuf> {
        match kind {
            PackageKind::Python => {
                let [major, minor] = series_of(self.of("python")?)?;
                Some(root.join(format!("python-{major}.{minor}")))
            }
            PackageKind::Npm => is_node(self.of("javascript")?).then(|| root.join("node")),
        }
    }

    /// The installer of packages of a kind, or the reason why there is none.
    pub fn package_tool(&self, kind: PackageKind) -> Result<PackageTool, &'static str> {
        match kind {
            PackageKind::Python => self.python_tool(),
            PackageKind::Npm => self.npm().ok_or("npm is not installed"),
        }
    }

    fn python_tool(&self) -> Result<PackageTool, &'static str> {
        const NO_PIP: &str = "this Python has no pip; install pip or uv";
        let python = self.of("python").ok_or("there is no Python")?;
        let program = python.program.clone().ok_or("there is no Python")?;
        let series = series_of(python).ok_or("the version of this Python is not known")?;
        let version = python.version().unwrap_or_else(|| format!("{}.{}", series[0], series[1]));
        let shows_system = python.virtual_environment.is_none();
        let home = PythonHome { program: program.clone(), version, series, shows_system };
        if let Some(Found { program, .. }) = &self.uv {
            return Ok(PackageTool::Uv { program: program.clone(), python: home });
        }
        let place = pip_of(&program, series).ok_or(NO_PIP)?;
        Ok(PackageTool::Pip { python: home, place })
    }

    fn npm(&self) -> Option<PackageTool> {
        let node = self.of("javascript").filter(|one| is_node(one))?.program.clone()?;
        let real = fs_err::canonicalize(&node).ok()?;
        let own = real.parent().and_then(Path::parent).map(Path::to_owned);
        let prefixes = own.into_iter().chain(["/usr/local", "/usr"].map(PathBuf::from));
        let mut scripts = prefixes.flat_map(|prefix| NPM.map(|script| prefix.join(script)));
        let script = scripts.find(|script| script.is_file())?;
        Some(PackageTool::Npm { node, script })
    }

    /// Paths that the installers need to see besides the system.
    pub fn package_reads(&self) -> impl Iterator<Item = &Path> {
        let uv = self.uv.iter().flat_map(|found| found.reads.iter());
        let interpreters = ["python", "javascript"].into_iter().filter_map(|name| self.of(name));
        uv.chain(interpreters.flat_map(|one| one.reads.iter())).map(PathBuf::as_path)
    }

    fn of(&self, name: &str) -> Option<&Interpreter> {
        let known = self.known.iter().find(|one| one.info.name == name)?;
        known.interpreter.as_ref().ok()
    }
}

/// Major and minor version of a Python.
fn series_of(python: &Interpreter) -> Option<[u32; 2]> {
    let version = versions::told(python.program.as_deref()?)?;
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??])
}

fn is_node(interpreter: &Interpreter) -> bool {
    let name = interpreter.program.as_deref().and_then(Path::file_name);
    name.and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("node"))
}

/// Where a Python has its pip: in a folder of modules, if it is new enough to tell what it would
/// install, or in the file that comes with Python itself.
fn pip_of(program: &Path, [major, minor]: [u32; 2]) -> Option<PathBuf> {
    let real = fs_err::canonicalize(program).ok()?;
    let prefix = real.parent()?.parent()?;
    let library = prefix.join(format!("lib/python{major}.{minor}"));
    let shared = Path::new("/usr/lib/python3/dist-packages").to_owned();
    let shared = prefix.starts_with("/usr").then_some(shared);
    let of_system =
        Path::new("/usr/local/lib").join(format!("python{major}.{minor}/dist-packages"));
    let of_system = prefix.starts_with("/usr").then_some(of_system);
    let own = [library.join("site-packages")];
    let mut modules = own.into_iter().chain(of_system).chain(shared);
    if let Some(folder) = modules.find(|one| is_new_enough(&one.join("pip/__init__.py"))) {
        return Some(folder);
    }
    let bundled = [library.join("ensurepip/_bundled"), "/usr/share/python-wheels".into()];
    bundled.iter().find_map(|folder| {
        let entries = fs_err::read_dir(folder).ok()?.flatten();
        let mut wheels = entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("pip-") && path.extension().is_some_and(|ending| ending == "whl")
        });
        wheels.next()
    })
}

/// The first version whose report is read.
const LEAST_PIP: [u32; 2] = [22, 3];

/// Bytes of the file that says it.
const LONGEST: u64 = 64 << 10;

fn is_new_enough(file: &Path) -> bool {
    let Some(text) = regular::text(file, LONGEST, Links::Followed) else { return false };
    let version = text.lines().find_map(|line| line.strip_prefix("__version__ = \""));
    let mut numbers = version.unwrap_or_default().split(['.', '"']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => [major, minor] >= LEAST_PIP,
        _ => false,
    }
}
