//! A profile of the original in settings of ours.

use super::{Constant, Found, Named};

/// A profile as it is here, and what of it is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Settings by name, with their values.
    pub settings: Vec<(&'static str, Constant)>,
    /// The rest, which has no equal here, in words: one line each.
    pub left: Vec<String>,
}

/// Names that say nothing about how the program works.
const SILENT: &[&str] =
    &["version", "interpreter.version", "anonymous_telemetry", "disable_telemetry"];

/// The profile of what a file names. `model` gives the full name of a model, if it is known.
pub fn profile(found: &Found, model: impl Fn(&str) -> Option<String>) -> Profile {
    let mut profile = Profile::default();
    for Named { name, value, line } in &found.named {
        let name = name.strip_prefix("interpreter.").unwrap_or(name);
        if *value == Constant::Nothing || SILENT.contains(&name) || is_empty(value) {
            continue;
        }
        match setting(name, value, &model) {
            Ok(setting) => {
                profile.settings.retain(|(known, _)| *known != setting.0);
                profile.settings.push(setting);
            }
            Err(why) => profile.left.push(format!("line {line}: `{name}`: {why}")),
        }
    }
    profile.left.extend(found.other.iter().map(|line| format!("line {line}: not a plain setting")));
    profile
}

fn is_empty(value: &Constant) -> bool {
    matches!(value, Constant::Text(text) if text.trim().is_empty())
}

/// The setting of ours, or what is done instead.
fn setting(
    name: &str,
    value: &Constant,
    model: impl Fn(&str) -> Option<String>,
) -> Result<(&'static str, Constant), &'static str> {
    let computed = "it is computed, and nothing was run";
    match (name, value) {
        (_, Constant::Other) => Err(computed),
        ("llm.model" | "model", Constant::Text(name)) => match model(name) {
            Some(name) => Ok(("model", Constant::Text(name))),
            None => Err("name the model as PROVIDER/MODEL; `interpreter model list` shows them"),
        },
        ("llm.temperature" | "temperature", Constant::Whole(_) | Constant::Number(_)) => {
            Ok(("temperature", value.clone()))
        }
        ("llm.max_tokens" | "max_tokens", Constant::Whole(_)) => Ok(("max_tokens", value.clone())),
        ("custom_instructions", Constant::Text(_)) => Ok(("instructions", value.clone())),
        ("offline", Constant::Bool(true)) => Ok(("offline", value.clone())),
        ("offline" | "auto_run" | "verbose" | "debug" | "loop", Constant::Bool(false)) => {
            Err("it is so by default")
        }
        ("auto_run", _) => Err("use `--yes`: no file can approve code in advance"),
        ("system_message", _) => Err("the system prompt is fixed; `instructions` adds to it"),
        ("llm.api_key" | "api_key", _) => {
            Err("put the key into the provider's environment variable; it was not copied")
        }
        ("llm.api_base" | "api_base", _) => Err("define it as `[endpoint.NAME]` with `base_url`"),
        ("llm.context_window" | "context_window", _) => Err("set `context` of your own endpoint"),
        ("llm.supports_vision" | "llm.supports_functions", _) => {
            Err("set `images` and `tools` of your own endpoint")
        }
        ("safe_mode", _) => Err("by default code is analysed, sandboxed and asked about"),
        _ => Err("it has no equal here"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::settings;

    #[test]
    fn a_profile_becomes_settings_and_the_rest_is_listed() {
        let text = "\
llm:
  model: gpt-4o
  temperature: 0.5
  api_key: sk-canary
custom_instructions: Be brief.
system_message: \"\"
auto_run: true
offline: true
version: 0.2.5
";
        let known = |name: &str| (name == "gpt-4o").then(|| "openai/gpt-4o".to_owned());
        let Profile { settings: ours, left } = profile(&settings(text), known);
        assert_eq!(
            ours,
            [
                ("model", Constant::Text("openai/gpt-4o".into())),
                ("temperature", Constant::Number(0.5)),
                ("instructions", Constant::Text("Be brief.".into())),
                ("offline", Constant::Bool(true)),
            ]
        );
        assert_eq!(left.len(), 2);
        assert!(left[0].starts_with("line 4: `llm.api_key`: put the key"), "{left:?}");
        assert!(!format!("{left:?}").contains("canary"));
        let unknown = profile(&settings("llm:\n  model: mystery"), |_| None);
        assert!(unknown.settings.is_empty() && unknown.left[0].contains("PROVIDER/MODEL"));
    }
}
