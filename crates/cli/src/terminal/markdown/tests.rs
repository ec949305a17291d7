//! Markdown as a person sees it.

use super::super::{foreign::Foreign, section::Section, style::Style, width::Widths};
use interpreter_store::Environment;

fn style(pairs: &[(&str, &str)]) -> Style {
    Style::new(true, &Environment::from_pairs(pairs.iter().copied()))
}

fn drawn_in(style: Style, columns: usize, text: &str) -> String {
    let widths = Widths::of(&Environment::default());
    let mut foreign = Foreign::new(Section::Prose, widths, style);
    // As a model writes it: a few characters at a time.
    let chars: Vec<char> = text.chars().collect();
    let pieces = chars.chunks(3).map(|piece| piece.iter().collect::<String>());
    let out: String = pieces.map(|piece| foreign.feed(&piece, columns)).collect();
    out + &foreign.end(columns)
}

/// The text without its inks.
fn seen(columns: usize, text: &str) -> String {
    let out = drawn_in(style(&[("TERM", "xterm")]), columns, text);
    let mut parts = out.split("\u{1b}[0");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

#[test]
fn blocks_are_drawn_without_their_marks() {
    let text = "# Title\n\nSome **bold** and *quiet* words, `code()` and ~~old~~ ones.\n\
                - one\n  - two\n10. ten\n> said\n---\n#hash 1. 2024\n";
    assert_eq!(
        seen(80, text),
        "  Title\n  \n  Some bold and quiet words, code() and old ones.\n\
         \u{20} • one\n    • two\n  10. ten\n  > said\n  ───\n  #hash 1. 2024\n"
    );
}

#[test]
fn spans_have_their_inks() {
    let out = drawn_in(style(&[("TERM", "xterm")]), 80, "a **b** `c` *d*\n");
    for part in ["\u{1b}[0;1mb", "\u{1b}[0;36mc", "\u{1b}[0;3md"] {
        assert!(out.contains(part), "{out:?}");
    }
}

#[test]
fn without_colour_the_marks_stay() {
    let text = "# Title\nSome **bold** `code`\n- [a](b)\n";
    let plain = style(&[("TERM", "xterm"), ("NO_COLOR", "1")]);
    assert_eq!(drawn_in(plain, 80, text), "  # Title\n  Some **bold** `code`\n  - [a](b)\n");
}

#[test]
fn what_people_say_about_code_and_sums_stays() {
    let text = "2*3*4, *args, **kwargs, __init__ and a_b_c; `*` ** x; [x] \\(a_1*b*\\) $a*b*c$ \
                costs $5*2 or C:\\dir\\*.* and 5 * 3 * 2\n";
    let kept = text.replace('`', "").replace("\\*.*", "*.*");
    assert_eq!(seen(400, text), format!("  {kept}"));
}

#[test]
fn a_link_shows_where_it_leads() {
    assert_eq!(
        seen(80, "See [our bank](http://evil.example/x(1)) and ![a plot](p.png), <http://a.b>.\n"),
        "  See our bank (http://evil.example/x(1)) and a plot (p.png), <http://a.b>.\n"
    );
    assert_eq!(
        seen(80, "[http://a.b](http://a.b) [ ] [x] [1][2]\n"),
        "  http://a.b [ ] [x] [1][2]\n"
    );
}

#[test]
fn rows_hang_below_their_item() {
    assert_eq!(
        seen(24, "- a long item that goes on\n> a quote that goes on too\n"),
        "  • a long item that \n    goes on\n  > a quote that goes \n  > on too\n"
    );
}

#[test]
fn a_table_is_laid_out_for_the_window() {
    let text = "So:\n| name | **amount** |\n|:--|--:|\n| apples | 5 |\n| `a|b` | 1,000 |\nend";
    assert_eq!(
        seen(80, text),
        "  So:\n  name    amount\n  ------  ------\n  apples       5\n  a|b      1,000\n  end\n"
    );
    let wide = "| a | b |\n|---|---|\n| one two three four | five six seven eight |\n";
    assert_eq!(
        seen(26, wide),
        "  a           b\n  ----------  ----------\n  one two     five six\n\
         \u{20} three four  seven\n              eight\n"
    );
    // Without room it is what it was, and so are rows that are no table.
    assert_eq!(seen(9, "| a | b |\n|---|---|\n"), "  | a | \n  b |\n  |---|-\n  --|\n");
    assert_eq!(seen(80, "| a | b\nc\n"), "  | a | b\n  c\n");
}

#[test]
fn an_open_span_is_not_waited_for_forever() {
    let text = format!("**{} end", "word ".repeat(200));
    let widths = Widths::of(&Environment::default());
    let mut foreign = Foreign::new(Section::Prose, widths, style(&[("TERM", "xterm")]));
    let out = foreign.feed(&text, 80);
    assert!(out.starts_with("  **word"), "{out:?}");
    assert!(out.len() > 700, "{}", out.len());
}
