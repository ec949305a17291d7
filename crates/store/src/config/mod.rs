//! Settings, from built-in defaults, files, the environment and the command line.
//!
//! # Threat
//! A project that comes from a stranger and brings settings which send prompts elsewhere, let
//! code write at once, or lift a limit; a file that is not understood and therefore skipped.
//!
//! # Mechanism
//! Every setting is declared once, in `table.rs`, with what a project may do with it. Six layers
//! lie over each other: built-in, the person's file, their profile, the project's file, the
//! environment, the command line. Each value carries its origin. The project's file may only
//! tighten: a key that it may not set, or a value that would loosen, is an error and not ignored.
//! A file that does not parse, or holds a key that is not declared, is an error too.
//!
//! # Order
//! [`ConfigFiles::read`] touches the disk; [`Settings::resolve`] is pure and takes its result.
//!
//! # Limits
//! The person's own files and environment are trusted. Rules are only collected here;
//! `interpreter_core::policy` applies them.

pub use self::{
    declare::SettingInfo,
    describe::{SettingOption, SettingRow},
    endpoint::{BaseUrl, EndpointSettings},
    error::{ConfigError, Fault},
    keep::{forget_host, keep_host, keep_model, keep_rule, remove_rule, write_config},
    layers::Overrides,
    network::{Listed, NetworkMode},
    profile_text::profile_text,
    provenance::{Layer, Provenance, Sourced},
    read::{ConfigFiles, ConfigText},
    table::Settings,
    value::{AddressParts, Prose, SecretName, Temperature},
};

mod declare;
mod describe;
mod endpoint;
mod error;
mod field;
mod keep;
mod layers;
mod network;
mod profile_text;
mod provenance;
mod read;
mod table;
mod text;
mod together;
mod value;
