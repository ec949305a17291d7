//! The text of a profile that is made from another program's.

use interpreter_core::import::Constant;
use toml_edit::{DocumentMut, Item, value};

/// A profile with these settings, and a line that says where it comes from. Only plain values are
/// in it.
pub fn profile_text(from: &str, settings: &[(&'static str, Constant)]) -> String {
    let mut document = DocumentMut::new();
    for (name, constant) in settings {
        if let Some(item) = item(constant) {
            document[name] = item;
        }
    }
    // One line, whatever the name of the file is.
    let from: String = from.chars().filter(|c| !c.is_control()).take(200).collect();
    format!("# Imported from {from}\n{document}")
}

fn item(constant: &Constant) -> Option<Item> {
    Some(match constant {
        Constant::Text(text) => value(text.as_str()),
        Constant::Whole(whole) => value(*whole),
        Constant::Number(number) => value(*number),
        Constant::Bool(is) => value(*is),
        Constant::Nothing | Constant::Other => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_whatever_is_in_them() {
        let hostile = "a\"\"\"\nmodel = \"x\"\n'''\u{1b}[2J\\";
        let settings =
            [("instructions", Constant::Text(hostile.into())), ("max_tokens", Constant::Whole(5))];
        let text = profile_text("x\n[rule]", &settings);
        let table: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(table["instructions"].as_str(), Some(hostile));
        assert_eq!(table.len(), 2);
        assert!(text.starts_with("# Imported from x[rule]\n"));
    }
}
