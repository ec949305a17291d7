//! The field of a body that may carry a secret: where its placeholder stands, in JSON or in a form.
//!
//! # Threat
//! A body that is read as one thing here and as another by the server, so that the value ends up in
//! a field that the code can read back: by a key that comes twice, by an encoding, by a field of the
//! same name further in. A body whose `_method` stands for another method than the one judged.
//!
//! # Mechanism
//! A body is read only if its head leaves no choice: one of two content types, UTF-8, no encoding, a
//! known length. All of it must follow the grammar, without a key that comes twice. The field must be
//! the placeholder and nothing else, written without escapes. That text is replaced, and no other
//! byte.
//!
//! Pure: any bytes may be fed.

use super::{RequestHead, hyphenated};
use crate::redact::encodings;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::{collections::BTreeSet, fmt, ops::Range};

/// Bytes of a body at most. It is held in memory.
pub(super) const LONGEST_BODY: u64 = 1 << 20;

const AMBIGUOUS: &str = "its body cannot be read in one way only";

/// Why nothing is put in beside a name that some servers take for the method.
pub(super) const NAMES_METHOD: &str = "servers may take its `_method` for another method";

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyForm {
    /// `application/json`
    Json,
    /// `application/x-www-form-urlencoded`
    Pairs,
}

/// How the body of a request is written, or why it is not read.
pub(super) fn form(request: &RequestHead<'_>) -> Result<BodyForm, &'static str> {
    let all = |wanted: &'static str| {
        request.headers.iter().filter(move |(name, _)| hyphenated(name) == wanted)
    };
    if request.body.is_none_or(|length| length > LONGEST_BODY) {
        return Err("a field needs a Content-Length of at most 1 MiB");
    }
    if all("content-encoding").next().is_some() {
        return Err("a field needs a body without a Content-Encoding");
    }
    let mut types = all("content-type");
    let value = match (types.next(), types.next()) {
        (Some((name, value)), None) if name == "content-type" => value.to_ascii_lowercase(),
        _ => Vec::new(),
    };
    let text = String::from_utf8(value).unwrap_or_default();
    let (media, parameters) = text.split_once(';').unwrap_or((&text, ""));
    let in_utf8 = matches!(parameters.trim(), "" | "charset=utf-8" | "charset=\"utf-8\"");
    match media.trim() {
        "application/json" if in_utf8 => Ok(BodyForm::Json),
        "application/x-www-form-urlencoded" if in_utf8 => Ok(BodyForm::Pairs),
        _ => Err("a field needs a body of JSON or a form, as its Content-Type"),
    }
}

impl BodyForm {
    /// Where the value of a field is that is the placeholder and nothing else, or why there is none.
    pub(super) fn find(
        self,
        body: &[u8],
        field: &str,
        placeholder: &str,
    ) -> Result<Range<usize>, String> {
        let text = std::str::from_utf8(body).map_err(|_| AMBIGUOUS)?;
        let found = match self {
            Self::Json => in_json(text, field),
            Self::Pairs => in_pairs(text, field),
        };
        let value = found?.filter(|value| *value == placeholder);
        let value = value.ok_or_else(|| format!("you allowed it in the field `{field}` only"))?;
        // It is a part of the text.
        let at = value.as_ptr().addr() - text.as_ptr().addr();
        Ok(at..at + value.len())
    }

    /// A value as it is written there, without quotes.
    pub(super) fn written(self, value: &str) -> String {
        match self {
            Self::Json => encodings::in_json(value),
            Self::Pairs => encodings::in_form(value),
        }
    }
}

/// Whether a query has a name that some servers take for the method.
pub(super) fn query_names_method(target: &str) -> bool {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let mut names = query.split(['&', ';']).map(|pair| pair.split('=').next().unwrap_or_default());
    names.any(|name| decoded(name).is_some_and(|name| names_method(&name)))
}

/// Whether some servers take a field of this name for the method. They cut names at a zero, leave
/// brackets and spaces around them out, and read a dot as an underscore.
fn names_method(name: &[u8]) -> bool {
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let name = name.trim_matches([' ', '\t', '[', ']']).replace('.', "_");
    name == "_method"
}

