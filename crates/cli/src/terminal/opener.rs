//! Opens a file of ours in the person's own viewer or browser.
//!
//! # Threat
//! A viewer that gets more than the file: the person's API keys in its environment, the terminal's
//! keys, a folder of a stranger's project to look for parts of itself in.
//!
//! # Mechanism
//! The program is `$BROWSER`, `xdg-open` or `open`, found in absolute folders of `PATH`. It starts
//! in the root folder, without the terminal, with the few variables that a desktop needs.
//!
//! # Limits
//! It is outside of every sandbox, as the person's own programs are.

use interpreter_store::Environment;
use std::{
    ffi::OsString,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

/// How long a viewer has to fail before it counts as started.
const PATIENCE: Duration = Duration::from_secs(2);

/// Variables that a program on a desktop needs.
const NEEDED: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "KDE_FULL_SESSION",
    "KDE_SESSION_VERSION",
    "GNOME_DESKTOP_SESSION_ID",
    "XDG_CURRENT_DESKTOP",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "WSL_DISTRO_NAME",
];

/// Programs that open anything, and what they are given before the file.
const OPENERS: [(&str, &[&str]); 4] =
    [("xdg-open", &[]), ("open", &[]), ("gio", &["open"]), ("wslview", &[])];

/// Starts a viewer for a file, and waits only as long as it takes to see it fail.
pub(crate) async fn open(path: &Path, environment: &Environment) -> Result<(), &'static str> {
    let Some((program, arguments)) = command(path, environment) else {
        return Err("No program to open it with: set `BROWSER`, or install xdg-open. The file is:");
    };
    #[expect(clippy::disallowed_methods, reason = "the person's own viewer, at their own word")]
    let mut command = tokio::process::Command::new(program);
    let needed = NEEDED.iter().filter_map(|name| Some((name, environment.raw(name)?)));
    command
        .args(arguments)
        .env_clear()
        .envs(needed)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|_| "The viewer did not start. The file is:")?;
    match tokio::time::timeout(PATIENCE, child.wait()).await {
        Ok(Ok(status)) if !status.success() => {
            Err("The viewer failed; `BROWSER` chooses another one. The file is:")
        }
        // It is done, or the person looks at it.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The program and its arguments. A page goes to the browser first, and anything else last.
fn command(path: &Path, environment: &Environment) -> Option<(PathBuf, Vec<OsString>)> {
    let browsers = environment.text("BROWSER").into_iter().flat_map(|list| list.split(':'));
    let browsers = browsers.filter_map(|words| {
        let mut words = words.split_whitespace();
        let program = find(words.next()?, environment)?;
        Some((program, filled(words, path)))
    });
    let openers = OPENERS.iter().filter_map(|(name, words)| {
        Some((find(name, environment)?, filled(words.iter().copied(), path)))
    });
    if path.extension().is_some_and(|ending| ending == "html") {
        browsers.chain(openers).next()
    } else {
        openers.chain(browsers).next()
    }
}

/// Words with the path in place of `%s`, or behind them.
fn filled<'a>(words: impl Iterator<Item = &'a str>, path: &Path) -> Vec<OsString> {
    let mut is_named = false;
    let mut arguments: Vec<OsString> = words
        .map(|word| {
            is_named |= word == "%s";
            if word == "%s" { path.into() } else { word.into() }
        })
        .collect();
    if !is_named {
        arguments.push(path.into());
    }
    arguments
}

/// A program by its name or absolute path.
fn find(name: &str, environment: &Environment) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        fs_err::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && runs(path));
    }
    environment.path_list("PATH").into_iter().map(|folder| folder.join(name)).find(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs_err::write(&path, "").unwrap();
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    #[test]
    fn pages_go_to_the_browser_and_pictures_to_the_viewer() {
        let folder = programs(&["firefox", "xdg-open"]);
        let path = folder.path().to_str().unwrap();
        let chosen = |file: &str, browser: &str| {
            let environment = Environment::from_pairs([("PATH", path), ("BROWSER", browser)]);
            let (program, arguments) = command(Path::new(file), &environment)?;
            let words: Vec<_> =
                arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            Some(format!("{} {}", program.file_name()?.to_str()?, words.join(" ")))
        };
        let is = |words: &str| Some(words.to_owned());
        assert_eq!(chosen("/a.html", "gone:firefox -new %s x"), is("firefox -new /a.html x"));
        assert_eq!(chosen("/a.png", "firefox"), is("xdg-open /a.png"));
        assert_eq!(chosen("/a.html", "./firefox"), is("xdg-open /a.html"));
        let nothing = Environment::from_pairs([("PATH", "relative"), ("BROWSER", "firefox")]);
        assert_eq!(command(Path::new("/a.png"), &nothing), None);
    }
}
