//! Why a model did not answer, told apart by what a person would do about it.
//!
//! The text that came before an error is not in it: every piece of a reply is sent to the sink
//! before the error is returned, so the caller has seen it.
//!
//! Must not contain a key. A provider's text is shortened, stripped of the key, and printed only in
//! its terminal-safe form.

use crate::ScriptError;
use interpreter_core::Untrusted;
use std::{fmt, io, path::PathBuf, time::Duration};

/// Why a model did not answer, or not to the end.
#[derive(Debug, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "`host` is who, `start` the line that starts a server of this machine, `said` the provider's own words, cut and safe, `variables` where a key \
              may be"
)]
pub enum ModelError {
    /// The address of the endpoint cannot be used.
    #[error("`base_url` of the model `{model}` {problem}")]
    BadAddress { model: String, problem: &'static str },

    /// The key cannot be sent, whoever it is for.
    #[error("the key for `{host}` holds a line break or another character that cannot be sent")]
    BadKey { host: String },

    /// There is no HTTP client, most often because the machine has no certificates.
    #[error("the HTTP client for `{host}` did not start")]
    Client { host: String, source: reqwest::Error },

    /// The file of further certificates holds none.
    #[error("the certificates for `{host}` cannot be used: they are not in the PEM form")]
    Certificates { host: String, source: reqwest::Error },

    /// It is not on this machine, and nothing else is to be reached.
    #[error("`{host}` is not on this machine, and only that may be reached (`offline`)")]
    Offline { host: String },

    /// Its key would go out in the clear.
    #[error("the key for `{provider}` would go to `{host}` over plain `http`, for all to read")]
    KeyInTheClear { provider: String, host: String },

    /// Nobody answers there.
    #[error("`{host}` cannot be reached")]
    Unreachable { host: String, start: Option<String>, source: reqwest::Error },

    /// The provider wants a key and none is set.
    #[error("`{host}` wants a key, and none is set{}", after_colon(said))]
    KeyMissing { host: String, variables: Vec<String>, said: Untrusted },

    /// The provider does not accept the key.
    #[error("`{host}` refused the key{}", after_colon(said))]
    KeyRefused { host: String, variables: Vec<String>, said: Untrusted },

    /// There is no such model, or no such path.
    #[error("`{host}` does not know the model `{model}`{}", after_colon(said))]
    UnknownModel { host: String, model: String, said: Untrusted },

    /// Too many requests, or too many tokens, in too short a time.
    #[error("`{host}` limits the rate{}{}", in_time(*retry_after), after_colon(said))]
    RateLimited { host: String, retry_after: Option<Duration>, said: Untrusted },

    /// The account is empty.
    #[error("the account at `{host}` is out of credit{}", after_colon(said))]
    OutOfCredit { host: String, said: Untrusted },

    /// The conversation does not fit the model.
    #[error("the conversation is too long for the model `{model}`{}", after_colon(said))]
    ContextTooLong { host: String, model: String, said: Untrusted },

    /// The provider finds fault with the request.
    #[error("`{host}` did not accept the request{}{}", in_brackets(*status), after_colon(said))]
    Rejected { host: String, status: Option<u16>, said: Untrusted },

    /// The provider failed.
    #[error("`{host}` failed{}{}", in_brackets(*status), after_colon(said))]
    Server { host: String, status: Option<u16>, retry_after: Option<Duration>, said: Untrusted },

    /// The provider points elsewhere, where our key must not go unasked.
    #[error("`{host}` redirects{}, and redirects are not followed", to_host(to.as_deref()))]
    Redirected { host: String, to: Option<String> },

    /// Something answers there that is not a model.
    #[error(
        "`{host}` answered with {} instead of a stream of events{}",
        content_type.for_terminal_line(80), after_colon(said)
    )]
    NotAStream { host: String, content_type: Untrusted, said: Untrusted },

    /// It took too long.
    #[error("`{host}` sent {waiting_for} for {after:?}")]
    TimedOut { host: String, waiting_for: Wait, after: Duration },

    /// The stream ended before the reply did.
    #[error("the stream from `{host}` broke off before the reply was complete")]
    Broken { host: String, source: Option<reqwest::Error> },

    /// The stream does not follow the format.
    #[error("`{host}` sent {problem}")]
    Malformed { host: String, problem: &'static str },

    /// The reply is larger than anything a model means to say.
    #[error("`{host}` sent more than {limit} bytes {place}")]
    TooLarge { host: String, limit: usize, place: &'static str },

    /// This program was built without the engine.
    #[error("`embedded/{model}` cannot be run: this program was built without the engine for it")]
    NoEngine { model: String },

    /// The engine was compiled for newer processors.
    #[error("`embedded/{model}` cannot be run on this processor, which lacks {lacks}")]
    Processor { model: String, lacks: String },

    /// The file of weights is not one.
    #[error("`{}` cannot be run as `embedded/{model}`: it {problem}", path.display())]
    BadWeights { model: String, path: PathBuf, problem: &'static str },

    /// The model does not fit into memory; both in megabytes.
    #[error("`embedded/{model}` needs {needed} MB of memory, and {available} MB are free")]
    Memory { model: String, needed: u64, available: u64 },

    /// There is no thread to run it.
    #[error("the thread for `embedded/{model}` did not start")]
    NoThread { model: String, source: io::Error },

    /// The engine failed.
    #[error("the engine failed with `embedded/{model}`: {problem}")]
    Engine { model: String, problem: &'static str },

    /// The scripted model cannot go on.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// The event that did not come in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The beginning of the reply.
    FirstByte,
    /// The next part of it.
    NextByte,
    /// A word of it, among much that is none.
    Words,
    /// The list of its models, to its end.
    List,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstByte => "no reply",
            Self::NextByte => "nothing more",
            Self::Words => "no word of a reply",
            Self::List => "no complete list of its models",
        })
    }
}

fn after_colon(said: &Untrusted) -> String {
    if said.raw().is_empty() {
        return String::new();
    }
    format!(": {}", said.for_terminal_line(400))
}

fn in_brackets(status: Option<u16>) -> String {
    status.map(|status| format!(" (status {status})")).unwrap_or_default()
}

fn in_time(retry_after: Option<Duration>) -> String {
    retry_after.map(|wait| format!(" and asks to wait {wait:?}")).unwrap_or_default()
}

fn to_host(to: Option<&str>) -> String {
    to.map(|host| format!(" to `{host}`")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_cannot_write_to_the_terminal() {
        let error = ModelError::Server {
            host: "h".into(),
            status: Some(500),
            retry_after: None,
            said: Untrusted::new("\u{1b}[2Jno\nyes"),
        };
        assert_eq!(error.to_string(), r"`h` failed (status 500): \u{1b}[2Jno⏎yes");
    }

    #[test]
    fn silence_is_told_with_its_length() {
        let error = ModelError::TimedOut {
            host: "h".into(),
            waiting_for: Wait::NextByte,
            after: Duration::from_millis(200),
        };
        assert_eq!(error.to_string(), "`h` sent nothing more for 200ms");
    }
}
