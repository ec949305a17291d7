//! Results that are more than text: as files, as rows, and as pictures by each protocol, decoded
//! again from the bytes that the program wrote.

use crate::{
    scene::{Scene, cell, put_program},
    terminal::Terminal,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Width and height of the picture that [`DRAW`] draws.
const SIZE: (u32, u32) = (60, 40);

/// Code that draws a picture with the standard library alone. Its comment is a sequence that would
/// clear the screen.
const DRAW: &str = r"
import struct, zlib
def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
def png(width, height, pixel):
    rows = b''.join(b'\0' + b''.join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0))
        + chunk(b'tEXt', b'Comment\0\x1b[2J\x1b_Ga=d\x1b\\')
        + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
class Picture:
    def __init__(self, data): self.data = data
    def __repr__(self): return 'a picture'
    def _repr_png_(self): return self.data
picture = Picture(png(60, 40, lambda x, y: (x // 4 * 17, y // 8 * 50, 128)))
";

/// The same pixel.
fn pixel(x: u32, y: u32) -> [u8; 3] {
    [x / 4 * 17, y / 8 * 50, 128].map(|one| u8::try_from(one).unwrap())
}

fn pixels() -> Vec<[u8; 3]> {
    (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| pixel(x, y))).collect()
}

/// A chat whose code shows the picture.
fn chat(scene: &Scene, more: &str, answers: impl Fn(&str) -> String + Send + 'static) -> Terminal {
    scene.play(&[&cell("python", &format!("{DRAW}{more}")), "Done."]);
    let arguments = scene.chat_arguments(&["--yes", "draw"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    Terminal::answering(scene, &arguments, 100, answers)
}

fn decoded(png: &[u8]) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut samples).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    (frame.width, frame.height, samples.chunks(3).map(|one| [one[0], one[1], one[2]]).collect())
}

/// The texts between two marks, in order.
fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0)).collect()
}

/// The questions of the program, as far as a terminal of some kind answers them.
fn kitty(asked: &str) -> String {
    let mut answers = String::new();
    for question in between(asked, "\u{1b}_Gi=", "\u{1b}\\") {
        if question.contains("a=q") {
            let number = question.split(',').next().unwrap();
            answers += &format!("\u{1b}_Gi={number};OK\u{1b}\\");
        }
    }
    answers + &kind(asked, "62;22")
}

fn kind(asked: &str, kind: &str) -> String {
    asked.matches("\u{1b}[c").map(|_| format!("\u{1b}[?{kind}c")).collect()
}

fn iterm(asked: &str) -> String {
    let version = if asked.contains("\u{1b}[>q") { "\u{1b}P>|iTerm2 3.5.1\u{1b}\\" } else { "" };
    format!("{version}{}", kind(asked, "62"))
}

fn sixel(asked: &str) -> String {
    let cell = if asked.contains("\u{1b}[16t") { "\u{1b}[6;20;10t" } else { "" };
    format!("{cell}{}", kind(asked, "62;4;22"))
}

/// Every row is ours or marked as foreign.
#[track_caller]
fn assert_marked(terminal: &Terminal) {
    for row in terminal.rows() {
        let marked = row.is_empty() || row.starts_with("❚ ") || row.starts_with("  ");
        assert!(marked, "{row:?} in\n{}", terminal.rows().join("\n"));
    }
}

/// No byte of the picture's own reached the terminal.
#[track_caller]
fn assert_re_encoded(raw: &str) {
    assert!(!raw.contains("\u{1b}[2J") && !raw.contains("\u{1b}_Ga=d"), "{raw}");
}

#[test]
fn a_picture_by_kittys_protocol() {
    let scene = Scene::new();
    let terminal = chat(&scene, "picture", kitty);
    terminal.shows("picture p1-1.png 60×40 · /open p1-1").shows("Done.").waits();
    assert_marked(&terminal);
    let raw = String::from_utf8(terminal.raw()).unwrap();
    let pieces: Vec<_> = between(&raw, "\u{1b}_G", "\u{1b}\\")
        .into_iter()
        .filter(|one| !one.contains("a=q"))
        .collect();
    // Six columns and two rows of a cell that is taken for 10 × 20 pixels.
    assert!(pieces[0].starts_with("a=T,f=100,t=d,q=2,C=1,c=6,r=2,m="), "{}", pieces[0]);
    assert!(pieces.iter().all(|one| one.len() < 4_200 && one.contains("q=2")));
    let data: String = pieces.iter().map(|one| one.split_once(';').unwrap().1).collect();
    assert_eq!(decoded(&STANDARD.decode(data).unwrap()), (SIZE.0, SIZE.1, pixels()));
    assert_re_encoded(&raw);
    terminal.types("/quit").exits(0);
}

