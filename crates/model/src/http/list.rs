//! Asks a provider for the names of its models.
//!
//! # Threat
//! A server that answers with anything, with far too much, or never.
//!
//! # Mechanism
//! The key goes where it goes with every request: to the provider's own host, and along no
//! redirect. The whole answer has one time limit and one limit of bytes. Names and dates are taken
//! from it and nothing else; [`Roster`](interpreter_core::roster::Roster) decides which of them are
//! fit to be seen.
//!
//! # Order
//! The length is checked before a byte is read as JSON.
//!
//! # Limits
//! A name may be that of a model which this key cannot use.

use super::{Patience, Remote, bounded};
use crate::{Endpoint, ListAddress, ModelError, Wait, format};
use interpreter_core::roster::RosterEntry;
use reqwest::{
    StatusCode, Url,
    header::{ACCEPT, HeaderValue},
};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long the whole answer may take.
const ANSWER: Duration = Duration::from_secs(5);

/// The most bytes of an answer. The longest that is known has less than a fifth.
const ANSWER_BYTES: usize = 4 << 20;

const NO_LIST: &str = "no list of its models";

/// The models that the provider of an endpoint lists, in its own order; the endpoint's own model
/// does not matter.
pub async fn list_models(endpoint: Endpoint) -> Result<Vec<RosterEntry>, ModelError> {
    Remote::new(endpoint)?.list().await
}

impl Remote {
    async fn list(&self) -> Result<Vec<RosterEntry>, ModelError> {
        let base = self.endpoint.url()?;
        let url = match &self.endpoint.list {
            ListAddress::OfFormat => format::list_url(self.endpoint.format, base),
            ListAddress::Path(path) => at_path(base, path),
            ListAddress::Nowhere => return Err(self.no_list()),
        };
        let limit = ANSWER.min(self.endpoint.timeouts.first_byte);
        match timeout(limit, self.listed(url, limit)).await {
            Ok(listed) => listed,
            Err(_) => Err(self.timed_out(Wait::List, limit)),
        }
    }

    async fn listed(&self, url: Url, limit: Duration) -> Result<Vec<RosterEntry>, ModelError> {
        let mut headers = self.headers()?;
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let sent = self.client.get(url).headers(headers).send().await;
        let mut response = sent.map_err(|error| self.unsent(error))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => return Err(self.no_list()),
            _ => {
                let (until, waiting_for) = (Instant::now() + limit, Wait::List);
                let mut patience = Patience { until, length: limit, waiting_for };
                return Err(self.refusal(response, &mut patience).await);
            }
        }
        let broken = |error: reqwest::Error| ModelError::Broken {
            host: self.host.clone(),
            source: Some(error.without_url()),
        };
        let body = bounded(&mut response, ANSWER_BYTES).await.map_err(broken)?;
        let body = body.ok_or_else(|| ModelError::TooLarge {
            host: self.host.clone(),
            limit: ANSWER_BYTES,
            place: "as its list of models",
        })?;
        let list: Value = serde_json::from_slice(&body).map_err(|_| self.no_list())?;
        entries(&list).ok_or_else(|| self.no_list())
    }

    fn no_list(&self) -> ModelError {
        ModelError::Malformed { host: self.host.clone(), problem: NO_LIST }
    }
}

fn at_path(mut base: Url, path: &str) -> Url {
    base.set_path(path);
    base.set_query(None);
    base
}

/// The entries of a list, in whichever of the known forms it is, or `None` if it is in none.
fn entries(list: &Value) -> Option<Vec<RosterEntry>> {
    let all = [list, &list["data"], &list["models"]].into_iter().find_map(Value::as_array)?;
    Some(all.iter().filter(|one| chats(one)).filter_map(entry).collect())
}

fn entry(one: &Value) -> Option<RosterEntry> {
    let name = one["id"].as_str().or_else(|| one["name"].as_str())?;
    // Gemini names the path of a model.
    let name = name.strip_prefix("models/").unwrap_or(name).to_owned();
    Some(RosterEntry { name, created: one["created"].as_i64() })
}

/// Whether a model can be talked to, by what its entry says; most say nothing.
fn chats(one: &Value) -> bool {
    let has = |field: &str, word: &str| {
        let words = one[field].as_array();
        words.is_none_or(|words| words.iter().any(|one| one == word))
    };
    has("supportedGenerationMethods", "generateContent")
        && has("endpoints", "chat")
        && one["capabilities"]["completion_chat"] != false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(list: &Value) -> Option<Vec<String>> {
        Some(entries(list)?.into_iter().map(|one| one.name).collect())
    }

    #[test]
    fn every_known_form_of_a_list_is_read() {
        let forms = [
            json!({ "object": "list", "data": [{ "id": "a", "created": 3 }] }),
            json!({ "models": [{ "name": "models/a" }] }),
            json!({ "models": [{ "name": "a" }] }),
            json!([{ "id": "a", "type": "chat" }]),
        ];
        for form in &forms {
            assert_eq!(names(form), Some(vec!["a".to_owned()]), "{form}");
        }
        assert_eq!(entries(&forms[0]).unwrap()[0].created, Some(3));
    }

    #[test]
    fn what_says_that_it_cannot_be_talked_to_is_left_out() {
        let list = json!({ "data": [
            { "id": "a", "capabilities": { "completion_chat": false } },
            { "id": "b", "capabilities": { "completion_chat": true } },
            { "id": "c", "supportedGenerationMethods": ["embedContent"] },
            { "id": "d", "supportedGenerationMethods": ["generateContent"] },
            { "id": "e", "endpoints": ["rerank"] },
            { "id": 3 }, 7, null, { "name": ["x"] },
        ] });
        assert_eq!(names(&list), Some(vec!["b".to_owned(), "d".to_owned()]));
    }

    #[test]
    fn what_is_no_list_is_none() {
        for odd in [json!({}), json!("x"), json!(null), json!({ "data": 3 }), json!({ "data": {} })]
        {
            assert_eq!(names(&odd), None, "{odd}");
        }
    }
}
