//! `interpreter serve token`: tokens by which scripts use the server.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    terminal::{json, screen::Screen},
};
use clap::Subcommand;
use interpreter_store::{Environment, Folders, KeptTokens, recorded_day};
use interpreter_web::{
    Right,
    http::{TokenError, make_token},
};
use std::process::ExitCode;

/// Make, list and revoke tokens for scripts
///
/// A script sends its token with each request, as `Authorization: Bearer TOKEN`. It is shown once
/// and kept only as a hash. A revoked token loses its open connections, too.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    New(NewArgs),
    List(ListArgs),
    Revoke(RevokeArgs),
}

/// Make a token and print it
#[derive(Debug, clap::Args)]
struct NewArgs {
    /// Name that stands in the record for whatever the token is used for
    #[arg(value_name = "NAME")]
    name: String,
    /// Rights: watch, prompt, answer, change, admin
    #[arg(long, value_name = "RIGHT,…", value_delimiter = ',', value_parser = right, default_value = "watch")]
    right: Vec<Right>,
    /// Days after which it ends [default: until it is revoked]
    #[arg(long, value_name = "N")]
    days: Option<u32>,
}

/// List the tokens by name, with their expiry dates and rights
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Revoke a token at once
///
/// Exits with 1 if there is none of that name.
#[derive(Debug, clap::Args)]
struct RevokeArgs {
    /// Name of the token
    #[arg(value_name = "NAME")]
    name: String,
}

fn right(word: &str) -> Result<Right, String> {
    let all = Right::ALL.map(Right::word);
    let found = Right::ALL.into_iter().find(|right| right.word() == word);
    found.ok_or_else(|| format!("there are the rights {}", all.join(", ")))
}

pub(super) fn token(args: &TokenArgs) -> Result<ExitCode, Error> {
    let environment = Environment::read();
    let tokens = KeptTokens::new(&Folders::find(&environment)?);
    let mut screen = Screen::stdout(&environment);
    match &args.command {
        TokenCommand::New(NewArgs { name, right, days }) => {
            let made = make_token(&tokens, name, right, *days).map_err(|error| match error {
                TokenError::Store(error) => error.into(),
                TokenError::Http(error) => Error::from(error),
                TokenError::Refused(why) => misuse(why),
            })?;
            screen.lines(&format!("{made}\n"))?;
        }
        TokenCommand::List(ListArgs { json: true }) => {
            let all: Vec<_> = tokens.list()?.into_iter().map(|(_, token)| token).collect();
            json::print_value(&serde_json::json!(all))?;
        }
        TokenCommand::List(ListArgs { json: false }) => {
            let all = tokens.list()?;
            if all.is_empty() {
                screen.say("There are no tokens.")?;
            }
            for (_, token) in all {
                let ends = token.ends.map_or_else(|| "-".into(), recorded_day);
                screen.row(&format!("{:<20} {ends:<10} {}", token.name, token.rights.join(",")))?;
            }
        }
        TokenCommand::Revoke(RevokeArgs { name }) => {
            if !tokens.revoke(name)? {
                screen.say("There is no token of that name.")?;
                return Ok(Exit::CodeFailed.into());
            }
            screen.say("It is revoked.")?;
        }
    }
    Ok(Exit::Done.into())
}
