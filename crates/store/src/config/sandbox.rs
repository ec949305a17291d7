//! What the settings say about the sandbox: which one, and what it may lack.
//!
//! Lists of the person's own add up, from file to file and with what they type. A project may ask
//! for a stronger sandbox and take back what the person allowed to be missing, and nothing else.

use super::{ConfigError, Layer, Sourced, bound::Bound, resolve::Project};
use interpreter_core::{Backend, Choice, Promise, Sandboxing};
use serde::Deserialize;

/// The `[sandbox]` table of a config file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxTable {
    /// Which sandbox: `auto`, `native`, `bubblewrap`, `firejail`, `landlock` or `none`.
    pub backend: Option<Choice>,

    /// Promises of `SECURITY.md` that it need not keep wholly, by their words.
    pub allow_missing: Option<Vec<Promise>>,
}

/// What is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Which sandbox.
    pub backend: Sourced<Choice>,
    /// What it may lack.
    pub allow_missing: Vec<Sourced<Promise>>,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self { backend: Sourced::built_in(Choice::default()), allow_missing: Vec::new() }
    }
}

impl Bound for Choice {
    /// `auto` may come to a weaker one than `native`; all that is named else is weaker still.
    fn is_looser_than(&self, other: &Self) -> bool {
        let freedom = |choice| match choice {
            Self::Only(Backend::Native) => 0,
            Self::Auto => 1,
            Self::Only(Backend::Bubblewrap) => 2,
            Self::Only(Backend::Firejail) => 3,
            Self::Only(Backend::Landlock) => 4,
            Self::Only(Backend::None) => 5,
        };
        freedom(*self) > freedom(*other)
    }

    fn words(&self) -> String {
        format!("\"{}\"", self.word())
    }
}

impl SandboxSettings {
    pub(super) fn lay(&mut self, table: SandboxTable, layer: Layer) {
        let SandboxTable { backend, allow_missing } = table;
        if let Some(value) = backend {
            self.backend = Sourced { value, layer };
        }
        let sourced = |value| Sourced { value, layer };
        self.allow_missing.extend(allow_missing.into_iter().flatten().map(sourced));
    }

    pub(super) fn tighten(
        &mut self,
        table: SandboxTable,
        project: &Project<'_>,
    ) -> Result<(), ConfigError> {
        let SandboxTable { backend, allow_missing } = table;
        project.tighten(&mut self.backend, "sandbox.backend", backend)?;
        let Some(wanted) = allow_missing else { return Ok(()) };
        let allowed = |one: &Promise| self.allow_missing.iter().any(|own| own.value == *one);
        project.may_not_set(
            "sandbox.allow_missing",
            !wanted.iter().all(allowed),
            "it names a promise that you do not let go of yourself",
        )?;
        let layer = Layer::Project;
        self.allow_missing = wanted.into_iter().map(|value| Sourced { value, layer }).collect();
        Ok(())
    }

    /// It as a confinement has it.
    pub fn sandboxing(&self) -> Sandboxing {
        Sandboxing {
            backend: self.backend.value,
            allow_missing: self.allow_missing.iter().map(|one| one.value).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ConfigFiles, ConfigText, Overrides, Settings};
    use super::*;
    use proptest::prelude::*;

    fn resolved(user: &str, project: &str, typed: &Overrides) -> Result<Sandboxing, String> {
        let file =
            |path: &str, text: &str| Some(ConfigText { path: path.into(), text: text.into() });
        let files = ConfigFiles {
            user: file("/user.toml", user),
            project: file("/project.toml", project),
            ..ConfigFiles::default()
        };
        let settings = Settings::resolve(&files, typed).map_err(|error| error.to_string())?;
        Ok(settings.sandbox.sandboxing())
    }

    #[test]
    fn lists_of_ones_own_add_up_and_what_is_typed_wins() {
        let user = "[sandbox]\nbackend = 'landlock'\nallow_missing = ['reading']\n";
        let typed = Overrides {
            sandbox: Some(Choice::Only(Backend::Bubblewrap)),
            allow_missing: vec![Promise::Network],
            ..Overrides::default()
        };
        let meant = resolved(user, "", &typed).unwrap();
        assert_eq!(meant.backend, Choice::Only(Backend::Bubblewrap));
        assert_eq!(meant.allow_missing, [Promise::Network, Promise::Reading].into());
    }

    #[test]
    fn no_project_asks_for_less() {
        let none = Overrides::default();
        for weaker in ["none", "landlock", "firejail", "bubblewrap"] {
            let project = format!("[sandbox]\nbackend = '{weaker}'\n");
            let message = resolved("", &project, &none).unwrap_err();
            assert!(message.contains("a project may only tighten"), "{message}");
        }
        let message = resolved("", "[sandbox]\nallow_missing = ['reading']\n", &none).unwrap_err();
        assert!(message.contains("may not set `sandbox.allow_missing`"), "{message}");
    }

    #[test]
    fn a_project_may_ask_for_more() {
        let user = "[sandbox]\nbackend = 'none'\nallow_missing = ['reading', 'limits']\n";
        let project = "[sandbox]\nbackend = 'native'\nallow_missing = ['limits']\n";
        let meant = resolved(user, project, &Overrides::default()).unwrap();
        assert_eq!(meant.backend, Choice::Only(Backend::Native));
        assert_eq!(meant.allow_missing, [Promise::Limits].into());
    }

    #[test]
    fn what_is_not_known_is_named() {
        let none = Overrides::default();
        let message = resolved("[sandbox]\nbackend = 'docker'\n", "", &none).unwrap_err();
        assert!(message.contains("one of `auto`"), "{message}");
        let message = resolved("[sandbox]\nallow_missing = ['all']\n", "", &none).unwrap_err();
        assert!(message.contains("a promise is wanted"), "{message}");
    }

    proptest! {
        #[test]
        fn whatever_a_project_says_is_no_looser(
            own in prop::sample::select(Backend::ALL.to_vec()),
            wanted in prop::sample::select(Backend::ALL.to_vec()),
            lacks in prop::sample::subsequence(Promise::ALL.to_vec(), 0..4),
            wanted_lacks in prop::sample::subsequence(Promise::ALL.to_vec(), 0..4),
        ) {
            let file = |backend: Backend, lacks: &[Promise]| {
                let words: Vec<_> = lacks.iter().map(|one| one.word()).collect();
                format!("[sandbox]\nbackend = '{backend}'\nallow_missing = {words:?}\n")
            };
            let none = Overrides::default();
            let without = resolved(&file(own, &lacks), "", &none).unwrap();
            if let Ok(with) = resolved(&file(own, &lacks), &file(wanted, &wanted_lacks), &none) {
                prop_assert!(!with.backend.is_looser_than(&without.backend));
                prop_assert!(with.allow_missing.is_subset(&without.allow_missing));
            }
        }
    }
}
