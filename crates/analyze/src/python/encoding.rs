//! Code that says in which encoding it is written.
//!
//! Python obeys it: in UTF-7, for example, an apparent comment can hold the end of a line and code
//! after it. The code is shown and parsed as UTF-8, so any other encoding counts as unreadable.

/// The line on which the code claims to be something else than UTF-8, from 1.
pub(super) fn foreign(text: &str) -> Option<usize> {
    let lines = text.split(['\n', '\r', '\u{c}']).take(4).zip(1..);
    let mut lines = lines.filter(|(line, _)| declared(line).any(|name| !is_utf8(name)));
    lines.next().map(|(_, number): (_, usize)| number.min(2))
}

/// The encodings that a comment declares, wherever in it they stand.
fn declared(line: &str) -> impl Iterator<Item = &str> {
    let comment = line.split_once('#').map_or("", |(_, comment)| comment);
    comment.match_indices("coding").filter_map(|(at, word)| {
        let after = &comment[at + word.len()..];
        let name = after.strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        Some(&name[..end.unwrap_or(name.len())]).filter(|name| !name.is_empty())
    })
}

fn is_utf8(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    matches!(name.as_str(), "utf-8" | "utf8" | "utf-8-unix" | "utf-8-dos")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf8_is_read() {
        for (text, expected) in [
            ("# -*- coding: utf-8 -*-\nx", None),
            ("# vim: set fileencoding=UTF_8 :\nx", None),
            ("x = 1\n", None),
            ("# encoding of things: none\n", None),
            ("# coding: utf-7\n#+AAo-import os", Some(1)),
            ("#!/usr/bin/python\n# coding=rot13\nvzcbeg", Some(2)),
            ("  \t#coding:latin-1", Some(1)),
            ("#\r# coding: utf-7", Some(2)),
            ("# coding coding: utf-7", Some(1)),
        ] {
            assert_eq!(foreign(text), expected, "{text:?}");
        }
    }
}
