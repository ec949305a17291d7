//! The corpus: cells as people and models write them, and what must be found in each.
//!
//! `corpus/*.toml` are the data. An everyday cell may not be graver than it says; a cell that acts
//! must show what it says, at least as grave. The files `held-out-*` were not tuned for.
//! `scripts/corpus` prints the figures.

use super::*;
use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cell: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    language: String,
    code: String,
    /// Cells that ran before it in the same kernel.
    #[serde(default)]
    before: Vec<String>,
    /// Expected findings: a name, and an argument where it matters.
    #[serde(default)]
    finds: Vec<String>,
    #[serde(default = "low")]
    risk: Risk,
}

fn low() -> Risk {
    Risk::Low
}

const EVERYDAY: [&str; 2] = [
    include_str!("../../corpus/everyday-python.toml"),
    include_str!("../../corpus/everyday-others.toml"),
];
const ACTING: [&str; 3] = [
    include_str!("../../corpus/acting-python.toml"),
    include_str!("../../corpus/acting-shell.toml"),
    include_str!("../../corpus/acting-others.toml"),
];
const HELD_OUT_EVERYDAY: [&str; 1] = [include_str!("../../corpus/held-out-everyday.toml")];
const HELD_OUT_ACTING: [&str; 1] = [include_str!("../../corpus/held-out-acting.toml")];

/// Names of a language, and the deeds that no cell in it shows, each with the reason.
type Parsed = (&'static [&'static str], &'static [(Deed, &'static str)]);

/// The languages that are parsed.
const PARSED: [Parsed; 4] = [
    (&["python"], &[]),
    (
        &["shell", "bash"],
        &[(Deed::Deserialises, "its programs load data that is nothing but text")],
    ),
    (&["javascript", "typescript"], &[]),
    (
        &["sql"],
        &[
            (Deed::Watches, "it sees its database alone"),
            (Deed::Environment, "it has none"),
            (Deed::Permissions, "they are privileges of the database"),
            (Deed::Packages, "its extensions are code that hides what it does"),
            (Deed::Deserialises, "its data are values"),
            (Deed::Endless, "it is low: any query may take long"),
            (Deed::Floods, "the database bounds what it takes"),
        ],
    ),
];

fn cells(files: &[&str]) -> Vec<Cell> {
    files.iter().flat_map(|file| toml::from_str::<File>(file).unwrap().cell).collect()
}

impl Cell {
    /// Whether its language is parsed. Others are read by their words alone, and their risk is
    /// never less than unknown.
    fn is_parsed(&self) -> bool {
        PARSED.iter().any(|(names, _)| names.contains(&self.language.as_str()))
    }

    fn findings(&self) -> Findings {
        let language = language(&self.language);
        let mut past = Past::default();
        for cell in &self.before {
            past = analyze_after(&AddedRules::default(), &past, &language, cell).1;
        }
        analyze_after(&AddedRules::default(), &past, &language, &self.code).0
    }

    /// Whether something was found that `expected` names.
    fn has(found: &Findings, expected: &str) -> bool {
        let (name, argument) = expected.split_once(' ').unwrap_or((expected, ""));
        found.capabilities.iter().any(|one| {
            one.is_a(name) && (argument.is_empty() || one.argument.raw().contains(argument))
        })
    }
}

/// How a set of cells fared.
#[derive(Default)]
struct Figures {
    cells: usize,
    above_low: usize,
    /// Cells in languages that are parsed, and those of them above low.
    parsed: usize,
    parsed_above_low: usize,
    /// Everything that was expected was found, and as grave.
    whole: usize,
    /// It is graver than it should be.
    too_grave: usize,
    told: String,
}