#[test]
fn a_script_at_a_terminal_shows_pictures_as_a_chat_does() {
    let code = format!("{DRAW}display(picture)\nprint('after')\n");
    let scene = Scene::new().variable("COLORTERM", "truecolor").file("draw.py", &code);
    let terminal = Terminal::answering(&scene, &["run", "draw.py"], 100, kitty);
    terminal.shows("picture p1-1.png 60×40").shows("after").exits(0);
    let raw = String::from_utf8(terminal.raw()).unwrap();
    assert!(raw.contains("\u{1b}_Ga=T,f=100,t=d,q=2,C=1,c=6,r=2,m="), "{raw}");
    assert_re_encoded(&raw);
    assert_marked(&terminal);
    assert!(terminal.is_as_it_was());
    // There is no chat to open it from.
    assert!(!raw.contains("/open"), "{raw}");
    // A terminal without a protocol gets blocks.
    let terminal = Terminal::answering(&scene, &["run", "draw.py"], 100, plain_kind);
    terminal.shows("picture p1-1.png 60×40").shows("after").exits(0);
    assert!(is_painted(&terminal));
}

#[test]
fn a_large_picture_goes_to_kitty_in_pieces_and_is_made_smaller() {
    let scene = Scene::new();
    let more = "Picture(png(2000, 1000, lambda x, y: (x * y % 251, x % 256, y % 256)))";
    let terminal = chat(&scene, more, kitty);
    terminal.shows("picture p1-1.png 2000×1000").shows("Done.").waits();
    assert_marked(&terminal);
    let raw = String::from_utf8(terminal.raw()).unwrap();
    let pieces = between(&raw, "\u{1b}_G", "\u{1b}\\");
    let pieces: Vec<_> = pieces.into_iter().filter(|one| !one.contains("a=q")).collect();
    assert!(pieces.len() > 10 && pieces.iter().all(|one| one.len() < 4_200));
    let (last, before) = pieces.split_last().unwrap();
    assert!(before.iter().all(|one| one.contains("m=1;")) && last.contains("m=0;"));
    let data: String = pieces.iter().map(|one| one.split_once(';').unwrap().1).collect();
    let (width, height, _) = decoded(&STANDARD.decode(data).unwrap());
    // The window has 100 columns of 10 pixels; the mark and the last column are not the picture's.
    assert_eq!((width, height), (950, 475));
}

#[test]
fn a_picture_by_iterms_protocol() {
    let scene = Scene::new();
    let terminal = chat(&scene, "picture", iterm);
    terminal.shows("picture p1-1.png 60×40").shows("Done.").waits();
    assert_marked(&terminal);
    let raw = String::from_utf8(terminal.raw()).unwrap();
    let files = between(&raw, "\u{1b}]1337;File=", "\u{7}");
    let [file] = files.as_slice() else { panic!("{raw}") };
    let (keys, data) = file.split_once(':').unwrap();
    assert!(keys.contains("inline=1;") && keys.contains("width=6;height=2;"), "{keys}");
    assert_eq!(decoded(&STANDARD.decode(data).unwrap()), (SIZE.0, SIZE.1, pixels()));
    assert_re_encoded(&raw);
}

/// Pixels of a picture of sixels, by their place.
fn decoded_sixels(sixels: &str) -> BTreeMap<(u32, u32), [u32; 3]> {
    let (mut found, mut palette) = (BTreeMap::new(), BTreeMap::new());
    let (mut x, mut y, mut colour) = (0, 0, 0);
    let data = sixels.split_once("0;1;0q\"1;1;").unwrap().1;
    let mut rest = &data[data.find('#').unwrap()..];
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(text.len());
        let numbers: Vec<u32> = text[..end].split(';').map(|one| one.parse().unwrap()).collect();
        (numbers, end)
    };
    while let Some(c) = rest.chars().next() {
        rest = &rest[1..];
        match c {
            '#' => {
                let (numbers, end) = number(rest);
                colour = numbers[0];
                if let [at, 2, red, green, blue] = numbers[..] {
                    palette.insert(at, [red, green, blue]);
                }
                rest = &rest[end..];
            }
            '$' => x = 0,
            '-' => (x, y) = (0, y + 6),
            _ => {
                let (count, sixel) = if c == '!' {
                    let (numbers, end) = number(rest);
                    let sixel = rest[end..].chars().next().unwrap();
                    rest = &rest[end + 1..];
                    (numbers[0], sixel)
                } else {
                    (1, c)
                };
                let bits = u32::from(sixel) - 63;
                for x in x..x + count {
                    for row in (0..6).filter(|row| bits >> row & 1 == 1) {
                        assert_eq!(found.insert((x, y + row), palette[&colour]), None);
                    }
                }
                x += count;
            }
        }
    }
    found
}

