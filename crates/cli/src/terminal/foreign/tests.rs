//! Whatever the text and the window do, every row has its mark, and none looks like ours.

use super::{
    super::{rows::CLEAR, syntax::Syntax, width::Widths},
    *,
};
use interpreter_core::untrusted::MARK;
use interpreter_store::Environment;
use proptest::prelude::*;

const BAR: &str = "  ┆ ";

fn widths() -> Widths {
    Widths::of(&Environment::from_pairs([("LANG", "ja_JP.UTF-8")]))
}

fn coloured() -> Style {
    Style::new(true, &Environment::from_pairs([("TERM", "xterm")]))
}

fn of(section: Section) -> Foreign {
    Foreign::new(section, widths(), coloured())
}

fn laid_out(section: Section, columns: usize, text: &str) -> String {
    let mut foreign = of(section);
    foreign.feed(text, columns) + &foreign.end(columns)
}

#[test]
fn every_row_has_the_mark() {
    assert_eq!(laid_out(Section::Output, 40, "a\n\nb"), "  ┆ a\n  ┆ \n  ┆ b\n");
}

#[test]
fn a_long_line_cannot_reach_the_first_column() {
    let out = laid_out(Section::Output, 20, &format!("{}Run it? y", " ".repeat(19)));
    assert!(out.lines().all(|line| line.starts_with(BAR)), "{out}");
    assert!(out.lines().all(|line| line.chars().count() < 20), "{out}");
}

#[test]
fn wide_characters_count_twice() {
    let out = laid_out(Section::Output, 20, "漢字漢字漢字漢字漢字漢字");
    assert_eq!(out, "  ┆ 漢字漢字漢字漢\n  ┆ 字漢字漢字\n");
}

#[test]
fn a_pile_of_marks_is_spelled_out() {
    let out = laid_out(Section::Output, 200, &format!("e{}", "\u{301}".repeat(6)));
    assert_eq!(out, format!("  ┆ e{}{}\n", "\u{301}".repeat(4), r"\u{301}\u{301}"));
}

#[test]
fn a_row_that_was_begun_is_broken_where_the_window_ends_now() {
    let mut foreign = of(Section::Output);
    let out = foreign.feed(&"x".repeat(50), 100) + &foreign.feed("yz", 20);
    assert_eq!(out, format!("  ┆ {}\n  ┆ yz", "x".repeat(50)));
}

#[test]
fn colours_are_taken_back_at_the_end_of_a_row_and_set_again_after_the_mark() {
    let out = laid_out(Section::Printed, 40, "a\u{1b}[31mb\nc\u{1b}[8m\u{1b}[0md");
    assert_eq!(out, "  ┆ a\u{1b}[0;31mb\u{1b}[0m\n  ┆ \u{1b}[0;31mc\u{1b}[0md\n");
    // Nobody but a program has colours of its own.
    for section in [Section::Prose, Section::Code(Syntax::default()), Section::Output] {
        let out = laid_out(section, 40, "\u{1b}[31mb");
        assert!(out.contains(r"\u{1b}[31mb"), "{out:?}");
    }
    let mut plain = Foreign::new(Section::Printed, widths(), Style::PLAIN);
    assert_eq!(plain.feed("a\u{1b}[31mb", 40) + &plain.end(40), "  ┆ ab\n");
}

#[test]
fn a_return_draws_the_row_again_behind_its_mark() {
    let mut foreign = of(Section::Printed);
    assert_eq!(foreign.feed("10 % …", 40), "  ┆ 10 % …");
    assert_eq!(foreign.feed("\r20", 40), format!("{CLEAR}  ┆ 20 % …"));
    // However often it came in one piece, the row is drawn once.
    assert_eq!(foreign.feed("\r30\r40\r50\u{1b}[K", 40), format!("{CLEAR}  ┆ 50"));
    assert_eq!(foreign.feed("\r\ndone\n", 40), "\n  ┆ done\n");
}

