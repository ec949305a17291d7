//! Finds model servers on this machine, by asking on the ports that they usually have.
//!
//! # Threat
//! Whatever listens there: it may answer with anything, or never.
//!
//! # Mechanism
//! Only loopback is asked, all at once, for a moment, without any key. Answers are bounded and
//! only names are taken from them.

use crate::{
    Provider,
    endpoint::{host, is_local},
    http,
};
use interpreter_core::WireFormat;
use reqwest::{StatusCode, Url};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use tokio::task::JoinSet;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_millis(300);

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(2);

/// The most bytes of an answer, the most models in it, and the longest name of one.
const ANSWER_BYTES: usize = 4 << 20;
const MODELS: usize = 1000;
const NAME_BYTES: usize = 200;

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The name of its provider.
    pub provider: String,
    /// Host and port.
    pub host: String,
    /// Its models, or `None` if it does not list them without a key.
    pub models: Option<Vec<String>>,
}

/// The servers that answer, of these providers at these addresses. Addresses that are not on this
/// machine, and providers that are never on it, are left out.
pub async fn discover(providers: impl IntoIterator<Item = (Provider, String)>) -> Vec<LocalServer> {
    let mut places = BTreeMap::<String, Vec<Provider>>::new();
    for (provider, base_url) in providers {
        if let Some(url) = listing(&provider, &base_url) {
            places.entry(url.into()).or_default().push(provider);
        }
    }
    let mut asked = JoinSet::new();
    for (url, providers) in places {
        asked.spawn(async move {
            let url = Url::parse(&url).ok()?;
            let answer = tokio::time::timeout(ANSWER, ask(url.clone())).await.ok()??;
            found(providers, host(&url), &answer)
        });
    }
    let mut all: Vec<_> = asked.join_all().await.into_iter().flatten().collect();
    all.sort_by(|one, other| one.provider.cmp(&other.provider));
    all
}

/// Where a provider's models are listed, if it is on this machine.
fn listing(provider: &Provider, base_url: &str) -> Option<Url> {
    let local = provider.local.as_ref()?;
    let mut url = Url::parse(base_url).ok().filter(is_local)?;
    url.set_path(&local.list);
    url.set_query(None);
    Some(url)
}

/// The answer of a server.
enum Answer {
    Models(Value),
    WantsKey,
}

async fn ask(url: Url) -> Option<Answer> {
    let client = http::builder(&url, CONNECT).build().ok()?;
    let mut response = client.get(url).send().await.ok()?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Some(Answer::WantsKey),
        _ => return None,
    }
    let body = http::bounded(&mut response, ANSWER_BYTES).await.ok()??;
    serde_json::from_slice(&body).ok().map(Answer::Models)
}

/// Which of the providers that use one port has answered.
fn found(providers: Vec<Provider>, host: String, answer: &Answer) -> Option<LocalServer> {
    let list = match answer {
        Answer::Models(list) => list,
        Answer::WantsKey => {
            // Who it is cannot be told where several could be.
            let [provider] = <[Provider; 1]>::try_from(providers).ok()?;
            return Some(LocalServer { provider: provider.name, host, models: None });
        }
    };
    let owned_by = |provider: &Provider| provider.local.as_ref()?.owned_by.clone();
    let models = |provider: &Provider| models(list, provider.format);
    let owner = |provider: &&Provider| {
        let (owner, models) = (owned_by(provider)?, models(provider)?);
        models.iter().any(|(_, by)| by.as_deref() == Some(&*owner)).then_some(())
    };
    let provider = providers.iter().find(|provider| owner(provider).is_some()).or_else(|| {
        providers.iter().find(|one| owned_by(one).is_none() && models(one).is_some())
    })?;
    let names = models(provider)?.into_iter().map(|(name, _)| name).collect();
    Some(LocalServer { provider: provider.name.clone(), host, models: Some(names) })
}

/// Names of models and their owners, or `None` if that is not a list of models.
fn models(list: &Value, format: WireFormat) -> Option<Vec<(String, Option<String>)>> {
    let (field, name) = match format {
        WireFormat::Ollama => ("models", "name"),
        WireFormat::OpenAi | WireFormat::Responses | WireFormat::Anthropic | WireFormat::Gemini => {
            ("data", "id")
        }
    };
    let text = |value: &Value| {
        let text = value.as_str().filter(|text| text.len() <= NAME_BYTES);
        text.map(str::to_owned)
    };
    let models = list[field].as_array()?.iter().take(MODELS);
    Some(models.filter_map(|one| Some((text(&one[name])?, text(&one["owned_by"])))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Providers;
    use serde_json::json;

    fn provider(name: &str) -> Provider {
        Providers::default().get(name).unwrap()
    }

    fn who(names: &[&str], answer: Value) -> Option<(String, Option<Vec<String>>)> {
        let providers = names.iter().map(|name| provider(name)).collect();
        let found = found(providers, "h".into(), &Answer::Models(answer))?;
        Some((found.provider, found.models))
    }

    #[test]
    fn servers_on_one_port_are_told_apart_by_what_they_say() {
        let both = ["llamacpp", "localai"];
        let llama = json!({ "data": [{ "id": "qwen", "owned_by": "llamacpp" }] });
        assert_eq!(who(&both, llama), Some(("llamacpp".into(), Some(vec!["qwen".into()]))));
        let localai = json!({ "data": [{ "id": "phi" }] });
        assert_eq!(who(&both, localai), Some(("localai".into(), Some(vec!["phi".into()]))));
        assert_eq!(who(&["vllm"], json!({ "data": [{ "id": "x", "owned_by": "me" }] })), None);
    }

    #[test]
    fn what_is_no_list_of_models_is_no_server() {
        for answer in [json!({}), json!([1]), json!("x"), json!({ "data": 3 }), json!(null)] {
            assert_eq!(who(&["ollama"], answer.clone()), None);
            assert_eq!(who(&["lmstudio"], answer), None);
        }
        let odd =
            json!({ "models": [{ "name": 3 }, { "name": "x".repeat(300) }, { "name": "a" }] });
        assert_eq!(who(&["ollama"], odd), Some(("ollama".into(), Some(vec!["a".into()]))));
    }

    #[test]
    fn only_this_machine_is_asked() {
        let ollama = provider("ollama");
        let at = |base: &str| listing(&ollama, base).map(String::from);
        assert_eq!(at("http://127.0.0.1:1/x?y"), Some("http://127.0.0.1:1/api/tags".into()));
        for elsewhere in ["http://10.0.0.1:1", "https://ollama.com", "no address"] {
            assert_eq!(at(elsewhere), None);
        }
        assert_eq!(listing(&provider("openai"), "http://127.0.0.1:1"), None);
    }
}