#[test]
fn a_picture_of_sixels() {
    let scene = Scene::new();
    let terminal = chat(&scene, "picture", sixel);
    terminal.shows("picture p1-1.png 60×40").shows("Done.").waits();
    assert_marked(&terminal);
    let raw = String::from_utf8(terminal.raw()).unwrap();
    let pictures = between(&raw, "\u{1b}P", "\u{1b}\\");
    let [picture] = pictures.as_slice() else { panic!("{raw}") };
    let found = decoded_sixels(picture);
    assert_eq!(found.len(), pixels().len());
    for ((x, y), shown) in found {
        // Their colours are percentages.
        for (shown, sample) in shown.into_iter().zip(pixel(x, y)) {
            let sample = (u32::from(sample) * 100 + 127) / 255;
            assert_eq!(shown, sample, "{x} {y}");
        }
    }
    assert_re_encoded(&raw);
}

/// A terminal that answers nothing but where its cursor is.
fn silent(_: &str) -> String {
    String::new()
}

fn plain_kind(asked: &str) -> String {
    kind(asked, "62;22")
}

#[test]
fn a_picture_of_coloured_cells() {
    let scene = Scene::new().variable("COLORTERM", "truecolor");
    let terminal = chat(&scene, "picture", plain_kind);
    terminal.shows("picture p1-1.png 60×40").shows("Done.").waits();
    assert_marked(&terminal);
    let top = terminal.rows().iter().position(|row| row.contains('▀')).unwrap();
    for y in 0..SIZE.1 / 2 {
        for x in 0..SIZE.0 {
            let row = u16::try_from(top).unwrap() + u16::try_from(y).unwrap();
            let (text, front, back) = terminal.cell(row, 4 + u16::try_from(x).unwrap());
            let colour = |[red, green, blue]: [u8; 3]| vt100::Color::Rgb(red, green, blue);
            assert_eq!(text, "▀", "{x} {y}");
            assert_eq!(front, colour(pixel(x, 2 * y)), "{x} {y}");
            assert_eq!(back, colour(pixel(x, 2 * y + 1)), "{x} {y}");
        }
    }
    assert_re_encoded(&String::from_utf8(terminal.raw()).unwrap());
}

#[test]
fn with_256_colours_cells_have_the_nearest() {
    let scene = Scene::new().variable("TERM", "xterm-256color");
    let terminal = chat(&scene, "picture", plain_kind);
    terminal.shows("picture p1-1.png 60×40").shows("Done.").waits();
    let top = terminal.rows().iter().position(|row| row.contains('▀')).unwrap();
    let (_, front, _) = terminal.cell(u16::try_from(top).unwrap(), 4);
    // The nearest to (0, 0, 128): (0, 0, 135).
    assert_eq!(front, vt100::Color::Idx(18));
}

/// Whether anything was painted.
fn is_painted(terminal: &Terminal) -> bool {
    let raw = String::from_utf8(terminal.raw()).unwrap();
    let sequences = ["a=T", "1337;File=", "0;1;0q", "▀"];
    sequences.iter().any(|one| raw.contains(one))
}

