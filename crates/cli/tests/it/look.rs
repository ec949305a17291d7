//! How a chat looks: its colours, what is folded, and what happens when the window changes.

use crate::{
    models::servers::Paced,
    scene::{Scene, cell},
    seam::assert_marked,
    terminal::Terminal,
};

const CONFIG: &str = ".config/interpreter/config.toml";

/// Keywords in the terminal's own colours, and in those for a light and a dark background.
const OWN: &str = "\u{1b}[0;35mfor";
const LIGHT: &str = "\u{1b}[0;38;5;127mfor";
const DARK: &str = "\u{1b}[0;38;5;176mfor";

const LOOP: &str = "for x in [1, 2]: print(x)";

fn raw(terminal: &Terminal) -> String {
    String::from_utf8_lossy(&terminal.raw()).into_owned()
}

/// A chat in a terminal that has many colours and tells this one as its background.
fn with_background(scene: &Scene, colour: &'static str) -> Terminal {
    let arguments = scene.chat_arguments(&["go"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    Terminal::answering(scene, &arguments, 100, move |written| {
        let is_asked = written.contains("\u{1b}]11;?");
        if is_asked { format!("\u{1b}]11;{colour}\u{1b}\\") } else { String::new() }
    })
}

fn colourful(replies: &[&str]) -> Scene {
    Scene::new().variable("COLORTERM", "truecolor").model_says(replies)
}

#[test]
fn colours_fit_the_background_that_the_terminal_tells() {
    let code = cell("python", LOOP);
    for (told, colours, others) in [
        ("rgb:ffff/ffff/ffff", LIGHT, [OWN, DARK]),
        ("rgb:1e1e/1e1e/1e1e", DARK, [OWN, LIGHT]),
        ("nonsense", OWN, [LIGHT, DARK]),
    ] {
        let scene = colourful(&[&code]);
        let terminal = with_background(&scene, told);
        terminal.shows("Run it?").waits().wrote(colours);
        let raw = raw(&terminal);
        assert!(others.iter().all(|other| !raw.contains(other)), "{told}: {raw:?}");
        // The answer was no key: nothing of it stands in a line.
        terminal.lacks("rgb").lacks("nonsense");
        terminal.types("n").waits().types("/quit").exits(0);
    }
    // One that is not asked, because it has sixteen colours, is drawn in those.
    let scene = Scene::new().model_says(&[&code]);
    let terminal = with_background(&scene, "rgb:ffff/ffff/ffff");
    terminal.shows("Run it?").waits().wrote(OWN);
    assert!(!raw(&terminal).contains("]11;?"));
    terminal.types("n").waits().types("/quit").exits(0);
}

#[test]
fn the_record_is_shown_in_the_colours_of_the_settings() {
    let scene = Scene::new().variable("COLORTERM", "truecolor");
    scene.code("python", LOOP).exits(0);
    let shown = |settings: &str| {
        scene.put(&scene.home().join(CONFIG), settings.as_bytes());
        let terminal = Terminal::start(&scene, &["history", "show"]);
        terminal.shows("print(x)").exits(0);
        raw(&terminal)
    };
    assert!(shown("theme = 'light'").contains(LIGHT));
    assert!(shown("theme = 'dark'").contains(DARK));
    assert!(!has_colour(&shown("theme = 'none'")));
    // Settings that cannot be read are no reason to hide the record.
    assert!(shown("not toml").contains(OWN));
}

#[test]
fn the_theme_can_be_changed_and_kept() {
    let scene = colourful(&["Hello."]);
    let terminal = with_background(&scene, "rgb:0000/0000/0000");
    terminal.shows("Hello.").waits();
    terminal.types("/theme").shows("Theme: auto (the terminal is dark).").wrote(DARK).waits();
    terminal.types("/theme light").shows("Theme: light.").wrote(LIGHT).waits();
    terminal.types("/theme pink").shows("takes `light`, `dark`, `auto` or `none`").waits();
    terminal.types("/theme none").shows("Theme: none.").waits();
    let before = raw(&terminal).len();
    terminal.types("/help theme").shows("[light|dark|auto|none]").waits();
    assert!(!has_colour(&raw(&terminal)[before..]));
    terminal.types("/quit").exits(0);

    let kept = colourful(&[&cell("python", LOOP)]).home_file(CONFIG, "theme = \"light\"\n");
    let terminal = with_background(&kept, "rgb:0000/0000/0000");
    terminal.shows("Run it?").waits().wrote(LIGHT);
    // It need not be asked.
    assert!(!raw(&terminal).contains("]11;?"));
    terminal.types("n").waits().types("/quit").exits(0);
}

/// Whether anything is drawn in a colour or with an attribute. To take both back is neither.
fn has_colour(written: &str) -> bool {
    written.split("\u{1b}[").skip(1).any(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(rest.len());
        rest[end..].starts_with('m') && !matches!(&rest[..end], "" | "0")
    })
}

#[test]
fn without_colour_the_line_that_is_typed_has_none() {
    let scene = Scene::new().variable("NO_COLOR", "1").model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.waits().types("hi").shows("Hello.").waits();
    assert!(!has_colour(&raw(&terminal)), "{:?}", raw(&terminal));
    terminal.types("/quit").exits(0);
    // With colours, what is typed has that of the terminal: not white, which a light one hides.
    let scene = Scene::new().model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.waits().types("hi").shows("Hello.").waits();
    for colour in ["\u{1b}[37m", "\u{1b}[97m", "\u{1b}[92m", "\u{1b}[32m"] {
        assert!(!raw(&terminal).contains(colour), "{colour:?}");
    }
    terminal.types("/quit").exits(0);
}

#[test]
fn verbose_folds_nothing_and_says_so() {
    let code = "print('\\n'.join(f'row {n}' for n in range(300)))";
    let reply = |code: &str| {
        let text = cell("python", code).replace('\n', "\\n").replace('"', "\\\"");
        format!("[[reply]]\nreasoning = \"one two three\"\ntext = \"{text}\"\n")
    };
    let code = code.replace('\\', "\\\\");
    let script = format!(
        "{0}[[reply]]\ntext = \"First done.\"\n{0}[[reply]]\ntext = \"Second done.\"\n",
        reply(&code)
    );
    let scene = Scene::new().script(&script);
    let terminal = Terminal::open(&scene, &["--yes"]);
    terminal.waits().types("go").shows("First done.").waits();
    terminal.lacks("three").lacks("row 150").shows("lines more: /output p1");
    terminal
        .types("/verbose")
        .shows("Verbose: output, thoughts and lists are shown in full")
        .waits();
    let before = raw(&terminal).len();
    terminal.types("again").shows("Second done.").waits();
    let after = raw(&terminal)[before..].to_owned();
    for shown in ["three", "row 0", "row 150", "row 299", "verdict"] {
        assert!(after.contains(shown), "{shown}");
    }
    assert!(!after.contains("lines more"));
    terminal.types("/verbose off").shows("No longer verbose").waits().types("/quit").exits(0);
}

#[test]
fn the_code_of_a_call_has_its_colours_while_it_comes() {
    let arguments = "{\\\"language\\\": \\\"python\\\", \\\"code\\\": \\\"for x in y: pass\\\"}";
    for call in [
        format!("{{ name = \"execute\", arguments = \"{arguments}\" }}"),
        "{ language = \"python\", code = \"for x in y: pass\" }".to_owned(),
    ] {
        let scene = Scene::new().script(&format!("[[reply]]\nchunk = 1\ncall = {call}\n"));
        let terminal = Terminal::open(&scene, &["go"]);
        terminal.shows("Run it?").waits().wrote(OWN);
        // It was written once, while it came.
        assert_eq!(raw(&terminal).matches("pass").count(), 1);
        terminal.types("n").waits().types("/quit").exits(0);
    }
}

#[test]
fn what_did_not_run_is_told_as_it_is() {
    let two = format!("{}{}", cell("shell", "echo ONE"), cell("shell", "echo TWO"));
    let scene = Scene::new().model_says(&[&two]);
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Run it?").types("n").shows("Rejected. p1 did not run.");
    terminal.shows("not run either: the code after it in this reply").waits();
    terminal.types("/quit").exits(0);
    // One ran and the other did not.
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Run it?").types("y").shows("┆ ONE").shows("Run it?");
    terminal.types("n").shows("Rejected. p2 did not run.").waits().lacks("Nothing");
    terminal.types("/quit").exits(0);
    // A reply that was stopped.
    let script = "[[reply]]\ntext = \"```sh\\necho NO\\n```\\nWell\"\nfinish = \"never\"\n";
    let scene = Scene::new().script(script);
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Well").presses(3).shows("❚ Not run: you stopped the reply.");
    terminal.shows("Interrupted.").waits().lacks("interrupted by you").lacks("the person");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_window_may_change_in_the_middle_of_a_reply() {
    for (first, then) in [(110, 40), (40, 110), (300, 20), (20, 300), (110, 20)] {
        let server = Paced::start();
        let config = format!(
            "[endpoint.here]\nbase_url = '{}/v1'\nformat = 'openai'\nmodel = 'm'\n",
            server.address
        );
        let scene = Scene::new().home_file(CONFIG, &config);
        let terminal = Terminal::start_at(&scene, &["--model", "here/m", "go"], first);
        server.says(&format!("{}> EARLY ", "early ".repeat(12)));
        server.says("\n\n- an item with quite a few words ").says("MIDDLE ");
        terminal.shows("MIDDLE").resizes(then);
        server.says(&format!("{} END\n\n", "late ".repeat(80)));
        server.says(
            "| name | sum |\n|---|--:|\n| north | 12 |\n| south-by-southwest | 7 |\n\nDONE.\n",
        );
        drop(server);
        terminal.shows("DONE.").waits();
        let rows = terminal.rows();
        let seen = rows.join("\n");
        assert_marked(&terminal);
        let late = rows.iter().filter(|row| row.contains("late")).map(|row| row.chars().count());
        let (widest, limit) = (late.max().unwrap(), usize::from(then));
        assert!(widest < limit && widest + 8 > limit, "{first} to {then}: {widest}\n{seen}");
        assert!(seen.contains("north") && seen.contains("12"), "{seen}");
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn a_window_may_change_while_a_question_waits() {
    for (first, then) in [(110, 20), (20, 110), (300, 40), (40, 300)] {
        let scene = Scene::new().model_says(&[&cell("shell", "echo RAN"), "Done."]);
        let arguments = scene.chat_arguments(&["go"]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let terminal = Terminal::start_at(&scene, &arguments, first);
        terminal.shows("Run it?").waits().resizes(then);
        // A key that means nothing, and the reminder of those that do, on one row.
        terminal.goes_on("x").wrote("y").wrote(if then >= 40 { "(press y" } else { "(yan" });
        terminal.goes_on("y").shows("┆ RAN").shows("Done.").waits();
        assert_marked(&terminal);
        terminal.types("/quit").exits(0);
    }
}
