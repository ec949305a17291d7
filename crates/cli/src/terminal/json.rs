//! A session as JSON, one record per line.
//!
//! In a pipe the lines are plain JSON. On a terminal the characters that a terminal obeys, or that
//! reorder or hide text, are escaped too; it is the same JSON to whoever parses it.

use interpreter_core::{Record, untrusted};
use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
};

/// Prints records. Nothing else goes to standard output in this mode.
#[expect(clippy::disallowed_methods, reason = "JSON, escaped for whoever reads it")]
pub(crate) fn print(records: &[Record]) -> io::Result<()> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)?;
        lines.push(b'\n');
    }
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        lines = escaped(&String::from_utf8_lossy(&lines)).into_bytes();
    }
    out.write_all(&lines)?;
    out.flush()
}

/// Prints lines that are JSON already.
#[expect(clippy::disallowed_methods, reason = "JSON, escaped for whoever reads it")]
pub(crate) fn print_lines(lines: &[String]) -> io::Result<()> {
    let mut text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        text = escaped(&text);
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints one JSON value as a line.
#[expect(clippy::disallowed_methods, reason = "JSON, escaped for whoever reads it")]
pub(crate) fn print_value(value: &serde_json::Value) -> io::Result<()> {
    let mut line = format!("{value}\n");
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        line = escaped(&line);
    }
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// JSON in which every character that is not plainly visible is escaped. Such characters stand
/// only in strings.
pub(super) fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || untrusted::is_plain(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_terminal_sees_no_control_characters() {
        let json = serde_json::to_string("\u{9b}2J\u{202e}\u{7f}❚ Run it?\u{e0041}").unwrap();
        let shown = escaped(&json);
        assert_eq!(shown, r#""\u009b2J\u202e\u007f\u275a Run it?\udb40\udc41""#);
    }

    proptest! {
        #[test]
        fn it_stays_the_same_json(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let shown = escaped(&json);
            prop_assert!(shown.chars().all(untrusted::is_plain));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }
}
