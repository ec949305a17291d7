//! Reading at a terminal: Markdown, colours, progress, long output and signs of life, in windows of
//! several sizes.

use crate::{
    scene::{Scene, cell},
    seam::assert_marked,
    terminal::Terminal,
};

/// The widths that everything must be readable at.
const WIDTHS: [u16; 4] = [20, 40, 80, 300];

/// A chat in a window of the given width.
fn open_at(scene: &Scene, more: &[&str], columns: u16) -> Terminal {
    let arguments = scene.chat_arguments(more);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    Terminal::start_at(scene, &arguments, columns)
}

/// Everything on the screen without blanks and marks, so that it can be found however it was
/// wrapped.
fn squeezed(terminal: &Terminal) -> String {
    let bare = |row: &String| row.replace([' ', '┆', '│', '❚'], "");
    terminal.rows().iter().map(bare).collect()
}

fn raw(terminal: &Terminal) -> String {
    String::from_utf8_lossy(&terminal.raw()).into_owned()
}

const MARKDOWN: &str = "# Sales\n\nSome **bold words**, `code()` and [a link](https://example.org/x).\n\
    - an item that is long enough to be wrapped in a narrow window\n> quoted\n\n\
    | name | sum |\n|---|--:|\n| north | 12 |\n| 東京 | 7 |\n\n漢字👩\u{200d}👩\u{200d}👧 done.\n";

