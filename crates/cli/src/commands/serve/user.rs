//! `interpreter serve user`: the people of a team.
//!
//! A password is never an argument: everybody on this computer sees those.

use crate::{
    commands::secret::typed,
    exit::Exit,
    report::{Error, misuse},
    terminal::{json, screen::Screen},
};
use clap::Subcommand;
use interpreter_agent::AgentError;
use interpreter_core::Secret;
use interpreter_store::{
    ConfigFiles, Environment, Folders, KeptTokens, KeptUser, KeptUsers, LONGEST_PASSWORD,
    Overrides, PasswordHash, ProviderSubject, SHORTEST_PASSWORD, Settings, UserKept, UserLogin,
    recorded_day,
};
use interpreter_web::TeamRole;
use std::{
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

/// Add, list, change and remove the people of a team
///
/// They log in at `interpreter serve --team` by name and password, or through the login provider of
/// the settings. Whoever is changed or removed loses their open connections at once.
#[derive(Debug, clap::Args)]
pub(crate) struct UserArgs {
    #[command(subcommand)]
    command: UserCommand,
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    Add(AddArgs),
    List(ListArgs),
    Role(RoleArgs),
    Subject(SubjectArgs),
    Password(PasswordArgs),
    Limit(LimitArgs),
    Remove(RemoveArgs),
}

/// Add a person
///
/// Asks for a password without showing it, or reads it from standard input. With --subject they log
/// in through the login provider only, and there is no password.
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Name by which they log in, and which stands in the record
    #[arg(value_name = "NAME")]
    name: String,
    /// viewer, author, approver or admin
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: TeamRole,
    /// Their subject at the login provider; whoever is not yet added sees it when logging in
    #[arg(long, value_name = "SUBJECT")]
    subject: Option<String>,
}

/// List the people
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Give a person another role at once
///
/// They have to log in again. Exits with 1 if there is nobody of that name.
#[derive(Debug, clap::Args)]
struct RoleArgs {
    /// Name of the person
    #[arg(value_name = "NAME")]
    name: String,
    /// viewer, author, approver or admin
    #[arg(value_name = "ROLE", value_parser = role)]
    role: TeamRole,
}

/// Let a person log in through the login provider
///
/// It is the one in `login.issuer`, and whoever logs in there unknown is shown their subject. They
/// have to log in again. Exits with 1 if there is nobody of that name.
#[derive(Debug, clap::Args)]
struct SubjectArgs {
    /// Name of the person
    #[arg(value_name = "NAME")]
    name: String,
    /// Name by which the login provider knows them
    #[arg(value_name = "SUBJECT")]
    subject: String,
}

/// Give a person another password
///
/// Asks for it without showing it, or reads it from standard input. They have to log in again. Exits
/// with 1 if there is nobody of that name.
#[derive(Debug, clap::Args)]
struct PasswordArgs {
    /// Name of the person
    #[arg(value_name = "NAME")]
    name: String,
}

/// Give a person limits of their own
///
/// Limits are settings: `team.sessions`, `team.storage`, and those that begin with `limits.` or
/// `budget.`. `SETTING=` takes one back, so that the server's own counts. They hold for whatever
/// begins from now on, and the person has to log in again. Exits with 1 if there is nobody of that
/// name.
#[derive(Debug, clap::Args)]
struct LimitArgs {
    /// Name of the person
    #[arg(value_name = "NAME")]
    name: String,
    /// Limit and its value, such as team.sessions=4 or budget.day.cost=2
    #[arg(value_name = "SETTING=VALUE", required = true, value_parser = limit)]
    limits: Vec<(String, Option<String>)>,
}

/// Remove a person at once
///
/// Their sessions end and stay on the disk. Exits with 1 if there is nobody of that name.
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// Name of the person
    #[arg(value_name = "NAME")]
    name: String,
}

fn role(word: &str) -> Result<TeamRole, String> {
    let all = TeamRole::ALL.map(TeamRole::word);
    TeamRole::of_word(word).ok_or_else(|| format!("there are the roles {}", all.join(", ")))
}

/// The longest value of a limit.
const LONGEST_LIMIT: usize = 40;

fn limit(text: &str) -> Result<(String, Option<String>), String> {
    let (name, words) = text.split_once('=').ok_or("write it as SETTING=VALUE")?;
    let is_limit = ["limits.", "budget."].iter().any(|part| name.starts_with(part))
        || ["team.sessions", "team.storage"].contains(&name);
    if !is_limit {
        return Err(format!("`{name}` is not a limit of a person"));
    }
    let resolved = |overrides: &Overrides| {
        Settings::resolve(&ConfigFiles::default(), &Environment::default(), overrides)
            .map_err(|error| error.to_string())
    };
    resolved(&Overrides::default())?.rows_of(name).map_err(|error| error.to_string())?;
    if words.is_empty() {
        return Ok((name.into(), None));
    }
    if words.len() > LONGEST_LIMIT {
        return Err(format!("a value has at most {LONGEST_LIMIT} characters"));
    }
    resolved(&Overrides::default().set(name, [words]))?;
    Ok((name.into(), Some(words.into())))
}

