//! The name of a package, with versions, as an installer may be given it.
//!
//! Strict: letters, digits and the few signs of names and versions. No option, address, path, alias
//! or marker fits in, so a requirement is safe as one argument of a command.

use super::PackageKind;
use serde::{Serialize, Serializer};
use std::fmt;

/// Bytes of the longest name. npm allows 214.
const LONGEST_NAME: usize = 128;

/// Bytes of everything behind the name.
const LONGEST_REST: usize = 128;

/// A package that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    kind: PackageKind,
    text: String,
    /// Where the name ends.
    end: usize,
}

/// Why a text does not name a package. It does not repeat the text, which is foreign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// The name has other signs than a name may have.
    #[error("expected the name of a package, such as `pandas` or `pandas==2.2.3`")]
    Name,
    /// An address or a path.
    #[error("expected the name of a package: addresses and paths are not installed")]
    Place,
    /// An option.
    #[error("expected the name of a package, not an option")]
    Option,
    /// The versions are not understood.
    #[error("expected versions such as `==2.2.3` or `>=2,<3` behind the name")]
    Versions,
}

impl Requirement {
    /// Reads a requirement.
    pub fn parse(kind: PackageKind, text: &str) -> Result<Self, RequirementError> {
        let text = text.trim();
        if text.starts_with('-') {
            return Err(RequirementError::Option);
        }
        if text.contains("://") || text.contains([':', '\\']) || text.starts_with(['.', '/', '~']) {
            return Err(RequirementError::Place);
        }
        match kind {
            PackageKind::Python => python(text),
            PackageKind::Npm => npm(text),
        }
    }

    /// Where it comes from.
    pub fn kind(&self) -> PackageKind {
        self.kind
    }

    /// The name alone.
    pub fn name(&self) -> &str {
        &self.text[..self.end]
    }

    /// The name with extras and versions, as an installer takes it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name in the one spelling by which names are compared.
    pub fn normal_name(&self) -> String {
        normal_name(self.kind, self.name())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Only whole orders are read back, see [`super::PackageOrder`].
impl Serialize for Requirement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// A name in the one spelling by which names are compared.
pub fn normal_name(kind: PackageKind, name: &str) -> String {
    match kind {
        PackageKind::Npm => name.to_owned(),
        PackageKind::Python => {
            let mut normal = String::with_capacity(name.len());
            for c in name.chars() {
                match c {
                    '-' | '_' | '.' if normal.ends_with('-') => {}
                    '-' | '_' | '.' => normal.push('-'),
                    c => normal.push(c.to_ascii_lowercase()),
                }
            }
            normal
        }
    }
}

/// `name[extra,extra]==1.0,<2`.
fn python(text: &str) -> Result<Requirement, RequirementError> {
    let sign = |c: char| matches!(c, '.' | '_' | '-');
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || sign(c))).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if !is_name(name, sign) {
        return Err(if text.contains('/') {
            RequirementError::Place
        } else {
            RequirementError::Name
        });
    }
    let rest: String = rest.chars().filter(|c| *c != ' ').collect();
    let (extras, versions) = match rest.strip_prefix('[') {
        Some(inside) => inside.split_once(']').ok_or(RequirementError::Name)?,
        None => ("", rest.as_str()),
    };
    if rest.starts_with('[') && !extras.split(',').all(|one| is_name(one, sign)) {
        return Err(RequirementError::Name);
    }
    let fits = versions.is_empty() || versions.split(',').all(is_python_version);
    if !fits || rest.len() > LONGEST_REST {
        return Err(RequirementError::Versions);
    }
    Ok(Requirement { kind: PackageKind::Python, text: format!("{name}{rest}"), end })
}

fn is_name(name: &str, sign: impl Fn(char) -> bool) -> bool {
    let plain = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    name.len() <= LONGEST_NAME
        && plain(name.chars().next())
        && plain(name.chars().next_back())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || sign(c))
}

fn is_python_version(text: &str) -> bool {
    let operators = ["===", "==", "~=", "!=", "<=", ">=", "<", ">"];
    let version = operators.iter().find_map(|operator| text.strip_prefix(operator));
    version.is_some_and(|version| {
        let starts = version.starts_with(|c: char| c.is_ascii_alphanumeric());
        starts && version.chars().all(|c| c.is_ascii_alphanumeric() || ".*+!_-".contains(c))
    })
}

