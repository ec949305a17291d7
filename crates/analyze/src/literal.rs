//! Text as it stands in code: known pieces and holes that are computed when the code runs.
//!
//! A hole stands for anything, so whoever asks for the whole text of a literal with a hole gets
//! nothing; the beginning may still tell a host or a program.

/// The replacement of a hole when a literal is read as a script.
const HOLE: &str = "${_}";

/// Text whose pieces are known (`Some`) or computed (`None`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Literal(Vec<Option<String>>);

impl Literal {
    /// Text that is wholly known.
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self(vec![Some(text.into())])
    }

    /// Text of which nothing is known.
    pub(crate) fn computed() -> Self {
        Self(vec![None])
    }

    /// This text and then the other.
    pub(crate) fn then(mut self, other: Self) -> Self {
        for piece in other.0 {
            match (self.0.last_mut(), piece) {
                (Some(Some(end)), Some(text)) => end.push_str(&text),
                (Some(None), None) => {}
                (_, piece) => self.0.push(piece),
            }
        }
        self
    }

    /// The text, if all of it is known.
    pub(crate) fn whole(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Some(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with a character for each hole that stands in no path.
    pub(crate) fn with_holes(&self) -> String {
        self.0.iter().map(|piece| piece.as_deref().unwrap_or("\0")).collect()
    }

    /// How many bytes are known.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().flatten().map(String::len).sum()
    }

    /// Whether the known end of it is this character.
    pub(crate) fn ends_with(&self, end: char) -> bool {
        self.0.last().and_then(Option::as_deref).is_some_and(|text| text.ends_with(end))
    }

    /// The text before the first hole.
    pub(crate) fn start(&self) -> &str {
        self.0.first().and_then(Option::as_deref).unwrap_or_default()
    }

    /// The text with each hole as a computed word, if it begins with known text.
    pub(crate) fn script(&self) -> Option<String> {
        if self.start().trim().is_empty() {
            return None;
        }
        Some(self.0.iter().map(|piece| piece.as_deref().unwrap_or(HOLE)).collect())
    }

    /// The host that this names as a URL, as `user@host:path`, or alone.
    pub(crate) fn host(&self) -> Option<String> {
        let (text, known) = match self.whole() {
            Some(text) => (text, Known::Whole),
            None => (self.start(), Known::Start),
        };
        let (scheme, rest) = text.split_once("://").map_or((None, text), |(s, r)| (Some(s), r));
        if scheme == Some("file") {
            return None;
        }
        let end = rest.find(['/', '?', '#']);
        if known == Known::Start && (scheme.is_none() || end.is_none()) {
            return None; // The hole may still be a part of the host.
        }
        let authority = &rest[..end.unwrap_or(rest.len())];
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = match host.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        // Programs disagree about what a backslash in a URL means: then it is not known.
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        (!authority.contains('\\') && !host.is_empty() && host.chars().all(plain))
            .then(|| host.to_lowercase())
    }

    /// Whether this begins like the address of something on a network.
    pub(crate) fn is_remote(&self) -> bool {
        let Some((scheme, _)) = self.start().split_once("://") else { return false };
        scheme != "file"
            && !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Known {
    Whole,
    Start,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(known: &str) -> Literal {
        Literal::known(known)
    }

    #[test]
    fn the_host_is_found_in_every_way_to_write_it() {
        for (text, host) in [
            ("https://Example.com/a?b", Some("example.com")),
            ("http://user:pass@example.com:8080/", Some("example.com")),
            ("http://[::1]:80/", Some("::1")),
            ("git@github.com:a/b.git", Some("github.com")),
            ("example.com/path", Some("example.com")),
            ("https://evil.com\\@good.com/", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(url(text).host().as_deref(), host, "{text}");
        }
    }

    #[test]
    fn a_host_that_may_go_on_is_not_known() {
        let hole = Literal::computed;
        assert_eq!(url("https://a.com/x/").then(hole()).host().as_deref(), Some("a.com"));
        assert_eq!(url("https://a.com").then(hole()).host(), None);
        assert_eq!(url("a/").then(hole()).host(), None);
    }

    #[test]
    fn pieces_grow_together() {
        let text = Literal::default().then(url("rm ")).then(url("-f ")).then(Literal::computed());
        assert_eq!(text.start(), "rm -f ");
        assert_eq!(text.whole(), None);
        assert_eq!(text.script().as_deref(), Some("rm -f ${_}"));
        assert_eq!(Literal::computed().script(), None);
    }
}
