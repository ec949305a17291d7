//! `interpreter packages`: the packages that are installed for this folder.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start::{context, wait_for},
    terminal::{
        frontend::{Frontend, Turn, Unasked},
        json,
        person::Person,
        plain::Plain,
        screen::Screen,
        signals::Signals,
        view::View,
    },
};
use clap::Subcommand;
use interpreter_agent::{Context, Mode, Session};
use interpreter_core::{
    packages::{PackageChange, PackageKind, PackageOrder, Requirement},
    session::{Approval, Event},
};
use interpreter_store::Overrides;
use std::{process::ExitCode, sync::Arc};

/// List, add and remove the packages of this folder
///
/// Packages are installed for the current folder, in a folder of this program: your own folders
/// stay as they are. Code can use them and cannot change them. The installer (uv, pip or npm) runs
/// in a sandbox that reaches only the package index of your own settings.
#[derive(Debug, clap::Args)]
pub(crate) struct PackagesArgs {
    #[command(subcommand)]
    command: Option<PackagesCommand>,
}

#[derive(Debug, Subcommand)]
enum PackagesCommand {
    List(ListArgs),
    Add(AddArgs),
    Remove(RemoveArgs),
}

/// List the installed packages
#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Install packages
///
/// Takes finished builds only, unless --build is given. Exits with 1 if a package cannot be
/// installed.
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Name of a package, with versions if you like: pandas or pandas==2.2.3 (repeatable)
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Let packages run their own code, in the sandbox, to be built
    #[arg(long)]
    build: bool,
    #[command(flatten)]
    how: HowArgs,
}

/// Remove packages
///
/// Exits with 1 if a package is not installed.
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// Name of a package (repeatable)
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Clone, Copy, Debug, clap::Args)]
struct HowArgs {
    /// Use npm, for JavaScript
    #[arg(long)]
    npm: bool,
    /// Print only JSON, one record per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn packages(args: &PackagesArgs) -> Result<ExitCode, Error> {
    match &args.command {
        None => list(&ListArgs::default()),
        Some(PackagesCommand::List(args)) => list(args),
        Some(PackagesCommand::Add(AddArgs { names, build, how })) => {
            let order = order(PackageChange::Install, names, *how)?;
            change(if *build { order.with_build() } else { order }, *how)
        }
        Some(PackagesCommand::Remove(RemoveArgs { names, how })) => {
            change(order(PackageChange::Remove, names, *how)?, *how)
        }
    }
}

fn list(args: &ListArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    let packages = context.installed_packages();
    if args.json {
        json::print_value(&serde_json::json!(packages))?;
        warn_of_damage(&context)?;
        return Ok(Exit::Done.into());
    }
    let mut screen = Screen::stdout(&context.environment);
    if packages.is_empty() {
        screen.say("No packages are installed for this folder.")?;
    }
    for one in &packages {
        screen.row(&format!("{:<7} {one}", one.kind.word()))?;
    }
    warn_of_damage(&context)?;
    Ok(Exit::Done.into())
}

/// Files that are named of those that belong to no package.
const NAMED: usize = 20;

/// Names files that belong to no package. They are damage, and the next change removes them.
fn warn_of_damage(context: &Context) -> Result<(), Error> {
    let damaged = context.damaged_packages();
    if damaged.is_empty() {
        return Ok(());
    }
    let mut screen = Screen::stderr(&context.environment);
    screen.warn("Files that belong to no package. Add or remove a package, and they are gone:")?;
    for (kind, path) in damaged.iter().take(NAMED) {
        screen.row(&format!("{:<7} {}", kind.word(), path.display()))?;
    }
    if damaged.len() > NAMED {
        screen.row(&format!("{} more", damaged.len() - NAMED))?;
    }
    Ok(())
}

/// The order that was typed.
fn order(change: PackageChange, names: &[String], how: HowArgs) -> Result<PackageOrder, Error> {
    let kind = if how.npm { PackageKind::Npm } else { PackageKind::Python };
    let read = |name: &String| {
        Requirement::parse(kind, name).map_err(|error| misuse(format!("`{name}`: {error}")))
    };
    let packages = names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    PackageOrder::new(change, packages).ok_or_else(|| misuse("too many packages at once"))
}

fn change(order: PackageOrder, how: HowArgs) -> Result<ExitCode, Error> {
    let context = Arc::new(context(&Overrides::default())?);
    wait_for(give(context, order, how.json))?
}

/// Gives an order, and shows what comes of it.
async fn give(context: Arc<Context>, order: PackageOrder, json: bool) -> Result<ExitCode, Error> {
    let view = if json { View::Json } else { View::Plain(Box::new(Plain::of(&context))) };
    let session = Session::start(&context, Mode::Run, Approval::AsRulesSay)?;
    let person = Person::Nobody(Signals::new()?);
    let mut frontend = Frontend::new(&context, session, view, person, Unasked::Later);
    match frontend.turn(Event::PackagesOrdered(order)).await? {
        Turn::Over(end) => {
            frontend.end().await?;
            Ok(Exit::from(end).into())
        }
        Turn::Last(end) => Ok(Exit::from(end).into()),
    }
}
