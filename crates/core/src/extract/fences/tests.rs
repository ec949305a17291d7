//! Fences and look-alikes; neither chunking nor size matters.

use super::*;
use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// The parts of a text that arrives in the given pieces, with neighbours joined.
fn parts<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<FencePiece> {
    let mut fences = Fences::default();
    let mut joined = Pieces::default();
    let mut add = |parts: Vec<FencePiece>| {
        for part in parts {
            match part {
                FencePiece::Text(text) => joined.push(Side::Text, &text),
                FencePiece::Code(code) => joined.push(Side::Code, &code),
                FencePiece::Open { .. } | FencePiece::Close(_) => joined.0.push(part),
            }
        }
    };
    for piece in pieces {
        add(fences.feed(piece));
    }
    add(fences.finish());
    joined.0
}

fn one_by_one(text: &str) -> Vec<FencePiece> {
    parts(text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]))
}

/// The parts on one line: text as it is, `<tag|code>` for a block, with `<tag|code!` if it has no
/// closing fence and `<tag|code^` if its list item cuts it short.
fn sketch(text: &str) -> String {
    let whole = parts([text]);
    assert_eq!(one_by_one(text), whole, "in pieces: {text:?}");
    whole.into_iter().fold(String::new(), |sketch, part| match part {
        FencePiece::Text(text) => sketch + &text,
        FencePiece::Open { tag } => format!("{sketch}<{}|", tag.unwrap_or_default()),
        FencePiece::Code(code) => sketch + &code,
        FencePiece::Close(Ending::Fenced) => sketch + ">",
        FencePiece::Close(Ending::EndOfItem) => sketch + "^",
        FencePiece::Close(Ending::EndOfReply) => sketch + "!",
    })
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(sketch(text), *expected, "{text:?}");
    }
}

#[test]
fn fences_open_and_close_by_the_rules() {
    check(&[
        ("", ""),
        ("hi", "hi"),
        ("```python\nx = 1\n```\n", "<python|x = 1\n>"),
        ("```python\nx = 1\n```", "<python|x = 1\n>"),
        ("a\n```py\nx\n```\nb\n", "a\n<py|x\n>b\n"),
        ("~~~sh\nls\n~~~\n", "<sh|ls\n>"),
        // No words, no content.
        ("```\n```\n", "<|>"),
        ("```", "<|!"),
        ("```python", "<python|!"),
        ("```python\n", "<python|!"),
        // Both kinds, and lengths.
        ("```\n~~~\n```\n", "<|~~~\n>"),
        ("~~~\n```\n~~~\n", "<|```\n>"),
        ("````md\n```py\nx\n```\n````\n", "<md|```py\nx\n```\n>"),
        ("```\nx\n`````\n", "<|x\n>"),
        ("`````\nx\n```\n", "<|x\n```\n!"),
        // Not enough of them.
        ("``\nx\n``\n", "``\nx\n``\n"),
        ("~~\nx\n", "~~\nx\n"),
        ("```\nx\n``\n```\n", "<|x\n``\n>"),
        // A closing fence has nothing after it but blanks.
        ("```\nx\n``` \t \ny", "<|x\n>y"),
        ("```\nx\n``` y\n```\n", "<|x\n``` y\n>"),
        ("```\nx\n```python\n```\n", "<|x\n```python\n>"),
        ("```\nx\n``` `\n```\n", "<|x\n``` `\n>"),
        ("```\nx```\n```\n", "<|x```\n>"),
        // Backticks in prose.
        ("use ```x``` here\n", "use ```x``` here\n"),
        ("```x``` is a span\n", "```x``` is a span\n"),
        ("``` a`b\nx\n", "``` a`b\nx\n"),
        ("say ```\nx\n", "say ```\nx\n"),
        ("~~~ a`b ~\nx\n~~~\n", "<a`b|x\n>"),
    ]);
}