/// `name@1.0` or `@scope/name@^1`.
fn npm(text: &str) -> Result<Requirement, RequirementError> {
    let (scope, rest) = match text.strip_prefix('@') {
        Some(rest) => {
            let (scope, rest) = rest.split_once('/').ok_or(RequirementError::Name)?;
            (Some(scope), rest)
        }
        None => (None, text),
    };
    let (name, range) = match rest.split_once('@') {
        Some((name, range)) => (name, Some(range)),
        None => (rest, None),
    };
    if name.contains('/') {
        return Err(RequirementError::Place);
    }
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && name.chars().all(|c| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-')
            })
            && name.len() <= LONGEST_NAME
    };
    if !is_name(name) || scope.is_some_and(|scope| !is_name(scope)) {
        return Err(RequirementError::Name);
    }
    if let Some(range) = range {
        let starts = range.starts_with(|c: char| c.is_ascii_alphanumeric() || "^~<>=*".contains(c));
        let fits = range.chars().all(|c| c.is_ascii_alphanumeric() || ".^~<>=*+_-".contains(c));
        if !starts || !fits || range.len() > LONGEST_REST {
            return Err(RequirementError::Versions);
        }
    }
    let end = scope.map_or(0, |scope| scope.len() + 2) + name.len();
    Ok(Requirement { kind: PackageKind::Npm, text: text.to_owned(), end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(kind: PackageKind, text: &str) -> Result<(String, String), RequirementError> {
        let read = Requirement::parse(kind, text)?;
        Ok((read.name().to_owned(), read.text().to_owned()))
    }

    #[test]
    fn names_and_versions_are_read() {
        let of =
            |text| read(PackageKind::Python, text).map(|(name, text)| format!("{name}|{text}"));
        for (text, expected) in [
            ("pandas", "pandas|pandas"),
            (" PyYAML ", "PyYAML|PyYAML"),
            ("pandas == 2.2.3", "pandas|pandas==2.2.3"),
            ("pandas>=2,<3", "pandas|pandas>=2,<3"),
            ("uvicorn[standard]~=0.30", "uvicorn|uvicorn[standard]~=0.30"),
            ("ruamel.yaml", "ruamel.yaml|ruamel.yaml"),
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
        let of = |text| read(PackageKind::Npm, text).map(|(name, text)| format!("{name}|{text}"));
        for (text, expected) in [
            ("lodash", "lodash|lodash"),
            ("lodash@4.17.21", "lodash|lodash@4.17.21"),
            ("@types/node@^20", "@types/node|@types/node@^20"),
            ("@scope/x", "@scope/x|@scope/x"),
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn nothing_else_is_a_package() {
        for kind in [PackageKind::Python, PackageKind::Npm] {
            for text in [
                "",
                "--index-url=https://evil.example/",
                "-r",
                "-e.",
                "https://evil.example/x.whl",
                "git+https://evil.example/x",
                "x @ https://evil.example/x.whl",
                "x@npm:evil",
                "x@file:../evil",
                "./evil",
                "../evil.whl",
                "/tmp/evil.whl",
                "~/evil",
                "a/b/c",
                "evil/",
                "a b",
                "a;python_version>'3'",
                "a\nb",
                "a\u{0}",
                "pändas",
                "x==--pre",
                "x@-g",
                "-x",
                ".x",
                "x[",
            ] {
                assert!(Requirement::parse(kind, text).is_err(), "{kind}: {text:?}");
            }
        }
    }

    #[test]
    fn spellings_of_a_name_are_the_same() {
        let of = |text| Requirement::parse(PackageKind::Python, text).unwrap().normal_name();
        assert_eq!(of("Ruamel.YAML"), "ruamel-yaml");
        assert_eq!(of("typing_extensions>4"), "typing-extensions");
    }

    proptest! {
        #[test]
        fn a_requirement_is_one_harmless_argument(text in "\\PC{0,40}") {
            for kind in [PackageKind::Python, PackageKind::Npm] {
                let Ok(read) = Requirement::parse(kind, &text) else { continue };
                prop_assert!(!read.text().starts_with('-'));
                prop_assert!(!read.text().contains([' ', ':', '\\', ';', '$', '`', '\'', '"']));
                prop_assert!(read.text().is_ascii() && !read.name().is_empty());
                // It is read back as itself.
                prop_assert_eq!(Requirement::parse(kind, read.text()), Ok(read.clone()));
            }
        }
    }
}
