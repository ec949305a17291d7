//! Completion: existing names, and none of the code runs for it.

use super::python;
use crate::scene::{Outcome, Scene};

/// Asks how code could go on where a `|` stands in it: the part that would be replaced, and by
/// what.
#[track_caller]
fn complete(scene: &mut Scene, code: &str) -> (String, Vec<String>) {
    let cursor = code.find('|').unwrap();
    let code = code.replacen('|', "", 1);
    scene.link().complete(1, code.as_bytes(), cursor.try_into().unwrap());
    let mut outcome = Outcome::default();
    while outcome.completions.is_none() {
        scene.collect(1, &mut outcome);
    }
    let (start, end, matches) = outcome.completions.unwrap();
    (code[start..end].to_owned(), matches)
}

#[track_caller]
fn completes(scene: &mut Scene, code: &str, part: &str, matches: &[&str]) {
    let found = complete(scene, code);
    assert_eq!((found.0.as_str(), found.1), (part, matches.iter().map(|&m| m.into()).collect()));
}

#[test]
fn names_attributes_keywords_and_files_are_found() {
    let mut scene = python().file("a long name.txt", "");
    scene.run("wonder_1 = wonder_2 = 1\nimport os\nclass A:\n    part_of_a = 'x'\n    def method_of_a(self): pass\na = A()\na.part_of_it = 2\na.again = a").succeeds();
    completes(&mut scene, "wond|", "wond", &["wonder_1", "wonder_2"]);
    completes(&mut scene, "'ä'; x = wond| + 1", "wond", &["wonder_1", "wonder_2"]);
    completes(&mut scene, "first line\nnonloc|", "nonloc", &["nonlocal"]);
    completes(&mut scene, "Arithm|", "Arithm", &["ArithmeticError"]);
    completes(&mut scene, "a.part|", "part", &["part_of_a", "part_of_it"]);
    completes(&mut scene, "a.again.again.method|", "method", &["method_of_a"]);
    completes(&mut scene, "os.path.expandu|", "expandu", &["expanduser"]);
    completes(&mut scene, "A.part_of_a.isidenti|", "isidenti", &["isidentifier"]);
    completes(&mut scene, "a.__init_sub|", "__init_sub", &["__init_subclass__"]);
    completes(&mut scene, "open('a lo|", "a lo", &["a long name.txt"]);
    completes(&mut scene, "open(\"./a lo|", "a lo", &["a long name.txt"]);
}

#[test]
fn nothing_is_found_where_nothing_can_be_known() {
    let mut scene = python();
    for code in [
        "nothing_begins_so|",
        "no.such.name.x|",
        "f().x|",
        "'text'.x|",
        "[1].app|",
        "open('/no/where/x|",
        "# comm|ent 'x",
    ] {
        assert!(complete(&mut scene, code).1.is_empty(), "{code}");
    }
    scene.link().complete(1, b"\xff\xfe", 1);
    scene.link().complete(1, b"pri", 99);
    scene.run("1").succeeds().results("1");
}

#[test]
fn nothing_of_the_code_runs_for_it() {
    let mut scene = python();
    let code = "ran = []\n\
        class Meta(type):\n\
        \u{20}   def __getattribute__(self, name): ran.append(name); return type.__getattribute__(self, name)\n\
        class Trap(metaclass=Meta):\n\
        \u{20}   def __getattribute__(self, name): ran.append(name); return object.__getattribute__(self, name)\n\
        \u{20}   def __getattr__(self, name): ran.append(name)\n\
        \u{20}   def __dir__(self): ran.append('dir'); return []\n\
        \u{20}   @property\n\
        \u{20}   def trapped(self): ran.append('property'); return self\n\
        trap = Trap()\n\
        del ran[:]";
    scene.run(code).succeeds();
    completes(&mut scene, "trap.trap|", "trap", &["trapped"]);
    assert!(complete(&mut scene, "trap.trapped.trap|").1.is_empty());
    completes(&mut scene, "Trap.trap|", "trap", &["trapped"]);
    assert!(complete(&mut scene, "trap.nothing.x|").1.is_empty());
    scene.run("ran").succeeds().results("[]");
}

#[test]
fn there_is_an_end_to_what_is_found() {
    let mut scene = python();
    scene.run("globals().update({f'many_{i}': i for i in range(1_000)})\nglobals()['many_' + 'x' * 1000] = 1").succeeds();
    let (_, matches) = complete(&mut scene, "many_|");
    assert_eq!(matches.len(), 200);
    assert!(matches.iter().all(|name| name.len() < 20));
}
