//! The fields that a browser brings back from the provider, in the query of its address.
//!
//! Every name may stand once. Pure, and believes nothing: a state leads to the login that it belongs
//! to, and the rest is compared with that.

/// The longest value.
const LONGEST: usize = 4_096;

/// The fields that are read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Returned {
    pub(super) state: String,
    /// The code, unless the provider refused.
    pub(super) code: Option<String>,
    /// The provider, where it names itself.
    pub(super) issuer: Option<String>,
}

impl Returned {
    /// Reads a query. Nothing if it can be read in two ways, or has no state.
    pub(super) fn parse(query: &str) -> Option<Self> {
        let (mut state, mut code, mut issuer, mut error) = (None, None, None, None);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let field = match decoded(name)?.as_str() {
                "state" => &mut state,
                "code" => &mut code,
                "iss" => &mut issuer,
                "error" => &mut error,
                _ => continue,
            };
            if field.replace(decoded(value)?).is_some() {
                return None;
            }
        }
        let code = code.filter(|code| !code.is_empty());
        if code.is_some() == error.is_some() {
            return None;
        }
        Some(Self { state: state?, code, issuer })
    }
}

/// A text in the form that a query has.
fn decoded(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let (high, low) = (char::from(rest.next()?), char::from(rest.next()?));
                u8::try_from(high.to_digit(16)? << 4 | low.to_digit(16)?).ok()?
            }
            other => other,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_fields_of_a_query_are_read_once() {
        let read = Returned::parse("code=a%2Fb+c&state=s&iss=https%3A%2F%2Fid.example&x=y&x=z");
        let read = read.unwrap();
        assert_eq!((read.state.as_str(), read.code.as_deref()), ("s", Some("a/b c")));
        assert_eq!(read.issuer.as_deref(), Some("https://id.example"));
        let refused = Returned::parse("error=access_denied&state=s").unwrap();
        assert_eq!((refused.code, refused.issuer), (None, None));
        for wrong in [
            "",
            "code=a",
            "state=s",
            "code=&state=s",
            "code=a&state=s&state=t",
            "code=a&state=s&stat%65=t",
            "code=a&code=a&state=s",
            "code=a&state=s&iss=a&iss=b",
            "code=a&error=x&state=s",
            "code=%&state=s",
            "code=%4&state=s",
            "code=%zz&state=s",
            "code=%+1&state=s",
            "code=%ff&state=s",
            "code=a%0d%0ab&state=s",
            "code=a%00&state=s",
            &format!("code={}&state=s", "x".repeat(LONGEST + 1)),
        ] {
            assert_eq!(Returned::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(query in "\\PC{0,200}", hexes in "[%0-9a-f&=+]{0,60}") {
            _ = Returned::parse(&query);
            _ = Returned::parse(&format!("code={hexes}&state=s"));
        }
    }
}