#[test]
fn where_nothing_is_drawn_again_the_first_and_the_last_state_are_shown() {
    let mut plain = Foreign::new(Section::Printed, widths(), Style::PLAIN);
    let pieces = ["10 %", "\r20 %", "\r30 %", "\n", "ok\r\n"];
    let out: String = pieces.iter().map(|piece| plain.feed(piece, 40)).collect();
    assert_eq!(out + &plain.end(40), "  ┆ 10 %\n  ┆ 30 %\n  ┆ ok\n");
}

#[test]
fn a_narrower_window_leaves_the_old_row_standing() {
    let mut foreign = of(Section::Printed);
    foreign.feed(&"x".repeat(50), 100);
    assert_eq!(foreign.feed("\ry", 30), format!("\n  ┆ y{}", "x".repeat(23)));
}

#[test]
fn words_stay_whole_where_they_fit() {
    let out = laid_out(Section::Thoughts, 16, "some words and averylongwordindeed go on");
    let rows: Vec<String> = shown(&out).0.iter().map(|row| row.trim_end().to_owned()).collect();
    assert_eq!(rows, ["  some words", "  and", "  averylongword", "  indeed go on"]);
}

/// The rows as a terminal shows them, and the ink at the end of each. Panics if the text holds any
/// sequence but those that we write.
fn shown(out: &str) -> (Vec<String>, Vec<bool>) {
    let (mut rows, mut inks) = (Vec::new(), Vec::new());
    let (mut row, mut painted, mut rest) = (String::new(), false, out);
    while let Some(c) = rest.chars().next() {
        if let Some(more) = rest.strip_prefix(CLEAR) {
            assert!(!painted, "{out:?}");
            row.clear();
            rest = more;
            continue;
        }
        if let Some(more) = rest.strip_prefix("\u{1b}[0") {
            let (parameters, more) = more.split_once('m').unwrap();
            let known = |one: &str| {
                matches!(one, "1" | "2" | "3" | "4" | "7" | "9")
                    || matches!(one, "31" | "32" | "33" | "34" | "35" | "36")
            };
            assert!(parameters.split(';').skip(1).all(known), "{out:?}");
            assert!(!row.is_empty(), "painted before the mark: {out:?}");
            painted = !parameters.is_empty();
            rest = more;
            continue;
        }
        assert!(c == '\n' || !c.is_control(), "{out:?}");
        rest = &rest[c.len_utf8()..];
        if c == '\n' {
            rows.push(std::mem::take(&mut row));
            inks.push(painted);
        } else {
            row.push(c);
        }
    }
    if !row.is_empty() {
        rows.push(row);
        inks.push(painted);
    }
    (rows, inks)
}

/// A terminal that lays everything out anew at another width, as most do.
fn reflowed(rows: &[String], columns: usize) -> Vec<String> {
    let mut all = Vec::new();
    for line in rows {
        let (mut row, mut taken) = (String::new(), 0);
        for c in line.chars() {
            let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
            if taken + wide > columns {
                all.push(std::mem::take(&mut row));
                taken = 0;
            }
            row.push(c);
            taken += wide;
        }
        all.push(row);
    }
    all
}

fn tricky() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        Just(MARK.to_string()),
        Just("❚ Run it?  y run".to_owned()),
        Just(" ".repeat(17)),
        Just("\u{302e}\u{3248}漢\u{bbe}".to_owned()),
        Just("\r\n\t\u{1b}[2K\u{202e}".to_owned()),
        Just("👩\u{200d}👩\u{200d}👧".to_owned()),
        "\u{1b}\\[[0-9;:]{0,8}[mKJH]",
        "\r[a-z%]{0,12}",
        "\n(#|-|>|1\\.|\\|) [a-z*`~ ]{0,12}",
        "[*`~\\[\\]()|_$\\\\!a-c\n -]{0,24}",
        "\n\\|[a-c|:-]{0,12}\\|\n\\|--\\|--\\|\n\\|[a-c |]{0,20}\n",
        "[\"'#/*a-c\n ={}-]{0,16}",
    ];
    prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

