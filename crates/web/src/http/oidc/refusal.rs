//! Why somebody who comes from a login provider is not let in, and the little that they learn.

use super::id_token::IdTokenFault;
use interpreter_agent::DocumentError;
use interpreter_store::ProviderSubject;

/// Why somebody is not let in.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum ProviderRefusal {
    /// Too many logins of one address, or of one person.
    TooMany,
    /// The provider cannot be asked.
    Unreachable(DocumentError),
    /// The provider's own description is not in order.
    Metadata,
    /// It belongs to no login of this browser.
    State,
    /// It comes from another provider than the one that was asked.
    OtherProvider,
    /// The provider did not let them in.
    Denied,
    /// The provider does not take the code.
    Code,
    Token(IdTokenFault),
    /// Nobody here is this subject.
    Stranger(ProviderSubject),
    /// Something failed here.
    Failed,
}

impl ProviderRefusal {
    /// A word for the log.
    pub(in super::super) const fn word(&self) -> &'static str {
        match self {
            Self::TooMany => "too_many",
            Self::Unreachable(_) => "provider_unreachable",
            Self::Metadata => "provider_description",
            Self::State => "state",
            Self::OtherProvider => "other_provider",
            Self::Denied => "denied",
            Self::Code => "code",
            Self::Token(fault) => fault.word(),
            Self::Stranger(_) => "unknown_person",
            Self::Failed => "failed",
        }
    }

    /// The cause behind it, for whoever runs the server.
    pub(in super::super) fn cause(&self) -> Option<String> {
        match self {
            Self::Unreachable(error) => Some(error.to_string()),
            Self::TooMany
            | Self::Metadata
            | Self::State
            | Self::OtherProvider
            | Self::Denied
            | Self::Code
            | Self::Token(_)
            | Self::Stranger(_)
            | Self::Failed => None,
        }
    }

    /// The same for the person, with the next step where there is one.
    pub(in super::super) const fn message(&self) -> &'static str {
        match self {
            Self::TooMany => {
                "Too many logins from your network within a minute, or by you within twenty \
                 minutes. Wait, then begin again."
            }
            Self::Unreachable(_) => "The login provider does not answer this server.",
            Self::Metadata => {
                "The login provider does not fit the settings of this server. Tell whoever runs it."
            }
            Self::State => {
                "This login began in another browser or tab, was already used, is older than ten \
                 minutes, or began before the server was restarted. Begin again."
            }
            Self::OtherProvider => "The answer comes from another login provider.",
            Self::Denied => "The login provider did not log you in.",
            Self::Code | Self::Token(_) => "The login provider's answer is not valid.",
            Self::Stranger(_) => {
                "The login provider knows you, and nobody has added you to this server. Give whoever \
                 runs it this name, by which the provider knows you:"
            }
            Self::Failed => "Something failed on the server.",
        }
    }
}
