//! Nothing that foreign code could write while it ran is trusted later: hostile builds and install
//! scripts, packages that are too large, and programs by the name of others, each with a control.

use super::{
    Tool, environment,
    index::{Index, Served, npm_package, npm_that_says, source, source_that_says, wheel},
};
use crate::{
    full_disk::on_a_small_disk,
    scene::{Scene, Who},
};
use serde_json::json;
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// The folder of ours beside the environments.
fn own_folder(scene: &Scene) -> PathBuf {
    environment(scene).parent().unwrap().parent().unwrap().to_owned()
}

/// The word of an npm package, as code gets it.
fn word_of(scene: &Scene, name: &str) -> String {
    let code = format!("console.log(require('{name}').word)");
    scene.code("javascript", &code).stdout().trim().to_owned()
}

fn fine() -> Served {
    npm_package("fine-thing", "1.0.0", "exports.word = 'honest';\n")
}

/// A package whose install script is this code.
fn scripted(name: &str, code: &str) -> Served {
    // The name of a file says nothing to a shell, so the code needs no quoting.
    let script = json!({ "scripts": { "install": "node index.js run" } });
    let code =
        format!("if (process.argv[2] === 'run') {{\n{code}\n}}\nexports.word = 'scripted';\n");
    npm_that_says(name, "1.0.0", &script, &code)
}

/// Puts a description of `fine-thing` of its own into npm's cache, which npm believes for a year,
/// and the file that it names.
const POISON: &str = r#"
const path = require('path'), crypto = require('crypto'), zlib = require('zlib'), fs = require('fs');
const npm = path.dirname(path.dirname(process.env.npm_execpath));
const own = [npm + '/node_modules', '/usr/share/nodejs', '/usr/lib/node_modules/npm/node_modules'];
const cacache = require(own.map(one => one + '/cacache').find(one => fs.existsSync(one)));
const cache = process.env.npm_config_cache + '/_cacache';
const registry = process.env.npm_config_registry.replace(/\/$/, '');
const block = (name, text) => {
  const head = Buffer.alloc(512);
  const put = (text, at) => head.write(text, at);
  put('package/' + name, 0); put('0000644\0', 100); put('0000000\0', 108); put('0000000\0', 116);
  put(text.length.toString(8).padStart(11, '0') + '\0', 124); put('00000000000\0', 136);
  put('        ', 148); put('0', 156); put('ustar\x0000', 257);
  let sum = 0; for (const byte of head) sum += byte;
  put(sum.toString(8).padStart(6, '0') + '\0 ', 148);
  const body = Buffer.alloc(Math.ceil(text.length / 512) * 512); body.write(text);
  return Buffer.concat([head, body]);
};
const says = { name: 'fine-thing', version: '1.0.0', main: 'index.js' };
const data = zlib.gzipSync(Buffer.concat([
  block('package.json', JSON.stringify(says)), block('index.js', "exports.word = 'POISONED';\n"),
  Buffer.alloc(1024)]));
const integrity = 'sha512-' + crypto.createHash('sha512').update(data).digest('base64');
const page = registry + '/fine-thing', file = page + '/-/fine-thing-1.0.0.tgz';
const described = Buffer.from(JSON.stringify({ name: 'fine-thing', 'dist-tags': { latest: '1.0.0' },
  versions: { '1.0.0': { ...says, dist: { tarball: file, integrity } } } }));
(async () => {
  for (const [url, bytes, type] of [[page, described, 'application/json'], [file, data, 'application/octet-stream']]) {
    const metadata = { time: Date.now(), url, reqHeaders: url === page ? { accept: 'application/json' } : {},
      resHeaders: { 'cache-control': 'public, max-age=31536000', 'content-type': type,
        'content-length': '' + bytes.length, date: new Date().toUTCString() }, options: { compress: true } };
    await cacache.put(cache, 'make-fetch-happen:request-cache:' + url, bytes, { metadata });
  }
  // That it got this far is the control.
  fs.writeFileSync('poisoned.js', 'exports.done = true;\n');
})();
"#;

