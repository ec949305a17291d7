//! Why a name leads to no model, and what to do then.

use crate::{embedded::ENGINE, error::model_failure};
use interpreter_model::{ModelError, ProviderError, shelf::ShelfError};

/// Why no model can be had.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// Nobody chose one.
    #[error("no model is chosen")]
    None,
    /// One of this machine was wanted.
    #[error(
        "no model of this machine was found: none that runs in this program is here, and no server \
         with a model answers"
    )]
    NoneLocal,
    /// The name is not of a known form.
    #[error("`{name}` does not name a model: `{provider}` is neither a provider nor an endpoint")]
    UnknownEndpoint {
        /// What was written.
        name: String,
        /// The part before the slash.
        provider: String,
    },
    /// The endpoint has no default model.
    #[error("`{name}` names a provider or an endpoint but no model of it")]
    NoModel {
        /// What was written.
        name: String,
    },
    /// There is no model of this name that runs in this program.
    #[error("`{name}` is none of the models that run in this program: {}", known.join(", "))]
    UnknownEmbedded {
        /// What was written.
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
    #[error("the file that `certificates` names cannot be read")]
    Certificates(#[source] std::io::Error),
    /// The model cannot be made.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// How models are named.
const NAMES: &str = "such as `openai/MODEL` (key in OPENAI_API_KEY), `ollama/MODEL` (a server of your \
                     own) or an endpoint of your config file; `interpreter model list` shows what \
                     there is";

impl ChooseError {
    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::None if ENGINE => Some(format!(
                "`interpreter model pull` downloads one that runs in this program, once; or name one \
                 with `--model`, {NAMES}"
            )),
            Self::None => Some(format!("name one with `--model`, {NAMES}")),
            Self::NoneLocal if ENGINE => Some(
                "`interpreter model pull` downloads one that runs in this program, once; or start a \
                 server such as Ollama, and see with `interpreter model list` that it is found"
                    .into(),
            ),
            Self::NoneLocal => Some(
                "start a server such as Ollama, and see with `interpreter model list` that it is \
                 found"
                    .into(),
            ),
            Self::NoModel { .. } | Self::UnknownEndpoint { .. } => {
                Some(format!("name one that there is, {NAMES}"))
            }
            Self::UnknownEmbedded { .. } => Some("`interpreter model list` shows them".into()),
            Self::Weights(error) => Some(error.hint()),
            Self::Provider(error) => error.hint(),
            Self::Certificates(_) => None,
            Self::Model(error) => model_failure(error).hint,
        }
    }
}