pub(super) fn user(args: &UserArgs) -> Result<ExitCode, Error> {
    let environment = Environment::read();
    let folders = Folders::find(&environment)?;
    let users = KeptUsers::new(&folders);
    let mut screen = Screen::stdout(&environment);
    match &args.command {
        UserCommand::Add(args) => {
            let login = match &args.subject {
                Some(subject) => UserLogin::Provider(at_provider(&environment, &folders, subject)?),
                None => match password(&environment, &mut screen, &args.name)? {
                    Some(password) => UserLogin::Password(PasswordHash::new(&password)?),
                    None => return Ok(Exit::Refused.into()),
                },
            };
            let tokens = KeptTokens::new(&folders).list()?;
            let tokens: Vec<_> = tokens.into_iter().map(|(_, token)| token.name).collect();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let (name, role) = (&args.name, args.role.word());
            let kept = users.add(name, role, now.as_secs(), login, &tokens)?;
            told(kept, &mut screen, "They can log in.")
        }
        UserCommand::List(ListArgs { json }) => list(&users.list()?, *json, &mut screen),
        UserCommand::Role(RoleArgs { name, role }) => {
            let kept = users.set_role(name, role.word())?;
            told(kept, &mut screen, "It is changed. They have to log in again.")
        }
        UserCommand::Subject(SubjectArgs { name, subject }) => {
            let kept = users.set_subject(name, at_provider(&environment, &folders, subject)?)?;
            told(kept, &mut screen, "It is changed. They have to log in again.")
        }
        UserCommand::Password(PasswordArgs { name }) => {
            if users.find(name).is_none() {
                return told(UserKept::Nobody, &mut screen, "");
            }
            let Some(password) = password(&environment, &mut screen, name)? else {
                return Ok(Exit::Refused.into());
            };
            let kept = users.set_password(name, PasswordHash::new(&password)?)?;
            told(kept, &mut screen, "It is changed. They have to log in again.")
        }
        UserCommand::Limit(LimitArgs { name, limits }) => {
            let kept = users.set_limits(name, limits)?;
            told(kept, &mut screen, "It is changed. They have to log in again.")
        }
        UserCommand::Remove(RemoveArgs { name }) => {
            let kept = if users.remove(name)? { UserKept::Done } else { UserKept::Nobody };
            told(kept, &mut screen, "They are removed.")
        }
    }
}

fn list(all: &[KeptUser], as_json: bool, screen: &mut Screen) -> Result<ExitCode, Error> {
    if as_json {
        let row = |user: &KeptUser| {
            let mut row = serde_json::json!({ "name": user.name, "role": user.role, "made": user.made,
                    "limits": user.limits });
            if let Some(ProviderSubject { issuer, subject }) = &user.subject {
                (row["issuer"], row["subject"]) = (issuer.as_str().into(), subject.as_str().into());
            }
            row
        };
        json::print_value(&all.iter().map(row).collect())?;
    } else if all.is_empty() {
        screen.say("There is nobody.")?;
    } else {
        for user in all {
            let made = recorded_day(user.made);
            let subject = user.subject.as_ref().map_or("", |known| known.subject.as_str());
            let limits = user.limits.iter().map(|(name, words)| format!(" {name}={words}"));
            let limits: String = limits.collect();
            let row = format!("{:<20} {:<10} {made}  {subject}{limits}", user.name, user.role);
            screen.row(row.trim_end())?;
        }
    }
    Ok(Exit::Done.into())
}

/// Somebody at the login provider of the settings.
fn at_provider(
    environment: &Environment,
    folders: &Folders,
    subject: &str,
) -> Result<ProviderSubject, Error> {
    let here = std::env::current_dir().map_err(AgentError::WorkFolder)?;
    let files = ConfigFiles::read(folders, &here, None)?;
    let settings = Settings::resolve(&files, environment, &Overrides::default())
        .map_err(interpreter_store::StoreError::from)?;
    let Some(issuer) = &settings.login_issuer.value else {
        return Err(misuse("there is no login provider; set `login.issuer` and `login.client`"));
    };
    ProviderSubject::new(issuer.as_str(), subject).ok_or_else(|| {
        misuse("a subject has up to 255 visible characters of ASCII, and no space at its ends")
    })
}

/// The password that is typed, or comes by standard input.
fn password(
    environment: &Environment,
    screen: &mut Screen,
    name: &str,
) -> Result<Option<Secret>, Error> {
    let question = format!("Password of {name} (it is not shown):");
    let Some(password) = typed(environment, screen, &question)? else { return Ok(None) };
    let text = password.reveal();
    if text.chars().count() < SHORTEST_PASSWORD {
        return Err(misuse(format!("a password has at least {SHORTEST_PASSWORD} characters")));
    }
    if text.len() > LONGEST_PASSWORD {
        return Err(misuse(format!("a password has at most {LONGEST_PASSWORD} bytes")));
    }
    Ok(Some(password))
}

fn told(kept: UserKept, screen: &mut Screen, done: &'static str) -> Result<ExitCode, Error> {
    match kept {
        UserKept::Done => {
            screen.say(done)?;
            Ok(Exit::Done.into())
        }
        UserKept::Nobody => {
            screen.say("There is nobody of that name.")?;
            Ok(Exit::CodeFailed.into())
        }
        UserKept::NameTaken => Err(misuse("there is a person or a token of that name")),
        UserKept::SubjectTaken => Err(misuse("somebody else logs in as that subject")),
        UserKept::NotAName => Err(misuse(
            "a name has up to 40 small letters, digits, or `-`, `_`, `.`, `@`, and begins with a \
             letter or a digit",
        )),
        UserKept::Reserved => {
            Err(misuse("the record calls somebody else by that name; choose another"))
        }
        UserKept::TooMany => Err(misuse("there are 500 people; remove one")),
    }
}
