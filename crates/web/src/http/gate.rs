//! Decides whether a request is answered, by its head alone.
//!
//! # Threat
//! Any page that the person visits can send requests to this computer; any program on it can
//! connect; a proxy can be made to see other requests than we do.
//!
//! # Mechanism
//! One function, from the head of a request and what is known here to a row of the table and a
//! visitor, or to a refusal. It asks in this order: whether the request is unambiguous, whether it
//! names a host of ours, whether there is such a route, whether a browser sent it from our page,
//! whether its body is short and JSON, and who the caller is and what they may do. Rights come from
//! the login or token, never from the request. No answer ever allows another origin.
//!
//! Must not read, wait, or look at a body.

use super::{
    cookies::cookies,
    host_names::{HostNames, HostPort},
    jupyter::has_xsrf_header,
    logins::{Known, Logins, Shown},
    refusal::HttpRefusal,
    routes::{self, BodyForm, KeyIn, Needs, RouteRule, SentFrom},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::{
    HeaderMap, Method, Uri, Version,
    header::{
        AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, ORIGIN,
        SEC_WEBSOCKET_PROTOCOL, TRANSFER_ENCODING,
    },
};
use std::time::Instant;

/// The one subprotocol that is spoken.
pub(super) const SUBPROTOCOL: &str = "interpreter.v1";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
pub(super) const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The head of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct HttpHead<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) version: Version,
    pub(super) headers: &'a HeaderMap,
}

/// Everything that the gate knows, but for who is known.
#[derive(Debug)]
pub(super) struct GateKeeper<'a, F> {
    pub(super) names: &'a HostNames,
    pub(super) cookie: &'a str,
    /// The cookie of programs, which opens nothing of the page.
    pub(super) program_cookie: &'a str,
    pub(super) is_page_file: F,
}

/// Everybody who is known, at a time.
#[derive(Clone, Copy, Debug)]
struct KnownNow<'a>(&'a Logins, Instant);

/// A request that is answered.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) rule: &'static RouteRule,
    /// Who sent it; nobody where nothing is needed.
    pub(super) known: Option<Known>,
}

impl<F: Fn(&str) -> bool + Copy> GateKeeper<'_, F> {
    /// Decides whether a request may be looked at further, whoever sent it. Until then nothing is
    /// looked up for it.
    pub(super) fn screen(&self, head: HttpHead<'_>) -> Result<&'static RouteRule, HttpRefusal> {
        if head.version != Version::HTTP_11 && head.version != Version::HTTP_10 {
            return Err(HttpRefusal::Ambiguous);
        }
        // A target with a host of its own would be a second `Host`.
        if head.uri.scheme().is_some() || head.uri.authority().is_some() {
            return Err(HttpRefusal::Ambiguous);
        }
        let host = one(head.headers, &HOST)?.ok_or(HttpRefusal::Ambiguous)?;
        let host = self.names.find(host).ok_or(HttpRefusal::OtherHost)?;
        let path = head.uri.path();
        let rule = routes::find(head.method.as_str(), path, self.is_page_file)
            .ok_or(HttpRefusal::Unknown)?;
        self.check_source(rule, head.headers, &host)?;
        if rule.key_in == KeyIn::ProgramCookie && names_token(head.uri.query()) {
            return Err(HttpRefusal::TokenInUrl);
        }
        check_body(rule, head.headers)?;
        Ok(rule)
    }

    /// Decides about one request.
    pub(super) fn decide(
        &self,
        head: HttpHead<'_>,
        logins: &Logins,
        now: Instant,
    ) -> Result<Admitted, HttpRefusal> {
        let (rule, all) = (self.screen(head)?, KnownNow(logins, now));
        let known = match rule.needs {
            Needs::Nothing => None,
            Needs::Login => Some(self.known(rule, head, all)?),
            Needs::Right(right) => {
                let known = self.known(rule, head, all)?;
                if !known.caller.rights.has(right) {
                    return Err(HttpRefusal::NoRight);
                }
                Some(known)
            }
        };
        Ok(Admitted { rule, known })
    }

    /// Refuses what a browser sends for a page of somebody else.
    fn check_source(
        &self,
        rule: &RouteRule,
        headers: &HeaderMap,
        host: &HostPort,
    ) -> Result<(), HttpRefusal> {
        if let Some(origin) = one(headers, &ORIGIN)?
            && origin != host.origin(self.names.scheme())
        {
            return Err(HttpRefusal::OtherOrigin);
        }
        let is_page = one(headers, &SEC_FETCH_MODE)? == Some("navigate")
            && one(headers, &SEC_FETCH_DEST)? == Some("document");
        let is_ours = match (one(headers, &SEC_FETCH_SITE)?, rule.from) {
            // An older browser or another program: both need the key.
            (None, _) => true,
            (Some("same-origin"), from) => from != SentFrom::NoPage,
            (Some("none"), from) => !matches!(from, SentFrom::NoPage | SentFrom::OurPage),
            (Some(_), from) => from == SentFrom::AnyLink && is_page,
        };
        if is_ours { Ok(()) } else { Err(HttpRefusal::OtherOrigin) }
    }

    /// Whoever has shown a secret with this request.
    fn known(
        &self,
        rule: &RouteRule,
        head: HttpHead<'_>,
        all: KnownNow<'_>,
    ) -> Result<Known, HttpRefusal> {
        let authorization = one(head.headers, &AUTHORIZATION)?;
        let found = match authorization.map(|text| text.split_once(' ')) {
            Some(Some(("Bearer", token))) => all.0.by_token(token, all.1),
            Some(Some(("token", token))) if rule.key_in == KeyIn::ProgramCookie => {
                all.0.by_token(token, all.1)
            }
            Some(Some(("Key", key))) if rule.key_in != KeyIn::ProgramCookie => {
                self.by_cookie(head.headers, Shown::Key(key), all)
            }
            Some(_) => None,
            None => match rule.key_in {
                KeyIn::Subprotocol => subprotocol_key(head.headers)?
                    .and_then(|key| self.by_cookie(head.headers, Shown::Key(&key), all)),
                KeyIn::Signature => parameter(head.uri.query(), "k")?.and_then(|proof| {
                    let shown = Shown::Signature { path: head.uri.path(), proof };
                    self.by_cookie(head.headers, shown, all)
                }),
                KeyIn::ProgramCookie if has_xsrf_header(head.headers) => {
                    let ours = cookies(head.headers, self.program_cookie);
                    all.0.by_program_cookie(ours, all.1)
                }
                KeyIn::Header | KeyIn::ProgramCookie => None,
            },
        };
        found.ok_or(HttpRefusal::NotLoggedIn)
    }

    /// Looks at every cookie of our name: another server on this computer can put many in front.
    /// The length of the head bounds them.
    fn by_cookie(
        &self,
        headers: &HeaderMap,
        shown: Shown<'_>,
        KnownNow(logins, now): KnownNow<'_>,
    ) -> Option<Known> {
        logins.by_cookie(cookies(headers, self.cookie), shown, now)
    }
}

