//! Keeps: config files and the record. The only crate that reads or writes the user's home, and
//! the only one that reads the environment.
//!
//! [`Environment`] is read once, and [`Folders`] follow from it. [`ConfigFiles`] are read from
//! there and become [`Settings`]. Events are appended to the [`Log`].
//!
//! This crate must not run anything, or wait for anything but the disk. It talks to nothing but the
//! system keyring, for the key to the secrets.

pub use crate::{
    clock::{local_time, recorded_day, recorded_time, unix_milliseconds},
    config::{
        AddressParts, BaseUrl, ConfigError, ConfigFiles, ConfigText, EndpointSettings, Fault,
        Layer, Listed, NetworkMode, Overrides, Prose, Provenance, SecretName, SettingInfo,
        SettingOption, SettingRow, Settings, Sourced, Temperature, forget_host, keep_host,
        keep_model, keep_rule, profile_text, remove_rule, write_config,
    },
    environment::Environment,
    error::StoreError,
    folders::Folders,
    indexes::{Index, IndexMachine, Preset},
    keyring::{Keyring, KeyringError},
    ledger::{CallsOfAMinute, Expected, Ledger},
    outputs::{Outputs, PackedOutput, Restored},
    password::{LONGEST_PASSWORD, PasswordHash, SHORTEST_PASSWORD},
    piped::{MOST_PIPED, PipedFile},
    quantity::{Bytes, Dollars, QuantityError, TimeLimit},
    record::{
        Anchor, AnchorCheck, AnchorFault, Break, BreakReason, ExportFilter, ExportVerification,
        Freed, KeptOutputs, LinkedRecord, Log, LogEntry, Missing, NotRemovable, RecordState,
        Records, Retention, SearchHit, SessionFilter, SessionSummary, Verification, new_session_id,
        short_id,
    },
    results::ResultFiles,
    running::RunningSession,
    scans::ScanFolder,
    sealed_code::{UnsealedCode, unsealed},
    secrets::{KeptSecrets, KeyPlace, LONGEST_SECRET, MOST_GRANTS, read_vault_token},
    shares::{KeptShare, KeptShares},
    system_users::SystemUsers,
    tokens::{KeptToken, KeptTokens, TokenKept},
    trust::{FoundInstructions, Instructions, Standing},
    users::{KeptUser, KeptUsers, ProviderSubject, UserKept, UserLogin},
};

mod clock;
mod config;
mod environment;
mod error;
mod folders;
mod indexes;
mod key;
mod keyring;
mod ledger;
mod outputs;
mod password;
mod piped;
mod private;
mod quantity;
mod record;
pub mod regular;
pub mod results;
mod running;
mod scans;
mod sealed_code;
mod secrets;
mod shares;
mod system_users;
mod tokens;
pub mod trust;
mod usage;
mod users;
