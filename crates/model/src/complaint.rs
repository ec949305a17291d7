//! Turns a provider's complaint into the error that a person understands.
//!
//! Pure. Providers agree neither on status codes nor on words, so both are looked at, the most
//! telling first: an empty account, for one, comes as 429, 402, 403 or 400.
//!
//! The key is taken out of everything that is kept: some providers send it back.

use crate::ModelError;
use interpreter_core::{Secret, Untrusted};
use serde_json::Value;
use std::time::Duration;

/// The most characters kept of what a provider says.
const SAID_CHARACTERS: usize = 2_000;

/// An error as a provider describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Its type and code, as far as given.
    words: String,
    message: String,
    /// How long it asks to wait, where it says so itself.
    wait: Option<Duration>,
}

impl Complaint {
    /// The complaint in a JSON document, if it holds one.
    pub(crate) fn in_json(document: &Value) -> Option<Self> {
        // Some servers wrap the document in a list.
        let document = document.as_array().and_then(|list| list.first()).unwrap_or(document);
        let error = &document["error"];
        match error {
            Value::Object(_) => {
                let word = |field: &str| match &error[field] {
                    Value::String(word) => word.clone(),
                    Value::Number(number) => number.to_string(),
                    Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                        String::new()
                    }
                };
                let words = format!("{} {} {}", word("type"), word("code"), word("status"));
                Some(Self { words, message: word("message"), wait: delay(&error["details"]) })
            }
            Value::String(message) => Some(Self::of_message(message)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                let said = |field: &str| document[field].as_str();
                let message = match said("object") {
                    Some("error") => said("message").unwrap_or_default(),
                    _ => said("detail")?,
                };
                Some(Self::of_message(message))
            }
        }
    }

    /// The complaint in the body of an answer that is an error by its status, whatever it holds.
    pub(crate) fn in_body(body: &[u8]) -> Self {
        let text = || Self::of_message(String::from_utf8_lossy(body).trim());
        let Ok(document) = serde_json::from_slice::<Value>(body) else { return text() };
        Self::in_json(&document)
            .or_else(|| document["message"].as_str().map(Self::of_message))
            .unwrap_or_else(text)
    }

    /// A complaint of these words only.
    pub(crate) fn of_message(message: &str) -> Self {
        Self { message: message.to_owned(), ..Self::default() }
    }

    fn kind(&self, status: Option<u16>) -> Kind {
        let words = self.words.to_ascii_lowercase();
        let message = self.message.to_ascii_lowercase();
        let word = |known: &[&str]| known.iter().any(|known| words.contains(known));
        let says = |known: &[&str]| known.iter().any(|known| message.contains(known));

        if status == Some(402)
            || word(&["insufficient_quota", "billing", "insufficient_balance"])
            || says(&["credit balance", "insufficient credit", "insufficient balance"])
        {
            Kind::OutOfCredit
        } else if word(&["model_not_found"]) {
            Kind::UnknownModel
        } else if matches!(status, Some(401 | 403))
            || word(&["authentication_error", "permission_error", "invalid_api_key"])
            || says(&["api key not valid", "invalid api key"])
        {
            Kind::Key
        } else if status == Some(404) || word(&["not_found_error"]) {
            Kind::UnknownModel
        } else if status == Some(429) || word(&["rate_limit", "resource_exhausted"]) {
            Kind::RateLimited
        } else if status == Some(413)
            || word(&["context_length_exceeded", "exceed_context_size", "request_too_large"])
            || says(&[
                "maximum context length",
                "prompt is too long",
                "context size",
                "exceeds the maximum number of tokens",
                "exceeds the context window",
            ])
        {
            Kind::ContextTooLong
        } else if status.is_some_and(|status| (400..500).contains(&status))
            || word(&["invalid_request"])
        {
            Kind::Rejected
        } else {
            Kind::Server
        }
    }
}

