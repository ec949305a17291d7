//! Secrets that code can use and never sees.
//!
//! # Threat
//! Code that needs a token to work, and that could then send it anywhere, print it or keep it.
//!
//! # Mechanism
//! Code gets a placeholder: random, made for one session, worthless by itself. The proxy outside
//! opens the connections to the hosts that the person allowed for a secret, and asks a [`Broker`]
//! about each request. Only in the one header or field, for the one host and port, and by a method
//! that the person allowed does the value take the placeholder's place. Anywhere else the placeholder
//! goes out as it is. Whatever comes back is masked.
//!
//! # Order
//! The [`SecretUse`]s of a request are on record before a byte of it goes out.
//!
//! # Limits
//! The host that gets the value can do with it as it likes: it may be made to act for the person, or
//! to show the value in a form that is not looked for.
//!
//! Pure: whoever makes one brings the values and the random part.

mod field;
mod grant;
mod used;

pub use self::{
    grant::{GrantError, GrantedMethod, SecretCarrier, SecretGrant, check_value},
    used::{SecretUse, WantedUse},
};

use self::field::BodyForm;
use crate::{Admission, Redactor, Secret, egress::Host};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::{collections::BTreeMap, fmt};

const NO_BODY: &str = "a body carries no secrets";

const TWICE: &str = "its placeholder appears more than once";

/// Characters of a path that are put on record.
const LONGEST_PATH: usize = 300;

/// A header of a request: its name in lower case, and its value.
pub type RequestHeader = (String, Vec<u8>);

/// The name of a header as servers read it that do not tell `_` from `-`.
pub fn hyphenated(name: &str) -> String {
    name.replace('_', "-")
}

/// Puts values in the place of placeholders, where the person allowed it.
#[derive(Default)]
pub struct Broker {
    secrets: Vec<Brokered>,
}

/// One secret, with its stand-in.
struct Brokered {
    name: String,
    value: Secret,
    placeholder: String,
    grants: Vec<SecretGrant>,
}

/// A text with the value in the place of its placeholder.
enum Replaced {
    /// There is none.
    Absent,
    /// There is more than one.
    Twice,
    With(Vec<u8>),
}

/// A request, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The host that the connection leads to.
    pub host: &'a Host,
    /// Its port.
    pub port: u16,
    /// The method.
    pub method: &'a str,
    /// The path and the query.
    pub target: &'a str,
    /// The headers.
    pub headers: &'a [RequestHeader],
    /// Bytes of the body, or `None` if they are not known beforehand.
    pub body: Option<u64>,
}

/// A request that may go out once its uses are on record.
pub struct FilledRequest {
    /// The headers, with values in them.
    pub headers: Vec<RequestHeader>,
    /// The body, with values in it, if it was read.
    pub body: Option<Vec<u8>>,
    /// The uses, also those that are refused.
    pub uses: Vec<SecretUse>,
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Broker({} secrets)", self.secrets.len())
    }
}

impl fmt::Debug for FilledRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FilledRequest({} uses)", self.uses.len())
    }
}

