//! The automatic mode finishes everyday work: ten harmless tasks on a small repository, unasked, and
//! what isn't harmless still asks.

use crate::scene::{Scene, cell};

/// A small repository.
fn repository() -> Scene {
    Scene::new()
        .file("README.md", "# Shop\n\nA small shop.\n\n## Usage\n\nRun it.\n")
        .file("notes.txt", "buy milk\nTODO call Ann\n")
        .file(
            "src/shop.py",
            "TAX = 0.19\n\n\ndef total(prices):\n    return sum(prices)  # TODO tax\n",
        )
        .file("src/colors.js", "export const red = 'red';\n")
        .file("data/sales.csv", "region,amount\nnorth,10\nsouth,20\nnorth,5\n")
        .file("settings.json", "{\"debug\": true, \"port\": 8080}\n")
        .file("old-notes.txt", "nothing\n")
}

/// The tasks: a name, and the cells that a model writes for it, each with its language.
const TASKS: [(&str, &[(&str, &str)]); 10] = [
    (
        "count the lines of each file",
        &[(
            "python",
            "from pathlib import Path\nfor path in sorted(Path('.').rglob('*')):\n    \
             if path.is_file():\n        print(path, len(path.read_text().splitlines()))",
        )],
    ),
    (
        "fix a heading",
        &[(
            "python",
            "from pathlib import Path\nreadme = Path('README.md')\ntext = readme.read_text()\n\
             readme.write_text(text.replace('## Usage', '## How to use it'))",
        )],
    ),
    (
        "add a function",
        &[
            ("shell", "cat src/shop.py"),
            (
                "python",
                "with open('src/shop.py', 'a') as f:\n    \
                 f.write('\\n\\ndef with_tax(price):\\n    return price * (1 + TAX)\\n')",
            ),
        ],
    ),
    ("list what is to do", &[("shell", "grep -rn TODO src notes.txt")]),
    (
        "sum the sales",
        &[(
            "python",
            "import csv\nfrom collections import Counter\ntotals = Counter()\n\
             with open('data/sales.csv', newline='') as f:\n    for row in csv.DictReader(f):\n        \
             totals[row['region']] += float(row['amount'])\nprint(totals.most_common())",
        )],
    ),
    (
        "write the sums to a file",
        &[(
            "python",
            "import csv\nrows = [('north', 15), ('south', 20)]\n\
             with open('data/totals.csv', 'w', newline='') as f:\n    csv.writer(f).writerows(rows)\n\
             print(open('data/totals.csv').read())",
        )],
    ),
    (
        "switch a setting",
        &[(
            "python",
            "import json\nwith open('settings.json') as f:\n    settings = json.load(f)\n\
             settings['debug'] = False\nwith open('settings.json', 'w') as f:\n    \
             json.dump(settings, f, indent=2)",
        )],
    ),
    ("remove old notes", &[("shell", "rm old-notes.txt\nls")]),
    (
        "start a changelog",
        &[(
            "shell",
            "cat > CHANGELOG.md <<'END'\n# Changelog\n\n- A total with tax\nEND\nwc -l CHANGELOG.md",
        )],
    ),
    (
        "write a test",
        &[(
            "python",
            "import os\nos.makedirs('tests', exist_ok=True)\n\
             open('tests/test_shop.py', 'w').write('from shop import total\\n\\n\\n\
             def test_total():\\n    assert total([1, 2]) == 3\\n')\nprint(os.listdir('tests'))",
        )],
    ),
];

fn go(cells: &[(&str, &str)]) -> crate::scene::Seen {
    let replies: Vec<_> = cells.iter().map(|(language, code)| cell(language, code)).collect();
    let mut replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    replies.push("Done.");
    repository().model_says(&replies).chat(&["--approval", "auto", "--json", "go"])
}

#[test]
fn ten_harmless_tasks_are_finished_unasked() {
    for (task, cells) in TASKS {
        let seen = go(cells);
        let rules: Vec<_> = seen.of_kind("verdict").iter().map(|one| one["rule"].clone()).collect();
        assert_eq!(seen.of_kind("run_started").len(), cells.len(), "{task}: {rules:?}");
        seen.exits(0);
    }
}

#[test]
fn what_is_not_harmless_asks() {
    for (language, code) in [
        ("python", "open('conftest.py', 'w').write('x')"),
        ("python", "open('.git/config', 'a').write('x')"),
        ("python", "import shutil\nshutil.rmtree('src')"),
        ("python", "import subprocess\nsubprocess.run(['true'])"),
        ("python", "import src.shop"),
        ("python", "name = input() if 0 else 'x'\nopen(name, 'w').write('x')"),
        ("shell", "python3 src/shop.py"),
        ("shell", "rm -rf src"),
        ("shell", "echo x > .envrc"),
        ("shell", "sed '1e touch x' README.md"),
    ] {
        let seen = go(&[(language, code)]);
        assert!(seen.of_kind("run_started").is_empty(), "{code}");
        seen.exits(3);
    }
}
