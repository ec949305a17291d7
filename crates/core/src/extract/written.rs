//! Finds calls that a model wrote as text: models that know tools but were offered none, or that
//! miss the form, write the call's JSON into their reply.
//!
//! ```text
//! {"language": "python", "code": "print(1)"}
//! {"name": "execute", "arguments": {"language": "python", "code": "print(1)"}}
//! <tool_call>…</tool_call>
//! ```
//!
//! Only what has exactly one of these shapes is a call; any other JSON is something said.

use super::call;
use crate::message::EXECUTE;
use serde_json::{Deserializer, Value};

/// Names under which the arguments stand in a call.
const ARGUMENTS: [&str; 2] = ["arguments", "parameters"];

/// Beginnings that may turn out to be something else, in one text. How deep JSON nests is bounded
/// by the parser, but following many beginnings that far takes its time too.
const TRIES: usize = 64;

/// Tags that may surround a call.
const BEFORE: &str = "<tool_call>";

/// The language and the code of a text that is a call and nothing else.
pub(super) fn whole(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let text = text.strip_prefix(BEFORE).unwrap_or(text).trim_start();
    let (found, end) = at_start(text)?;
    let rest = text[end..].trim();
    (rest.is_empty() || rest == "</tool_call>").then_some(found)
}

/// The calls of a text, each at the beginning of a line.
pub(super) fn all(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut at, mut tries) = (0, 0);
    while at < text.len() && tries < TRIES {
        let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        let line = text[at..line_end].trim_start();
        let line = line.strip_prefix(BEFORE).unwrap_or(line).trim_start();
        let start = line_end - line.len();
        at = line_end;
        // A mark may also stand on a line of its own, before the call.
        if line.starts_with('{') {
            match at_start(&text[start..]) {
                Some((call, end)) => {
                    found.push(call);
                    at = start + end;
                }
                None => tries += 1,
            }
        }
    }
    found
}

/// The call that a text begins with, and where it ends.
fn at_start(text: &str) -> Option<((String, String), usize)> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let end = values.byte_offset();
    let object = value.as_object()?;
    let plain = call::parse(&text[..end]).ok();
    let found = plain.or_else(|| {
        if object.get("name")?.as_str()? != EXECUTE {
            return None;
        }
        let arguments = ARGUMENTS.iter().find_map(|name| object.get(*name))?;
        match arguments.as_str() {
            Some(text) => call::parse(text).ok(),
            None => call::parse(&arguments.to_string()).ok(),
        }
    })?;
    Some((found, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(language: &str, code: &str) -> (String, String) {
        (language.into(), code.into())
    }

    #[test]
    fn a_call_is_known_by_its_shape() {
        let expected = Some(call("python", "print(1)\n"));
        for text in [
            r#"{"language": "python", "code": "print(1)\n"}"#,
            " {\n  \"language\": \"python\",\n  \"code\": \"print(1)\\n\"\n}\n",
            r#"{"name": "execute", "arguments": {"language": "python", "code": "print(1)\n"}}"#,
            r#"{"name":"execute","parameters":{"code":"print(1)\n","language":"python"}}"#,
            r#"{"name": "execute", "arguments": "{\"language\":\"python\",\"code\":\"print(1)\\n\"}"}"#,
            "<tool_call>\n{\"language\": \"python\", \"code\": \"print(1)\\n\"}\n</tool_call>\n",
        ] {
            assert_eq!(whole(text), expected, "{text}");
            assert_eq!(all(&format!("Sure:\n{text}\nDone.")), [call("python", "print(1)\n")]);
        }
    }

    #[test]
    fn other_json_is_something_said() {
        for text in [
            "{}",
            "{\"code\": \"print(1)\"}",
            "{\"language\": \"python\", \"code\": 1}",
            "{\"language\": \"python\", \"code\": \"a\", \"code\": \"b\"}",
            "{\"name\": \"delete\", \"arguments\": {\"language\": \"python\", \"code\": \"x\"}}",
            "{\"name\": \"execute\", \"arguments\": [\"python\", \"x\"]}",
            "[\"python\", \"print(1)\"]",
            "{\"language\": \"python\", \"code\": \"cut",
            "see {\"language\": \"python\", \"code\": \"x\"}",
            "",
        ] {
            assert_eq!(whole(text), None, "{text}");
            assert_eq!(all(text), [], "{text}");
        }
        assert_eq!(whole("{\"language\": \"sh\", \"code\": \"ls\"} and more"), None);
    }

    #[test]
    fn several_calls_are_found_in_turn() {
        let text = "{\"language\": \"sh\", \"code\": \"a\"}\n<tool_call>\n{\"language\": \"sh\", \
                    \"code\": \"b\"}</tool_call>\n<tool_call>{\"language\": \"sh\", \"code\": \"c\"}";
        assert_eq!(all(text), [call("sh", "a"), call("sh", "b"), call("sh", "c")]);
    }

    #[test]
    fn many_beginnings_take_no_longer_than_their_length() {
        // A run of minutes if each beginning were followed to the end.
        assert_eq!(all(&"{\"a\": [\n".repeat(200_000)), []);
        assert_eq!(all(&"{\"a\": [1,\n".repeat(200_000)), []);
        assert_eq!(all(&"{},\n".repeat(200_000)), []);
    }
}
