//! Reads the language from the words after a fence.
//!
//! Models write what they saw: `python`, `python title="x"`, `{.python .numberLines}`,
//! `{r, echo=FALSE}`, `rust,ignore`, `python:main.py`, `js{1,3}`. The language is the first word
//! of it; in braces, the first class, or else the first name. Whether that is a language that
//! runs here is not known here.

const JUPYTER: &str = "jupyter:";

/// The language named after a fence, as written, if any.
pub(super) fn tag(info: &str) -> Option<String> {
    let info = info.trim();
    let word = if let Some(attributes) = info.strip_prefix('{') {
        in_braces(attributes)
    } else {
        // Not at `+`, `#`, `-` or `.`: `c++`, `c#`, `objective-c`, `asp.net` are names.
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':');
        // The one name that has a colon in it: `jupyter:NAME`.
        let start = if info.starts_with(JUPYTER) { JUPYTER.len() } else { 0 };
        let rest = &info[start..];
        Some(&info[..start + rest.find(ends).unwrap_or(rest.len())])
    };
    word.map(|word| word.strip_prefix('.').unwrap_or(word))
        .filter(|word| !word.is_empty())
        .map(Into::into)
}

fn in_braces(attributes: &str) -> Option<&str> {
    let attributes = attributes.split('}').next().unwrap_or(attributes);
    let words = || {
        attributes
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty() && !word.starts_with('#') && !word.contains('='))
    };
    words().find(|word| word.starts_with('.')).or_else(|| words().next())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_word_is_the_language() {
        for (info, expected) in [
            ("python", Some("python")),
            ("  Python3 \t", Some("Python3")),
            ("python title=\"x y\"", Some("python")),
            ("python:src/main.py", Some("python")),
            ("jupyter:python3 x", Some("jupyter:python3")),
            ("jupyter:ir:main.r", Some("jupyter:ir")),
            ("rust,ignore", Some("rust")),
            ("js{1,3-5}", Some("js")),
            ("c++", Some("c++")),
            ("c#", Some("c#")),
            ("objective-c", Some("objective-c")),
            (".py", Some("py")),
            ("{.python}", Some("python")),
            ("{ .python .numberLines }", Some("python")),
            ("{#fit .r startFrom=\"3\"}", Some("r")),
            ("{r, echo=FALSE}", Some("r")),
            ("{python", Some("python")),
            ("{=html}", None),
            ("{}", None),
            ("{", None),
            (":python", None),
            ("", None),
            (" ", None),
        ] {
            assert_eq!(super::tag(info).as_deref(), expected, "{info:?}");
        }
    }
}