/// The token of a request, if its route takes one.
pub(super) fn bearer<'a>(rule: &RouteRule, headers: &'a HeaderMap) -> Option<&'a str> {
    if rule.needs == Needs::Nothing {
        return None;
    }
    match one(headers, &AUTHORIZATION).ok().flatten()?.split_once(' ')? {
        ("Bearer", token) => Some(token),
        ("token", token) if rule.key_in == KeyIn::ProgramCookie => Some(token),
        _ => None,
    }
}

/// Whether a request shows a key or a token, right or wrong.
pub(super) fn shows_key(headers: &HeaderMap) -> bool {
    headers.contains_key(AUTHORIZATION) || subprotocol_key(headers).is_ok_and(|key| key.is_some())
}

/// The only value of a header, if it has one.
pub(super) fn one<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, HttpRefusal> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(HttpRefusal::Ambiguous);
    }
    first.to_str().map(Some).map_err(|_| HttpRefusal::Ambiguous)
}

/// Whether there is a token in an address, where it would end up in logs and error messages.
fn names_token(query: Option<&str>) -> bool {
    query.unwrap_or_default().split('&').any(|pair| pair.split('=').next() == Some("token"))
}

/// A body has a length that is within bounds, and the form of its route.
fn check_body(rule: &RouteRule, headers: &HeaderMap) -> Result<(), HttpRefusal> {
    // Two ways to say where a body ends are one too many.
    if headers.contains_key(TRANSFER_ENCODING) {
        return Err(HttpRefusal::NoLength);
    }
    let length = match one(headers, &CONTENT_LENGTH)? {
        None if rule.body > 0 && rule.body_form != BodyForm::JsonOrNothing => {
            return Err(HttpRefusal::NoLength);
        }
        None => 0,
        Some(digits) => digits.parse::<u64>().map_err(|_| HttpRefusal::Ambiguous)?,
    };
    if length > rule.body {
        return Err(HttpRefusal::TooLarge);
    }
    let wanted = match rule.body_form {
        BodyForm::Bytes => return Ok(()),
        BodyForm::JsonOrNothing if length == 0 => return Ok(()),
        BodyForm::Json | BodyForm::JsonOrNothing | BodyForm::Fields if rule.body == 0 => {
            return Ok(());
        }
        BodyForm::Json | BodyForm::JsonOrNothing => ("application/json", HttpRefusal::NotJson),
        BodyForm::Fields => ("application/x-www-form-urlencoded", HttpRefusal::NotForm),
    };
    let (wanted, refusal) = wanted;
    let is_wanted = |kind: &str| {
        let kind = kind.to_ascii_lowercase();
        kind == wanted || kind.replace(' ', "") == format!("{wanted};charset=utf-8")
    };
    if one(headers, &CONTENT_TYPE)?.is_some_and(is_wanted) { Ok(()) } else { Err(refusal) }
}

/// The key among the subprotocols that a WebSocket offers, beside ours. Its text is in base64url,
/// because not every text can be a subprotocol.
fn subprotocol_key(headers: &HeaderMap) -> Result<Option<String>, HttpRefusal> {
    let Some(offered) = one(headers, &SEC_WEBSOCKET_PROTOCOL)? else { return Ok(None) };
    let mut words = offered.split(',').map(str::trim);
    if !words.clone().any(|word| word == SUBPROTOCOL) {
        return Ok(None);
    }
    let encoded = words.find_map(|word| word.strip_prefix("key."));
    let bytes = encoded.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

/// The only value of a parameter. Nothing that we read needs to be escaped.
pub(super) fn parameter<'a>(
    query: Option<&'a str>,
    name: &str,
) -> Result<Option<&'a str>, HttpRefusal> {
    let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value);
    let first = values.next();
    if values.next().is_some() { Err(HttpRefusal::Ambiguous) } else { Ok(first) }
}

#[cfg(test)]
mod tests;
