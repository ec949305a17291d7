//! Refusals in the form that clients of Jupyter read. Pure.

use crate::{
    http::{api::status_of, refusal::HttpRefusal},
    protocol::{ErrorCode, ProtocolError},
};
use serde_json::{Value, json};

/// Why a kernel does not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KernelRefusal {
    pub(super) status: u16,
    pub(super) code: String,
    pub(super) message: String,
}

impl KernelRefusal {
    /// The answer of the protocol to a request of ours.
    pub(super) fn of_error(error: &Value) -> Self {
        let known = ErrorCode::ALL.into_iter().find(|known| json!(known) == error["code"]);
        let text = |name: &str| error[name].as_str().unwrap_or_default();
        let gap = if text("hint").is_empty() { "" } else { "; " };
        Self {
            status: known.map_or(500, status_of),
            code: text("code").to_owned(),
            message: format!("{}{gap}{}", text("message"), text("hint")),
        }
    }

    pub(super) fn of(code: ErrorCode, message: &str) -> Self {
        Self::of_error(&json!(ProtocolError::new(code, message)))
    }

    pub(super) fn body(&self) -> Value {
        json!({ "message": self.message, "reason": self.code })
    }
}

/// The body of a refusal before a route was reached.
pub(in crate::http) fn refused(refusal: HttpRefusal) -> Value {
    let message = if refusal == HttpRefusal::NotLoggedIn {
        "the token is missing, wrong, revoked or over"
    } else {
        refusal.message()
    };
    json!({ "message": message, "reason": refusal.code() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_what_clients_read() {
        let error = json!({ "code": "not_allowed", "message": "m", "hint": "h" });
        let refusal = KernelRefusal::of_error(&error);
        assert_eq!((refusal.status, refusal.message.as_str()), (403, "m; h"));
        assert_eq!(refusal.body()["reason"], "not_allowed");
        assert_eq!(KernelRefusal::of_error(&Value::Null).status, 500);
        assert_eq!(refused(HttpRefusal::TokenInUrl)["reason"], "token_in_url");
    }
}
