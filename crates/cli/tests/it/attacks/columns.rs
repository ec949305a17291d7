//! Every attack on every backend, and every control: a column each, printed where one is wrong.

use super::{
    Attack, Control, all,
    outside::is_here,
    session::{Outcome, Outcomes, Place, tried},
};
use crate::{
    backends::{BUBBLEWRAP, DOCKER, FIREJAIL, LANDLOCK, NATIVE, PODMAN, is_installed, lacks},
    scene::Who,
};
use interpreter_core::Backend;
use std::{collections::BTreeSet, fmt::Write as _, io::Write as _, thread};

/// The results of all attacks in one place, and the expected ones.
struct Column {
    place: Place,
    outcomes: Outcomes,
}

impl Column {
    /// Tries every attack. One that came to nothing is tried once more by itself: a busy machine
    /// does that, and it shows nothing. One that got through is never tried again.
    fn of(place: Place, attacks: &[&'static Attack]) -> Self {
        let mut column = Self { place, outcomes: tried(place, attacks) };
        for attack in attacks {
            if let Some(fault @ (Fault::DidNotRun | Fault::Stopped)) = column.fault(attack) {
                let said = &column.outcomes[attack.name].said;
                say(&format!(
                    "{} {place:?} {fault:?}, is tried again; it said: {said}",
                    attack.name
                ));
                column.outcomes.extend(tried(place, &[*attack]));
            }
        }
        column
    }

    /// The fault of an attack here, if any.
    fn fault(&self, attack: &Attack) -> Option<Fault> {
        let Outcome { ran, succeeded, .. } = self.outcomes.get(attack.name)?;
        let expected = match self.place {
            Place::On(backend, who) => attack.gets_through(backend, who),
            Place::Control(_) => true,
        };
        match (*ran, *succeeded, expected) {
            (false, false, _) => Some(Fault::DidNotRun),
            (_, true, false) => Some(Fault::GotThrough),
            (true, false, true) => Some(Fault::Stopped),
            (_, true, true) | (true, false, false) => None,
        }
    }
}

/// A result that is not the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    DidNotRun,
    GotThrough,
    /// It was stopped, and should not have been.
    Stopped,
}

/// Fails with a table of everything if something is wrong anywhere.
fn judge(columns: &[Column]) {
    let mut faults = String::new();
    for attack in all() {
        for column in columns {
            if let Some(fault) = column.fault(attack) {
                let (place, said) = (column.place, &column.outcomes[attack.name].said);
                let Attack { name, promise, .. } = attack;
                writeln!(faults, "{name} ({promise}) {place:?} {fault:?}; it said: {said}")
                    .unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n{faults}", table(columns));
}

fn table(columns: &[Column]) -> String {
    let mut text = format!("{:<48}", "attack");
    for column in columns {
        write!(text, "  {:<24}", format!("{:?}", column.place)).unwrap();
    }
    for attack in all() {
        write!(text, "\n{:<48}", attack.name).unwrap();
        for column in columns {
            let word = match column.outcomes.get(attack.name) {
                None => "",
                Some(outcome) if !outcome.ran => "did not run",
                Some(outcome) if outcome.succeeded => "got through",
                Some(_) => "stopped",
            };
            write!(text, "  {word:<24}").unwrap();
        }
    }
    text
}

/// All attacks on a backend, as everybody whom it is for.
fn on(backend: Backend) {
    if !is_installed(backend) {
        say(&format!("{backend} is not here, and was not attacked"));
        return;
    }
    let columns = thread::scope(|scope| {
        let one = |who| {
            let attacks: Vec<_> = all().filter(|attack| attack.is_for(backend, who)).collect();
            Column::of(Place::On(backend, who), &attacks)
        };
        let people = Who::all_for(backend).into_iter();
        let started: Vec<_> = people.map(|who| scope.spawn(move || one(who))).collect();
        started.into_iter().map(|column| column.join().unwrap()).collect::<Vec<_>>()
    });
    judge(&columns);
    // The attacks that get through match the backend's gaps.
    let lacks = lacks(backend);
    for attack in all().filter(|attack| attack.through.contains(&backend)) {
        let (name, promise) = (attack.name, attack.promise);
        assert!(lacks.contains(&promise), "{name} breaks promise {promise} of {backend}");
    }
}

/// Past what the test collects: whoever reads the result is to see it.
fn say(text: &str) {
    std::io::stderr().write_all(format!("attacks: {text}\n").as_bytes()).unwrap();
}

#[test]
fn native_keeps_everything() {
    on(NATIVE);
}

#[test]
fn bubblewrap_keeps_what_it_promises() {
    on(BUBBLEWRAP);
}

#[test]
fn docker_keeps_what_it_promises() {
    on(DOCKER);
}

#[test]
fn podman_keeps_what_it_promises() {
    on(PODMAN);
}

#[test]
fn firejail_keeps_what_it_promises() {
    on(FIREJAIL);
}

#[test]
fn landlock_keeps_what_it_promises() {
    on(LANDLOCK);
}

/// Whether a control can say anything on this machine; if not, why.
fn shown(attack: &Attack) -> Result<(), String> {
    if let Some(need) = attack.need.filter(|&need| !is_here(need)) {
        return Err(format!("it needs {need:?}"));
    }
    if attack.control == Control::Root && !rustix::process::geteuid().is_root() {
        return Err("it needs root".into());
    }
    Ok(())
}

#[test]
fn where_nothing_stops_it_every_attack_succeeds() {
    let controls: BTreeSet<_> = all().map(|attack| attack.control).collect();
    let columns = controls.into_iter().map(|control| {
        let attacks = all().filter(|attack| attack.control == control);
        let attacks: Vec<_> = attacks
            .filter(|attack| match shown(attack) {
                Ok(()) => true,
                Err(why) => {
                    say(&format!("{} was not shown to work here: {why}", attack.name));
                    false
                }
            })
            .collect();
        Column::of(Place::Control(control), &attacks)
    });
    judge(&columns.collect::<Vec<_>>());
}