impl Broker {
    /// Adds a secret. `random` must be made anew for each session, and hard to guess. Grants of
    /// other secrets are left out, and so is a value that cannot be looked for in an answer, or
    /// cannot stand in a header.
    pub fn add(&mut self, name: &str, value: Secret, grants: &[SecretGrant], random: &str) {
        let grants: Vec<_> = grants.iter().filter(|one| one.name == name).cloned().collect();
        if grants.is_empty() || check_value(&value).is_err() {
            return;
        }
        let placeholder = format!("placeholder-{name}-{random}");
        self.secrets.push(Brokered { name: name.to_owned(), value, placeholder, grants });
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// The placeholders, as variables of the code.
    pub fn variables(&self) -> BTreeMap<String, String> {
        let one = |one: &Brokered| (one.name.clone(), one.placeholder.clone());
        self.secrets.iter().map(one).collect()
    }

    /// Everything that is allowed.
    pub fn grants(&self) -> impl Iterator<Item = &SecretGrant> {
        self.secrets.iter().flat_map(|one| &one.grants)
    }

    /// Whether connections to this place are opened.
    pub fn opens(&self, host: &Host, port: u16) -> bool {
        self.grants().any(|grant| grant.is_for(host, port))
    }

    /// Finds the values in text that comes back from a place: those alone that may go there, so that
    /// no other host can be made to tell about them. The names of headers come in lower case.
    pub fn values(&self, host: &Host, port: u16) -> Redactor {
        let is_for = |one: &&Brokered| one.grants.iter().any(|grant| grant.is_for(host, port));
        let there: Vec<_> = self.secrets.iter().filter(is_for).collect();
        let lower = there.iter().map(|one| Secret::new(one.value.reveal().to_lowercase()));
        let lower: Vec<_> = there.iter().map(|one| one.name.as_str()).zip(lower).collect();
        let values = there.iter().map(|one| (one.name.as_str(), &one.value));
        Redactor::default().knowing(values.chain(lower.iter().map(|(name, value)| (*name, value))))
    }

    /// Whether the body of a request is to be read before it goes out, because a field of it may
    /// carry a value. It is not long then.
    pub fn reads_body(&self, request: &RequestHead<'_>) -> bool {
        request.body != Some(0) && self.secrets.iter().any(|one| one.field_in(request).is_ok())
    }

    /// The request with values in it where that is allowed, and what is to be recorded first. `body`
    /// is all of it, if it was read.
    pub fn fill(&self, request: &RequestHead<'_>, body: Option<Vec<u8>>) -> FilledRequest {
        let mut filled = FilledRequest { headers: request.headers.to_vec(), body, uses: vec![] };
        for secret in &self.secrets {
            secret.fill(request, &mut filled);
        }
        filled
    }

    /// The uses that a request by plain HTTP would be. None of them is allowed.
    pub fn refused_in_plain(&self, host: &Host, port: u16, head: &[u8]) -> Vec<SecretUse> {
        let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let there = self.secrets.iter().filter(|one| holds(head, &one.placeholder));
        let refused = |one: &Brokered| {
            let request = RequestHead { host, port, method, target, headers: &[], body: None };
            one.used(&request, Some("plain HTTP carries no secrets; use `https://`".into()))
        };
        there.map(refused).collect()
    }

    /// The uses that a body would be that is not read before it goes out, by the placeholders in a
    /// part of it. None of them is allowed.
    pub fn refused_in_body(&self, request: &RequestHead<'_>, part: &[u8]) -> Vec<SecretUse> {
        let there = self.secrets.iter().filter(|one| holds(part, &one.placeholder));
        let why = |one: &Brokered| one.field_in(request).err().unwrap_or_else(|| NO_BODY.into());
        there.map(|one| one.used(request, Some(why(one)))).collect()
    }

    /// Bytes of the longest placeholder.
    pub fn longest_placeholder(&self) -> usize {
        self.secrets.iter().map(|one| one.placeholder.len()).max().unwrap_or_default()
    }
}

impl Brokered {
    fn fill(&self, request: &RequestHead<'_>, into: &mut FilledRequest) {
        let FilledRequest { headers, body, uses } = into;
        let grant = self.grant_for(request);
        let mut refuse = |why: String| {
            let refused = self.used(request, Some(why));
            if !uses.contains(&refused) {
                uses.push(refused);
            }
        };
        if holds(request.target.as_bytes(), &self.placeholder) {
            refuse("an address carries no secrets".into());
        }
        let mut filled = false;
        for at in 0..headers.len() {
            let (name, value) = &headers[at];
            let with_value = match self.replaced(value) {
                Replaced::Absent => continue,
                Replaced::Twice => None,
                Replaced::With(value) => Some(value),
            };
            let why_not = grant.as_ref().map_err(Clone::clone).and_then(|grant| {
                let why = grant.why_not_by(request.method).or_else(|| grant.why_not_in(name));
                let same = headers.iter().filter(|(other, _)| other == name).count();
                let twice =
                    || (same > 1).then(|| format!("there is more than one header `{name}`"));
                let why = why.or_else(twice).or_else(|| why_not_to(request));
                why.map_or(Ok(()), Err)
            });
            match (why_not, with_value) {
                (Err(why), _) => refuse(why),
                (Ok(()), None) => refuse(TWICE.into()),
                (Ok(()), Some(with_value)) => {
                    headers[at].1 = with_value;
                    filled = true;
                }
            }
        }
        if let Some(text) = body.as_mut().filter(|text| holds(text, &self.placeholder)) {
            match self.in_field(request, text) {
                Err(why) => refuse(why),
                Ok(with_value) => {
                    *text = with_value;
                    filled = true;
                }
            }
        }
        if filled {
            uses.push(self.used(request, None));
        }
    }

