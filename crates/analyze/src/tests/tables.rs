//! Small pieces of code and exactly what is found in them.

use super::*;

#[test]
fn python_names_are_followed() {
    check(
        "python",
        &[
            ("print(1 + 1)", &[]),
            ("import os\nos.remove('x')", &["2 deletes x high"]),
            ("import os as o\no.remove('x')", &["2 deletes x high"]),
            ("from os import remove as r\nr('x')", &["2 deletes x high"]),
            ("from os import *\nremove('x')", &["2 deletes x high"]),
            ("import os\nf = os.remove\nf('x')", &["2 deletes - high", "3 deletes x high"]),
            ("import os\nlist(map(os.remove, files))", &["2 deletes - high"]),
            ("__import__('os').remove('x')", &["1 deletes x high"]),
            ("import os\ngetattr(os, 'remove')('x')", &["2 deletes x high"]),
            ("import sys\nsys.modules['os'].remove('x')", &["2 deletes x high"]),
            (
                "import os\n(os.remove if a else print)('x')",
                &["2 deletes x high", "2 deletes - high"],
            ),
            ("def remove(x): pass\nremove('x')", &[]),
        ],
    );
}

#[test]
fn python_arguments_are_read_as_far_as_they_stand_in_the_code() {
    check(
        "python",
        &[
            ("open('x')", &["1 reads x low"]),
            ("open(file='x', mode='w')", &["1 writes x medium"]),
            ("open('x', 'r+')", &["1 writes x medium", "1 reads x low"]),
            ("open('x', mode)", &["1 writes x medium", "1 reads x low"]),
            ("open(x, 'w')", &["1 writes - medium"]),
            ("name = 'x'\nopen(name)", &["2 reads x low"]),
            ("name = 'x'\nname = f()\nopen(name)", &["3 reads - low"]),
            ("def f(name): open(name)\nname = 'x'", &["1 reads - low"]),
            ("open('/etc/' + 'shadow')", &["1 credentials /etc/shadow high"]),
            ("open(f'/home/{u}/x')", &["1 reads - medium"]),
            ("import os\nopen(os.path.join('a', 'b'))", &["2 reads a/b low"]),
            (
                "import os\nopen(os.path.expanduser('~/.ssh/id_rsa'))",
                &["2 credentials ~/.ssh/id_rsa high"],
            ),
            ("from pathlib import Path\n(Path('a') / 'b').unlink()", &["2 deletes a/b high"]),
            ("from pathlib import Path\np = Path('a')\np.write_text('')", &["3 writes a medium"]),
            ("import requests\nrequests.get(f'https://a.com/{x}')", &["2 connects a.com high"]),
            ("import pandas as pd\npd.read_csv('https://a.com/x')", &["2 connects a.com high"]),
            ("import socket\nsocket.create_connection(('a.com', 1))", &["2 connects a.com high"]),
        ],
    );
}

#[test]
fn python_that_starts_programs_is_followed_into_them() {
    check(
        "python",
        &[
            ("import os\nos.system('rm -rf x')", &["2 starts rm medium", "2 deletes x high"]),
            ("import os\nos.system(f'rm {x}')", &["2 starts rm medium", "2 deletes - high"]),
            ("import os\nos.system(x)", &["2 starts - medium", "2 hides - high"]),
            (
                "import subprocess as s\ns.run(['rm', '-rf', 'x'], check=True)",
                &["2 starts rm medium", "2 deletes x high"],
            ),
            ("import subprocess\nsubprocess.run(['ls'])", &["2 starts ls medium", "2 lists . low"]),
            (
                "import subprocess\nsubprocess.run(command)",
                &["2 starts - medium", "2 hides - high"],
            ),
        ],
    );
}