#[test]
fn the_end_may_come_anywhere() {
    check(&[
        ("```py\nx\n``", "<py|x\n``!"),
        ("```py\nx\n`", "<py|x\n`!"),
        ("```py\nx\n```  ", "<py|x\n>"),
        ("```py\nx\n  ", "<py|x\n  !"),
        ("```py\nx", "<py|x!"),
        ("```py\r", "<py|!"),
        ("``", "``"),
        ("`", "`"),
        ("a\n   ", "a\n   "),
        ("- ", "- "),
        ("a `", "a `"),
    ]);
}

#[test]
fn indentation_is_taken_as_far_as_the_fence_had_it() {
    check(&[
        ("   ```py\n   x\n     y\n z\n   ```\n", "<py|x\n  y\nz\n>"),
        ("    ```py\n    x\n", "    ```py\n    x\n"),
        ("\t```py\n", "\t```py\n"),
        ("```py\nif a:\n\tb\n    ```\n```\n", "<py|if a:\n\tb\n    ```\n>"),
        ("  ```py\n\tx\n  ```\n", "<py|  x\n>"),
        ("```py\n   ```\n", "<py|>"),
        ("```py\n\n \n\n```\n", "<py|\n \n\n>"),
        ("  ```py\n\n \n   \n  ```\n", "<py|\n\n \n>"),
        // A paragraph goes on, so this is no fence.
        ("a\n     ```py\nb\n", "a\n     ```py\nb\n"),
    ]);
}

#[test]
fn line_ends_are_kept_as_they_came() {
    check(&[
        ("a\r\n```py\r\nx\r\ny\r\n```\r\nb\r\n", "a\r\n<py|x\r\ny\r\n>b\r\n"),
        ("a\r```py\rx\r```\rb\r", "a\r<py|x\r>b\r"),
        ("```py\r\n\r\n```\r\n\r\n", "<py|\r\n>\r\n"),
        ("```py\nx\r\r\n```", "<py|x\r\r\n>"),
        ("``\r\n", "``\r\n"),
    ]);
}

#[test]
fn fences_in_lists_are_indented_with_their_item() {
    check(&[
        ("- a:\n  ```py\n  x\n    y\n  ```\n- b\n", "- a:\n<py|x\n  y\n>- b\n"),
        ("1. a:\n   ```sh\n   ls\n   ```\n2. b\n", "1. a:\n<sh|ls\n>2. b\n"),
        ("10) a:\n\n    ```sh\n    ls\n    ```\n", "10) a:\n\n<sh|ls\n>"),
        ("- a:\n\n    ```sh\n    ls\n    ```\n", "- a:\n\n<sh|ls\n>"),
        // On the marker's own line.
        ("- ```py\n  x\n  ```\n", "- <py|x\n>"),
        ("- 1. ```py\n     x\n     ```\n", "- 1. <py|x\n>"),
        ("-\t```py\n\tx\n\t```\n", "-\t<py|x\n>"),
        // Items in items.
        ("- a\n  - b\n    - c\n      ```py\n      x\n      ```\n", "- a\n  - b\n    - c\n<py|x\n>"),
        // Empty lines need no indentation, and lose all of it.
        ("- a\n  ```py\n  x\n\n \n   \n  ```\n", "- a\n<py|x\n\n\n \n>"),
        // A tab that the item takes half of.
        ("- a\n\n\t```py\n\tx\n  \ty\n\t```\n", "- a\n\n<py|x\ny\n>"),
        ("- a\n  ```py\n\tx\n  \ty\n  ```\n", "- a\n<py|  x\n\ty\n>"),
        // A line that goes on lazily does not end the item.
        ("- a\nb\n    ```py\n    x\n    ```\n", "- a\nb\n<py|x\n>"),
        // After the list, indentation means something else again.
        ("- a\n\nb\n\n    ```py\n", "- a\n\nb\n\n    ```py\n"),
        ("- a\n\n      ```py\n", "- a\n\n      ```py\n"),
        ("-\n\n    ```py\n", "-\n\n    ```py\n"),
        ("-\n    ```py\n    x\n    ```\n", "-\n<py|x\n>"),
        // These are no items.
        ("* * *\n    ```py\n", "* * *\n    ```py\n"),
        ("1986 a\n     ```py\n", "1986 a\n     ```py\n"),
        ("a\n2. b\n    ```py\n", "a\n2. b\n    ```py\n"),
        ("-a\n    ```py\n", "-a\n    ```py\n"),
        ("a\n-\n    ```py\n", "a\n-\n    ```py\n"),
        ("-```py\nx\n", "-```py\nx\n"),
        ("1234567890. a\n    ```py\n", "1234567890. a\n    ```py\n"),
    ]);
}

