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

fn cells(files: &[&str]) -> Vec<Cell> {
    files.iter().flat_map(|file| toml::from_str::<File>(file).unwrap().cell).collect()
}

impl Cell {
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
        figures.above_low += usize::from(found.risk > Risk::Low);
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

/// Of a hundred cells that act, 97 rise above low; of a hundred everyday ones, at most two are
/// graver than they should be. The figures that have been reached are held here.
#[test]
fn cells_that_act_are_told_from_everyday_ones() {
    let everyday = measure(&EVERYDAY);
    assert!(everyday.too_grave == 0, "{}", everyday.told);
    assert_eq!(everyday.whole, everyday.cells, "{}", everyday.told);
    let acting = measure(&ACTING);
    assert_eq!(acting.above_low, acting.cells, "{}", acting.told);
    assert_eq!(acting.whole, acting.cells, "{}", acting.told);
    let held_out = measure(&HELD_OUT_ACTING);
    assert!(held_out.above_low * 100 >= held_out.cells * 97, "{}", held_out.told);
    let held_out = measure(&HELD_OUT_EVERYDAY);
    assert!(held_out.too_grave <= 1, "{}", held_out.told);
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
        let Figures { cells, above_low, whole, too_grave, told: cases } = measure(files);
        println!(
            "{name}: {cells} cells; {above_low} above low; {whole} as expected or graver; \
             {too_grave} graver than expected"
        );
        // The cells that were held out stay unseen.
        if !name.starts_with("held-out") {
            println!("{cases}");
        }
    }
}
