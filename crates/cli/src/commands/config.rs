//! `interpreter config`: the settings in force, their files, and the schema.

use crate::{
    exit::Exit,
    options::SettingArgs,
    report::{Error, misuse},
    start::{at_terminal, wait_for},
    terminal::{
        ask::{Asker, choice},
        editor, json,
        ours::ours,
        screen::Screen,
    },
};
use interpreter_agent::{AgentError, providers};
use interpreter_store::{
    ConfigError, ConfigFiles, ConfigText, Environment, Folders, Layer, Overrides, SettingRow,
    Settings, StoreError, write_config,
};
use reedline::Reedline;
use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

mod show;

/// Show, check and edit settings
///
/// Settings come from your config file, a profile, the project's file, environment variables and
/// options, the later over the earlier.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
    /// Use a profile, the file NAME.toml in the profiles folder
    #[arg(short, long, value_name = "NAME", global = true)]
    profile: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// Show every setting: value, origin, default and meaning
    Show(ShowArgs),
    /// Check config files
    ///
    /// Without a file, checks your config file, your profiles, your providers and the project's
    /// file. Names every error with its place and the next step. Exits with 2 if there is one.
    Check {
        /// Check only this file
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Edit your config file, or a profile
    ///
    /// Opens a copy in $VISUAL or $EDITOR and checks it when you save. A file with errors does not
    /// replace the old one. If there is no file, you start from one that explains every setting.
    Edit,
    /// Print the files that are read, in order
    Path,
    /// Print the JSON schema of a config file
    Schema,
}

/// The arguments of `config show`.
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Show only this setting, in detail
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingArgs,
}

/// Where settings come from.
struct Place {
    environment: Environment,
    folders: Folders,
    work_folder: PathBuf,
    profile: Option<String>,
}

pub(crate) fn config(args: &ConfigArgs) -> Result<ExitCode, Error> {
    let environment = Environment::read();
    let folders = Folders::find(&environment)?.resolved();
    let work_folder = std::env::current_dir().map_err(AgentError::WorkFolder)?;
    let place = Place { environment, folders, work_folder, profile: args.profile.clone() };
    match &args.command {
        ConfigCommand::Show(args) => place.show(args)?,
        ConfigCommand::Check { file } => place.check(file.as_deref())?,
        ConfigCommand::Edit => place.edit()?,
        ConfigCommand::Path => place.print_paths()?,
        ConfigCommand::Schema => json::print_value(&Settings::schema())?,
    }
    Ok(Exit::Done.into())
}

fn wrong(error: ConfigError) -> Error {
    StoreError::from(error).into()
}

impl Place {
    fn files(&self) -> Result<ConfigFiles, Error> {
        Ok(ConfigFiles::read(&self.folders, &self.work_folder, self.profile.as_deref())?)
    }

    fn show(&self, args: &ShowArgs) -> Result<(), Error> {
        let overrides = Overrides { profile: self.profile.clone(), ..args.settings.overrides() };
        let settings =
            Settings::resolve(&self.files()?, &self.environment, &overrides).map_err(wrong)?;
        let rows: Vec<SettingRow> = match &args.name {
            Some(name) => settings.rows_of(name).map_err(wrong)?,
            None => settings.rows(),
        };
        if args.json {
            json::print_value(&rows.iter().map(SettingRow::json).collect())?;
            return Ok(());
        }
        let home = self.environment.text("HOME").map(Path::new);
        let text = match &args.name {
            Some(_) => show::detail(&rows, home),
            None => show::list(&rows, home),
        };
        Ok(Screen::stdout(&self.environment).lines(&text)?)
    }

    /// The files to check, with the layer that each is of.
    fn to_check(&self) -> Vec<(PathBuf, Layer)> {
        let user = [(self.folders.config_file(), Layer::User)].into_iter();
        let profiles = self.folders.profile_files().into_iter().map(|path| (path, Layer::Profile));
        let project = (ConfigFiles::project_file(&self.work_folder), Layer::Project);
        user.chain(profiles).chain([project]).collect()
    }

