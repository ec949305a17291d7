//! What the settings say about the network.
//!
//! Lists of the person's own add up, from file to file and with what they type. A project's list
//! takes the place of theirs, if every entry of it is covered by one of theirs; what a project
//! denies is denied on top.

use super::{ConfigError, Layer, Sourced, bound::Bound, resolve::Project};
use crate::Preset;
use interpreter_core::egress::{HostRule, Hosts, RuleError};
use serde::{Deserialize, Deserializer, de};
use std::{fmt, str::FromStr};

/// The `[network]` table of a config file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTable {
    /// How far code reaches: `none`, `listed` or `open`.
    pub mode: Option<NetworkMode>,

    /// Hosts that code may reach, such as `"example.org"`, `"*.example.org"`, `"192.0.2.1:8080"`;
    /// or packages by kind: `"python"`, `"npm"`, `"rust"`, `"debian"`.
    pub hosts: Option<Vec<Listed>>,

    /// Hosts that it may not reach, whatever else is said.
    #[serde(default)]
    pub deny: Vec<HostRule>,

    /// Whether you are asked when code tries to reach a host that is not listed.
    pub ask: Option<bool>,
}

/// How far code reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMode {
    /// Nowhere, and nobody is asked.
    None,
    /// To what is listed.
    #[default]
    Listed,
    /// To every public host.
    Open,
}

impl NetworkMode {
    /// The word in config files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Listed => "listed",
            Self::Open => "open",
        }
    }
}

impl FromStr for NetworkMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::None, Self::Listed, Self::Open]
            .into_iter()
            .find(|mode| mode.word() == text)
            .ok_or_else(|| "one of `none`, `listed` and `open` is wanted".into())
    }
}

impl Bound for NetworkMode {
    fn is_looser_than(&self, other: &Self) -> bool {
        self > other
    }

    fn words(&self) -> String {
        format!("\"{}\"", self.word())
    }
}

/// One entry of the list of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Where packages of a kind come from.
    Preset(Preset),
    /// A host.
    Rule(HostRule),
}

impl Listed {
    /// Whether it stands for all that `other` stands for.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Preset(one), Self::Preset(other)) => one == other,
            (Self::Rule(one), Self::Rule(other)) => one.covers(other),
            // What a kind of packages comes to is another thing on every machine.
            (Self::Preset(_), Self::Rule(_)) | (Self::Rule(_), Self::Preset(_)) => false,
        }
    }
}

impl FromStr for Listed {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        match text.parse() {
            Ok(preset) => Ok(Self::Preset(preset)),
            Err(()) => text.parse().map(Self::Rule),
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset(preset) => preset.fmt(f),
            Self::Rule(rule) => rule.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// What is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkSettings {
    /// How far code reaches.
    pub mode: Sourced<NetworkMode>,
    /// What it may reach.
    pub hosts: Vec<Sourced<Listed>>,
    /// What it may not.
    pub deny: Vec<Sourced<HostRule>>,
    /// Whether the person is asked about what is not listed.
    pub ask: Sourced<bool>,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            mode: Sourced::built_in(NetworkMode::default()),
            hosts: Vec::new(),
            deny: Vec::new(),
            ask: Sourced::built_in(true),
        }
    }
}

impl NetworkSettings {
    pub(super) fn lay(&mut self, table: NetworkTable, layer: Layer) {
        let NetworkTable { mode, hosts, deny, ask } = table;
        let sourced = |value| Sourced { value, layer };
        if let Some(mode) = mode {
            self.mode = Sourced { value: mode, layer };
        } else if layer == Layer::CommandLine
            && self.mode.value == NetworkMode::None
            && hosts.as_ref().is_some_and(|hosts| !hosts.is_empty())
        {
            // Whoever types a host means it.
            self.mode = Sourced { value: NetworkMode::Listed, layer };
        }
        self.hosts.extend(hosts.into_iter().flatten().map(sourced));
        self.deny.extend(deny.into_iter().map(|value| Sourced { value, layer }));
        if let Some(value) = ask {
            self.ask = Sourced { value, layer };
        }
    }