#[test]
fn an_install_script_decides_nothing_about_another_package() {
    for who in Who::all() {
        let index = Index::of(&[fine(), scripted("evil-thing", POISON)]);
        let scene = index.scene(who);
        scene.run(&["packages", "add", "--npm", "--build", "evil-thing"]).exits(0);
        let done = "console.log(require('evil-thing/poisoned').done)";
        scene.code("javascript", done).prints("true\n").exits(0);
        scene.run(&["packages", "remove", "--npm", "evil-thing"]).exits(0);
        scene.run(&["packages", "add", "--npm", "fine-thing"]).exits(0);
        assert_eq!(word_of(&scene, "fine-thing"), "honest");
        // It was asked for, and no cache of npm's is left.
        assert!(index.asked().iter().any(|one| one.contains("/npm/fine-thing")));
        assert!(!own_folder(&scene).join("npm").exists());
    }
}

/// One that an earlier version has left is not read.
#[test]
fn a_cache_of_npm_that_is_already_there_is_not_believed() {
    let index = Index::of(&[fine(), npm_package("other-thing", "1.0.0", "")]);
    let scene = index.scene(Who::unprivileged());
    scene.run(&["packages", "add", "--npm", "other-thing"]).exits(0);
    let old = own_folder(&scene).join("npm");
    scene.put(&old.join("_cacache/index-v5/aa/bb/cc"), b"x");
    scene.run(&["packages", "add", "--npm", "fine-thing"]).exits(0);
    assert!(!old.exists());
    assert_eq!(word_of(&scene, "fine-thing"), "honest");
}

/// npm's files are fetched once, and are used again only if they are the same.
#[test]
fn files_of_npm_are_kept_by_their_hash() {
    let index = Index::of(&[fine(), npm_package("other-thing", "1.0.0", "")]);
    let scene = index.scene(Who::unprivileged());
    let fetched = || index.asked().iter().filter(|one| one.contains("fine-thing-1.0.0")).count();
    scene.run(&["packages", "add", "--npm", "fine-thing"]).exits(0);
    scene.run(&["packages", "add", "--npm", "other-thing"]).exits(0);
    assert_eq!(fetched(), 1, "{:?}", index.asked());
    scene.run(&["packages", "remove", "--npm", "other-thing"]).exits(0);
    assert_eq!(fetched(), 1, "{:?}", index.asked());
    assert_eq!(word_of(&scene, "fine-thing"), "honest");
    // One that was changed here is fetched again.
    let files = kept(&scene);
    assert_eq!(files.len(), 1, "{files:?}");
    fs::write(&files[0], "evil").unwrap();
    scene.run(&["packages", "add", "--npm", "other-thing"]).exits(0);
    assert_eq!(fetched(), 2, "{:?}", index.asked());
    assert_eq!(word_of(&scene, "fine-thing"), "honest");
}

/// The files that are kept for the next order.
fn kept(scene: &Scene) -> Vec<PathBuf> {
    let folders = fs::read_dir(own_folder(scene).join("files")).unwrap();
    let folders = folders.map(|one| one.unwrap().path());
    folders.flat_map(|one| fs::read_dir(one).unwrap()).map(|one| one.unwrap().path()).collect()
}