/// How long the details of an error ask to wait, such as `"retryDelay": "20s"`.
fn delay(details: &Value) -> Option<Duration> {
    let mut delays = details.as_array()?.iter().filter_map(|one| one["retryDelay"].as_str());
    let seconds = delays.next_back()?.strip_suffix('s')?.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    OutOfCredit,
    UnknownModel,
    Key,
    RateLimited,
    ContextTooLong,
    Rejected,
    Server,
}

/// Who complained, about what.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) host: &'a str,
    pub(crate) model: &'a str,
    pub(crate) key: Option<&'a Secret>,
    /// Where a key may be.
    pub(crate) variables: &'a [String],
}

impl Asked<'_> {
    /// The error for a complaint that came with `status`, or in the middle of a stream.
    pub(crate) fn error(
        &self,
        complaint: &Complaint,
        status: Option<u16>,
        retry_after: Option<Duration>,
    ) -> ModelError {
        let host = self.host.to_owned();
        let model = self.model.to_owned();
        let said = self.said(&complaint.message);
        let retry_after = retry_after.or(complaint.wait);
        let variables = self.variables.to_vec();
        match complaint.kind(status) {
            Kind::OutOfCredit => ModelError::OutOfCredit { host, said },
            Kind::UnknownModel => ModelError::UnknownModel { host, model, said },
            Kind::Key if self.key.is_none() => ModelError::KeyMissing { host, variables, said },
            Kind::Key => ModelError::KeyRefused { host, variables, said },
            Kind::RateLimited => ModelError::RateLimited { host, retry_after, said },
            Kind::ContextTooLong => ModelError::ContextTooLong { host, model, said },
            Kind::Rejected => ModelError::Rejected { host, status, said },
            Kind::Server => ModelError::Server { host, status, retry_after, said },
        }
    }

    /// The provider's text, without the key and shortened.
    pub(crate) fn said(&self, text: &str) -> Untrusted {
        let key = self.key.map_or("", |key| key.reveal().trim());
        let without_key =
            if key.is_empty() { text.to_owned() } else { text.replace(key, "[secret]") };
        Untrusted::new(without_key.chars().take(SAID_CHARACTERS).collect::<String>())
    }
}