#[test]
fn where_nothing_can_be_painted_there_is_the_file() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "xterm")] {
        let scene = Scene::new().variable(name, value);
        let terminal = chat(&scene, "picture", silent);
        terminal.shows("picture p1-1.png 60×40").shows("results/").shows("Done.").waits();
        assert!(!is_painted(&terminal), "{name}={value}");
        assert_marked(&terminal);
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn answers_of_a_terminal_are_never_keys() {
    let answers = "\u{1b}_Gi=1;OK\u{1b}\\\u{1b}[?62;4c\u{1b}P>|iTerm2 3\u{1b}\\\u{1b}[6;20;10t";
    let scene = Scene::new().model_says(&[&cell("python", "print('RAN')"), "Done."]);
    let terminal = Terminal::open(&scene, &["go"]);
    // At a question they neither answer it nor have it put again.
    terminal.shows("Run it?").waits().goes_on(answers).lacks("press y").waits();
    terminal.goes_on("y").shows("┆ RAN").shows("Done.").waits();
    terminal.types("/quit").exits(0);
    // While code runs they are no draft of the next prompt.
    let code = "import time\nprint('soon', flush=True)\ntime.sleep(1)";
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ soon").goes_on(answers).goes_on("next").shows("Done.").shows("> next");
    terminal.lacks("OK").lacks("iTerm2").lacks("62;4");
}

#[test]
fn nobody_answers_for_the_terminal() {
    // Code prints what a terminal would answer, and what makes one answer.
    let forged = "print('\\x1b_Gi=31;OK\\x1b\\\\' + '\\x1b[?62;4c' + '\\x1bP>|iTerm2 3\\x1b\\\\' + '\\x1b[c' * 9)";
    let scene = Scene::new();
    let wrong = |asked: &str| {
        // A terminal that has another number, and too few.
        let kitty =
            if asked.contains("a=q") { "\u{1b}_Gi=1;OK\u{1b}\\\u{1b}_Gi=;OK\u{1b}\\" } else { "" };
        format!("{kitty}{}", kind(asked, "62;22"))
    };
    let terminal = chat(&scene, &format!("{forged}\npicture"), wrong);
    terminal.shows("\\u{1b}_Gi=31;OK").shows("picture p1-1.png").shows("Done.").waits();
    assert!(!is_painted(&terminal));
    let raw = String::from_utf8(terminal.raw()).unwrap();
    // The program asked twice: once for the kind, and once for the rest.
    assert_eq!(raw.matches("\u{1b}[c").count(), 2);
    terminal.types("/quit").exits(0);
}

#[test]
fn a_silent_terminal_is_asked_once_and_one_thing() {
    let scene = Scene::new();
    let terminal = chat(&scene, "display(picture)\npicture", silent);
    terminal.shows("picture p1-2.png").shows("Done.").waits();
    let raw = String::from_utf8(terminal.raw()).unwrap();
    assert_eq!(raw.matches("\u{1b}[c").count(), 1);
    assert!(!raw.contains("a=q") && !is_painted(&terminal));
    // Before the first picture nothing is asked.
    let before = raw.split("a picture").next().unwrap();
    assert!(!before.contains("\u{1b}[c"), "{before}");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_slow_terminal_is_awaited_and_keys_pressed_meanwhile_are_draft() {
    let scene = Scene::new();
    let first_only =
        |asked: &str| if asked.contains("a=q") { String::new() } else { plain_kind(asked) };
    let terminal = chat(&scene, "picture", first_only);
    terminal.wrote("a=q").goes_on("ne").lacks("picture p1-1.png");
    let raw = String::from_utf8(terminal.raw()).unwrap();
    // The answers come in pieces, with keys between them.
    let answers = kitty(&raw[raw.find("\u{1b}_Gi=").unwrap()..]);
    let (kitty, kind) = answers.split_at(answers.find("\u{1b}[?").unwrap());
    terminal.goes_on(kitty).goes_on("xt").goes_on(kind);
    terminal.shows("picture p1-1.png").shows("Done.").shows("> next");
    assert!(String::from_utf8(terminal.raw()).unwrap().contains("\u{1b}_Ga=T"));
    terminal.lacks("OK").lacks("62;22");
}

/// The files of all sessions' results.
fn saved(scene: &Scene) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let root = scene.data().join("results");
    for session in std::fs::read_dir(root).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(session.path()).unwrap().flatten() {
            found.insert(file.file_name().into_string().unwrap(), file.path());
        }
    }
    found
}