fn section() -> impl Strategy<Value = Section> {
    prop::sample::select(vec![
        Section::Prose,
        Section::Thoughts,
        Section::Code(Syntax::of("python")),
        Section::Code(Syntax::of("js")),
        Section::Printed,
        Section::Diff,
        Section::Told,
        Section::Output,
    ])
}

proptest! {
    #[test]
    fn no_row_begins_as_ours_do_whatever_the_window_does(
        section in section(),
        pieces in prop::collection::vec((tricky(), 1_usize..140), 1..6),
        after in prop::collection::vec(1_usize..140, 0..4),
    ) {
        let mut foreign = of(section);
        let mut out = String::new();
        for (text, columns) in &pieces {
            out.push_str(&foreign.feed(text, *columns));
            out.push_str(&foreign.settle(*columns));
            // Whatever is written next is not painted.
            prop_assert!(!shown(&out).1.last().copied().unwrap_or(false), "{out:?}");
        }
        out.push_str(&foreign.end(40));
        let (rows, inks) = shown(&out);
        // Each row has the mark of foreign text when it is written, and takes its colours back,
        prop_assert!(rows.iter().all(|row| row.starts_with(section.mark())), "{out:?}");
        prop_assert!(inks.iter().all(|painted| !painted), "{out:?}");
        // and whatever becomes of it, none can begin with the mark of ours.
        for columns in after {
            for row in reflowed(&rows, columns) {
                prop_assert!(!row.contains(MARK), "{row:?}");
            }
        }
    }

    #[test]
    fn no_row_is_wider_than_the_window(
        section in section(), text in tricky(), columns in 8_usize..140,
    ) {
        for row in shown(&laid_out(section, columns, &text)).0 {
            let wide: usize = row.chars().map(|c| widths().most(c)).sum();
            prop_assert!(wide < columns, "{row:?} {wide} {columns}");
        }
    }

    #[test]
    fn pieces_do_not_matter(
        section in section(), text in tricky(), cut in any::<prop::sample::Index>(),
    ) {
        let at: Vec<_> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
        let cut = at[cut.index(at.len())];
        let mut foreign = of(section);
        let out = foreign.feed(&text[..cut], 30)
            + &foreign.feed(&text[cut..], 30)
            + &foreign.end(30);
        // Where the text was cut, the ink is taken back and set again, or a row is drawn twice.
        prop_assert_eq!(shown(&out).0, shown(&laid_out(section, 30, &text)).0);
    }

    #[test]
    fn code_is_shown_as_it_is(text in tricky(), name in prop::sample::select(vec!["python", "js", "sh", "x"])) {
        let section = Section::Code(Syntax::of(name));
        let out = laid_out(section, 1 << 20, &text);
        let expected = interpreter_core::Untrusted::new(text).for_terminal();
        let mut plain = Foreign::new(Section::Output, widths(), Style::PLAIN);
        let plain = plain.feed(&expected, 1 << 20) + &plain.end(1 << 20);
        let bare = |rows: Vec<String>| -> Vec<String> {
            rows.iter().map(|row| row.chars().skip(4).collect()).collect()
        };
        prop_assert_eq!(bare(shown(&out).0), bare(shown(&plain).0));
    }

    #[test]
    fn prose_loses_no_letter(text in "[a-z0-9*`~\\[\\]()|_$\\\\!#>\n .:-]{0,120}") {
        let sorted = |text: &str| -> Vec<char> {
            let mut all: Vec<_> = text.chars().filter(char::is_ascii_alphanumeric).collect();
            all.sort_unstable();
            all
        };
        let out = laid_out(Section::Prose, 50, &text);
        prop_assert_eq!(sorted(&shown(&out).0.concat()), sorted(&text), "{:?}", out);
    }
}
