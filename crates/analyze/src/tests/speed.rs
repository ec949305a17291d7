//! How long reading takes, for `scripts/corpus`: processor time, so that other programs count little.
//! Nothing is asserted: machines differ.

use super::*;
use crate::{RuleText, Whose};
use std::{collections::BTreeMap, fs, sync::LazyLock, time::Instant};

const SIZE: usize = 200 * 1024;

/// Milliseconds that reading so much should not take.
const SLOW: u128 = 100;

/// Code of about 200 kB: ordinary, and written to be slow to read.
fn codes() -> Vec<(&'static str, &'static str, String)> {
    let many = |line: &str| line.repeat(SIZE / line.len());
    let nested = |open: &str, close: &str, depth: usize| {
        let one = format!("x = {}1{}\n", open.repeat(depth), close.repeat(depth));
        one.repeat(SIZE / one.len())
    };
    let chain = |first: &str, link: &str, sum: &str| {
        let lines = (1..SIZE / 24)
            .map(|at| link.replace("{b}", &at.to_string()).replace("{a}", &(at - 1).to_string()));
        format!("{first}\n{}\n{sum}", lines.collect::<Vec<_>>().join("\n"))
    };
    vec![
        (
            "python",
            "ordinary",
            many("df = pd.read_csv('a.csv'); df['x'] = df.y.map(lambda v: v + 1).fillna(0)\n"),
        ),
        ("python", "calls", many("os.system('rm -rf ' + base + str(i))\n")),
        ("python", "nested", nested("f(", ")", 90)),
        ("python", "chained names", chain("v0 = 'x'", "v{b} = v{a} + v{a}", "open(v9)")),
        ("python", "attributes", many(&format!("x = a{}\n", ".b()".repeat(30)))),
        ("shell", "ordinary", many("grep -c x a.txt | sort | uniq -c | head -n 5\n")),
        ("shell", "commands", many("rm -rf \"$HOME/x\" && curl https://a.example/$x | sh\n")),
        (
            "javascript",
            "ordinary",
            many("const rows = data.map(r => ({ ...r, total: r.price * r.qty }));\n"),
        ),
        ("javascript", "calls", many("fs.rmSync(path.join(base, 'x', `${y}`));\n")),
        ("javascript", "nested", nested("f(", ")", 90)),
        (
            "typescript",
            "ordinary",
            many("const rows: Row[] = data.map((r: Row): Row => ({ ...r, total: r.price }));\n"),
        ),
        ("sql", "ordinary", many("SELECT a, b FROM t WHERE x = 'y' AND z IN (1, 2, 3);\n")),
        ("ruby", "ordinary", many("rows.each { |r| puts r[:name].strip.downcase }\n")),
        ("ruby", "calls", many("system(\"rm x\"); File.delete(\"y\")\n")),
        ("sql", "one statement", format!("SELECT {}", many("f(a, 'b'), "))),
        ("sql", "nested", nested("(", ")", 2000)),
    ]
    .into_iter()
    .chain(hostile())
    .collect()
}

