//! Which package code misses, by what it printed when it failed.
//!
//! The text is the program's own, so this is a claim: it leads to a question and to nothing else.

use super::{PackageChange, PackageKind, PackageOrder, Requirement, distribution};
use crate::Language;

/// Lines at the end of an output that are looked at.
const LINES: usize = 60;

/// The packages that a failed run missed, if its last words say so.
pub fn missing(language: &Language, printed: &str) -> Option<PackageOrder> {
    let lines = printed.lines().rev().take(LINES);
    let packages = match language.name() {
        "python" => lines.map(str::trim_end).find_map(of_python),
        "javascript" | "typescript" => lines.map(str::trim).find_map(of_node),
        "shell" => lines.map(str::trim_end).find_map(wanted),
        _ => None,
    };
    PackageOrder::new(PackageChange::Install, packages?)
}

/// The last line of a traceback that names a module or a package.
fn of_python(line: &str) -> Option<Vec<Requirement>> {
    if let Some(packages) = wanted(line) {
        return Some(packages);
    }
    let module = quoted_after(line, "ModuleNotFoundError: No module named ")
        // Of a module that is there, only a part is missing.
        .filter(|_| !line.ends_with("is not a package"))
        // These are pandas' own words.
        .or_else(|| quoted_after(line, "ImportError: Missing optional dependency "))
        .or_else(|| {
            let rest = line.strip_prefix("ImportError: `Import ")?;
            Some(rest.split_once('`')?.0)
        })
        .or_else(|| {
            quoted_after(line, "ImportError: Unable to find a usable engine; tried using: ")
        })?;
    Some(vec![distribution(module)?])
}

/// The words of our drivers, where a cell or a command wanted to install packages itself.
fn wanted(line: &str) -> Option<Vec<Requirement>> {
    let (source, rest) = line.strip_prefix("PackageNotInstalled: ")?.split_once(' ')?;
    let kind = match source {
        "python" => PackageKind::Python,
        "npm" => PackageKind::Npm,
        _ => return None,
    };
    rest.split_whitespace().map(|word| Requirement::parse(kind, word).ok()).collect()
}

/// The package of a module that Node.js did not find.
fn of_node(line: &str) -> Option<Vec<Requirement>> {
    let at = ["Cannot find module ", "Cannot find package "]
        .iter()
        .find_map(|words| Some(line.find(words)? + words.len()))?;
    let specifier = quoted_after(&line[at..], "")?;
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let name = specifier.split('/').take(parts).collect::<Vec<_>>().join("/");
    Some(vec![Requirement::parse(PackageKind::Npm, &name).ok()?])
}

fn quoted_after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(words)?.strip_prefix('\'')?;
    Some(rest.split_once('\'')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language;

    fn found(language: &str, printed: &str) -> Option<String> {
        let language = language::example().find(language).unwrap();
        missing(&language, printed).map(|order| order.words())
    }

    #[test]
    fn a_traceback_names_what_is_missing() {
        for (last, package) in [
            ("ModuleNotFoundError: No module named 'pandas'", "pandas"),
            ("ModuleNotFoundError: No module named 'sklearn.cluster'", "scikit-learn"),
            (
                "ImportError: Missing optional dependency 'openpyxl'.  Use pip or conda to \
                 install openpyxl.",
                "openpyxl",
            ),
            (
                "ImportError: `Import openpyxl` failed.  Use pip or conda to install the \
                 openpyxl package.",
                "openpyxl",
            ),
            (
                "ImportError: Unable to find a usable engine; tried using: 'pyarrow', \
                 'fastparquet'.",
                "pyarrow",
            ),
            ("PackageNotInstalled: python pandas==2.2 numpy", "pandas==2.2 and numpy"),
        ] {
            let printed = format!("before\nTraceback (most recent call last):\n  x\n{last}\n");
            assert_eq!(found("python", &printed).as_deref(), Some(package), "{last}");
        }
    }

    #[test]
    fn other_errors_name_nothing() {
        for printed in [
            "",
            "ValueError: No module named 'pandas'",
            "print: ModuleNotFoundError: No module named 'x'",
            "ModuleNotFoundError: No module named 'os.nothing'; 'os' is not a package",
            "ModuleNotFoundError: No module named '_tkinter'",
            "ModuleNotFoundError: No module named '--index-url=x'",
            "ModuleNotFoundError: No module named 'a b'",
            "PackageNotInstalled: python --index-url=x",
            "PackageNotInstalled: python pandas --pre",
        ] {
            assert_eq!(found("python", printed), None, "{printed}");
        }
    }

    #[test]
    fn node_names_what_is_missing() {
        for (printed, package) in [
            ("Uncaught Error: Cannot find module 'lodash'\nRequire stack:\n- /w/cell.js", "lodash"),
            ("Error: Cannot find module 'lodash/fp'\n", "lodash"),
            (
                "Uncaught Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@scope/x' imported \
                 from /w/cell.js",
                "@scope/x",
            ),
        ] {
            assert_eq!(found("javascript", printed).as_deref(), Some(package), "{printed}");
        }
        for printed in [
            "Error: Cannot find module './mine'",
            "Error: Cannot find module '/etc/x'",
            "Error: Cannot find module 'https://evil.example/x'",
        ] {
            assert_eq!(found("javascript", printed), None, "{printed}");
        }
    }
}
