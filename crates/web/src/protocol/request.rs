//! Requests: read strictly, because a misspelt field must not be ignored.

use super::{
    look::LookWish,
    model_name::ModelName,
    refusal::{ErrorCode, ProtocolError},
};
use crate::{caller::Right, people::share_kind::ShareKind};
use interpreter_core::Pick;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest id of a request, in bytes.
const LONGEST_ID: usize = 128;

/// By which a client knows the reply to its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtocolRequest {
    /// Its id.
    pub id: RequestId,
    /// The verb, with its fields.
    pub verb: Verb,
}

/// The purpose of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenMode {
    /// A model writes code.
    #[default]
    Chat,
    /// The person hands over code; no model is needed.
    Run,
}

/// A picture that goes with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureSent {
    /// The person's name for it.
    pub name: String,
    /// Its bytes, in base64.
    pub data: String,
}

/// A text file that goes with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextFileSent {
    /// The person's name for it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Code that is to be denied from now on, by one of these.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum DenyWish {
    /// Its language.
    Language(String),
    /// A finding.
    Finding(String),
    /// A pattern of a line.
    Line(String),
}

/// A session is to be shared.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareWish {
    /// The name of a person.
    pub with: String,
    /// As what.
    #[serde(rename = "as")]
    pub kind: ShareKind,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are described in docs/reference/protocol.md, by name")]
pub enum Verb {
    /// Begin a session.
    Open {
        folder: Option<String>,
        model: Option<ModelName>,
        profile: Option<String>,
        #[serde(default)]
        mode: OpenMode,
    },
    /// Go on with the conversation of a session that has ended.
    Resume { session: String },
    /// Begin another session with the conversation of this one.
    Fork { session: String, before: Option<String> },
    /// List sessions, and the questions that are open.
    List {
        search: Option<String>,
        limit: Option<usize>,
        before: Option<String>,
        session: Option<String>,
    },
    /// Receive the records of a session, or the rows of the list.
    Subscribe {
        session: Option<String>,
        after: Option<u64>,
        #[serde(default)]
        list: bool,
        #[serde(default)]
        off: bool,
    },
    /// End a session.
    Close { session: String },
    /// Ask the model; have it answer the last prompt again; take that prompt back; or talk to another
    /// model from now on.
    Prompt {
        session: String,
        text: Option<String>,
        #[serde(default)]
        images: Vec<PictureSent>,
        #[serde(default)]
        files: Vec<TextFileSent>,
        #[serde(default)]
        again: bool,
        #[serde(default)]
        forget: bool,
        model: Option<ModelName>,
    },
    /// Run code of the person's own.
    Run { session: String, language: String, code: String },
    /// Answer a question. The rest of the fields is the answer.
    #[serde(skip_deserializing)]
    Answer { session: String, question: String, hash: String, answer: Map<String, Value> },
    /// Stop what is under way.
    Interrupt { session: String },
    /// Give a language, or all of them, a fresh interpreter; perhaps run the cells of before again.
    Restart {
        session: String,
        language: Option<String>,
        #[serde(default)]
        replay: bool,
    },
    /// Show what is staged; read a file of the work folder as code sees it; or list the change sets
    /// of the folder.
    Changes {
        session: String,
        #[serde(default)]
        sets: bool,
        path: Option<String>,
        /// Read the file from this byte on.
        from: Option<u64>,
    },
    /// Put what was shown into the person's folder.
    Apply {
        session: String,
        changes: String,
        picks: Option<Vec<Pick>>,
        /// The hash of the outline that was shown. Many changes are not applied without.
        seen: Option<String>,
    },
    /// Forget what is staged.
    Discard { session: String, changes: Option<String>, paths: Option<Vec<String>> },
    /// Take what was applied last out of the person's folder, or put it there once more.
    Undo {
        session: String,
        newest: Option<u64>,
        #[serde(default)]
        redo: bool,
    },
    /// List the cells that can be gone back to, show what going back to before one of them means, or
    /// do what was shown.
    Rewind {
        session: String,
        before: Option<String>,
        hash: Option<String>,
        #[serde(default)]
        undo: bool,
    },
    /// Stage a small file of the person's own.
    Put { session: String, path: String, base64: String },
    /// List standing answers and granted hosts, give one or take one back; share the session, or take
    /// that back.
    Grant {
        session: String,
        #[serde(default)]
        list: bool,
        /// A language whose code runs without a question from now on, or `all`.
        allow: Option<String>,
        deny: Option<DenyWish>,
        revoke: Option<u32>,
        /// A granted host, with its port if that is not 443.
        close: Option<String>,
        share: Option<ShareWish>,
        unshare: Option<String>,
    },
    /// Look at something of the server, which changes nothing.
    Look(LookWish),
    /// End the server.
    Shut {},
}

