//! A package index on loopback, with packages made for a test.

use crate::{
    network::Outside,
    scene::{Scene, Who},
};
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

/// Files of one package, by their paths on the index.
#[derive(Clone)]
pub(super) struct Served {
    /// The page that lists the files.
    page: Option<(String, String)>,
    files: Vec<(String, Vec<u8>)>,
}

/// Stands for the address of the index in a page.
const HERE: &str = "@HERE@";

impl Served {
    /// The same, where the index claims this hash for its files.
    pub(super) fn claiming(mut self, hash: &str) -> Self {
        if let Some((_, page)) = &mut self.page {
            *page = page.replace("\">", &format!("#sha256={hash}\">"));
        }
        self
    }
}

/// An index.
pub(super) struct Index {
    outside: Outside,
}

impl Index {
    pub(super) fn of(packages: &[Served]) -> Self {
        Self::at(|_| packages.to_vec())
    }

    /// One whose packages name its address.
    pub(super) fn at(packages: impl FnOnce(&str) -> Vec<Served>) -> Self {
        let outside = Outside::serving(|port| {
            let here = format!("http://127.0.0.1:{port}");
            let packages = packages(&here);
            let mut pages = std::collections::BTreeMap::<String, String>::new();
            for (path, link) in packages.iter().filter_map(|one| one.page.as_ref()) {
                pages.entry(path.clone()).or_default().push_str(link);
            }
            let files = packages.iter().flat_map(|one| one.files.clone());
            let pages = pages.into_iter().map(|(path, page)| (path, page.replace(HERE, &here)));
            pages.map(|(path, page)| (path, page.into_bytes())).chain(files).collect()
        });
        Self { outside }
    }

    /// A scene whose tools use this index. The password in its address stays outside.
    pub(super) fn scene(&self, who: Who) -> Scene {
        self.use_in(Scene::of(who))
    }

    /// The same of a scene that is there.
    pub(super) fn use_in(&self, scene: Scene) -> Scene {
        let port = self.outside.port;
        scene
            .variable("PIP_INDEX_URL", &format!("http://me:sk-canary@127.0.0.1:{port}/simple"))
            .variable("npm_config_registry", &format!("http://127.0.0.1:{port}/npm"))
    }

    /// From now on it serves the files of this package in place of those by the same name.
    pub(super) fn serves_instead(&self, package: &Served) {
        for (path, bytes) in &package.files {
            self.outside.serves_instead(path, bytes);
        }
    }

    /// A package of another index, whose files are here.
    pub(super) fn told_by(&self, mut package: Served) -> Served {
        let here = format!("http://127.0.0.1:{}", self.outside.port);
        if let Some((_, page)) = &mut package.page {
            *page = page.replace(HERE, &here);
        }
        package
    }

    /// The requests that came.
    pub(super) fn asked(&self) -> Vec<String> {
        self.outside.asked()
    }
}

impl Served {
    /// The bytes of its file.
    pub(super) fn file(&self) -> &[u8] {
        &self.files[0].1
    }
}

/// An index that wants a password: its port, and everything that it was sent.
pub(super) fn locked() -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(String::new()));
    let all = Arc::clone(&heard);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let request: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
            all.lock().unwrap().push_str(&request.join("\n"));
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                          Content-Length: 0\r\nConnection: close\r\n\r\n";
            // Whoever looks only whether it is there does not wait for this.
            _ = stream.write_all(answer.as_bytes()).is_ok();
        }
    });
    (port, heard)
}

/// Has Python make a file, and returns its bytes.
fn made(script: &str, arguments: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made");
    let done = Command::new("python3")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .args(["-I", "-c", script])
        .arg(&path)
        .args(arguments)
        .status()
        .unwrap();
    assert!(done.success());
    std::fs::read(path).unwrap()
}

fn listed(name: &str, file: &str, bytes: Vec<u8>) -> Served {
    let path = format!("/files/{file}");
    let normal = name.to_lowercase().replace(['_', '.'], "-");
    let page = (format!("/simple/{normal}/"), format!("<a href=\"{path}\">{file}</a>\n"));
    Served { page: Some(page), files: vec![(path, bytes)] }
}

/// A finished build of a package for Python, with these files.
pub(super) fn wheel(name: &str, version: &str, files: &[(&str, &str)]) -> Served {
    wheel_that_says(name, version, "", files)
}

/// The same, with more lines in its description. A file that begins with `info:` takes the place of
/// one of its description, one with `link:` is a link, and one with `zeros:` has so many megabytes.
pub(super) fn wheel_that_says(
    name: &str,
    version: &str,
    more: &str,
    files: &[(&str, &str)],
) -> Served {
    const SCRIPT: &str = r"
import json, sys, zipfile
path, name, version, more, files = sys.argv[1:]
info = f'{name.replace(chr(45), chr(95))}-{version}.dist-info/'
given = json.loads(files)
# So many millions of zeros, which take no room until they are unpacked.
given = [(one[6:], bytes(int(text) << 20)) if one.startswith('zeros:') else (one, text) for one, text in given]
files = {one: text for one, text in given if not one.startswith('info:')}
files[info + 'METADATA'] = f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}'
files[info + 'WHEEL'] = 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n'
files[info + 'RECORD'] = ''.join(f'{one},,\n' for one in [*files, info + 'RECORD'])
files.update({info + one[5:]: text for one, text in given if one.startswith('info:')})
with zipfile.ZipFile(path, 'w') as made:
    for one, text in files.items():
        member = zipfile.ZipInfo(one.removeprefix('link:'))
        member.external_attr = (0o120777 if one.startswith('link:') else 0o100644) << 16
        made.writestr(member, text, zipfile.ZIP_DEFLATED if len(text) >> 20 else None)
