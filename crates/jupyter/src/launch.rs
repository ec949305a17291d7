//! The launch message for the bridge: which kernel, and how.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a kernel is started. Comes as one argument, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The program by its path inside, and what it is given. `{connection_file}` stands for the
    /// file that says where its sockets are to be.
    pub argv: Vec<String>,
    /// Variables it sees besides the bridge's own. `${NAME}` stands for one of those.
    pub environment: BTreeMap<String, String>,
    /// How it is interrupted.
    pub interrupt: Interrupt,
}

/// How a kernel is interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    /// By a SIGINT to its group.
    #[default]
    Signal,
    /// By a message on its control socket.
    Message,
}

impl Launch {
    /// The launch as the argument that [`crate::run`] takes.
    pub fn argument(&self) -> String {
        serde_json::to_string(self).expect("text and maps of text can be JSON")
    }
}

/// Fills variables into a value, as kernelspecs have them: `${NAME}` and `$NAME`; what names no
/// variable stays as it is.
pub(crate) fn filled(value: &str, variable: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let inside = after.strip_prefix('{').unwrap_or(after);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &inside[..inside.find(|c| !is_part(c)).unwrap_or(inside.len())];
        let behind = &inside[name.len()..];
        let end = if after.len() == inside.len() { Some(behind) } else { behind.strip_prefix('}') };
        match (end, variable(name)) {
            (Some(behind), Some(known)) if !name.is_empty() => {
                text.push_str(&known);
                rest = behind;
            }
            _ => {
                text.push('$');
                rest = after;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_variables_are_filled_in_and_nothing_else() {
        let variable = |name: &str| (name == "PATH").then(|| "/bin".to_owned());
        for (value, expected) in [
            ("/x:${PATH}", "/x:/bin"),
            ("$PATH:/x", "/bin:/x"),
            ("${PATHS}$PATHS", "${PATHS}$PATHS"),
            ("${PATH", "${PATH"),
            ("a$", "a$"),
            ("$$PATH${}", "$/bin${}"),
            ("ä", "ä"),
        ] {
            assert_eq!(filled(value, variable), expected);
        }
    }

    #[test]
    fn a_launch_survives_the_command_line() {
        let launch = Launch {
            argv: vec!["/usr/bin/python3".into(), "-f".into(), "{connection_file}".into()],
            environment: [("A".to_owned(), "\"b\" \n".to_owned())].into(),
            interrupt: Interrupt::Message,
        };
        assert_eq!(serde_json::from_str::<Launch>(&launch.argument()).unwrap(), launch);
    }
}
