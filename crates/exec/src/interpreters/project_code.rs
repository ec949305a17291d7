//! The code of the work folder that runs by itself with a language's first cell.
//!
//! Only names what was found; `core::project_code` decides what follows from it.

use super::{Interpreters, environments::Chosen};
use interpreter_core::project_code::{Brought, ProjectCode};
use std::path::Path;

/// The language whose cells start programs by their names, without a finding for harmless ones.
const SHELL: &str = "shell";

impl Interpreters {
    /// Whatever of the work folder runs with a cell, by language.
    pub fn project_code(&self, work_folder: &Path) -> ProjectCode {
        let name = |folder: &Path| {
            let below = folder.strip_prefix(work_folder).unwrap_or(folder);
            below.to_string_lossy().into_owned()
        };
        let mut code = ProjectCode::default();
        for one in &self.known {
            let Ok(interpreter) = &one.interpreter else { continue };
            if let Some(package) = &interpreter.own_package {
                code.add(&one.info.name, Brought::Package(name(package)));
            }
            let environment = interpreter.virtual_environment.as_ref();
            if let Some(environment) = environment.filter(|one| one.chosen == Chosen::ByProject) {
                let folder = name(&environment.folder);
                code.add(&one.info.name, Brought::Environment(folder.clone()));
                code.add(SHELL, Brought::Programs(folder));
            }
        }
        code
    }
}
