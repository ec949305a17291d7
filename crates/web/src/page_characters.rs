//! Holds the page to the same list of characters that are not seen as the terminal.
//!
//! The page is written in another language, so its list is read from its source here.

use interpreter_core::untrusted::{MARK, is_plain};

const SOURCE: &str = include_str!("../page/src/foreign.ts");

/// The ranges of a constant of the page.
fn ranges(name: &str) -> Vec<(u32, u32)> {
    let (_, rest) = SOURCE.split_once(&format!("const {name}: ")).unwrap();
    let (_, rest) = rest.split_once("= [\n").unwrap();
    let (list, _) = rest.split_once("\n];").unwrap();
    let number = |word: &str| u32::from_str_radix(word.trim().strip_prefix("0x").unwrap(), 16);
    let pairs = list.split('[').skip(1).map(|pair| pair.split(']').next().unwrap());
    let pairs = pairs.map(|pair| pair.split_once(", ").unwrap());
    pairs.map(|(first, last)| (number(first).unwrap(), number(last).unwrap())).collect()
}

#[test]
fn the_page_spells_out_what_the_terminal_spells_out() {
    let unseen = [ranges("INVISIBLE"), ranges("ODD_BLANK")].concat();
    assert!(unseen.len() > 40);
    assert!(SOURCE.contains(&format!("const MARK = {:#x};", u32::from(MARK))));
    let is_shown = |c: char| {
        let code = u32::from(c);
        let is_there = |(first, last): &(u32, u32)| (*first..=*last).contains(&code);
        !(c.is_control() || c == MARK || unseen.iter().any(is_there))
    };
    for c in (0..=0x0010_ffff).filter_map(char::from_u32) {
        assert_eq!(is_shown(c), is_plain(c), "{}", c.escape_unicode());
    }
}
