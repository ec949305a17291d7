//! Where a value comes from: its layer, and the line of the file or nothing more.
//!
//! Every value of the settings carries this, so that `config show` and every error can name the
//! place to change.

use serde::Serialize;
use std::{fmt, path::Path, sync::Arc};

/// The layers of settings. A later one overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The value that is built in.
    Default,
    /// The person's config file.
    User,
    /// The profile that was selected.
    Profile,
    /// The project's config file, which may only tighten.
    Project,
    /// An environment variable.
    Environment,
    /// An option of the command line.
    CommandLine,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "the defaults",
            Self::User => "your config file",
            Self::Profile => "the profile",
            Self::Project => "the project",
            Self::Environment => "the environment",
            Self::CommandLine => "the command line",
        })
    }
}

/// The layer of a value and, for a file, the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The layer that set the value.
    pub layer: Layer,
    /// The file and the line, counted from 1.
    pub place: Option<(Arc<Path>, usize)>,
    /// The setting that decided it, if that is another one.
    pub decided_by: Option<&'static str>,
}

impl Provenance {
    /// The same origin, of a value that another setting decides.
    pub(super) fn through(&self, setting: &'static str) -> Self {
        Self { decided_by: Some(setting), ..self.clone() }
    }

    /// The origin of a value that no file sets.
    pub(super) fn of(layer: Layer) -> Self {
        Self { layer, place: None, decided_by: None }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value in force.
    pub value: T,
    /// Where the value comes from.
    pub origin: Provenance,
}

impl<T> Sourced<T> {
    /// A value that is built in.
    pub(super) fn built_in(value: T) -> Self {
        Self { value, origin: Provenance::of(Layer::Default) }
    }

    /// A value that an option of the command line sets.
    pub fn typed(value: T) -> Self {
        Self { value, origin: Provenance::of(Layer::CommandLine) }
    }
}

impl<T: Default> Default for Sourced<T> {
    fn default() -> Self {
        Self::built_in(T::default())
    }
}