/// How long a provider asks us to wait: `retry-after-ms`, or `retry-after` in seconds or as a
/// date. A date is measured from the answer's own `date`, so no clock need be right.
pub(crate) fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    let milliseconds =
        || header("retry-after-ms").and_then(number).and_then(|wait| seconds(wait / 1000.0));
    let plain = || header("retry-after").and_then(number).and_then(seconds);
    let date = || {
        let when = |name| jiff::fmt::rfc2822::parse(header(name)?).ok();
        Duration::try_from(when("retry-after")?.duration_since(&when("date")?)).ok()
    };
    milliseconds().or_else(plain).or_else(date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(key: Option<&Secret>) -> Asked<'_> {
        Asked { host: "h", model: "m", key, variables: &[] }
    }

    fn error(status: impl Into<Option<u16>>, body: &Value) -> String {
        let key = Secret::new("sk-canary".into());
        let complaint = Complaint::in_body(body.to_string().as_bytes());
        asked(Some(&key)).error(&complaint, status.into(), None).to_string()
    }

    fn complaint(kind: &str, message: &str) -> Value {
        json!({ "error": { "type": kind, "code": null, "message": message } })
    }

    #[test]
    fn each_complaint_becomes_what_a_person_understands() {
        let table = [
            (401, complaint("", "no"), "`h` refused the key: no"),
            (403, complaint("forbidden", "no"), "`h` refused the key: no"),
            (404, complaint("not_found_error", "no m"), "`h` does not know the model `m`: no m"),
            (429, complaint("rate_limit_error", "slow"), "`h` limits the rate: slow"),
            (
                429,
                complaint("insufficient_quota", "pay"),
                "the account at `h` is out of credit: pay",
            ),
            (
                400,
                complaint("invalid_request_error", "Your credit balance is too low"),
                "the account at `h` is out of credit: Your credit balance is too low",
            ),
            (
                400,
                json!({ "error": { "code": "context_length_exceeded", "message": "long" } }),
                "the conversation is too long for the model `m`: long",
            ),
            (
                400,
                complaint("invalid_request_error", "prompt is too long: 9 > 8"),
                "the conversation is too long for the model `m`: prompt is too long: 9 > 8",
            ),
            (400, complaint("", "odd"), "`h` did not accept the request (status 400): odd"),
            (529, complaint("overloaded_error", "busy"), "`h` failed (status 529): busy"),
        ];
        for (status, body, shown) in table {
            assert_eq!(error(status, &body), shown);
        }
    }

    #[test]
    fn googles_complaints_are_understood() {
        let body = |status: &str, message: &str| json!({ "error": { "code": 400, "message": message, "status": status } });
        for (status, body, shown) in [
            (400, body("INVALID_ARGUMENT", "API key not valid."), "`h` refused the key"),
            (
                400,
                body(
                    "INVALID_ARGUMENT",
                    "The input token count (9) exceeds the maximum number of tokens allowed (8).",
                ),
                "the conversation is too long",
            ),
            (429, body("RESOURCE_EXHAUSTED", "Quota."), "`h` limits the rate"),
            (404, body("NOT_FOUND", "models/x is not found"), "`h` does not know the model `m`"),
        ] {
            assert!(error(status, &body).starts_with(shown), "{}", error(status, &body));
        }
        let wait = json!({ "error": { "message": "Quota.", "status": "RESOURCE_EXHAUSTED", "details": [
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20s" },
        ] } });
        assert!(error(429, &wait).contains("asks to wait 20s"), "{}", error(429, &wait));
    }

    #[test]
    fn a_complaint_without_status_goes_by_its_words() {
        assert_eq!(error(None, &complaint("overloaded_error", "busy")), "`h` failed: busy");
        assert_eq!(error(None, &complaint("rate_limit_error", "")), "`h` limits the rate");
    }

    #[test]
    fn the_message_is_found_in_every_shape() {
        for body in [
            json!({ "error": "odd" }),
            json!({ "message": "odd" }),
            json!({ "detail": "odd" }),
            json!({ "object": "error", "message": "odd" }),
            json!([{ "error": { "message": "odd", "code": 500 } }]),
        ] {
            assert_eq!(error(500, &body), "`h` failed (status 500): odd", "{body}");
        }
        let plain = Complaint::in_body(b" <h1>Bad gateway</h1>\n");
        let shown = asked(None).error(&plain, Some(502), None).to_string();
        assert_eq!(shown, "`h` failed (status 502): <h1>Bad gateway</h1>");
    }

    #[test]
    fn a_key_that_is_sent_back_is_taken_out() {
        let body = complaint("", "Incorrect API key: sk-canary");
        assert_eq!(error(401, &body), "`h` refused the key: Incorrect API key: [secret]");
    }

    #[test]
    fn a_missing_key_is_not_called_a_wrong_one() {
        let complaint = Complaint::of_message("who?");
        let shown = asked(None).error(&complaint, Some(401), None).to_string();
        assert_eq!(shown, "`h` wants a key, and none is set: who?");
    }

    #[test]
    fn long_words_are_cut() {
        let said = asked(None).said(&"x".repeat(1 << 20));
        assert_eq!(said.raw().len(), SAID_CHARACTERS);
    }

    #[test]
    fn the_wait_is_read_in_all_its_spellings() {
        let wait = |headers: &[(&str, &'static str)]| {
            retry_after(|name| headers.iter().find(|(known, _)| *known == name).map(|(_, v)| *v))
        };
        assert_eq!(wait(&[("retry-after", "20")]), Some(Duration::from_secs(20)));
        assert_eq!(
            wait(&[("retry-after", "20"), ("retry-after-ms", "1500")]),
            Some(Duration::from_millis(1500))
        );
        let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        let until = ("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT");
        assert_eq!(wait(&[date, until]), Some(Duration::from_secs(30)));
        assert_eq!(wait(&[until]), None);
        for odd in ["-1", "NaN", "1e300", "soon", ""] {
            assert_eq!(wait(&[("retry-after", odd)]), None, "{odd}");
        }
    }
}