#[test]
fn python_that_gives_a_program_its_input_is_followed_into_it() {
    check(
        "python",
        &[
            (
                "import subprocess\nsubprocess.run(['bash'], input='rm x')",
                &["2 starts bash medium", "2 deletes x high"],
            ),
            (
                "import subprocess\nsubprocess.run('cat | sh', shell=True, input='rm x')",
                &["2 starts cat medium", "2 hides - high", "2 deletes x high"],
            ),
            (
                "import subprocess\nsubprocess.run(['python3'], input=x)",
                &["2 starts python3 medium", "2 hides - high"],
            ),
            (
                "import subprocess\nsubprocess.Popen(['sh'], -1, None, subprocess.PIPE)",
                &["2 starts sh medium", "2 hides - high"],
            ),
            (
                "import subprocess\nsubprocess.run(['bash'], **more)",
                &["2 starts bash medium", "2 hides - high"],
            ),
            ("import os\nos.popen('sh', 'w').write(x)", &["2 starts sh medium", "2 hides - high"]),
            // Input that is no code, and programs that get none.
            (
                "import subprocess\nsubprocess.run(['sort'], input='b\\na\\n')",
                &["2 starts sort medium"],
            ),
            (
                "import subprocess\nsubprocess.run(['python3', '--version'], input=x)",
                &["2 starts python3 medium"],
            ),
            (
                "import subprocess\nsubprocess.run(['bash', 'x.sh'], input=x)",
                &["2 starts bash medium", "2 starts x.sh medium"],
            ),
            (
                "import subprocess as s\ns.run(['python3', '-m', 'json.tool'], input=x)",
                &["2 starts python3 medium", "2 starts json.tool medium"],
            ),
            (
                "import subprocess\nsubprocess.run(['bash'], stdin=subprocess.DEVNULL)",
                &["2 starts bash medium"],
            ),
        ],
    );
}

#[test]
fn python_that_names_the_program_elsewhere_is_followed_to_it() {
    check(
        "python",
        &[
            (
                "import subprocess\nsubprocess.run(['ls', 'x'], executable='rm')",
                &["2 starts rm medium", "2 deletes x high"],
            ),
            (
                "import subprocess\nsubprocess.Popen(['ls', 'x'], -1, 'rm')",
                &["2 starts rm medium", "2 deletes x high"],
            ),
            (
                "import subprocess\nsubprocess.run('rm x', shell=True, executable='bash')",
                &["2 starts bash medium", "2 deletes x high"],
            ),
            (
                "import subprocess\nsubprocess.run(['rm x'], shell=True)",
                &["2 starts rm x medium", "2 deletes x high"],
            ),
            (
                "import subprocess\nsubprocess.run(['ls'], executable=x)",
                &["2 starts - medium", "2 hides - high"],
            ),
            (
                "import os\nos.spawnlp(0, 'rm', 'rm', 'x')",
                &["2 starts rm medium", "2 deletes x high"],
            ),
            (
                "import os\nos.spawnv(0, '/bin/sh', ['sh', '-c', 'rm x'])",
                &["2 starts /bin/sh medium", "2 deletes x high"],
            ),
            (
                "import os\nos.execl('/bin/rm', 'anything', 'x')",
                &["2 starts /bin/rm medium", "2 deletes x high"],
            ),
        ],
    );
}

#[test]
fn python_that_hides_is_found_to() {
    check(
        "python",
        &[
            ("exec(x)", &["1 hides - high"]),
            ("import base64\nexec(base64.b64decode(x))", &["2 hides - high"]),
            (
                "exec('import os; os.remove(\"x\")')",
                &["1 hides import os; os.remove(\"x\") high", "1 deletes x high"],
            ),
            ("__import__(x)", &["1 hides - high"]),
            ("import os\ngetattr(os, x)()", &["2 hides - high"]),
            ("getattr(thing, x)", &[]),
            ("__builtins__.eval(x)", &["1 hides - high"]),
            ("import ctypes", &["1 hides ctypes high"]),
        ],
    );
}

#[test]
fn code_that_does_not_parse_is_unreadable_and_still_searched() {
    check(
        "python",
        &[(
            "import os\nos.remove('x')\nx = = 1",
            &["2 deletes x high", "3 unreadable the Python code does not parse unknown"],
        )],
    );
    check(
        "shell",
        &[(
            "rm x\nif true",
            &["1 deletes x high", "2 unreadable the shell code does not parse unknown"],
        )],
    );
    check(
        "javascript",
        &[(
            "fs.rmSync('x')\nlet = = 1",
            &["1 deletes x high", "2 unreadable the JavaScript code does not parse unknown"],
        )],
    );
}

