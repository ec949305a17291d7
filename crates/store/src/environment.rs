//! The environment of this process, read once.
//!
//! Everything that a variable decides is decided from this snapshot, so a test can give its own
//! and a later change of the process's environment changes nothing.
//!
//! Must not print a value: keys stand among them. Nothing else in the program reads the
//! environment.

use crate::KeptSecrets;
use interpreter_core::{Secret, secret::in_variable};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
};

/// A snapshot of the environment, and the secrets that are kept for it.
#[derive(Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    kept: KeptSecrets,
    person: Option<String>,
}

impl Environment {
    /// The environment of this process, now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads it")]
    pub fn read() -> Self {
        Self { variables: std::env::vars_os().collect(), ..Self::default() }
    }

    /// An environment made by hand.
    pub fn from_pairs<N, V>(pairs: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = pairs.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { variables: variables.collect(), ..Self::default() }
    }

    /// The same, with secrets for variables that are not set.
    #[must_use]
    pub fn with_kept(self, kept: KeptSecrets) -> Self {
        Self { kept, ..self }
    }

    /// The same for one person of a team, by their id: what they keep is apart from everybody else's.
    #[must_use]
    pub fn of_person(self, id: &str) -> Self {
        Self { person: Some(id.to_owned()), ..self }
    }

    /// The person of a team, by their id.
    pub(crate) fn person(&self) -> Option<&str> {
        self.person.as_deref()
    }

    /// Keeps one more secret. One of the same name is replaced.
    pub fn keep(&mut self, name: &str, value: Secret) {
        self.kept.set(name, value);
    }

    /// The secrets that are kept.
    pub fn kept(&self) -> &KeptSecrets {
        &self.kept
    }

    /// The value of a variable as it is. An empty value counts as none, as it does for the XDG
    /// variables and for keys.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// The value of a variable, if it has one and it is UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.raw(name)?.to_str()
    }

    /// The value of a variable that holds a key, or the secret that is kept by that name. Whitespace
    /// around it is dropped: it comes from `$(cat file)` and the like, and is never part of a key.
    pub fn secret(&self, name: &str) -> Option<Secret> {
        let text = self.text(name).map(str::trim).filter(|text| !text.is_empty());
        text.map(|text| Secret::new(text.to_owned())).or_else(|| self.kept.get(name))
    }

    /// The variables that hold secrets, by their names and values, and all secrets that are kept.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, Secret)> {
        let variables = self.variables.iter();
        let texts = variables.filter_map(|(name, value)| name.to_str().zip(value.to_str()));
        let set = texts.filter_map(|(name, value)| Some((name, in_variable(name, value)?)));
        set.chain(self.kept.names().filter_map(|name| Some((name, self.kept.get(name)?))))
    }

    /// The names of all variables that are UTF-8.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().filter_map(|name| name.to_str())
    }

    /// The folders in a variable such as `PATH`. Relative ones are left out: they depend on the
    /// current folder, which may be a stranger's project.
    pub fn path_list(&self, name: &str) -> Vec<PathBuf> {
        let Some(value) = self.raw(name) else { return Vec::new() };
        std::env::split_paths(value).filter(|path| path.is_absolute()).collect()
    }

    /// The person's editor: `VISUAL`, else `EDITOR`. May hold arguments.
    pub fn editor(&self) -> Option<&str> {
        self.text("VISUAL").or_else(|| self.text("EDITOR"))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.variables.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn an_empty_variable_counts_as_none() {
        let environment = Environment::from_pairs([("A", ""), ("B", "b")]);
        assert_eq!(environment.text("A"), None);
        assert_eq!(environment.text("B"), Some("b"));
        assert_eq!(environment.text("C"), None);
    }

    #[test]
    fn a_key_comes_without_the_line_end_around_it() {
        let environment = Environment::from_pairs([("KEY", "sk-1\n"), ("BLANK", " \n")]);
        assert_eq!(environment.secret("KEY").unwrap().reveal(), "sk-1");
        assert!(environment.secret("BLANK").is_none());
    }

    #[test]
    fn a_kept_secret_serves_where_no_variable_is_set() {
        let mut kept = KeptSecrets::default();
        kept.set("KEY", Secret::new("kept".into()));
        kept.set("OTHER", Secret::new("kept".into()));
        let environment = Environment::from_pairs([("KEY", "set")]).with_kept(kept);
        assert_eq!(environment.secret("KEY").unwrap().reveal(), "set");
        assert_eq!(environment.secret("OTHER").unwrap().reveal(), "kept");
        // It is no variable: nothing but a key is looked for there.
        assert_eq!(environment.text("OTHER"), None);
        assert_eq!(
            environment.secrets().map(|(name, _)| name).collect::<Vec<_>>(),
            ["KEY", "OTHER"]
        );
    }

    #[test]
    fn relative_folders_are_left_out_of_a_path_list() {
        let environment = Environment::from_pairs([("PATH", "/usr/bin:.::bin:/bin")]);
        assert_eq!(environment.path_list("PATH"), [Path::new("/usr/bin"), Path::new("/bin")]);
        assert!(environment.path_list("MANPATH").is_empty());
    }

    #[test]
    fn visual_comes_before_editor() {
        let both = Environment::from_pairs([("VISUAL", "code --wait"), ("EDITOR", "vi")]);
        assert_eq!(both.editor(), Some("code --wait"));
        assert_eq!(Environment::from_pairs([("EDITOR", "vi")]).editor(), Some("vi"));
    }

    #[test]
    fn debug_shows_no_value() {
        let environment = Environment::from_pairs([("KEY", "sk-canary")]);
        assert_eq!(format!("{environment:?}"), "Environment(1 variables)");
    }

    #[test]
    fn the_process_has_an_environment() {
        assert!(!Environment::read().variables.is_empty());
    }
}