    fn check(&self, only: Option<&Path>) -> Result<(), Error> {
        let targets = match only {
            None => self.to_check(),
            Some(file) => {
                let same = |other: &PathBuf| {
                    fs_err::canonicalize(other).ok() == fs_err::canonicalize(file).ok()
                };
                let known = self.to_check().into_iter().find(|(path, _)| same(path));
                let layer = known.map_or(Layer::User, |(_, layer)| layer);
                vec![(file.into(), layer)]
            }
        };
        let own = ConfigText::read(self.folders.config_file());
        let (mut checked, mut faults) = (Vec::new(), Vec::new());
        for (path, layer) in targets {
            let Some(file) = ConfigText::read(path.clone()).map_err(wrong)? else {
                if only.is_some() {
                    let source = io::ErrorKind::NotFound.into();
                    return Err(wrong(ConfigError::Read { path, source }));
                }
                continue;
            };
            // Only a project's file is held against another: it may not loosen the person's own.
            let user = own.as_ref().ok().cloned().flatten().filter(|_| layer == Layer::Project);
            let earlier = ConfigFiles { user, ..ConfigFiles::default() };
            faults.extend(Settings::faults(&earlier, &file, layer));
            checked.push(path);
        }
        if !faults.is_empty() {
            return Err(wrong(ConfigError::Invalid(faults)));
        }
        if only.is_none() {
            providers(&self.files()?).map_err(AgentError::from)?;
        }
        let mut screen = Screen::stdout(&self.environment);
        if checked.is_empty() {
            screen.say("There is no config file; `interpreter config edit` creates one.")?;
        }
        Ok(checked.iter().try_for_each(|path| screen.tell(&format!("{}: ok", path.display())))?)
    }

    fn edit(&self) -> Result<(), Error> {
        let path = match &self.profile {
            Some(name) => self.folders.profile_file(name).map_err(wrong)?,
            None => self.folders.config_file(),
        };
        let before = ConfigText::read(path.clone()).map_err(wrong)?;
        let text = match &before {
            Some(file) => file.text.clone(),
            None => Settings::starting_file(),
        };
        wait_for(self.edit_until_valid(ConfigText { path, text }, before.as_ref()))?
    }

    async fn edit_until_valid(
        &self,
        mut file: ConfigText,
        before: Option<&ConfigText>,
    ) -> Result<(), Error> {
        let mut screen = Screen::stdout(&self.environment);
        let mut asker = if at_terminal() {
            Some(Asker::start(&self.environment, Reedline::create)?)
        } else {
            None
        };
        loop {
            file.text = self.edited(asker.as_ref(), &file.text).await?;
            if ConfigText::read(file.path.clone()).map_err(wrong)?.as_ref() != before {
                return Err(misuse("the file was changed meanwhile; nothing was written"));
            }
            let error = match write_config(&self.folders, &file) {
                Ok(()) => break,
                Err(error) => error,
            };
            let (StoreError::Config(_), Some(asker)) = (&error, &mut asker) else {
                return Err(error.into());
            };
            screen.error(&error.to_string(), None)?;
            let choices = [choice('e', "edit again", true), choice('d', "discard", false)];
            let question = ours("Your file is unchanged.");
            if asker.choose(&mut screen, &question, &choices).await != Ok(true) {
                return Err(misuse("the edited settings were discarded"));
            }
        }
        Ok(screen.tell(&format!("Written: {}", file.path.display()))?)
    }

    /// The text as the person's editor saved it.
    async fn edited(&self, asker: Option<&Asker>, text: &str) -> Result<String, Error> {
        let copy = editor::Copy {
            text: text.to_owned(),
            name: format!("config-{}.toml", std::process::id()),
            folder: self.folders.make_cache_folder()?.to_owned(),
        };
        let program = self.environment.editor().map(str::to_owned);
        let edit = move || editor::edit(&copy, program.as_deref(), None);
        let saved = match asker {
            Some(asker) => asker.lend(edit).await,
            None => Some(edit()),
        };
        match saved {
            Some(Ok(Some(text))) => Ok(text),
            Some(Err(source)) => {
                Err(Error::Io { what: "the editor could not be used".into(), source })
            }
            Some(Ok(None)) | None => Err(misuse("the editor failed; nothing was written")),
        }
    }

    fn print_paths(&self) -> Result<(), Error> {
        let profile = match &self.profile {
            Some(name) => self.folders.profile_file(name).map_err(wrong)?,
            None => self.folders.profiles_folder(),
        };
        let rows = [
            ("your config file", self.folders.config_file()),
            (if self.profile.is_some() { "profile" } else { "profiles" }, profile),
            ("project", ConfigFiles::project_file(&self.work_folder)),
            ("providers", self.folders.providers_folder()),
            ("rules", self.folders.rules_folder()),
        ];
        let mut screen = Screen::stdout(&self.environment);
        for (what, path) in rows {
            let state = if path.exists() { "exists " } else { "missing" };
            screen.lines(&format!("{what:<16}  {state}  {}\n", path.display()))?;
        }
        Ok(())
    }
}
