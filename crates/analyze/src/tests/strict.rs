//! The strict walk: evasions are never understood, everyday code is.

use super::*;
use crate::strict::{
    names::{PYTHON, PYTHON_FILE},
    shell::programs::SHELL_FILE,
};
use std::fmt::Write;

/// Whether code is understood, and if not, why.
fn why(name: &str, code: &str) -> Option<String> {
    findings(name, code).why_not_understood()
}

#[track_caller]
fn understood(name: &str, code: &str) {
    assert_eq!(why(name, code), None, "{code}");
}

#[track_caller]
fn unknown(name: &str, code: &str) {
    assert!(why(name, code).is_some(), "{code}");
}

/// Each group's example is understood, and its counterexample isn't.
#[test]
fn every_group_of_names_has_its_proof() {
    let file = &*PYTHON_FILE;
    let mut all = vec![(&file.builtins.reason, &file.builtins.example, &file.builtins.unlike)];
    all.extend(file.group.iter().map(|one| (&one.reason, &one.example, &one.unlike)));
    all.extend(file.found.iter().map(|one| (&one.reason, &one.example, &one.unlike)));
    all.push((&file.places.reason, &file.places.example, &file.places.unlike));
    for (reason, example, unlike) in all {
        assert!(!reason.is_empty());
        understood("python", example);
        unknown("python", unlike);
    }
    assert!(!file.risky.reason.is_empty() && !file.places.reviewed.is_empty());
    assert!(file.methods.iter().all(|one| !one.of.is_empty()));
}

/// Calls that count because a finding tells of them are found, whichever way they are called.
#[test]
fn every_call_that_counts_as_found_is_found() {
    let mut missing = String::new();
    for found in &PYTHON_FILE.found {
        for call in found.calls.split_ascii_whitespace() {
            let module = call.rsplit_once('.').map(|(module, _)| module);
            let import = module.map(|module| format!("import {module}\n")).unwrap_or_default();
            let code = format!("{import}{call}('a', 'b')");
            if findings("python", &code).capabilities.is_empty() {
                writeln!(missing, "{call}").unwrap();
            }
        }
        for method in found.methods.split_ascii_whitespace() {
            let code = format!("def f(x):\n    x.{method}('a')");
            if findings("python", &code).capabilities.is_empty() {
                writeln!(missing, ".{method}").unwrap();
            }
        }
    }
    assert!(missing.is_empty(), "not found:\n{missing}");
}

