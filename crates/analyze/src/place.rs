//! The severity of touching a path.
//!
//! Knows paths only as text: nothing is looked up, so links and relative paths can deceive it.
//! It may raise a severity and never lowers one.

use interpreter_core::Risk;
use serde::Deserialize;
use std::sync::LazyLock;

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../rules/places.toml"))
        .expect("rules/places.toml is part of this crate and tested");
    file.place
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    place: Vec<Place>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    #[serde(default)]
    ends: Option<String>,
    #[serde(default)]
    contains: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    reason: String,
}

impl Place {
    fn holds(&self, path: &str) -> bool {
        self.ends.as_deref().is_some_and(|end| path.ends_with(end))
            || self.contains.as_deref().is_some_and(|part| path.contains(part))
    }
}

/// How grave touching `path` is, if it is at least as grave as `severity` anywhere.
pub(crate) fn severity(path: &str, severity: Risk) -> Risk {
    // A name at the beginning of a relative path counts like one after a slash.
    let rooted = format!("/{}", path.replace('\\', "/"));
    if PLACES.iter().any(|place| place.holds(&rooted)) {
        severity.max(Risk::High)
    } else if is_outside(path) {
        severity.max(Risk::Medium)
    } else {
        severity
    }
}

/// Whether a path plainly leads out of the work folder.
fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~', '\\'])
        || path.starts_with("$HOME")
        || path.split(['/', '\\']).any(|part| part == "..")
        || path.as_bytes().get(1) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_raises_the_severity() {
        for (path, expected) in [
            ("data.csv", Risk::Low),
            ("a/b.txt", Risk::Low),
            ("../b.txt", Risk::Medium),
            ("/tmp/x", Risk::Medium),
            ("~/x", Risk::Medium),
            ("C:\\x", Risk::Medium),
            ("~/.ssh/id_ed25519", Risk::High),
            (".env", Risk::High),
            ("my.env.py", Risk::Low),
            ("/etc/shadow", Risk::High),
            ("C:\\Users\\u\\.aws\\credentials", Risk::High),
        ] {
            assert_eq!(severity(path, Risk::Low), expected, "{path}");
        }
    }

    #[test]
    fn a_severity_is_never_lowered() {
        assert_eq!(severity("/tmp/x", Risk::High), Risk::High);
    }

    #[test]
    fn every_place_says_where_and_why() {
        for place in PLACES.iter() {
            assert!(place.ends.is_some() != place.contains.is_some(), "{}", place.reason);
            assert!(!place.reason.is_empty());
        }
    }
}
