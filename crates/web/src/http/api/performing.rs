//! Has the service perform a route of the API.

use super::{asking::ApiAsked, replies::ApiReply};
use crate::{Caller, Service};

/// Performs a request, for a caller whom the gate let pass.
pub(in crate::http) async fn perform<S: Service>(
    service: &S,
    caller: Caller,
    asked: ApiAsked<'_>,
) -> ApiReply {
    match asked.request() {
        Ok(line) => ApiReply::of(asked.call, &service.perform(caller, line).await),
        Err(error) => ApiReply::refused(&error),
    }
}
