//! Code in its colours.

use super::{
    super::{foreign::Foreign, section::Section, style::Style, width::Widths},
    Syntax,
};
use interpreter_store::Environment;

/// The code with each coloured part in brackets behind the number of its colour.
fn drawn(section: Section, code: &str) -> String {
    let environment = Environment::from_pairs([("TERM", "xterm")]);
    let mut foreign =
        Foreign::new(section, Widths::of(&environment), Style::new(true, &environment));
    let pieces = code.chars().map(|c| foreign.feed(c.encode_utf8(&mut [0; 4]), 200));
    let out = pieces.collect::<String>() + &foreign.end(200);
    let rows: Vec<String> = out.lines().map(|row| row.chars().skip(4).collect()).collect();
    let (mut shown, mut last) = (String::new(), String::new());
    for part in format!("\u{1b}[0m{}", rows.join("\n")).split("\u{1b}[0").skip(1) {
        let (ink, text) = part.split_once('m').unwrap();
        // Each character came alone, so its ink was set anew.
        if !text.is_empty() && ink != last {
            shown = format!("{shown}<{}>", ink.trim_start_matches(';'));
            last = ink.to_owned();
        }
        shown.push_str(text);
    }
    shown
}

fn code(name: &str, code: &str) -> String {
    drawn(Section::Code(Syntax::of(name)), code)
}

#[test]
fn words_strings_numbers_and_comments_have_their_colours() {
    assert_eq!(code("python", "def f(x): # hi"), "<35>def<> f(x): <2># hi");
    assert_eq!(code("py", "x = 'a#b' + 1.2\n"), "x = <32>'a#b'<> + <36>1.2");
    assert_eq!(code("python3", "@cache\nNone"), "<33>@cache<>\n<36>None");
    assert_eq!(code("js", "// a\nlet"), "<2>// a<>\n<35>let");
    assert_eq!(code("sql", "SELECT x -- a"), "<35>SELECT<> x <2>-- a");
    assert_eq!(code("bash", "a#b $HOME # c"), "a#b <33>$HOME<> <2># c");
    assert_eq!(code("unknown", "def x # y"), "def x # y");
}

#[test]
fn strings_of_several_lines_end_where_they_end() {
    assert_eq!(code("python", "'''a\n'b''' if"), "<32>'''a<>\n<32>'b'''<> <35>if");
    // One that is not closed ends with its line.
    assert_eq!(code("python", "'a\nif"), "<32>'a<>\n<35>if");
    assert_eq!(code("python", r"'\'' if"), r"<32>'\''<> <35>if");
    assert_eq!(code("c", "/* a\n*/ int"), "<2>/* a<>\n<2>*/<> <35>int");
}

#[test]
fn a_diff_has_the_colours_of_diffs() {
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n same\n-old\n+new\n";
    let out = drawn(Section::Diff, diff);
    for part in
        ["<1>--- a/x<>", "<1>+++ b/x<>", "<36>@@ -1 +1 @@<>\n same\n", "<31>-old<>", "<32>+new"]
    {
        assert!(out.contains(part), "{part} is not in {out}");
    }
}

#[test]
fn a_huge_block_is_not_coloured_to_its_end() {
    let long = format!("x = 1\n{}", "y = 2\n".repeat(super::MOST / 6));
    let environment = Environment::from_pairs([("TERM", "xterm")]);
    let section = Section::Code(Syntax::of("python"));
    let style = Style::new(true, &environment);
    let mut foreign = Foreign::new(section, Widths::of(&environment), style);
    let out = foreign.feed(&long, 80);
    assert!(out.starts_with("  │ x = \u{1b}[0;36m1"));
    assert!(out.ends_with("  │ y = 2\n"));
}
