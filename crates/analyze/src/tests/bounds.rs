//! Every bound of the analysis has code just beyond it, which is refused as high risk, and code just
//! within it, which is read.

use super::*;
use std::fmt::Write as _;

const TOO_LONG: &str = "1 unreadable code that takes too long to parse high";
const TOO_DEEP: &str = "1 unreadable code that is nested too deep high";
const NAMES: &str = "1 unreadable its names take too long to follow high";

/// Whether code in a language is refused for this reason, and at high risk.
fn refuses(name: &str, why: &str, code: &str) -> bool {
    let found = findings(name, code);
    let is_refused = lines(&found).iter().any(|line| line == why);
    assert!(!is_refused || found.risk == Risk::High, "{name}");
    is_refused
}

#[test]
fn javascript_with_too_many_errors_is_refused() {
    for name in ["javascript", "typescript"] {
        for error in ["''", "'' 'a", "case x in y) ", "''@ "] {
            let code = |times: usize| format!("{}\n", error.repeat(90)).repeat(times);
            assert!(refuses(name, TOO_LONG, &code(200)), "{error} in {name}");
        }
        // So are those that only make it skip, which is slow as well.
        for skipped in ["not ", "@ "] {
            assert!(refuses(name, TOO_LONG, &skipped.repeat(20_000)), "{skipped} in {name}");
        }
        // A few errors are a mistake, not an attack.
        let few = format!("{}fs.rmSync('x')", "const a = f(1, 2);\na = ;\n".repeat(50));
        assert!(!refuses(name, TOO_LONG, &few));
        let found = findings(name, &few);
        assert!(lines(&found).iter().any(|line| line.contains("does not parse unknown")));
        assert!(found.capabilities.iter().any(|one| one.name == "deletes"));
    }
}

#[test]
fn javascript_that_is_long_and_dense_is_refused() {
    for name in ["javascript", "typescript"] {
        let line = format!("x = {}1{};\n", "f(".repeat(90), ")".repeat(90));
        let code = |begin: &str, bytes: usize| {
            format!("{begin}\n{}fs.rmSync('y');\n", line.repeat(bytes / line.len()))
        };
        // Only if it is not ordinary, too.
        assert!(refuses(name, TOO_LONG, &code("class A {}", 200_000)), "{name}");
        assert!(!refuses(name, TOO_LONG, &code("class A {}", 10_000)), "{name}");
        assert!(!refuses(name, TOO_LONG, &code("", 200_000)), "{name}");
        let found = findings(name, &code("class A {}", 10_000));
        assert!(found.capabilities.iter().any(|one| one.name == "deletes"), "{name}");
    }
}

#[test]
fn code_that_is_refused_is_still_read_by_its_words() {
    let hostile = format!("{}\nsystem(\"rm x\")\n", "''".repeat(30_000));
    for name in ["javascript", "typescript"] {
        let found = findings(name, &hostile);
        assert!(found.capabilities.iter().any(|one| one.name == "starts"), "{name}");
    }
    let deep = format!("{}\nsystem(\"rm x\")\n", "(".repeat(2_000));
    for name in ["python", "shell", "javascript", "typescript"] {
        assert!(refuses(name, TOO_DEEP, &deep), "{name}");
        let found = findings(name, &deep);
        assert!(found.capabilities.iter().any(|one| one.name == "starts"), "{name}");
    }
}

#[test]
fn names_that_take_too_long_to_follow_are_refused() {
    let python = |times: usize| format!("x = a{}\n", ".b()".repeat(30)).repeat(times);
    assert!(refuses("python", NAMES, &python(1_600)));
    assert!(!refuses("python", NAMES, &python(100)));
    let javascript = |times: usize| format!("x = a{};\n", ".trim()".repeat(30)).repeat(times);
    assert!(refuses("javascript", NAMES, &javascript(900)));
    assert!(!refuses("javascript", NAMES, &javascript(30)));
}

#[test]
fn a_text_that_is_copied_again_and_again_is_refused() {
    let long = "x".repeat(60_000);
    let python = |times: usize| format!("a = '{long}'\n{}", "open(a)\n".repeat(times));
    assert!(refuses("python", NAMES, &python(4_000)));
    assert!(!refuses("python", NAMES, &python(50)));
    let javascript =
        |times: usize| format!("a = '{long}';\n{}", "fs.readFileSync(a);\n".repeat(times));
    assert!(refuses("javascript", NAMES, &javascript(4_000)));
    assert!(!refuses("javascript", NAMES, &javascript(50)));
}

