//! Programs as models write them, and all that is found in them.

use super::*;

const PYTHON: &str = r#"
import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import requests

URL = "https://data.example.org/sales.csv"


def download(target):
    response = requests.get(URL, timeout=10)
    response.raise_for_status()
    Path(target).write_bytes(response.content)


def clean(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.endswith(".tmp"):
            os.remove(path)
    shutil.rmtree("build", ignore_errors=True)


download("sales.csv")
frame = pd.read_csv("sales.csv")
frame.groupby("region").sum().to_csv("summary.csv")
clean(".")
subprocess.run(["git", "push", "origin", "main"], check=True)
print(frame.head())
"#;

const SHELL: &str = r#"
set -euo pipefail
backup() {
  tar -czf "$HOME/backup.tgz" "$1"
}
for project in src docs; do
  backup "$project"
done
curl -fsSL https://get.example.com/install.sh | sudo bash
find . -name '*.pyc' -print0 | xargs -0 rm -f
echo "export TOKEN=$TOKEN" >> ~/.bashrc
ssh deploy@prod.example.com 'systemctl restart app'
"#;

const JAVASCRIPT: &str = r"
import { readFile, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import path from 'node:path';

const settings = JSON.parse(await readFile('settings.json', 'utf8'));
const answer = await fetch(`https://api.example.com/v1/${settings.user}`, {
  headers: { authorization: settings.token },
});
await writeFile(path.join('out', 'answer.json'), await answer.text());
execFile('rm', ['-rf', 'cache'], (error) => {
  if (error) console.error(error);
});
";

#[test]
fn a_python_program() {
    insta::assert_snapshot!(lines(&findings("python", PYTHON)).join("\n"));
}

#[test]
fn a_shell_script() {
    insta::assert_snapshot!(lines(&findings("shell", SHELL)).join("\n"));
}

#[test]
fn a_javascript_module() {
    insta::assert_snapshot!(lines(&findings("javascript", JAVASCRIPT)).join("\n"));
}
