//! Begins and ends kernels.
//!
//! A client that is done with a kernel ends its session, unless a question is open in it: then the
//! session stays until that is answered, so that the link which the client was given leads
//! somewhere.

use super::{
    described::{JupyterCall, NAMES},
    kernels::{Kernels, NoRoom},
    performing::perform,
    refusal::KernelRefusal,
};
use crate::{
    Caller, Right, Service,
    http::{
        answers::{self, Answered},
        api::{Piece, Subscription},
        refusal::HttpRefusal,
    },
    protocol::ErrorCode,
};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A request, with its body.
pub(in crate::http) struct JupyterHttp<'a> {
    pub(in crate::http) call: JupyterCall,
    pub(in crate::http) body: Bytes,
    /// The kernel that its path names.
    pub(in crate::http) kernel: &'a str,
    pub(in crate::http) kernels: &'a Arc<Kernels>,
}

/// Answers it.
pub(in crate::http) async fn answer<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    request: JupyterHttp<'_>,
) -> Result<Answered, HttpRefusal> {
    let JupyterHttp { call, body, kernel, kernels } = request;
    let made = match call {
        JupyterCall::Begin => begin(service, caller, kernels, &body).await,
        JupyterCall::End => end(service, caller, kernels, kernel).await,
        // They are answered where connections and logins are.
        JupyterCall::SignInPage | JupyterCall::SignIn | JupyterCall::Channels => {
            return Err(HttpRefusal::Unknown);
        }
    };
    Ok(made.unwrap_or_else(|refusal| answers::other(refusal.status, &refusal.body())))
}

/// Whether a body asks for the one kernel that there is.
fn is_wanted(body: &[u8]) -> bool {
    let fields = if body.is_empty() { Ok(Map::new()) } else { serde_json::from_slice(body) };
    let Ok(mut fields): Result<Map<String, Value>, _> = fields else { return false };
    let name = fields.remove("name");
    let is_known = |name: &Value| NAMES.iter().any(|known| name == known);
    fields.is_empty() && name.as_ref().is_none_or(is_known)
}

async fn begin<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    kernels: &Arc<Kernels>,
    body: &[u8],
) -> Result<Answered, KernelRefusal> {
    if !is_wanted(body) {
        let text = "a kernel has a `name`, which is `python3`, and no more";
        return Err(KernelRefusal::of(ErrorCode::Malformed, text));
    }
    // Before a session begins whose output the caller could not read.
    if !caller.rights.has(Right::Watch) {
        return Err(KernelRefusal::of(ErrorCode::NotAllowed, "this takes the right `watch` too"));
    }
    let (service, caller, kernels) = (Arc::clone(service), caller.clone(), Arc::clone(kernels));
    // Goes on if the client leaves, so that none is forgotten.
    let begun = tokio::spawn(async move {
        let place = loop {
            match kernels.reserve(&caller.key()) {
                Ok(place) => break place,
                Err(NoRoom(unused)) => make_room(&*service, &caller, &kernels, &unused).await?,
            }
        };
        let open = json!({ "do": "open", "mode": "run" });
        let begun = perform(&*service, &caller, open).await?;
        let session = begun["session"].as_str().unwrap_or_default().to_owned();
        place.begin(&session);
        Ok(session)
    });
    let broke = |_| KernelRefusal::of(ErrorCode::Failed, "the session could not begin");
    let session = begun.await.map_err(broke)??;
    let told = json!({
        "id": session, "name": NAMES[0], "execution_state": "idle", "connections": 0,
    });
    Ok(answers::other(201, &told))
}

