//! Has the service perform what a kernel does, as requests of the protocol.

use super::refusal::KernelRefusal;
use crate::{Caller, Service};
use serde_json::Value;

/// Has the service perform a verb.
pub(super) async fn perform<S: Service>(
    service: &S,
    caller: &Caller,
    request: Value,
) -> Result<Value, KernelRefusal> {
    let mut request = request;
    request["id"] = 1.into();
    let reply = service.perform(caller.clone(), request.to_string()).await;
    let mut reply: Value = serde_json::from_str(&reply).unwrap_or_default();
    if reply["ok"].is_object() {
        return Ok(reply["ok"].take());
    }
    Err(KernelRefusal::of_error(&reply["error"]))
}
