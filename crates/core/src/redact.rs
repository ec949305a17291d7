//! Takes secrets out of text: values that are known, and tokens of a well-known shape.
//!
//! # Threat
//! A key that a program prints, a person pastes or a file holds, and that then goes to a model, onto
//! the screen, or into a record that is kept for good.
//!
//! # Mechanism
//! One automaton finds every known value, in its usual encodings, and the beginning of every known
//! shape, in one pass. A match becomes `[secret:NAME]`. Text that comes in pieces goes through
//! [`RedactedStream`], which holds back whatever may still turn out to be a part of one.
//!
//! # Order
//! Text is redacted before it is hashed, recorded, shown or sent. Text that somebody decides on is
//! never changed by a shape, nor is its record: see [`Drawn`].
//!
//! # Limits
//! A value of fewer than [`LEAST`] bytes is not looked for: too much else would match. Neither are
//! values beyond [`MOST`], nor what of one is beyond [`LONGEST`] bytes; whoever begins a session says
//! so. A program that wants to can print a secret in a form that nobody knows. This protects against accidents; the
//! sandbox protects against programs, because no secret is inside.

mod body;
mod decided;
mod drawn;
pub(crate) mod encodings;
mod masked;
mod output;
mod search;
mod shapes;
mod stream;

pub use self::{
    drawn::{Drawn, named},
    masked::MaskedStream,
    output::RedactedOutput,
    search::Scope,
    stream::RedactedStream,
};

use self::{
    search::{Found, Pattern, Search},
    shapes::{End, shapes},
};
use crate::{
    Secret, Untrusted,
    secret::{LEAST, LONGEST},
};
use std::{borrow::Cow, fmt};

/// Bytes that are looked for as one, at most. A longer value is looked for in several pieces, so
/// that no more than this is held back while it may still come.
const PIECE: usize = 16 << 10;

/// How the text begins that stands for a secret. Its name and a bracket follow.
pub(crate) const MASK: &str = "[secret:";

/// Known values at most.
pub const MOST: usize = 1_000;

/// Finds secrets in text.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The values in all their encodings, each with the number of its name.
    forms: Vec<(Vec<u8>, usize)>,
    names: Vec<String>,
    /// Values that are not looked for because there are too many, and those of which only the
    /// beginning is.
    left_out: usize,
    has_shapes: bool,
    search: Option<Search>,
}

impl Redactor {
    /// Finds tokens by their shape, and no values yet.
    pub fn of_shapes() -> Self {
        Self { has_shapes: true, ..Self::default() }.rebuilt()
    }

    /// Finds these values too, by their names. Values that are too short, and more than [`MOST`], are
    /// left out.
    #[must_use]
    pub fn knowing<'a>(&self, values: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Self {
        let mut more = self.clone();
        for (name, value) in values {
            if more.names.len() < MOST {
                more.add(name, value);
            } else if value.reveal().trim().len() >= LEAST {
                more.left_out += 1;
            }
        }
        more.rebuilt()
    }

    /// Finds this value too, which came up in a session, however many there are.
    #[must_use]
    pub fn having_learned(&self, name: &str, value: &Secret) -> Self {
        let mut more = self.clone();
        more.add(name, value);
        more.rebuilt()
    }

    /// Finds known values where all letters have become small, as in the names of hosts.
    pub(crate) fn of_small_letters(&self) -> Self {
        let mut small = Self { names: self.names.clone(), ..Self::default() };
        let forms = self.forms.iter().map(|(form, name)| (form.to_ascii_lowercase(), *name));
        small.forms = forms.collect();
        small.rebuilt()
    }

    fn add(&mut self, name: &str, value: &Secret) {
        let value = value.reveal().trim();
        if value.len() < LEAST {
            return;
        }
        let looked_for = &value[..boundary(value, LONGEST)];
        self.left_out += usize::from(looked_for.len() < value.len());
        let number = self.names.len();
        self.names.push(name.to_owned());
        for piece in pieces(looked_for) {
            let forms = encodings::forms(piece);
            self.forms.extend(forms.into_iter().map(|form| (form, number)));
        }
    }

    /// How many values are not looked for, or not in whole, because of the bounds.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    fn rebuilt(mut self) -> Self {
        let known = self.forms.iter().map(|(form, name)| (form.clone(), Pattern::Known(*name)));
        let starts = self.has_shapes.then(shapes).unwrap_or_default().iter().enumerate();
        let starts = starts.flat_map(|(number, shape)| {
            let starts = shape.starts.iter().map(|start| start.clone().into_bytes());
            starts.map(move |start| (start, Pattern::Start(number)))
        });
        let patterns: Vec<_> = known.chain(starts).collect();
        self.search = Search::new(patterns);
        self
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.search.is_none()
    }

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str, scope: Scope) -> Cow<'a, str> {
        self.replaced(text, scope, |of, clean| self.put(of, clean))
    }

    /// The text with something else in the place of each secret.
    fn replaced<'a>(
        &self,
        text: &'a str,
        scope: Scope,
        put: impl Fn(Pattern, &mut String),
    ) -> Cow<'a, str> {
        let Some(search) = &self.search else { return text.into() };
        let (found, _) = search.scan(text, scope, End::Final);
        if found.is_empty() {
            return text.into();
        }
        let mut clean = String::with_capacity(text.len());
        let mut at = 0;
        for Found { range, of } in found {
            clean.push_str(&text[at..range.start]);
            put(of, &mut clean);
            at = range.end;
        }
        clean.push_str(&text[at..]);
        clean.into()
    }

    /// The same for somebody else's text, which is not copied if there is nothing to take out.
    #[must_use]
    pub fn untrusted(&self, text: Untrusted, scope: Scope) -> Untrusted {
        match self.text(text.raw(), scope) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => Untrusted::new(clean),
        }
    }

    /// The same in place.
    pub fn clean(&self, text: &mut String, scope: Scope) {
        if let Cow::Owned(clean) = self.text(text, scope) {
            *text = clean;
        }
    }

    /// Whether a text may hold a secret. Never misses one.
    fn suspects(&self, text: &str) -> bool {
        self.search.as_ref().is_some_and(|search| search.has_hit(text.as_bytes()))
    }

    /// Writes the text that replaces a secret.
    fn put(&self, of: Pattern, text: &mut String) {
        let name = match of {
            Pattern::Known(number) => self.names.get(number).map_or("", String::as_str),
            Pattern::Start(number) => shapes().get(number).map_or("", |shape| &shape.name),
        };
        text.push_str(MASK);
        text.push_str(name);
        text.push(']');
    }
}

/// A value in parts that are looked for one by one, at best whole lines. None is so short that it
/// would not be looked for.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let length = match rest.len() {
            0 => return None,
            whole @ ..=PIECE => whole,
            length => boundary(rest, PIECE.min(length / 2)),
        };
        let line = rest[..length].rfind('\n').filter(|at| *at > length / 2);
        let end = if length == rest.len() { length } else { line.map_or(length, |at| at + 1) };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// The last place up to `most` where a text can be cut.
fn boundary(text: &str, most: usize) -> usize {
    (0..=text.len().min(most)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} values, shapes: {})", self.names.len(), self.has_shapes)
    }
}

#[cfg(test)]
mod decided_tests;
#[cfg(test)]
mod tests;