#[test]
fn hostile_pictures_harm_nobody() {
    let bomb = "head = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 60000, 60000, 8, 6, 0, 0, 0))\n\
                bomb = Picture(head + chunk(b'IDAT', zlib.compress(bytes(1 << 24))) + chunk(b'IEND', b''))\n\
                cut = Picture(picture.data[:200])\n\
                liar = Picture(b'<html><script>\\x1b[2J</script>')\n\
                display(bomb, cut, liar, picture)";
    for answers in [kitty, sixel, iterm] {
        let scene = Scene::new();
        let terminal = chat(&scene, bomb, answers);
        terminal.shows("picture p1-1.png 60000×60000").shows("picture p1-2.png 60×40");
        terminal.shows("no file for image/png: it is not a PNG");
        terminal.shows("picture p1-3.png 60×40").shows("Done.").waits();
        assert_marked(&terminal);
        let raw = String::from_utf8(terminal.raw()).unwrap();
        let painted = ["a=T", "1337;File=", "0;1;0q"].map(|one| raw.matches(one).count());
        assert_eq!(painted.iter().sum::<usize>(), 1, "{raw}");
        assert_re_encoded(&raw);
        terminal.types("/quit").exits(0);
        let names: Vec<_> = saved(&scene).into_keys().collect();
        assert_eq!(names, ["p1-1.png", "p1-2.png", "p1-3.png"]);
    }
}

