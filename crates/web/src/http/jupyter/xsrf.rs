//! The random text that a client of Jupyter repeats, so that no page of somebody else can use its
//! cookies. Pure.
//!
//! Must not be all that opens something: whoever can set a cookie of a client chooses the text.

use crate::http::{cookies::cookies, random_key::KeyHash};
use hyper::{HeaderMap, header::HeaderName};

/// The cookie with the random text, as clients expect it.
pub(super) const XSRF_COOKIE: &str = "_xsrf";

const XSRF_HEADER: HeaderName = HeaderName::from_static("x-xsrftoken");

/// Whether a request repeats the random text in a header, which no form can.
pub(in crate::http) fn has_xsrf_header(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(XSRF_HEADER).iter();
    let first = values.next().and_then(|value| value.to_str().ok());
    values.next().is_none() && first.is_some_and(|text| is_xsrf_cookie(headers, text))
}

/// Whether a cookie has this text.
pub(super) fn is_xsrf_cookie(headers: &HeaderMap, text: &str) -> bool {
    let given = KeyHash::of(text);
    !text.is_empty() && cookies(headers, XSRF_COOKIE).any(|value| KeyHash::of(value).fits(&given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_header_repeats_the_cookie_exactly_once() {
        let has = |all: &[(&'static str, &str)]| has_xsrf_header(&headers(all));
        assert!(has(&[("cookie", "_xsrf=abc"), ("x-xsrftoken", "abc")]));
        for wrong in [
            &[("cookie", "_xsrf=abc")][..],
            &[("x-xsrftoken", "abc")],
            &[("cookie", "_xsrf="), ("x-xsrftoken", "")],
            &[("cookie", "_xsrf=abc"), ("x-xsrftoken", "abd")],
            &[("cookie", "_xsrf=abc"), ("x-xsrftoken", "abc"), ("x-xsrftoken", "abc")],
            &[("cookie", "other_xsrf=abc"), ("x-xsrftoken", "abc")],
        ] {
            assert!(!has(wrong), "{wrong:?}");
        }
    }
}
