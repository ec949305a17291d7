//! Why a name leads to no model.

use interpreter_model::{ModelError, ProviderError, shelf::ShelfError};

/// The reason why no model is available.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// Nobody chose one.
    #[error("no model is selected")]
    None,
    /// One of this machine was wanted.
    #[error("no local model found: no embedded model is installed, and no local server responds")]
    NoneLocal,
    /// The name is not of a known form.
    #[error("unknown model `{name}`: `{provider}` is neither a provider nor an endpoint")]
    UnknownEndpoint {
        /// The given name.
        name: String,
        /// The part before the slash.
        provider: String,
        /// The name that may be meant.
        near: Option<String>,
    },
    /// A client named one that is not on the list.
    #[error("no model `{name}` is offered")]
    NotOffered {
        /// Its word, as it can be shown.
        name: String,
        /// The names that are offered.
        offered: Vec<String>,
    },
    /// The endpoint has no default model.
    #[error("`{name}` is a provider or an endpoint, without a model")]
    NoModel {
        /// The given name.
        name: String,
    },
    /// There is no model of this name that runs in this program.
    #[error("unknown embedded model `{name}`; available: {}", known.join(", "))]
    UnknownEmbedded {
        /// The given name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The weights of a model that runs in this program.
    #[error(transparent)]
    Weights(#[from] ShelfError),
    /// The provider's file, or what its address is made of.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The file of further certificates.
    #[error("cannot read the file in `certificates`")]
    Certificates(#[source] std::io::Error),
    /// The model cannot be made.
    #[error(transparent)]
    Model(#[from] ModelError),
}
