//! `interpreter serve` opens the person's browser. The link goes to it in a file: everybody on this
//! computer sees the arguments of a program.

use crate::{
    scene::{Scene, put_program},
    terminal::Terminal,
};
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A browser that notes how it was started, and logs in as the page leads it.
const BROWSER: &str = r#"#!/bin/sh
{ tr '\0' '\n' </proc/$$/cmdline; echo; env; pwd; stat -c %a "$1"; } >NOTED
link=$(sed 's/.*url=\([^"]*\)".*/\1/' "$1")
curl --silent --output /dev/null --header 'Content-Type: application/json' \
    --data "{\"code\":\"${link#*#}\"}" "${link%%/#*}/v1/login"
"#;

/// A scene with that browser, and the file of its notes.
fn scene() -> (Scene, PathBuf) {
    let scene = Scene::new().variable("OPENAI_API_KEY", "sk-canary").variable("DISPLAY", ":7");
    let (bin, noted) = (scene.home().join("bin"), scene.home().join("noted"));
    put_program(&bin.join("xdg-open"), &BROWSER.replace("NOTED", noted.to_str().unwrap()));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    (scene.variable("PATH", &path), noted)
}

/// The folder of the files that lead browsers to links.
fn folder(scene: &Scene) -> PathBuf {
    scene.data().join("results/serve")
}

/// How many there are.
fn pages(scene: &Scene) -> usize {
    std::fs::read_dir(folder(scene)).map_or(0, Iterator::count)
}

/// The code of the link that is on the screen.
fn code(terminal: &Terminal) -> String {
    let rows = terminal.rows();
    let code = rows.iter().find_map(|row| row.split_once("/#")).map(|(_, code)| code.trim());
    code.filter(|code| code.len() == 43).unwrap_or_else(|| panic!("{rows:?}")).to_owned()
}

#[test]
fn the_browser_opens_and_nobody_reads_the_link_among_its_arguments() {
    let (scene, noted) = scene();
    let terminal = Terminal::start(&scene, &["serve"]);
    terminal.shows("Open this link").shows("A browser has logged in.");
    let (noted, code) = (std::fs::read_to_string(noted).unwrap(), code(&terminal));
    let (arguments, rest) = noted.split_once("\n\n").unwrap();
    let arguments: Vec<_> = arguments.lines().collect();
    let [_, program, file] = arguments[..] else { panic!("{arguments:?}") };
    assert!(program.ends_with("/bin/xdg-open"), "{arguments:?}");
    let name = file.strip_prefix(folder(&scene).to_str().unwrap()).unwrap();
    // Another server of the same person has a file of its own.
    assert!(
        name.starts_with("/open-") && Path::new(name).extension() == Some("html".as_ref()),
        "{file}"
    );
    assert!(!noted.contains(&code) && !noted.contains("canary"), "{noted}");
    assert!(rest.contains("DISPLAY=:7"), "{rest}");
    assert!(rest.ends_with("\n/\n600\n"), "{rest}");
    // Nobody else reaches it, and it is gone once the link is used.
    let mode = folder(&scene).metadata().unwrap().permissions().mode();
    assert_eq!((mode & 0o777, pages(&scene)), (0o700, 0));
    terminal.presses(3).shows("Stopping.").exits(0);
}

#[test]
fn no_browser_opens_where_none_is_wanted() {
    let (scene, noted) = scene();
    let terminal = Terminal::start(&scene, &["serve", "--no-open"]);
    terminal.shows("Enter gives a new link");
    let first = code(&terminal);
    // By the second link, a browser would have its page.
    terminal.presses(b'\r').shows("/#").lacks(&first);
    assert_eq!(pages(&scene), 0);
    terminal.lacks("A browser has logged in.").presses(3).shows("Stopping.").exits(0);
    assert!(!noted.exists());
}

#[test]
fn a_browser_that_fails_leaves_no_file_and_the_link_stays() {
    let (scene, _) = scene();
    let scene = scene.variable("BROWSER", "/bin/false");
    let terminal = Terminal::start(&scene, &["serve"]);
    terminal.shows("No browser could be opened here: open the link yourself.");
    code(&terminal);
    assert_eq!(pages(&scene), 0);
    terminal.presses(3).shows("Stopping.").exits(0);
}
