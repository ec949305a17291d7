//! Keeps: config files and the record. The only crate that reads or writes the user's home, and
//! the only one that reads the environment.
//!
//! [`Environment`] is read once; [`Folders`] follow from it; [`ConfigFiles`] are read from there
//! and become [`Settings`]; what happens is appended to the [`Log`].
//!
//! This crate must not run anything, talk to anything, or wait for anything but the disk.

pub use crate::{
    config::{
        ConfigError, ConfigFile, ConfigFiles, ConfigText, Endpoint, Entry, FilesTable, Layer,
        LimitSettings, LimitsTable, Listed, NetworkMode, NetworkSettings, NetworkTable, Overrides,
        SandboxSettings, SandboxTable, Settings, Sourced, Temperature, WireFormat, keep_host,
    },
    environment::Environment,
    error::StoreError,
    folders::Folders,
    indexes::{Index, Machine as IndexMachine, Preset},
    outputs::{Outputs, Restored},
    quantity::{Bytes, QuantityError, TimeLimit},
    record::{
        Break, BreakReason, Ending, Entry as LogEntry, HowMany, KeptOutputs, Log, Records,
        Restarted, SessionSummary, Verification, new_session_id,
    },
    trust::{Found as FoundInstructions, Instructions, Standing},
};

mod config;
mod environment;
mod error;
mod folders;
mod indexes;
mod key;
mod outputs;
mod private;
mod quantity;
mod record;
pub mod trust;