/// The names of all verbs.
pub const VERBS: [&str; 20] = [
    "open",
    "resume",
    "fork",
    "list",
    "subscribe",
    "close",
    "prompt",
    "run",
    "answer",
    "interrupt",
    "restart",
    "changes",
    "apply",
    "discard",
    "undo",
    "rewind",
    "put",
    "grant",
    "look",
    "shut",
];

impl Verb {
    /// The rights that it takes, all of them.
    pub fn rights(&self) -> &'static [Right] {
        match self {
            Self::List { .. }
            | Self::Subscribe { .. }
            | Self::Changes { .. }
            | Self::Rewind { hash: None, .. }
            | Self::Grant {
                allow: None,
                deny: None,
                revoke: None,
                close: None,
                share: None,
                unshare: None,
                ..
            } => &[Right::Watch],
            // A profile may ask less, handing over code is a yes to it, and another model hears the
            // whole conversation.
            Self::Open { profile: Some(_), .. }
            | Self::Run { .. }
            | Self::Prompt { model: Some(_), .. } => &[Right::Prompt, Right::Answer],
            Self::Open { .. }
            | Self::Resume { .. }
            | Self::Fork { .. }
            | Self::Close { .. }
            | Self::Prompt { .. }
            | Self::Interrupt { .. }
            | Self::Restart { .. }
            | Self::Grant { allow: None, deny: None, revoke: None, close: None, .. } => {
                &[Right::Prompt]
            }
            // Some answers take more, see `answer_rights`.
            // Whoever may open a host may close it, and whoever says yes or no may say it beforehand.
            Self::Answer { .. }
            | Self::Grant { close: Some(_), .. }
            | Self::Grant { revoke: None, .. } => &[Right::Answer],
            Self::Apply { .. } | Self::Discard { .. } | Self::Undo { .. } | Self::Put { .. } => {
                &[Right::Change]
            }
            // The files that are undone may be of the kind that runs by itself later.
            Self::Rewind { undo: true, .. } => &[Right::Prompt, Right::Change, Right::Answer],
            Self::Rewind { .. } => &[Right::Prompt, Right::Change],
            Self::Look(wish) => wish.rights(),
            Self::Grant { .. } | Self::Shut {} => &[Right::Admin],
        }
    }
}

/// The request on a line; or why it is none, with its id if it has one.
pub(crate) fn read(line: &str) -> Result<ProtocolRequest, (Option<RequestId>, ProtocolError)> {
    let malformed = |text: String| ProtocolError::new(ErrorCode::Malformed, text);
    let mut fields = match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err((None, malformed("a request is a JSON object".into()))),
        Err(error) => return Err((None, malformed(format!("the line is not JSON: {error}")))),
    };
    let id = match fields.remove("id").map(serde_json::from_value::<RequestId>) {
        Some(Ok(RequestId::Text(text))) if text.len() > LONGEST_ID => {
            let text = format!("`id` is longer than {LONGEST_ID} bytes");
            return Err((None, malformed(text)));
        }
        Some(Ok(id)) => id,
        Some(Err(_)) | None => {
            return Err((None, malformed("`id` must be a number or a text".into())));
        }
    };
    match verb(fields) {
        Ok(verb) => Ok(ProtocolRequest { id, verb }),
        Err(error) => Err((Some(id), error)),
    }
}

