//! Valid declarations, and the errors of invalid ones.

use super::*;

fn declared(text: &str) -> Result<Declaration, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
}

fn once(declaration: &Declaration) -> &Once {
    match &declaration.ways[0].how {
        How::Once(once) => once,
        other @ (How::Driver(_) | How::Show(_) | How::Jupyter(_)) => panic!("{other:?}"),
    }
}

#[test]
fn a_program_is_all_that_is_needed() {
    let ruby = declared("programs = ['ruby']\nendings = ['rb']").unwrap();
    assert_eq!(ruby.ways[0].programs, ["ruby"]);
    assert_eq!(once(&ruby).file, "main.rb");
    assert_eq!(once(&ruby).run, ["{program}", "{file}"]);
    assert_eq!(once(&ruby).version, ["{program}", "--version"]);
    let go = declared("programs = ['go']\nonce = { version = ['{program}', 'version'] }").unwrap();
    assert_eq!(once(&go).version, ["{program}", "version"]);
    assert_eq!(once(&declared("programs = ['x']").unwrap()).file, "main");
}

#[test]
fn every_key_can_be_set() {
    let java = declared(
        r#"
        aliases = ["jdk", "c++"]
        endings = ["java"]
        programs = ["javac", "/opt/jdk/bin/javac", "~/jdk/bin/javac"]
        least = { header = "include/v.h", version = [22, 7] }
        once = { file = "{name}.java", name = { find = ["class (A)"], otherwise = "Main" }, compile = ["{program}", "-d{folder}", "{file}"], run = ["java", "{name}", "{ print }", "{}"] }
        or = [{ programs = ["ecj"] }, { show = "text/plain" }]
        environment = { JAVA_HOME = "/opt/jdk" }
        reads = ["/srv/classes", "~/classes"]
        hint = "install a JDK"
        "#,
    )
    .unwrap();
    assert_eq!(java.ways.len(), 3);
    assert_eq!(java.ways[0].least.as_ref().unwrap().version, [22, 7]);
    assert_eq!(once(&java).compile, ["{program}", "-d{folder}", "{file}"]);
    assert_eq!(java.ways[2].how, How::Show("text/plain".into()));
    assert_eq!(java.environment["JAVA_HOME"], "/opt/jdk");
    assert_eq!(java.reads, ["/srv/classes", "~/classes"]);
    let typed = "driver = 'typescript'\nprograms = ['node']\npackages = ['@a/b', 'c']";
    assert_eq!(declared(typed).unwrap().ways[0].packages, ["@a/b", "c"]);
    let octave = declared("jupyter = 'octave'").unwrap();
    assert_eq!(octave.ways[0].how, How::Jupyter("octave".into()));
    let python = declared("driver = 'python'\nprograms = ['python3']").unwrap();
    assert_eq!(python.ways[0].how, How::Driver(Driver::Python));
}

#[test]
fn what_is_wrong_is_said_with_what_would_be_right() {
    for (text, expected) in [
        ("", "missing key `programs`, such as"),
        ("driver = 'shell'", "missing key `programs`"),
        ("programs = ['x']\ndriver = 'perl'", "unknown variant `perl`"),
        (
            "programs = ['x']\ndriver = 'python'\nonce = {}",
            "expected only one of `driver`, `once`, `jupyter` and",
        ),
        ("programs = ['x']\nshow = 'text/html'", "`show` needs no `programs`"),
        ("programs = ['x']\npackages = ['../y']", "`packages` must be Node.js packages"),
        ("programs = ['x']\njupyter = 'python3'", "`jupyter` needs no `programs`"),
        ("jupyter = '../x'", "the name of a kernelspec"),
        ("show = 'html'", "such as `text/html`"),
        ("programs = ['bin/x']", "or paths that start with `/` or `~/`"),
        ("programs = ['-x']", "`programs` must be names"),
        ("programs = ['']", "`programs` must be names"),
        ("programs = 'x'", "expected a sequence"),
        ("programs = ['x']\naliases = ['A b']", "lower-case letters"),
        ("programs = ['x']\nendings = ['.rb']", "without a dot"),
        ("programs = ['x']\nreads = ['data']", "start with `/` or `~/`"),
        ("programs = ['x']\nenvironment = { 'A-B' = '' }", "such as `GEM_PATH`"),
        ("programs = ['x']\nenvironment = { A = \"\\u0000\" }", "NUL byte"),
        ("programs = ['x']\nonce = { file = '../x' }", "a plain name"),
        ("programs = ['x']\nonce = { file = '{file}' }", "may contain only `{name}`"),
        ("programs = ['x']\nonce = { run = ['{files}'] }", "unknown placeholder `{files}`"),
        ("programs = ['x']\nonce = { run = ['{name}'] }", "add `name = {"),
        ("programs = ['x']\nonce = { runs = ['x'] }", "unknown field `runs`"),
        ("program = 'x'", "unknown field `program`"),
        ("programs = ['x']\nor = [{}]", "missing key `programs`"),
        ("programs = ['x']\nhint = \"a\\nb\"", "`hint` must be one line"),
    ] {
        let message = declared(text).unwrap_err();
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn a_name_is_what_can_stand_after_a_fence() {
    for name in ["c", "c++", "c#", "objective-c", "f90"] {
        assert!(is_language_name(name), "{name}");
    }
    for name in ["", "C", "a b", "a/b", ".c", "é", "a\u{1b}", &"x".repeat(41)] {
        assert!(!is_language_name(name), "{name}");
    }
}