    /// The grant for the place of a request, or the words that there is none.
    fn grant_for(&self, request: &RequestHead<'_>) -> Result<&SecretGrant, String> {
        let grant = self.grants.iter().find(|one| one.is_for(request.host, request.port));
        grant.ok_or_else(|| "you did not allow it there".to_owned())
    }

    /// The field of the body that may carry it, and how the body is written; or why none may.
    fn field_in(&self, request: &RequestHead<'_>) -> Result<(&str, BodyForm), String> {
        let grant = self.grant_for(request)?;
        let SecretCarrier::Field(field) = &grant.carrier else { return Err(NO_BODY.into()) };
        let why = grant.why_not_by(request.method).or_else(|| why_not_to(request));
        why.map_or(Ok(()), Err)?;
        Ok((field, field::form(request)?))
    }

    /// A body with the secret in its field, or why it is not put in.
    fn in_field(&self, request: &RequestHead<'_>, body: &[u8]) -> Result<Vec<u8>, String> {
        let (field, form) = self.field_in(request)?;
        let at = form.find(body, field, &self.placeholder)?;
        let (before, after) = (&body[..at.start], &body[at.end..]);
        if holds(before, &self.placeholder) || holds(after, &self.placeholder) {
            return Err(TWICE.into());
        }
        // The other place that puts a value into a request.
        let value = form.written(self.value.reveal());
        Ok([before, value.as_bytes(), after].concat())
    }

    /// The value of a header with the secret in it. A user and a password in base64 are read, too.
    fn replaced(&self, text: &[u8]) -> Replaced {
        if let Some(at) = find(text, &self.placeholder) {
            return self.put(text, at);
        }
        let (scheme, digits) = text.split_at_checked(6).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return Replaced::Absent;
        }
        let plain = STANDARD.decode(digits.trim_ascii()).unwrap_or_default();
        let Some(at) = find(&plain, &self.placeholder) else { return Replaced::Absent };
        match self.put(&plain, at) {
            Replaced::With(plain) => {
                Replaced::With([scheme, STANDARD.encode(plain).as_bytes()].concat())
            }
            other @ (Replaced::Absent | Replaced::Twice) => other,
        }
    }

    fn put(&self, text: &[u8], at: usize) -> Replaced {
        let (before, rest) = text.split_at(at);
        let after = &rest[self.placeholder.len()..];
        if holds(after, &self.placeholder) {
            return Replaced::Twice;
        }
        // One of two places that put a value into a request: to the host that the person allowed.
        Replaced::With([before, self.value.reveal().as_bytes(), after].concat())
    }

    fn used(&self, request: &RequestHead<'_>, why: Option<String>) -> SecretUse {
        let path = request.target.split(['?', '#']).next().unwrap_or_default();
        let verdict = if why.is_none() { Admission::Allowed } else { Admission::Refused };
        SecretUse {
            name: self.name.clone(),
            method: request.method.chars().take(20).collect(),
            host: request.host.clone(),
            port: request.port,
            path: path.chars().take(LONGEST_PATH).collect(),
            verdict,
            why,
            count: 1,
        }
    }
}

/// Why nothing is put into a request to this address.
fn why_not_to(request: &RequestHead<'_>) -> Option<String> {
    field::query_names_method(request.target).then(|| field::NAMES_METHOD.to_owned())
}

fn find(text: &[u8], placeholder: &str) -> Option<usize> {
    text.windows(placeholder.len()).position(|window| window == placeholder.as_bytes())
}

fn holds(text: &[u8], placeholder: &str) -> bool {
    find(text, placeholder).is_some()
}

#[cfg(test)]
mod tests;
