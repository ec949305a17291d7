//! The description of the API, made from the table of routes, as `OpenAPI` 3.1.
//!
//! Must not describe what the table does not have: a route is here because its row is.

use super::{
    asking::LARGEST,
    calls::{ApiCall, ApiField, CallDescription, FieldKind, Gives},
    openapi_files::file_operation,
};
use crate::{
    Right,
    http::{
        jupyter, openai,
        routes::{Handler, Needs, ROUTES, RouteRule},
    },
    protocol::ErrorCode,
};
use serde_json::{Map, Value, json};

/// The document.
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    for rule in ROUTES {
        let described = match rule.handler {
            Handler::Api(call) => operation(rule, call),
            Handler::OpenAi(call) => openai::operation(call),
            Handler::Jupyter(call) => match jupyter::operation(call) {
                Some(operation) => operation,
                None => continue,
            },
            Handler::Upload | Handler::Download => file_operation(rule).unwrap_or_default(),
            Handler::Page
            | Handler::PageFile
            | Handler::Login
            | Handler::LoginWays
            | Handler::Logout
            | Handler::Socket
            | Handler::Perform
            | Handler::ShownResult
            | Handler::Health
            | Handler::ProviderLogin
            | Handler::ProviderReturn
            | Handler::Figures => continue,
        };
        let path = paths.entry(rule.path.written()).or_insert_with(|| json!({}));
        path[rule.method.to_ascii_lowercase()] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Interpreter",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sessions for other programs. A question is a resource: answer it with \
                its id and the hash of what was shown.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http", "scheme": "bearer",
                    "description": "A token of `interpreter serve token new`.",
                },
            },
            "schemas": all_schemas(),
        },
    })
}

fn operation(rule: &RouteRule, call: ApiCall) -> Value {
    let CallDescription { name, about, query, body, gives, .. } = call.description();
    let mut parameters: Vec<_> = rule
        .path
        .values(rule.path.written())
        .into_iter()
        .map(|(name, _)| {
            json!({
                "name": name, "in": "path", "required": true,
                "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" },
            })
        })
        .collect();
    parameters.extend(query.iter().map(|field| {
        json!({
            "name": field.name, "in": "query", "required": field.is_needed,
            "description": field.about, "schema": schema(field.kind),
        })
    }));
    if gives == Gives::Records {
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "With events: the number of the last record that you have",
            "schema": whole(),
        }));
    }
    let right = match rule.needs {
        Needs::Right(right) => format!("Takes the right `{}`.", right.word()),
        Needs::Login | Needs::Nothing => "Takes a token.".into(),
    };
    let mut operation = json!({
        "operationId": name, "summary": about, "description": right,
        "responses": responses(rule, gives),
    });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if rule.body > 0 {
        operation["requestBody"] = json!({
            "required": true, "content": { "application/json": { "schema": object(body) } },
        });
    }
    operation
}

pub(super) fn responses(rule: &RouteRule, gives: Gives) -> Value {
    let refers = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let content = |schema: Value| json!({ "application/json": { "schema": schema } });
    let mut all = json!({});
    match gives {
        Gives::Reply(name) => {
            all["200"] = json!({ "description": "Done", "content": content(refers(name)) });
        }
        Gives::NewSession => {
            all["201"] = json!({
                "description": "It has begun", "content": content(refers("NewSession")),
            });
        }
        Gives::OneSession => {
            all["200"] = json!({ "description": "It", "content": content(refers("Session")) });
        }
        Gives::OpenQuestions => {
            let schema = refers("OpenQuestions");
            all["200"] = json!({ "description": "Them", "content": content(schema) });
        }
        Gives::ModelList => {
            all["200"] = json!({ "description": "Them", "content": content(refers("Models")) });
        }
        Gives::Records => {
            all["200"] = json!({
                "description": "A page; or events, to whoever accepts `text/event-stream`",
                "content": {
                    "application/json": { "schema": refers("Records") },
                    "text/event-stream": { "schema": { "type": "string" } },
                },
            });
            all["204"] = json!({ "description": "The session has ended, and you have all of it" });
        }
        Gives::Document => {
            all["200"] =
                json!({ "description": "It", "content": content(json!({ "type": "object" })) });
        }
    }
    let mut refusals = vec![
        ("400", "It is malformed"),
        ("401", "There is no valid token"),
        ("403", "The token does not allow it"),
        ("429", "A limit is reached"),
        ("500", "It failed"),
        ("503", "The server is full or ending"),
    ];
    if rule.path.written().contains('{') {
        refusals.push(("404", "There is no such session"));
        refusals.push(("409", "The session, the question or the changes are in another state"));
    } else if rule.method == "POST" {
        refusals.push(("409", "There is no model"));
    }
    if rule.body > 0 {
        refusals.push(("413", "The body is too large"));
        refusals.push(("415", "The body is not JSON"));
        refusals.push(("422", "It cannot be done as it is"));
    }
    for (status, about) in refusals {
        all[status] = json!({ "description": about, "content": content(refers("Refusal")) });
    }
    all
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": LARGEST })
}