/// The string at a path of keys, with `.` between them, unless it is written with escapes.
fn in_json<'t>(text: &'t str, field: &str) -> Result<Option<&'t str>, &'static str> {
    let path: Vec<_> = field.split('.').collect();
    let mut found = Met::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let walked = Walk { path: Some(&path), found: &mut found }.deserialize(&mut reader);
    walked.and_then(|()| reader.end()).map_err(|_| AMBIGUOUS)?;
    if found.method { Err(NAMES_METHOD) } else { Ok(found.value) }
}

/// Met on a walk through JSON.
#[derive(Default)]
struct Met<'t> {
    /// The string at the path.
    value: Option<&'t str>,
    /// Whether there is a key that some servers take for the method.
    method: bool,
}

/// A value in JSON, on the path to the field or beside it.
struct Walk<'p, 'f, 't> {
    /// The keys that are left to the field, or `None` beside the path.
    path: Option<&'p [&'p str]>,
    found: &'f mut Met<'t>,
}

impl<'t> DeserializeSeed<'t> for Walk<'_, '_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for Walk<'_, '_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without a key that comes twice")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    /// One with escapes: it is no part of the text.
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_borrowed_str<E>(self, value: &'t str) -> Result<(), E> {
        if self.path.is_some_and(<[_]>::is_empty) {
            self.found.value = Some(value);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Walk { path: None, found: &mut *self.found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let below = self.path.and_then(|path| path.split_first());
            let below = below.filter(|(first, _)| **first == key).map(|(_, rest)| rest);
            self.found.method |= names_method(key.as_bytes());
            if !keys.insert(key) {
                return Err(A::Error::custom("a key comes twice"));
            }
            map.next_value_seed(Walk { path: below, found: &mut *self.found })?;
        }
        Ok(())
    }
}

/// The value of a field in a form, as it is written.
fn in_pairs<'t>(text: &'t str, field: &str) -> Result<Option<&'t str>, &'static str> {
    // Some servers take a semicolon for the end of a pair.
    if !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';') {
        return Err(AMBIGUOUS);
    }
    let mut found = None;
    for pair in text.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, _) = decoded(name).zip(decoded(value)).ok_or(AMBIGUOUS)?;
        if names_method(&name) {
            return Err(NAMES_METHOD);
        }
        if name == field.as_bytes() && found.replace(value).is_some() {
            return Err(AMBIGUOUS);
        }
    }
    Ok(found)
}