#[test]
fn rows_of_a_picture_are_marked_at_any_width_and_after_a_resize() {
    for columns in [20, 47, 100] {
        let scene = Scene::new().variable("COLORTERM", "24bit");
        scene.play(&[&cell("python", &format!("{DRAW}print('x' * 300)\npicture")), "Done."]);
        let arguments = scene.chat_arguments(&["--yes", "draw"]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let terminal = Terminal::answering(&scene, &arguments, columns, plain_kind);
        terminal.shows("Done.").waits();
        assert!(is_painted(&terminal));
        assert_marked(&terminal);
        terminal.resizes(columns + 30).types("again").waits();
        assert_marked(&terminal);
    }
}

#[test]
fn results_are_private_files_outside_of_the_folder() {
    let scene = Scene::new();
    let code = format!(
        "{DRAW}class Rich(Picture):\n    def _repr_html_(self): return '<b>bold</b><script>x()</script>'\n    \
         def _repr_svg_(self): return '<svg onload=\"x()\"/>'\n    def _repr_latex_(self): return '$x$'\n\
         Rich(picture.data)"
    );
    let seen = scene.code("python", &code).exits(0);
    assert_eq!(seen.stdout(), "a picture\n");
    let files = saved(&scene);
    let names: Vec<_> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["p1-1-svg.html", "p1-1.html", "p1-1.png", "p1-1.svg", "p1-1.tex"]);
    let row = "interpreter: picture p1-1.png 60×40 · also svg, html, tex\n";
    assert!(seen.stderr().contains(row), "{}", seen.stderr());
    assert!(seen.stderr().contains(files["p1-1.png"].to_str().unwrap()));
    for path in files.values() {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
    let page = std::fs::read_to_string(&files["p1-1.html"]).unwrap();
    assert!(page.contains("<iframe sandbox=\"\"") && !page.contains("<script"), "{page}");
    assert_eq!(decoded(&std::fs::read(&files["p1-1.png"]).unwrap()).2, pixels());
    assert_eq!(std::fs::read_dir(scene.work()).unwrap().count(), 0);
    scene.run(&["changes", "list"]).lacks("p1-1").exits(0);
    // A result in a pipe is as it was, and JSON has all forms itself.
    let json = scene.run(&["run", "--json", "-l", "python", "-c", &code]).exits(0);
    assert!(json.of_kind("output")[0]["bundle"]["image/png"].is_string());
    assert_eq!(saved(&scene).len(), files.len());
}

/// A viewer that notes its arguments, its environment and its folder.
fn viewer(scene: &Scene) -> PathBuf {
    let path = scene.home().join("bin/xdg-open");
    let noted = scene.home().join("noted");
    let noted = noted.display();
    let script = format!("#!/bin/sh\n{{ echo \"$@\"; env; pwd; }} > {noted}\n");
    put_program(&path, &script);
    path
}

#[test]
fn a_result_is_opened_in_the_persons_own_viewer() {
    let scene = Scene::new().variable("OPENAI_API_KEY", "sk-canary").variable("DISPLAY", ":7");
    let viewer = viewer(&scene);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", viewer.parent().unwrap().display());
    let scene = scene.variable("BROWSER", viewer.to_str().unwrap()).variable("PATH", &path);
    let more = "display({'text/html': '<table><tr><td>1'}, raw=True)\ndisplay({'image/svg+xml': '<svg/>'}, raw=True)\npicture";
    let terminal = chat(&scene, more, silent);
    terminal.shows("page p1-1.html · /open p1-1").shows("drawing p1-2.svg").shows("Done.").waits();
    let noted = || std::fs::read_to_string(scene.home().join("noted")).unwrap();
    let files = saved(&scene);
    for (typed, opened) in [
        ("/open", "p1-3.png"),
        ("/open p1-1", "p1-1.html"),
        ("/open p1-2", "p1-2-svg.html"),
        ("/open p1-2.svg", "p1-2-svg.html"),
    ] {
        terminal.types(typed).shows("Opening p1-").waits();
        let noted = noted();
        assert_eq!(Some(noted.lines().next().unwrap()), files[opened].to_str(), "{typed}");
        assert!(noted.contains("DISPLAY=:7") && !noted.contains("canary"), "{noted}");
        assert!(noted.ends_with("\n/\n"), "{noted}");
    }
    terminal.types("/open p9-9").shows("No result `p9-9`; the newest is p1-3.").waits();
    terminal.types("/open ../../../etc/passwd").shows("No result").waits();
    terminal.types("/quit").exits(0);
}

#[test]
fn without_a_viewer_the_path_is_told() {
    let scene = Scene::new();
    let terminal = Terminal::start(&scene, &["run", "-l", "shell"]);
    terminal.types("/open").shows("Nothing to open").waits();
    terminal.types("/quit").exits(0);
    let scene = Scene::new().variable("BROWSER", "/bin/false");
    let terminal = chat(&scene, "display({'text/html': '<b>x'}, raw=True)", silent);
    terminal.shows("Done.").types("/open").shows("The viewer failed").shows("/results/").waits();
    terminal.types("/quit").exits(0);
}

#[test]
fn all_results_of_a_session_can_be_saved_and_nothing_is_replaced() {
    let scene = Scene::new();
    let more = "display(picture, display_id='one')\nprint('text')\ndisplay({'text/html': '<b>x'}, raw=True)\n\
                update_display(picture, display_id='one')";
    scene.code("python", &format!("{DRAW}{more}")).exits(0);
    let shown = scene.run(&["history", "show"]).lacks("iVBOR").exits(0);
    shown.mentions("as image/png: `--save FOLDER` writes files").mentions("as text/html: ");
    let save = ["history", "show", "--save", "out"];
    scene
        .run(&save)
        .mentions("out/p1-1.png")
        .mentions("out/p1-2.html")
        .mentions("2 files.")
        .exits(0);
    let saved = saved(&scene);
    for name in ["p1-1.png", "p1-2.html"] {
        let there = std::fs::read(scene.work().join("out").join(name)).unwrap();
        assert_eq!(there, std::fs::read(&saved[name]).unwrap());
    }
    // Again is fine, but something else in a file's place stays.
    scene.run(&save).exits(0);
    std::fs::write(scene.work().join("out/p1-2.html"), "mine").unwrap();
    std::fs::remove_file(scene.work().join("out/p1-1.png")).unwrap();
    scene.run(&save).mentions("p1-2.html` exists and holds something else").exits(4);
    assert_eq!(scene.read("out/p1-2.html").unwrap(), "mine");
    assert!(!scene.work().join("out/p1-1.png").exists());
    scene.code("python", "1").exits(0);
    scene.run(&save).mentions("no pictures, tables or pages").exits(0);
}

#[test]
fn a_page_is_its_words_and_a_file() {
    let scene = Scene::new();
    let html = "<h1>Sales</h1><p>by <b>year</b></p><script>alert(1)</script>";
    let seen = scene.code("html", html).exits(0);
    assert_eq!(seen.stdout(), "Sales\nby year\n");
    assert!(seen.stderr().contains("page p1-1.html"), "{}", seen.stderr());
    let page = std::fs::read_to_string(&saved(&scene)["p1-1.html"]).unwrap();
    assert!(page.contains("<h1>Sales</h1>"), "{page}");
    assert!(!page.contains("script>") && !page.contains("alert"), "{page}");
}

/// The environment with packages that draw, which `scripts/test` makes.
fn with_packages() -> Scene {
    let made = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/plots");
    let made = std::fs::canonicalize(made).expect("`scripts/test` makes it");
    Scene::new().variable("VIRTUAL_ENV", made.to_str().unwrap())
}

#[test]
fn figures_of_matplotlib_are_pictures_and_closed_once_they_are_shown() {
    let scene = with_packages();
    let code = "import matplotlib.pyplot as plt\n\
                plt.plot([1, 4, 9]); plt.show()\n\
                for n in range(2): plt.figure(figsize=(3, 2)); plt.bar([1, 2], [n, 2])\n\
                plt.show()\n\
                print('open:', plt.get_fignums())\n\
                fig, ax = plt.subplots(); ax.set_title('last')\n\
                fig";
    let seen = scene.code("python", code).mentions("open: []").exits(0);
    let names: Vec<_> = saved(&scene).into_keys().collect();
    assert_eq!(names, ["p1-1.png", "p1-2.png", "p1-3.png", "p1-4.png"], "{}", seen.stderr());
    for path in saved(&scene).values() {
        let bytes = std::fs::read(path).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut samples = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut samples).unwrap();
        // Something is drawn on it.
        assert!(samples.iter().any(|sample| *sample != samples[0]));
    }
    seen.lacks("UserWarning").lacks("Warning");
}

