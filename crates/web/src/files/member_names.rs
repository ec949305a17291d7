//! Names of files in an archive, which lead nowhere wherever it is unpacked. Pure.
//!
//! # Threat
//! Code chose the names. A backslash, a drive or a device is nothing special here, and leads out of
//! the folder elsewhere; two names may be one where capitals do not count.

use interpreter_core::put::is_invisible;
use std::collections::HashSet;

/// Names that are devices on some systems, whatever follows a dot.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Gives each path a name of its own.
#[derive(Debug, Default)]
pub(super) struct MemberNames {
    taken: HashSet<String>,
}

impl MemberNames {
    /// The name of a path: the same, unless it could lead somewhere or is taken.
    pub(super) fn name(&mut self, path: &str) -> String {
        let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).map(part).collect();
        let name = if parts.is_empty() { "_".into() } else { parts.join("/") };
        let mut unique = name.clone();
        let mut number = 2_usize;
        while !self.taken.insert(unique.to_lowercase()) {
            unique = format!("{name}~{number}");
            number += 1;
        }
        unique
    }
}

fn part(part: &str) -> String {
    let is_odd = |c: char| c.is_control() || is_invisible(c) || "\\:*?\"<>|".contains(c);
    let mut name: String = part.chars().map(|c| if is_odd(c) { '_' } else { c }).collect();
    if name.ends_with(['.', ' ']) {
        name.pop();
        name.push('_');
    }
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    if DEVICES.contains(&stem.as_str()) {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_lead_nowhere_and_are_no_two_the_same() {
        let mut names = MemberNames::default();
        for (path, name) in [
            ("a/b.txt", "a/b.txt"),
            ("A/B.TXT", "A/B.TXT~2"),
            ("..\\..\\evil", ".._.._evil"),
            ("C:\\evil", "C__evil"),
            ("../x", "._/x"),
            ("/etc/x", "etc/x"),
            ("nul.txt", "_nul.txt"),
            ("a.", "a_"),
            ("a\nb", "a_b"),
            ("a\u{202e}b", "a_b~2"),
            ("ä", "ä"),
            ("", "_"),
        ] {
            assert_eq!(names.name(path), name, "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn no_name_is_absolute_or_goes_up(path in "[./\\\\:a ~]{0,12}") {
            let name = MemberNames::default().name(&path);
            prop_assert!(!name.starts_with('/') && !name.contains('\\') && !name.contains(':'));
            prop_assert!(name.split('/').all(|part| !matches!(part, "" | "." | "..")));
        }
    }
}