";
    let json = serde_json::to_string(files).unwrap();
    let bytes = made(SCRIPT, &[name, version, more, &json]);
    let file = format!("{}-{version}-py3-none-any.whl", name.replace('-', "_"));
    listed(name, &file, bytes)
}

/// A package that has to be built, which runs this code.
pub(super) fn source(name: &str, version: &str, code: &str) -> Served {
    source_that_says(name, version, &[], code)
}

/// The same, which requires others.
pub(super) fn source_that_says(name: &str, version: &str, requires: &[&str], code: &str) -> Served {
    const SCRIPT: &str = r#"
import io, sys, tarfile
path, name, version, requires, code = sys.argv[1:]
more = ''.join(f'Requires-Dist: {one}\\n' for one in requires.split())
under = name.replace('-', '_')
folder = f'{under}-{version}/'
backend = code + f'''
import os, zipfile
def build_wheel(directory, *rest):
    name = '{under}-{version}-py3-none-any.whl'
    info = '{under}-{version}.dist-info/'
    with zipfile.ZipFile(os.path.join(directory, name), 'w') as made:
        made.writestr('{under}.py', 'word = "built"\\n')
        made.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{more}')
        made.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        made.writestr(info + 'RECORD', '{under}.py,,\\n' + info + 'METADATA,,\\n' + info + 'WHEEL,,\\n' + info + 'RECORD,,\\n')
    return name
'''
files = {
    'backend.py': backend,
    'pyproject.toml': '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    'PKG-INFO': f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n',
}
with tarfile.open(path, 'w:gz') as made:
    for one, text in files.items():
        info = tarfile.TarInfo(folder + one)
        info.size = len(text.encode())
        made.addfile(info, io.BytesIO(text.encode()))
"#;
    let bytes = made(SCRIPT, &[name, version, &requires.join(" "), code]);
    listed(name, &format!("{}-{version}.tar.gz", name.replace('-', "_")), bytes)
}

/// A package for JavaScript.
pub(super) fn npm_package(name: &str, version: &str, code: &str) -> Served {
    npm_that_says(name, version, &serde_json::json!({}), code)
}

/// The same, with more in its description.
pub(super) fn npm_that_says(
    name: &str,
    version: &str,
    more: &serde_json::Value,
    code: &str,
) -> Served {
    npm_of(name, version, more, &[("package/index.js", code)])
}

/// The same, with these files. One that begins with `link:` is a link to its content.
pub(super) fn npm_of(
    name: &str,
    version: &str,
    more: &serde_json::Value,
    files: &[(&str, &str)],
) -> Served {
    const SCRIPT: &str = r"
import io, json, sys, tarfile
path, name, version, more, files = sys.argv[1:]
says = {'name': name, 'version': version, 'main': 'index.js', **json.loads(more)}
files = [['package/package.json', json.dumps(says)], *json.loads(files)]
with tarfile.open(path, 'w:gz') as made:
    for one, text in files:
        info = tarfile.TarInfo(one.removeprefix('link:'))
        info.mode = 0o644
        if one.startswith('link:'):
            info.type, info.linkname = tarfile.SYMTYPE, text
            made.addfile(info)
        else:
            info.size = len(text.encode())
            made.addfile(info, io.BytesIO(text.encode()))
";
    let files = serde_json::to_string(files).unwrap();
    let bytes = made(SCRIPT, &[name, version, &more.to_string(), &files]);
    let file = format!("/npm/{name}/-/{name}-{version}.tgz");
    let mut says = serde_json::json!({
        "name": name,
        "version": version,
        "dist": {"tarball": format!("{HERE}{file}"), "integrity": integrity(&bytes)},
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        says[field] = value.clone();
    }
    says["hasInstallScript"] = more["scripts"].is_object().into();
    let page = serde_json::json!({
        "name": name,
        "dist-tags": {"latest": version},
        "versions": {version: says},
    });
    // npm asks for the name of a scope in this way.
    let page = (format!("/npm/{}", name.replace('/', "%2f")), page.to_string());
    Served { page: Some(page), files: vec![(file, bytes)] }
}

/// The hash of a file as npm writes it.
fn integrity(bytes: &[u8]) -> String {
    const SCRIPT: &str = r"
import base64, hashlib, sys
with open(sys.argv[1], 'wb') as made:
    made.write(base64.b64encode(hashlib.sha512(open(sys.argv[2], 'rb').read()).digest()))
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, bytes).unwrap();
    let digest = made(SCRIPT, &[file.to_str().unwrap()]);
    format!("sha512-{}", String::from_utf8(digest).unwrap())
}