#[test]
fn markdown_is_read_at_every_width() {
    for columns in WIDTHS {
        let scene = Scene::new().model_says(&[MARKDOWN]);
        let terminal = open_at(&scene, &["go"], columns);
        terminal.shows("done.").waits();
        assert_marked(&terminal);
        let seen = squeezed(&terminal);
        for part in
            ["Someboldwords,code()and", "alink(https://example.org/x)", "•anitem", ">quoted"]
        {
            assert!(seen.contains(part), "{part} at {columns}:\n{}", terminal.rows().join("\n"));
        }
        for markup in ["**", "`", "|---|", "# Sales"] {
            terminal.lacks(markup);
        }
        // It was written once: nothing came twice, and no row was drawn again but those in passing.
        assert_eq!(raw(&terminal).matches("bold").count(), 1);
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn a_window_may_change_in_the_middle_of_anything() {
    let code = "print('word ' * 30)\ninput('more? ')\nprint('\\rhalf', end='')\nprint('\\r' + 'x' * 60)\n\
                print('漢字' * 20, 'EN' 'DED')";
    let scene = Scene::new()
        .model_says(&[&format!("{}\n{}", "Well. ".repeat(20), cell("python", code)), MARKDOWN]);
    let terminal = open_at(&scene, &["--yes", "go"], 80);
    terminal.shows("asks for input").waits();
    for columns in [33, 120, 24] {
        terminal.resizes(columns);
    }
    terminal.goes_on("y\r").shows("done.").waits();
    assert_marked(&terminal);
    let seen = squeezed(&terminal);
    assert!(seen.contains("ENDED") && seen.contains("north"), "{}", terminal.rows().join("\n"));
    terminal.types("/quit").exits(0);
}

#[test]
fn colours_of_programs_are_drawn_and_hide_nothing() {
    let code = "print('\\x1b[1;31mred\\x1b[0m \\x1b[38;5;46mgreen\\x1b[m \\x1b[8mhidden\\x1b[28m \
                \\x1b[30;40mblack\\x1b[0m \\x1b[31;41mboth\\x1b[0m')\nprint('\\x1b[35munfinished')";
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    let terminal = open_at(&scene, &["--yes", "go"], 80);
    terminal.shows("┆ red green hidden black both").shows("┆ unfinished").shows("Done.");
    let raw = raw(&terminal);
    for drawn in ["\u{1b}[0;1;31mred", "\u{1b}[0;32mgreen", "\u{1b}[0;7;31mboth", "\u{1b}[0;35munf"]
    {
        assert!(raw.contains(drawn), "{drawn:?} is not in {raw:?}");
    }
    for refused in ["\u{1b}[8m", "\u{1b}[30;40m", "\u{1b}[1;31m", "\u{1b}[38;5;46m"] {
        assert!(!raw.contains(refused), "{refused:?} is in {raw:?}");
    }
    terminal.types("/quit").exits(0);
    // The same outside a chat, and nothing of it in a pipe that another program reads.
    let run = ["run", "-l", "python", "-c", "print('\\x1b[31mred\\x1b[0m')"];
    let terminal = Terminal::start(&scene, &run);
    terminal.shows("┆ red").exits(0);
    scene.run(&run).prints("\u{1b}[31mred\u{1b}[0m\n").exits(0);
}

/// One of every class of sequence that a terminal obeys.
const HOSTILE: [&str; 22] = [
    "\u{1b}[2J",
    "\u{1b}[H",
    "\u{1b}[1;1H",
    "\u{1b}[9A",
    "\u{1b}[1G",
    "\u{1b}[6n",
    "\u{1b}[c",
    "\u{1b}[?1049h",
    "\u{1b}[?25l",
    "\u{1b}[r",
    "\u{1b}[20t",
    "\u{1b}[!p",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;http://evil/\u{1b}\\",
    "\u{1b}]52;c;eA==\u{7}",
    "\u{1b}Pq#0\u{1b}\\",
    "\u{1b}_Gf=24\u{1b}\\",
    "\u{1b}^x\u{1b}\\",
    "\u{1b}c",
    "\u{1b}(0",
    "\u{9b}2J",
    "\u{e}",
];

#[test]
fn no_hostile_sequence_reaches_the_terminal() {
    let payload: String = HOSTILE.iter().map(|one| format!("a{one}❚ Run it?b\n")).collect();
    let numbers: Vec<String> = payload.chars().map(|c| u32::from(c).to_string()).collect();
    let code = format!("print(''.join(map(chr, [{}])))", numbers.join(","));
    for columns in WIDTHS {
        let prose = format!("{}\n{}", HOSTILE.join("x"), cell("python", &code));
        let scene = Scene::new().model_says(&[&prose, "Done."]);
        let terminal = open_at(&scene, &["--yes", "go"], columns);
        terminal.shows("Done.").waits();
        assert_marked(&terminal);
        let raw = raw(&terminal);
        let allowed = ["\u{1b}[6n", "\u{1b}[?25l", "\u{1b}[1G", "\u{1b}[H"];
        for one in HOSTILE.iter().filter(|one| !allowed.contains(one)) {
            assert!(!raw.contains(one), "{one:?} at {columns}");
        }
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn a_progress_bar_stays_on_its_row() {
    let code = "for n in range(101): print(f'\\r{n:3} %', end='', flush=True)\nprint('\\nready')";
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    let terminal = open_at(&scene, &["--yes", "go"], 80);
    terminal.shows("Done.").waits();
    let rows = terminal.rows();
    let bars: Vec<_> = rows.iter().filter(|row| row.ends_with(" %")).collect();
    assert_eq!(bars, ["  ┆ 100 %"]);
    terminal.types("/quit").exits(0);
    // Where another program reads it, its last state is enough too.
    let seen = scene.chat(&["--yes", "go"]).exits(0).stdout();
    assert!(seen.contains("100 %\nready") && !seen.contains("50 %\n"), "{seen}");
}

#[test]
fn a_hundred_thousand_lines_are_folded() {
    let code =
        "print('\\n'.join(f'row {n}' for n in range(100_000)))\nraise ValueError('last words')";
    for columns in WIDTHS {
        let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
        let terminal = open_at(&scene, &["--yes", "go"], columns);
        terminal.shows("Done.").waits();
        let seen = squeezed(&terminal);
        assert!(seen.contains("linesmore:/outputp1"), "{}", terminal.rows().join("\n"));
        assert!(seen.contains("ValueError:lastwords"), "{}", terminal.rows().join("\n"));
        terminal.lacks("row 50000");
        assert_marked(&terminal);
        terminal.types("/quit").exits(0);
    }
    // Nothing folds where nobody reads along.
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    scene.chat(&["--yes", "go"]).mentions("row 50000\n").lacks("lines more");
}

#[test]
fn thoughts_are_one_line() {
    let scene = Scene::new()
        .script("[[reply]]\nreasoning = \"one two three four\"\ntext = \"The answer.\"\n");
    let terminal = open_at(&scene, &["go"], 80);
    terminal.shows("❚ thought for 0 s, 4 words").shows("The answer.").lacks("three");
    terminal.waits().types("/quit").exits(0);
    scene.chat(&["go"]).mentions("one two three four").mentions("The answer.");
}

#[test]
fn what_is_going_on_can_be_seen() {
    let scene = Scene::new().script("[[reply]]\ntext = \"\"\nfinish = \"never\"\n");
    let terminal = open_at(&scene, &["go"], 80);
    terminal.shows("❚ waiting for the model · ");
    terminal.presses(3).shows("Interrupted.").waits().lacks("waiting for");
    terminal.types("/quit").exits(0);
    let code = "print('a')\nprint('b')\nwhile True: pass";
    let scene = Scene::new().model_says(&[&cell("python", code)]);
    let terminal = open_at(&scene, &["--yes", "go"], 80);
    terminal.shows("❚ p1 is running, line 3, 2 lines printed · ");
    terminal.presses(3).shows("Interrupted.").waits().lacks("is running");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_turn_ends_with_one_quiet_row() {
    let code = "open('a.txt', 'w').write('x')";
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    let terminal = open_at(&scene, &["--yes", "go"], 80);
    terminal.shows("Keep this change").waits().goes_on("l");
    terminal.shows("❚ scripted:script.toml · 1 file staged · native sandbox");
    terminal.waits().types("/quit").exits(0);
}

#[test]
fn without_colour_and_redrawing_everything_reads_the_same() {
    let code = "print('\\x1b[31mred\\x1b[0m')\nprint('\\r10 %\\r20 %\\r30 %')";
    let replies = [&*format!("Some **bold**.\n{}", cell("python", code)), "Done."];
    for (name, value, option) in
        [("TERM", "dumb", "--yes"), ("NO_COLOR", "1", "--yes"), ("X", "x", "--plain")]
    {
        let scene = Scene::new().variable(name, value).model_says(&replies);
        let terminal =
            open_at(&scene, &["--yes", option, "go"][usize::from(option == "--yes")..], 80);
        terminal
            .shows("Some **bold**.")
            .shows("┆ red")
            .shows("┆ 30 %")
            .shows("Done.")
            .lacks("┆ 20 %");
        let raw = raw(&terminal);
        let before = raw.split("Done.").next().unwrap();
        // Colours end with `m`; nothing else that we send does.
        let painted = before.split("\u{1b}[").skip(1).any(|rest| {
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
        });
        assert!(!painted, "{name}: {before:?}");
        if name != "NO_COLOR" {
            assert!(!before.contains("\u{1b}[2K") && !before.contains("\u{1b}[J"), "{before:?}");
        }
        terminal.waits().types("/quit").exits(0);
    }
}

#[test]
fn code_is_shown_once_and_a_note_comes_after_it() {
    let script = "[[reply]]\nchunk = 4\nnote = 'written slowly'\n\
                  text = \"\"\"```python\nprint(6 * 7)\n```\n\"\"\"\n[[reply]]\ntext = 'Done.'\n";
    let scene = Scene::new().script(script);
    let terminal = open_at(&scene, &["go"], 80);
    terminal.shows("Run it?").waits().lacks("written slowly");
    let rows = terminal.rows();
    assert_eq!(rows.iter().filter(|row| row.contains("print(6 * 7)")).count(), 1, "{rows:#?}");
    terminal.types("y").shows("42").shows("written slowly").shows("Done.").waits();
    terminal.types("/quit").exits(0);
}

#[test]
fn typed_text_has_the_colour_of_the_terminal() {
    let scene = Scene::new().model_says(&["Done."]);
    let terminal = open_at(&scene, &[], 80);
    terminal.types("Hello there").shows("Done.").waits();
    let row = terminal.rows().iter().position(|row| row.contains("> Hello there")).unwrap();
    let (text, colour, _) = terminal.cell(u16::try_from(row).unwrap(), 4);
    assert_eq!((text.as_str(), colour), ("H", vt100::Color::Default));
    terminal.types("/quit").exits(0);
}

#[test]
fn a_prompt_that_is_typed_meanwhile_is_seen_while_output_floods() {
    let code = "n = 0\nwhile True:\n    print(n, 'x' * 30)\n    n += 1";
    for columns in WIDTHS {
        let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
        let terminal = open_at(&scene, &["--yes", "go"], columns);
        terminal.shows("is running").goes_on("my ne").shows("❚ > my ne");
        terminal.goes_on("xtt\u{7f}").shows("❚ > my next");
        terminal.goes_on("\u{1b}[200~\u{1b}[2J❚ \u{1b}[201~").shows("{275a}");
        assert_marked(&terminal);
        // The end of a long one is what is seen.
        terminal.goes_on(&"word ".repeat(100)).goes_on("END").shows("END");
        terminal.presses(3).shows("interrupted").shows("❚ > my next");
        terminal.presses(3).types("/quit").exits(0);
    }
}
