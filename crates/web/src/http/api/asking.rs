//! From a request of the API to one of the protocol. Pure.
//!
//! Strict, as the protocol is: a misspelt field or parameter must not be ignored. The path decides
//! the session and the question; a body cannot name others.

use super::calls::{ApiCall, ApiField, FieldKind};
use crate::protocol::{ErrorCode, ProtocolError};
use serde_json::{Map, Value, json};

/// The largest number that every program reads as it is written.
pub(super) const LARGEST: u64 = (1 << 53) - 1;

/// A request of the API.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct ApiAsked<'a> {
    pub(in crate::http) call: ApiCall,
    /// The names and values in its path.
    pub(in crate::http) path: &'a [(&'static str, &'a str)],
    pub(in crate::http) query: Option<&'a str>,
    /// Empty where there is none.
    pub(in crate::http) body: &'a [u8],
}

pub(super) fn malformed(text: impl Into<String>) -> ProtocolError {
    ProtocolError::new(ErrorCode::Malformed, text)
}

impl ApiAsked<'_> {
    /// The value of a name in the path.
    pub(super) fn in_path(&self, name: &str) -> &str {
        self.path.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value)
    }

    /// The parameters, each at most once and none that is unknown.
    pub(super) fn parameters(&self) -> Result<Map<String, Value>, ProtocolError> {
        let known = self.call.description().query;
        let mut found = Map::new();
        for pair in self.query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let Some(field) = known.iter().find(|field| field.name == name) else {
                return Err(malformed("there is no such parameter").hint(listed(known)));
            };
            if found.insert(name.to_owned(), parameter(field, value)?).is_some() {
                return Err(malformed(format!("`{name}` is there twice")));
            }
        }
        Ok(found)
    }

    /// The fields of the body, none of them unknown.
    fn fields(&self) -> Result<Map<String, Value>, ProtocolError> {
        if self.body.is_empty() {
            return Ok(Map::new());
        }
        let known = self.call.description().body;
        let fields = match serde_json::from_slice(self.body) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(malformed("the body must be a JSON object")),
            Err(error) => return Err(malformed(format!("the body is not JSON: {error}"))),
        };
        if fields.keys().any(|name| known.iter().all(|field| field.name != name)) {
            return Err(malformed("there is no such field").hint(listed(known)));
        }
        if let Some((name, _)) = fields.iter().find(|(_, value)| value.is_null()) {
            return Err(malformed(format!("`{name}` is null; leave it out instead")));
        }
        Ok(fields)
    }

    /// The line of the protocol that does it.
    pub(super) fn request(&self) -> Result<String, ProtocolError> {
        let mut line = self.parameters()?;
        line.extend(self.fields()?);
        line.extend(self.path.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
        match self.call {
            ApiCall::Grants => _ = line.insert("list".into(), true.into()),
            ApiCall::Models => _ = line.insert("at".into(), "models".into()),
            // The rows are not wanted.
            ApiCall::Questions => _ = line.insert("limit".into(), 1.into()),
            ApiCall::Sessions
            | ApiCall::Open
            | ApiCall::Session
            | ApiCall::Close
            | ApiCall::Prompt
            | ApiCall::Run
            | ApiCall::Interrupt
            | ApiCall::Restart
            | ApiCall::Resume
            | ApiCall::Fork
            | ApiCall::Changes
            | ApiCall::Apply
            | ApiCall::Discard
            | ApiCall::Undo
            | ApiCall::RewindPlan
            | ApiCall::Rewind
            | ApiCall::Answer
            | ApiCall::Records
            | ApiCall::Document => {}
        }
        line.insert("id".into(), 1.into());
        line.insert("do".into(), self.call.description().verb.into());
        Ok(Value::Object(line).to_string())
    }
}

fn listed(known: &[ApiField]) -> String {
    if known.is_empty() {
        return "there are none".into();
    }
    let names: Vec<_> = known.iter().map(|field| field.name).collect();
    format!("known: {}", names.join(", "))
}

fn parameter(field: &ApiField, value: &str) -> Result<Value, ProtocolError> {
    let name = field.name;
    match field.kind {
        FieldKind::Whole => {
            let number = whole(value).map(Value::from);
            number.ok_or_else(|| malformed(format!("`{name}` must be a number")))
        }
        FieldKind::Text
        | FieldKind::Flag
        | FieldKind::Texts
        | FieldKind::OneOf(_)
        | FieldKind::Pictures
        | FieldKind::TextFiles
        | FieldKind::Picks
        | FieldKind::Hash => unescaped(value)
            .map(Value::from)
            .ok_or_else(|| malformed(format!("`{name}` is not escaped as UTF-8"))),
    }
}

/// A number in digits alone.
pub(super) fn whole(digits: &str) -> Option<u64> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_plain { digits.parse().ok() } else { None };
    number.filter(|number| *number <= LARGEST)
}

