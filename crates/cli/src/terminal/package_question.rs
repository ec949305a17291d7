//! The question whether packages may be installed.

use super::{
    ask::{Left, choice},
    frontend::Frontend,
    ours::{Ours, count, ours, word},
    person::Console,
    screen::Screen,
};
use crate::report::Error;
use interpreter_core::{
    Grantor,
    packages::{PackageKind, PackageList, PackageOrder, PlannedPackage, Requirement, is_known},
    session::{Event, GivenAnswer, PackagesQuestion, Posed},
};
use std::io;

impl Frontend {
    /// Code misses packages. Nobody to ask means no.
    pub(super) async fn packages(&mut self, posed: &Posed<PackagesQuestion>) -> Result<(), Error> {
        let _held = self.view.hold_input();
        let said = match self.asked().await {
            Ok((_lock, console, screen)) => allowed(console, screen, &posed.about).await?,
            Err(left) => Err(left),
        };
        let event = match said {
            Ok(true) => posed.answer(GivenAnswer::Install),
            Ok(false) | Err(Left::Ended) => posed.answer(GivenAnswer::Refuse),
            Err(Left::Interrupted) => Event::Interrupted,
            Err(Left::Terminated) => Event::Quit,
            Err(Left::Nobody(_)) => posed.answer_by(GivenAnswer::Refuse, Grantor::Nobody),
        };
        self.session.send(event);
        Ok(())
    }
}

/// Asks whether they are installed.
async fn allowed(
    console: &mut Console,
    screen: &mut Screen,
    asked: &PackagesQuestion,
) -> io::Result<Result<bool, Left>> {
    let PackagesQuestion { order, list, runs_again } = asked;
    let question = draw_question(screen, order, list.as_ref())?;
    let yes = match (list, order.build, runs_again) {
        (None, false, _) => "look it up",
        (None, true, true) => "build, install and run again",
        (None, true, false) => "build and install",
        (Some(_), _, true) => "install and run again",
        (Some(_), _, false) => "install",
    };
    let choices = [choice('y', yes, true), choice('n', "no", false)];
    Ok(console.asker.choose(screen, &question, &choices).await)
}

/// Draws what is asked about; the question itself is returned.
fn draw_question(
    screen: &mut Screen,
    order: &PackageOrder,
    list: Option<&PackageList>,
) -> io::Result<Ours> {
    let packages = order.packages();
    let names: Vec<_> = packages.iter().map(Requirement::text).collect();
    let unknown = packages.iter().filter(|one| one.kind() == PackageKind::Python && !is_known(one));
    let (subject, it, its) = match names.as_slice() {
        [one] if word(one).as_str() == *one => (word(one) + " is", "it", "its"),
        [_] => (ours("This package is"), "it", "its"),
        _ => (count(names.len(), "package") + " are", "them", "their"),
    };
    if names.len() != 1 || subject.as_str().starts_with("This") {
        names.iter().try_for_each(|name| screen.row(name))?;
    }
    let unknown: Vec<_> = unknown.map(Requirement::name).collect();
    if !unknown.is_empty() && !order.build {
        screen.row_of_words(&format!(
            "check the spelling: {} is not a well-known name",
            unknown.join(", ")
        ))?;
    }
    let Some(list) = list else { return Ok(unlisted(order, subject, it, its)) };
    draw_list(screen, list)?;
    let state = if order.build { " ready. Install " } else { " not installed. Install " };
    Ok(subject + state + it + " for this folder?")
}

/// The question before the index was asked.
fn unlisted(order: &PackageOrder, subject: Ours, it: &'static str, its: &'static str) -> Ours {
    if order.build {
        subject
            + " available only as source. Run "
            + its
            + " code in the sandbox to build "
            + it
            + "?"
    } else {
        subject + " not installed. Look " + it + " up in the package index?"
    }
}

/// Draws every package that would come or go, with its version.
fn draw_list(screen: &mut Screen, list: &PackageList) -> io::Result<()> {
    let told = |one: &PlannedPackage| {
        let by = one.required_by.iter().map(|by| format!(" (for {by})"));
        let before = one.replaces.iter().map(|before| format!(" (in place of {before})"));
        one.to_string() + &by.chain(before).collect::<String>()
    };
    let comes: Vec<_> = list.comes.iter().map(told).collect();
    if !comes.is_empty() {
        let count =
            if comes.len() > 1 { format!("{} packages: ", comes.len()) } else { String::new() };
        screen.row_of_words(&(count + &comes.join(", ")))?;
    }
    let goes: Vec<_> = list.goes.iter().map(ToString::to_string).collect();
    if !goes.is_empty() {
        screen.row_of_words(&format!("goes: {}", goes.join(", ")))?;
    }
    Ok(())
}
