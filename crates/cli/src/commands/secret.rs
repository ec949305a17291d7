//! `interpreter secret`: keep API keys and other secrets.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start::{at_terminal, wait_for},
    terminal::{
        ask::{Asker, Left},
        json,
        screen::Screen,
    },
};
use interpreter_core::{Secret, Untrusted, dotenv, secret::LEAST, vault::VaultSecret};
use interpreter_store::{
    ConfigFiles, Environment, Folders, KeptSecrets, KeyPlace, LONGEST_SECRET, Overrides, Settings,
};
use reedline::Reedline;
use std::{
    collections::BTreeMap,
    fmt::Write,
    io::{IsTerminal, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Bytes of a file of variables at most.
const LONGEST_FILE: u64 = 1 << 20;

/// Keep API keys and other secrets
///
/// Keeps them in an encrypted file of your own, whose key is in the system keyring where there is one,
/// and uses them wherever a variable of that name is
/// looked for, such as the key of a model provider. A variable in your environment comes first.
/// Sandboxed code never gets them, and they are redacted from everything that is shown, recorded or
/// sent.
#[derive(Debug, clap::Args)]
pub(crate) struct SecretArgs {
    #[command(subcommand)]
    command: SecretCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SecretCommand {
    /// Keep a secret, or replace it
    ///
    /// Asks for the value without showing it, or reads it from standard input. It is never an
    /// argument, because other programs see those.
    Set {
        /// Name, as a variable would have it
        name: String,
    },
    /// List the names of your secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a secret
    Remove {
        /// Name
        name: String,
    },
    /// Show or choose where the key to your secrets is
    ///
    /// In the system keyring, a copy of your folders gives no secret away. A file works without a
    /// desktop too, for example over SSH.
    Key {
        /// keyring or file; without it, show where it is
        #[arg(value_name = "PLACE")]
        place: Option<KeyChoice>,
    },
    /// Import secrets from a .env file
    ///
    /// The file stays as it is.
    Import {
        /// File with lines such as NAME=value
        file: PathBuf,
        /// Names of the variables to import (repeatable)
        #[arg(required_unless_present = "all")]
        name: Vec<String>,
        /// Import all of them
        #[arg(long, conflicts_with = "name")]
        all: bool,
    },
}

/// A place for the key.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KeyChoice {
    Keyring,
    File,
}

pub(crate) fn secret(args: &SecretArgs) -> Result<ExitCode, Error> {
    let environment = Environment::read();
    let folders = Folders::find(&environment)?;
    let mut screen = Screen::stdout(&environment);
    match &args.command {
        SecretCommand::Set { name } => set(&environment, &folders, &mut screen, name),
        SecretCommand::List { json } => list(&environment, &folders, &mut screen, *json),
        SecretCommand::Remove { name } => remove(&folders, &mut screen, name),
        SecretCommand::Key { place } => key(&folders, &mut screen, *place),
        SecretCommand::Import { file, name, all } => {
            import(&folders, &mut screen, file, (!all).then_some(name.as_slice()))
        }
    }
}

fn set(
    environment: &Environment,
    folders: &Folders,
    screen: &mut Screen,
    name: &str,
) -> Result<ExitCode, Error> {
    check_name(name)?;
    let Some(value) = typed(environment, screen, name)? else {
        return Ok(Exit::Refused.into());
    };
    check_value(name, &value)?;
    let is_short = value.reveal().len() < LEAST;
    let replaced = KeptSecrets::change(folders, |all| Some(all.set(name, value)))?;
    let done = if replaced == Some(true) { "replaced" } else { "kept" };
    screen.tell(&format!("{name} is {done}."))?;
    if is_short {
        screen.tell(&format!("It is shorter than {LEAST} characters, so it is not redacted."))?;
    }
    Ok(Exit::Done.into())
}

/// The value, from the terminal or from standard input; `None` if the person left.
fn typed(
    environment: &Environment,
    screen: &mut Screen,
    name: &str,
) -> Result<Option<Secret>, Error> {
    if at_terminal() {
        let asked = async {
            let mut asker = Asker::start(environment, Reedline::create)?;
            let question = format!("Value of {name} (it is not shown):");
            Ok::<_, Error>(asker.hidden_line(screen, &question).await)
        };
        return match wait_for(asked)?? {
            Ok(line) => Ok(Some(Secret::new(line.trim().to_owned()))),
            Err(Left::Interrupted | Left::Ended | Left::Terminated | Left::Nobody(_)) => Ok(None),
        };
    }
    if std::io::stdin().is_terminal() {
        return Err(misuse("no terminal to ask on; pipe the value into standard input"));
    }
    let mut text = String::new();
    let most = LONGEST_SECRET as u64 + 2;
    let read = std::io::stdin().take(most).read_to_string(&mut text);
    read.map_err(|source| Error::Io { what: "cannot read standard input".into(), source })?;
    Ok(Some(Secret::new(text.trim().to_owned())))
}

fn list(
    environment: &Environment,
    folders: &Folders,
    screen: &mut Screen,
    as_json: bool,
) -> Result<ExitCode, Error> {
    let kept = KeptSecrets::read(folders)?;
    let here = std::env::current_dir().unwrap_or_default();
    let files = ConfigFiles::read(folders, &here, None)?;
    let settings = Settings::resolve(&files, environment, &Overrides::default())
        .map_err(interpreter_store::StoreError::from)?;
    // One in Vault comes before one of the same name that is kept here.
    let mut rows: BTreeMap<String, Option<String>> =
        kept.names().map(|name| (name.to_owned(), None)).collect();
    rows.extend(settings.vault_secrets.iter().map(|one| {
        let VaultSecret { name, mount, path, field } = &one.value;
        (name.clone(), Some(format!("{mount}/{path}#{field}")))
    }));
    if as_json {
        let rows = rows.iter().map(|(name, vault)| {
            let overridden = environment.raw(name).is_some();
            let mut row = serde_json::json!({ "name": name, "overridden": overridden });
            if let Some(place) = vault {
                row["vault"] = place.as_str().into();
            }
            row
        });
        json::print_value(&rows.collect())?;
        return Ok(Exit::Done.into());
    }
    let mut text = String::new();
    for (name, vault) in rows {
        let note = match (environment.raw(&name), vault) {
            (Some(_), _) => "  (the variable in your environment is used instead)".to_owned(),
            (None, Some(place)) => format!("  (in Vault: {place})"),
            (None, None) => String::new(),
        };
        // Writing to a string cannot fail.
        _ = writeln!(text, "{name}{note}");
    }
    if text.is_empty() {
        screen.say("There are no secrets. `interpreter secret set NAME` keeps one.")?;
    } else {
        screen.lines(&text)?;
    }
    Ok(Exit::Done.into())
}

fn remove(folders: &Folders, screen: &mut Screen, name: &str) -> Result<ExitCode, Error> {
    check_name(name)?;
    let there = KeptSecrets::read(folders)?.names().any(|one| one == name);
    if !there {
        return Err(misuse(format!("there is no secret `{name}`")));
    }
    KeptSecrets::change(folders, |all| Some(all.remove(name)))?;
    screen.tell(&format!("{name} is removed."))?;
    Ok(Exit::Done.into())
}

fn key(
    folders: &Folders,
    screen: &mut Screen,
    place: Option<KeyChoice>,
) -> Result<ExitCode, Error> {
    if let Some(place) = place {
        let to = match place {
            KeyChoice::Keyring => KeyPlace::Keyring,
            KeyChoice::File => KeyPlace::File,
        };
        KeptSecrets::move_key(folders, to)?;
    }
    match KeptSecrets::key_place(folders)? {
        Some(KeyPlace::Keyring) => {
            screen.say("The key to your secrets is in the system keyring.")?;
        }
        Some(KeyPlace::File) => {
            let path = folders.secrets_key();
            screen.tell(&format!("The key to your secrets is in `{}`.", path.display()))?;
        }
        None => screen.say("There is no key yet. `interpreter secret set NAME` makes one.")?,
    }
    Ok(Exit::Done.into())
}

fn import(
    folders: &Folders,
    screen: &mut Screen,
    file: &Path,
    wanted: Option<&[String]>,
) -> Result<ExitCode, Error> {
    let shown = Untrusted::new(file.to_string_lossy()).for_terminal_line(200);
    let text = read(file, &shown)?;
    let found = dotenv::parse(&text)
        .map_err(|line| misuse(format!("line {line} of `{shown}` is no `NAME=value`")))?;
    for name in wanted.unwrap_or_default() {
        check_name(name)?;
        if !found.iter().any(|(there, _)| there == name) {
            return Err(misuse(format!("`{shown}` has no `{name}`")));
        }
    }
    let is_wanted = |name: &String| wanted.is_none_or(|wanted| wanted.contains(name));
    let chosen: Vec<_> = found.into_iter().filter(|(name, _)| is_wanted(name)).collect();
    for (name, value) in &chosen {
        check_value(name, value)?;
    }
    if chosen.is_empty() {
        screen.tell(&format!("`{shown}` has no variables."))?;
        return Ok(Exit::Done.into());
    }
    let names: Vec<_> = chosen.iter().map(|(name, _)| name.clone()).collect();
    KeptSecrets::change(folders, |all| {
        for (name, value) in chosen {
            all.set(&name, value);
        }
        Some(())
    })?;
    screen.tell(&format!("Kept {}.", names.join(", ")))?;
    Ok(Exit::Done.into())
}

fn read(file: &Path, shown: &str) -> Result<String, Error> {
    let failed = |source| Error::Io { what: format!("cannot read `{shown}`"), source };
    let mut text = String::new();
    let file = fs_err::File::open(file).map_err(failed)?;
    file.take(LONGEST_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(misuse(format!("`{shown}` is longer than {} KiB", LONGEST_FILE >> 10)));
    }
    Ok(text)
}

fn check_name(name: &str) -> Result<(), Error> {
    if dotenv::is_name(name) {
        return Ok(());
    }
    let shown = Untrusted::new(name).for_terminal_line(80);
    Err(misuse(format!("`{shown}` is no name for a secret; use letters, digits and `_`")))
}

fn check_value(name: &str, value: &Secret) -> Result<(), Error> {
    match value.reveal().len() {
        0 => Err(misuse(format!("the value of `{name}` is empty"))),
        length if length > LONGEST_SECRET => {
            let most = LONGEST_SECRET >> 10;
            Err(misuse(format!("the value of `{name}` is longer than {most} KiB")))
        }
        _ => Ok(()),
    }
}
