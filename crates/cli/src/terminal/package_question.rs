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
    packages::{PackageKind, PackageOrder, Requirement, is_known},
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
    let PackagesQuestion { order, runs_again } = asked;
    let question = draw_question(screen, order)?;
    let yes = match (order.build, runs_again) {
        (false, true) => "install and run again",
        (false, false) => "install",
        (true, true) => "build, install and run again",
        (true, false) => "build and install",
    };
    let choices = [choice('y', yes, true), choice('n', "no", false)];
    Ok(console.asker.choose(screen, &question, &choices).await)
}

/// Draws what is asked about; the question itself is returned.
fn draw_question(screen: &mut Screen, order: &PackageOrder) -> io::Result<Ours> {
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
    Ok(if order.build {
        subject
            + " available only as source. Run "
            + its
            + " code in the sandbox to build "
            + it
            + "?"
    } else {
        subject + " not installed. Install " + it + " for this folder?"
    })
}
