//! The routes, as the description of the API has them. Pure.

use serde_json::{Value, json};

/// The names of the one kernel that there is.
pub(super) const NAMES: [&str; 2] = ["python3", "python"];

/// One of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::http) enum JupyterCall {
    /// The page before the form.
    SignInPage,
    SignIn,
    /// Begin a kernel.
    Begin,
    /// The messages of a kernel, over a WebSocket.
    Channels,
    /// End a kernel.
    End,
}

/// The description of a route, unless it is one for logging in or a WebSocket.
pub(in crate::http) fn operation(call: JupyterCall) -> Option<Value> {
    let refers = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let content = |name: &str| json!({ "application/json": { "schema": refers(name) } });
    let mut responses = json!({});
    for (status, about) in [
        ("400", "It is malformed, or there is a token in the address"),
        ("401", "There is no valid token"),
        ("403", "The token does not allow it"),
        ("404", "There is no such kernel"),
        ("409", "The session is in another state"),
        ("429", "A limit is reached"),
        ("500", "It failed"),
        ("503", "The server is full or ending"),
    ] {
        responses[status] = json!({ "description": about, "content": content("JupyterRefusal") });
    }
    // Where an id is none, there is no such route.
    responses["404"]["content"]["application/json"]["schema"] =
        json!({ "anyOf": [refers("JupyterRefusal"), refers("Refusal")] });
    match call {
        JupyterCall::Begin => {
            for (status, about) in
                [("413", "The body is too large"), ("415", "The body is not JSON")]
            {
                responses[status] =
                    json!({ "description": about, "content": content("JupyterRefusal") });
            }
            responses["201"] =
                json!({ "description": "It has begun", "content": content("Kernel") });
            Some(json!({
                "operationId": "beginKernel",
                "summary": "Begin a kernel in the form of Jupyter",
                "description": "Takes the rights `prompt` and `watch`; to run code also `answer`.",
                "requestBody": { "required": false, "content": { "application/json": { "schema": {
                    "type": "object", "properties": { "name": { "enum": NAMES } },
                    "additionalProperties": false,
                } } } },
                "responses": responses,
            }))
        }
        JupyterCall::End => {
            responses["204"] = json!({ "description": "It has ended" });
            Some(json!({
                "operationId": "endKernel",
                "summary": "End a kernel",
                "description": "Takes the right `prompt`.",
                "parameters": [{
                    "name": "kernel", "in": "path", "required": true,
                    "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" },
                }],
                "responses": responses,
            }))
        }
        JupyterCall::SignInPage | JupyterCall::SignIn | JupyterCall::Channels => None,
    }
}

/// The forms that these routes have beside those of the API.
pub(in crate::http) fn shapes() -> Vec<(&'static str, Value)> {
    let text = || json!({ "type": "string" });
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let kernel = json!({
        "id": text(), "name": text(), "execution_state": text(), "connections": { "type": "integer" },
    });
    let refusal = json!({ "message": text(), "reason": text() });
    vec![
        ("Kernel", object(kernel, &["id", "name"])),
        ("JupyterRefusal", object(refusal, &["message", "reason"])),
    ]
}
