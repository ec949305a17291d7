//! One rule: the code that it is about, and its statement on it.
//!
//! All rules share five fields, whatever they look for; `rules/*.toml` and the files that people
//! add have the same form. A field that nothing knows is an error, so that no rule says less than
//! its author meant.

use crate::saved::Saves;
use interpreter_core::{Deed, Risk, findings::MOST_SOURCES};
use serde::{Deserialize, Deserializer, de::DeserializeOwned, de::Error};

/// The fields that every rule has.
#[derive(Debug, Deserialize)]
struct Shared {
    capability: Deed,
    severity: Risk,
    reason: String,
    example: String,
    unlike: String,
}

/// The names of those fields.
const SHARED: [&str; 5] = ["capability", "severity", "reason", "example", "unlike"];

/// A rule on code that fits the pattern `P`.
#[derive(Debug)]
pub(crate) struct Rule<P> {
    /// The code that it is about.
    pub(crate) on: P,
    /// The deed of such code.
    pub(crate) capability: Deed,
    /// How grave that is.
    pub(crate) severity: Risk,
    /// Why it matters.
    pub(crate) reason: String,
    /// Code that it fits; names in braces stand for each name of the pattern.
    pub(crate) example: String,
    /// Code that it does not fit.
    pub(crate) unlike: String,
    /// The statement of whoever added it; empty for the rules of this crate.
    pub(crate) source: String,
}

impl<'de, P: DeserializeOwned> Deserialize<'de> for Rule<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = toml::Table::deserialize(deserializer)?;
        let (shared, own): (toml::Table, toml::Table) =
            fields.into_iter().partition(|(name, _)| SHARED.contains(&name.as_str()));
        // The pattern first: a misspelt field is more telling than the one that it leaves missing.
        let on = own.try_into().map_err(D::Error::custom)?;
        let Shared { capability, severity, reason, example, unlike } =
            shared.try_into().map_err(D::Error::custom)?;
        Ok(Self { on, capability, severity, reason, example, unlike, source: String::new() })
    }
}

/// The text of a list or of rules of this crate: the TOML file of that name, as the build made it.
macro_rules! own_text {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json"))
    };
}
pub(crate) use own_text;

/// Reads such a text.
pub(crate) fn own<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("the rules are part of this crate and tested")
}

/// The code that a rule is about.
pub(crate) trait Pattern: DeserializeOwned {
    /// Its names, each list with the mark that stands for them in the example.
    fn names(&self) -> Vec<(&'static str, &[String])>;

    /// A name as code would have it.
    fn written(&self, _mark: &str, name: &str) -> String {
        name.to_owned()
    }

    /// Whether the rules on the code that it runs speak instead of it.
    fn is_silent(&self) -> bool {
        false
    }

    /// The kind of file that such code saves, if it does no more than that.
    fn saves(&self) -> Option<Saves> {
        None
    }

    /// Whether it asks the same as another one of the code that either of them names.
    fn is_like(&self, _other: &Self) -> bool {
        false
    }
}

impl<P> Rule<P> {
    /// Whether a person or a project has added it.
    pub(crate) fn is_added(&self) -> bool {
        !self.source.is_empty()
    }
}

/// Puts one of the rules on the list of those on a name. A finding names a few sources, so of
/// added rules that say the same of the same code only the first [`MOST_SOURCES`] count. The others
/// are left out, and cost nothing wherever the name stands.
pub(crate) fn enlist<P: Pattern>(rules: &[Rule<P>], on_name: &mut Vec<usize>, at: usize) {
    let new = &rules[at];
    let is_like_new = |at: &&usize| rules[**at].says_like(new);
    if on_name.iter().filter(is_like_new).count() < MOST_SOURCES {
        on_name.push(at);
    }
}

impl<P: Pattern> Rule<P> {
    /// Whether it is an added rule that says the same as another one.
    fn says_like(&self, other: &Self) -> bool {
        self.is_added()
            && other.is_added()
            && (self.capability, self.severity) == (other.capability, other.severity)
            && self.on.is_like(&other.on)
    }

    /// The example with each name in turn, or why it does not show all of them.
    pub(crate) fn examples(&self) -> Result<Vec<String>, String> {
        let lists = self.on.names();
        let mut codes = vec![self.example.clone()];
        let mut all = Vec::new();
        let is_choice = lists.iter().any(|(mark, _)| matches!(*mark, "{call}" | "{import}"));
        for (mark, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
            if names.len() > 1 && !self.example.contains(mark) {
                return Err(format!(
                    "`example` must contain {mark}, which stands for each of its names"
                ));
            }
            let with = |code: &String| -> Vec<String> {
                let each =
                    names.iter().map(|name| code.replace(mark, &self.on.written(mark, name)));
                each.collect()
            };
            if is_choice {
                // Either a call or an import: one is enough.
                all.extend(with(&self.example));
            } else {
                codes = codes.iter().flat_map(with).collect();
            }
        }
        Ok(if is_choice { all } else { codes })
    }
}
