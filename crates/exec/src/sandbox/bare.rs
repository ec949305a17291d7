//! No sandbox: the host, its session and its keeper, and nothing that confines.
//!
//! # Threat
//! None is met. It is there for machines and tasks where a person wants no sandbox and says so, and
//! to show that an attack works where nothing stops it.
//!
//! # Mechanism
//! The same host as everywhere starts kernels with the listed environment. It is away from the
//! terminal, and a keeper ends whatever it leaves.
//!
//! # Order
//! The keeper is made before the host starts.
//!
//! # Limits
//! Everything that the person may do, the code may do.

use super::native::check_work_folder;
use crate::ExecError;
use interpreter_core::Confinement;
use interpreter_jail::{Plan, Step};
use std::path::Path;

/// The steps that start a host without confining it.
pub(super) fn plan(confinement: &Confinement, program: &Path) -> Result<Plan, ExecError> {
    check_work_folder(confinement)?;
    Ok(Plan(vec![
        Step::NewSession,
        Step::Keep,
        Step::DieWithParent,
        Step::Execute {
            program: program.to_owned(),
            arguments: vec![interpreter_host::HOST.into()],
        },
    ]))
}