#[test]
fn settings_in_the_work_folder_name_no_code_that_figures_call() {
    let scene = with_packages()
        .file("evil.py", "def run(figure): open('entered', 'w').write('x')\n")
        .file("matplotlibrc", "figure.hooks: evil:run\naxes.facecolor: red\n");
    let code = "import matplotlib, matplotlib.pyplot as plt\n\
                plt.plot([1, 4, 9])\n\
                print(matplotlib.matplotlib_fname(), plt.rcParams['figure.hooks'])";
    scene.code("python", code).mentions("matplotlibrc []").exits(0);
    scene.run(&["changes", "list"]).lacks("entered").exits(0);
    // Control: code that reads the file on purpose gets what is in it.
    let code = "import matplotlib\nmatplotlib.rc_file('matplotlibrc')\n\
                print(matplotlib.rcParams['figure.hooks'])";
    scene.code("python", code).mentions("['evil:run']").exits(0);
}

#[test]
fn a_plot_is_seen_in_a_chat() {
    let scene = with_packages().variable("COLORTERM", "truecolor");
    let code = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()";
    scene.play(&[&cell("python", code), "A curve."]);
    let arguments = scene.chat_arguments(&["--yes", "plot"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let terminal = Terminal::answering(&scene, &arguments, 100, plain_kind);
    terminal.shows("picture p1-1.png").shows("/open p1-1").shows("A curve.").waits();
    assert!(terminal.rows().iter().filter(|row| row.contains('▀')).count() > 10);
    assert_marked(&terminal);
    terminal.types("/quit").exits(0);
}

#[test]
fn images_and_frames_are_results_too() {
    let scene = with_packages();
    let code = "from PIL import Image\nimport pandas as pd\n\
                Image.new('RGB', (30, 20), 'red').show()\n\
                display(Image.new('L', (5, 5)))\n\
                pd.DataFrame({'a': [1, 2]})";
    let seen = scene.code("python", code).mentions("picture p1-1.png 30×20").exits(0);
    seen.mentions("page p1-3.html").mentions("   a\n0  1\n1  2");
    let page = std::fs::read_to_string(&saved(&scene)["p1-3.html"]).unwrap();
    assert!(page.contains("<th>a</th>"), "{page}");
}

#[test]
fn wide_frames_are_as_wide_as_the_window() {
    let scene = with_packages();
    let code = "import pandas as pd, polars as pl\n\
                data = {f'column{n}': [n * 1111] * 2 for n in range(14)}\n\
                print(pd.DataFrame(data))\nprint(pl.DataFrame(data))\nprint('EN' 'DED')";
    for columns in [60, 110, 190] {
        let terminal = Terminal::start_at(&scene, &["run", "-l", "python", "-c", code], columns);
        terminal.shows("ENDED").exits(0);
        let rows = terminal.rows();
        let head = rows.iter().find(|row| row.contains("column0")).unwrap();
        let shown = head.matches("column").count();
        assert_eq!(shown == 14, columns == 190, "{}", rows.join("\n"));
        // No row is folded by us; polars shows eight columns at most.
        let table = rows.iter().find(|row| row.contains('┌')).unwrap();
        assert!(table.trim_end().ends_with('┐'), "{}", rows.join("\n"));
        let head = rows.iter().find(|row| row.contains("│ column0"));
        let shown = head.map_or(0, |row| row.matches("column").count());
        assert_eq!(shown == 8, columns > 60, "{}", rows.join("\n"));
    }
}
