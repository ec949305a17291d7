//! How a setting is declared, and everything that follows from a declaration.
//!
//! `settings!` takes one entry for each setting and makes the struct that the program reads, its
//! defaults, and the table from which files, variables and options are read, the schema is written
//! and `config show` is printed. A setting is added in one place.

use super::{
    Fault, Layer, Provenance,
    field::Field,
    text::Source,
    value::{Node, Value},
};
use serde_json::Value as Json;

/// The name and the meaning of a setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingInfo {
    /// The name in config files, with dots between tables.
    pub name: &'static str,
    /// The one line of documentation, with the spaces of a doc comment.
    pub(super) doc: &'static str,
    /// The option, as its help shows it: `-m, --model MODEL`.
    pub option: Option<&'static str>,
    /// The environment variable.
    pub variable: Option<&'static str>,
}

impl SettingInfo {
    /// The meaning of the setting, in one line.
    pub fn meaning(&self) -> &'static str {
        self.doc.trim()
    }
}

/// The rights of a project's file over a setting.
pub(super) enum Project<S, T> {
    /// Nothing, for this reason.
    Never(&'static str),
    /// Replace the value, unless the new one is looser than the current one.
    Tighten(fn(&T, &T) -> bool),
    /// Replace the list, unless the current settings give a reason against one of its values.
    Narrow(fn(&S, &T) -> Option<String>),
    /// Add to the list, which can only make things stricter.
    Add,
    /// Add to the list, unless there is a reason against a value.
    AddUnless(fn(&T) -> Option<String>),
}

/// One declared setting of the struct `S`.
pub(super) struct Declared<S, F: Field> {
    pub(super) info: SettingInfo,
    pub(super) project: Project<S, F::Item>,
    pub(super) get: fn(&S) -> &F,
    pub(super) get_mut: fn(&mut S) -> &mut F,
}

/// A struct of settings, with the table of their declarations.
pub(super) trait Table: Clone + Default + 'static {
    const SETTINGS: &'static [&'static dyn Setting<Self>];

    /// Settles what several settings decide together.
    fn settle(&mut self) {}
}

/// A value of a setting: its name if it is defined by name, the value, the origin.
pub(super) type Item<'s> = (Option<&'s str>, Json, &'s Provenance);

/// A declared setting, whatever its type.
pub(super) trait Setting<S> {
    fn info(&self) -> &SettingInfo;

    /// The rights of a project's file over it, in words.
    fn for_project(&self) -> &'static str;

    /// Whether its option may be given more than once.
    fn repeats(&self) -> bool;

    /// Whether it is switched on and off.
    fn is_switch(&self) -> bool;

    /// Puts what a file says over `settings`. `before` is how they were without the file.
    fn lay(
        &self,
        settings: &mut S,
        before: &S,
        node: Node<'_>,
        source: &Source<'_>,
    ) -> Result<(), Fault>;

    /// Puts the words of an option or of a variable over `settings`.
    fn lay_words(&self, settings: &mut S, words: &[String], layer: Layer) -> Result<(), String>;

    /// Every value that is set.
    fn items<'s>(&self, settings: &'s S) -> Vec<Item<'s>>;

    /// The JSON schema of its values.
    fn schema(&self) -> Json;

    /// Accepted values, as TOML.
    fn examples(&self) -> Vec<String>;

    /// Whether `after` leaves more freedom than `before`, as a project may not.
    #[cfg(test)]
    fn is_looser(&self, after: &S, before: &S) -> bool;
}

impl<S, F: Field> Declared<S, F> {
    /// Why the file of a project may not say this.
    fn refusal(&self, before: &S, new: &F) -> Option<String> {
        let name = self.info.name;
        match self.project {
            Project::Never(reason) => Some(format!("a project may not set `{name}`: {reason}")),
            Project::Add => None,
            Project::AddUnless(why_not) => {
                let reason = new.items().iter().find_map(|(_, one, _)| why_not(one))?;
                Some(format!("a project may only tighten, and `{name}` {reason}"))
            }
            Project::Tighten(is_looser) => {
                let current = (self.get)(before).items();
                let [(_, current, origin)] = current[..] else { return Some(name.into()) };
                let items = new.items();
                let (_, new, _) = items.iter().find(|(_, new, _)| is_looser(new, current))?;
                Some(format!(
                    "a project may only tighten, and `{name} = {}` is looser than {}, from {}",
                    words(&new.json()),
                    words(&current.json()),
                    origin.layer
                ))
            }
            Project::Narrow(why_not) => {
                let reason = new.items().iter().find_map(|(_, one, _)| why_not(before, one))?;
                Some(format!("a project may only tighten, and `{name}` {reason}"))
            }
        }
    }
}

