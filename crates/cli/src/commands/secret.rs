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
use interpreter_core::{
    Secret, SecretGrant, Untrusted,
    broker::{self, GrantError, SecretCarrier},
    dotenv,
    secret::LEAST,
    vault::VaultSecret,
};
use interpreter_store::{
    ConfigFiles, Environment, Folders, KeptSecrets, KeyPlace, LONGEST_SECRET, MOST_GRANTS,
    Overrides, Settings,
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
/// Keeps them in an encrypted file of your own, whose key is in the system keyring where there is
/// one, and uses them wherever a variable of that name is looked for, such as the key of a model
/// provider. A variable in your environment comes first. Sandboxed code never gets them, and they
/// are redacted from everything that is shown, recorded or sent. Code can use one without seeing
/// it, where you allow that.
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
    /// Let code use a secret at one host, without seeing it
    ///
    /// Code finds a placeholder in the variable of that name. The proxy outside the sandbox puts the
    /// value in its place, only in requests to this host by https, by these methods and in this
    /// header or field. Each use is recorded. Code must also be allowed to reach the host, with
    /// `--allow-host` or when you are asked.
    Allow {
        /// Name of a secret: in Vault, kept here, or else a variable of your environment
        name: String,
        /// Exact host, with a port if that is not 443
        host: String,
        /// Methods that may carry it: GET, HEAD, POST, PUT, PATCH, DELETE [default: GET,HEAD, or
        /// POST for a field]
        #[arg(long, value_name = "METHOD", value_delimiter = ',')]
        method: Vec<String>,
        /// Header that may carry it [default: Authorization]
        #[arg(long)]
        header: Option<String>,
        /// Field of the body that may carry it instead, in a form or in JSON, such as auth.token
        #[arg(long, conflicts_with = "header")]
        field: Option<String>,
    },
    /// Stop letting code use a secret, at one host or at all of them
    Disallow {
        /// Name of the secret
        name: String,
        /// Host, with a port if that is not 443
        host: Option<String>,
    },
    /// List your secrets by name, and where code can use them
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
        SecretCommand::Allow { name, host, method, header, field } => {
            let carrier = match (header, field) {
                (_, Some(field)) => SecretCarrier::field(field),
                (Some(header), None) => SecretCarrier::header(header),
                (None, None) => Ok(SecretCarrier::default()),
            };
            let methods = method.iter().map(|word| word.parse()).collect::<Result<Vec<_>, _>>();
            let grant =
                carrier.and_then(|carrier| SecretGrant::new(name, host, &methods?, carrier));
            allow(&environment, &folders, &mut screen, name, grant)
        }
        SecretCommand::Disallow { name, host } => {
            disallow(&folders, &mut screen, name, host.as_deref())
        }
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
    let question = format!("Value of {name} (it is not shown):");
    let Some(value) = typed(environment, screen, &question)? else {
        return Ok(Exit::Refused.into());
    };
    check_value(name, &value)?;
    if !KeptSecrets::read(folders)?.grants(name).is_empty() {
        broker::check_value(&value).map_err(|error| not_allowed(name, &error))?;
    }
    let is_short = value.reveal().len() < LEAST;
    let replaced = KeptSecrets::change(folders, |all| Some(all.set(name, value)))?;
    let done = if replaced == Some(true) { "replaced" } else { "kept" };
    screen.tell(&format!("{name} is {done}."))?;
    if is_short {
        screen.tell(&format!("It is shorter than {LEAST} characters, so it is not redacted."))?;
    }
    Ok(Exit::Done.into())
}

fn allow(
    environment: &Environment,
    folders: &Folders,
    screen: &mut Screen,
    name: &str,
    grant: Result<SecretGrant, GrantError>,
) -> Result<ExitCode, Error> {
    check_name(name)?;
    let grant = grant.map_err(|error| not_allowed(name, &error))?;
    let settings = settings(environment, folders)?;
    let vault = settings.vault_secrets.iter().map(|one| &one.value).find(|one| one.name == name);
    let kept = KeptSecrets::read(folders)?.get(name);
    // In the order in which a session looks for it.
    let (value, source) = match (vault, kept) {
        (Some(VaultSecret { mount, path, field, .. }), _) => {
            let place = format!("{mount}/{path}#{field}");
            (None, Some(format!("Its value is read from Vault ({place}) in each session.")))
        }
        (None, Some(value)) => (Some(value), None),
        (None, None) => {
            let Some(value) = environment.secret(name) else {
                let hint = format!("`interpreter secret set {name}` keeps one");
                return Err(misuse(format!("there is no secret `{name}`; {hint}")));
            };
            (Some(value), Some("Its value is a variable of your environment.".into()))
        }
    };
    if let Some(value) = value {
        broker::check_value(&value).map_err(|error| not_allowed(name, &error))?;
    }
    let place = grant.place();
    let words = format!("Code can use {name} for {grant}, and does not see it.");
    if KeptSecrets::change(folders, |all| all.allow(grant))?.is_none() {
        return Err(misuse(format!("`{name}` is allowed for {MOST_GRANTS} hosts already")));
    }
    screen.tell(&words)?;
    if let Some(source) = source {
        screen.tell(&source)?;
    }
    screen
        .tell(&format!("It can reach the host with `--allow-host {place}`, or if you say so."))?;
    Ok(Exit::Done.into())
}

