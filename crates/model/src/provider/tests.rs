//! Every built-in file resolves, and errors in a file are named.

use super::*;
use crate::{Caching, Tools};
use interpreter_core::{Secret, WireFormat};
use std::{collections::BTreeMap, path::Path};

/// A provider's surroundings, from pairs.
fn with<T>(
    settings: &[(&str, &str)],
    variables: &[(&str, &str)],
    then: impl FnOnce(&Surroundings<'_>) -> T,
) -> T {
    let settings: BTreeMap<_, _> =
        settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let variable = |wanted: &str| {
        let found = variables.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    let key = |wanted: &str| variable(wanted).map(Secret::new);
    then(&Surroundings { settings: &settings, variable: &variable, key: &key })
}

fn shipped(name: &str) -> Provider {
    Providers::default().get(name).unwrap()
}

fn url(name: &str, settings: &[(&str, &str)], variables: &[(&str, &str)]) -> String {
    with(settings, variables, |around| match shipped(name).endpoint("m 1/x", around) {
        Ok(endpoint) => endpoint.base_url,
        Err(error) => error.to_string(),
    })
}

/// The settings that each file needs besides a key.
const NEEDED: &[(&str, &str)] = &[
    ("AZURE_OPENAI_RESOURCE", "res"),
    ("AWS_REGION", "eu-west-1"),
    ("GOOGLE_CLOUD_LOCATION", "us-central1"),
    ("GOOGLE_CLOUD_PROJECT", "my-project"),
    ("OPENAI_COMPATIBLE_BASE_URL", "https://example.org/v1"),
];

#[test]
fn every_shipped_file_is_read_and_resolves_to_an_address() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/providers"));
    let mut files = 0;
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let provider = Provider::parse(&path, &fs_err::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(provider, shipped(&provider.name), "{} is compiled in", path.display());
        let key = provider.key.as_ref().map(|key| key.variables[0].clone());
        let mut variables = NEEDED.to_vec();
        variables.extend(key.as_deref().map(|name| (name, "sk-canary")));
        with(&[], &variables, |around| {
            let endpoint = provider.endpoint("model", around).unwrap();
            assert_eq!(endpoint.key.is_some(), key.is_some(), "{}", provider.name);
            let url = endpoint.url().unwrap();
            let local = crate::endpoint::is_local(&url);
            assert_eq!(local, provider.local.is_some(), "{}: {url}", provider.name);
            assert!(local || url.scheme() == "https", "{}: {url}", provider.name);
            assert!(!format!("{endpoint:?}").contains("canary"));
            crate::Model::remote(endpoint).unwrap();
        });
        files += 1;
    }
    assert_eq!(files, Providers::default().names().len());
}

#[test]
fn an_address_is_made_of_settings_and_variables() {
    assert_eq!(
        url("azure", &[("resource", "res")], &[]),
        "https://res.openai.azure.com/openai/deployments/m%201%2Fx?api-version=2024-10-21"
    );
    assert_eq!(
        url("azure", &[("api_version", "1")], &[("AZURE_OPENAI_ENDPOINT", "https://e.org/")]),
        "https://e.org/openai/deployments/m%201%2Fx?api-version=1"
    );
    assert_eq!(url("openai", &[("base_url", "http://h/v1")], &[]), "http://h/v1");
    assert_eq!(url("groq", &[("base_url", "http://h/v1")], &[]), "http://h/v1");
    assert_eq!(
        url("vertex", &[], NEEDED),
        "https://us-central1-aiplatform.googleapis.com/v1/projects/my-project/locations/\
         us-central1/endpoints/openapi"
    );
}

#[test]
fn a_local_server_is_found_by_its_own_variable() {
    for (said, url_of_it) in [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box.lan:11500", "http://box.lan:11500"),
        ("https://ollama.example.org", "https://ollama.example.org"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1"),
    ] {
        assert_eq!(url("ollama", &[], &[("OLLAMA_HOST", said)]), url_of_it, "{said}");
    }
}

#[test]
fn a_setting_cannot_lead_to_another_host() {
    for value in ["evil.org/", "evil.org#", "a@evil.org", "x?y", "..", "a b", "", "ö", "%2f"] {
        let said = url("azure", &[("resource", value)], &[]);
        assert!(said.contains("cannot be part of an address"), "{value}: {said}");
        let said = url("bedrock", &[], &[("AWS_REGION", value)]);
        assert!(said.ends_with("cannot be part of an address; it comes from AWS_REGION"), "{said}");
    }
    let said = url("openai", &[], &[("OPENAI_BASE_URL", "https://me:sk-canary@h/v1")]);
    assert!(said.contains("cannot be part") && !said.contains("canary"), "{said}");
}

#[test]
fn what_is_missing_is_named_with_its_variables() {
    with(&[], &[], |around| {
        let error = shipped("bedrock").endpoint("m", around).unwrap_err();
        assert_eq!(error.to_string(), "the provider `bedrock` needs `region`: the region");
        let ProviderError::SettingMissing { variables, .. } = error else { panic!("{error}") };
        assert_eq!(variables[0], "AWS_REGION");
    });
    let said = url("bedrock", &[("regoin", "x")], &[]);
    assert_eq!(
        said,
        "the provider `bedrock` has no setting `regoin`; it has `region`, `base_url`, `insecure_http`"
    );
}

#[test]
fn a_model_is_known_by_the_first_entry_that_fits() {
    let xai = shipped("xai");
    let fast = xai.capabilities("grok-code-fast-1-0825");
    assert!(fast.tools && !fast.images && fast.price.is_some());
    let other = xai.capabilities("grok-99");
    assert!(other.tools && other.images && other.price.is_none());
    assert!(!shipped("perplexity").capabilities("sonar").tools);
    let small = shipped("ollama").capabilities("qwen2.5-coder:1.5b");
    assert!(small.small && !small.tools && small.context == Some(16_384));
    let large = shipped("ollama").capabilities("qwen2.5-coder:7b");
    assert!(!large.small && large.tools);
    with(&[], NEEDED, |around| {
        let endpoint = shipped("anthropic").endpoint("claude-sonnet-4-5", around).unwrap();
        assert_eq!((endpoint.caching, endpoint.tools), (Caching::Marked, Tools::Offer));
        assert_eq!(endpoint.format, WireFormat::Anthropic);
        assert_eq!(endpoint.context, Some(200_000));
        assert_eq!(endpoint.key_header.name, "x-api-key");
    });
}

#[test]
fn a_wrong_file_is_told_by_file_key_and_cause() {
    let good = "title='T'\nformat='openai'\nbase_url='https://h/v1'\n";
    let model = "[[model]]\nname='*'\n";
    let told = |name: &str, text: String| {
        Provider::parse(Path::new(name), &text).map(|_| ()).unwrap_err().to_string()
    };
    for (text, message) in [
        (format!("{good}modle=1\n{model}"), "p.toml:4:1: unknown key, expected"),
        (good.replace("'openai'", "'soap'") + model, "p.toml:2:8: unknown value, expected"),
        (good.to_owned(), "p.toml:1:1: missing field `model`"),
        (good.to_owned() + "[[model]]\nname='a'\n", "p.toml: `model` must have one entry"),
        (good.replace("https", "ftp") + model, "p.toml: `base_url` is not an address"),
        (good.replace("/v1", "/{x}") + model, "p.toml: `base_url` names an unknown setting"),
        (
            format!("{good}[key]\nvariables=['sk-x y']\n{model}"),
            "p.toml: `key.variables` names the variables that hold the key",
        ),
        (
            format!("{good}[headers]\n'a b'='c'\n{model}"),
            "p.toml: `headers.a b` cannot be sent as a header",
        ),
        (
            format!("{good}{model}price={{input=1,output=1,as_of='x'}}\n"),
            "p.toml: `model.*.price` `as_of` is a day, such as `2025-11-01`",
        ),
        (format!("{good}[[model]]\nname='a*b'\n{model}"), "p.toml: `model.a*b` may hold `*`"),
    ] {
        let said = told("p.toml", text);
        assert!(said.starts_with(message), "{said} is not {message}");
    }
    for secret in ["key='sk-canary'\n", "key={variables='sk-canary'}\n", "base_url='sk-canary'\n"] {
        let said = told("p.toml", format!("title='T'\nformat='openai'\n{secret}{model}"));
        assert!(!said.contains("canary"), "{said}");
    }
    assert!(told("My Own.toml", good.to_owned() + model).contains("is no name for a provider"));
}

#[test]
fn one_of_the_persons_own_stands_in_the_place_of_ours() {
    let text = "title='Mine'\nformat='ollama'\nbase_url='http://h'\n[[model]]\nname='*'\n";
    let own = [(Path::new("/c/openai.toml"), text), (Path::new("/c/mine.toml"), text)];
    let providers = Providers::new(own).unwrap();
    assert_eq!(providers.get("openai").unwrap().title, "Mine");
    assert_eq!(providers.get("mine").unwrap().format, WireFormat::Ollama);
    assert_eq!(providers.names().len(), Providers::default().names().len() + 1);
    assert!(providers.get("nowhere").is_none());
    assert_eq!(providers.all().count(), providers.names().len());
}