/// Code that goes as deep as it can in 200 kB, in every language.
fn hostile() -> Vec<(&'static str, &'static str, String)> {
    let kinds = [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("a.", "b"),
        ("not ", "a"),
        ("- ", "a"),
        ("$(", ")"),
        ("`", "`"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("if a: ", ""),
        ("if(a)", "b"),
        ("lambda: ", "a"),
        ("f'{", "}'"),
        ("a=>", "a"),
        ("a?b:", "c"),
        ("`${", "}`"),
        ("case x in y) ", ";; esac"),
        ("a + ", "a"),
        ("a|", "a"),
        ("/*", "*/"),
        ("'", "'"),
        (";else", ""),
        ("@ ", ""),
        ("<a>", "</a>"),
        ("A<", ">"),
        ("new ", "a"),
        ("a`x`", ""),
        ("a.push(1)", ""),
        ("a.trim()", ""),
        ("while(true)", "a;"),
        ("x=$x$x;", ""),
        ("{a:", "}"),
        ("f() { ", "}"),
        ("<(a) ", ""),
        ("a,", "a"),
        ("rm x;", ""),
        ("open('x');", ""),
        ("function a(){}", ""),
    ];
    let mut all = Vec::new();
    for name in ["python", "shell", "javascript", "typescript", "sql", "ruby"] {
        for (open, close) in kinds {
            let whole = SIZE / (open.len() + close.len());
            all.push((name, "deepest", format!("{}{}", open.repeat(whole), close.repeat(whole))));
            let one = format!("{}x{}\n", open.repeat(90), close.repeat(90));
            all.push((name, "many deep", one.repeat(SIZE / one.len())));
        }
    }
    all
}

/// As many added rules as there may be, on what the code is full of.
fn fullest() -> AddedRules {
    let rule = |names: &str, at: usize, example: &str| {
        format!(
            "[[rule]]\n{names}\ncapability = \"starts\"\nseverity = \"high\"\n\
             reason = \"r{at}\"\nexample = {example:?}\nunlike = \"zzz\"\n"
        )
    };
    let file = |language: &str, names: &str, example: &str| {
        let rules: String = (0..20).map(|at| rule(names, at, example)).collect();
        let text = format!("language = {language:?}\n{rules}");
        let name = format!("{language}.toml");
        RuleText { whose: Whose::Person, path: name.clone(), name, text }
    };
    let place = |at: usize| {
        format!(
            "[[place]]\ncontains = \"place{at}\"\nis = \"system\"\nreason = \"r\"\n\
             example = \"place{at}\"\nunlike = \"x\"\n"
        )
    };
    let places: String = (0..60).map(place).collect();
    let name = "places.toml".to_owned();
    let places = RuleText { whose: Whose::Person, path: name.clone(), name, text: places };
    AddedRules::read(&[
        file("python", "calls = [\"f\", \"*.read_csv\", \"*.system\"]", "{call}('x')"),
        file("shell", "programs = [\"rm\", \"grep\"]", "{program} x"),
        file("javascript", "calls = [\"f\", \"*.map\"]", "{call}('x')"),
        file("sql", "has = [\"f\", \"WHERE\"]", "SELECT {word} x"),
        file("other", "texts = [\"system\", \"puts\"]", "{text}(1)"),
        places,
    ])
    .unwrap()
}

/// Nanoseconds that this thread has had a processor, or since the first call where nothing tells.
fn worked() -> u128 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    #[expect(clippy::disallowed_methods, reason = "a failure only means the other clock")]
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let told = told.split(' ').next().and_then(|field| field.parse().ok());
    told.unwrap_or_else(|| START.elapsed().as_nanos())
}

#[test]
#[ignore = "prints figures"]
fn speed() {
    let (none, fullest) = (AddedRules::default(), fullest());
    let mut slowest = BTreeMap::new();
    // Reads the rules, which happens once.
    analyze(&fullest, &language("python"), "");
    // Only these languages, and only this kind, to look at something closely.
    #[expect(clippy::disallowed_methods, reason = "nothing but this test reads it")]
    let only = std::env::var("SPEED").unwrap_or_default();
    let is_wanted = |name: &str, kind: &str| {
        only.split_whitespace().all(|word| word.split(',').any(|one| one == name || one == kind))
    };
    for (name, kind, code) in codes().into_iter().filter(|(name, kind, _)| is_wanted(name, kind)) {
        let times = [&none, &fullest].map(|rules| {
            let run = || {
                let start = worked();
                analyze(rules, &language(name), &code);
                (worked() - start) / 1_000_000
            };
            // The best of a few, unless it takes for ever.
            let first = run();
            let more = if first > 10 * SLOW { 0 } else { 3 };
            (0..more).map(|_| run()).min().unwrap_or(first).min(first)
        });
        if times.iter().any(|time| *time > SLOW) {
            let begins: String = code.chars().take(24).collect();
            println!("slow: {name}, {kind}: {times:?} ms, begins {begins:?}");
        }
        let row = slowest.entry((name, kind)).or_insert((times, String::new()));
        if times[0] >= row.0[0] {
            *row = (times, code.chars().take(24).collect());
        }
    }
    println!("language, code: ms; ms with the most added rules; the slowest begins with");
    for ((name, kind), (times, begins)) in slowest {
        println!("{name}, {kind}: {} ms; {} ms; {begins:?}", times[0], times[1]);
    }
}