fn disallow(
    folders: &Folders,
    screen: &mut Screen,
    name: &str,
    host: Option<&str>,
) -> Result<ExitCode, Error> {
    check_name(name)?;
    let place =
        host.map(|host| SecretGrant::new(name, host, &[], SecretCarrier::default())).transpose();
    let place = place.map_err(|error| not_allowed(name, &error))?;
    let at = place.as_ref().map(|grant| (grant.host.clone(), grant.port));
    let taken = |all: &mut KeptSecrets| Some(all.disallow(name, at.as_ref())).filter(|&n| n > 0);
    let there =
        place.map_or_else(|| "anywhere".to_owned(), |grant| format!("at {}", grant.place()));
    if KeptSecrets::change(folders, taken)?.is_none() {
        return Err(misuse(format!("code cannot use `{name}` {there}")));
    }
    screen.tell(&format!("Code can no longer use {name} {there}."))?;
    Ok(Exit::Done.into())
}

fn not_allowed(name: &str, error: &GrantError) -> Error {
    misuse(format!("`{name}` cannot be used by code: {error}"))
}

/// A text from the terminal, where it is not shown, or from standard input; `None` if the person
/// left.
pub(super) fn typed(
    environment: &Environment,
    screen: &mut Screen,
    question: &str,
) -> Result<Option<Secret>, Error> {
    if at_terminal() {
        let asked = async {
            let mut asker = Asker::start(environment, Reedline::create)?;
            Ok::<_, Error>(asker.hidden_line(screen, question).await)
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
    let settings = settings(environment, folders)?;
    // One in Vault comes before one of the same name that is kept here.
    let mut rows: BTreeMap<String, Option<String>> =
        kept.names().chain(kept.granted()).map(|name| (name.to_owned(), None)).collect();
    rows.extend(settings.vault_secrets.iter().map(|one| {
        let VaultSecret { name, mount, path, field } = &one.value;
        (name.clone(), Some(format!("{mount}/{path}#{field}")))
    }));
    if as_json {
        let rows = rows.iter().map(|(name, vault)| {
            let overridden = environment.raw(name).is_some();
            let mut row = serde_json::json!({
                "name": name, "kept": kept.get(name).is_some(), "overridden": overridden,
                "allowed": kept.grants(name),
            });
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
        let grants = kept.grants(&name);
        let is_elsewhere = vault.is_none() && kept.get(&name).is_none();
        let note = match (environment.raw(&name), vault) {
            (Some(_), None) if is_elsewhere => "  (a variable of your environment)".to_owned(),
            (None, None) if is_elsewhere => {
                "  (it has no value: the variable is not set)".to_owned()
            }
            (Some(_), _) if !grants.is_empty() => {
                "  (the variable in your environment is used instead, except by code)".to_owned()
            }
            (Some(_), _) => "  (the variable in your environment is used instead)".to_owned(),
            (None, Some(place)) => format!("  (in Vault: {place})"),
            (None, None) => String::new(),
        };
        // Writing to a string cannot fail.
        _ = writeln!(text, "{name}{note}");
        for grant in grants {
            _ = writeln!(text, "  code can use it for {grant}");
        }
    }
    if text.is_empty() {
        screen.say("There are no secrets. `interpreter secret set NAME` keeps one.")?;
    } else {
        screen.lines(&text)?;
    }
    Ok(Exit::Done.into())
}

fn settings(environment: &Environment, folders: &Folders) -> Result<Settings, Error> {
    let here = std::env::current_dir().unwrap_or_default();
    let files = ConfigFiles::read(folders, &here, None)?;
    let settings = Settings::resolve(&files, environment, &Overrides::default());
    Ok(settings.map_err(interpreter_store::StoreError::from)?)
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
    let is_short = |value: &Secret| value.reveal().len() < LEAST;
    let short = chosen.iter().filter(|(_, value)| is_short(value)).map(|(name, _)| name.as_str());
    let short = short.collect::<Vec<_>>().join(", ");
    KeptSecrets::change(folders, |all| {
        for (name, value) in chosen {
            all.set(&name, value);
        }
        Some(())
    })?;
    screen.tell(&format!("Kept {}.", names.join(", ")))?;
    if !short.is_empty() {
        screen.tell(&format!("Not redacted, as shorter than {LEAST} characters: {short}."))?;
    }
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