#[test]
fn an_install_script_changes_no_other_package() {
    let code = "const fs = require('fs');
        fs.writeFileSync('own.js', 'exports.done = true;');
        fs.writeFileSync('../fine-thing/index.js', \"exports.word = 'CHANGED';\");
        fs.mkdirSync('../planted-thing');
        fs.writeFileSync('../planted-thing/index.js', \"exports.word = 'PLANTED';\");
        fs.writeFileSync('../../packages.json', '{}');
        require('child_process').execFileSync('mkfifo', ['pipe']);";
    for who in Who::all() {
        let index = Index::of(&[fine(), scripted("evil-thing", code)]);
        let scene = index.scene(who);
        scene.run(&["packages", "add", "--npm", "fine-thing"]).exits(0);
        scene.run(&["packages", "add", "--npm", "--build", "evil-thing"]).exits(0);
        // The control: what it made of itself is there.
        let own = "console.log(require('evil-thing/own').done)";
        scene.code("javascript", own).prints("true\n").exits(0);
        assert_eq!(word_of(&scene, "fine-thing"), "honest");
        scene.code("javascript", "require('planted-thing')").exits(1);
        scene.run(&["packages"]).lacks("belong to no package").exits(0);
        let pipe = environment(&scene).join("node_modules/evil-thing/pipe");
        assert!(fs::symlink_metadata(pipe).is_err());
    }
}

/// A script makes the folder of its scope a link to the person's home, where a folder has the name
/// of the package.
#[test]
fn a_link_that_an_install_script_leaves_is_never_followed_outside() {
    for who in Who::all() {
        let scene = Scene::of(who).home_file("docs/secret.txt", "sk-canary");
        let home = scene.home();
        let code = format!(
            "const fs = require('fs');
             fs.renameSync('../../@evil', '../../@moved');
             fs.symlinkSync({:?}, '../../@evil');",
            home.to_str().unwrap()
        );
        let index = Index::of(&[fine(), scripted("@evil/docs", &code), scripted("@good/docs", "")]);
        let scene = index.use_in(scene);
        let seen = scene.run(&["packages", "add", "--npm", "--build", "@evil/docs"]).exits(1);
        seen.mentions("is gone, or leads elsewhere");
        scene.run(&["packages", "add", "--npm", "fine-thing"]).exits(0);
        // The control, and one that an earlier version has left so.
        scene.run(&["packages", "add", "--npm", "--build", "@good/docs"]).exits(0);
        assert_eq!(word_of(&scene, "@good/docs"), "scripted");
        let scope = environment(&scene).join("node_modules/@good");
        fs::rename(&scope, scope.with_file_name("@moved")).unwrap();
        symlink(&home, &scope).unwrap();
        scene.run(&["packages", "remove", "--npm", "fine-thing"]).exits(0);
        assert_eq!(fs::read_to_string(home.join("docs/secret.txt")).unwrap(), "sk-canary");
        assert_eq!(fs::read_dir(home.join("docs")).unwrap().count(), 1);
        let all = environment(&scene).join("node_modules/@good/docs");
        assert!(!all.join("secret.txt").exists() && all.join("index.js").exists());
    }
}

/// Waits in the background for the build of another package, holds the file open and changes it
/// once it was taken away; and it makes links of the files that are written for the next step.
fn daemon(home: &Path) -> String {
    let home = home.display();
    format!(
        r#"
import os as _os
if not _os.fork():
    _os.setsid()
    if _os.fork(): _os._exit(0)
    import glob, time, io, zipfile
    for number in (0, 1, 2):
        try: _os.close(number)
        except OSError: pass
    work = _os.path.dirname(_os.environ['TMPDIR'])
    made = io.BytesIO()
    with zipfile.ZipFile(made, 'w') as archive:
        info = 'good_thing-1.0.dist-info/'
        archive.writestr('good_thing.py', 'word = "POISONED"\n')
        archive.writestr(info + 'METADATA', 'Metadata-Version: 2.1\nName: good-thing\nVersion: 1.0\n')
        archive.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        archive.writestr(info + 'RECORD', '')
    evil, held, end = made.getvalue(), {{}}, time.time() + 20
    while time.time() < end:
        for name in ('plan.json', 'wanted.txt', 'bound.txt'):
            try: _os.symlink('{home}/own.txt', work + '/' + name)
            except OSError: pass
        for path in glob.glob(work + '/built*/*.whl') + glob.glob(work + '/built*/*/*.whl'):
            if path not in held:
                try: held[path] = open(path, 'r+b')
                except OSError: pass
        for path, file in list(held.items()):
            if not _os.path.exists(path):
                file.seek(0); file.write(evil); file.truncate(); file.flush()
    _os._exit(0)
"#
    )
}

#[test]
fn a_build_changes_no_other_build_and_nothing_outside() {
    for who in Who::all() {
        for tool in Tool::all() {
            let scene = Scene::of(who).home_file("own.txt", "my own\n");
            let code = daemon(&scene.home());
            let index = Index::of(&[
                source("good-thing", "1.0", ""),
                source_that_says("evil-thing", "1.0", &["good-thing"], &code),
            ]);
            let scene = tool.of(index.use_in(scene));
            let seen = scene.run(&["packages", "add", "--build", "evil-thing"]).exits(0);
            seen.mentions("evil-thing 1.0").mentions("good-thing 1.0");
            scene.run(&["packages", "remove", "evil-thing"]).exits(0);
            let code = "import good_thing; print(good_thing.word)";
            scene.code("python", code).prints("built\n").exits(0);
            assert_eq!(fs::read_to_string(scene.home().join("own.txt")).unwrap(), "my own\n");
            for file in kept(&scene) {
                let hash = interpreter_core::hash::sha256(&fs::read(&file).unwrap());
                assert_eq!(file.parent().unwrap().file_name().unwrap(), hash.as_str());
            }
        }
    }
}

/// The list that is shown is made where nothing has run: a build cannot name what comes.
#[test]
fn a_build_does_not_write_the_list() {
    // It waits for the tool to leave its report and adds a package to it.
    let code = r"
import os as _os
if not _os.fork():
    _os.setsid()
    import json, time
    for number in (0, 1, 2):
        try: _os.close(number)
        except OSError: pass
    path = _os.path.dirname(_os.environ['TMPDIR']) + '/pylock.report.toml'
    end = time.time() + 20
    while time.time() < end:
        try: report = json.load(open(path))
        except (OSError, ValueError): continue
        if len(report['install']) > 1: continue
        report['install'].append({
            'download_info': {'url': report['install'][0]['download_info']['url'].replace('evil_thing-1.0.tar.gz', 'planted_thing-1.0-py3-none-any.whl'),
                              'archive_info': {'hashes': {'sha256': '0' * 64}}},
            'is_direct': False, 'metadata': {'name': 'planted-thing', 'version': '1.0'}})
        open(path, 'w').write(json.dumps(report))
    _os._exit(0)
";
    let planted = wheel("planted-thing", "1.0", &[("planted_thing.py", "")]);
    let index = Index::of(&[source("evil-thing", "1.0", code), planted]);
    let scene = index.scene(Who::unprivileged());
    let seen = scene.run(&["packages", "add", "--build", "--json", "evil-thing"]).exits(0);
    let comes = &seen.of_kind("packages_resolved")[0]["list"]["comes"];
    assert_eq!(comes.as_array().unwrap().len(), 1, "{comes}");
    scene.code("python", "import evil_thing").exits(0);
}

#[test]
fn a_file_that_was_changed_here_is_not_installed() {
    for tool in Tool::all() {
        let index = Index::of(&[
            wheel("fine-thing", "1.0", &[("fine_thing.py", "word = 'fine'\n")]),
            wheel("other-thing", "1.0", &[("other_thing.py", "")]),
        ]);
        let scene = tool.of(index.scene(Who::unprivileged()));
        scene.run(&["packages", "add", "fine-thing"]).exits(0);
        let evil = wheel("fine-thing", "1.0", &[("fine_thing.py", "word = 'EVIL'\n")]);
        let files = kept(&scene);
        assert_eq!(files.len(), 1);
        fs::write(&files[0], evil.file()).unwrap();
        // It is fetched again.
        scene.run(&["packages", "add", "other-thing"]).exits(0);
        let code = "import fine_thing, other_thing; print(fine_thing.word)";
        scene.code("python", code).prints("fine\n").exits(0);
    }
}

/// A small file that comes to a lot, and many files that come to nothing.
#[test]
fn what_is_too_large_is_refused_before_it_is_written() {
    let bomb = wheel("bomb-thing", "1.0", &[("zeros:bomb_thing.txt", "20")]);
    assert!(bomb.file().len() < 1 << 20);
    let names: Vec<_> = (0..300).map(|number| format!("many_thing/{number}.txt")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let index = Index::of(&[
        bomb,
        wheel("many-thing", "1.0", &many),
        wheel("fine-thing", "1.0", &[("fine_thing.py", "word = 'fine'\n")]),
    ]);
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::unprivileged()));
        let scene = scene.limits("staged = '8M'\nstaged_files = 200\n");
        let seen = scene.run(&["packages", "add", "bomb-thing"]).exits(1);
        seen.mentions(
            "bomb-thing 1.0 is too large: unpacked, the packages of this folder take 20M",
        )
        .mentions("`limits.staged` in your config file allows 8M");
        let seen = scene.run(&["packages", "add", "many-thing"]).exits(1);
        seen.mentions("many-thing 1.0 is too large").mentions("`limits.staged_files`");
        scene.run(&["packages"]).mentions("No packages are installed").exits(0);
        scene.run(&["packages", "add", "fine-thing"]).exits(0);
        scene.code("python", "import fine_thing; print(fine_thing.word)").prints("fine\n");
        // The control: with more room, both fit.
        let scene = scene.limits("staged = '1G'\nstaged_files = 5000\n");
        scene.run(&["packages", "add", "bomb-thing", "many-thing"]).exits(0);
    }
}

