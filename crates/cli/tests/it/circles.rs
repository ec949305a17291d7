//! No circle of more than three files in a crate: a file can be read without most of the others.
//!
//! A file depends on the files whose items its paths name. A re-export is followed to the item, so
//! the table of contents that a `lib.rs` is ties nobody together. Tests are left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The most files of a circle.
const MOST: usize = 3;

/// A module, by its path within the crate.
type Module = Vec<String>;

/// The files of a crate: what each uses, and what each re-exports.
#[derive(Default)]
struct Files {
    uses: BTreeMap<Module, Vec<Module>>,
    /// The item behind each re-export, unless it is another crate's.
    re_exports: BTreeMap<(Module, String), Option<Module>>,
}

#[test]
fn no_circle_has_more_than_three_files() {
    let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut wrong = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for circle in circles(&Files::of(&folder.join("src")).graph()) {
            if circle.len() > MOST {
                let listed: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
                wrong.push(format!("{} files of `{name}`: {}", circle.len(), listed.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found_through_a_re_export_and_in_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    file("lib.rs", "pub use crate::a::A;\nmod a; mod b; mod c; mod d;");
    file("a.rs", "use crate::{\n    b::{B, other},\n    x::Y,\n};\npub struct A;");
    file("b.rs", "use super::c::*;\n#[cfg(test)]\nmod tests {\n    use crate::d::D;\n}\n");
    file("c.rs", "// crate::d::D\nfn c() -> super::d::D { \"crate::a::A\" }");
    file("d.rs", "fn d(a: crate::A) {}");
    let circles = circles(&Files::of(folder.path()).graph());
    assert_eq!(circles.iter().map(Vec::len).max(), Some(4), "{circles:?}");
    // The control: the same without the way back.
    file("d.rs", "fn d() {}");
    let circles = self::circles(&Files::of(folder.path()).graph());
    assert_eq!(circles.iter().map(Vec::len).max(), Some(1), "{circles:?}");
}

impl Files {
    fn of(source: &Path) -> Self {
        let mut texts = BTreeMap::new();
        let mut folders = vec![source.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    texts.insert(module(path.strip_prefix(source).unwrap()), words(&text));
                }
            }
        }
        let test_modules: BTreeSet<Module> =
            texts.iter().flat_map(|(module, words)| test_modules(module, words)).collect();
        texts.retain(|module, _| !test_modules.iter().any(|test| module.starts_with(test)));
        let known: BTreeSet<_> = texts.keys().cloned().collect();
        let mut files = Self::default();
        for (module, words) in texts {
            let mut used = Vec::new();
            for (path, is_re_export) in paths(&without_tests(&words)) {
                let item = resolved(&module, &path, &known);
                match path.last() {
                    Some(name) if is_re_export => {
                        files.re_exports.insert((module.clone(), name.clone()), item);
                    }
                    _ => used.extend(item),
                }
            }
            files.uses.insert(module, used);
        }
        files
    }

    /// The files that each file depends on.
    fn graph(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let of = |(module, used): (&Module, &Vec<Module>)| {
            let used = used.iter().filter_map(|path| self.home(path, 8));
            let used = used.filter(|home| home != module);
            (module.clone(), used.collect())
        };
        self.uses.iter().map(of).collect()
    }

    /// The file that an item is in, if it is one of this crate's.
    fn home(&self, path: &[String], steps: usize) -> Option<Module> {
        let length = (0..=path.len()).rev().find(|&end| self.uses.contains_key(&path[..end]));
        let (module, rest) = path.split_at(length.unwrap_or(0));
        let named = rest.first().map(|name| (module.to_vec(), name.clone()));
        match named.and_then(|name| self.re_exports.get(&name)) {
            Some(None) => None,
            Some(Some(item)) if steps > 0 && item != path => {
                self.home(&[item, &rest[1..]].concat(), steps - 1)
            }
            _ => Some(module.to_vec()),
        }
    }
}

fn module(file: &Path) -> Module {
    let path: PathBuf = file.with_extension("");
    let mut parts: Module = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    parts.pop_if(|last| *last == "lib" || *last == "main");
    parts
}

/// The text as words and signs, without comments, texts and characters.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 2)
        } else if let Some(end) = character(rest) {
            end
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        if !first.is_whitespace() && !word.starts_with(['"', '\'']) && !word.starts_with("//") {
            words.push(word.to_owned());
        }
        rest = after;
    }
    words
}

/// The length of a character between quotes, if one begins here; else it is a lifetime.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let skipped = if inner.starts_with('\\') { 2 } else { inner.chars().next()?.len_utf8() };
    let end = skipped + inner.get(skipped..)?.find('\'')?;
    (end == skipped || inner.starts_with('\\')).then_some(end + 2)
}

