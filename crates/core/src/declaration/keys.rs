//! The keys of a [`Declaration`] as they are written, and what can be wrong with them.
//!
//! Each value has a type that checks it, so that the reader of the file can point at it. Checks
//! that involve several keys come at the end.

use super::{Declaration, Driver, How, Least, Name, Once, Way};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Every key of a language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    #[serde(default)]
    aliases: Vec<Alias>,
    #[serde(default)]
    endings: Vec<Ending>,
    #[serde(default)]
    programs: Vec<Program>,
    least: Option<Least>,
    #[serde(default)]
    packages: Vec<Package>,
    driver: Option<Driver>,
    once: Option<OnceKeys>,
    show: Option<Kind>,
    jupyter: Option<KernelName>,
    #[serde(default)]
    or: Vec<WayKeys>,
    #[serde(default)]
    environment: BTreeMap<Variable, Value>,
    #[serde(default)]
    reads: Vec<ReadPath>,
    hint: Option<Hint>,
}

/// The keys of another way to run it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WayKeys {
    #[serde(default)]
    programs: Vec<Program>,
    least: Option<Least>,
    #[serde(default)]
    packages: Vec<Package>,
    driver: Option<Driver>,
    once: Option<OnceKeys>,
    show: Option<Kind>,
    jupyter: Option<KernelName>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OnceKeys {
    file: Option<FileName>,
    name: Option<Name>,
    #[serde(default)]
    compile: Vec<Word>,
    #[serde(default)]
    run: Vec<Word>,
    #[serde(default)]
    version: Vec<Word>,
}

impl TryFrom<Keys> for Declaration {
    type Error = String;

    fn try_from(keys: Keys) -> Result<Self, String> {
        let Keys { programs, least, packages, driver, once, show, jupyter, .. } = keys;
        let endings: Vec<_> = keys.endings.into_iter().map(|ending| ending.0).collect();
        let first = WayKeys { programs, least, packages, driver, once, show, jupyter };
        let ways = [first].into_iter().chain(keys.or).map(|way| way.checked(&endings));
        Ok(Self {
            ways: ways.collect::<Result<_, _>>()?,
            aliases: keys.aliases.into_iter().map(|alias| alias.0).collect(),
            endings,
            environment: keys.environment.into_iter().map(|(name, to)| (name.0, to.0)).collect(),
            reads: keys.reads.into_iter().map(|path| path.0).collect(),
            hint: keys.hint.map(|hint| hint.0),
        })
    }
}

impl WayKeys {
    fn checked(self, endings: &[String]) -> Result<Way, String> {
        let programs: Vec<_> = self.programs.into_iter().map(|program| program.0).collect();
        let how = match (self.driver, self.once, self.show, self.jupyter) {
            (Some(driver), None, None, None) => How::Driver(driver),
            (None, once, None, None) => How::Once(once.unwrap_or_default().checked(endings)?),
            (None, None, Some(kind), None) => How::Show(kind.0),
            (None, None, None, Some(name)) => How::Jupyter(name.0),
            _ => {
                return Err("expected only one of `driver`, `once`, `jupyter` and `show`".into());
            }
        };
        match (&how, programs.is_empty()) {
            (How::Show(_), false) => Err("`show` needs no `programs`; remove one of them".into()),
            (How::Jupyter(_), false) => {
                Err("`jupyter` needs no `programs`, because the kernelspec has one; remove them"
                    .into())
            }
            (How::Driver(_) | How::Once(_), true) => {
                Err("missing key `programs`, such as `programs = [\"ruby\"]`".into())
            }
            (How::Show(_) | How::Jupyter(_), true) | (How::Driver(_) | How::Once(_), false) => {
                let packages = self.packages.into_iter().map(|package| package.0).collect();
                Ok(Way { programs, least: self.least, packages, how })
            }
        }
    }
}

