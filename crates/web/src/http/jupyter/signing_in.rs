//! The form by which clients of Jupyter log in: the password in it is a token. Pure.
//!
//! # Threat
//! A page of somebody else that sends the form, so that a browser holds a login which its person
//! did not ask for; or that uses the login of a program.
//!
//! # Mechanism
//! The form counts only with a random text that came with the page before, as a cookie and in the
//! form; later requests repeat it in a header. The gate answers no browser on these routes at all.
//!
//! # Limits
//! Whoever can set a cookie of a client can choose that text; it opens nothing by itself.

use super::xsrf::{XSRF_COOKIE, is_xsrf_cookie};
use crate::http::{
    answers::{self, Answered},
    random_key::{NoRandomness, RandomKey},
    refusal::HttpRefusal,
};
use hyper::HeaderMap;
use interpreter_core::Secret;

/// Fields of a form.
const MOST_FIELDS: usize = 8;

/// The page before the form: all that a client takes from it is a cookie.
pub(in crate::http) fn sign_in_page(secure: &str) -> Result<Answered, NoRandomness> {
    let text = RandomKey::new()?;
    let cookie =
        format!("{XSRF_COOKIE}={}; Path=/; HttpOnly; SameSite=Strict{secure}", text.text());
    Ok(answers::with_cookie(answers::text("Log in with a token as the password.\n"), &cookie))
}

/// The token of a form, if it was sent from the page before.
pub(in crate::http) fn token_of_form(
    headers: &HeaderMap,
    form: &[u8],
) -> Result<Secret, HttpRefusal> {
    let form = std::str::from_utf8(form).map_err(|_| HttpRefusal::NotForm)?;
    let (mut xsrf, mut password) = (None, None);
    for (count, pair) in form.split('&').enumerate() {
        let (name, value) = pair.split_once('=').ok_or(HttpRefusal::NotForm)?;
        let slot = match name {
            "_xsrf" => &mut xsrf,
            "password" => &mut password,
            _ => return Err(HttpRefusal::NotForm),
        };
        // Nothing that a client sends here needs to be escaped.
        if count >= MOST_FIELDS || slot.replace(value).is_some() {
            return Err(HttpRefusal::NotForm);
        }
    }
    let is_ours = xsrf.is_some_and(|xsrf| is_xsrf_cookie(headers, xsrf));
    if !is_ours {
        return Err(HttpRefusal::OtherOrigin);
    }
    password.map(|token| Secret::new(token.to_owned())).ok_or(HttpRefusal::NotForm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderValue, SET_COOKIE};

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_form_counts_with_the_text_of_the_page_before() {
        let page = sign_in_page("").unwrap();
        let cookie = page.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap();
        let text = cookie.strip_prefix("_xsrf=").unwrap();
        assert_ne!(sign_in_page("").unwrap().headers()[SET_COOKIE], page.headers()[SET_COOKIE]);
        let with = headers(&[("cookie", &format!("a=1; {cookie}"))]);
        let token = |headers: &HeaderMap, form: &str| {
            token_of_form(headers, form.as_bytes()).map(|token| token.reveal().to_owned())
        };
        let form = format!("_xsrf={text}&password=secret");
        assert_eq!(token(&with, &form), Ok("secret".into()));
        for other in [headers(&[]), headers(&[("cookie", "_xsrf=")]), headers(&[("cookie", text)])]
        {
            assert_eq!(token(&other, &form), Err(HttpRefusal::OtherOrigin), "{other:?}");
        }
        for wrong in ["_xsrf=&password=secret", "password=secret", "_xsrf=x&password=secret"] {
            assert_eq!(token(&with, wrong), Err(HttpRefusal::OtherOrigin), "{wrong}");
        }
        for wrong in
            ["", "{}", &format!("{form}&password=other"), &format!("{form}&more=1"), "password"]
        {
            assert_eq!(token(&with, wrong), Err(HttpRefusal::NotForm), "{wrong}");
        }
        assert_eq!(token(&with, &format!("_xsrf={text}")), Err(HttpRefusal::NotForm));
        assert!(token_of_form(&with, b"\xff").is_err());
    }
}
