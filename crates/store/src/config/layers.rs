//! The layers come together. Pure: the same files, variables and options give the same settings.
//!
//! The keys of a file are looked up in the table of settings. A key that is not declared is an
//! error, and so is a value that does not fit; both name the nearest that would.

use super::{
    ConfigError, ConfigFiles, ConfigText, Fault, Layer, Settings,
    declare::{Setting, Table},
    text::{Misread, Source, unknown},
};
use crate::Environment;
use interpreter_core::{Untrusted, similar::nearest};
use std::path::PathBuf;
use toml::de::{DeTable, DeValue};

/// Errors of one file that are reported at once.
const MOST_FAULTS: usize = 20;

/// The options of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The profile to read. It is a file, so [`ConfigFiles::read`] is given it too.
    pub profile: Option<String>,
    /// Settings by name, each with the words that were typed. [`Overrides::set`] adds to them.
    pub settings: Vec<(String, Vec<String>)>,
    /// Paths that code may also see, in this session only: no file can grant this.
    pub allow_read: Vec<PathBuf>,
    /// Paths that code may also change, in this session only.
    pub allow_write: Vec<PathBuf>,
}

impl Overrides {
    /// Sets a setting to the words of its option.
    #[must_use]
    pub fn set<W: Into<String>>(mut self, name: &str, words: impl IntoIterator<Item = W>) -> Self {
        self.settings.push((name.into(), words.into_iter().map(Into::into).collect()));
        self
    }
}

impl Settings {
    /// The settings that follow from these files, variables and options.
    pub fn resolve(
        files: &ConfigFiles,
        environment: &Environment,
        overrides: &Overrides,
    ) -> Result<Self, ConfigError> {
        resolve(files, environment, overrides)
    }

    /// Every error of a file of this layer, on top of the files of earlier layers.
    pub fn faults(earlier: &ConfigFiles, file: &ConfigText, layer: Layer) -> Vec<Fault> {
        let before = resolve(earlier, &Environment::default(), &Overrides::default());
        lay_file::<Self>(&mut before.unwrap_or_default(), file, layer)
    }

    /// Checks the words of an option.
    pub fn check_words(name: &str, words: &str) -> Result<(), String> {
        lay_words(&mut Self::default(), name, &[words.into()], Layer::CommandLine)
    }
}

pub(super) fn resolve<S: Table>(
    files: &ConfigFiles,
    environment: &Environment,
    overrides: &Overrides,
) -> Result<S, ConfigError> {
    let mut settings = S::default();
    let layers = [
        (&files.user, Layer::User),
        (&files.profile, Layer::Profile),
        (&files.project, Layer::Project),
    ];
    for (file, layer) in layers {
        let Some(file) = file else { continue };
        let faults = lay_file(&mut settings, file, layer);
        if !faults.is_empty() {
            return Err(ConfigError::Invalid(faults));
        }
    }
    for setting in S::SETTINGS {
        let Some(variable) = setting.info().variable else { continue };
        let Some(words) = environment.text(variable) else { continue };
        setting.lay_words(&mut settings, &[words.into()], Layer::Environment).map_err(
            |reason| ConfigError::Words { from: format!("variable `{variable}`"), reason },
        )?;
    }
    for (name, words) in &overrides.settings {
        lay_words(&mut settings, name, words, Layer::CommandLine).map_err(|reason| {
            ConfigError::Words { from: format!("option for `{name}`"), reason }
        })?;
    }
    settings.settle();
    Ok(settings)
}

fn lay_words<S: Table>(
    settings: &mut S,
    name: &str,
    words: &[String],
    layer: Layer,
) -> Result<(), String> {
    let setting = find::<S>(name).ok_or_else(|| format!("there is no setting `{name}`"))?;
    setting.lay_words(settings, words, layer)
}

/// Puts a file on top of the settings. Returns its errors, in the order of their lines.
pub(super) fn lay_file<S: Table>(settings: &mut S, file: &ConfigText, layer: Layer) -> Vec<Fault> {
    let source = Source::new(file, layer);
    let (table, errors) = DeTable::parse_recoverable(&file.text);
    let mut faults: Vec<_> = errors
        .iter()
        .map(|error| Misread::new(error, 0))
        .map(|misread| source.fault(misread.at, &misread.message))
        .take(MOST_FAULTS)
        .collect();
    // After an error of syntax the rest may not be what it looks like.
    if faults.is_empty() {
        let before = settings.clone();
        let mut reading = Reading { settings, before, source, faults: Vec::new() };
        reading.table(table.into_inner(), "");
        faults = reading.faults;
    }
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults
}

struct Reading<'a, S> {
    settings: &'a mut S,
    before: S,
    source: Source<'a>,
    faults: Vec<Fault>,
}

impl<S: Table> Reading<'_, S> {
    /// Reads a table whose keys stand behind `prefix`.
    fn table(&mut self, table: DeTable<'_>, prefix: &str) {
        for (key, value) in table {
            if self.faults.len() == MOST_FAULTS {
                return;
            }
            let at = key.span().start;
            let name = format!("{prefix}{}", key.get_ref());
            if let Some(setting) = find::<S>(&name) {
                let laid = setting.lay(self.settings, &self.before, value, &self.source);
                self.faults.extend(laid.err());
            } else if names::<S>().any(|known| is_below(known, &name)) {
                if let DeValue::Table(table) = value.into_inner() {
                    self.table(table, &format!("{name}."));
                } else {
                    self.faults.push(self.source.fault(at, &not_a_table::<S>(&name)));
                }
            } else {
                let message = unknown_key::<S>(prefix, key.get_ref());
                self.faults.push(self.source.fault(at, &message));
            }
        }
    }
}

pub(super) fn find<S: Table>(name: &str) -> Option<&'static dyn Setting<S>> {
    S::SETTINGS.iter().copied().find(|setting| setting.info().name == name)
}

fn names<S: Table>() -> impl Iterator<Item = &'static str> + Clone {
    S::SETTINGS.iter().map(|setting| setting.info().name)
}

fn is_below(name: &str, table: &str) -> bool {
    name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
}

fn not_a_table<S: Table>(name: &str) -> String {
    let within = names::<S>().find(|known| is_below(known, name)).unwrap_or(name);
    format!("`{name}` is a table; set a key in it, such as `{within}`")
}

fn unknown_key<S: Table>(prefix: &str, key: &str) -> String {
    let mut here: Vec<_> =
        names::<S>().filter_map(|known| known.strip_prefix(prefix)?.split('.').next()).collect();
    here.dedup();
    if nearest(key, here.iter().copied()).is_none() {
        // It may be right, in another table.
        let elsewhere = names::<S>().find(|known| is_below_with(known, key));
        if let Some(name) = elsewhere {
            return format!("unknown key `{prefix}{key}`; did you mean `{name}`?");
        }
    }
    unknown("key", key, here.into_iter())
}

fn is_below_with(name: &str, last: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, key)| key == last)
}

impl ConfigError {
    /// There is no setting of this name.
    pub fn no_setting(name: &str) -> Self {
        let near = nearest(name, names::<Settings>()).map(str::to_owned);
        let near = near.or_else(|| {
            names::<Settings>().find(|known| is_below_with(known, name)).map(str::to_owned)
        });
        let name = Untrusted::new(name).for_terminal_line(80);
        Self::NoSetting { name, near }
    }
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