#[test]
fn a_shell_variable_that_doubles_stays_bounded() {
    let doubles = (1..200).map(|at| format!("v{at}=$v{0}$v{0}", at - 1));
    let doubles = doubles.collect::<Vec<_>>().join("\n");
    let code = format!("v0=/etc/passwd\n{doubles}\nrm $v1 $v199");
    let found = lines(&findings("shell", &code));
    assert_eq!(found.last().map(String::as_str), Some("201 deletes - high"), "{found:?}");
    // A value that is short enough is still known.
    check("shell", &[("a=/x\nb=$a$a\nrm $b", &["3 deletes /x/x high"])]);
}

#[test]
fn text_that_goes_through_too_many_pipes_is_lost() {
    let piped = |text: &str, times: usize| {
        let code = format!("echo '{text}' {} sh", "| rev | rev |".repeat(times).replace("||", "|"));
        lines(&findings("shell", &code))
    };
    let is_seen = |found: &[String]| found.iter().any(|line| line.contains("deletes"));
    assert!(is_seen(&piped("rm x", 20)));
    let long = piped(&format!("rm x # {}", "y".repeat(50_000)), 100);
    assert!(!is_seen(&long));
    // Where it comes from is hidden in any case.
    assert!(long.iter().any(|line| line == "1 hides - high"), "{long:?}");
}

#[test]
fn too_much_code_inside_code_hides_what_it_does() {
    let python = |bytes: usize| {
        let line = format!("import os\nos.system('rm x # {}')\n", "y".repeat(20_000));
        lines(&findings("python", &line.repeat(bytes / 20_000)))
    };
    let is_hidden = |found: &[String]| found.iter().any(|line| line.ends_with("hides - high"));
    assert!(!is_hidden(&python(200_000)));
    assert!(is_hidden(&python(300_000)));
}

#[test]
fn a_shell_script_that_is_deep_throughout_is_refused() {
    let line = format!("echo {}{}\n", "${x:-".repeat(50), "}".repeat(50));
    let code = |bytes: usize| format!("{}rm y", line.repeat(bytes / line.len()));
    assert!(refuses("shell", TOO_DEEP, &code(200_000)));
    assert!(!refuses("shell", TOO_DEEP, &code(20_000)));
    let found = lines(&findings("shell", &code(20_000)));
    assert!(found.iter().any(|line| line.ends_with(" deletes y high")), "{found:?}");
}

#[test]
fn a_shell_script_of_very_many_commands_is_refused() {
    const MANY: &str = "1 unreadable too many commands high";
    for command in ["rm x;", "x=$x$x;", "a|", "rm x\n"] {
        let code = |bytes: usize| format!("{}a\n", command.repeat(bytes / command.len()));
        assert!(refuses("shell", MANY, &code(200_000)), "{command}");
        assert!(!refuses("shell", MANY, &code(10_000)), "{command}");
    }
    // Many lines are not many commands, and ordinary ones are longer.
    assert!(!refuses("shell", MANY, &"\n".repeat(200_000)));
    let ordinary = "grep -c x a.txt | sort | uniq -c | head -n 5\n";
    assert!(!refuses("shell", MANY, &ordinary.repeat(200_000 / ordinary.len())));
}

/// Names that lead to themselves have no end, and those that lead to two others each double the
/// work.
#[test]
fn names_that_lead_to_names_are_followed_within_bounds() {
    let calls =
        ["df.agg(f)", "df.apply(f)", "df.pivot_table(aggfunc=f)", "pd.read_csv(f)", "open(f)"];
    let (mut doubling, mut chain) = (String::new(), String::new());
    for number in 0..200 {
        let next = number + 1;
        writeln!(doubling, "f{number} = [f{next}, f{next}, (f{next}, {{'a': f{next}}})]").unwrap();
    }
    for number in 0..5_000 {
        writeln!(chain, "f{number} = [f{}]", number + 1).unwrap();
    }
    let endless = ["f = [f]", "f = [g]\ng = [f]", "f = {'a': f}", "f = (f, f)", "f = sorted(f)"];
    let endless = endless.into_iter().map(str::to_owned);
    for names in endless.chain([doubling + "f = f0", chain + "f = [f0]"]) {
        for call in calls {
            let code = format!("import pandas as pd\ndf = pd.DataFrame()\n{names}\n{call}\n");
            let why = findings("python", &code).why_not_understood();
            // A file may have any name.
            assert!(why.is_some() || call == "open(f)", "{call}");
        }
    }
    // The control: a list of known functions.
    let code = "import pandas as pd\ndf = pd.DataFrame()\nf = ['mean', 'sum']\ndf.agg(f)\n";
    assert_eq!(findings("python", code).why_not_understood(), None);
}

#[test]
fn commands_that_hold_the_rest_of_a_command_are_read_within_bounds() {
    for word in ["time ", "time -p ", "! time ", "coproc ", "coproc a "] {
        let code = word.repeat(20_000) + "true";
        assert!(!findings("shell", &code).is_understood(), "{word}");
        let short = word.repeat(3) + "true";
        assert!(findings("shell", &short).risk != Risk::High, "{word}");
    }
}
