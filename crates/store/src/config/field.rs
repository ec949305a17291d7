//! The shapes that a setting has: one value, a list, or definitions by name.
//!
//! One value of a later layer replaces the earlier one. Lists add up, and so do definitions: one
//! of the same name replaces the earlier one.

use super::{
    Layer, Provenance, Sourced,
    text::{Misread, Source},
    value::{Named, Node, Value, from_words},
};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use toml::de::DeValue;

/// The shape of a setting. The origin of every value in it is known.
pub(super) trait Field: Clone + PartialEq + std::fmt::Debug + 'static {
    /// The type of the values in it.
    type Item: Value;

    /// Whether an option for it may be given more than once.
    const REPEATS: bool;

    /// Reads what one file says.
    fn read(node: Node<'_>, source: &Source<'_>) -> Result<Self, Misread>;

    /// Reads the words of an option or of a variable.
    fn from_words(words: &[String], layer: Layer) -> Result<Self, String>;

    /// Puts a later layer on top.
    fn lay(&mut self, later: Self);

    /// Every value with its origin, and its name if it has one.
    fn items(&self) -> Vec<(Option<&str>, &Self::Item, &Provenance)>;

    /// The JSON schema of the whole.
    fn schema() -> Json;

    /// An accepted value, as TOML.
    fn example(of: &str) -> String;
}

impl<T: Value> Field for Sourced<T> {
    type Item = T;
    const REPEATS: bool = false;

    fn read(node: Node<'_>, source: &Source<'_>) -> Result<Self, Misread> {
        let origin = source.provenance(node.span().start);
        Ok(Self { value: T::read(node)?, origin })
    }

    fn from_words(words: &[String], layer: Layer) -> Result<Self, String> {
        let words = words.last().map(String::as_str).unwrap_or_default();
        Ok(Self { value: from_words(words)?, origin: Provenance::of(layer) })
    }

    fn lay(&mut self, later: Self) {
        *self = later;
    }

    fn items(&self) -> Vec<(Option<&str>, &T, &Provenance)> {
        vec![(None, &self.value, &self.origin)]
    }

    fn schema() -> Json {
        T::schema()
    }

    fn example(of: &str) -> String {
        of.into()
    }
}

impl<T: Value> Field for Vec<Sourced<T>> {
    type Item = T;
    const REPEATS: bool = true;

    fn read(node: Node<'_>, source: &Source<'_>) -> Result<Self, Misread> {
        let at = node.span().start;
        let DeValue::Array(array) = node.into_inner() else {
            let message = format!("expected a list such as {}", Self::example(T::EXAMPLES[0]));
            return Err(Misread { at, message });
        };
        array.into_iter().map(|one| Sourced::read(one, source)).collect()
    }

    fn from_words(words: &[String], layer: Layer) -> Result<Self, String> {
        let origin = || Provenance::of(layer);
        words.iter().map(|one| Ok(Sourced { value: from_words(one)?, origin: origin() })).collect()
    }

    fn lay(&mut self, later: Self) {
        self.extend(later);
    }

    fn items(&self) -> Vec<(Option<&str>, &T, &Provenance)> {
        self.iter().map(|one| (None, &one.value, &one.origin)).collect()
    }

    fn schema() -> Json {
        json!({"type": "array", "items": T::schema()})
    }

    fn example(of: &str) -> String {
        format!("[{of}]")
    }
}

impl<T: Named> Field for BTreeMap<String, Sourced<T>> {
    type Item = T;
    const REPEATS: bool = true;

    fn read(node: Node<'_>, source: &Source<'_>) -> Result<Self, Misread> {
        let at = node.span().start;
        let DeValue::Table(table) = node.into_inner() else {
            return Err(Misread { at, message: "expected tables by name".into() });
        };
        let first = table.keys().next().map_or(at, |name| name.span().start);
        let all = table.into_iter().map(|(name, one)| {
            let origin = source.provenance(name.span().start);
            Ok((name.into_inner().into_owned(), Sourced { value: T::read(one)?, origin }))
        });
        let all: Self = all.collect::<Result<_, _>>()?;
        let named = all.iter().map(|(name, one)| (name.as_str(), &one.value)).collect();
        T::check(&named).map_err(|message| Misread { at: first, message })?;
        Ok(all)
    }

    fn from_words(_: &[String], _: Layer) -> Result<Self, String> {
        Err("expected a definition in a config file".into())
    }

    fn lay(&mut self, later: Self) {
        for (name, Sourced { value, origin }) in later {
            let value = match self.get(&name) {
                Some(earlier) => value.over(&earlier.value),
                None => value,
            };
            self.insert(name, Sourced { value, origin });
        }
    }

    fn items(&self) -> Vec<(Option<&str>, &T, &Provenance)> {
        self.iter().map(|(name, one)| (Some(name.as_str()), &one.value, &one.origin)).collect()
    }

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": T::schema()})
    }

    fn example(of: &str) -> String {
        format!("{{ mine = {of} }}")
    }
}
