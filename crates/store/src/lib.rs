//! Keeps: config files and the record. The only crate that reads or writes the user's home, and
//! the only one that reads the environment.
//!
//! [`Environment`] is read once; [`Folders`] follow from it; [`ConfigFiles`] are read from there
//! and become [`Settings`]; what happens is appended to the [`Log`].
//!
//! This crate must not run anything, talk to anything, or wait for anything but the disk.

pub use crate::{
    config::{
        ConfigError, ConfigFile, ConfigFiles, ConfigText, Endpoint, Entry, Layer, LimitSettings,
        LimitsTable, Overrides, Settings, Sourced, Temperature, WireFormat,
    },
    environment::Environment,
    error::StoreError,
    folders::Folders,
    quantity::{Bytes, QuantityError, TimeLimit},
    record::{Break, BreakReason, Log, Records, SessionSummary, Verification, new_session_id},
};

mod config;
mod environment;
mod error;
mod folders;
mod private;
mod quantity;
mod record;