fn measure(files: &[&str]) -> Figures {
    let mut figures = Figures::default();
    for cell in cells(files) {
        let found = cell.findings();
        let misses = cell.finds.iter().any(|expected| !Cell::has(&found, expected));
        figures.cells += 1;
        let is_above = found.risk > Risk::Low;
        figures.above_low += usize::from(is_above);
        figures.parsed += usize::from(cell.is_parsed());
        figures.parsed_above_low += usize::from(cell.is_parsed() && is_above);
        figures.whole += usize::from(!misses && found.risk >= cell.risk);
        figures.too_grave += usize::from(found.risk > cell.risk);
        if misses || found.risk != cell.risk {
            let (want, is) = (cell.risk.word(), found.risk.word());
            let shown = lines(&found).join("; ");
            let (wanted, code) = (cell.finds.join(", "), cell.code.trim());
            writeln!(figures.told, "-- {want} {wanted}; is {is} {shown}\n{code}").unwrap();
        }
    }
    figures
}

/// Each cell shows what it says, as grave as it says.
#[test]
fn cells_that_act_are_told_from_everyday_ones() {
    let everyday = measure(&EVERYDAY);
    assert!(everyday.too_grave == 0, "{}", everyday.told);
    assert_eq!(everyday.whole, everyday.cells, "{}", everyday.told);
    let acting = measure(&ACTING);
    assert_eq!(acting.above_low, acting.cells, "{}", acting.told);
    assert_eq!(acting.whole, acting.cells, "{}", acting.told);
    let held_out = measure(&HELD_OUT_EVERYDAY);
    assert!(held_out.too_grave <= 1, "{}", held_out.told);
}

/// Of a hundred cells that act, at least 97 rise above low, also of those alone that were held out.
/// Of a hundred everyday ones in a language that is parsed, at most two do: of those that the rules
/// were written against, and of all together. Held out are too few for a bound of their own.
#[test]
fn of_a_hundred_cells_97_that_act_and_two_that_do_not_rise_above_low() {
    for files in [&ACTING[..], &HELD_OUT_ACTING] {
        let Figures { cells, above_low, told, .. } = measure(files);
        assert!(above_low * 100 >= cells * 97, "{above_low} of {cells}\n{told}");
    }
    let (own, held_out) = (measure(&EVERYDAY), measure(&HELD_OUT_EVERYDAY));
    assert!(own.parsed_above_low * 100 <= own.parsed * 2, "{}", own.told);
    let parsed = own.parsed + held_out.parsed;
    let above = own.parsed_above_low + held_out.parsed_above_low;
    assert!(above * 100 <= parsed * 2, "{above} of {parsed}");
}

/// Every deed has a cell in every language in which it means something.
#[test]
fn every_deed_has_a_cell_in_every_language() {
    let cells = cells(&ACTING);
    let mut wrong = Vec::new();
    for (names, exceptions) in PARSED {
        for deed in Deed::ALL {
            let is_shown = |cell: &Cell| {
                let shows = |found: &String| found.split(' ').next() == Some(deed.name());
                names.contains(&cell.language.as_str()) && cell.finds.iter().any(shows)
            };
            let is_exception = exceptions.iter().any(|(one, why)| *one == deed && !why.is_empty());
            if cells.iter().any(is_shown) == is_exception {
                wrong.push(format!("{} in {}", deed.name(), names[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The figures, for `scripts/corpus`, and the cells that differ from what is expected.
#[test]
#[ignore = "prints figures"]
fn figures() {
    for (name, files) in [
        ("everyday", &EVERYDAY[..]),
        ("acting", &ACTING),
        ("held-out everyday", &HELD_OUT_EVERYDAY),
        ("held-out acting", &HELD_OUT_ACTING),
    ] {
        let Figures { cells, above_low, parsed, parsed_above_low, whole, too_grave, told: cases } =
            measure(files);
        println!(
            "{name}: {cells} cells, {above_low} above low; {parsed} of them in parsed languages, \
             {parsed_above_low} above low; {whole} as expected or graver; {too_grave} graver than \
             expected"
        );
        // The cells that were held out stay unseen.
        if !name.starts_with("held-out") {
            println!("{cases}");
        }
    }
}
