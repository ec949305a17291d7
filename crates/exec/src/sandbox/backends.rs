//! The backends, in order of preference: the order in which `core` has their names. `SECURITY.md` has
//! a column for each, which is compared with them.

use super::{bare, bubblewrap, docker, firejail, landlock, native, podman, recipe::Recipe};
use interpreter_core::{Backend, Choice, Kept, Promise};

/// Every backend, the strongest first.
static ALL: [&Recipe; Backend::ALL.len()] = [
    &native::RECIPE,
    &bubblewrap::RECIPE,
    &podman::RECIPE,
    &docker::RECIPE,
    &firejail::RECIPE,
    &landlock::RECIPE,
    &bare::RECIPE,
];

/// The recipe of a backend.
pub(crate) fn recipe(backend: Backend) -> &'static Recipe {
    ALL.iter().find(|one| one.backend == backend).expect("a test sees that each has one")
}

/// The backends that are tried when none is named, the strongest first.
pub(super) fn unasked() -> impl Iterator<Item = Backend> {
    ALL.iter().filter(|one| one.unasked).map(|one| one.backend)
}

/// Whether code sees a system other than this machine's, with interpreters of its own. Such a backend
/// is never used unasked.
pub fn has_own_system(choice: Choice) -> bool {
    matches!(choice, Choice::Only(backend) if recipe(backend).own_system)
}

/// How `backend` keeps `promise`.
pub fn keeps(backend: Backend, promise: Promise) -> Kept {
    (recipe(backend).keeps)(promise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::Untrusted;

    /// Of the promises that no sandbox has a part in, as much as holds without one.
    const OURS: &str = "in part: code can change the record and this program";

    #[test]
    fn every_backend_has_a_recipe_in_the_order_of_preference() {
        assert_eq!(ALL.map(|one| one.backend), Backend::ALL);
        assert!(
            ALL[0].unasked && !recipe(Backend::NONE).unasked && !recipe(Backend::NONE).confines
        );
    }

    /// The table, as `SECURITY.md` has it.
    fn table() -> String {
        let backends = Backend::ALL.map(Backend::word).join(" | ");
        let line = "---|".repeat(ALL.len());
        let mut text = format!("| promise | {backends} |\n|---|{line}\n");
        // Those that no sandbox has a part in.
        let others = [(9, "yes and record"), (12, "tampering")];
        let yes = " | yes".repeat(ALL.len() - 1);
        let mut rows: Vec<(u8, String)> =
            others.map(|(number, word)| (number, format!("{word}{yes} | {OURS}"))).into();
        rows.extend(Promise::ALL.map(|promise| {
            let cells = Backend::ALL.map(|backend| match keeps(backend, promise) {
                Kept::Yes => "yes".to_owned(),
                Kept::InPart(why) => format!("in part: {why}"),
                Kept::No(why) => format!("no: {why}"),
            });
            (promise.number(), format!("{promise} | {}", cells.join(" | ")))
        }));
        rows.sort();
        text.extend(rows.into_iter().map(|(number, row)| format!("| {number}. {row} |\n")));
        text
    }

    #[test]
    fn the_table_in_security_md_says_what_the_backends_say() {
        let security = include_str!("../../../../SECURITY.md");
        assert!(security.contains(&table()), "SECURITY.md should have:\n{}", table());
    }

    #[test]
    fn the_first_keeps_everything() {
        assert!(Promise::ALL.iter().all(|&promise| (ALL[0].keeps)(promise) == Kept::Yes));
    }

    #[test]
    fn a_helper_that_writes_on_the_stream_is_named_with_its_words() {
        let said = b"This account is currently not available.\n\x1b[2J";
        let error = firejail::RECIPE.said_instead(said).to_string();
        assert!(error.contains("firejail did not start our program, and wrote: This account is"));
        assert!(!error.contains('\u{1b}'), "{error}");
        let error = native::RECIPE.said_instead(b"hello").to_string();
        assert!(error.contains("something wrote on its stream: hello"), "{error}");
    }

    #[test]
    fn a_helper_that_complains_is_named() {
        let said = |recipe: &Recipe, text: &str| {
            recipe.complaint(&Untrusted::new(text)).map(|error| error.to_string())
        };
        let firejail = said(&firejail::RECIPE, "noise\nError: no account\n").unwrap();
        assert!(firejail.ends_with(": firejail: Error: no account"), "{firejail}");
        let bwrap = said(&bubblewrap::RECIPE, "bwrap: No permissions\n").unwrap();
        assert!(bwrap.ends_with(": bwrap: No permissions"), "{bwrap}");
        assert_eq!(said(&native::RECIPE, "bwrap: x"), None);
    }
}
