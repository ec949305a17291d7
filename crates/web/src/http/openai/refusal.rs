//! Refusals in the form that clients of `OpenAI` read. Pure.

use crate::{
    http::{api::status_of, refusal::HttpRefusal},
    protocol::{ErrorCode, ProtocolError},
};
use serde_json::{Value, json};

/// Why a request got no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenAiRefusal {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) code: String,
    /// The parameter that is wrong.
    pub(super) parameter: Option<String>,
}

impl OpenAiRefusal {
    /// A parameter is wrong.
    pub(super) fn parameter(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            code: "invalid_value".into(),
            parameter: Some(name.into()),
        }
    }

    /// The same, with a code of its own.
    pub(super) fn with_code(self, code: &str) -> Self {
        Self { code: code.into(), ..self }
    }

    /// The answer of the protocol to a request of ours.
    pub(super) fn of_error(error: &Value) -> Self {
        let known = ErrorCode::ALL.into_iter().find(|known| json!(known) == error["code"]);
        let text = |name: &str| error[name].as_str().unwrap_or_default();
        let hint = if text("hint").is_empty() { "" } else { "; " };
        Self {
            status: known.map_or(500, status_of),
            message: format!("{}{hint}{}", text("message"), text("hint")),
            code: text("code").to_owned(),
            parameter: None,
        }
    }

    pub(super) fn of(code: ErrorCode, message: &str) -> Self {
        Self::of_error(&json!(ProtocolError::new(code, message)))
    }

    /// The kind of it, by its status.
    fn kind(&self) -> &'static str {
        match self.status {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        }
    }

    pub(super) fn body(&self) -> Value {
        json!({ "error": {
            "message": self.message, "type": self.kind(), "code": self.code,
            "param": self.parameter,
        } })
    }
}

/// The body of a refusal before a route was reached.
pub(in crate::http) fn refused(refusal: HttpRefusal) -> Value {
    let message = match refusal {
        HttpRefusal::NotLoggedIn => "the token is missing, wrong, revoked or over",
        HttpRefusal::Ambiguous
        | HttpRefusal::OtherHost
        | HttpRefusal::Unknown
        | HttpRefusal::OtherOrigin
        | HttpRefusal::NoRight
        | HttpRefusal::NotJson
        | HttpRefusal::NotForm
        | HttpRefusal::TokenInUrl
        | HttpRefusal::NoLength
        | HttpRefusal::TooLarge
        | HttpRefusal::TooLate
        | HttpRefusal::TooMany
        | HttpRefusal::WrongCode
        | HttpRefusal::WrongPassword
        | HttpRefusal::TooManyGuesses
        | HttpRefusal::NoHandshake
        | HttpRefusal::OnlyPicture
        | HttpRefusal::Full
        | HttpRefusal::Failed => refusal.message(),
    };
    let refusal = OpenAiRefusal {
        status: refusal.status().as_u16(),
        message: message.into(),
        code: refusal.code().into(),
        parameter: None,
    };
    refusal.body()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_what_clients_read() {
        let error = json!({ "code": "no_model", "message": "m", "hint": "h" });
        let refusal = OpenAiRefusal::of_error(&error);
        assert_eq!(refusal.status, 409);
        let body = refusal.body();
        assert_eq!(body["error"]["message"], "m; h");
        assert_eq!(body["error"]["type"], "invalid_request_error");
        assert_eq!(refused(HttpRefusal::NoRight)["error"]["type"], "permission_error");
        assert_eq!(OpenAiRefusal::of_error(&Value::Null).status, 500);
    }
}