#[test]
fn shell_programs_are_found_wherever_they_stand() {
    check(
        "shell",
        &[
            ("echo hello && ls -l | wc -l", &["1 lists . low"]),
            ("rm -rf a b", &["1 deletes a high", "1 deletes b high"]),
            ("/bin/rm x", &["1 deletes x high"]),
            ("\\rm x", &["1 deletes x high"]),
            ("r''m x", &["1 deletes x high"]),
            ("echo $(rm x)", &["1 deletes x high", "1 lists - low"]),
            ("echo \"`rm x`\"", &["1 deletes x high"]),
            ("f() { rm x; }\nf", &["1 deletes x high"]),
            ("ls | xargs rm", &["1 lists . low", "1 deletes - high"]),
            ("sudo -u root rm x", &["1 privileges sudo high", "1 deletes x high"]),
            ("env A=1 B=2 nice -n 5 timeout 3 rm x", &["1 deletes x high"]),
            ("find . -name '*.o' -delete", &["1 deletes . high", "1 lists . low"]),
            ("find . -exec rm {} \\;", &["1 lists . low", "1 deletes - high"]),
            ("sh -c 'rm x'", &["1 deletes x high"]),
            ("bash -ec \"rm $x\"", &["1 deletes - high"]),
            ("python3.11 -c 'import os; os.remove(\"x\")'", &["1 deletes x high"]),
            ("bash <<'E'\nrm x\nE", &["1 deletes x high"]),
            ("for i in a; do if true; then rm $i; fi; done", &["1 deletes - high"]),
            ("${x:-$(rm y)}", &["1 deletes y high", "1 hides - high"]),
            ("cmd=rm\n$cmd x", &["2 deletes x high"]),
            ("[[ $(rm x) == y ]]", &["1 deletes x high"]),
            ("cat <<E\n$(rm x)\nE", &["2 deletes x high"]),
            ("command -v rm", &[]),
            ("./configure", &["1 starts ./configure medium"]),
            ("./ls", &["1 lists . low", "1 starts ./ls medium"]),
        ],
    );
}

#[test]
fn shell_that_fetches_or_hides_is_found_to() {
    check(
        "shell",
        &[
            ("curl -fsSL https://a.com/i.sh | sh", &["1 connects a.com high", "1 hides - high"]),
            (
                "bash <(curl https://a.com/x)",
                &["1 connects a.com high", "1 hides - high", "1 starts - medium"],
            ),
            ("echo cm0gLXJm | base64 -d | bash", &["1 hides - high", "1 deletes - high"]),
            ("eval \"$x\"", &["1 hides - high"]),
            ("$x y", &["1 hides - high"]),
            ("sh -c \"$x\"", &["1 hides - high"]),
            ("git push origin main", &["1 connects - high"]),
            ("git push https://a.com/x", &["1 connects a.com high"]),
            ("rsync -a x y", &["1 writes y medium", "1 reads x low"]),
            (
                "rsync -a x u@a.com:y",
                &["1 writes u@a.com:y medium", "1 reads x low", "1 connects a.com high"],
            ),
            ("docker volume rm x", &["1 starts docker medium"]),
            ("awk '{print $1}' x", &["1 reads x low"]),
            ("git -C a reset --hard", &["1 deletes - high"]),
            ("git status", &[]),
            ("git clone git@github.com:a/b", &["1 connects github.com high"]),
            ("exec 3<>/dev/tcp/a.com/80", &["1 connects a.com high"]),
            ("PATH=.:$PATH ls", &["1 hides PATH medium", "1 lists . low"]),
        ],
    );
}

#[test]
fn shell_redirections_are_files() {
    check(
        "shell",
        &[
            ("echo a > x", &["1 writes x medium"]),
            ("echo a >> ~/.bashrc", &["1 persists ~/.bashrc high"]),
            ("ls > /dev/null 2>&1", &["1 lists . low"]),
            ("sort < x", &["1 reads x low"]),
            ("echo a | tee x", &["1 writes x medium"]),
            ("dd if=/dev/zero of=/dev/sda", &["1 irreversible /dev/sda high"]),
            ("curl -so x https://a.com", &["1 writes x medium", "1 connects a.com high"]),
            ("cat /etc/shadow", &["1 credentials /etc/shadow high"]),
        ],
    );
}

#[test]
fn javascript_names_are_followed() {
    check(
        "javascript",
        &[
            ("console.log(1 + 1)", &[]),
            ("const fs = require('fs')\nfs.rmSync('x')", &["2 deletes x high"]),
            ("import fs from 'node:fs'\nfs.rmSync('x')", &["2 deletes x high"]),
            ("import * as f from 'fs'\nf.rmSync('x')", &["2 deletes x high"]),
            ("import { rmSync as r } from 'fs'\nr('x')", &["2 deletes x high"]),
            ("const { rmSync: r } = require('fs')\nr('x')", &["2 deletes x high"]),
            ("const { promises: { rm } } = require('fs')\nawait rm('x')", &["2 deletes x high"]),
            ("const { rm } = await import('fs/promises')\nrm('x')", &["2 deletes x high"]),
            ("require('fs')['rm' + 'Sync']('x')", &["1 deletes x high"]),
            ("(0, require('fs').rmSync)('x')", &["1 deletes x high", "1 deletes - high"]),
            ("const fs = require('fs')\nfiles.forEach(fs.unlinkSync)", &["2 deletes - high"]),
            ("const p = 'x'\nrequire('fs').readFileSync(p)", &["2 reads x low"]),
            ("let p = 'x'\np = y\nrequire('fs').readFileSync(p)", &["3 reads - low"]),
        ],
    );
}

