//! Rows about packages that are installed or removed.

use super::{
    ours::{Ours, count, ours, word},
    screen::Screen,
    transcript::grantor,
};
use interpreter_core::{
    Body,
    packages::{Package, PackageChange, PackageOrder},
};
use std::io;

/// Packages that are listed by name.
const LISTED: usize = 40;

/// Shows a record about packages in a session that goes on.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn show(screen: &mut Screen, body: &Body) -> io::Result<()> {
    match body {
        Body::PackagesGranted { order, .. } => {
            let words = order.words();
            let name = word(&words);
            if name.as_str() == words {
                return screen.say_quietly(ours(doing(order)) + name + " …");
            }
            screen.say_quietly(ours(doing(order)) + "packages:")?;
            screen.row_of_words(&words)
        }
        Body::PackagesChanged { installed, removed, remark, .. } => {
            changed(screen, installed, removed)?;
            remark.iter().try_for_each(|remark| screen.row(remark))
        }
        Body::PackagesFailed { order, reason, .. } => {
            let verb = match order.change {
                PackageChange::Install => "Not installed:",
                PackageChange::Remove => "Not removed:",
            };
            screen.warn(verb)?;
            screen.row_of_words(&format!("{}: {reason}", order.words()))
        }
        _ => Ok(()),
    }
}

fn doing(order: &PackageOrder) -> &'static str {
    match order.change {
        PackageChange::Install if order.build => "building and installing ",
        PackageChange::Install => "installing ",
        PackageChange::Remove => "removing ",
    }
}

fn changed(screen: &mut Screen, installed: &[Package], removed: &[Package]) -> io::Result<()> {
    if installed.is_empty() && removed.is_empty() {
        return screen.say("Nothing changed: it is installed already.");
    }
    if !installed.is_empty() {
        screen.say(count(installed.len(), "package") + " installed for this folder:")?;
        list(screen, installed)?;
    }
    if !removed.is_empty() {
        screen.say(count(removed.len(), "package") + " removed:")?;
        list(screen, removed)?;
    }
    Ok(())
}

/// Lists packages, several in a row.
fn list(screen: &mut Screen, packages: &[Package]) -> io::Result<()> {
    let mut names: Vec<_> = packages.iter().take(LISTED).map(ToString::to_string).collect();
    if packages.len() > LISTED {
        names.push(format!("{} more", packages.len() - LISTED));
    }
    screen.row_of_words(&names.join(", "))
}

/// Tells a record about packages, for `history show`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn tell(
    screen: &mut Screen,
    body: &Body,
    head: impl Fn(Ours) -> Ours,
) -> io::Result<()> {
    match body {
        Body::PackagesWanted { order, .. } => {
            screen.say(head(ours("packages wanted")))?;
            screen.row_of_words(&order.words())
        }
        Body::PackagesResolved { order, list, tool, .. } => {
            let by = ours("packages looked up by ") + word(tool);
            screen.say(head(by))?;
            screen.row_of_words(&order.words())?;
            for one in &list.comes {
                screen.row(&format!("+ {one} ({})", one.hash))?;
            }
            list.goes.iter().try_for_each(|one| screen.row(&format!("- {one}")))
        }
        Body::PackagesGranted { order, by } => {
            let verb = match order.change {
                PackageChange::Install => "installation",
                PackageChange::Remove => "removal",
            };
            let build = if order.build { " with build" } else { "" };
            screen.say(head(ours(verb) + build + " approved by " + grantor(*by)))?;
            screen.row_of_words(&order.words())
        }
        Body::PackagesRefused { by } => {
            screen.say(head(ours("installation rejected by ") + grantor(*by)))
        }
        Body::PackagesChanged { installed, removed, tool, sandbox, .. } => {
            let by = ours("packages changed by ") + word(tool) + " in the " + word(sandbox);
            screen.say(head(by + " sandbox"))?;
            let row = |mark: &str, one: &Package| format!("{mark} {one} ({})", one.hash);
            installed.iter().try_for_each(|one| screen.row(&row("+", one)))?;
            removed.iter().try_for_each(|one| screen.row(&row("-", one)))
        }
        Body::PackagesFailed { order, reason, .. } => {
            screen.warn(head(ours("packages not changed")))?;
            screen.row_of_words(&format!("{}: {reason}", order.words()))
        }
        _ => Ok(()),
    }
}