impl OnceKeys {
    fn checked(self, endings: &[String]) -> Result<Once, String> {
        let words = |words: Vec<Word>| words.into_iter().map(|word| word.0).collect::<Vec<_>>();
        let file = match (self.file, endings.first()) {
            (Some(file), _) => file.0,
            (None, Some(ending)) => format!("main.{ending}"),
            (None, None) => "main".into(),
        };
        let or = |given: Vec<String>, usual: [&str; 2]| {
            if given.is_empty() { usual.map(String::from).to_vec() } else { given }
        };
        let compile = words(self.compile);
        let run = or(words(self.run), ["{program}", "{file}"]);
        let version = or(words(self.version), ["{program}", "--version"]);
        let uses_name = |word: &String| word.contains("{name}");
        if self.name.is_none() && compile.iter().chain(&run).chain([&file]).any(uses_name) {
            return Err("`{name}` is used but not defined: add `name = { find = [\"a regular \
                        expression\"], otherwise = \"main\" }`"
                .into());
        }
        if let Some(name) = &self.name {
            let mut texts = name.find.iter().chain([&name.otherwise]);
            if texts.any(|text| text.contains('\0')) {
                return Err("`name` contains a NUL byte".into());
            }
        }
        Ok(Once { file, name: self.name, compile, run, version })
    }
}

/// Whether this can be the name of a language: the word after a fence, and a key in settings.
pub fn is_language_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-_#.".contains(c);
    (1..=40).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('.')
}

/// A text that was checked when it was read.
macro_rules! checked {
    ($($(#[$attribute:meta])* $name:ident: $check:expr;)*) => {$(
        $(#[$attribute])*
        #[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
        #[serde(try_from = "String")]
        struct $name(String);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let check: fn(&str) -> Result<(), String> = $check;
                check(&text).map(|()| Self(text))
            }
        }
    )*};
}

checked! {
    Alias: |text| say(
        is_language_name(text),
        "`aliases` may contain only lower-case letters, digits, `+`, `-`, `_`, `#` and `.`",
    );
    Ending: |text| say(
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-_".contains(c)),
        "`endings` may contain only letters and digits, without a dot, such as `rb`",
    );
    Program: |text| say(
        is_line(text) && (!text.contains('/') || is_whole_path(text)) && !text.starts_with('-'),
        "`programs` must be names such as `ruby`, or paths that start with `/` or `~/`",
    );
    Package: |text| say(
        text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "@/-_.".contains(c))
            && text.split('/').all(|part| !part.is_empty() && !part.starts_with('.')),
        "`packages` must be Node.js packages, such as `sucrase` or `@scope/name`",
    );
    ReadPath: |text| say(
        is_line(text) && is_whole_path(text),
        "`reads` must be paths that start with `/` or `~/`",
    );
    FileName: |text| {
        say(
            is_line(text) && !text.contains('/') && !matches!(text, "." | ".."),
            "`file` must be a plain name, such as `main.rb`",
        )?;
        say(
            !text.replace("{name}", "").contains(['{', '}']),
            "`file` may contain only `{name}` in braces",
        )
    };
    Word: |text| {
        say(!text.contains('\0'), "a word of a command contains a NUL byte")?;
        unknown_placeholder(text).map_or(Ok(()), |found| Err(format!(
            "unknown placeholder `{found}`; available: {PLACEHOLDERS}"
        )))
    };
    Variable: |text| say(
        !text.is_empty()
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
        "`environment` must contain names of variables, such as `GEM_PATH`",
    );
    Value: |text| say(!text.contains('\0'), "a value of `environment` contains a NUL byte");
    Kind: |text| say(
        text.split_once('/').is_some_and(|(one, other)| [one, other].iter().all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        })),
        "`show` must be a MIME type, such as `text/html`",
    );
    KernelName: |text| say(
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)),
        "`jupyter` must be the name of a kernelspec, such as `python3`; see `interpreter \
         languages`",
    );
    Hint: |text| say(is_line(text), "`hint` must be one line of text");
}

const PLACEHOLDERS: &str = "`{program}`, `{file}`, `{folder}`, `{name}`";

fn say(fine: bool, message: &str) -> Result<(), String> {
    if fine { Ok(()) } else { Err(message.into()) }
}

fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}

fn is_whole_path(text: &str) -> bool {
    text.starts_with('/') || text.starts_with("~/")
}

/// A word in braces that resembles one of our placeholders but is none. Other words in braces
/// belong to the program.
fn unknown_placeholder(text: &str) -> Option<&str> {
    text.match_indices('{').find_map(|(at, _)| {
        let inside = &text[at + 1..];
        let end = inside.find(|c: char| !c.is_ascii_lowercase())?;
        let known = matches!(&inside[..end], "" | "program" | "file" | "folder" | "name");
        (!known && inside[end..].starts_with('}')).then(|| &text[at..at + end + 2])
    })
}
