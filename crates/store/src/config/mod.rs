//! Settings, from built-in defaults, files and the command line.
//!
//! # Threat
//! A project that comes from a stranger and brings settings which send prompts elsewhere, let
//! code write at once, or lift a limit; a file that is not understood and therefore skipped.
//!
//! # Mechanism
//! Five layers, the later over the earlier: built-in, the person's file, their profile, the
//! project's file, the command line. Each value remembers its layer. The project's file may only
//! tighten: what it may not say, or what would loosen, is an error and not ignored. A file that
//! does not parse, or holds a key that is not known, is an error too.
//!
//! # Order
//! [`ConfigFiles::read`] touches the disk; [`Settings::resolve`] is pure and takes its result.
//!
//! # Limits
//! The person's own files are believed. Rules are only collected here; what they decide is
//! `interpreter_core::policy`'s.

pub use self::{
    error::ConfigError,
    file::{ConfigFile, Endpoint, FilesTable, LimitsTable, Temperature, WireFormat},
    keep::keep_host,
    network::{Listed, NetworkMode, NetworkSettings, NetworkTable},
    read::{ConfigFiles, ConfigText},
    resolve::Overrides,
    sandbox::{SandboxSettings, SandboxTable},
    settings::{Entry, Layer, LimitSettings, Settings, Sourced},
};

mod bound;
mod error;
mod file;
mod keep;
mod nearest;
mod network;
mod parse;
mod read;
mod resolve;
mod sandbox;
mod settings;