const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// Where test modules begin: the place of their mark, and of the word after `mod`.
fn marks(words: &[String]) -> impl Iterator<Item = (usize, usize)> {
    let marks = (0..words.len()).filter(|&at| words[at..].starts_with(&TEST.map(String::from)));
    marks.filter_map(|at| {
        let found = words[at..].iter().take(24).position(|word| word == "mod")?;
        let between = &words[at + TEST.len()..at + found];
        let only_marks =
            !between.iter().any(|word| ["use", "fn", ";", "{"].contains(&word.as_str()));
        only_marks.then_some((at, at + found + 1))
    })
}

/// The modules that are there for tests alone.
fn test_modules(module: &Module, words: &[String]) -> Vec<Module> {
    let parent = &module[..module.len().saturating_sub(1)];
    let child = |name: &String| [module.as_slice(), std::slice::from_ref(name)].concat();
    // A file beside this one, by `#[path = "…_tests.rs"]`.
    let beside = module.last().map(|own| [parent, &[format!("{own}_tests")]].concat());
    marks(words).filter_map(|(_, name)| words.get(name).map(child)).chain(beside).collect()
}

/// The words without test modules in place.
fn without_tests(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut from = 0;
    for (mark, name) in marks(words) {
        if mark < from || words.get(name + 1).is_none_or(|sign| sign != "{") {
            continue;
        }
        kept.extend_from_slice(&words[from..mark]);
        let mut depth = 0_usize;
        let length = words[name + 1..].iter().position(|word| {
            match word.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        from = length.map_or(words.len(), |length| name + 2 + length);
    }
    kept.extend_from_slice(&words[from..]);
    kept
}

/// All paths of two words or more, and whether each is re-exported.
fn paths(words: &[String]) -> Vec<(Module, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins = words.get(at + 1).is_some_and(|sign| sign == "::") && is_name(&words[at]);
        if begins && (at == 0 || words[at - 1] != "::") {
            // `pub use`, `pub(crate) use`, `pub(in crate::a) use`.
            let before = words[..at].iter().rev().take_while(|word| !";}]".contains(word.as_str()));
            let before: Vec<_> = before.take(8).map(String::as_str).collect();
            let is_re_export = before.first() == Some(&"use") && before.last() == Some(&"pub");
            let mut tree = Vec::new();
            at = branch(words, at, &mut Vec::new(), &mut tree);
            found.extend(tree.into_iter().map(|path| (path, is_re_export)));
        } else {
            at += 1;
        }
    }
    found
}

/// Reads a path and the group that may end it; gives the place after it.
fn branch(words: &[String], mut at: usize, path: &mut Module, found: &mut Vec<Module>) -> usize {
    let length = path.len();
    while let Some(word) = words.get(at) {
        if word == "{" {
            at += 1;
            while words.get(at).is_some_and(|word| word != "}") {
                let next = match words[at].as_str() {
                    "," => at + 1,
                    "as" => at + 2,
                    _ => branch(words, at, path, found),
                };
                at = next.max(at + 1);
            }
            path.truncate(length);
            return at + 1;
        }
        if !is_name(word) {
            break;
        }
        path.push(word.clone());
        at += 1;
        if words.get(at).is_none_or(|sign| sign != "::") {
            break;
        }
        at += 1;
    }
    found.push(path.clone());
    path.truncate(length);
    at
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// A path from the root of the crate, if it is one of the crate's.
fn resolved(module: &Module, path: &[String], known: &BTreeSet<Module>) -> Option<Module> {
    let mut base = module.clone();
    let mut path = path;
    match path.first()?.as_str() {
        "crate" => (base, path) = (Vec::new(), &path[1..]),
        "self" | "super" => {
            while let Some(word @ ("self" | "super")) = path.first().map(String::as_str) {
                if word == "super" {
                    base.pop();
                }
                path = &path[1..];
            }
        }
        first => {
            let child = [base.as_slice(), &[first.to_owned()]].concat();
            known.contains(&child).then_some(())?;
        }
    }
    Some([base.as_slice(), path].concat())
}

/// Files that can be reached from each other, by Tarjan's algorithm.
fn circles(graph: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let mut search = Search { graph, seen: BTreeMap::new(), path: Vec::new(), found: Vec::new() };
    for module in graph.keys() {
        if !search.seen.contains_key(module) {
            search.visit(module);
        }
    }
    search.found
}

struct Search<'a> {
    graph: &'a BTreeMap<Module, BTreeSet<Module>>,
    /// When each was seen first.
    seen: BTreeMap<&'a Module, usize>,
    path: Vec<&'a Module>,
    found: Vec<Vec<Module>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, module: &'a Module) -> usize {
        let number = self.seen.len();
        self.seen.insert(module, number);
        self.path.push(module);
        let mut earliest = number;
        for used in &self.graph[module] {
            let Some((used, _)) = self.graph.get_key_value(used) else { continue };
            match self.seen.get(used) {
                None => earliest = earliest.min(self.visit(used)),
                Some(&first) if self.path.contains(&used) => earliest = earliest.min(first),
                Some(_) => {}
            }
        }
        if earliest == number {
            let start = self.path.iter().position(|one| *one == module).unwrap();
            self.found.push(self.path.split_off(start).into_iter().cloned().collect());
        }
        earliest
    }
}