/// The states of these sessions. One that is not listed has ended.
async fn states<S: Service>(service: &S, caller: &Caller) -> Result<Vec<Value>, KernelRefusal> {
    let list = json!({ "do": "list", "limit": 1 });
    let mut listed = perform(service, caller, list).await?;
    Ok(listed["sessions"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

fn state<'a>(rows: &'a [Value], session: &str) -> &'a str {
    let row = rows.iter().find(|row| row["session"] == session);
    row.and_then(|row| row["state"].as_str()).unwrap_or("ended")
}

/// Ends a kernel that nobody is connected to: the oldest that is idle, or else that asks.
async fn make_room<S: Service>(
    service: &S,
    caller: &Caller,
    kernels: &Kernels,
    unused: &[String],
) -> Result<(), KernelRefusal> {
    let rows = states(service, caller).await?;
    let is = |session: &&String, words: &[&str]| words.contains(&state(&rows, session));
    let found = unused.iter().find(|session| is(session, &["idle", "ended"]));
    let Some(session) = found.or_else(|| unused.iter().find(|session| is(session, &["asking"])))
    else {
        let message = "all kernels of this token are in use";
        return Err(KernelRefusal::of(ErrorCode::TooMany, message));
    };
    kernels.forget(&caller.key(), session);
    // It may have ended meanwhile.
    _ = perform(service, caller, json!({ "do": "close", "session": session })).await.is_ok();
    Ok(())
}

async fn end<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    kernels: &Arc<Kernels>,
    kernel: &str,
) -> Result<Answered, KernelRefusal> {
    let key = caller.key();
    if !kernels.has(&key, kernel) {
        return Err(KernelRefusal::of(ErrorCode::UnknownSession, "there is no such kernel"));
    }
    let rows = states(&**service, caller).await?;
    match state(&rows, kernel) {
        "asking" => {
            kernels.let_go(&key, kernel);
            let (service, caller) = (Arc::clone(service), caller.clone());
            let (kernels, session) = (Arc::clone(kernels), kernel.to_owned());
            tokio::spawn(async move {
                wait_for_end(&service, &caller, &session).await;
                close(&*service, &caller, &session).await;
                kernels.forget(&caller.key(), &session);
            });
        }
        "ended" => kernels.forget(&key, kernel),
        _ => {
            let interrupt = json!({ "do": "interrupt", "session": kernel });
            _ = perform(&**service, caller, interrupt).await.is_ok();
            close(&**service, caller, kernel).await;
            kernels.forget(&key, kernel);
        }
    }
    Ok(answers::nothing())
}

/// It may have ended by itself.
async fn close<S: Service>(service: &S, caller: &Caller, session: &str) {
    _ = perform(service, caller, json!({ "do": "close", "session": session })).await.is_ok();
}

/// Waits until what asks has come to its end, or the session has.
async fn wait_for_end<S: Service>(service: &Arc<S>, caller: &Caller, session: &str) {
    let list = json!({ "do": "list", "session": session });
    let Ok(listed) = perform(&**service, caller, list).await else { return };
    if listed["sessions"][0]["state"] != "asking" {
        return;
    }
    let after = listed["sessions"][0]["seq"].as_u64().unwrap_or_default();
    let mut subscription = Subscription::begin(service, caller.clone(), session, after);
    while let Some(lines) = subscription.next().await {
        for line in lines {
            match Piece::of(&line) {
                Piece::Broken | Piece::Record { is_last: true, .. } => return,
                Piece::Record { .. } => {
                    let record: Value = serde_json::from_str(&line).unwrap_or_default();
                    if record["kind"] == "turn_finished" {
                        return;
                    }
                }
                Piece::Reply(reply) if reply["error"].is_object() => return,
                Piece::Reply(_) | Piece::Live => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_wanted;

    #[test]
    fn only_the_kernel_that_there_is_can_be_asked_for() {
        for body in ["", "{}", r#"{"name":"python3"}"#, r#"{"name":"python"}"#] {
            assert!(is_wanted(body.as_bytes()), "{body}");
        }
        for body in [
            "[]",
            "null",
            "{",
            r#"["python3"]"#,
            r#"{"name":null}"#,
            r#"{"name":"ir"}"#,
            r#"{"name":"python3","path":"/"}"#,
        ] {
            assert!(!is_wanted(body.as_bytes()), "{body}");
        }
    }
}
