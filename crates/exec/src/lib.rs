//! Runs code that has been permitted, and only that.
//!
//! A [`Permit`](interpreter_core::Permit) goes in; output, a status and effects come out. Between
//! them stand a [`sandbox`], which bounds what the code can touch, a host inside it, and a kernel,
//! which reads the code. Whether the code *may* run was settled when the permit was made; nothing
//! here asks again. Writes to the work folder are staged in a `workspace` set.
//!
//! Must not read the person's home or settings: everything comes in as values.

pub use crate::{
    error::{Cause, ExecError},
    interpreters::{
        Activated, Chosen, DeclaredBy, Early, Interpreter, Interpreters, Known, PackageTool,
        Precedence, PythonHome, VirtualEnvironment, is_system,
    },
    runner::{
        Command, Completions, HeldLines, OpenedFile, PutOrder, Runner, RunnerSetup, StagedLook,
        StandardInput, TypedLines, attack, check,
    },
    scan::{Scan, ScanFailure, scan, scanner_reads},
};

mod claimed;
pub mod egress;
mod error;
mod interpreters;
mod output;
pub mod packages;
mod regular;
mod runner;
pub mod sandbox;
mod scan;
mod socket_path;