fn verb(mut fields: Map<String, Value>) -> Result<Verb, ProtocolError> {
    let malformed = |text: String| ProtocolError::new(ErrorCode::Malformed, text);
    let name = match fields.get("do") {
        Some(Value::String(name)) => name.clone(),
        Some(_) | None => return Err(malformed("`do` must name a verb".into())),
    };
    if !VERBS.contains(&name.as_str()) {
        let known = VERBS.join(", ");
        let short: String = name.chars().take(40).collect();
        return Err(ProtocolError::new(ErrorCode::UnknownVerb, format!("no verb `{short}`"))
            .hint(format!("verbs: {known}")));
    }
    if name == "answer" {
        fields.remove("do");
        let mut text = |field: &str| match fields.remove(field) {
            Some(Value::String(text)) => Ok(text),
            Some(_) | None => Err(malformed(format!("answer: `{field}` must be a text"))),
        };
        let (session, question, hash) = (text("session")?, text("question")?, text("hash")?);
        return Ok(Verb::Answer { session, question, hash, answer: fields });
    }
    let verb: Verb = serde_json::from_value(Value::Object(fields))
        .map_err(|error| malformed(format!("{name}: {error}")))?;
    if let Verb::Look(wish) = &verb {
        wish.check()?;
    }
    misfit(&verb).map_or(Ok(verb), |why| Err(malformed(why.into())))
}

/// Why the fields of a verb do not go together, if they do not.
#[expect(clippy::wildcard_enum_match_arm, reason = "most verbs take any of their fields")]
fn misfit(verb: &Verb) -> Option<&'static str> {
    Some(match verb {
        Verb::List { session: Some(_), search, limit, before }
            if search.is_some() || limit.is_some() || before.is_some() =>
        {
            "list: `session` comes without other fields"
        }
        Verb::Subscribe { session: None, list: false, .. } => {
            "subscribe: `session` or `list` is missing"
        }
        Verb::Subscribe { session: Some(_), list: true, .. }
        | Verb::Subscribe { session: None, after: Some(_), .. } => {
            "subscribe: `list` comes without `session` and `after`"
        }
        Verb::Subscribe { session: Some(_), after: None, off: false, .. } => {
            "subscribe: `after` is missing; 0 is the start"
        }
        Verb::Prompt { text, again, forget, model, .. }
            if count(&[text.is_some(), *again, *forget, model.is_some()]) != 1 =>
        {
            "prompt: one of `text`, `again`, `forget` and `model` is needed"
        }
        Verb::Prompt { text: None, images, files, .. }
            if !images.is_empty() || !files.is_empty() =>
        {
            "prompt: `images` and `files` come with `text`"
        }
        Verb::Changes { sets: true, path, from, .. } if path.is_some() || from.is_some() => {
            "changes: `sets` comes without `path` and `from`"
        }
        Verb::Changes { path: None, from: Some(_), .. } => {
            "changes: `from` comes with the `path` of a file"
        }
        Verb::Rewind { before: None, hash: Some(_), .. } => "rewind: `hash` comes with `before`",
        Verb::Rewind { hash: None, undo: true, .. } => {
            "rewind: `undo` comes with the `hash` of what was shown"
        }
        Verb::Grant { list, allow, deny, revoke, close, share, unshare, .. }
            if count(&[
                *list,
                allow.is_some(),
                deny.is_some(),
                revoke.is_some(),
                close.is_some(),
                share.is_some(),
                unshare.is_some(),
            ]) > 1 =>
        {
            "grant: `list`, `allow`, `deny`, `revoke`, `close`, `share` and `unshare` come one at a \
             time"
        }
        _ => return None,
    })
}