    pub(super) fn tighten(
        &mut self,
        table: NetworkTable,
        project: &Project<'_>,
    ) -> Result<(), ConfigError> {
        let NetworkTable { mode, hosts, deny, ask } = table;
        let layer = Layer::Project;
        let before = self.mode.value;
        project.tighten(&mut self.mode, "network.mode", mode)?;
        if let Some(hosts) = hosts {
            let open = before == NetworkMode::Open;
            let covered = |one: &Listed| open || self.hosts.iter().any(|own| own.value.covers(one));
            if let Some(new) = hosts.iter().find(|one| !covered(one)) {
                return Err(project.lists_a_host(new.to_string()));
            }
            self.hosts = hosts.into_iter().map(|value| Sourced { value, layer }).collect();
        }
        self.deny.extend(deny.into_iter().map(|value| Sourced { value, layer }));
        match ask {
            Some(true) if !self.ask.value => {
                project.may_not_set("network.ask", true, "you chose not to be asked")
            }
            Some(value) => {
                self.ask = Sourced { value, layer };
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Kinds of packages that are listed.
    pub fn presets(&self) -> impl Iterator<Item = Preset> {
        self.hosts.iter().filter_map(|one| match one.value {
            Listed::Preset(preset) => Some(preset),
            Listed::Rule(_) => None,
        })
    }

    /// The list, but for kinds of packages.
    pub fn listed(&self) -> Hosts {
        let rules = self.hosts.iter().filter_map(|one| match &one.value {
            Listed::Preset(_) => None,
            Listed::Rule(rule) => Some(rule.clone()),
        });
        Hosts {
            allow: rules.collect(),
            deny: self.deny.iter().map(|one| one.value.clone()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ConfigFiles, ConfigText, Overrides, Settings};
    use super::*;
    use proptest::prelude::*;

    fn resolved(user: &str, project: &str, typed: &[&str]) -> Result<NetworkSettings, String> {
        let file =
            |path: &str, text: &str| Some(ConfigText { path: path.into(), text: text.into() });
        let files = ConfigFiles {
            user: file("/user.toml", user),
            project: file("/project.toml", project),
            ..ConfigFiles::default()
        };
        let allow_hosts = typed.iter().map(|one| one.parse().unwrap()).collect();
        let overrides = Overrides { allow_hosts, ..Overrides::default() };
        let settings = Settings::resolve(&files, &overrides).map_err(|error| error.to_string())?;
        Ok(settings.network)
    }

    fn hosts(settings: &NetworkSettings) -> Vec<String> {
        settings.hosts.iter().map(|one| one.value.to_string()).collect()
    }

    #[test]
    fn lists_of_ones_own_add_up() {
        let user = "[network]\nhosts = ['a.org', 'python']\ndeny = ['*.ads.org']\n";
        let network = resolved(user, "", &["b.org:8080", "npm"]).unwrap();
        assert_eq!(hosts(&network), ["a.org", "python", "b.org:8080", "npm"]);
        assert_eq!(network.presets().collect::<Vec<_>>(), [Preset::Python, Preset::Npm]);
        assert_eq!(network.listed().deny.len(), 1);
        assert!(network.ask.value);
    }

    #[test]
    fn a_project_may_narrow_and_nothing_else() {
        let user = "[network]\nhosts = ['*.example.org', 'python']\n";
        let narrowed = "[network]\nhosts = ['a.example.org:443']\ndeny = ['x.org']\nask = false\n";
        let network = resolved(user, narrowed, &[]).unwrap();
        assert_eq!(hosts(&network), ["a.example.org:443"]);
        assert!(!network.ask.value);
        for project in [
            "[network]\nhosts = ['evil.org']\n",
            "[network]\nhosts = ['example.org']\n",
            "[network]\nhosts = ['a.example.org:22']\n",
            "[network]\nhosts = ['npm']\n",
        ] {
            let message = resolved(user, project, &[]).unwrap_err();
            assert!(message.contains("a project may only tighten"), "{message}");
            assert!(message.contains("--allow-host"), "{message}");
        }
        let message = resolved("", "[network]\nmode = 'open'\n", &[]).unwrap_err();
        assert!(
            message.contains("`network.mode = \"open\"` is looser than \"listed\""),
            "{message}"
        );
        let quiet = "[network]\nask = false\n";
        assert!(resolved(quiet, "[network]\nask = true\n", &[]).is_err());
    }

    #[test]
    fn what_is_typed_is_meant() {
        let none = "[network]\nmode = 'none'\nhosts = ['a.org']\n";
        assert_eq!(resolved(none, "", &[]).unwrap().mode.value, NetworkMode::None);
        let typed = resolved(none, "", &["b.org"]).unwrap();
        assert_eq!((typed.mode.value, typed.mode.layer), (NetworkMode::Listed, Layer::CommandLine));
        let open = resolved("[network]\nmode = 'open'\n", "", &["b.org"]).unwrap();
        assert_eq!(open.mode.value, NetworkMode::Open);
    }

    #[test]
    fn a_wrong_entry_is_named_by_its_place_and_not_repeated() {
        let message =
            resolved("[network]\nhosts = ['https://me:secret@h.org']\n", "", &[]).unwrap_err();
        assert!(message.starts_with("/user.toml:2:9: expected a host alone"), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }

    proptest! {
        #[test]
        fn no_project_reaches_further(
            user in prop::collection::vec("(\\*\\.)?[ab]\\.x\\.org(:[12]|:\\*)?", 0..4),
            project in prop::collection::vec("(\\*\\.)?([ab]\\.){1,2}x\\.org(:[12]|:\\*)?", 0..4),
            host in "([abc]\\.){1,3}x\\.org",
            port in prop::sample::select(vec![1_u16, 2, 80, 443]),
        ) {
            use interpreter_core::egress::Decision;
            let file = |list: &[String]| format!("[network]\nhosts = {list:?}\n");
            let without = resolved(&file(&user), "", &[]).unwrap().listed();
            if let Ok(with) = resolved(&file(&user), &file(&project), &[]) {
                let host = host.parse().unwrap();
                if with.listed().judge(&host, port) == Decision::Allow {
                    prop_assert_eq!(without.judge(&host, port), Decision::Allow);
                }
            }
        }
    }
}
