//! Words are found where they are, whatever signs they have, and nowhere else.

use super::*;
use crate::record::example::{Place, prompt, started};
use interpreter_core::{Output, Stream};
use rusqlite::Connection;

fn found(place: &Place, words: &[&str]) -> Vec<(String, u64)> {
    let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
    let hits = place.log.search(&place.folders, &words, 10, |_| ()).unwrap();
    hits.into_iter().map(|hit| (hit.record.session, hit.record.seq)).collect()
}

fn one(session: &str, seq: u64) -> Vec<(String, u64)> {
    vec![(session.into(), seq)]
}

fn place() -> Place {
    let mut place = Place::new();
    place.log.append("s1", &started()).unwrap();
    place.log.append("s1", &prompt("Plot the café's sales, please")).unwrap();
    let code = Body::Proposal {
        id: "p1".into(),
        origin: interpreter_core::Origin::Model,
        language: "python".into(),
        code: Untrusted::new("df = pandas.read_csv('sales.csv')\n"),
        hash: String::new(),
        invocation: None,
        again: None,
        sealed: None,
    };
    place.log.append("s1", &code).unwrap();
    let output = Output::text("p1", Stream::Stdout, "total 4711\n");
    place.log.append("s2", &Body::Output(output)).unwrap();
    place
}

#[test]
fn prompts_code_and_output_are_found_newest_first() {
    let mut place = place();
    assert_eq!(found(&place, &["plot"]), one("s1", 2));
    assert_eq!(found(&place, &["CAFE"]), one("s1", 2));
    assert_eq!(found(&place, &["read_csv"]), one("s1", 3));
    assert_eq!(found(&place, &["4711"]), one("s2", 1));
    assert_eq!(found(&place, &["sales"]), [one("s1", 3), one("s1", 2)].concat());
    assert_eq!(found(&place, &["sales", "plot"]), one("s1", 2));
    assert_eq!(found(&place, &["sales plot"]), one("s1", 2));
    assert_eq!(found(&place, &["\"sales plot\""]), []);
    assert_eq!(found(&place, &["pan*"]), one("s1", 3));
    assert_eq!(found(&place, &["pan"]), []);
    // Later ones are found without more ado.
    place.log.append("s1", &prompt("Plot again")).unwrap();
    assert_eq!(found(&place, &["plot"]), [one("s1", 4), one("s1", 2)].concat());
    let words = ["plot".to_owned()];
    let hits = place.log.search(&place.folders, &words, 1, |_| panic!("it is up to date")).unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].excerpt.raw(), "Plot again");
}

/// The attack: words that are operators of the query language, or end its quotes.
#[test]
fn no_word_is_taken_for_syntax() {
    let mut place = place();
    for words in [
        "\"",
        "\"\"\"",
        "plot\" OR \"x",
        "text:plot",
        "{text}: plot",
        "NEAR(a b)",
        "plot NOT sales",
        "AND",
        "OR",
        "NOT",
        "*",
        "^plot",
        "a AND",
        "(",
        ")",
        "-",
        "+",
        "plot)",
        "\\",
        "'",
        "%",
        ";",
        "'; DROP TABLE words; --",
        "\u{0}",
        "\u{1b}[2J",
        "é\u{301}",
    ] {
        _ = found(&place, &[words]);
    }
    // Operators are words like all others.
    place.log.append("s3", &prompt("to be or not to be near")).unwrap();
    assert_eq!(found(&place, &["NOT"]), one("s3", 1));
    assert_eq!(found(&place, &["plot", "OR", "sales"]), []);
    assert_eq!(found(&place, &["text:plot"]), []);
    assert_eq!(found(&place, &["plot"]), one("s1", 2));
}

#[test]
fn a_damaged_or_foreign_index_is_made_again() {
    let place = place();
    assert_eq!(found(&place, &["plot"]), one("s1", 2));
    let path = place.folders.search_file();
    for damage in [b"not a database, but long enough to be one".repeat(200), vec![0; 8192]] {
        remove_index(&path).unwrap();
        private::make_file(&path).unwrap();
        fs_err::write(&path, damage).unwrap();
        assert_eq!(found(&place, &["plot"]), one("s1", 2));
    }
    let index = Connection::open(&path).unwrap();
    index.pragma_update(None, "user_version", 99).unwrap();
    drop(index);
    assert_eq!(found(&place, &["plot"]), one("s1", 2));
}

#[test]
fn large_outputs_are_found_by_their_beginning() {
    let mut place = place();
    let outputs = Outputs::new(&place.folders);
    let text = format!("marmalade {} quince", "x ".repeat(50_000));
    let mut body = Body::Output(Output::text("p1", Stream::Stdout, text));
    outputs.keep(&mut body).unwrap();
    place.log.append("s4", &body).unwrap();
    assert_eq!(found(&place, &["marmalade"]), one("s4", 1));
    assert_eq!(found(&place, &["quince"]), []);
}

#[test]
fn an_excerpt_is_one_line_around_the_word() {
    let words = ["needle".to_owned()];
    let text = format!("{}\n\n the NEEDLE\there\r\n{}", "hay ".repeat(100), "straw ".repeat(100));
    let excerpt = excerpt(&text, &words);
    assert!(excerpt.starts_with('…') && excerpt.ends_with('…'), "{excerpt}");
    assert!(excerpt.contains("hay the NEEDLE here straw"), "{excerpt}");
    assert!(excerpt.chars().count() <= BEFORE + AFTER + 2, "{excerpt}");
    assert_eq!(super::excerpt("İ needle", &words), "İ needle");
}
