//! The use of a secret, as it is recorded and shown.

use crate::{Admission, Untrusted, egress::Host};
use serde::{Deserialize, Serialize};

/// A use of a secret, or an attempt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecretUse {
    /// The name of the secret.
    pub name: String,
    /// The method of the request.
    pub method: String,
    /// The host that it goes to.
    pub host: Host,
    /// The port there.
    pub port: u16,
    /// The path, without the query. The code chose it.
    pub path: String,
    /// Whether the value is put in.
    pub verdict: Admission,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How often, in a list.
    pub count: u64,
}

/// A use that is to be recorded before its request goes out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedUse {
    /// The proposal whose run is under way.
    pub proposal: String,
    /// By which the proxy knows it.
    #[serde(skip)]
    pub number: u64,
    /// The use.
    #[serde(flatten)]
    pub of: SecretUse,
}

impl SecretUse {
    /// It as a line for a terminal.
    pub fn line(&self) -> String {
        let Self { name, method, host, port, path, verdict, why, count } = self;
        let shown = |text: &str| Untrusted::new(text).for_terminal_line(200);
        let done = match verdict {
            Admission::Allowed => "used",
            Admission::Refused => "did not use",
        };
        let place = if *port == 443 { host.to_string() } else { host.with_port(*port) };
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        let why = why.as_deref().map_or_else(String::new, |why| format!(": {}", shown(why)));
        let (name, method, path) = (shown(name), shown(method), shown(path));
        format!("{done} {name} for {method} {place}{path}{times}{why}")
    }
}
