//! That lines of a notebook are found as the driver finds them, and only those.

use super::*;

/// The cell in words of Python, and its scripts as `line text`, with holes as `_`.
fn seen(text: &str) -> (String, Vec<String>) {
    let Some(notebook) = read(text) else { return (text.into(), vec![]) };
    assert!(count_lines(&notebook.python) <= count_lines(text), "{text:?}");
    let scripts = notebook.scripts.iter().map(|one| {
        format!("{} {}", one.line, one.text.script().unwrap_or_default().replace("${_}", "_"))
    });
    (notebook.python.clone(), scripts.collect())
}

fn scripts(text: &str) -> Vec<String> {
    seen(text).1
}

#[test]
fn commands_are_found_where_a_statement_may_start() {
    for (text, expected) in [
        ("!ls", &["1 ls"][..]),
        ("x = 1\n!ls -l\ny", &["2 ls -l"]),
        ("if x:\n    !ls", &["2 ls"]),
        ("files = !ls", &["1 ls"]),
        ("a, b['c'] =!ls", &["1 ls"]),
        ("!echo a \\\n  b\n!ls", &["1 echo a \\\n  b", "3 ls"]),
        ("%pip install x", &["1 pip install x"]),
        ("%%bash -x\nls\nrm x", &["2 ls\nrm x"]),
        ("\n\n%%sh\nls", &["4 ls"]),
        ("!echo {x} $y ${z} $$ {a b} {}", &["1 echo _ _ ${z} $$ {a b} {}"]),
        ("!", &[]),
        ("!=x", &[]),
    ] {
        assert_eq!(scripts(text), expected, "{text:?}");
    }
}

#[test]
fn what_stands_in_strings_brackets_and_comments_is_left_alone() {
    for text in [
        "x = '''\n!ls\n'''",
        "x = \"\"\"\n%pip install x\n\"\"\"",
        "x = [\n!ls\n]",
        "# !ls",
        "x = 1 \\\n%y",
        "x = '\\\n!ls'",
        "x = 1 ; !ls",
        "x != y",
        "x = y % z",
        "f'{x!r}'",
        "lambda: !ls",
        "x = '''\\'''\n!ls\n'''",
    ] {
        assert_eq!(seen(text), (text.to_owned(), vec![]), "{text:?}");
    }
}

#[test]
fn what_the_driver_takes_for_the_end_of_a_string_is_one_here() {
    // A newer Python reads these as one string; an older one does not, and its driver runs them.
    assert_eq!(scripts("f\"{x\n!r:; rm y}\""), ["2 r:; rm y}\""]);
    assert_eq!(scripts("x = 'a\n!rm y"), ["2 rm y"]);
    // Unlike a triple quote, a quote that is not closed ends with its line.
    assert_eq!(scripts("x = '''a\n!rm y"), Vec::<String>::new());
    assert_eq!(scripts("'''a\n!rm y\\"), ["2 rm y\\"]);
}

#[test]
fn magics_become_what_they_do() {
    for (text, expected) in [
        ("%time f(x)", "__notebook__((f(x)))"),
        ("%time x = f(y)", "with __notebook__(): x = f(y)"),
        ("%time f() # why", "with __notebook__(): f() # why"),
        ("%matplotlib inline", "pass"),
        ("%cd {folder}", "__notebook__((folder))"),
        ("x = %pwd", "x = __notebook__"),
        ("%env", "__notebook__()"),
        ("!echo {f(x)} {g}", "__notebook__((f(x)), (g))"),
        ("!a \\\n b\nx", "__notebook__()\n\nx"),
        ("%%time\nf()\n!ls", "\nf()\n__notebook__()"),
        ("%%writefile a/b.py\nimport os", "open('a/b.py', 'w')"),
        ("%%writefile -a ~/x\ny", "open('~/x', 'w')"),
        ("%%writefile {name}\ny", "open(__notebook__((name)), 'w')"),
        ("%%html\n<b>", ""),
        ("%load x", "%load x"),
        ("%%perl\nx", "%%perl\nx"),
    ] {
        assert_eq!(seen(text).0, expected, "{text:?}");
    }
    assert_eq!(scripts("%env PATH=/tmp"), ["1 export PATH=x"]);
    assert_eq!(scripts("%env PATH /tmp"), ["1 export PATH=x"]);
}

#[test]
fn more_commands_than_anybody_writes_are_not_read() {
    let notebook = read(&"!a\n".repeat(MOST + 1)).unwrap();
    assert_eq!((notebook.scripts.len(), notebook.cut), (MOST, true));
}