/// The disk keeps as much free as for staged files.
#[test]
fn what_the_disk_has_no_room_for_is_refused_before_it_is_written() {
    let one = |name: &str, size: &str| wheel(name, "1.0", &[("zeros:some/file.txt", size)]);
    let index = Index::of(&[one("bomb-thing", "40"), one("fine-thing", "4")]);
    for who in Who::all() {
        let scene = index.scene(who);
        let seen = on_a_small_disk(
            &scene,
            "\"$@\" packages add bomb-thing; [ $? = 1 ] || exit 11
             [ \"$(df --output=avail -k \"$data\" | tail -1)\" -gt 40000 ] || exit 12
             \"$@\" packages add fine-thing || exit 13",
        );
        seen.mentions("bomb-thing 1.0 is too large").mentions("to spare; free some space").exits(0);
    }
}

/// Code that is built, and an install script, fill the disk of the data folder.
#[test]
fn a_build_that_fills_the_disk_is_ended() {
    let python = "f = open('big', 'wb')\nfor _ in range(400): f.write(bytes(1 << 20))\n";
    let node = "const fs = require('fs'), file = fs.openSync('big', 'w');
        for (let i = 0; i < 400; i++) fs.writeSync(file, Buffer.alloc(1 << 20));
        for (;;) {}";
    let endless = format!("import os\n{python}while True: pass\n")
        .replace("'big'", "os.environ['TMPDIR'] + '/big'");
    let index = Index::of(&[
        source("evil-thing", "1.0", &endless),
        source("fine-thing", "1.0", ""),
        scripted("evil-thing", node),
        scripted("fine-thing", ""),
    ]);
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::unprivileged())).limits("staged = '64M'\n");
        let seen = scene.run(&["packages", "add", "--build", "evil-thing"]).exits(1);
        seen.mentions("evil-thing").mentions("more than 128M").mentions("`limits.staged`");
        scene.run(&["packages", "add", "--build", "fine-thing"]).exits(0);
    }
    let scene = index.scene(Who::unprivileged()).limits("staged = '64M'\n");
    let seen = scene.run(&["packages", "add", "--npm", "--build", "evil-thing"]).exits(1);
    seen.mentions("evil-thing took more than 128M");
    scene.run(&["packages", "add", "--npm", "--build", "fine-thing"]).exits(0);
}

/// Programs of packages come last in `PATH`, but for Python, which finds the packages.
#[test]
fn a_program_of_a_package_stands_in_for_none_of_the_system() {
    let programs = ["ls", "git", "bash", "node", "own-program"];
    let text = "#!/bin/sh\necho PACKAGE\n";
    let names = programs.map(|name| format!("evil_thing-1.0.data/scripts/{name}"));
    let mut files: Vec<_> = names.iter().map(|name| (name.as_str(), text)).collect();
    files.push(("evil_thing.py", "word = 'here'\n"));
    files.push(("evil_thing-1.0.data/data/share/x", ""));
    let index = Index::of(&[wheel("evil-thing", "1.0", &files)]);
    for who in Who::all() {
        let scene = index.scene(who);
        scene.run(&["packages", "add", "evil-thing"]).exits(0);
        let code = "ls; bash -c 'echo bash'; node -e 'console.log(1)'; own-program; \
                    python3 -c 'import evil_thing; print(evil_thing.word)'";
        scene.code("shell", code).prints("bash\n1\nPACKAGE\nhere\n").exits(0);
        scene.run(&["packages"]).lacks("belong to no package").exits(0);
    }
}