fn count(there: &[bool]) -> usize {
    there.iter().filter(|is_there| **is_there).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(line: &str) -> ErrorCode {
        read(line).unwrap_err().1.code
    }

    #[test]
    fn a_request_is_read_strictly() {
        let request = read(r#"{"id":1,"do":"prompt","session":"s","text":"hi"}"#).unwrap();
        assert_eq!(request.id, RequestId::Number(1));
        for wrong in [
            "",
            "[]",
            "\0",
            "{}",
            r#"{"do":"shut"}"#,
            r#"{"id":null,"do":"shut"}"#,
            r#"{"id":[1],"do":"shut"}"#,
            r#"{"id":1}"#,
            r#"{"id":1,"do":7}"#,
            r#"{"id":1,"do":"shut","more":1}"#,
            r#"{"id":1,"do":"rewind","session":"s","more":1}"#,
            r#"{"id":1,"do":"rewind","session":"s","hash":"h"}"#,
            r#"{"id":1,"do":"rewind","session":"s","before":"p1","undo":true}"#,
            r#"{"id":1,"do":"resume","session":"s","yes":true}"#,
            r#"{"id":1,"do":"open","approval":"yes"}"#,
            r#"{"id":1,"do":"open","mode":"root"}"#,
            r#"{"id":1,"do":"prompt","session":"s"}"#,
            r#"{"id":1,"do":"prompt","session":"s","text":"x","again":true}"#,
            r#"{"id":1,"do":"prompt","session":"s","again":true,"forget":true}"#,
            r#"{"id":1,"do":"prompt","session":"s","model":"m","files":[{"name":"a","text":"b"}]}"#,
            r#"{"id":1,"do":"grant","session":"s","allow":"all","revoke":1}"#,
            r#"{"id":1,"do":"grant","session":"s","deny":{"language":"r","line":"x"}}"#,
            r#"{"id":1,"do":"changes","session":"s","from":0}"#,
            r#"{"id":1,"do":"list","session":"s","limit":1}"#,
            r#"{"id":1,"do":"subscribe"}"#,
            r#"{"id":1,"do":"subscribe","session":"s"}"#,
            r#"{"id":1,"do":"subscribe","session":"s","after":-1}"#,
            r#"{"id":1,"do":"subscribe","list":true,"after":1}"#,
            r#"{"id":1,"do":"answer","session":"s","question":"q1"}"#,
            r#"{"id":1,"do":"look"}"#,
            r#"{"id":1,"do":"look","at":"shadow"}"#,
            r#"{"id":1,"do":"look","at":"settings","session":"s"}"#,
            r#"{"id":1,"do":"look","at":"doctor","fix":true}"#,
            r#"{"id":1,"do":"look","at":"record","after":1}"#,
            r#"{"id":1,"do":"look","at":"record","session":"s","anchor":"a"}"#,
            r#"{"id":1,"do":"look","at":"models","anchor":"a"}"#,
        ] {
            assert_eq!(code(wrong), ErrorCode::Malformed, "{wrong}");
        }
        assert_eq!(code(r#"{"id":1,"do":"sudo"}"#), ErrorCode::UnknownVerb);
        let (id, _) = read(r#"{"id":"a","do":"sudo"}"#).unwrap_err();
        assert_eq!(id, Some(RequestId::Text("a".into())));
    }

    #[test]
    fn the_table_names_each_verb_and_each_takes_a_right() {
        assert!(VERBS.len() <= 20);
        for name in VERBS {
            let all = serde_json::json!({
                "session": "s", "text": "t", "language": "python", "code": "1", "question": "q1",
                "hash": "h", "after": 0, "changes": "c", "at": "models", "newest": 1, "path": "p",
                "base64": "",
            });
            // Of all fields, those that the verb knows.
            let Value::Object(mut fields) = all else { unreachable!() };
            loop {
                let mut line = fields.clone();
                line.insert("id".into(), 1.into());
                line.insert("do".into(), name.into());
                match read(&Value::Object(line).to_string()) {
                    Ok(request) => {
                        assert!(!request.verb.rights().is_empty(), "{name}");
                        break;
                    }
                    Err((_, error)) => {
                        let unknown = error.message.split('`').nth(1).unwrap_or_default();
                        assert!(fields.remove(unknown).is_some(), "{name}: {}", error.message);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in any::<String>()) {
            _ = read(&line).is_ok();
        }
    }
}
