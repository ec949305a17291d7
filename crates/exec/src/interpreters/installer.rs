//! The programs that install packages, as they were found.

use std::path::PathBuf;

/// A program that installs packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageTool {
    /// uv, for the environment of a Python.
    Uv {
        /// uv itself.
        program: PathBuf,
        /// The Python that the packages are for.
        python: PythonHome,
    },
    /// The pip of a Python.
    Pip {
        /// The Python that the packages are for.
        python: PythonHome,
        /// Where pip is: a folder with it as a module, or a file that holds it.
        place: PathBuf,
    },
    /// npm.
    Npm {
        /// The Node.js that the packages are for.
        node: PathBuf,
        /// npm itself, a script.
        script: PathBuf,
    },
}

/// A Python, as an environment for it must name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonHome {
    /// The program.
    pub program: PathBuf,
    /// Its version: `3.11.2`.
    pub version: String,
    /// Major and minor version.
    pub series: [u32; 2],
    /// Whether its own packages are seen too. With an environment of the project they are not.
    pub shows_system: bool,
}

impl PackageTool {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uv { .. } => "uv",
            Self::Pip { .. } => "pip",
            Self::Npm { .. } => "npm",
        }
    }

    /// The Python that the packages are for.
    pub(crate) fn python(&self) -> Option<&PythonHome> {
        match self {
            Self::Uv { python, .. } | Self::Pip { python, .. } => Some(python),
            Self::Npm { .. } => None,
        }
    }
}
