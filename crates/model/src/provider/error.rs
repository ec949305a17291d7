//! Errors in a provider's file, or in the settings that it needs.

use std::path::PathBuf;

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum ProviderError {
    /// The file is not TOML, or says something that is not known.
    #[error("{}:{line}:{column}: {message}", file.display())]
    Parse { file: PathBuf, line: usize, column: usize, message: String },

    /// The file says something that cannot be.
    #[error("{}: `{key}` {problem}", file.display())]
    Wrong { file: PathBuf, key: String, problem: String },

    /// Something that the address is made of is not known.
    #[error("the provider `{provider}` needs `{setting}`: {about}")]
    SettingMissing { provider: String, setting: String, about: String, variables: Vec<String> },

    /// Something that the address is made of cannot be part of one.
    #[error("`{setting}` of the provider `{provider}` cannot be part of an address{}", at(place.as_deref()))]
    SettingWrong { provider: String, setting: String, place: Option<String> },

    /// The config file sets something that the provider does not have.
    #[error("the provider `{provider}` has no setting `{setting}`; it has {}", known.join(", "))]
    SettingUnknown { provider: String, setting: String, known: Vec<String> },
}

fn at(place: Option<&str>) -> String {
    place.map(|place| format!("; it comes from {place}")).unwrap_or_default()
}