const FORMS: &[&str] = &[
    "print.__self__.exec('1')",
    "import pathlib\npathlib.os.system('x')",
    "import glob\nglob.os.system('x')",
    "import random\nrandom._os.system('x')",
    "import json\njson.codecs.builtins.exec('x')",
    "import timeit\ntimeit.timeit('x')",
    "import cProfile\ncProfile.run('x')",
    "import bdb\nbdb.Bdb().run('x')",
    "import doctest\ndoctest.run_docstring_examples('x', {})",
    "import pydoc\npydoc.pipepager('x', 'cmd')",
    "import pkgutil\npkgutil.resolve_name('os:system')('x')",
    "import operator, random\noperator.attrgetter('_os.system')(random)('x')",
    "import typing\ntyping.get_type_hints(f)",
    "from typing import ForwardRef\nForwardRef('x')._evaluate({}, {}, frozenset())",
    "from dataclasses import make_dataclass\nmake_dataclass('A', [('x', 'int=1')])",
    "df.query(\"@pd.io.common.os.system('x')\")",
    "df.eval(text)",
    "import sympy\nsympy.sympify('x')",
    "import numexpr\nnumexpr.evaluate('x')",
    "try:\n    1/0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_builtins['exec']('x')",
    "().__class__.__base__.__subclasses__()",
    "import gc\ngc.get_objects()",
    "import logging.config\nlogging.config.dictConfig({'()': 'os.system'})",
    "import sqlite3\nc = sqlite3.connect(':memory:')\nc.load_extension('./x.so')",
    "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute(\"select load_extension('./x')\")",
    "import antigravity",
    "import lxml.etree",
    "import ssl\nssl.get_server_certificate(('evil', 443))",
    "print = exec\nprint('x')",
    "def f(open): pass\nopen = eval\nopen('1')",
    "f = open\nf('x', 'w')",
    "list(map(open, ['x'], ['w']))",
    "df.agg('eval', 0, '@x')",
    "df.apply(name)",
    "df.agg(**{'func': 'to_pickle'})",
    "df.groupby('a').agg(x=('b', 'to_pickle'))",
    "'{0.__class__}'.format(1)",
    "template.format(x)",
    "import statsmodels.formula.api as smf\nsmf.ols(\"y ~ I(__import__('os').system('x'))\", df)",
    "import matplotlib.pyplot as plt\nplt.rcParams['animation.ffmpeg_path'] = './x'",
    "import pandas as pd\npd.set_option('plotting.backend', 'evil')",
    "df.plot(backend='evil')",
    "df.plot(**{'back' + 'end': 'evil'})",
    "import pandas as pd\npd.options.plotting.backend = 'evil'",
    "from pathlib import Path\nPath('a').replace('b')",
    "from pathlib import Path\nPath('a').rename('b')",
    "import numpy as np\nnp.ctypeslib.load_library('x', '.')",
    "import numpy as np\nx = np\nx.save('a', 1)",
    "getattr(print, '__self__')",
    "getattr(x, y)",
    "vars(x)['a']",
    "globals()['x']",
    "from os import *",
    "from . import x",
    "class A:\n    system = 1\nx.system('ls')",
    "class A:\n    query = 1\ndf.query('@x.y')",
    "match x:\n    case object(__class__=c):\n        pass",
    "@exec\ndef f(): pass",
    "__builtins__ = {}",
    "import os\nos.environ['PATH'] = '.'",
    "import sys\nsys.stdout = x",
    "import subprocess\nsubprocess.run(x)",
    "import subprocess\nsubprocess.run(['sort', '--compress-program=sh', 'x'])",
    "import requests\nrequests.get(url)",
    "lambda: (yield).gi_frame",
    "def g():\n    yield\ng().gi_frame.f_back.f_globals['x']",
    "import os\nos.chdir('/tmp')",
    "f'{print.__self__}'",
    "x: print.__self__ = 1",
    "def f(x: print.__self__.exec('x')): pass",
    "import numpy as np\nnp.lib.npyio.os.system('x')",
    "from collections import namedtuple\nnamedtuple('A', 'system')\nx.system('x')",
    "import threading\nthreading.Thread(target=eval, args=('x',)).start()",
    "sorted(['x'], key=eval)",
    "import functools\nfunctools.partial(open, 'x', 'w')()",
    "from dataclasses import dataclass\ndataclass(type('A', (), {'__annotations__': {'x, open(1)': 1}}))",
    "from dataclasses import dataclass\ndataclass(make('A'))",
    "class M(type):\n    def __prepare__(n, b):\n        return {'__annotations__': {}}",
    "from abc import ABCMeta\nclass M(ABCMeta):\n    pass\nclass A(metaclass=M):\n    x: int",
    "B = type(int)('B', (), {})\nclass A(B):\n    x: int",
    "from statsmodels.stats.anova import AnovaRM",
    "import zipfile\nzipfile.ZipFile('x', 'w')",
    "df.to_string('x')",
];

