//! The values of the network's settings: how far code reaches, and the entries of the list.

use crate::Preset;
use interpreter_core::egress::{HostRule, RuleError};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How far code reaches, from strict to loose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMode {
    /// Nowhere, and the person is not asked.
    None,
    /// To the hosts that are listed.
    #[default]
    Listed,
    /// To every public host.
    Open,
}

/// One entry of the list of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Listed {
    /// The sources of a kind of packages.
    Preset(Preset),
    /// A host, or all hosts below one.
    Rule(HostRule),
}

impl Listed {
    /// Whether it names an address by its number.
    pub(super) fn is_of_address(&self) -> bool {
        match self {
            Self::Rule(rule) => rule.is_of_address(),
            Self::Preset(_) => false,
        }
    }

    /// Whether it stands for all that `other` stands for.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Preset(one), Self::Preset(other)) => one == other,
            (Self::Rule(one), Self::Rule(other)) => one.covers(other),
            // The sources of packages differ from machine to machine.
            (Self::Preset(_), Self::Rule(_)) | (Self::Rule(_), Self::Preset(_)) => false,
        }
    }
}

impl FromStr for Listed {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        match text.parse() {
            Ok(preset) => Ok(Self::Preset(preset)),
            Err(()) => text.parse().map(Self::Rule),
        }
    }
}

impl TryFrom<String> for Listed {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<Listed> for String {
    fn from(listed: Listed) -> Self {
        listed.to_string()
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset(preset) => preset.fmt(f),
            Self::Rule(rule) => rule.fmt(f),
        }
    }
}
