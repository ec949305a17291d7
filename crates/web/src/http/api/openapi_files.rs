//! The routes of files in the document: their bodies and answers are bytes. Pure.

use super::{calls::Gives, openapi::responses};
use crate::http::routes::{Handler, PathPattern, RouteRule};
use serde_json::{Value, json};

/// The operation of a route that takes or gives files; nothing for the others.
pub(super) fn file_operation(rule: &RouteRule) -> Option<Value> {
    let bytes = || json!({ "schema": { "type": "string", "format": "binary" } });
    let is_one = matches!(rule.path, PathPattern::Below(_));
    let mut parameters = vec![json!({
        "name": "session", "in": "path", "required": true,
        "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" },
    })];
    if is_one {
        parameters.push(json!({
            "name": "path", "in": "path", "required": true,
            "description": "Path in the work folder; its slashes are not escaped",
            "schema": { "type": "string", "minLength": 1, "maxLength": 1024 },
        }));
    } else {
        for (name, words) in [("of", ["staged", "applied"]), ("form", ["zip", "patch"])] {
            parameters.push(json!({
                "name": name, "in": "query", "required": true,
                "schema": { "type": "string", "enum": words },
            }));
        }
    }
    let mut responses = responses(rule, Gives::Reply("Changes"));
    let (name, about, right) = if rule.handler == Handler::Upload {
        ("putFile", "Stage a file", "change")
    } else if rule.handler == Handler::Download {
        responses["200"] = json!({
            "description": "The bytes, to be saved",
            "content": { "application/octet-stream": bytes(), "application/zip": bytes() },
        });
        responses["422"] = responses["404"].clone();
        let about = if is_one { "Read a file" } else { "Take files elsewhere" };
        (if is_one { "getFile" } else { "getFiles" }, about, "watch")
    } else {
        return None;
    };
    let mut operation = json!({
        "operationId": name, "summary": about, "parameters": parameters, "responses": responses,
        "description": format!("Takes the right `{right}`."),
    });
    if rule.handler == Handler::Upload {
        // A file may be empty, and then nothing is sent.
        operation["requestBody"] =
            json!({ "required": false, "content": { "application/octet-stream": bytes() } });
    }
    Some(operation)
}
