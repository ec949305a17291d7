//! The models that can run in this program, as data: what each is, and where its weights come from.
//!
//! The place of a file is not trusted: its hash decides. Code that downloads takes an entry as a
//! value, so tests can pass entries of their own.
//!
//! Pure: nothing here touches the disk or the network.

use serde::Deserialize;

/// The catalogue that comes with the program.
const SHIPPED: &str = include_str!("../catalogue.toml");

/// The largest model that a catalogue may hold.
const MOST_BYTES: u64 = 1 << 40;

/// Models that can run in this program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    #[serde(rename = "model")]
    entries: Vec<CatalogueEntry>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueEntry {
    /// The name after `embedded/`.
    pub name: String,
    /// Display name.
    pub title: String,
    /// Its purpose.
    pub role: Role,
    /// The name of its file.
    pub file: String,
    /// How large that is.
    pub bytes: u64,
    /// The SHA-256 of the file, in small hexadecimal digits.
    pub sha256: String,
    /// Its licence, by its SPDX name.
    pub licence: String,
    /// Tokens of context.
    pub context: u32,
    /// Where its file is, such as `Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF`.
    pub repository: String,
}

/// The purpose of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The one that is used unless somebody says otherwise.
    Default,
    /// The one for machines with little room.
    Tiny,
    /// Too weak to be of use: to try out whether everything works.
    Trial,
}

impl Role {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Tiny => "tiny",
            Self::Trial => "trial",
        }
    }
}

impl Catalogue {
    /// The catalogue that comes with the program.
    pub fn shipped() -> Self {
        Self::parse(SHIPPED).expect("a test reads what is compiled in")
    }

    /// Reads a catalogue. The error is a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Self = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        for entry in &read.entries {
            if let Some(problem) = entry.problem() {
                return Err(format!("`{}` {problem}", entry.name));
            }
            if read.entries.iter().filter(|other| other.name == entry.name).count() > 1 {
                return Err(format!("`{}` is there twice", entry.name));
            }
        }
        Ok(read)
    }

    /// All of them, the best first.
    pub fn entries(&self) -> &[CatalogueEntry] {
        &self.entries
    }

    /// The one of this name, with or without `embedded/` before it.
    pub fn get(&self, name: &str) -> Option<&CatalogueEntry> {
        let name = name.strip_prefix("embedded/").unwrap_or(name);
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The first that is for this.
    pub fn of_role(&self, role: Role) -> Option<&CatalogueEntry> {
        self.entries.iter().find(|entry| entry.role == role)
    }
}

impl CatalogueEntry {
    /// An error in it, if there is one.
    fn problem(&self) -> Option<&'static str> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_name =
            |name: &str| !name.is_empty() && !name.starts_with('.') && name.chars().all(plain);
        if !is_name(&self.name) || !is_name(&self.file) {
            return Some("has a name or a file that is no plain name");
        }
        let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if self.sha256.len() != 64 || !self.sha256.chars().all(is_digit) {
            return Some("has no SHA-256 in small hexadecimal digits");
        }
        let is_possible = (1..=MOST_BYTES).contains(&self.bytes);
        (!is_possible).then_some("has an impossible size")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_that_comes_with_the_program_is_in_order() {
        let catalogue = Catalogue::shipped();
        let names: Vec<_> = catalogue.entries().iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"]);
        assert_eq!(catalogue.of_role(Role::Default).unwrap().name, "qwen2.5-coder-1.5b");
        assert_eq!(catalogue.of_role(Role::Tiny).unwrap().name, "qwen2.5-coder-0.5b");
        assert_eq!(catalogue.of_role(Role::Trial).unwrap().name, "smollm2-135m");
        for entry in catalogue.entries() {
            assert_eq!(entry.licence, "Apache-2.0");
            assert!(entry.repository.ends_with("-GGUF"), "{}", entry.repository);
        }
    }

    #[test]
    fn a_model_is_found_by_its_short_and_its_whole_name() {
        let catalogue = Catalogue::shipped();
        assert!(catalogue.get("qwen2.5-coder-0.5b").is_some());
        assert_eq!(catalogue.get("embedded/smollm2-135m").unwrap().name, "smollm2-135m");
        assert_eq!(catalogue.get("ollama/smollm2-135m"), None);
        assert_eq!(catalogue.get(""), None);
    }

    #[test]
    fn a_catalogue_that_is_wrong_is_refused() {
        let with = |from: &str, to: &str| Catalogue::parse(&SHIPPED.replacen(from, to, 1));
        for (from, to, problem) in [
            ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "../x", "no plain name"),
            ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", ".hidden", "no plain name"),
            ("cc324af0", "CC324AF0", "no SHA-256"),
            ("1_117_320_768", "0", "an impossible size"),
            ("qwen2.5-coder-0.5b\"", "qwen2.5-coder-1.5b\"", "is there twice"),
            ("\"tiny\"", "\"small\"", "unknown variant"),
            ("licence", "license", "unknown field"),
        ] {
            let error = with(from, to).unwrap_err();
            assert!(error.contains(problem), "{from}: {error}");
        }
    }
}