impl<S, F: Field> Setting<S> for Declared<S, F> {
    fn info(&self) -> &SettingInfo {
        &self.info
    }

    fn for_project(&self) -> &'static str {
        match self.project {
            Project::Never(_) => "may not set",
            Project::Tighten(_) => "may tighten",
            Project::Narrow(_) => "may narrow",
            Project::Add | Project::AddUnless(_) => "may add",
        }
    }

    fn repeats(&self) -> bool {
        F::REPEATS
    }

    fn is_switch(&self) -> bool {
        F::schema()["type"] == "boolean"
    }

    fn lay(
        &self,
        settings: &mut S,
        before: &S,
        node: Node<'_>,
        source: &Source<'_>,
    ) -> Result<(), Fault> {
        let name = self.info.name;
        let at = node.span().start;
        let new = F::read(node, source).map_err(|misread| {
            source.fault(misread.at, &format!("`{name}`: {}", misread.message))
        })?;
        let field = (self.get_mut)(settings);
        if source.layer != Layer::Project {
            field.lay(new);
            return Ok(());
        }
        if let Some(reason) = self.refusal(before, &new) {
            return Err(source.fault(at, &reason));
        }
        match self.project {
            Project::Add | Project::AddUnless(_) => field.lay(new),
            Project::Never(_) | Project::Tighten(_) | Project::Narrow(_) => *field = new,
        }
        Ok(())
    }

    fn lay_words(&self, settings: &mut S, words: &[String], layer: Layer) -> Result<(), String> {
        (self.get_mut)(settings).lay(F::from_words(words, layer)?);
        Ok(())
    }

    fn items<'s>(&self, settings: &'s S) -> Vec<Item<'s>> {
        let items = (self.get)(settings).items();
        items.into_iter().map(|(name, value, origin)| (name, value.json(), origin)).collect()
    }

    fn schema(&self) -> Json {
        F::schema()
    }

    fn examples(&self) -> Vec<String> {
        F::Item::EXAMPLES.iter().map(|one| F::example(one)).collect()
    }

    #[cfg(test)]
    fn is_looser(&self, after: &S, before: &S) -> bool {
        let (new, old) = ((self.get)(after), (self.get)(before));
        match self.project {
            Project::Never(_) => new != old,
            Project::AddUnless(why_not) => {
                let (old, new) = (old.items(), new.items());
                let loosens = |one| !old.contains(one) && why_not(one.1).is_some();
                new.iter().any(loosens) || old.iter().any(|one| !new.contains(one))
            }
            Project::Add => old.items().iter().any(|one| !new.items().contains(one)),
            Project::Tighten(_) | Project::Narrow(_) => self.refusal(before, new).is_some(),
        }
    }
}

/// A value as a person reads it.
pub(super) fn words(value: &Json) -> String {
    match value {
        Json::Null => "no limit".into(),
        Json::String(text) => format!("\"{text}\""),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => value.to_string(),
    }
}

/// Declares settings: the name in files, the field and its type, the default where it is not that
/// of the type, and what a project may do; then the option and the variable, if it has them.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $table:ident {
            $(
                $(#[doc = $doc:literal])+
                $name:literal $field:ident: $type:ty $(= $default:expr)?, $project:expr
                $(, option $option:literal)? $(, variable $variable:literal)?;
            )*
        }
        $(settle $settle:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $table {
            $($(#[doc = $doc])+ $visibility $field: $type,)*
        }

        impl Default for $table {
            fn default() -> Self {
                Self {
                    $($field: $crate::config::declare::settings!(@value $($default)?),)*
                }
            }
        }

        impl $crate::config::declare::Table for $table {
            const SETTINGS: &'static [&'static dyn $crate::config::declare::Setting<Self>] = &[$(
                &$crate::config::declare::Declared::<Self, $type> {
                    info: $crate::config::declare::SettingInfo {
                        name: $name,
                        doc: concat!($($doc),+),
                        option: $crate::config::declare::settings!(@some $($option)?),
                        variable: $crate::config::declare::settings!(@some $($variable)?),
                    },
                    project: $project,
                    get: |settings| &settings.$field,
                    get_mut: |settings| &mut settings.$field,
                },
            )*];

            $(fn settle(&mut self) {
                $settle(self);
            })?
        }
    };
    (@value) => { Default::default() };
    (@value $default:expr) => { $crate::config::Sourced::built_in($default) };
    (@some) => { None };
    (@some $some:literal) => { Some($some) };
}

pub(super) use settings;