#[test]
fn a_line_that_leaves_the_item_ends_the_block() {
    check(&[
        ("- a\n  ```py\n  x\ny\n", "- a\n<py|x\n^y\n"),
        ("- a\n  ```py\n  x\n```\nb\n", "- a\n<py|x\n^<|b\n!"),
        ("- ```py\n- ```sh\n  ls\n  ```\n", "- <py|^- <sh|ls\n>"),
        ("1. a\n   ```py\n  x\n", "1. a\n<py|^  x\n"),
    ]);
}

#[test]
fn quotes_are_prose() {
    check(&[
        ("> ```py\n> x\n> ```\n", "> ```py\n> x\n> ```\n"),
        ("- > ```py\n  > x\n  ```sh\n  ls\n  ```\n", "- > ```py\n  > x\n<sh|ls\n>"),
        (">```py\n```sh\nls\n```\n", ">```py\n<sh|ls\n>"),
        ("> - a\n    ```py\n", "> - a\n    ```py\n"),
    ]);
}

#[test]
fn only_what_is_undecided_is_held_back() {
    let mut fences = Fences::default();
    let mut gives = |piece: &str, expected: &[FencePiece]| {
        assert_eq!(fences.feed(piece), expected, "{piece:?}");
    };
    let text = |text: &str| FencePiece::Text(text.into());
    let code = |code: &str| FencePiece::Code(code.into());
    gives("Hel", &[text("Hel")]);
    gives("lo\n", &[text("lo\n")]);
    gives(" ``", &[]);
    gives("`py", &[]);
    gives("thon\n", &[FencePiece::Open { tag: Some("python".into()) }]);
    gives("x", &[code("x")]);
    gives(" = `", &[code(" = `")]);
    gives("1`\n", &[code("1`\n")]);
    gives("  ", &[]);
    gives("y", &[code(" y")]);
    gives("\n``", &[code("\n")]);
    gives("x", &[code("``x")]);
    gives("\n```", &[code("\n")]);
    gives("\r", &[FencePiece::Close(Ending::Fenced)]);
    gives("\n", &[]);
    gives("-", &[]);
    gives(" b", &[text("- b")]);
    gives("\n``", &[text("\n")]);
    gives("c", &[text("``c")]);
    assert_eq!(fences.finish(), []);
}

#[test]
fn a_finished_scanner_can_be_used_again() {
    let mut fences = Fences::default();
    fences.feed("- a\n  ```py\n  x\r");
    fences.finish();
    assert_eq!(fences.feed("\n    ```"), [FencePiece::Text("\n    ```".into())]);
    assert_eq!(fences.finish(), []);
}

/// Fed by single characters: anything that looked at its past again would not come to an end.
#[test]
fn time_is_linear_in_the_text() {
    let many = 1 << 16;
    let deep = "- ".repeat(many);
    for text in [
        format!("```py\n{}```\n", "if x: y = 1 + 2\n".repeat(many)),
        "`".repeat(2 * many),
        format!("```\n{}", "`".repeat(2 * many)),
        format!("```\n{}", "```x\n".repeat(many / 2)),
        "words and ```more``` words\n".repeat(many / 16),
        " ".repeat(2 * many),
        format!("{deep}x{}", "\n".repeat(many)),
        format!("{deep}\n{}", "\n".repeat(many)),
        format!("{deep}+\n{}x", " ".repeat(2 * many)),
        format!("{deep}x\n{}", "y\n".repeat(many)),
        format!("{deep}```\n{}", "\n".repeat(many)),
        format!("{deep}```\n{}```\n{}y", " ".repeat(2 * many), " ".repeat(2 * many)),
        "> ".repeat(many),
        "1".repeat(2 * many),
        "\t".repeat(many) + "```",
    ] {
        assert!(!one_by_one(&text).is_empty());
    }
}

