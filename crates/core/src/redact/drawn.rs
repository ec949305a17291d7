//! Text as it is drawn for somebody who decides on it: a person, in a question, a list or a diff.
//!
//! # Threat
//! Text that is changed on its way to the decision. Tokens are recognised by shapes, and a shape can
//! be made to swallow whatever stands behind its beginning: a diff would then hide lines that land,
//! and a question would show other code than runs.
//!
//! # Mechanism
//! Shapes never touch it. Only the user's own known values are masked, each in exactly the bytes that
//! it takes, and a [`Drawn`] names them. Whoever offers a yes to more than one thing must leave out
//! what is not drawn whole: it takes an answer to itself.
//!
//! # Limits
//! The text itself may contain `[secret:NAME]`. It then looks masked, and is not.

use super::{Pattern, Redactor, Scope, search::Found, shapes::End};
use crate::Untrusted;

/// A text as it is drawn, and the names of the secrets that are masked in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    text: Untrusted,
    masked: Vec<String>,
}

impl Drawn {
    /// The text, with known values masked.
    pub fn text(&self) -> &Untrusted {
        &self.text
    }

    /// The same, taken out.
    pub fn into_text(self) -> Untrusted {
        self.text
    }

    /// The names of the masked values, each once.
    pub fn masked(&self) -> &[String] {
        &self.masked
    }

    /// The same beside something else, in which these are masked.
    #[must_use]
    pub fn beside(mut self, more: Vec<String>) -> Self {
        for name in more {
            if !self.masked.contains(&name) {
                self.masked.push(name);
            }
        }
        self
    }

    /// Whether it is the text itself, with nothing masked.
    pub fn is_whole(&self) -> bool {
        self.masked.is_empty()
    }
}

/// Names of secrets, as part of a sentence: `A`, or `A` and `B`.
pub fn named(masked: &[String]) -> String {
    let named: Vec<_> = masked.iter().map(|name| format!("`{name}`")).collect();
    named.join(" and ")
}

impl Redactor {
    /// A text for somebody who decides on it.
    pub fn draw(&self, text: &Untrusted) -> Drawn {
        let masked = self.masks(text.raw());
        if masked.is_empty() {
            return Drawn { text: text.clone(), masked };
        }
        Drawn { text: self.untrusted(text.clone(), Scope::Known), masked }
    }

    /// The names of the known values in a text, each once.
    pub fn masks(&self, text: &str) -> Vec<String> {
        let Some(search) = self.search.as_ref().filter(|_| self.knows_values()) else {
            return Vec::new();
        };
        let mut names: Vec<String> = Vec::new();
        for Found { of, .. } in search.scan(text, Scope::Known, End::Final).0 {
            if let Pattern::Known(number) = of
                && let Some(name) = self.names.get(number)
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        }
        names
    }

    /// Whether it looks for any value of the user's.
    pub fn knows_values(&self) -> bool {
        !self.names.is_empty()
    }
}