/// The text of a parameter, as forms escape it.
fn unescaped(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let byte = digit(digits[0])? << 4 | digit(digits[1])?;
                bytes.push(u8::try_from(byte).ok()?);
                rest = after;
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        http::routes::{Handler, Needs, ROUTES},
        protocol::read,
    };
    use proptest::prelude::*;

    fn asked(call: ApiCall, query: &str, body: &str) -> Result<Value, ProtocolError> {
        let path = [("session", "s1"), ("question", "q1")];
        let asked = ApiAsked { call, path: &path, query: Some(query), body: body.as_bytes() };
        asked.request().map(|line| serde_json::from_str(&line).unwrap())
    }

    #[test]
    fn a_path_decides_which_session_and_a_body_cannot_name_another() {
        let line = asked(ApiCall::Prompt, "", r#"{"text":"hi"}"#).unwrap();
        assert_eq!(line["session"], "s1");
        assert_eq!((&line["do"], &line["text"]), (&json!("prompt"), &json!("hi")));
        for field in ["session", "question", "do", "id", "yes", "approval", ""] {
            let body = json!({ "text": "hi", field: "x" }).to_string();
            let refused = asked(ApiCall::Prompt, "", &body).unwrap_err();
            assert_eq!(refused.code, ErrorCode::Malformed, "{field}");
        }
        for body in ["[]", "1", "{", "{} {}", "\0", r#"{"text":"hi"}x"#, r#"{"text":null}"#] {
            assert!(asked(ApiCall::Prompt, "", body).is_err(), "{body}");
        }
    }

    #[test]
    fn parameters_are_read_strictly() {
        let line = asked(ApiCall::Sessions, "search=a+b%20%C3%A4&limit=3", "").unwrap();
        assert_eq!((&line["search"], &line["limit"]), (&json!("a b ä"), &json!(3)));
        for wrong in [
            "limit=",
            "limit=-1",
            "limit=1&limit=1",
            "limit=1.5",
            "limit=+1",
            "serach=x",
            "do=shut",
            "session=x",
            "search=%",
            "search=%f",
            "search=%gg",
            "search=%ff",
            "search=%C3",
            "x",
            "limit=99999999999999999999999",
            "limit=9007199254740992",
        ] {
            assert!(asked(ApiCall::Sessions, wrong, "").is_err(), "{wrong}");
        }
        assert!(asked(ApiCall::Models, "", "").is_ok());
    }

    fn example(kind: FieldKind) -> Value {
        match kind {
            FieldKind::Text => json!("x"),
            FieldKind::Flag => json!(true),
            FieldKind::Whole => json!(1),
            FieldKind::Texts => json!(["x"]),
            FieldKind::OneOf(words) => json!(words[0]),
            FieldKind::Pictures => json!([{ "name": "a.png", "data": "AA==" }]),
            FieldKind::TextFiles => json!([{ "name": "a.txt", "text": "x" }]),
            FieldKind::Picks => json!([{ "path": "x", "hunks": [1] }]),
            FieldKind::Hash => json!("0".repeat(64)),
        }
    }

    /// The protocol takes what the table says about a route: each field, what is needed, and the
    /// right.
    #[test]
    fn the_table_agrees_with_the_protocol() {
        let mut count = 0;
        for rule in ROUTES {
            let Handler::Api(call) = rule.handler else { continue };
            if matches!(call, ApiCall::Records | ApiCall::Document) {
                continue;
            }
            count += 1;
            let description = call.description();
            let path: Vec<_> = rule.path.names().map(|name| (name, "x1")).collect();
            let line = |fields: &[&ApiField]| {
                let body: Map<_, _> = fields
                    .iter()
                    .map(|field| (field.name.to_owned(), example(field.kind)))
                    .collect();
                let body =
                    if rule.body > 0 { Value::Object(body).to_string() } else { String::new() };
                let query: Vec<_> =
                    description.query.iter().map(|field| format!("{}=1", field.name)).collect();
                let query = query.join("&");
                let asked =
                    ApiAsked { call, path: &path, query: Some(&query), body: body.as_bytes() };
                read(&asked.request().unwrap())
            };
            let all: Vec<_> = description.body.iter().collect();
            let request = line(&all).unwrap_or_else(|(_, error)| panic!("{call:?}: {error:?}"));
            let Needs::Right(right) = rule.needs else { panic!("{call:?} has no right") };
            assert!(request.verb.rights().contains(&right), "{call:?}");
            for left_out in &all {
                let others: Vec<_> =
                    all.iter().copied().filter(|other| other != left_out).collect();
                // The decision belongs to the answer, which the session reads.
                let is_needed = left_out.is_needed && left_out.name != "decision";
                assert_eq!(line(&others).is_err(), is_needed, "{call:?} {}", left_out.name);
            }
        }
        assert_eq!(count, 20);
    }

    proptest! {
        #[test]
        fn nothing_is_too_strange(query in any::<String>(), body in any::<Vec<u8>>()) {
            for call in [ApiCall::Sessions, ApiCall::Changes, ApiCall::Answer] {
                let asked = ApiAsked { call, path: &[], query: Some(&query), body: &body };
                _ = asked.request().is_ok();
            }
        }
    }
}