fn schema(kind: FieldKind) -> Value {
    match kind {
        FieldKind::Text => json!({ "type": "string" }),
        FieldKind::Flag => json!({ "type": "boolean" }),
        FieldKind::Whole => whole(),
        FieldKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        FieldKind::OneOf(words) => json!({ "type": "string", "enum": words }),
        FieldKind::Hash => json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }),
        FieldKind::Pictures => json!({
            "type": "array", "maxItems": 8,
            "items": {
                "type": "object", "additionalProperties": false, "required": ["name", "data"],
                "properties": {
                    "name": { "type": "string" },
                    "data": { "type": "string", "contentEncoding": "base64" },
                },
            },
        }),
        FieldKind::TextFiles => json!({
            "type": "array", "maxItems": 8,
            "items": {
                "type": "object", "additionalProperties": false, "required": ["name", "text"],
                "properties": { "name": { "type": "string" }, "text": { "type": "string" } },
            },
        }),
        FieldKind::Picks => json!({
            "type": "array", "minItems": 1,
            "items": {
                "type": "object", "additionalProperties": false, "required": ["path"],
                "properties": {
                    "path": { "type": "string" },
                    "hunks": {
                        "type": "array", "minItems": 1,
                        "items": { "type": "integer", "minimum": 1, "maximum": 1_048_576 },
                    },
                },
            },
        }),
    }
}

/// An object with these fields and no others.
fn object(fields: &[ApiField]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut described = schema(field.kind);
        described["description"] = field.about.into();
        properties.insert(field.name.into(), described);
    }
    let needed: Vec<_> =
        fields.iter().filter(|field| field.is_needed).map(|field| field.name).collect();
    json!({
        "type": "object", "properties": properties, "required": needed,
        "additionalProperties": false,
    })
}

/// An answer: others may have more fields, now or later.
fn answer(properties: &Value, needed: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": needed })
}

fn list(name: &str) -> Value {
    json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{name}") } })
}

fn all_schemas() -> Value {
    let mut all = schemas();
    for (name, shape) in openai::shapes().into_iter().chain(jupyter::shapes()) {
        all[name] = shape;
    }
    all
}

fn schemas() -> Value {
    let text = || json!({ "type": "string" });
    let perhaps = || json!({ "type": ["string", "null"] });
    let number = || json!({ "type": "integer", "minimum": 0 });
    let anything = || json!({ "type": "array", "items": { "type": "object" } });
    let states = ["idle", "thinking", "asking", "running", "ended"];
    let refused = json!({
        "code": text(), "message": text(), "hint": text(), "by": text(),
    });
    let row = json!({
        "session": text(), "title": text(), "folder": perhaps(), "model": perhaps(),
        "state": { "type": "string", "enum": states }, "time": text(), "questions": number(),
        "seq": number(), "failed": text(), "open_questions": list("Question"),
    });
    let question = json!({ "session": text(), "id": text(), "hash": text(), "about": text() });
    let record = json!({
        "v": number(), "seq": number(), "time": text(), "session": text(), "who": text(),
        "kind": text(),
    });
    let model = json!({
        "id": text(), "object": { "const": "model" }, "created": number(), "owned_by": text(),
    });
    json!({
        "Nothing": answer(&json!({}), &[]),
        "Proposed": answer(&json!({ "proposal": text() }), &[]),
        "NewSession": answer(&json!({ "session": text() }), &["session"]),
        "Session": answer(&row, &["session", "title", "state", "time", "seq"]),
        "Sessions": answer(
            &json!({ "sessions": list("Session"), "questions": list("Question") }),
            &["sessions", "questions"],
        ),
        "Question": answer(&question, &["id", "hash", "about"]),
        "OpenQuestions": answer(&json!({ "questions": list("Question") }), &["questions"]),
        "Changes": answer(
            &json!({ "id": perhaps(), "state": text(), "files": anything(), "left_out": anything(), "outline": {} }),
            &[],
        ),
        "RewindPlan": answer(
            &json!({
                "cells": anything(), "before": text(), "prompt": text(),
                "interpreters": anything(), "staged": {}, "applied": anything(),
                "hosts": { "type": "array", "items": text() }, "hash": text(),
            }),
            &["cells"],
        ),
        "Grants": answer(
            &json!({ "standing": anything(), "hosts": { "type": "array", "items": text() } }),
            &["standing", "hosts"],
        ),
        "Record": answer(&record, &["v", "seq", "time", "session", "kind"]),
        "Records": answer(
            &json!({ "records": list("Record"), "after": number(), "more": { "type": "boolean" } }),
            &["records", "after", "more"],
        ),
        "Models": answer(
            &json!({ "object": { "const": "list" }, "data": list("Model"), "current": perhaps() }),
            &["object", "data"],
        ),
        "Model": answer(&model, &["id", "object", "created", "owned_by"]),
        "Refusal": answer(&json!({ "error": answer(&refused, &["code", "message"]) }), &["error"]),
        "RefusalCode": { "type": "string", "enum": ErrorCode::ALL },
        "Right": { "type": "string", "enum": Right::ALL.map(Right::word) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Routes of the page, and those that carry the protocol itself.
    const ELSEWHERE: [&str; 12] = [
        "/",
        "/{file}",
        "/healthz",
        "/v1/login",
        "/v1/logout",
        "/v1/do",
        "/v1/socket",
        "/o/{sha256}",
        "/login",
        "/login/oidc",
        "/login/oidc/callback",
        "/api/kernels/{kernel}/channels",
    ];

    #[test]
    fn every_route_is_in_the_document_or_known_to_be_elsewhere() {
        let document = document();
        for rule in ROUTES {
            let (path, method) = (rule.path.written(), rule.method.to_ascii_lowercase());
            let is_here = document["paths"][path][&method].is_object();
            let is_elsewhere = ELSEWHERE.contains(&path) || path == "/metrics";
            assert_ne!(is_here, is_elsewhere, "{method} {path}");
        }
    }

    #[test]
    fn names_are_unique_and_every_reference_leads_somewhere() {
        let document = document();
        let mut names = BTreeSet::new();
        for path in document["paths"].as_object().unwrap().values() {
            for operation in path.as_object().unwrap().values() {
                assert!(names.insert(operation["operationId"].as_str().unwrap()));
            }
        }
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
    }
}
