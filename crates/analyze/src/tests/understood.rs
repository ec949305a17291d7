//! The corpus of what is understood: evasions, none of which may be, and everyday cells, of which few
//! may not be.
//!
//! `corpus/evasions` and `corpus/everyday` are the data. `scripts/corpus` prints the figures.

use super::*;
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
struct Evasions {
    evasion: Vec<UnderstoodCell>,
}

#[derive(Deserialize)]
struct Everyday {
    cell: Vec<UnderstoodCell>,
}

#[derive(Deserialize)]
struct UnderstoodCell {
    name: String,
    language: String,
    code: String,
    /// Cells that ran before it in the same kernel.
    #[serde(default)]
    before: Vec<String>,
    /// Cells of the same session run one after another.
    session: Option<String>,
}

/// The texts of a folder of the corpus.
#[expect(clippy::disallowed_methods, reason = "a test that reads its data")]
fn texts(folder: &str) -> Vec<String> {
    let folder = format!("{}/corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn evasions() -> Vec<UnderstoodCell> {
    let read = |text: String| toml::from_str::<Evasions>(&text).unwrap().evasion;
    texts("evasions").into_iter().flat_map(read).collect()
}

fn everyday() -> Vec<UnderstoodCell> {
    let read = |text: String| {
        let mut cells = toml::from_str::<Everyday>(&text).unwrap().cell;
        for at in 0..cells.len() {
            let (earlier, later) = cells.split_at_mut(at);
            let is_same = |one: &&UnderstoodCell| one.session == later[0].session;
            if later[0].session.is_some() {
                later[0].before =
                    earlier.iter().filter(is_same).map(|one| one.code.clone()).collect();
            }
        }
        cells
    };
    texts("everyday").into_iter().flat_map(read).collect()
}

impl UnderstoodCell {
    fn findings(&self) -> Findings {
        let (none, language) = (AddedRules::default(), language(&self.language));
        let past = self
            .before
            .iter()
            .fold(Past::default(), |past, cell| analyze_after(&none, &past, &language, cell).1);
        analyze_after(&none, &past, &language, &self.code).0
    }

    /// Whether the automatic mode would run the whole of it.
    fn passes(&self) -> bool {
        let (none, language) = (AddedRules::default(), language(&self.language));
        let mut past = Past::default();
        self.before.iter().chain([&self.code]).all(|cell| {
            let (found, after) = analyze_after(&none, &past, &language, cell);
            past = after;
            found.is_understood() && found.risk == Risk::Low
        })
    }
}

/// No evasion passes where no one looks: some cell of it asks.
#[test]
fn no_evasion_is_understood() {
    let all = evasions();
    assert!(all.len() >= 300, "{}", all.len());
    let passing: Vec<_> = all.iter().filter(|one| one.passes()).collect();
    let told: Vec<_> = passing.iter().map(|one| format!("-- {}\n{}", one.name, one.code)).collect();
    assert!(passing.is_empty(), "{} of {} pass\n{}", passing.len(), all.len(), told.join("\n"));
}

/// Of a hundred everyday cells, at most five are not understood.
#[test]
fn of_a_hundred_everyday_cells_at_most_five_are_not_understood() {
    let all = everyday();
    assert!(all.len() >= 300, "{}", all.len());
    let why = |one: &UnderstoodCell| {
        let why = one.findings().why_not_understood()?;
        Some(format!("-- {}, {}: {why}", one.language, one.name))
    };
    let told: Vec<_> = all.iter().filter_map(why).collect();
    assert!(
        told.len() * 100 <= all.len() * 5,
        "{} of {}\n{}",
        told.len(),
        all.len(),
        told.join("\n")
    );
}

/// The figures, for `scripts/corpus`, and the names that keep everyday cells from being understood.
#[test]
#[ignore = "prints figures"]
fn figures() {
    let all = evasions();
    let understood = all.iter().filter(|one| one.findings().is_understood()).count();
    let passing = all.iter().filter(|one| one.passes()).count();
    println!(
        "evasions: {} cells, {understood} understood by themselves, {passing} unasked",
        all.len()
    );
    let all = everyday();
    let mut asked = 0;
    for one in &all {
        if let Some(why) = one.findings().why_not_understood() {
            asked += 1;
            println!("{}, {}: {why}", one.language, one.name);
        }
    }
    println!("everyday: {} cells, {asked} not understood", all.len());
}

#[derive(Deserialize)]
struct Unknown {
    forms: Vec<Forms>,
}

#[derive(Deserialize)]
struct Forms {
    language: String,
    code: Vec<String>,
}

/// Forms that name by a text, a place or a computed key what they call are never let pass.
#[test]
fn no_form_that_reaches_further_passes() {
    let all: Unknown = toml::from_str(include_str!("../../corpus/unknown-forms.toml")).unwrap();
    let none = AddedRules::default();
    let mut passing = Vec::new();
    for forms in &all.forms {
        for code in &forms.code {
            let past = Past::default();
            let found = analyze_after(&none, &past, &language(&forms.language), code).0;
            if found.is_understood() && found.risk == Risk::Low {
                passing.push(code);
            }
        }
    }
    assert!(passing.is_empty(), "{passing:#?}");
}
