//! Checks rules against the languages that are known.
//!
//! A rule that names no language of this program would match nothing, without a word: a deny that was
//! mistyped would deny nothing.

use crate::AgentError;
use interpreter_core::{Untrusted, similar::nearest};
use interpreter_exec::Interpreters;
use interpreter_store::Settings;

/// Refuses a rule whose language is unknown, or goes by another name.
pub(crate) fn check(settings: &Settings, interpreters: &Interpreters) -> Result<(), AgentError> {
    for rule in &settings.rules {
        let Some(name) = rule.value.language.as_deref() else { continue };
        let infos = || interpreters.all().map(|one| &one.info);
        if infos().any(|info| info.name == name) {
            continue;
        }
        let called = infos().find(|info| info.is_called(name)).map(|info| info.name.as_str());
        let near = called.or_else(|| nearest(name, infos().map(|info| info.name.as_str())));
        let place = match &rule.origin.place {
            Some((file, line)) => format!("{}:{line}", file.display()),
            None => rule.origin.layer.to_string(),
        };
        return Err(AgentError::Rule {
            place: Untrusted::new(place).for_terminal_line(4096),
            rule: Untrusted::new(rule.value.words()).for_terminal_line(200),
            near: near.map(str::to_owned),
        });
    }
    Ok(())
}
