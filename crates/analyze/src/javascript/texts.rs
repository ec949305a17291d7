//! The texts and lists that expressions of JavaScript give, as far as they stand in the code.
//!
//! A text that cannot be followed is computed, never empty. Binds no name and judges nothing.

use super::{
    kinds::{Field, Kind},
    names::{DEPTH, LONGEST, Names},
    nodes::{is_cut, is_sum, name_of, quoted, undone},
    text::unescape,
    tree::Node,
    values,
};
use crate::{decode::Encoding, literal::Literal, rules::BUILT_IN};

impl Names {
    /// The text that an expression gives.
    pub(super) fn text(&self, node: Node<'_>, source: &str) -> Literal {
        self.fuel.for_text(|| self.text_within(node, source, DEPTH))
    }

    pub(super) fn text_within(&self, node: Node<'_>, source: &str, left: usize) -> Literal {
        let text = self.any_text(node, source, left);
        let length = text.len();
        let is_short = length <= LONGEST && self.fuel.copy(length).is_some();
        if is_short {
            return text;
        }
        self.fuel.cut();
        Literal::computed()
    }

    fn any_text(&self, node: Node<'_>, source: &str, left: usize) -> Literal {
        let (Some(left), Some(())) = (left.checked_sub(1), self.fuel.step()) else {
            self.fuel.cut();
            return Literal::computed();
        };
        let of = |name: Field| match node.child(name) {
            Some(node) => self.text_within(node, source, left),
            None => Literal::computed(),
        };
        match node.kind() {
            Kind::STRING | Kind::TEMPLATE if is_cut(node) => {
                self.fuel.cut();
                Literal::computed()
            }
            Kind::STRING => quoted(node, source),
            Kind::TEMPLATE => node.children().fold(Literal::default(), |text, part| {
                text.then(match (part.kind(), part.children().next()) {
                    (Kind::SUBSTITUTION, Some(inner)) => self.text_within(inner, source, left),
                    (Kind::STRING_FRAGMENT | Kind::ESCAPE, _) => {
                        Literal::known(unescape(source.get(part.byte_range()).unwrap_or_default()))
                    }
                    _ => Literal::computed(),
                })
            }),
            Kind::IDENTIFIER => {
                let value = self.value(&name_of(node, source));
                let value = value.filter(|value| value.items.is_none());
                value.map_or_else(Literal::computed, |value| value.text.clone())
            }
            Kind::MEMBER => {
                let names = self.follow(node, source, left);
                let is_home = names.iter().any(|name| name == "process.env.HOME");
                if is_home { Literal::known("~") } else { Literal::computed() }
            }
            Kind::PARENTHESIZED | Kind::AS | Kind::SATISFIES | Kind::NON_NULL | Kind::AWAIT => {
                match node.children().next() {
                    Some(inner) => self.text_within(inner, source, left),
                    None => Literal::computed(),
                }
            }
            Kind::BINARY if is_sum(node) => of(Field::LEFT).then(of(Field::RIGHT)),
            Kind::CALL | Kind::NEW => self.call_text(node, source, left),
            _ => Literal::computed(),
        }
    }

    /// The text that a call gives, for the few calls where it shows.
    fn call_text(&self, node: Node<'_>, source: &str, left: usize) -> Literal {
        let callee = node.child(Field::FUNCTION);
        let Some(callee) = callee.or(node.child(Field::CONSTRUCTOR)) else {
            return Literal::computed();
        };
        if values::is_cut(node) {
            self.fuel.cut();
            return Literal::computed();
        }
        let names = self.follow(callee, source, left);
        let is = |list: &[String]| names.iter().any(|name| list.contains(name));
        let tables = &BUILT_IN.javascript;
        let mut arguments =
            values::arguments(node).into_iter().map(|node| self.text_within(node, source, left));
        let goes_by = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
        if let Some(encoding) = names.iter().find_map(|name| tables.decodes.get(name)) {
            return undone(arguments.next().as_ref(), *encoding);
        }
        if goes_by(&["Buffer.from", "buffer.Buffer.from"]) {
            let text = arguments.next();
            return match arguments
                .next()
                .as_ref()
                .and_then(Literal::whole)
                .and_then(Encoding::named)
            {
                Some(encoding) => undone(text.as_ref(), encoding),
                None => text.unwrap_or_else(Literal::computed),
            };
        }
        if goes_by(&["String.fromCharCode", "String.fromCodePoint"]) {
            let codes = values::arguments(node);
            let code = |node: &Node<'_>| {
                let digits = source.get(node.byte_range())?;
                let code = match digits.strip_prefix("0x") {
                    Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                    None => digits.parse().ok()?,
                };
                char::from_u32(code)
            };
            let spelled: Option<String> = codes.iter().map(code).collect();
            return spelled.map_or_else(Literal::computed, Literal::known);
        }
        if let Some(text) = self.method_text(callee, node, source, left) {
            return text;
        }
        if goes_by(&["os.homedir"]) {
            Literal::known("~")
        } else if is(&tables.joins) {
            let slash = || Literal::known("/");
            arguments.reduce(|folder, name| folder.then(slash()).then(name)).unwrap_or_default()
        } else if is(&tables.passes) {
            arguments.next().unwrap_or_else(Literal::computed)
        } else {
            Literal::computed()
        }
    }

    /// The text that a method of a text or a list gives.
    fn method_text(
        &self,
        callee: Node<'_>,
        call: Node<'_>,
        source: &str,
        left: usize,
    ) -> Option<Literal> {
        let of = callee.child(Field::OBJECT)?;
        let method = name_of(callee.child(Field::PROPERTY)?, source);
        let text = || self.text_within(of, source, left);
        match method.as_str() {
            "toString" | "trim" | "valueOf" => Some(text()),
            "join" => {
                let items = self.items_within(of, source, left)?;
                // Behind the bound anything may follow, also what ends a command.
                if items.len() > values::WIDTH {
                    self.fuel.cut();
                    return Some(Literal::computed());
                }
                let between = match values::first(call) {
                    Some(between) => self.text_within(between, source, left),
                    None => Literal::known(","),
                };
                let join = |all: Literal, item| all.then(between.clone()).then(item);
                Some(items.into_iter().reduce(join).unwrap_or_default())
            }
            "concat" => {
                let more = values::arguments(call).into_iter();
                let more = more.map(|node| self.text_within(node, source, left));
                Some(more.fold(text(), Literal::then))
            }
            _ => None,
        }
    }

    /// The elements of a list.
    pub(super) fn items(&self, node: Node<'_>, source: &str, left: usize) -> Option<Vec<Literal>> {
        self.fuel.for_text(|| self.items_within(node, source, left))
    }

    fn items_within(&self, node: Node<'_>, source: &str, left: usize) -> Option<Vec<Literal>> {
        let left = left.checked_sub(1)?;
        match node.kind() {
            Kind::ARRAY => {
                let (items, is_cut) = values::elements(node);
                let items = items.into_iter().map(|item| self.text_within(item, source, left));
                Some(items.chain(is_cut.then(Literal::computed)).collect())
            }
            Kind::IDENTIFIER => {
                let value = self.value(&name_of(node, source))?;
                self.fuel.copy(value.bytes())?;
                value.items.clone()
            }
            Kind::AS | Kind::PARENTHESIZED => {
                self.items_within(node.children().next()?, source, left)
            }
            _ => None,
        }
    }
}