/// A text without its percent encoding, or `None` if that is not in order.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            b'+' => b' ',
            other => other,
        });
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HELD: &str = "placeholder-T-5f0e";

    /// The body with a value put in, or why not.
    fn filled(form: BodyForm, body: &str, field: &str) -> Result<String, String> {
        let at = form.find(body.as_bytes(), field, HELD)?;
        Ok(format!("{}{}{}", &body[..at.start], form.written("a\"b&c d"), &body[at.end..]))
    }

    fn head(headers: &[(&str, &str)], body: Option<u64>) -> Result<BodyForm, &'static str> {
        let host = "h.org".parse().unwrap();
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let (method, target) = ("POST", "/");
        form(&RequestHead { host: &host, port: 443, method, target, headers: &headers, body })
    }

    #[test]
    fn a_body_is_read_only_if_its_head_leaves_no_choice() {
        let json = ("content-type", "application/json");
        for (headers, read) in [
            (&[json][..], BodyForm::Json),
            (&[("content-type", "Application/JSON; charset=UTF-8")], BodyForm::Json),
            (&[("content-type", "application/x-www-form-urlencoded")], BodyForm::Pairs),
        ] {
            assert_eq!(head(headers, Some(LONGEST_BODY)), Ok(read));
            assert!(head(headers, Some(LONGEST_BODY + 1)).is_err());
            assert!(head(headers, None).is_err());
        }
        for headers in [
            &[][..],
            &[("content-type", "text/plain")],
            &[("content-type", "application/json, text/plain")],
            &[("content-type", "application/json; charset=utf-16")],
            &[("content-type", "application/json; boundary=x; charset=utf-8")],
            &[("content-type", "multipart/form-data; boundary=x")],
            &[("content-type", "application/jsonp")],
            &[json, json],
            &[json, ("content_type", "text/plain")],
            &[("content_type", "application/json")],
            &[json, ("content-encoding", "gzip")],
            &[json, ("content-encoding", "identity")],
            &[json, ("content_encoding", "gzip")],
        ] {
            assert!(head(headers, Some(10)).is_err(), "{headers:?}");
        }
    }

    #[test]
    fn the_field_is_filled_and_no_other_byte_is_touched() {
        let json =
            format!("{{ \"n\": 1e2,\"a\":[{{}},null],\n \"auth\":{{\"key\" :\"{HELD}\"}} }}");
        let expected = json.replace(HELD, "a\\\"b&c d");
        assert_eq!(filled(BodyForm::Json, &json, "auth.key").unwrap(), expected);
        let form = format!("a=%41+b&&api_key={HELD}&a=2");
        let expected = "a=%41+b&&api_key=a%22b%26c%20d&a=2";
        assert_eq!(filled(BodyForm::Pairs, &form, "api_key").unwrap(), expected);
        // The name may be encoded, and is the same name.
        assert!(filled(BodyForm::Pairs, &format!("api%5fkey={HELD}"), "api_key").is_ok());
    }

    #[test]
    fn in_any_other_json_nothing_is_put_in() {
        for body in [
            r#"{"other":"PH"}"#,
            r#"{"a":{"key":"PH"}}"#,
            r#"{"key":{"key":"PH"}}"#,
            r#"{"key":["PH"]}"#,
            r#"[{"key":"PH"}]"#,
            r#"{"key":"Bearer PH"}"#,
            r#"{"key":"PH "}"#,
            r#"{"PH":"key"}"#,
            r#"{"KEY":"PH"}"#,
            r#"{"key":"x","key":"PH"}"#,
            r#"{"key":"PH","key":"PH"}"#,
            r#"{"key":"PH","k\u0065y":1}"#,
            r#"{"key":"PH","a":{"b":1,"b":2}}"#,
            r#"{"key":"PH","a":[{"b":1,"b":2}]}"#,
            r#"{"key":"PH"}{"key":"x"}"#,
            r#"{"key":"PH",}"#,
            r#"{"key":"PH"} // x"#,
            r#"{"key":"PH","n":NaN}"#,
            r#"{"key":"PH","n":01}"#,
            r"{'key':'PH'}",
            r#"{"key":"PH""#,
            "\u{feff}{\"key\":\"PH\"}",
            "{\"key\":\"PH\",\"a\":\"\n\"}",
            r#"{"key":"PH","a":"\ud800"}"#,
            r#""PH""#,
            "PH",
        ] {
            let body = body.replace("PH", HELD);
            assert!(filled(BodyForm::Json, &body, "key").is_err(), "{body}");
        }
        // Written with escapes it is not the placeholder as the code got it.
        let escaped = format!(r#"{{"key":"\u0070{}","note":"{HELD}"}}"#, &HELD[1..]);
        assert!(filled(BodyForm::Json, &escaped, "key").is_err());
        // A key with a dot is no path.
        assert!(filled(BodyForm::Json, &format!(r#"{{"a.b":"{HELD}"}}"#), "a.b").is_err());
        let deep = format!("{}{{\"key\":\"{HELD}\"}}{}", "[".repeat(500), "]".repeat(500));
        assert!(filled(BodyForm::Json, &deep, "key").is_err());
        assert!(BodyForm::Json.find(b"{\"key\":\"\xff\"}", "key", HELD).is_err());
    }

    #[test]
    fn in_any_other_form_nothing_is_put_in() {
        for body in [
            "other=PH",
            "key[]=PH",
            "key=PH&key=x",
            "key=x&key=PH",
            "key=PH&k%65y=x",
            "key=PHx",
            "key=%20PH",
            "key==PH",
            "PH=key",
            "PH",
            "key=PH&a=%4",
            "key=PH&a=%zz",
            "key=PH;a=b",
            "a=b;&key=PH",
            "key=PH\r\n",
            "key=PH&a=b c",
            "KEY=PH",
            "",
        ] {
            let body = body.replace("PH", HELD);
            assert!(filled(BodyForm::Pairs, &body, "key").is_err(), "{body}");
        }
    }

    /// JSON as somebody might write it, with keys that come twice.
    #[derive(Clone, Debug)]
    enum Tree {
        Text(&'static str),
        List(Vec<Tree>),
        Object(Vec<(&'static str, Tree)>),
    }

    impl Tree {
        fn any() -> impl Strategy<Value = Self> {
            let text = prop::sample::select(vec![HELD, "x", "a", ""]).prop_map(Tree::Text);
            text.prop_recursive(3, 12, 3, |inner| {
                let key = prop::sample::select(vec!["a", "b", "a.b", HELD]);
                let list = prop::collection::vec(inner.clone(), 0..3).prop_map(Tree::List);
                let pairs = prop::collection::vec((key, inner), 0..3).prop_map(Tree::Object);
                prop_oneof![1 => list, 4 => pairs]
            })
        }

        fn written(&self) -> String {
            match self {
                Self::Text(text) => format!("{text:?}"),
                Self::List(all) => {
                    let all: Vec<_> = all.iter().map(Self::written).collect();
                    format!("[{}]", all.join(", "))
                }
                Self::Object(pairs) => {
                    let pair = |(key, tree): &(&str, Self)| format!("{key:?}: {}", tree.written());
                    format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(","))
                }
            }
        }

        fn has_twins(&self) -> bool {
            match self {
                Self::Text(_) => false,
                Self::List(all) => all.iter().any(Self::has_twins),
                Self::Object(pairs) => {
                    let keys: BTreeSet<_> = pairs.iter().map(|(key, _)| key).collect();
                    keys.len() < pairs.len() || pairs.iter().any(|(_, tree)| tree.has_twins())
                }
            }
        }

        fn at(&self, path: &[&str]) -> Option<&'static str> {
            match (self, path) {
                (Self::Text(text), []) => Some(text),
                (Self::Object(pairs), [first, rest @ ..]) => {
                    pairs.iter().find(|(key, _)| key == first)?.1.at(rest)
                }
                (Self::Text(_) | Self::List(_) | Self::Object(_), _) => None,
            }
        }
    }

    proptest! {
        #[test]
        fn a_value_is_put_in_at_its_path_and_only_there(tree in Tree::any()) {
            let body = tree.written();
            for field in ["a", "b", "a.b"] {
                let path: Vec<_> = field.split('.').collect();
                let fits = !tree.has_twins() && tree.at(&path) == Some(HELD);
                let found = BodyForm::Json.find(body.as_bytes(), field, HELD);
                prop_assert_eq!(found.is_ok(), fits, "{}", body);
                if let Ok(at) = found {
                    let sent = format!("{}value{}", &body[..at.start], &body[at.end..]);
                    let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
                    let pointer = format!("/{}", path.join("/"));
                    prop_assert_eq!(sent.pointer(&pointer), Some(&"value".into()));
                }
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200)) {
            for form in [BodyForm::Json, BodyForm::Pairs] {
                prop_assert!(form.find(&body, "key", HELD).is_err());
            }
        }

        /// A reader that shares nothing with this one finds the value in the field, and the rest as
        /// it was.
        #[test]
        fn another_reader_finds_the_value_there(
            value in "[ -~]{8,40}",
            before in "[ -~]{0,20}",
            after in any::<i64>(),
        ) {
            let body = serde_json::json!({"a": before, "key": HELD, "z": [after]}).to_string();
            let at = BodyForm::Json.find(body.as_bytes(), "key", HELD).unwrap();
            let written = BodyForm::Json.written(&value);
            let sent = format!("{}{written}{}", &body[..at.start], &body[at.end..]);
            let mut read: serde_json::Value = serde_json::from_str(&sent).unwrap();
            prop_assert_eq!(read["key"].as_str(), Some(value.as_str()));
            read["key"] = HELD.into();
            prop_assert_eq!(read.to_string(), body);
            let written = BodyForm::Pairs.written(&value);
            prop_assert_eq!(decoded(&written), Some(value.into_bytes()));
        }
    }
}
