//! The cookies of a request. Pure.
//!
//! Another server on this computer can put some of any name in front of ours, so all of a name are
//! given, and whoever asks decides by their text.

use hyper::{HeaderMap, header::COOKIE};

/// Every cookie of a name.
pub(super) fn cookies<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(move |pair| {
        let (known, value) = pair.trim_matches(' ').split_once('=')?;
        (known == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn all_of_a_name_are_given_and_none_that_only_looks_alike() {
        let mut headers = HeaderMap::new();
        for line in ["a=1; b=2;a=3", "xa=4; a; a=x=y ;=5", "a=\u{e9}"] {
            headers.append("cookie", HeaderValue::from_str(line).unwrap());
        }
        assert_eq!(cookies(&headers, "a").collect::<Vec<_>>(), ["1", "3", "x=y"]);
        assert_eq!(cookies(&headers, "c").count(), 0);
    }
}