#[test]
fn forms_that_act_without_a_finding_are_not_understood() {
    let passed: Vec<_> = FORMS.iter().filter(|code| why("python", code).is_none()).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

/// Whatever understood code is put around, an unknown name stays unknown.
#[test]
fn nothing_around_an_unknown_name_makes_it_understood() {
    for form in FORMS {
        let indented = form.replace('\n', "\n    ");
        for code in [
            format!("import pandas as pd\nprint(1)\n{form}\nprint(2)"),
            format!("def f():\n    {indented}\n    return 1"),
            format!("class A:\n    x = 1\n{form}"),
            format!("if True:\n    {indented}"),
            format!("try:\n    {indented}\nfinally:\n    pass"),
        ] {
            if super::super::python::parses(&code) {
                unknown("python", &code);
            }
        }
    }
}

#[test]
fn names_of_earlier_cells_count_as_their_code_did() {
    let python = language("python");
    let after = |cells: &[&str], code: &str| {
        let none = AddedRules::default();
        let past = cells
            .iter()
            .fold(Past::default(), |past, cell| analyze_after(&none, &past, &python, cell).1);
        analyze_after(&none, &past, &python, code).0.is_understood()
    };
    assert!(after(&["import pandas as pd\ndf = pd.DataFrame()"], "df.head()\npd.concat([df])"));
    assert!(after(&["def f(x):\n    return x"], "f(1)"));
    assert!(after(&["class A:\n    def grow(self):\n        self.size = 1"], "A().grow()"));
    let unknown = "import weird\nclient = weird.make()\ndf = client.get()";
    assert!(!after(&[unknown], "client.append(1)"));
    assert!(!after(&[unknown], "print(df)"));
    assert!(!after(&[unknown], "undefined_here.append(1)"));
    // Names that understood code sets afterwards are its own.
    assert!(after(&[unknown], "total = 1 + 2\nprint(total)"));
    assert!(after(&[unknown, "total = 1"], "print(total)"));
    assert!(after(&["import pandas as pd", unknown], "print(pd.DataFrame())"));
    assert!(!after(&["print = exec"], "print('x')"));
    assert!(!after(&["from weird import print"], "print('x')"));
    assert!(!after(&["import os"], "os.remove(x)\nos = 1"));
    assert!(!after(&["import pathlib"], "p.rename('x')"));
    // A cell that ended before, or whose branch was not taken, has set nothing.
    let import = "from subprocess import run as g";
    let act = "g(['touch', 'x'])";
    for between in [
        "int('x')\ndef g(*a):\n    return 1",
        "if False:\n    def g(*a):\n        return 1",
        "if False:\n    from math import sqrt as g",
        "def f():\n    from math import sqrt as g\n    return g(4)",
        "for g in []:\n    pass",
    ] {
        assert!(!after(&[import, between], act), "{between}");
        // Within one cell, nothing runs after what ends it.
        let is_sure = between.starts_with("int");
        assert_eq!(after(&[import], &format!("{between}\n{act}")), is_sure, "{between}");
    }
    let text = "f = 'to_pickle'\nimport pandas as pd\ndf = pd.DataFrame()";
    let branch = "if False:\n    def f(x):\n        return x\n";
    assert!(!after(&[text], &format!("{branch}df.agg(f)")));
    assert!(!after(&[text, branch], "df.agg(f)"));
    // The controls: it surely stands there, or is what it was.
    assert!(after(&[text], "def f(x):\n    return x\ndf.agg(f)"));
    assert!(after(&["import pandas as pd", "import pandas as pd"], "pd.DataFrame()"));
    assert!(after(&[text, "df = df.dropna()", "df = df.head()"], "df.describe()"));
    let own = "def g(x):\n    return x";
    assert!(after(&[text, own, own], "df.apply(g)"));
    let read = "df = pd.read_csv(path)";
    assert!(after(&[text, "path = 'a.csv'", "path = 'b.csv'"], read));
    assert!(after(&[text, "path = 'a.csv'"], &format!("path = 'c.csv'\n{read}")));
}

/// A command is the script's own function only where that is surely defined.
#[test]
fn a_function_of_the_shell_counts_where_it_surely_is_one() {
    let shell = language("shell");
    let after = |cells: &[&str], code: &str| {
        let none = AddedRules::default();
        let past = cells
            .iter()
            .fold(Past::default(), |past, cell| analyze_after(&none, &past, &shell, cell).1);
        analyze_after(&none, &past, &shell, code).0.is_understood()
    };
    for code in [
        "linux64 touch x\nlinux64() { :; }",
        "linux64() { :; } &\nlinux64 touch x",
        "f() { linux64 touch x; }\nf\nlinux64() { :; }",
        "if true; then linux64() { :; }; fi\nlinux64 touch x",
        "true && linux64() { :; }\nlinux64 touch x",
        "(linux64() { :; })\nlinux64 touch x",
    ] {
        assert!(!after(&[], code), "{code}");
    }
    for cell in [
        "return 0; linux64() { :; }",
        "set -u; echo $nope; linux64() { :; }",
        "x=$(nope)\nlinux64() { :; }",
    ] {
        assert!(!after(&[cell], "linux64 touch x"), "{cell}");
    }
    // The controls.
    assert!(after(&[], "greet() { echo hi; }\ngreet"));
    assert!(after(&[], "x=1\nmain() { helper; }\nhelper() { echo hi; }\nmain"));
    assert!(!after(&[], "main() { late; }\necho a\nlate() { :; }"));
    assert!(after(&["greet() { echo hi; }"], "greet"));
    // Options after the program of `awk` may be files, and `strings` takes some from one.
    assert!(!after(&[], "awk 1 -v a.csv") && after(&[], "awk 1 a.csv"));
    assert!(!after(&[], "strings @a.csv"));
}

#[test]
fn every_program_of_the_shell_has_its_proof() {
    let file = &*SHELL_FILE;
    let mut all = vec![
        (&file.any.reason, &file.any.example, &file.any.unlike),
        (&file.find.reason, &file.find.example, &file.find.unlike),
    ];
    all.extend(file.optioned.iter().map(|one| (&one.reason, &one.example, &one.unlike)));
    for (reason, example, unlike) in all {
        assert!(!reason.is_empty());
        understood("shell", example);
        unknown("shell", unlike);
    }
}

/// Modules of the standard library among those that are listed.
const STANDARD: &str = "\
    __future__ abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath codecs \
    collections colorsys concurrent configparser contextlib copy csv dataclasses datetime \
    decimal difflib enum errno fnmatch fractions functools gettext glob graphlib gzip hashlib \
    heapq hmac html importlib io ipaddress itertools json keyword locale logging lzma math \
    numbers operator os pathlib platform pprint queue random re reprlib secrets shlex shutil \
    sqlite3 stat statistics string struct subprocess sys tarfile tempfile textwrap threading \
    time tomllib traceback types typing unicodedata urllib uuid warnings xml zipfile zlib \
    zoneinfo";

/// A file of the folder stands in for none of them: Python's own come first, the driver sees to the
/// others.
#[test]
fn the_driver_knows_every_package_that_is_listed() {
    let driver = include_str!("../../../host/drivers/driver.py");
    let from = driver.find("LISTED = ").unwrap();
    let lines: String = driver[from..].lines().take(3).collect();
    let listed: std::collections::HashSet<&str> =
        lines.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for root in PYTHON.roots() {
        let is_standard = STANDARD.split_ascii_whitespace().any(|one| one == root);
        assert!(is_standard || root == "open" || listed.contains(root), "{root}");
    }
}

#[test]
fn forms_of_the_shell_that_evaluate_are_not_understood() {
    for code in [
        "[[ 'a[$(cmd)]' -eq 1 ]]",
        "test -v 'x[$(cmd)]'",
        "a='x[$(cmd)]'; (( a ))",
        "a='x[$(cmd)]'; echo $((a))",
        "a=1; a='x[$(cmd)]'; echo $((a))",
        "echo \"${x@P}\"",
        "PS4='$(cmd)'; set -x",
        ". ./x.sh",
        "source x.sh",
        "eval x",
        "sort --compress-program=./x a",
        "sort \\--compress-program=./x a",
        "grep \\-f x y",
        "awk 'BEGIN { ARGV[1] = \"x\"; ARGC = 2 } 1'",
        "jq -n 'import \"x\" as $x; $x'",
        "jq -n env",
        "mv -t a b c",
        "sort *",
        "sed '1e cmd' a",
        "man -P ./x ls",
        "openssl version -engine ./x",
        "mapfile -C ./x -c 1 a",
        "ls() { rm -rf x; }; ls",
        "alias ls=rm",
        "PATH=.; ls",
        "printf -v 'a[$(cmd)]' x",
        "printf '%n' 'a[$(cmd)]'",
        "read 'a[$(cmd)]'",
        "declare -i x='a[$(cmd)]'",
        "cat < /dev/tcp/evil/80",
        "$x",
        "xargs sh -c",
        "find . -exec sh -c x ';'",
        "awk 'BEGIN { system(\"x\") }'",
        "git status",
        "exit $(eval x)",
        "echo $(eval x)",
        "cat <<END\n$(eval x)\nEND",
        "cd .git",
        "trap x EXIT",
        "command eval x",
        "builtin eval x",
        "env x",
    ] {
        unknown("shell", code);
    }
    for code in ["ls -la | wc -l", "grep -rn x src | head", "n=0; n=$((n + 1)); echo $n"] {
        understood("shell", code);
    }
}

#[test]
fn forms_of_javascript_that_reach_further_are_not_understood() {
    for code in [
        "require('module')._load('child_process')",
        "import('child_' + 'process')",
        "Reflect.get(globalThis, 'eval')('x')",
        "'a'.replace(/a/, process.mainModule.constructor._load)",
        "[]['constructor']['constructor']('x')()",
        "const k = 'con' + 'structor'; [][k][k]('x')()",
        "const k = 'con' + 'structor'; const f = [][k][k]; ['x'].map(f)",
        "[].map.constructor('x')()",
        "(() => {}).constructor('x')()",
        "eval('x')",
        "new Function('x')()",
        "setTimeout('x')",
        "const fs = require('fs'); const f = fs; f.x()",
        "globalThis['ev' + 'al']('x')",
        "const { exec } = require('child_process')",
        "Math.max = eval",
        "function f(g) { g('x') }",
        "const { constructor: c } = () => {}; c('x')()",
        "`x`.constructor",
    ] {
        unknown("javascript", code);
    }
    for code in [
        "const xs = [1, 2, 3]; console.log(xs.map(x => x * 2).reduce((a, b) => a + b, 0))",
        "const total = rows => rows.length; console.log(total([1]))",
    ] {
        understood("javascript", code);
    }
}