/// The fenced blocks that another parser finds, outside of block quotes.
#[expect(clippy::wildcard_enum_match_arm, reason = "only code blocks are compared")]
fn oracle(text: &str) -> Vec<(Option<String>, String)> {
    let mut blocks = Vec::new();
    let (mut quotes, mut inside) = (0, false);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if quotes == 0 => {
                inside = true;
                blocks.push((tag(&info), String::new()));
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(text) if inside => {
                blocks.last_mut().expect("a block has begun").1.push_str(&text);
            }
            _ => {}
        }
    }
    blocks
}

fn ours(text: &str) -> Vec<(Option<String>, String)> {
    let mut blocks = Vec::new();
    for part in parts([text]) {
        match part {
            FencePiece::Open { tag } => blocks.push((tag, String::new())),
            FencePiece::Code(code) => {
                let last = blocks.last_mut().expect("a block has begun");
                last.1 = code.replace("\r\n", "\n");
            }
            FencePiece::Text(_) | FencePiece::Close(_) => {}
        }
    }
    blocks
}

/// Lines as models write them, and as they do not.
fn markdown() -> impl Strategy<Value = String> {
    let indent = prop_oneof![
        4 => Just(String::new()),
        4 => (0..9_usize).prop_map(|count| " ".repeat(count)),
        1 => "[ \t]{0,3}",
    ];
    let marker = prop_oneof![
        6 => Just(""),
        4 => prop::sample::select(vec!["- ", "* ", "+   ", "1. ", "2) ", "10. ", "-\t", "-", "3."]),
        1 => prop::sample::select(vec!["- - ", "* 1. ", "> a ", "- > a ", "> - a ", "-      "]),
    ];
    let content = prop_oneof![
        4 => prop::sample::select(vec!["```", "```python", "``` py x", "~~~", "~~~sh", "````"]),
        1 => prop::sample::select(vec!["``", "`a`", "```a``` b", "``` ", "~~~~~ x ~", "`````"]),
        4 => prop::sample::select(vec!["words", "x = 1", "", " ", "let it be"]),
        1 => prop::sample::select(vec!["---", "===", "* * *", "# a", "#a", "-", "1.", "**b**"]),
    ];
    let end = prop_oneof![9 => Just("\n"), 1 => Just("\r\n")];
    let line = (indent, marker, content, end)
        .prop_map(|(indent, marker, content, end)| format!("{indent}{marker}{content}{end}"));
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.concat())
}

/// Any text, with more of what matters here than chance would give.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[`~ \t\r\n>x1.)*=#-]{0,60}",
        "[`\n x-]{0,60}",
        markdown().prop_map(|text| text.trim_end().into()),
        markdown(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn another_parser_finds_the_same_blocks(text in markdown()) {
        prop_assert_eq!(ours(&text), oracle(&text), "{}", text);
    }

    #[test]
    fn pieces_do_not_matter(
        text in any_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let whole = parts([text.as_str()]);
        prop_assert_eq!(&one_by_one(&text), &whole);
        let places = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect::<Vec<_>>();
        let mut cuts = cuts.iter().map(|cut| places[cut.index(places.len())]).collect::<Vec<_>>();
        cuts.sort_unstable();
        let mut at = 0;
        let mut pieces = Vec::new();
        for cut in cuts.into_iter().chain([text.len()]) {
            pieces.push(&text[at..cut]);
            at = cut;
        }
        prop_assert_eq!(parts(pieces), whole);
    }

    #[test]
    fn blocks_open_and_close_in_turn(text in any_text()) {
        let mut open = false;
        for part in parts([text.as_str()]) {
            match part {
                FencePiece::Text(_) => prop_assert!(!open),
                FencePiece::Code(_) => prop_assert!(open),
                FencePiece::Open { .. } => prop_assert!(!std::mem::replace(&mut open, true)),
                FencePiece::Close(_) => prop_assert!(std::mem::replace(&mut open, false)),
            }
        }
        prop_assert!(!open);
    }
}