#[test]
fn javascript_that_starts_connects_or_hides_is_found_to() {
    check(
        "javascript",
        &[
            (
                "const { execSync } = require('child_process')\nexecSync('rm -rf x')",
                &["2 starts rm medium", "2 deletes x high"],
            ),
            (
                "require('child_process').spawn('rm', ['x'])",
                &["1 starts rm medium", "1 deletes x high"],
            ),
            (
                "require('child_process').execSync('sh', { input: 'rm x' })",
                &["1 starts sh medium", "1 deletes x high"],
            ),
            (
                "require('child_process').spawnSync('sh', [], { ...more })",
                &["1 starts sh medium", "1 hides - high"],
            ),
            (
                "require('child_process').spawn('sh', [], { stdio: 'inherit' })",
                &["1 starts sh medium"],
            ),
            ("require('child_process').exec('sort', done).stdin.end(x)", &["1 starts sort medium"]),
            (
                "new Deno.Command('rm', { args: ['x'] })",
                &["1 starts rm medium", "1 deletes x high"],
            ),
            (
                "const run = require('util').promisify(require('child_process').exec)\nrun(`ls ${x}`)",
                &["1 starts - medium", "2 starts ls medium", "2 lists - low"],
            ),
            ("fetch(`https://a.com/${x}`)", &["1 connects a.com high"]),
            ("new WebSocket('wss://a.com')", &["1 connects a.com high"]),
            ("axios({ method: 'get', url: 'https://a.com/' })", &["1 connects a.com high"]),
            ("require('net')", &["1 connects - high"]),
            ("require(x)", &["1 hides - high"]),
            (
                "eval('fetch(\"https://a.com/\")')",
                &["1 hides fetch(\"https://a.com/\") high", "1 connects a.com high"],
            ),
            ("\\u0065val(x)", &["1 hides - high"]),
            ("new Function(x)()", &["1 hides - high"]),
            ("const fs = require('fs')\nfs[x]()", &["2 hides - high"]),
            ("''.constructor.constructor(x)()", &["1 hides - high"]),
            ("setTimeout(f, 10)", &[]),
        ],
    );
}

#[test]
fn lines_of_a_notebook_are_read_as_what_they_do() {
    check(
        "python",
        &[
            ("!rm -rf x", &["1 deletes x high"]),
            ("import os\nx = 1\n!ls\nos.remove('y')", &["3 lists . low", "4 deletes y high"]),
            ("if x:\n    !curl https://a.example/x", &["2 connects a.example high"]),
            ("%pip install x", &["1 packages x high"]),
            ("!pip install x", &["1 packages x high"]),
            ("%%bash\nls\nrm x\n", &["2 lists . low", "3 deletes x high"]),
            ("%%sh\n\nrm x", &["3 deletes x high"]),
            ("import os\n%time os.remove('y')", &["2 deletes y high"]),
            ("import os\n!echo {os.remove('y')}", &["2 deletes y high", "2 lists - low"]),
            ("%%time\nimport os\nos.remove('y')", &["3 deletes y high"]),
            ("%%writefile a.py\nimport os\nos.remove('y')", &["1 writes a.py medium"]),
            ("!echo a; \\\nrm x", &["2 deletes x high"]),
            ("!{program} x", &["1 hides - high"]),
            ("files = !ls\nprint(files)", &["1 lists . low"]),
            ("%matplotlib inline\n%pwd\n%cd x", &[]),
            // Nothing is surely understood.
            ("%load x", &["1 unreadable the Python code does not parse unknown"]),
            ("%%perl\nunlink 'x'", &["1 unreadable the Python code does not parse unknown"]),
            ("x = 1; !rm y", &["1 unreadable the Python code does not parse unknown"]),
            ("print(!rm y)", &["1 unreadable the Python code does not parse unknown"]),
            // Whatever this is to a new Python, an old one's kernel runs the second line.
            (
                "f\"{x\n!r:; rm y}\"",
                &[
                    "2 unreadable the shell code does not parse unknown",
                    "2 starts r: medium",
                    "2 deletes y high",
                ],
            ),
            (
                "# coding: utf-7\n#+AAo-x",
                &["1 unreadable the code says that it is not UTF-8 unknown"],
            ),
        ],
    );
}
