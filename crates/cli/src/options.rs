//! The options that commands share: those of a session, and those that stand for settings.
//!
//! The latter are not written down here: they are made from the declarations of the settings.

use clap::{
    Arg, ArgAction, ArgMatches,
    builder::{PossibleValue, TypedValueParser},
};
use interpreter_store::{Overrides, SettingOption, Settings};
use std::{ffi::OsStr, path::PathBuf};

/// Options shared by all commands that run code.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    settings: SettingArgs,
    /// Run code without asking, still sandboxed; denied code stays denied
    #[arg(short, long, visible_alias = "auto-run", alias = "auto_run")]
    pub(crate) yes: bool,
    /// Print only JSON, one record per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Use the settings in profiles/NAME.toml
    #[arg(short, long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Set any setting of the config file for this session (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = named_value)]
    set: Vec<(String, String)>,
    /// Let code read a file or folder outside the work folder, or a hidden file by its exact path
    /// (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_read: Vec<PathBuf>,
    /// Let code change a file or folder outside the work folder directly, without staging
    /// (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_write: Vec<PathBuf>,
}

impl SessionArgs {
    pub(crate) fn overrides(&self) -> Overrides {
        let named = self.set.iter();
        let settings = named.fold(self.settings.overrides(), |settings, (name, value)| {
            settings.set(name, [value.as_str()])
        });
        Overrides {
            profile: self.profile.clone(),
            allow_read: self.allow_read.clone(),
            allow_write: self.allow_write.clone(),
            ..settings
        }
    }
}

/// A setting by its name, with its value.
fn named_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it needs the form NAME=VALUE")?;
    Settings::check_words(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Other names of options.
const ALIASES: &[(&str, &str)] = &[("max_calls", "max-turns")];

/// The options that stand for settings, made from the declarations of the settings.
#[derive(Clone, Debug)]
pub(crate) struct SettingArgs(Overrides);

impl SettingArgs {
    pub(crate) fn overrides(&self) -> Overrides {
        self.0.clone()
    }
}

impl clap::Args for SettingArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(Settings::options().map(setting_arg))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut overrides = Overrides::default();
        for SettingOption { info, is_switch, .. } in Settings::options() {
            if is_switch {
                if matches.get_flag(info.name) {
                    overrides = overrides.set(info.name, ["true"]);
                }
            } else if let Some(words) = matches.get_many::<String>(info.name) {
                overrides = overrides.set(info.name, words.cloned());
            }
        }
        Ok(Self(overrides))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn setting_arg(setting: SettingOption) -> Arg {
    let SettingOption { info, option, default, is_switch, repeats, choices } = setting;
    let name = info.name;
    let mut arg = Arg::new(name);
    for part in option.split([',', ' ']).filter(|part| !part.is_empty()) {
        arg = match (part.strip_prefix("--"), part.strip_prefix('-')) {
            (Some(long), _) => arg.long(long),
            (None, Some(short)) => arg.short(short.chars().next()),
            (None, None) => arg.value_name(part),
        };
    }
    for (_, alias) in ALIASES.iter().filter(|(setting, _)| *setting == name) {
        arg = arg.visible_alias(alias);
    }
    let mut help = info.meaning().trim_end_matches('.').to_owned();
    if repeats {
        help += " (repeatable)";
        arg = arg.value_delimiter(',');
    }
    if let Some(default) = default.as_str() {
        help = format!("{help} [default: {default}]");
    } else if default.is_number() {
        help = format!("{help} [default: {default}]");
    }
    let action = match (is_switch, repeats) {
        (true, _) => ArgAction::SetTrue,
        (false, true) => ArgAction::Append,
        (false, false) => ArgAction::Set,
    };
    arg = arg.help(help).action(action);
    if is_switch {
        return arg;
    }
    // The help names the words already.
    arg.hide_possible_values(true).value_parser(Checked { name, choices })
}

/// Reads the words of a setting. They are checked as everywhere else; the choices are for the
/// completion of shells.
#[derive(Clone)]
struct Checked {
    name: &'static str,
    choices: Vec<String>,
}

impl TypedValueParser for Checked {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let name = self.name;
        let check =
            move |words: &str| Settings::check_words(name, words).map(|()| words.to_owned());
        check.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = self.choices.iter().map(PossibleValue::new);
        (!self.choices.is_empty()).then(|| Box::new(words) as Box<_>)
    }
}
